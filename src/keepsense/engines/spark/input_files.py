"""Input of the Spark engine: executors read Parquet and large text files, the driver all others; Spark frames stay."""

from __future__ import annotations

import weakref
from pathlib import Path
from typing import Any

from keepsense.engines.formats.table_formats import Layout, format_of
from keepsense.engines.protocol import Reading
from keepsense.engines.spark.session import ROW, Room, carried, plain, quiet
from keepsense.engines.spark.table import SparkTable
from keepsense.engines.text_encodings import readable
from keepsense.errors import BadInput

_PARQUET = "parquet"
_FILE_BITS = 40

_BEHIND: weakref.WeakKeyDictionary[Any, SparkTable] = weakref.WeakKeyDictionary()
"""Tables behind streams that an engine gave out: whoever is on the cluster, too, need not read the stream."""


def behind(stream: Any) -> SparkTable | None:
    """The table that a stream is of, if a Spark engine gave it out as it is."""
    import pyarrow as pa

    return _BEHIND.get(stream) if isinstance(stream, pa.RecordBatchReader) else None


def remember(stream: Any, table: SparkTable) -> Any:
    """A stream whose table others on the cluster can use."""
    _BEHIND[stream] = table
    return stream


def is_frame(source: Any) -> bool:
    """Whether a source is a frame of Spark.

    >>> is_frame({"job": ["nurse"]})
    False
    """
    kind = type(source)
    return kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql.")


def native(session: Any, room: Room, path: str, reading: Reading) -> SparkTable | None:
    """A Parquet file, or a folder of them, that the executors read by themselves; None for any other source."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyspark.sql import functions as F

    if (
        "://" in path
        or format_of(path, reading.format).name != _PARQUET
        or any(c.format for c in reading.cells.values())
    ):
        return None
    place = Path(path)
    if not place.is_dir():
        readable(path)
    files = (
        sorted(p for p in place.rglob("*.parquet") if not p.name.startswith(("_", "."))) if place.is_dir() else [place]
    )
    if not files:
        raise BadInput(f"{place.name}: the folder holds no Parquet file")
    try:
        schema, every = pq.read_schema(files[0]), [pq.read_metadata(file) for file in files]
    except (pa.ArrowException, OSError):
        raise BadInput(f"{place.name}: the file cannot be read; it is damaged, or not what its name says") from None
    fields = [field.with_type(plain(field.type)) for field in schema]
    if not fields or any(_strange(field.type) for field in schema):
        return None
    with quiet():
        frame = session.read.parquet(*(file.resolve().as_uri() for file in files))
        if list(frame.columns) != schema.names:
            return None
        number = F.col("_metadata.row_index")
        if len(files) > 1:
            names = F.array(*(F.lit(file.name) for file in files))
            at = F.array_position(names, F.col("_metadata.file_name")) - F.lit(1)
            number = F.shiftleft(at, _FILE_BITS) + number
        cells = [F.col(f"`{name.replace('`', '``')}`").alias(f"c{i}") for i, name in enumerate(schema.names)]
        frame = frame.select(*cells, number.alias(ROW))
    alike = all(file.schema.equals(every[0].schema) for file in every) and not any("." in n for n in schema.names)
    size = sum(file.num_rows for file in every)
    table = SparkTable(room, frame, pa.schema(fields), size=size, read=(frame, tuple(files) if alike else ()))
    return _without_marks(table, reading)


def of_frame(room: Room, source: Any, reading: Reading | None = None) -> SparkTable:
    """A frame of Spark as it is. A row's identity is what it holds, and its number among those that hold the same."""
    import pyarrow as pa
    from pyspark.sql import Window
    from pyspark.sql import functions as F
    from pyspark.sql.pandas.types import to_arrow_schema

    how = reading or Reading()
    if type(source).__module__.startswith("pyspark.sql.connect"):
        raise BadInput("this frame is one of Spark Connect; give one of a session of the cluster itself")
    if not source.columns:
        raise BadInput("the table has no columns")
    if any(cells.format for cells in how.cells.values()):
        raise BadInput("forms of dates and numbers are read in files; cast the columns of the frame yourself")
    with quiet():
        schema = to_arrow_schema(source.schema)
        named = source.toDF(*(f"c{i}" for i in range(len(source.columns))))
        held = F.md5(F.to_json(F.struct(*named.columns), {"ignoreNullFields": "false"}))
        same = Window.partitionBy("held_").orderBy("held_")
        identity = F.concat_ws("-", "held_", F.row_number().over(same).cast("string"))
        frame = named.withColumn("held_", held).withColumn(ROW, identity).drop("held_")
    fields = [pa.field(name, plain(field.type)) for name, field in zip(source.columns, schema, strict=True)]
    return _without_marks(SparkTable(room, frame, pa.schema(fields)), how)


