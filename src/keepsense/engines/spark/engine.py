"""The Spark engine: executors read, count, recode and write; the driver decides on what is distinct."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Self

from keepsense.counts import Counts, Value
from keepsense.engines.duckdb.engine import DuckDBEngine
from keepsense.engines.formats.table_formats import FORMATS, FORMULA, format_of
from keepsense.engines.frames import arrow_of, frame_like, on_demand
from keepsense.engines.protocol import MOST_VALUES, Part, Profile, Reading, Result, SqlConnection, Writing
from keepsense.engines.spark import count as counting
from keepsense.engines.spark import count as profiling
from keepsense.engines.spark import recode as recoding
from keepsense.engines.spark.input_files import is_frame, native, of_frame, of_lines, remember
from keepsense.engines.spark.recode import DRAW, KEY, with_places
from keepsense.engines.spark.session import ROW, Room, gathered, own_session, plain, quiet, spark_session
from keepsense.engines.spark.sql import SparkConnection
from keepsense.engines.spark.table import SparkTable, as_text
from keepsense.errors import BadInput, InputWarning, KeepsenseError
from keepsense.recoding import Cells, Draws, Recoding
from keepsense.secure_random import Random, generator

# Work that is not about rows: one task a part, results in the order of the parts


def each(session: Any, function: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
    """What a function makes of each part; a task that is tried again gets the same part, so it makes the same of it.

    Executors need Keepsense for that, unlike for rows. Where it is not installed there, the driver does the work.
    """
    if len(parts) < 2:
        return [function(part) for part in parts]

    try:
        with quiet():
            spread = session.sparkContext.parallelize(list(enumerate(parts)), len(parts))
            answers = dict(spread.map(_Tried(function)).collect())
    except Exception as error:  # of Python there, wrapped by Java
        if "ModuleNotFoundError" not in str(error):
            raise
        warnings.warn(
            "Keepsense is not installed where the executors run, so blocks of records are changed on the driver, one "
            "after another; install it there to spread them",
            InputWarning,
            stacklevel=3,
        )
        return [function(part) for part in parts]
    results = []
    for place in range(len(parts)):
        result, refusal = answers[place]
        if refusal is not None:
            raise refusal
        results.append(result)
    return results


class _Tried:
    """A function whose refusals come back as values: Spark would try such a part again and tell its own story."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function

    def __call__(self, part: tuple[int, Any]) -> tuple[int, tuple[Any, KeepsenseError | None]]:
        place, what = part
        try:
            return place, (self._function(what), None)
        except KeepsenseError as error:
            return place, (None, error)


# The engine

_PART = 1_000_000
"""Rows of a part that one task writes."""


