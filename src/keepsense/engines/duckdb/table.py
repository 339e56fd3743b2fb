"""Tables in DuckDB: views or temporary tables that number their rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from keepsense.engines.coding import Coded
from keepsense.engines.store import ROW, Store, fresh, quoted
from keepsense.errors import BadInput, did_you_mean


@dataclass(frozen=True)
class DuckTable:
    """Rows in DuckDB: the name of a view or table that also numbers its rows (never released).

    >>> with Store() as store:
    ...     held(store, store.keep("(SELECT 'nurse' AS job, [31] AS ages)")).holds_lists("ages")
    True
    """

    store: Store
    name: str
    columns: tuple[str, ...]
    types: tuple[str, ...]
    ordered: bool = False
    """Whether a scan gives the rows by their numbers."""
    codes: dict[str, Coded] = field(default_factory=dict, repr=False, compare=False)
    """Columns that were coded already, row by row in order."""

    @property
    def rows(self) -> int:
        """Number of rows."""
        for column in self.codes.values():
            return len(column.codes)
        return int(self.store.run(f"SELECT count(*) FROM {self.name}")[0][0])

    @cached_property
    def _type(self) -> dict[str, str]:
        """Types by column: a table may have very many."""
        return dict(zip(self.columns, self.types, strict=True))

    def type_of(self, column: str) -> str:
        """DuckDB's word for what the cells of a column are."""
        return self._type[column]

    def is_text(self, column: str) -> bool:
        """Whether the cells of a column are texts."""
        return self.type_of(column).upper() in ("VARCHAR", "TEXT")

    def holds_lists(self, column: str) -> bool:
        """Whether the cells of a column are lists."""
        return self.type_of(column).endswith("[]")

    def holds_records(self, column: str) -> bool:
        """Whether the cells of a column are records or maps, alone or in lists: such are looked at as text."""
        kind = self.type_of(column).upper()
        return kind.startswith(("STRUCT", "MAP", "UNION")) or kind.endswith("[][]")

    def query(self, columns: Iterable[str] | None = None) -> str:
        """SQL that selects the columns."""
        return f"SELECT {', '.join(map(quoted, columns or self.columns))} FROM {self.name}"

    def require(self, columns: Iterable[str]) -> None:
        """Refuse column names the table does not have, with the nearest one as a hint."""
        for name in columns:
            if name not in self._type:
                hint = did_you_mean(name, self.columns)
                raise BadInput(f"the table has no column {name!r}; it has {', '.join(self.columns)}.{hint}")


def held(store: Store, name: str, *, ordered: bool = False, codes: Mapping[str, Coded] | None = None) -> DuckTable:
    """Handle of a table or view that numbers its rows, with what is known of its columns already.

    >>> with Store() as store:
    ...     held(store, store.keep("(SELECT 'nurse' AS job)")).columns
    ('job',)
    """
    types = store.types(name)
    types.pop(ROW, None)
    if not types:
        raise BadInput("the table has no columns")
    if any(column.lower().startswith(ROW) for column in types):
        raise BadInput(f"a column is called {ROW!r}, as Keepsense calls its row numbers; rename it")
    known = {column: coded for column, coded in (codes or {}).items() if column in types}
    return DuckTable(store, name, tuple(types), tuple(types.values()), ordered, known)


def view(store: Store, sql: str, *, ordered: bool = False, codes: Mapping[str, Coded] | None = None) -> DuckTable:
    """Handle of a query that keeps the row numbers.

    >>> with Store() as store:
    ...     view(store, f"SELECT 'nurse' AS job, 1 AS {ROW}").rows
    1
    """
    name = fresh("view")
    store.run(f"CREATE TEMP VIEW {name} AS {sql}")
    return held(store, name, ordered=ordered, codes=codes)
