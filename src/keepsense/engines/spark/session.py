"""The Spark session of an engine: a given one, one that is running, or a new one; and how rows get there and back."""

from __future__ import annotations

import secrets
import shutil
import sys
import warnings
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import time
from os import cpu_count, environ
from pathlib import Path
from typing import Any

import numpy as np

from keepsense.engines.duckdb.engine import DuckDBEngine
from keepsense.engines.duckdb.table import DuckTable, view
from keepsense.engines.duckdb_store import literal, quoted
from keepsense.engines.temporary_folders import fresh_room, leave
from keepsense.errors import BadInput, MissingExtra

_OURS = {
    "spark.app.name": "keepsense",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}
"""What a session is started with where nobody else started one, unless Spark's own configuration says otherwise."""

_HERE = {
    "spark.driver.host": "127.0.0.1",  # nothing is offered to a network
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": str(4 * (cpu_count() or 1)),
}
"""The same for Spark on this machine alone."""

_INSIDE = {
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.legacy.setopsPrecedence.enabled": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
}
"""Settings of the sessions that engines and connections have for themselves; those of the user's session stay."""


def spark_session(master: str | None = None, session: Any = None, threads: int | None = None) -> Any:
    """A session that is given, else the one that runs in this program, else a new one on a master.

    A session that is started here stays for later engines of the program, and ends with it.

    >>> spark_session(session="spark://127.0.0.1:7077")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: `session` must be a SparkSession, not a str; a master URL goes into `master`
    """
    if session is not None:
        if not hasattr(session, "newSession"):
            raise BadInput(
                f"`session` must be a SparkSession, not a {type(session).__name__}; a master URL goes into `master`"
            )
        return _classic(session)
    try:
        from pyspark import SparkContext
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra(
            "the engine 'spark' needs PySpark, and Java 17 or newer; run: pip install 'keepsense[spark]'"
        ) from None
    context: Any = SparkContext._active_spark_context
    if context is None or context._jsc is None:
        return _started(SparkSession.builder, master, threads)
    if master is not None and context.master != master:
        raise BadInput(
            f"a Spark session runs in this program already, on {context.master}; stop it first, or leave out `master` "
            "to use it"
        )
    return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()


def own_session(session: Any) -> Any:
    """A session beside another one, on the same cluster: views and settings of its own."""
    own = session.newSession()
    for key, value in _INSIDE.items():
        own.conf.set(key, value)
    return own


def _classic(session: Any) -> Any:
    if type(session).__module__.startswith("pyspark.sql.connect"):
        raise BadInput(
            "this session is one of Spark Connect, which knows no sessions of its own; give a session of the cluster "
            "itself, or its master URL"
        )
    return session


def _started(builder: Any, master: str | None, threads: int | None) -> Any:
    if not java():
        raise MissingExtra("Spark runs in Java, and there is none; install Java 17 or newer, or set JAVA_HOME")
    set_already = _configured()
    if master is not None:
        builder = builder.master(master)
    elif "spark.master" not in set_already:
        builder = builder.master(f"local[{threads or '*'}]")
    for key, value in _OURS.items():
        if key not in set_already:
            builder = builder.config(key, value)
    if master is None or f"{master}[".startswith("local["):
        for key, value in _HERE.items():
            if key not in set_already:
                builder = builder.config(key, value)
    try:
        with quiet():
            started = builder.getOrCreate()
    except Exception as error:
        raise BadInput(
            f"no Spark session can be started on {master or 'this machine'} ({type(error).__name__}); check that the "
            "master answers there, and that Java is 17 or newer"
        ) from None
    if "PYSPARK_PYTHON" not in environ:  # else it would be whatever is called python3
        started.sparkContext.pythonExec = sys.executable
    return started


def _configured() -> set[str]:
    """Keys that Spark's own configuration file sets."""
    folder = environ.get("SPARK_CONF_DIR") or (f"{environ['SPARK_HOME']}/conf" if "SPARK_HOME" in environ else None)
    file = None if folder is None else Path(folder) / "spark-defaults.conf"
    if file is None or not file.is_file():
        return set()
    return {line.split()[0] for line in file.read_text(encoding="utf-8").splitlines() if line.strip()}


def java() -> str | None:
    """Where Java is, if it is there.

    >>> java() is None or Path(java()).name.startswith("java")
    True
    """
    home = environ.get("JAVA_HOME")
    return shutil.which("java", path=f"{home}/bin" if home else None)


