"""The SQL connection of the verifier to DuckDB: tables of text in, rows out, nothing of the engine's counting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress
from os import PathLike
from pathlib import Path
from typing import Any

from keepsense.engines.duckdb_store import ROW, Store, fresh, literal
from keepsense.engines.formats.table_formats import format_of
from keepsense.engines.frames import arrow_of
from keepsense.engines.protocol import Reading, SqlTable
from keepsense.engines.text_encodings import readable
from keepsense.errors import BadInput

_LISTED = 500
"""Values up to which a list is searched from its beginning: a dictionary's worth of that is quick."""


class DuckDBConnection(Store):
    """A private in-memory DuckDB; tables larger than memory spill into a folder of its own.

    >>> with DuckDBConnection() as sql:
    ...     people = sql.table("people", {"job": ["nurse", "clerk"], "age": [31, 40]})
    ...     people.column("age"), sql.run("SELECT c0, c1 FROM people ORDER BY c0")
    ('c1', [('clerk', '40'), ('nurse', '31')])
    """

    def __init__(self, memory: str | None = None) -> None:
        super().__init__(memory=memory)
        self._read_where_they_lie: set[str] = set()

    def table(
        self,
        name: str,
        source: Any,
        reading: Reading | None = None,
        *,
        beside: Any = None,
        keep_lists: bool = False,
        alike: bool = False,
    ) -> SqlTable:
        """Make a file or frame known under a name, every cell as text; `beside` adds the columns of another one."""
        import duckdb
        import pyarrow as pa

        further: list[str] = []
        try:
            relation, columns = self._relation(source, reading or Reading())
            if beside is not None:
                other, further = self._relation(beside, Reading())
                relation, other = self.keep(relation, "*"), self.keep(other, "*")  # a stream is read once only
                if self.run(f"SELECT count(*) FROM {relation}") != self.run(f"SELECT count(*) FROM {other}"):
                    raise BadInput("the columns beside the table have another number of rows than the table")
                renamed = ", ".join(f"c{i} AS c{len(columns) + i}" for i in range(len(further)))
                relation, columns = f"{relation} POSITIONAL JOIN (SELECT {renamed} FROM {other})", columns + further
            lists = [kind.endswith("[]") for kind in self.types(f"SELECT * FROM {relation}").values()]
            texts = ["VARCHAR[]" if keep_lists and is_list else "VARCHAR" for is_list in lists]
            cells = ", ".join(f"CAST(c{i} AS {text}) AS c{i}" for i, text in enumerate(texts))
            again = beside is None and isinstance(source, str | PathLike) and self._by_column(source, reading)
            times = "times_" if alike and not again else None
            merged = f", count(*) AS {times} FROM {relation} GROUP BY ALL" if times else f" FROM {relation}"
            self.run(f"CREATE {'VIEW' if again else 'TABLE'} {name} AS SELECT {cells}{merged}")
            if again:
                self._read_where_they_lie.add(name)
        except (duckdb.Error, pa.ArrowException, TypeError, OSError) as error:
            what = f"file {Path(source).name!r}" if isinstance(source, str | PathLike) else f"table {name!r}"
            why = f"({type(error).__name__}); it is damaged, or not what its name says"
            raise BadInput(f"the {what} cannot be read back {why}") from None
        return SqlTable(name, tuple(columns), frozenset(compress(columns, lists)), len(further), times)

    def run(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a statement; files that are read where they lie must stay as they are."""
        rows = super().run(sql)
        self.unchanged()
        return rows

    def row_sums(self, table: str, columns: Sequence[str], key: str) -> tuple[int, ...]:
        """Sums over rows, whatever their order, of two keyed 64-bit hashes of some columns' texts together.

        >>> with DuckDBConnection() as sql:
        ...     _ = sql.table("a", {"job": ["nurse", "clerk"], "ill": ["flu", "cold"]})
        ...     _ = sql.table("b", {"job": ["clerk", "nurse"], "ill": ["cold", "flu"]})
        ...     _ = sql.table("c", {"job": ["clerk", "nurse"], "ill": ["flu", "cold"]})
        ...     sums = [sql.row_sums(table, ["c0", "c1"], "secret") for table in "abc"]
        ...     sums[0] == sums[1], sums[0] == sums[2]
        (True, False)
        """
        cells = ", ".join(columns)
        hashes = (f"sum(hash(hash({literal(key + half)}, {cells}))::HUGEINT)" for half in "lr")
        (sums,) = self.run(f"SELECT count(*), {', '.join(hashes)} FROM {table}")
        return tuple(int(number or 0) for number in sums)

    def finds_places(self, table: str) -> bool:
        """Whether cells come with dictionaries, so that each is looked for once a dictionary and not in every row."""
        return table in self._read_where_they_lie

    def place(self, column: str, values: Sequence[str | None]) -> str:
        """SQL for the place of a column's cell among different values, from 1; NULL where it is none of them.

        >>> with DuckDBConnection() as sql:
        ...     _ = sql.table("people", {"job": ["nurse", None, "clerk", "cook"]})
        ...     sql.run(f"SELECT {sql.place('c0', ['clerk', 'nurse', None])} FROM people")
        [(2,), (3,), (1,), (None,)]
        """
        spelled = [literal(value) for value in values if value is not None]
        if len(values) <= _LISTED:
            return f"list_position([{', '.join([*spelled, 'NULL'][: len(values)])}], {column})"
        kind = fresh("kind")
        self.run(f"CREATE TYPE {kind} AS ENUM ({', '.join(spelled)})")
        number = f"CAST(enum_code(TRY_CAST({column} AS {kind})) AS BIGINT) + 1"
        return f"CASE WHEN {column} IS NULL THEN {len(spelled) + 1} ELSE {number} END"

    def _by_column(self, source: str | PathLike[str], reading: Reading | None) -> bool:
        """Whether a file is read again for every question, and not copied."""
        return format_of(str(source), None if reading is None else reading.format).by_column

    def _relation(self, source: Any, reading: Reading) -> tuple[str, list[str]]:
        """Something with the columns c0, c1, ... of a file or frame, and how they are called there."""
        if not isinstance(source, str | PathLike):
            return self._frame(source)
        form = format_of(str(source), reading.format)
        if form.as_it_stands is not None:
            path = readable(source)
            relation = form.as_it_stands(str(path), reading)
            return self._renamed(self.look_at(path, f"SELECT * FROM {relation}") if form.by_column else relation)
        return self._renamed(f"(SELECT * EXCLUDE {ROW} FROM {form.read(self, str(source), reading)} ORDER BY {ROW})")

    def _renamed(self, relation: str) -> tuple[str, list[str]]:
        columns, view = list(self.types(f"SELECT * FROM {relation}")), fresh("view")
        # names are ours: a column may be called anything, and DuckDB does not tell A from a
        renamed = ", ".join(f"c{i}" for i in range(len(columns)))
        self.run(f"CREATE TEMP VIEW {view} AS SELECT * FROM {relation} AS t({renamed})")
        return view, columns

    def _frame(self, source: Any) -> tuple[str, list[str]]:
        import pyarrow as pa

        rows, view = _texts(source) if isinstance(source, Mapping) else arrow_of(source), fresh("view")
        renamed = pa.schema([field.with_name(f"c{i}") for i, field in enumerate(rows.schema)])
        if isinstance(rows, pa.RecordBatchReader):
            batches = (pa.RecordBatch.from_arrays(batch.columns, schema=renamed) for batch in rows)
            self.connection.register(view, pa.RecordBatchReader.from_batches(renamed, batches))
        else:
            self.connection.register(view, rows.rename_columns(renamed.names))
        return view, list(rows.schema.names)


def _texts(columns: Mapping[str, Any]) -> Any:
    """Columns in memory: as Arrow reads them, or as text where a column mixes types."""
    import pyarrow as pa

    def read(cells: list[Any]) -> Any:
        try:
            return pa.array(cells, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            return pa.array([None if cell is None or cell != cell else str(cell) for cell in cells])

    return pa.table({str(name): read(list(cells)) for name, cells in columns.items()})
