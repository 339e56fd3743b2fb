"""Profiles of columns with three small queries each, or many columns of a small table with one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from keepsense.engines.duckdb.table import DuckTable
from keepsense.engines.profile import Profile
from keepsense.engines.store import quoted

_FEW = 50
# what DuckDB's trim takes off: spaces of all widths, and no tabs or line ends
_BLANKS = " \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_SMALL = 10_000
_TOGETHER = 200


def batched(names: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    """Names in portions.

    >>> list(batched(("age", "job", "town"), 2))
    [('age', 'job'), ('town',)]
    """
    for start in range(0, len(names), size):
        yield names[start : start + size]


def profiles(table: DuckTable, limit: int, columns: Sequence[str]) -> list[Profile]:
    """Profile of each column."""
    by_name: dict[str, Profile] = {}
    if len(columns) > _FEW and table.rows <= _SMALL:
        texts = [name for name in columns if table.is_text(name)]
        for block in batched(texts, _TOGETHER):
            by_name |= _together(table, block, limit)
    return [by_name.get(name) or _profile(table, name, limit) for name in columns]


def _together(table: DuckTable, columns: Sequence[str], limit: int) -> dict[str, Profile]:
    """Profiles of many texts of a small table: a query costs more than to count its cells here."""
    cells = table.store.connection.sql(table.query(columns)).to_arrow_table()
    profiles = {}
    for name, column in zip(columns, cells.columns, strict=True):
        counts = Counter(column.to_pylist())
        rows = counts.total()
        empty = [value for value in counts if value is None or not value.strip(_BLANKS)]
        for value in empty:
            del counts[value]
        frequent = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))[:limit]
        single = sum(number == 1 for number in counts.values())
        missing = rows - counts.total()
        profiles[name] = Profile(
            name, table.type_of(name), rows, missing, len(counts), single, dict(frequent), False, any(empty)
        )
    return profiles


def _profile(table: DuckTable, name: str, limit: int) -> Profile:
    column = f"CAST({quoted(name)} AS VARCHAR)" if table.holds_records(name) else quoted(name)
    blank = f"trim({column}) = ''" if table.is_text(name) else "false"
    ((rows, missing, blanks),) = table.store.run(
        f"SELECT count(*), count(*) FILTER ({column} IS NULL OR {blank}), "
        f"count(*) FILTER ({blank} AND CAST({column} AS VARCHAR) <> '') FROM {table.name}"
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
    lists = table.holds_lists(name)
    return Profile(name, table.type_of(name), rows, missing, distinct, single, values, lists, blanks > 0)
