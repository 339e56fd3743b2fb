"""The embedded engine: DuckDB groups, joins, spills to disk and streams; Arrow carries what comes and goes."""

from __future__ import annotations

import secrets
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from keepsense.counts import Counts, Value
from keepsense.engines.base import Reading, SqlConnection, Writing
from keepsense.engines.duckdb import count as counting
from keepsense.engines.duckdb import files
from keepsense.engines.duckdb import recode as recoding
from keepsense.engines.files import format_of, whole_file
from keepsense.engines.frames import arrow_of, on_demand, watched
from keepsense.engines.scratch import fresh_room, leave
from keepsense.errors import BadInput, did_you_mean
from keepsense.recoding import Recoding

ROW = "__keepsense_row"


@dataclass(frozen=True)
class DuckTable:
    """Rows in DuckDB: the name of a view or table that also numbers its rows (never released).

    >>> DuckDBEngine().read({"job": ["nurse"]}).columns
    ('job',)
    """

    engine: DuckDBEngine
    name: str
    columns: tuple[str, ...]
    types: tuple[str, ...]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.engine.connection.sql(f"SELECT count(*) FROM {self.name}").fetchall()[0][0])

    def query(self, columns: Iterable[str] | None = None) -> str:
        """SQL that selects the columns."""
        return f"SELECT {', '.join(map(quoted, columns or self.columns))} FROM {self.name}"

    def arrow(self) -> Any:
        """The rows in order as an Arrow table: for small tables and tests."""
        return self.engine.connection.sql(f"{self.query()} ORDER BY {ROW}").to_arrow_table()

    def require(self, columns: Iterable[str]) -> None:
        """Refuse column names the table does not have, with the nearest one as a hint."""
        for name in columns:
            if name not in self.columns:
                hint = did_you_mean(name, self.columns)
                raise BadInput(f"the table has no column {name!r}; it has {', '.join(self.columns)}.{hint}")


