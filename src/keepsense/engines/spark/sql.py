"""The SQL connection of the verifier to Spark: tables of text in, rows out, nothing of the engine's counting."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any, Self

from keepsense.engines.duckdb.sql import DuckDBConnection
from keepsense.engines.duckdb_store import literal
from keepsense.engines.protocol import Reading, SqlTable
from keepsense.engines.spark.input_files import behind, is_frame, native, of_frame
from keepsense.engines.spark.session import GROUP, ROW, Room, own_session, quiet, spark_session
from keepsense.engines.spark.table import SparkTable, as_text, texts_of_lists
from keepsense.errors import BadInput

_CREATE = re.compile(r"\s*CREATE TABLE (\w+) AS (.*)", re.DOTALL)
_COUNT = re.compile(r"SELECT count\(\*\) FROM (\w+)")
_TEXT = re.compile(r"'((?:[^']|'')*)'")
_BITS = (0, 22, 43)
"""Where the parts of a 64-bit hash begin that are added up: sums of 22 bits stay below 64 for trillions of rows."""

FEW = 2_000_000
"""Rows of a table that SQL made up to which the driver gets a copy: what is asked of it alone needs no job."""


class SparkConnection:
    """A session of Spark with views of its own; what SQL makes a table of lies in the staging folder.

    Parquet files, and frames and tables that are on the cluster already, are read there. All else passes the driver,
    where DuckDB reads it as a recipient would. The executors group and join rows; what they make of them is small, so
    that DuckDB answers all further questions about it on the driver, in the SQL that both share.
    """

    def __init__(self, session: Any = None, staging: str | None = None) -> None:
        self._session = own_session(session if session is not None else spark_session())
        self._room = Room(staging)
        self._near = DuckDBConnection()
        self._sizes: dict[str, int] = {}
        self._far: set[str] = set()
        self._here: set[str] = set()
        self._shared: list[str] = []

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
        with quiet():
            table = self._opened(source, reading)
            texts, columns, lists = _texts(table, keep_lists), table.columns, _lists(table)
            self._far.add(name)
            self._here.discard(name)
            self._sizes.pop(name, None)
            if beside is None:
                texts.drop(ROW).createOrReplaceTempView(name)
                if table.size is not None:
                    self._sizes[name] = table.size
                return SqlTable(name, columns, lists)
            other = self._opened(beside, None)
            if table.rows != other.rows:
                raise BadInput("the columns beside the table have another number of rows than the table")
            further = _texts(other, keep_lists).toDF(*(f"b{i}" for i in range(len(other.columns))), ROW)
            names = [f"c{i}" for i in range(len(columns) + len(other.columns))]
            texts.join(further, ROW).drop(ROW).toDF(*names).createOrReplaceTempView(name)
            return SqlTable(name, (*columns, *other.columns), lists | _lists(other), len(other.columns))

    def run(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a statement; rows that it gives, or none."""
        counted = _COUNT.fullmatch(sql)
        if counted is not None and counted[1] in self._sizes:  # as the files say, where Spark would look, too
            return [(self._sizes[counted[1]],)]
        create, named = _CREATE.fullmatch(sql), set(re.findall(r"\w+", _TEXT.sub("", sql)))
        with quiet():
            if not named & (self._far - self._here):
                made = self._near.run(sql)
                if create is not None:
                    self._here.add(create[1])
                return made
            for name in sorted(named & (self._here - self._far)):
                self._sent(name)
            if create is not None:
                self._made(create[1], self._session.sql(spelled(create[2])))
                return []
            return [tuple(row) for row in self._session.sql(spelled(sql)).collect()]

    def _made(self, name: str, frame: Any) -> None:
        """Keep what executors make of a frame as a table, and here, too, if it is small."""
        import pyarrow.parquet as pq

        folder = self._room.written(frame)
        files = sorted(folder.glob("part-*"))
        self._view(name, frame.schema, folder)
        self._sizes[name] = sum(pq.read_metadata(file).num_rows for file in files)
        if files and self._sizes[name] <= FEW:
            listed = ", ".join(literal(str(file)) for file in files)
            self._near.run(f"CREATE TABLE {name} AS SELECT * FROM read_parquet([{listed}])")
            self._here.add(name)

    def _sent(self, name: str) -> None:
        """Let the executors have a table that the driver made."""
        import pyarrow.parquet as pq
        from pyspark.sql.pandas.types import from_arrow_schema

        rows = self._near.connection.sql(f"SELECT * FROM {name}").to_arrow_table()  # whole numbers of any size stay so
        path = self._room.place().with_suffix(".parquet")
        pq.write_table(rows, path)
        self._view(name, from_arrow_schema(rows.schema, prefer_timestamp_ntz=True), path)

    def _view(self, name: str, schema: Any, path: Path) -> None:
        self._session.read.schema(schema).parquet(path.as_uri()).createOrReplaceTempView(name)
        self._far.add(name)

    def row_sums(self, table: str, columns: Sequence[str], key: str) -> tuple[int, ...]:
        """Sums over rows, whatever their order, of two keyed 64-bit hashes of some columns' texts together."""
        from pyspark.sql import functions as F

        with quiet():
            if table not in self._far:
                self._sent(table)
            # Spark passes over missing cells when it hashes, so where they are is hashed, too
            cells = [part for name in columns for part in (F.col(name).isNull(), F.col(name).cast("string"))]
            hashes = [F.xxhash64(F.lit(key + half), *cells, F.lit(half + key)).alias(half) for half in "lr"]
            # some bits at a time: sums of these are whole numbers for Spark, not decimals
            ends = (*_BITS[1:], 64)
            sums = [
                F.sum(F.shiftrightunsigned(half, begin).bitwiseAND(F.lit((1 << end - begin) - 1)))
                for half in "lr"
                for begin, end in zip(_BITS, ends, strict=True)
            ]
            (row,) = self._session.table(table).select(*hashes).agg(F.count(F.lit(1)), *sums).collect()
        number, *added = (int(cell or 0) for cell in row)
        halves = (added[: len(_BITS)], added[len(_BITS) :])
        return number, *(sum(part << begin for part, begin in zip(half, _BITS, strict=True)) for half in halves)

    def close(self) -> None:
        """Forget all tables."""
        with quiet():
            for view in self._shared:
                self._session.catalog.dropGlobalTempView(view)
            for view in self._far:
                self._session.catalog.dropTempView(view)
        self._far, self._here, self._shared = set(), set(), []
        self._near.close()
        self._room.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _opened(self, source: Any, reading: Reading | None) -> SparkTable:
        known = behind(source)
        if known is not None:
            return self._of_another(known)
        if is_frame(source):
            return self._of_another(of_frame(self._room, source))
        if isinstance(source, str | PathLike):
            with suppress(BadInput):  # DuckDB says why, in the words of the verifier
                table = native(self._session, self._room, str(source), reading or Reading())
                if table is not None:
                    return table
        return self._passed(source, reading)

    def _of_another(self, table: SparkTable) -> SparkTable:
        """A table of another session of the same cluster."""
        view = f"keepsense_{secrets.token_hex(6)}"
        table.frame.createGlobalTempView(view)
        self._shared.append(view)
        return SparkTable(self._room, self._session.table(f"global_temp.{view}"), table.schema, size=table.size)

    def _passed(self, source: Any, reading: Reading | None) -> SparkTable:
        """What DuckDB reads on the driver, as text."""
        import pyarrow as pa

        with DuckDBConnection() as near:
            read = near.table("passing", source, reading, keep_lists=True)
            cells = ", ".join(
                f"c{i}" if name not in read.lists else f"c{i}, CAST(c{i} AS VARCHAR) AS t{i}"
                for i, name in enumerate(read.columns)
            )
            stream = near.connection.sql(f"SELECT {cells} FROM passing").to_arrow_reader(GROUP)
            path, size = self._room.stage(stream)
            names = stream.schema.names
        frame = self._session.read.parquet(Path(path).as_uri())
        fields, chosen = [], []
        for i, name in enumerate(read.columns):
            kind = pa.list_(pa.string()) if name in read.lists else pa.string()
            fields.append(pa.field(name, kind))
            chosen.append(f"c{names.index(f'c{i}')} AS c{i}")
            if name in read.lists:
                chosen.append(f"c{names.index(f't{i}')} AS t{i}")
        return SparkTable(self._room, frame.selectExpr(*chosen, ROW), pa.schema(fields), size=size)


def _texts(table: SparkTable, keep_lists: bool) -> Any:
    """The cells of a table as text; lists as DuckDB spelled them, where it did."""
    from pyspark.sql import functions as F

    cells = []
    for i, name in enumerate(table.columns):
        if table.holds_lists(name) and keep_lists:
            cell = texts_of_lists(f"c{i}")
        elif f"t{i}" in table.frame.columns:
            cell = F.col(f"t{i}")
        else:
            cell = as_text(f"c{i}", table.schema.field(i).type)
        cells.append(cell.alias(f"c{i}"))
    return table.frame.select(*cells, ROW)


def _lists(table: SparkTable) -> frozenset[str]:
    return frozenset(name for name in table.columns if table.holds_lists(name))


def spelled(sql: str) -> str:
    r"""SQL with its texts as Spark reads them, to which a backslash means something.

    >>> print(spelled(r"SELECT 'it''s', 'a\b'"))
    SELECT 'it\'s', 'a\\b'
    """
    return _TEXT.sub(lambda text: "'" + text[1].replace("''", "'").replace("\\", "\\\\").replace("'", "\\'") + "'", sql)
