"""Profiles of columns with three small queries each; the rows stay where they are."""

from __future__ import annotations

from collections.abc import Sequence

from keepsense.engines.duckdb.table import DuckTable
from keepsense.engines.profile import Profile
from keepsense.engines.store import quoted


def profiles(table: DuckTable, limit: int, columns: Sequence[str]) -> list[Profile]:
    """Profile of each column."""
    return [_profile(table, name, limit) for name in columns]


def _profile(table: DuckTable, name: str, limit: int) -> Profile:
    column = f"CAST({quoted(name)} AS VARCHAR)" if table.holds_records(name) else quoted(name)
    blank = f"trim({column}) = ''" if table.is_text(name) else "false"
    ((rows, missing),) = table.store.run(
        f"SELECT count(*), count(*) FILTER ({column} IS NULL OR {blank}) FROM {table.name}"
    )
    grouped = (
        f"(SELECT {column} AS v, count(*) AS n FROM {table.name} WHERE {column} IS NOT NULL AND NOT {blank} "
        f"GROUP BY {column})"
    )
    ((distinct, single),) = table.store.run(f"SELECT count(*), count(*) FILTER (n = 1) FROM {grouped}")
    # equally frequent values in an order of their own, so that the same table always gives the same profile
    frequent = table.store.connection.sql(
        f"SELECT v, n FROM {grouped} ORDER BY n DESC, CAST(v AS VARCHAR) LIMIT {limit}"
    )
    cells = frequent.to_arrow_table().to_pydict()
    values = {tuple(v) if isinstance(v, list) else v: n for v, n in zip(cells["v"], cells["n"], strict=True)}
    return Profile(name, table.type_of(name), rows, missing, distinct, single, values, table.holds_lists(name))