def _strange(kind: Any) -> bool:
    """Whether Spark would read a type of Parquet as another one, or not at all."""
    import pyarrow as pa

    if pa.types.is_null(kind) or (pa.types.is_timestamp(kind) and kind.unit == "ns"):
        return True
    kind = plain(kind)
    nested = pa.types.is_nested(kind) and not (pa.types.is_list(kind) and not pa.types.is_nested(kind.value_type))
    return bool(nested or (carried(kind) != kind and not pa.types.is_timestamp(kind)))


def _without_marks(table: SparkTable, reading: Reading) -> SparkTable:
    """The table with its marks of missing values taken for what they mean."""
    from pyspark.sql import functions as F

    cells: dict[str, Any] = {}
    for name in table.columns:
        how = reading.cells.get(name)
        marks = [*(how.empty if how else ()), *(reading.empty if table.is_text(name) else ())]
        if marks and not table.holds_lists(name) and not table.holds_records(name):
            cell = F.col(table.column(name))
            listed = [mark.strip() for mark in dict.fromkeys(marks)]
            cells[name] = F.when(F.trim(cell.cast("string")).isin(listed), F.lit(None)).otherwise(cell)
    if not cells:
        return table
    with quiet():
        return table.having(table.columns, {n: cells.get(n, table.column(n)) for n in table.columns})


# Large text files that executors read, where every line is a row without quotes
#
# Executors check the whole file first; other files are read by DuckDB on the driver. The rows are written once as
# Parquet into the staging folder, numbered in the order of the file.

LEAST = 1 << 26
"""Bytes from which on a text file is worth spreading."""
_START, _PLACE, _FIRST = "start_", "place_", "first_"


def of_lines(session: Any, room: Room, path: str, reading: Reading) -> SparkTable | None:
    """A large text file, read by the executors; None where it is small, or where cutting its lines is not enough."""
    import pyarrow as pa
    from pyspark.sql import functions as F

    form = None if "://" in path else format_of(path, reading.format)
    file = Path(path)
    if form is None or form.layout is None or not file.is_file() or file.stat().st_size < LEAST:
        return None
    if reading.cells or reading.empty:  # DuckDB reads forms of dates and numbers, and marks
        return None
    layout = form.layout(path, reading)
    if layout is None:
        return None
    with quiet():
        lines = session.read.option("lineSep", "\n").text(file.resolve().as_uri())
        line = F.regexp_replace("value", "\r$", "")
        lines = lines.select(line.alias("line_"), F.col("_metadata.file_block_start").alias(_START))
        if not _simple(lines, layout):
            return None
        cells = F.split("line_", _literally(layout.delimiter), -1)
        # an empty cell is a missing one, as DuckDB reads it
        chosen = [F.nullif(cells[i], F.lit("")).alias(f"c{i}") for i in range(len(layout.names))]
        numbered = lines.select(*chosen, _START, F.monotonically_increasing_id().alias(_PLACE))
        frame, size = _in_order(session, room.written(numbered), layout)
    fields = [pa.field(name, pa.string()) for name in layout.names]
    return SparkTable(room, frame, pa.schema(fields), size=size)


def _simple(lines: Any, layout: Layout) -> bool:
    """Whether every line has as many cells as there are names, and holds no sign that means something else."""
    from pyspark.sql import functions as F

    marks = F.length("line_") - F.length(F.replace("line_", F.lit(layout.delimiter)))
    strange = "\r\0\ufffd" + layout.quote + ("" if layout.quote == '"' else '"')
    clean = F.translate("line_", strange, "") == F.col("line_")
    fitting = (marks == len(layout.names) - 1) & clean
    return bool(lines.where(~fitting).isEmpty())


def _in_order(session: Any, folder: Path, layout: Layout) -> tuple[Any, int]:
    """The rows that executors wrote, numbered by their place in the file, and how many they are."""
    from pyspark.sql import functions as F

    parts = session.read.parquet(folder.as_uri())
    splits = parts.groupBy(_START).agg(F.min(_PLACE).alias(_FIRST), F.count(F.lit(1)).alias("n_"))
    begins, lines = [], 0
    for start, first, number in sorted(splits.collect()):
        begins.append((start, first - lines))
        lines += number
    offsets = session.createDataFrame(begins, f"{_START} bigint, {_FIRST} bigint")
    placed = parts.join(F.broadcast(offsets), _START)
    titles = 1 if layout.titled else 0
    number = (F.col(_PLACE) - F.col(_FIRST) - F.lit(titles)).alias(ROW)
    rows = placed.select(*(f"c{i}" for i in range(len(layout.names))), number).where(F.col(ROW) >= 0)
    return rows, lines - titles


def _literally(sign: str) -> str:
    """A sign as a pattern."""
    return f"[{sign}]" if sign not in "\\^]" else f"\\{sign}"