class DuckDBEngine:
    """Rows on one machine: files larger than memory are read in a stream and spill to disk where they must.

    >>> duck = DuckDBEngine()
    >>> people = duck.read({"job": ["nurse", "clerk", "nurse"], "age": [31, 40, 35]})
    >>> duck.count(people, ["job"]).weights.tolist()
    [1, 2]
    """

    def __init__(self, *, memory: str | None = None, threads: int | None = None) -> None:
        import duckdb

        self.folder, keeper = fresh_room()
        self._cleanup = weakref.finalize(self, leave, self.folder, keeper)
        self.connection = duckdb.connect(config={"temp_directory": str(self.folder / "spill")})
        self._disconnect = weakref.finalize(self, self.connection.close)
        for setting in ("autoinstall_known_extensions", "autoload_known_extensions"):
            self.connection.execute(f"SET {setting} = false")
        self.connection.execute("SET preserve_insertion_order = true")
        if memory is not None:
            self.connection.execute(f"SET memory_limit = {literal(memory)}")
        if threads is not None:
            self.connection.execute(f"SET threads = {int(threads)}")

    def close(self) -> None:
        """Release memory and temporary files."""
        self._disconnect()
        self._cleanup()

    def __enter__(self) -> DuckDBEngine:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def read(self, source: Any, reading: Reading | None = None) -> DuckTable:
        """Open a file or database table by path, columns in memory, or any frame narwhals knows.

        Text formats keep every cell as the text it is, so that nothing changes on the way through.
        """
        if isinstance(source, str | PathLike):
            return files.read(self, str(source), reading or Reading())
        return self.from_arrow(arrow_of(source))

    def from_arrow(self, data: Any) -> DuckTable:
        """Take over an Arrow table or record batch reader; a reader is never in memory as a whole."""
        import duckdb
        import pyarrow as pa

        name, failures = fresh("source"), list[Exception]()
        stream = watched(data, failures) if isinstance(data, pa.RecordBatchReader) else data
        self.connection.register("arriving", stream)
        try:
            self.connection.execute(
                f"CREATE TEMP TABLE {name} AS SELECT *, row_number() OVER () AS {ROW} FROM arriving"
            )
        except duckdb.Error as error:
            if failures:
                raise failures[0] from None
            if isinstance(error, duckdb.OperationalError):
                raise
            # DuckDB's words may quote cells
            raise BadInput(
                f"the rows cannot be taken over ({type(error).__name__}); a column has a type that DuckDB does not know"
            ) from None
        finally:
            self.connection.unregister("arriving")
        return self.table(name)

    def table(self, name: str) -> DuckTable:
        """Handle of a table or view that numbers its rows."""
        described = self.connection.sql(f"DESCRIBE {name}").fetchall()
        columns = [(c, t) for c, t, *_ in described if c != ROW]
        if not columns:
            raise BadInput("the table has no columns")
        if any(c.lower().startswith(ROW) for c, _ in columns):
            raise BadInput(f"a column is called {ROW!r}, as Keepsense calls its row numbers; rename it")
        return DuckTable(self, name, tuple(c for c, _ in columns), tuple(str(t) for _, t in columns))

    def view(self, sql: str) -> DuckTable:
        """Handle of a query that keeps the row numbers."""
        name = fresh("view")
        self.connection.execute(f"CREATE TEMP VIEW {name} AS {sql}")
        return self.table(name)

    def sql(self) -> SqlConnection:
        """A connection of its own: it shares nothing with this engine but DuckDB.

        >>> with DuckDBEngine() as duck, duck.sql() as sql:
        ...     sql.run("SELECT 1 + 1")
        [(2,)]
        """
        from keepsense.engines.duckdb.sql import DuckDBConnection

        return DuckDBConnection()

    def count(
        self, table: DuckTable, columns: Sequence[str], *, histograms: Iterable[str] = (), sums: Iterable[str] = ()
    ) -> Counts:
        """Count distinct tuples with one GROUP BY, one more for each histogram. Tuples come out sorted."""
        further, numbers = tuple(histograms), tuple(sums)
        table.require([*columns, *further, *numbers])
        return counting.count(self, table, tuple(columns), further, numbers)

    def recode(
        self,
        table: DuckTable,
        recodings: Iterable[Recoding],
        *,
        drop: Iterable[str] = (),
        rng: np.random.Generator | int | None = None,
    ) -> DuckTable:
        """Apply recodings with joins and drop columns; refuses rows that a recoding does not cover."""
        dropped = set(drop)
        table.require(dropped)
        random = np.random.default_rng(rng)
        for rule in recodings:
            table.require(rule.names)
            table = recoding.recode(self, table, rule, random)
        kept = [c for c in table.columns if c not in dropped]
        if not kept:
            raise BadInput("every column would be dropped; keep at least one")
        return self.view(f"SELECT {', '.join(map(quoted, [*kept, ROW]))} FROM {table.name}")

    def leave_out(self, table: DuckTable, values: Mapping[str, Value]) -> DuckTable:
        """The rows but those that hold all of these values at once; a tuple stands for a list.

        >>> duck = DuckDBEngine()
        >>> duck.leave_out(duck.read({"job": ["nurse", "*"], "age": ["*", "*"]}), {"job": "*", "age": "*"}).rows
        1
        """
        table.require(values)
        kinds = dict(zip(table.columns, table.types, strict=True))
        tests = []
        for name, value in values.items():
            listed = f"[{', '.join(literal(str(item)) for item in value)}]" if isinstance(value, tuple) else ""
            cell = quoted(name) if listed else f"{quoted(name)}::VARCHAR"
            if bool(listed) != kinds[name].endswith("[]"):
                return table  # no cell of the column can be such a value
            tests.append(f"{cell} IS NOT DISTINCT FROM {listed or literal(str(value))}")
        if not tests:
            return table
        return self.view(f"SELECT * FROM {table.name} WHERE NOT ({' AND '.join(tests)})")

    def as_written(self, table: DuckTable, target: str, writing: Writing | None = None) -> DuckTable:
        """The table as it reads in a file of that name: text that a spreadsheet would run is defused there.

        >>> duck = DuckDBEngine()
        >>> duck.as_written(duck.read({"note": ["=1+1"]}), "people.csv").arrow().to_pydict()
        {'note': ["'=1+1"]}
        """
        how = writing or Writing()
        chosen = files.cells(table, format_of(target, how.format), how)
        return self.view(f"SELECT {', '.join([*chosen, ROW])} FROM {table.name}")

    def map_batches(self, table: DuckTable, function: Callable[[Any], Any], *, size: int = 65_536) -> DuckTable:
        """Pass the rows through a function, one Arrow record batch at a time; only the result is kept."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        reader = self.connection.sql(f"{table.query()} ORDER BY {ROW}").to_arrow_reader(size)
        path = self.folder / f"{secrets.token_hex(8)}.parquet"
        writer = None
        try:
            for batch in reader:
                result = pa.Table.from_batches([function(batch)])
                writer = writer or pq.ParquetWriter(path, result.schema)
                writer.write_table(result)
        finally:
            if writer is not None:
                writer.close()
        if writer is None:
            return table
        return files.read(self, str(path), Reading(format="parquet"))

    def write(
        self,
        table: DuckTable,
        target: str | PathLike[str],
        writing: Writing | None = None,
        *,
        rng: np.random.Generator | int | None = None,
    ) -> None:
        """Write a table; the file or database table appears under its name only when it is whole.

        Row numbers stay here. In PostgreSQL a table is replaced only if Keepsense released it earlier.
        """
        how, random = writing or Writing(), np.random.default_rng(rng)
        if format_of(str(target), how.format) == "postgresql":
            from keepsense.engines.formats import postgresql

            with postgresql.staged(str(target), how.table) as stage:
                stage.write(self.stream(table, how, rng=random))
                stage.commit()
            return
        import duckdb

        with whole_file(target) as part:
            try:
                files.write(self, table, str(part), str(target), how, random)
            except duckdb.IOException:
                raise BadInput(
                    f"{Path(target).name}: the file cannot be written; check that its folder may be written to and "
                    "that the disk is not full"
                ) from None

    def stream(
        self,
        table: DuckTable,
        writing: Writing | None = None,
        *,
        rng: np.random.Generator | int | None = None,
        size: int = 65_536,
    ) -> Any:
        """The rows as `write` gives them to a database, in order or shuffled, as a `pyarrow.RecordBatchReader`.

        >>> duck = DuckDBEngine()
        >>> duck.stream(duck.read({"job": ["nurse", "clerk"]})).read_all().to_pydict()
        {'job': ['nurse', 'clerk']}
        """
        how = writing or Writing()
        sql = files.query(table, how.format or "postgresql", how, np.random.default_rng(rng))
        return self.connection.sql(sql).to_arrow_reader(size)

    def reader(self, table: DuckTable, columns: Sequence[str] | None = None, *, size: int = 65_536) -> Any:
        """Some columns as they are here, as a `pyarrow.RecordBatchReader` that asks the engine only when it is read.

        One connection serves one stream at a time: several of these may wait, and be read one after another.

        >>> duck = DuckDBEngine()
        >>> duck.reader(duck.read({"job": ["nurse", "clerk"], "age": [31, 40]}), ["age"]).read_all().to_pydict()
        {'age': [31, 40]}
        """
        if columns is not None:
            table.require(columns)
        sql = table.query(columns)
        schema = self.connection.sql(f"SELECT * FROM ({sql}) LIMIT 0").to_arrow_table().schema
        return on_demand(schema, lambda: self.connection.sql(sql).to_arrow_reader(size))

    def differing(self, table: DuckTable, other: DuckTable, columns: Sequence[str]) -> dict[str, float]:
        """Share of the cells of each column that read differently in another table, row by row in their order.

        >>> duck = DuckDBEngine()
        >>> before, after = duck.read({"age": [31, 40]}), duck.read({"age": ["31", "40-49"]})
        >>> duck.differing(before, after, ["age"])
        {'age': 0.5}
        """
        table.require(columns)
        other.require(columns)
        if not columns:
            return {}
        unlike = ", ".join(
            f"avg((a.{quoted(n)}::VARCHAR IS DISTINCT FROM b.{quoted(n)}::VARCHAR)::INT)" for n in columns
        )
        found = self.connection.sql(
            f"SELECT {unlike} FROM {table.name} a JOIN {other.name} b ON a.{ROW} = b.{ROW}"
        ).fetchall()[0]
        return {name: float(share or 0.0) for name, share in zip(columns, found, strict=True)}


def fresh(kind: str) -> str:
    """A name no table has yet.

    >>> fresh("view").startswith("ks_view_"), fresh("view") == fresh("view")
    (True, False)
    """
    return f"ks_{kind}_{secrets.token_hex(6)}"


def quoted(name: str) -> str:
    """A column name as SQL.

    >>> quoted('the "real" age')
    '"the ""real"" age"'
    """
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A string as SQL.

    >>> literal("nurse's aide")
    "'nurse''s aide'"
    """
    return "'" + text.replace("'", "''") + "'"
