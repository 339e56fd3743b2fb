"""The DuckDB engine: DuckDB groups, joins, spills to disk and streams; Arrow carries what comes and goes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from keepsense.counts import Counts, Value
from keepsense.counts_out_of_core import LargeCounts
from keepsense.engines.duckdb import count as counting
from keepsense.engines.duckdb import count as profiling
from keepsense.engines.duckdb import recode as files
from keepsense.engines.duckdb import recode as recoding
from keepsense.engines.duckdb.sql import DuckDBConnection
from keepsense.engines.duckdb.table import DuckTable, held, view, without
from keepsense.engines.duckdb_store import ROW, Store, literal, quoted
from keepsense.engines.formats.table_formats import format_of
from keepsense.engines.frames import arrow_of, frame_like, on_demand
from keepsense.engines.memory_limits import needed_apart, room
from keepsense.engines.protocol import (
    MOST_VALUES,
    NUMBER_FORMATS,
    Cells,
    Part,
    Profile,
    Reading,
    Result,
    SqlConnection,
    Writing,
)
from keepsense.errors import BadInput
from keepsense.files import whole_file
from keepsense.recoding import Recoding
from keepsense.secure_random import Random, generator

# Cells as people write them: missing-value codes, dates, numbers of other countries


def read_cells(table: DuckTable, cells: Mapping[str, Cells], empty: tuple[str, ...] = ()) -> DuckTable:
    """The table with its cells read as said; `empty` are marks of missing values in every column of text.

    What is said of columns that the table lacks is passed over: a population has fewer.

    >>> from keepsense.engines.protocol import engine
    >>> with engine() as duck:
    ...     table = duck.read({"born": ["31.12.1999", "?"], "pay": ["1.200,50", "-9"]})
    ...     read = read_cells(table, {"born": Cells(("?",), "%d.%m.%Y"), "pay": Cells(("-9",), "1.234,56")})
    ...     duck.frame(read).to_pylist()[0]
    {'born': datetime.date(1999, 12, 31), 'pay': 1200.5}
    """
    columns, wrong = [], []
    for name in table.columns:
        how = cells.get(name, Cells())
        marks = [*how.empty, *(empty if table.is_text(name) else ())]
        cell = _without(table, name, marks)
        if how.format is not None and table.is_text(name):
            blank = f"nullif(trim({cell}), '')"
            cell = _number(blank, how.format) if how.format in NUMBER_FORMATS else _date(blank, how.format)
            wrong.append((name, how.format, f"count(*) FILTER ({blank} IS NOT NULL AND {cell} IS NULL)"))
        columns.append(quoted(name) if cell == quoted(name) else f"{cell} AS {quoted(name)}")
    if all(cell == quoted(name) for cell, name in zip(columns, table.columns, strict=True)):
        return table
    _refuse(table, wrong)
    return view(table.store, f"SELECT {', '.join(columns)}, {ROW} FROM {table.name}", ordered=table.ordered)


def _refuse(table: DuckTable, wrong: list[tuple[str, str, str]]) -> None:
    """Cells that are not written as was said are never dropped in silence."""
    if not wrong:
        return
    (counts,) = table.store.run(f"SELECT {', '.join(count for *_, count in wrong)} FROM {table.name}")
    for (name, form, _), cells in zip(wrong, counts, strict=True):
        if cells:
            raise BadInput(
                f"column {name!r}: {cells:,} cells are not written as format = {form!r} says; mend them, list them in "
                "`empty` if they mean that nothing is known, or leave the format out"
            )


def _without(table: DuckTable, name: str, marks: list[str]) -> str:
    cell = quoted(name)
    if not marks or table.holds_lists(name) or table.holds_records(name):
        return cell
    listed = ", ".join(literal(mark.strip()) for mark in dict.fromkeys(marks))
    return f"CASE WHEN trim({cell}::VARCHAR) IN ({listed}) THEN NULL ELSE {cell} END"


def _date(cell: str, form: str) -> str:
    if "%d" not in form:  # months have no day, so none is made up
        return f"strftime(try_strptime({cell}, {literal(form)}), '%Y-%m')"
    time = any(sign in form for sign in ("%H", "%I"))
    return f"try_strptime({cell}, {literal(form)})" + ("" if time else "::DATE")


def _number(cell: str, form: str) -> str:
    group, mark = NUMBER_FORMATS[form]
    bare = rf"regexp_replace({cell}, '[\s\x{{00a0}}\x{{202f}}%€$£¥]|^[A-Z]{{3}}|[A-Z]{{3}}$', '', 'g')"
    if group.strip():
        bare = f"replace({bare}, {literal(group)}, '')"
    return f"TRY_CAST(replace({bare}, {literal(mark)}, '.') AS DOUBLE)"


# The engine

BATCH = 65_536
"""Rows of a record batch."""


class DuckDBEngine(Store):
    """Rows on one machine: files larger than memory are read in a stream and spill to disk where they must.

    >>> duck = DuckDBEngine()
    >>> people = duck.read({"job": ["nurse", "clerk", "nurse"], "age": [31, 40, 35]})
    >>> duck.count(people, ["job"]).weights.tolist()
    [1, 2]
    """

    name = "duckdb"

    def read(self, source: Any, reading: Reading | None = None) -> DuckTable:
        """Open a file or database table by path, columns in memory, or any frame narwhals knows.

        Text formats keep every cell as the text it is, so that nothing changes on the way through.
        """
        how = reading or Reading()
        if isinstance(source, str | PathLike):
            form = format_of(str(source), how.format)
            if form.database is None and not form.by_column:
                self.refuse_without_room(Path(source))
            table = held(self, form.read(self, str(source), how), ordered=True)
        else:
            table = held(self, self.keep_arrow(arrow_of(source)), ordered=True)
        return read_cells(table, how.cells, how.empty)

    def sql(self) -> SqlConnection:
        """A connection of its own: it shares nothing with this engine but DuckDB.

        >>> with DuckDBEngine() as duck, duck.sql() as sql:
        ...     sql.run("SELECT 1 + 1")
        [(2,)]
        """
        return DuckDBConnection(self.memory)

    def profiles(
        self, table: DuckTable, limit: int | None = None, columns: Sequence[str] | None = None
    ) -> list[Profile]:
        """Profile of every column, or of some.

        >>> duck = DuckDBEngine()
        >>> [(p.name, p.distinct) for p in duck.profiles(duck.read({"age": [31, 31], "job": ["nurse", "clerk"]}))]
        [('age', 1), ('job', 2)]
        """
        names = table.columns if columns is None else columns
        table.require(names)
        return profiling.profiles(table, MOST_VALUES if limit is None else limit, names)

    def count(
        self, table: DuckTable, columns: Sequence[str], *, histograms: Iterable[str] = (), sums: Iterable[str] = ()
    ) -> Counts:
        """Count distinct tuples, and what is asked for under each, with one GROUP BY. Tuples come out sorted."""
        further, numbers = tuple(histograms), tuple(sums)
        table.require([*columns, *further, *numbers])
        return counting.count(table, tuple(columns), further, numbers)

    def outgrown(self, table: DuckTable, columns: Sequence[str], *, histograms: Iterable[str] = ()) -> Counts | None:
        """Counts of more tuples than memory may hold, which are counted anew when they are asked for; None elsewhere.

        >>> duck = DuckDBEngine()
        >>> duck.outgrown(duck.read({"job": ["nurse", "clerk"]}), ["job"]) is None
        True
        """
        table.require([*columns, *histograms])
        return counting.outgrown(table, tuple(columns), tuple(histograms))

    def anew(self, table: DuckTable, columns: Sequence[str]) -> int | None:
        """Bytes that a run takes about which counts so; None where that is more than there may be.

        >>> duck = DuckDBEngine()
        >>> duck.anew(duck.read({"job": ["nurse", "clerk"]}), ["job"]) < 10**9
        True
        """
        takes = needed_apart(table.rows, len(columns))
        return None if takes > room(self.limit) else takes + self.limit - room(self.limit)

    def recounted(self, table: DuckTable, columns: Sequence[str], *, histograms: Iterable[str] = ()) -> LargeCounts:
        """The same of any table whose cells are coded.

        >>> duck = DuckDBEngine()
        >>> duck.recounted(duck.read({"job": ["nurse", "clerk"]}), ["job"]).total
        2
        """
        table.require([*columns, *histograms])
        found = counting.recounted(table, tuple(columns), tuple(histograms))
        if found is None:
            raise BadInput("only columns of single values can be counted again and again")
        return found

    def recode(
        self,
        table: DuckTable,
        recodings: Iterable[Recoding],
        *,
        drop: Iterable[str] = (),
        rng: Random = None,
    ) -> DuckTable:
        """Apply recodings with joins and drop columns; refuses rows that a recoding does not cover."""
        dropped = set(drop)
        table.require(dropped)
        random, rules = generator(rng), list(recodings)
        released = [c for c in table.columns if c not in dropped]
        for number, rule in enumerate(rules):
            table.require(rule.names)
            needed = {name for later in rules[number + 1 :] for name in later.names}
            table = recoding.recode(table, rule, random, [*released, *needed])
        if not released:
            raise BadInput("every column would be dropped; keep at least one")
        if released == list(table.columns):
            return table
        return view(self, table.query([*released, ROW]), ordered=table.ordered, codes=table.codes)

    def leave_out(self, table: DuckTable, values: Mapping[str, Value]) -> DuckTable:
        """The rows but those that hold all of these values at once; a tuple stands for a list.

        >>> duck = DuckDBEngine()
        >>> duck.leave_out(duck.read({"job": ["nurse", "*"], "age": ["*", "*"]}), {"job": "*", "age": "*"}).rows
        1
        """
        table.require(values)
        if not values or any(isinstance(v, tuple) != table.holds_lists(name) for name, v in values.items()):
            return table  # no cell of such a column can be such a value
        if all(name in table.codes and table.is_text(name) for name in values):
            gone = np.ones(table.rows, dtype=np.bool_)
            for name, value in values.items():
                column = table.codes[name]
                alike = np.array([cell == str(value) for cell in column.values], dtype=np.bool_)
                gone &= alike[column.codes]
            return without(table, gone)
        tests = []
        for name, value in values.items():
            listed = f"[{', '.join(literal(str(item)) for item in value)}]" if isinstance(value, tuple) else ""
            cell = quoted(name) if listed else f"{quoted(name)}::VARCHAR"
            tests.append(f"{cell} IS NOT DISTINCT FROM {listed or literal(str(value))}")
        return view(self, f"SELECT * FROM {table.name} WHERE NOT ({' AND '.join(tests)})")

    def differing(self, table: DuckTable, other: DuckTable, columns: Sequence[str]) -> dict[str, float]:
        """Share of the cells of each column that read differently in another table, row by row in their order.

        >>> duck = DuckDBEngine()
        >>> before, after = duck.read({"age": [31, 40]}), duck.read({"age": ["31", "40 to 49"]})
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
        (shares,) = self.run(f"SELECT {unlike} FROM {table.name} a JOIN {other.name} b ON a.{ROW} = b.{ROW}")
        return {name: float(share or 0.0) for name, share in zip(columns, shares, strict=True)}

    def write(
        self,
        table: DuckTable,
        target: str | PathLike[str],
        writing: Writing | None = None,
        *,
        rng: Random = None,
    ) -> None:
        """Write a table; the file or database table appears under its name only when it is whole.

        Row numbers stay here. In PostgreSQL a table is replaced only if Keepsense released it earlier.
        """
        import duckdb

        form = format_of(str(target), None if writing is None else writing.format)
        how = replace(writing or Writing(), format=form.name)
        if form.database is not None:
            with form.database.staged(str(target), how.table) as stage:
                stage.write(self.reader(table, writing=how, in_order=True, rng=rng))
                stage.commit()
        if form.write is None:
            return
        with whole_file(target) as part:
            try:
                out = files.outgoing(table, table.columns, how, True, rng)
                by_codes = None if out.rows is None else form.write_coded
                if by_codes is None or not by_codes(self, out.sql, out.rows, part, how):
                    form.write(self, out.sql, part, how)
                if out.held is not None:
                    self.connection.unregister(out.held)
                self.unchanged()
            except (duckdb.IOException, OSError):
                self.unchanged()
                raise BadInput(
                    f"{Path(target).name}: the file cannot be written; check that its folder may be written to and "
                    "that the disk is not full"
                ) from None

    def guarded(self, table: DuckTable, writing: Writing) -> dict[str, int]:
        """How many cells of each column a format guards against being run as formulas, where some are.

        >>> duck = DuckDBEngine()
        >>> duck.guarded(duck.read({"job": ["nurse", "=1+1", "-5,3"]}), Writing(format="csv"))
        {'job': 1}
        """
        return files.guarded(table, writing)

    def reader(
        self,
        table: DuckTable,
        columns: Sequence[str] | None = None,
        writing: Writing | None = None,
        *,
        in_order: bool = False,
        rng: Random = None,
    ) -> Any:
        """Some columns, as they are or as they are written, as a stream that asks DuckDB only when it is read.

        One connection serves one stream at a time: several of these may wait, and be read one after another.

        >>> duck = DuckDBEngine()
        >>> table = duck.read({"job": ["nurse", "=1+1"], "age": [31, 40]})
        >>> duck.reader(table, ["age"]).read_all().to_pydict()
        {'age': [31, 40]}
        >>> duck.reader(table, ["job"], Writing(format="csv")).read_all().to_pydict()
        {'job': ['nurse', "'=1+1"]}
        """
        names = table.columns if columns is None else columns
        table.require(names)
        sql = files.query(table, names, writing or Writing(), in_order, rng)
        schema = self.connection.sql(f"SELECT * FROM ({sql}) LIMIT 0").to_arrow_table().schema
        return on_demand(schema, lambda: self.stream(sql, BATCH)[1])

    def frame(self, table: DuckTable, like: Any = None, *, recoded: Collection[str] = ()) -> Any:
        """The rows in order as an Arrow table, or as a frame of the kind and with the types of another.

        >>> duck = DuckDBEngine()
        >>> duck.frame(duck.read({"job": ["nurse"]})).to_pydict()
        {'job': ['nurse']}
        """
        return frame_like(self.reader(table, in_order=True).read_all(), like, recoded)

    def each(self, function: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
        """What a function makes of each of some parts, one after another.

        >>> DuckDBEngine().each(len, ["ab", "c"])
        [2, 1]
        """
        return [function(part) for part in parts]