class SparkEngine:
    """Rows on a cluster: only counts, dictionaries and recodings pass the driver, and files that Spark does not read.

    Executors read Parquet files, and large CSV files in which nothing is quoted.

    `master` is the URL of a cluster (or `local[4]` for Spark on this machine), `session` a session that is there
    already; without both it is the one that runs in this program, or Spark as it is configured. `staging` is a folder
    that driver and executors reach under the same path, where they do not share the folder for temporary files.
    `memory` is what DuckDB may use on the driver for files that Spark does not read or write.

    >>> SparkEngine(session="local[2]")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: `session` must be a SparkSession, not a str; a master URL goes into `master`
    """

    name = "spark"

    def __init__(
        self,
        *,
        master: str | None = None,
        session: Any = None,
        staging: str | None = None,
        memory: str | None = None,
        threads: int | None = None,
    ) -> None:
        self._near: dict[str, Any] = {"memory": memory, "threads": threads}
        self._staging = staging
        self._given = spark_session(master, session, threads)
        self._session = own_session(self._given)
        self._room = Room(staging)
        self._kept: list[Any] = []

    def read(self, source: Any, reading: Reading | None = None) -> SparkTable:
        """Open a file or database table by path, columns in memory, or any frame; one of Spark stays where it is."""
        how = reading or Reading()
        if is_frame(source):
            return of_frame(self._room, source, how)
        if isinstance(source, str | PathLike):
            table = native(self._session, self._room, str(source), how)
            table = table or of_lines(self._session, self._room, str(source), how)
            return table or self._passed(source, how)
        if how.cells or how.empty:
            return self._passed(source, how)
        return self._staged(arrow_of(source))

    def _passed(self, source: Any, how: Reading) -> SparkTable:
        """What DuckDB reads on the driver."""
        with DuckDBEngine(**self._near) as near:
            return self._staged(near.reader(near.read(source, how), in_order=True))

    def _staged(self, rows: Any) -> SparkTable:
        import pyarrow as pa

        if not rows.schema.names:
            raise BadInput("the table has no columns")
        fields = [pa.field(field.name, plain(field.type)) for field in rows.schema]
        with quiet():
            path, size = self._room.stage(rows)
            frame = self._session.read.parquet(Path(path).as_uri())
        return SparkTable(self._room, frame, pa.schema(fields), size=size)

    def sql(self) -> SqlConnection:
        """A connection of its own: it shares nothing with this engine but the cluster."""
        return SparkConnection(self._given, self._staging)

    def profiles(
        self, table: SparkTable, limit: int | None = None, columns: Sequence[str] | None = None
    ) -> list[Profile]:
        """Profile of every column, or of some."""
        names = table.columns if columns is None else columns
        table.require(names)
        return profiling.profiles(table, MOST_VALUES if limit is None else limit, names)

    def count(
        self, table: SparkTable, columns: Sequence[str], *, histograms: Iterable[str] = (), sums: Iterable[str] = ()
    ) -> Counts:
        """Count distinct tuples, and what is asked for under each, with one grouping. Tuples come out sorted."""
        further, numbers = tuple(histograms), tuple(sums)
        table.require([*columns, *further, *numbers])
        return counting.count(table, tuple(columns), further, numbers)

    def recode(
        self,
        table: SparkTable,
        recodings: Iterable[Recoding],
        *,
        drop: Iterable[str] = (),
        rng: Random = None,
    ) -> SparkTable:
        """Apply recodings with joins and drop columns; refuses rows that a recoding does not cover."""
        dropped = set(drop)
        table.require(dropped)
        random = generator(rng)
        costly = False
        for rule in recodings:
            table.require(rule.names)
            costly |= isinstance(rule, Draws) or (isinstance(rule, Cells) and len(rule.source) != len(set(rule.source)))
            table = recoding.recode(table, rule, random)
        released = [c for c in table.columns if c not in dropped]
        if not released:
            raise BadInput("every column would be dropped; keep at least one")
        with quiet():
            table = table.only(released)
            if costly:  # rows are sorted for these: once, not for every question about them
                self._kept.append(table.frame.persist())
        return table

    def leave_out(self, table: SparkTable, values: Mapping[str, Value]) -> SparkTable:
        """The rows but those that hold all of these values at once; a tuple stands for a list."""
        from pyspark.sql import functions as F

        table.require(values)
        if not values or any(isinstance(v, tuple) != table.holds_lists(name) for name, v in values.items()):
            return table  # no cell of such a column can be such a value
        with quiet():
            gone = F.lit(True)
            for name, value in values.items():
                if isinstance(value, tuple):
                    wanted = F.array(*(F.lit(str(item)) for item in value)).cast("array<string>")
                    gone &= F.col(table.column(name)).cast("array<string>").eqNullSafe(wanted)
                else:
                    gone &= as_text(table.column(name), table.type_of(name)).eqNullSafe(F.lit(str(value)))
            return replace(table, frame=table.frame.where(~gone), counted=[], size=None)

    def differing(self, table: SparkTable, other: SparkTable, columns: Sequence[str]) -> dict[str, float]:
        """Share of the cells of each column that read differently in another table, row by row in their order.

        Frames of Spark have no order: none of their rows can be said to be the same as one of another table.
        """
        from pyspark.sql import functions as F

        table.require(columns)
        other.require(columns)
        if not columns:
            return {}
        if not (table.ordered and other.ordered):
            return dict.fromkeys(columns, 1.0)
        with quiet():
            mine, theirs = (
                t.frame.select(
                    *(as_text(t.column(n), t.type_of(n)).alias(f"{side}{i}") for i, n in enumerate(columns)), ROW
                )
                for t, side in ((table, "a"), (other, "b"))
            )
            unlike = (~F.col(f"a{i}").eqNullSafe(F.col(f"b{i}")) for i in range(len(columns)))
            (shares,) = mine.join(theirs, ROW).agg(*(F.avg(cell.cast("int")) for cell in unlike)).collect()
        return {name: float(share or 0.0) for name, share in zip(columns, shares, strict=True)}

    def write(
        self,
        table: SparkTable,
        target: str | PathLike[str],
        writing: Writing | None = None,
        *,
        rng: Random = None,
    ) -> None:
        """Write a table; the file or database table appears under its name only when it is whole.

        The executors write part files into the staging folder; when all are there, the driver makes one file of them.
        """
        how = writing or Writing()
        format_of(str(target), how.format)  # an unknown one is refused before there is any work
        folder = self._room.written(self._arranged(table, how, True, rng).drop(ROW))
        try:
            with DuckDBEngine(**self._near) as near:
                near.write(gathered(near, folder, table.schema), target, replace(how, shuffle=False))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def guarded(self, table: SparkTable, writing: Writing) -> dict[str, int]:
        """How many cells of each column a format guards against being run as formulas, where some are."""
        from pyspark.sql import functions as F

        form = None if writing.format is None else FORMATS[writing.format]
        names = [name for name in table.columns if table.is_text(name)]
        if form is None or not form.runs_formulas or not writing.spreadsheet_safe or not names:
            return {}
        with quiet():
            doubtful = F.lit(False)
            for name in names:
                doubtful |= F.substring(F.col(table.column(name)), 1, 1).isin(list(FORMULA))
            few = replace(table, frame=table.frame.where(doubtful), counted=[], size=None).only(names)
        with DuckDBEngine(**self._near) as near:
            return near.guarded(near.read(self.reader(few)), writing)

    def reader(
        self,
        table: SparkTable,
        columns: Sequence[str] | None = None,
        writing: Writing | None = None,
        *,
        in_order: bool = False,
        rng: Random = None,
    ) -> Any:
        """Some columns, as they are or as they are written, as a stream that asks Spark only when it is read."""
        names = table.columns if columns is None else tuple(columns)
        table.require(names)
        how = writing or Writing()
        chosen = table.only(names)
        frame = self._arranged(chosen, how, in_order, rng)
        stream = on_demand(chosen.schema, lambda: self._room.fetched(frame.drop(ROW), chosen.schema))
        if how.format is None:
            return stream if how.shuffle else remember(stream, chosen)
        return self._spelled(stream, replace(how, shuffle=False))

    def _arranged(self, table: SparkTable, how: Writing, in_order: bool, rng: Random) -> Any:
        """The frame of a table, its rows shuffled where that is asked for, or else in order."""
        frame = table.frame
        with quiet():
            if how.shuffle:
                # which part a row goes to and its place there follow from its number alone, so that the order is random
                tasks = 1 + table.rows // _PART
                placed = with_places(frame, generator(rng).bytes(KEY), self._room)
                return placed.repartition(tasks, DRAW).sortWithinPartitions(DRAW, ROW).drop(DRAW)
            return frame.orderBy(ROW) if in_order else frame

    def _spelled(self, stream: Any, how: Writing) -> Any:
        """A stream as a format spells it."""
        with DuckDBEngine(**self._near) as near:
            schema = near.reader(near.read(stream.schema.empty_table()), writing=how).schema

        def spelled() -> Iterable[Any]:
            with DuckDBEngine(**self._near) as near:
                yield from near.reader(near.read(stream), writing=how, in_order=True)

        return on_demand(schema, spelled)

    def frame(self, table: SparkTable, like: Any = None, *, recoded: Collection[str] = ()) -> Any:
        """The rows in order as an Arrow table, or as a frame of the kind and with the types of another.

        For a frame of Spark it is one of Spark, whose rows lie in the staging folder until the program ends.
        """
        if is_frame(like):
            return self._frame_of_spark(table, like, recoded)
        return frame_like(self.reader(table, in_order=True).read_all(), like, recoded)

    def _frame_of_spark(self, table: SparkTable, like: Any, recoded: Collection[str]) -> Any:
        from pyspark.sql import functions as F

        with quiet():
            room = _lasting(self._given, self._staging)
            folder = room.written(table.frame.drop(ROW))
            rows = like.sparkSession.read.parquet(folder.as_uri())
            types = {field.name: field.dataType for field in like.schema if field.name not in recoded}
            cells = (
                (F.col(f"c{i}").cast(types[name]) if name in types else F.col(f"c{i}")).alias(name)
                for i, name in enumerate(table.columns)
            )
            return rows.select(*cells)

    def each(self, function: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
        """What a function makes of each of some parts: every part is a task of the executors."""
        return each(self._session, function, parts)

    def scratch(self, name: str) -> Path:
        """A place for a temporary file; it vanishes with the engine."""
        return self._room.place(name)

    def close(self) -> None:
        """Release what executors keep, and temporary files; the session stays."""
        with quiet():
            for frame in self._kept:
                frame.unpersist()
        self._kept = []
        self._room.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


_ROOMS: dict[tuple[str, str | None], Room] = {}


def _lasting(session: Any, staging: str | None) -> Room:
    """A room for what outlives an engine: it stays as long as the program."""
    key = (session.sparkContext.applicationId, staging)
    if key not in _ROOMS:
        _ROOMS[key] = Room(staging)
    return _ROOMS[key]
