"""A connection of its own for whoever writes SQL: tables of text in, rows out, nothing of the engine's counting."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from typing import Any

from keepsense.engines.base import Reading, SqlTable
from keepsense.engines.duckdb.engine import DuckDBEngine, fresh, literal
from keepsense.engines.files import format_of, readable
from keepsense.engines.frames import arrow_of
from keepsense.engines.scratch import fresh_room, leave
from keepsense.errors import BadInput


class DuckDBConnection:
    """A private in-memory DuckDB; tables larger than memory spill into a folder of its own.

    >>> with DuckDBConnection() as sql:
    ...     people = sql.table("people", {"job": ["nurse", "clerk"], "age": [31, 40]})
    ...     people.column("age"), sql.run("SELECT c0, c1 FROM people ORDER BY c0")
    ('c1', [('clerk', '40'), ('nurse', '31')])
    """

    def __init__(self, *, memory: str = "40%") -> None:
        import duckdb

        folder, keeper = fresh_room()
        self._cleanup = weakref.finalize(self, leave, folder, keeper)
        # an engine beside it needs memory, too
        self._duckdb = duckdb.connect(config={"temp_directory": str(folder / "spill"), "memory_limit": memory})
        self._disconnect = weakref.finalize(self, self._duckdb.close)

    def close(self) -> None:
        """Forget all tables."""
        self._disconnect()
        self._cleanup()

    def __enter__(self) -> DuckDBConnection:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def run(self, sql: str) -> list[tuple[Any, ...]]:
        """Rows that a statement gives, or none."""
        return list(self._duckdb.execute(sql).fetchall())

    def table(
        self,
        name: str,
        source: Any,
        reading: Reading | None = None,
        *,
        beside: Any = None,
        keep_lists: bool = False,
    ) -> SqlTable:
        """Make a file or frame known under a name, every cell as text; `beside` adds the columns of another, row by row."""
        import duckdb
        import pyarrow as pa

        with ExitStack() as needed:
            try:
                relation, columns = self._relation(source, reading or Reading(), needed)
                if beside is not None:
                    other, further = self._relation(beside, Reading(), needed)
                    if self._rows(relation) != self._rows(other):
                        raise BadInput("the columns beside the table have another number of rows than the table")
                    renamed = ", ".join(f"c{i} AS c{len(columns) + i}" for i in range(len(further)))
                    relation, columns = f"{relation} POSITIONAL JOIN (SELECT {renamed} FROM {other})", columns + further
                types = [str(row[1]) for row in self.run(f"DESCRIBE SELECT * FROM {relation}")]
                texts = ["VARCHAR[]" if keep_lists and t.endswith("[]") else "VARCHAR" for t in types]
                cells = ", ".join(f"CAST(c{i} AS {text}) AS c{i}" for i, text in enumerate(texts))
                self.run(f"CREATE TABLE {name} AS SELECT {cells} FROM {relation}")
            except (duckdb.Error, pa.ArrowException, TypeError, OSError) as error:
                what = f"file {Path(source).name!r}" if isinstance(source, str | PathLike) else f"table {name!r}"
                raise BadInput(
                    f"the {what} cannot be read back ({type(error).__name__}); it is damaged, or not what its name says"
                ) from None
        lists = {column for column, kind in zip(columns, types, strict=True) if kind.endswith("[]")}
        return SqlTable(name, tuple(columns), frozenset(lists))

    def _rows(self, relation: str) -> int:
        return int(self.run(f"SELECT count(*) FROM {relation}")[0][0])

    def _relation(self, source: Any, reading: Reading, needed: ExitStack) -> tuple[str, list[str]]:
        """A view with the columns c0, c1, ... of a file or frame, and how they are called there."""
        view = fresh("source")
        if isinstance(source, str | PathLike):
            path, form = str(source), format_of(str(source), reading.format)
            if form == "csv":
                sign = "" if reading.delimiter is None else f", delim = {literal(reading.delimiter)}"
                # as a recipient reads it, not as the engine does
                options = f"all_varchar = true, header = true, allow_quoted_nulls = false{sign}"
                return self._file(view, f"read_csv({literal(str(readable(path)))}, {options})")
            if form == "parquet":
                return self._file(view, f"read_parquet({literal(str(readable(path)))})")
            engine = needed.enter_context(DuckDBEngine())
            source = engine.reader(engine.read(path, reading))
        return self._frame(view, source)

    def _file(self, view: str, reader: str) -> tuple[str, list[str]]:
        columns = [row[0] for row in self.run(f"DESCRIBE SELECT * FROM {reader}")]
        # names are ours: a column may be called anything, and DuckDB does not tell A from a
        renamed = ", ".join(f"c{i}" for i in range(len(columns)))
        self.run(f"CREATE VIEW {view} AS SELECT * FROM {reader} AS t({renamed})")
        return view, columns

    def _frame(self, view: str, source: Any) -> tuple[str, list[str]]:
        import pyarrow as pa

        rows = _texts(source) if isinstance(source, Mapping) else arrow_of(source)
        columns = list(rows.schema.names)
        renamed = pa.schema([field.with_name(f"c{i}") for i, field in enumerate(rows.schema)])
        if isinstance(rows, pa.RecordBatchReader):
            batches = (pa.RecordBatch.from_arrays(batch.columns, schema=renamed) for batch in rows)
            self._duckdb.register(view, pa.RecordBatchReader.from_batches(renamed, batches))
        else:
            self._duckdb.register(view, rows.rename_columns(renamed.names))
        return view, columns


def _texts(columns: Mapping[str, Any]) -> Any:
    """Columns in memory: as Arrow reads them, or as text where a column mixes types."""
    import pyarrow as pa

    def read(cells: list[Any]) -> Any:
        try:
            return pa.array(cells, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            return pa.array([None if cell is None or cell != cell else str(cell) for cell in cells])

    return pa.table({str(name): read(list(cells)) for name, cells in columns.items()})
