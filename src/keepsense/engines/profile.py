"""What a table looks like from the outside: how many values each column has, how many are missing or frequent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from keepsense.counts import Value

MOST_VALUES = 2_000
"""Most distinct values of a column that are looked at one by one."""


@dataclass(frozen=True, eq=False)
class Profile:
    """One column in numbers, with its most frequent values for those who look closer.

    `missing` counts empty cells and cells of blanks only, `single` the values that only one row holds. `values` holds
    the most frequent values and their rows; it is all of them where `complete`.

    >>> from keepsense.engines import engine
    >>> (jobs,) = profiles(engine().read({"job": ["nurse", "nurse", "clerk", None]}))
    >>> jobs.rows, jobs.missing, jobs.distinct, jobs.single, dict(jobs.values)
    (4, 1, 2, 1, {'nurse': 2, 'clerk': 1})
    """

    name: str
    type: str
    rows: int
    missing: int
    distinct: int
    single: int
    values: Mapping[Value, int] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether `values` holds every value."""
        return len(self.values) == self.distinct

    @property
    def filled(self) -> int:
        """Rows that hold a value."""
        return self.rows - self.missing

    @property
    def uniqueness(self) -> float:
        """Distinct values over rows that hold one: 1 where every row has its own."""
        return self.distinct / self.filled if self.filled else 0.0


def profiles(table: Any, limit: int = MOST_VALUES, columns: Sequence[str] | None = None) -> list[Profile]:
    """Profile of every column, or of some, with two small queries each; the rows stay where they are.

    >>> from keepsense.engines import engine
    >>> [p.name for p in profiles(engine().read({"a": [1], "b": ["x"]}))]
    ['a', 'b']
    """
    types = dict(zip(table.columns, table.types, strict=True))
    return [_profile(table, name, types[name], limit) for name in columns or table.columns]


def is_nested(kind: str) -> bool:
    """Whether the cells of a column are records or maps, alone or in lists: such are looked at as text.

    >>> is_nested("STRUCT(town VARCHAR)"), is_nested("VARCHAR[]")
    (True, False)
    """
    return kind.upper().startswith(("STRUCT", "MAP", "UNION")) or kind.endswith("[][]")


def _profile(table: Any, name: str, kind: str, limit: int) -> Profile:
    from keepsense.engines.duckdb.engine import quoted

    column, ask = quoted(name), table.engine.connection.sql
    if is_nested(kind):
        column = f"CAST({column} AS VARCHAR)"
    blank = f"trim({column}) = ''" if kind.upper() in ("VARCHAR", "TEXT") else "false"
    rows, missing = ask(f"SELECT count(*), count(*) FILTER ({column} IS NULL OR {blank}) FROM {table.name}").fetchall()[
        0
    ]
    grouped = (
        f"(SELECT {column} AS v, count(*) AS n FROM {table.name} WHERE {column} IS NOT NULL AND NOT {blank} "
        f"GROUP BY {column})"
    )
    distinct, single = ask(f"SELECT count(*), count(*) FILTER (n = 1) FROM {grouped}").fetchall()[0]
    # equally frequent values in an order of their own, so that the same table always gives the same profile
    frequent = ask(f"SELECT v, n FROM {grouped} ORDER BY n DESC, CAST(v AS VARCHAR) LIMIT {int(limit)}")
    found = frequent.to_arrow_table().to_pydict()
    values = {tuple(v) if isinstance(v, list) else v: int(n) for v, n in zip(found["v"], found["n"], strict=True)}
    return Profile(name, kind, int(rows), int(missing), int(distinct), int(single), values)
