"""Tables in DuckDB: views or temporary tables that number their rows, as rows and as codes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from keepsense.engines.dictionary_encoding import Coded, Gathering
from keepsense.engines.duckdb_store import ROW, Store, fresh, quoted
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


# Columns as codes, read in one scan, and tables built from codes

_BATCH = 131_072
_TOGETHER = 1 << 20
"""Rows that are read from a file at once."""
_CODED = (
    "VARCHAR BOOLEAN TINYINT SMALLINT INTEGER BIGINT UTINYINT USMALLINT UINTEGER UBIGINT DATE TIMESTAMP".split()  # noqa: SIM905
)
"""Types that go to Arrow and back as they are, and of which DuckDB and Arrow take the same cells for equal."""
_FEW = 4096
_SELDOM = 16
"""A column whose values occur so often on average is worth its dictionary."""


def can_be_coded(table: DuckTable, names: Iterable[str]) -> bool:
    """Whether the cells of all these columns are of types that are coded.

    >>> from keepsense.engines.protocol import engine
    >>> with engine() as duck:
    ...     can_be_coded(duck.read({"job": ["nurse"], "likes": [["tea"]]}), ["job", "likes"])
    False
    """
    return all(name in table.codes or table.type_of(name).upper() in _CODED for name in names)


def coded(table: DuckTable, names: Iterable[str]) -> dict[str, Coded]:
    """Columns as codes, row by row in order; those that were not coded yet are read in one scan.

    >>> from keepsense.engines.protocol import engine
    >>> with engine() as duck:
    ...     coded(duck.read({"job": ["nurse", "clerk", "nurse"]}), ["job"])["job"].codes.tolist()
    [1, 0, 1]
    """
    wanted = list(dict.fromkeys(names))
    missing = [name for name in wanted if name not in table.codes]
    if missing:
        table.codes.update(_from_file(table, missing) or _gathered(*_from_duckdb(table, missing)))
    return {name: table.codes[name] for name in wanted}


def _from_duckdb(table: DuckTable, names: Sequence[str]) -> tuple[Any, Iterator[Any]]:
    """The schema and the batches of some columns, as DuckDB reads them."""
    order = "" if table.ordered else f" ORDER BY {ROW}"
    schema, batches = table.store.stream(table.query(names) + order, _BATCH)
    return schema, batches


def _gathered(schema: Any, batches: Iterable[Any]) -> dict[str, Coded]:
    columns = [Gathering(field.type) for field in schema]
    for batch in batches:
        for column, cells in zip(columns, batch.columns, strict=True):
            column.add(cells)
    return {name: column.coded() for name, column in zip(schema.names, columns, strict=True)}


def _from_file(table: DuckTable, names: Sequence[str]) -> dict[str, Coded] | None:
    """Columns of a Parquet file by the dictionaries that it holds itself; None where DuckDB must read it."""
    import pyarrow as pa

    path = table.store.columnar.get(table.name)
    if path is None:
        return None
    import pyarrow.parquet as pq

    try:
        held = pq.read_schema(path)
        fields = [held.field(name) for name in names if "." not in name and held.names.count(name) == 1]
        if len(fields) < len(names) or not all(_plain(field.type) for field in fields):
            return None
        texts = [field.name for field in fields if pa.types.is_string(field.type)]
        with pq.ParquetFile(path, read_dictionary=texts) as file:
            groups = range(file.num_row_groups)
            batches = (
                batch
                for group in groups
                for batch in file.iter_batches(_TOGETHER, columns=list(names), row_groups=[group])
            )
            columns = _gathered(pa.schema(fields), (batch.select(names) for batch in batches))
    except (pa.ArrowException, OSError, ValueError):  # DuckDB says what is wrong with it
        return None
    table.store.unchanged()
    return columns


def _plain(kind: Any) -> bool:
    """Whether an Arrow type is what DuckDB makes of the same column."""
    import pyarrow as pa

    return bool(
        pa.types.is_string(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_date32(kind)
    )


def worth_coding(table: DuckTable, names: Sequence[str]) -> list[str]:
    """Columns that are coded already, or whose values occur often enough.

    >>> from keepsense.engines.protocol import engine
    >>> with engine() as duck:
    ...     worth_coding(duck.read({"job": ["nurse", "clerk"], "likes": [["tea"], []]}), ["job", "likes"])
    ['job']
    """
    fresh_ones = [name for name in names if name not in table.codes and can_be_coded(table, [name])]
    seldom: set[str] = set()
    if fresh_ones and (rows := table.rows) > _FEW:
        asked = ", ".join(f"approx_count_distinct({quoted(name)})" for name in fresh_ones)
        (different,) = table.store.run(f"SELECT {asked} FROM {table.name}")
        most = max(_FEW, rows // _SELDOM)
        seldom = {name for name, number in zip(fresh_ones, different, strict=True) if number > most}
    return [name for name in names if name in table.codes or (name in fresh_ones and name not in seldom)]


def made_of(table: DuckTable, names: Sequence[str], columns: Mapping[str, Coded]) -> DuckTable:
    """A table of some columns, made of codes, and of what the table that they come from has beside them.

    Its rows are those of the table, in order.

    >>> from keepsense.engines.protocol import engine
    >>> with engine() as duck:
    ...     table = duck.read({"job": ["nurse", "clerk"], "likes": [["tea"], []]})
    ...     duck.frame(made_of(table, ["job", "likes"], coded(table, ["job"]))).to_pydict()
    {'job': ['nurse', 'clerk'], 'likes': [['tea'], []]}
    """
    own, _ = registered(table.store, columns)
    others = [name for name in names if name not in columns]
    cells = [
        f"{quoted(name)}" if name in others else f"{own}.{_name(columns, name)} AS {quoted(name)}" for name in names
    ]
    relation = own
    if others:
        rest = table.query(others) + ("" if table.ordered else f" ORDER BY {ROW}")
        relation = f"{own} POSITIONAL JOIN ({rest}) beside"
    sql = f"SELECT {', '.join(cells)}, row_number() OVER () AS {ROW} FROM {relation}"
    return view(table.store, sql, ordered=True, codes=columns)


def registered(store: Store, columns: Mapping[str, Coded]) -> tuple[str, Any]:
    """The name of a table of codes that DuckDB reads from memory, and the table; its columns are k0, k1, ..."""
    import pyarrow as pa

    name = fresh("codes")
    arrays = [column.arrow() for column in columns.values()]
    rows = pa.table(arrays, names=[_name(columns, each) for each in columns])
    store.connection.register(name, rows)
    return name, rows


def _name(columns: Mapping[str, Coded], name: str) -> str:
    return f"k{[*columns].index(name)}"


def without(table: DuckTable, gone: np.ndarray[Any, np.dtype[np.bool_]]) -> DuckTable:
    """The table without some of its rows, by their places.

    >>> from keepsense.engines.protocol import engine
    >>> with engine() as duck:
    ...     table = duck.read({"job": ["nurse", "clerk"], "likes": [["tea"], []]})
    ...     _ = coded(table, ["job"])
    ...     duck.frame(without(table, np.array([True, False]))).to_pydict()
    {'job': ['clerk'], 'likes': [[]]}
    """
    import pyarrow as pa

    left, names = np.flatnonzero(~gone), table.columns
    others = [name for name in table.columns if name not in table.codes]
    columns = {name: column.taken(left) for name, column in table.codes.items()}
    if others:
        flags = fresh("left")
        table.store.connection.register(flags, pa.table({"ks_left": pa.array(~gone)}))
        rows = table.query([*others, ROW]) + ("" if table.ordered else f" ORDER BY {ROW}")
        sql = f"SELECT * EXCLUDE (ks_left) FROM ({rows}) rows POSITIONAL JOIN {flags} WHERE ks_left"
        table = view(table.store, sql, ordered=True)
    return made_of(table, names, columns)
