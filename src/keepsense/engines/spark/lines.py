"""Large text files that executors read: every line is a row, and cutting it at each delimiter is all there is to it.

Executors look first whether that is true of the whole file; where it is not, DuckDB reads it on the driver, as it does
small files and all other formats. The rows are written once as Parquet into the staging folder, numbered in the order
of the file, however it was split.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from keepsense.engines.base import Reading
from keepsense.engines.formats import Layout, format_of
from keepsense.engines.spark.carry import ROW, Room
from keepsense.engines.spark.session import quiet
from keepsense.engines.spark.table import SparkTable

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