@contextmanager
def quiet() -> Iterator[None]:
    """Without what PySpark has to say about versions of pandas and about its own sockets."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", ResourceWarning)
        warnings.simplefilter("ignore", UserWarning)
        yield


# Rows between Arrow and Spark, through Parquet files in a staging folder that both can reach
#
# Spark lacks some types of Arrow. Such columns are carried as another type, and get their own back on the way out.

ROW = "row_"
"""Column that numbers the rows of a staged table; never released."""

GROUP = 65_536
"""Rows of a row group, which is the least that a task reads, and of a record batch."""


class Room:
    """A folder for what goes to Spark and comes back; the executors must reach it under the same path.

    Like the temporary folders of every engine it is locked while its owner lives: what a killed program left behind is
    removed when the next engine starts.
    """

    def __init__(self, folder: str | None = None) -> None:
        if folder is not None and not Path(folder).is_dir():
            raise BadInput("the staging folder of the engine does not exist; make it, where all executors can reach it")
        self.folder, keeper = fresh_room(None if folder is None else Path(folder))
        self.close = weakref.finalize(self, leave, self.folder, keeper)

    def place(self, name: str | None = None) -> Path:
        """A path inside that nobody uses yet, or one of a name."""
        return self.folder / (name or secrets.token_hex(8))

    def stage(self, rows: Any) -> tuple[str, int]:
        """Write an Arrow table or stream as c0, c1, ... with row numbers; its path and its number of rows."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        path, number = self.place(f"{secrets.token_hex(8)}.parquet"), 0
        schema = pa.schema([*(pa.field(f"c{i}", carried(f.type)) for i, f in enumerate(rows.schema)), (ROW, "int64")])
        batches = rows if isinstance(rows, pa.RecordBatchReader) else rows.to_batches(GROUP)
        with pq.ParquetWriter(path, schema, compression="zstd") as out:
            for batch in batches:
                columns = [carry(column, schema.field(i).type) for i, column in enumerate(batch.columns)]
                row = pa.array(np.arange(number, number + batch.num_rows))
                out.write_batch(pa.RecordBatch.from_arrays([*columns, row], schema=schema), row_group_size=GROUP)
                number += batch.num_rows
        return str(path), number

    def written(self, frame: Any) -> Path:
        """What a Spark frame gives, written by the executors; committed whole or not at all."""
        folder = self.place()
        with quiet():
            frame.write.parquet(folder.as_uri())
        if not (folder / "_SUCCESS").exists():
            raise BadInput("the staging folder is not the one that the executors wrote to; give one that all can reach")
        return folder

    def fetched(self, frame: Any, schema: Any) -> Iterator[Any]:
        """The rows of a Spark frame as record batches of a schema, in the order the frame has."""
        folder = self.written(frame)
        try:
            yield from parts(folder, schema)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def parts(folder: Path, schema: Any) -> Iterator[Any]:
    """Record batches of the part files of a folder, in the order of their numbers."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for file in sorted(folder.glob("part-*")):
        with pq.ParquetFile(file) as part:
            for batch in part.iter_batches(GROUP):
                columns = [restore(batch.column(i), field.type) for i, field in enumerate(schema)]
                yield pa.RecordBatch.from_arrays(columns, schema=schema)


def gathered(near: DuckDBEngine, folder: Path, schema: Any) -> DuckTable:
    """A table of DuckDB with the rows of the part files of a folder, in their order: where it can, it reads these."""
    import pyarrow as pa

    files = sorted(folder.glob("part-*"))
    alike = (pa.types.is_string, pa.types.is_signed_integer, pa.types.is_boolean, pa.types.is_date32)
    one_by_one = len({name.lower() for name in schema.names}) < len(schema.names)  # DuckDB does not tell A from a
    if not files or one_by_one or not all(any(test(kind) for test in alike) for kind in schema.types):
        return near.read(pa.RecordBatchReader.from_batches(schema, parts(folder, schema)))
    cells = ", ".join(f"c{i} AS {quoted(name)}" for i, name in enumerate(schema.names))
    listed = ", ".join(literal(str(file)) for file in files)
    return view(near, f"SELECT {cells} FROM read_parquet([{listed}])", ordered=True)


def plain(kind: Any) -> Any:
    """A type of Arrow without what only Arrow tells apart: how texts are stored.

    >>> import pyarrow as pa
    >>> plain(pa.dictionary(pa.int8(), pa.large_string()))
    DataType(string)
    """
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return plain(kind.value_type)
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind) or pa.types.is_list(kind):
        return pa.list_(plain(kind.value_type))
    return pa.string() if pa.types.is_null(kind) else kind


def carried(kind: Any) -> Any:
    """The type of Arrow as which Spark gets a column.

    >>> import pyarrow as pa
    >>> carried(pa.uint8()), carried(pa.time64("us")), carried(pa.string())
    (DataType(int16), DataType(string), DataType(string))
    """
    import pyarrow as pa

    kind, types = plain(kind), pa.types
    if types.is_list(kind):
        return pa.list_(carried(kind.value_type))
    if types.is_time(kind) or types.is_interval(kind) or types.is_decimal256(kind):
        return pa.string()
    if types.is_timestamp(kind):
        return pa.timestamp("us", None if kind.tz is None else "UTC")
    if types.is_duration(kind) or types.is_uint32(kind):
        return pa.int64()
    exact = {
        pa.uint8(): pa.int16(),
        pa.uint16(): pa.int32(),
        pa.uint64(): pa.decimal128(20, 0),
        pa.float16(): pa.float32(),
        pa.date64(): pa.date32(),
    }
    return exact.get(kind, kind)


def carry(column: Any, kind: Any) -> Any:
    """A column as Spark gets it.

    >>> import pyarrow as pa
    >>> carry(pa.array([3], pa.uint8()), pa.int16()).type
    DataType(int16)
    """
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_interval(column.type):
        spans = (cell and f"{cell.months} {cell.days} {cell.nanoseconds}" for cell in column.to_pylist())
        return pa.array(spans, pa.string())
    return column if column.type == kind else column.cast(kind, safe=False)


def restore(column: Any, kind: Any) -> Any:
    """A column as it was before it was carried.

    >>> import pyarrow as pa
    >>> restore(pa.array([3], pa.int16()), pa.uint8()).type
    DataType(uint8)
    """
    import pyarrow as pa

    if pa.types.is_interval(kind):
        spans = [cell and tuple(map(int, cell.split())) for cell in column.to_pylist()]
        return pa.array(spans, kind)
    if pa.types.is_time(kind) and pa.types.is_string(column.type):
        return pa.array([cell and time.fromisoformat(cell) for cell in column.to_pylist()], kind)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column if column.type == kind else column.cast(kind, safe=False)
