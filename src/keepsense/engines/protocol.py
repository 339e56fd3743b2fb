"""The protocol of engines: read, count, recode, write, and SQL for the verifier. Nothing else touches rows.

Inside an engine a column may be what it likes. What leaves it is `Counts` (codes with dictionaries, histograms and sums
from one scan; `Counts.project` then counts fewer columns without another), and what enters it is a recoding (codes with
dictionaries again, so that an engine can look them up). Random assignments and orders follow a key that is drawn from
the generator passed in. So an engine can be made faster, or another one be written, without a change anywhere else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar, runtime_checkable

from keepsense.counts import Value
from keepsense.registry import Registry

if TYPE_CHECKING:
    from keepsense.counts import Counts
    from keepsense.recoding import Recoding
    from keepsense.secure_random import Random


Part = TypeVar("Part")
Result = TypeVar("Result")


class Table(Protocol):
    """Rows that live in an engine: a handle, not the rows themselves.

    >>> from keepsense.engines.protocol import engine
    >>> table = engine().read({"job": ["nurse", "clerk"], "likes": [["tea"], ["tea", "milk"]]})
    >>> table.columns, table.rows, table.holds_lists("likes")
    (('job', 'likes'), 2, True)
    """

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names in order."""

    @property
    def rows(self) -> int:
        """Number of rows."""

    def holds_lists(self, column: str) -> bool:
        """Whether the cells of a column are lists."""

    def require(self, columns: Iterable[str]) -> None:
        """Refuse column names the table does not have, with the nearest one as a hint."""


NUMBER_FORMATS: Mapping[str, tuple[str, str]] = {
    "1.234,56": (".", ","),
    "1 234,56": (" ", ","),
    "1'234.56": ("'", "."),
    "1,234.56": (",", "."),
}
"""Ways in which numbers are written, by an example: what parts the thousands, and what the decimals."""


def written_as(text: str, form: str | None) -> str:
    """A label with the decimals of its numbers parted as a format does.

    >>> written_as("20.5 to under 30", "1.234,56"), written_as("20.5", None)
    ('20,5 to under 30', '20.5')
    """
    mark = NUMBER_FORMATS.get(form or "", ("", "."))[1]
    return re.sub(DECIMALS, rf"\1{mark}\2", text)


def read_as_written(text: str, form: str | None) -> str:
    """A label as Keepsense spells it, from one that `written_as` spelled.

    >>> read_as_written("20,5 to under 30", "1.234,56")
    '20.5 to under 30'
    """
    mark = NUMBER_FORMATS.get(form or "", ("", "."))[1]
    return re.sub(DECIMALS.replace(".", re.escape(mark)), r"\1.\2", text)


DECIMALS = r"(\d)[.](\d)"
"""Decimals of a number in a label, as Keepsense spells it."""


@dataclass(frozen=True)
class Cells:
    """How the cells of one column are written: what stands for nothing, and the form of its dates or numbers.

    `format` is one of `NUMBER_FORMATS`, or a form of dates such as %d.%m.%Y.

    >>> Cells(("?", "NA")).format is None
    True
    """

    empty: tuple[str, ...] = ()
    format: str | None = None


@dataclass(frozen=True)
class Reading:
    """How a file is to be read; everything is sniffed where it is not given.

    >>> Reading(delimiter=";").encoding is None
    True
    """

    format: str | None = None
    delimiter: str | None = None
    quote: str | None = None
    encoding: str | None = None
    header: bool | None = None
    table: str | None = None
    """Name of the table in a database file, or of the sheet in a workbook."""
    empty: tuple[str, ...] = ()
    """Text that stands for a missing value, in every column."""
    cells: Mapping[str, Cells] = field(default_factory=dict)
    """How the cells of some columns are written."""
    guess: bool = True
    """Whether what is not given may be found out from the rows; else a text file is read in the usual way."""


@dataclass(frozen=True)
class Writing:
    """How a file is to be written.

    >>> Writing(shuffle=True).spreadsheet_safe
    True
    """

    format: str | None = None
    """By the ending of the file where it is not given."""
    delimiter: str = ","
    shuffle: bool = False
    """Release the rows in random order, so that their place tells nothing."""
    spreadsheet_safe: bool = True
    """Put an apostrophe before text in CSV and Excel that a spreadsheet would run as a formula."""
    table: str = "released"
    newline: str = "\n"
    """What ends the lines of a text file."""
    numbers: Mapping[str, str] = field(default_factory=dict)
    """Columns of numbers, or bands, that a text file spells as one of `NUMBER_FORMATS` does, thousands not parted."""
    like: str | None = None
    """A file of the same format, such as the source: columns of the same type are written as they are there."""
    like_table: str | None = None
    """Which of its tables, where it holds several by name."""


@dataclass(frozen=True)
class SqlTable:
    """A table that an `SqlConnection` knows: in SQL its columns are c0, c1, ..., whatever they are called.

    `lists` are the columns whose cells were lists; as text such a cell reads [a, b]. The last `beside` columns stand
    beside the table and are not its own. Where rows that are alike are held once, `times` is the column that says how
    often each is there.

    >>> SqlTable("released", ("job", "age")).column("age")
    'c1'
    """

    name: str
    columns: tuple[str, ...]
    lists: frozenset[str] = frozenset()
    beside: int = 0
    times: str | None = None

    @property
    def rows(self) -> str:
        """SQL for the number of rows.

        >>> SqlTable("original", ("job",)).rows, SqlTable("original", ("job",), times="times_").rows
        ('count(*)', 'CAST(coalesce(sum(times_), 0) AS BIGINT)')
        """
        return "count(*)" if self.times is None else f"CAST(coalesce(sum({self.times}), 0) AS BIGINT)"

    @property
    def own(self) -> tuple[str, ...]:
        """Columns without those beside it."""
        return self.columns[: len(self.columns) - self.beside]

    @cached_property
    def _place(self) -> dict[str, int]:
        return {name: i for i, name in reversed([*enumerate(self.columns)])}  # the first of a name

    def column(self, name: str) -> str:
        """What a column is called in SQL."""
        return f"c{self._place[name]}"


class SqlConnection(Protocol):
    """Runs SQL over tables of text, apart from any engine's counting, coding and recoding: what the verifier gets.

    The SQL is what DuckDB and Spark share. A connection is a context manager and forgets its tables when it is closed.

    >>> from keepsense.engines.protocol import sql
    >>> with sql() as connection:
    ...     people = connection.table("people", {"job": ["nurse", "clerk", "nurse"]})
    ...     connection.run(f"SELECT {people.column('job')}, count(*) FROM people GROUP BY c0 ORDER BY c0")
    [('clerk', 1), ('nurse', 2)]
    """

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
        """Make a file of any format, or a frame or stream of record batches, known under a name: every cell as text.

        `beside` are further columns, row by row: another file or frame with as many rows. With `keep_lists` lists
        stay lists of texts. A stream is read once and never in memory as a whole. With `alike` few rows differ, so
        that those that are alike may be held once (`SqlTable.times`).
        """

    def run(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a statement; rows that it gives, or none."""

    def close(self) -> None:
        """Forget all tables."""

    def __enter__(self) -> Self:
        """Itself, to be closed at the end of the block."""

    def __exit__(self, *exception: object) -> None:
        """Close it."""


@runtime_checkable
class SumsRows(Protocol):
    """What a connection may do beside: add up a keyed hash of whole rows, so that two tables are compared in one scan.

    >>> from keepsense.engines.protocol import sql
    >>> with sql() as connection:
    ...     isinstance(connection, SumsRows)
    True
    """

    def row_sums(self, table: str, columns: Sequence[str], key: str) -> tuple[int, ...]:
        """Sums over rows, whatever their order, of hashes of some columns' texts together: 128 bits under a secret key.

        Two tables with as many rows and the same sums hold the same rows, but for a chance that nobody lives to see.
        """


@runtime_checkable
class PlacesCells(Protocol):
    """What a connection may do beside: say in SQL at which place of a list a cell stands, sooner than by a join.

    >>> from keepsense.engines.protocol import sql
    >>> with sql() as connection:
    ...     isinstance(connection, PlacesCells)
    True
    """

    def run(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a statement; rows that it gives, or none."""

    def finds_places(self, table: str) -> bool:
        """Whether places are found quickly for the cells of a table."""

    def place(self, column: str, values: Sequence[str | None]) -> str:
        """SQL for the place of a column's cell among different values, from 1; NULL where it is none of them.

        Whole texts are compared. A missing cell is a value, too, the last if there is one.
        """


@runtime_checkable
class CountsAnew(Protocol):
    """What an engine may do beside: count tuples again and again where it cannot hold them all.

    >>> from keepsense.engines.protocol import engine
    >>> with engine("duckdb") as running:
    ...     isinstance(running, CountsAnew)
    True
    """

    def outgrown(self, table: Any, columns: Sequence[str], *, histograms: Iterable[str] = ()) -> Counts | None:
        """Counts of more tuples than memory may hold, `keepsense.counts_out_of_core`; None where all may be held."""

    def anew(self, table: Any, columns: Sequence[str]) -> int | None:
        """Bytes that a run takes about which counts so; None where that is more than there may be."""


class Engine(Protocol):
    """Where rows live. A contract test suite runs over every engine.

    >>> from keepsense.engines.protocol import engine
    >>> with engine("duckdb") as running:
    ...     running.count(running.read({"job": ["nurse", "nurse"]}), ["job"]).weights.tolist()
    [2]
    """

    @property
    def name(self) -> str:
        """By which another one of the kind is started."""

    def read(self, source: Any, reading: Reading | None = None) -> Table:
        """Open a file, a database table, columns in memory, or a frame: pandas, Polars, Arrow, DuckDB, any of narwhals.

        Text formats keep every cell as the text it is.
        """

    def profiles(self, table: Any, limit: int | None = None, columns: Sequence[str] | None = None) -> list[Profile]:
        """Each column, or some, in numbers: missing and different values, and the most frequent ones."""

    def count(
        self, table: Any, columns: Sequence[str], *, histograms: Iterable[str] = (), sums: Iterable[str] = ()
    ) -> Counts:
        """Distinct tuples of some columns as sorted codes, with histograms and sums under each, all from one scan."""

    def recode(
        self,
        table: Any,
        recodings: Iterable[Recoding],
        *,
        drop: Iterable[str] = (),
        rng: Random = None,
    ) -> Table:
        """Apply recodings and drop columns; a tuple's several outputs are dealt to its rows at random."""

    def leave_out(self, table: Any, values: Mapping[str, Value]) -> Table:
        """The rows but those that hold all of these values at once; a tuple stands for a list."""

    def differing(self, table: Any, other: Any, columns: Sequence[str]) -> dict[str, float]:
        """Share of the cells of each column that read differently in another table, row by row."""

    def write(
        self,
        table: Any,
        target: str | PathLike[str],
        writing: Writing | None = None,
        *,
        rng: Random = None,
    ) -> None:
        """Write a table; the file or database table appears under its name only when it is whole."""

    def guarded(self, table: Any, writing: Writing) -> dict[str, int]:
        """How many cells of each column get an apostrophe in the format of `writing`, where some do."""

    def reader(
        self,
        table: Any,
        columns: Sequence[str] | None = None,
        writing: Writing | None = None,
        *,
        in_order: bool = False,
        rng: Random = None,
    ) -> Any:
        """Some columns as a `pyarrow.RecordBatchReader` that asks the engine only when it is read.

        With `writing` cells are spelled as its format has them, and shuffled if it says so. Otherwise the rows come
        `in_order`, or in any order, which may be faster.
        """

    def frame(self, table: Any, like: Any = None, *, recoded: Collection[str] = ()) -> Any:
        """The rows in order as an Arrow table, or as a frame of the kind and with the types of another.

        Columns that are `recoded` have the types of what stands in them now: text where they were generalized.
        """

    def each(self, function: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
        """What a function makes of each of some parts, in their order: here, or wherever the engine has hands."""

    def scratch(self, name: str) -> Path:
        """A place for a temporary file, which vanishes when the engine is closed."""

    def sql(self) -> SqlConnection:
        """A connection of its own that runs SQL over files and frames."""

    def close(self) -> None:
        """Release memory and temporary files."""

    def __enter__(self) -> Self:
        """Itself, to be closed at the end of the block."""

    def __exit__(self, *exception: object) -> None:
        """Close it."""


@dataclass(frozen=True)
class EngineEntry:
    """How an engine is started; it stands in the `__init__.py` of the engine's folder.

    >>> ENGINES["duckdb"].meaning
    'on this machine, in DuckDB'
    """

    name: str
    meaning: str
    start: Callable[..., Engine]
    connect: Callable[..., SqlConnection]
    """A connection that runs SQL, without the engine."""
    owns: Callable[[Any], bool] = lambda data: False
    """Whether data are a frame of this engine's own kind: these stay where they are."""
    options: tuple[str, ...] = ("memory", "threads")
    """What it can be started with."""
    masters: tuple[str, ...] = ()
    """Beginnings of addresses that name a cluster of this engine, in place of the engine."""


ENGINES: Registry[EngineEntry] = Registry("engine", packages=["keepsense.engines"])
"""Engines by name; each is a folder, whose `__init__.py` holds its entry."""

USUAL = "duckdb"
"""The engine where none is asked for."""


def engine(name: str | None = None, **options: Any) -> Engine:
    """Start an engine by name, or the usual one.

    >>> engine().read({"job": ["nurse"]}).rows
    1
    """
    entry, where = _entry(name)
    return entry.start(**where, **options)


def at_home(data: Any) -> str | None:
    """The engine that a frame belongs to and stays in, if it is a frame of an engine; None for all others.

    >>> at_home({"job": ["nurse"]}) is None
    True
    """
    return next((name for name, entry in ENGINES.items() if entry.owns(data)), None)


def _entry(name: str | None) -> tuple[EngineEntry, dict[str, str]]:
    """An engine by its name, or by the address of its cluster."""
    for entry in ENGINES.values() if name and name not in ENGINES else ():
        if str(name).startswith(entry.masters or ("\0",)):
            return entry, {"master": str(name)}
    return ENGINES[name or USUAL], {}


@contextmanager
def started(engine: str | Engine | None = None, **options: Any) -> Iterator[Engine]:
    """An engine to work with: one started by name (or the usual one) and closed again, or one that runs and stays.

    Options that another engine would take are passed over: a project may name one, and the command line another.

    >>> with started() as running:
    ...     with started(running) as same:
    ...         same is running
    True
    """
    if engine is not None and not isinstance(engine, str):
        yield engine
        return
    entry, where = _entry(engine)
    fitting = {key: value for key, value in options.items() if key in entry.options}
    with entry.start(**{**fitting, **where}) as running:
        yield running


def sql(engine: str | Engine | None = None) -> SqlConnection:
    """A connection that runs SQL over files and frames: of an engine that runs, of one by name, or of the usual one.

    >>> with sql() as connection:
    ...     _ = connection.table("people", {"job": ["nurse"]})
    ...     connection.run("SELECT count(*) FROM people")
    [(1,)]
    """
    if engine is not None and not isinstance(engine, str):
        return engine.sql()
    entry, where = _entry(engine)
    return entry.connect(**where)


# Profiles: how many values each column has, how many are missing or frequent

MOST_VALUES = 2_000
"""Most distinct values of a column that are looked at one by one."""


@dataclass(frozen=True, eq=False)
class Profile:
    """One column in numbers, with its most frequent values for those who look closer.

    `missing` counts empty cells and cells of blanks only, `single` the values that only one row holds. `values` holds
    the most frequent values and their rows; it is all of them where `complete`. `type` is the engine's word for what
    the cells are, to be shown, not compared.

    >>> from keepsense.engines.protocol import engine
    >>> with engine() as running:
    ...     (jobs,) = running.profiles(running.read({"job": ["nurse", "nurse", "clerk", None]}))
    >>> jobs.rows, jobs.missing, jobs.distinct, jobs.single, dict(jobs.values)
    (4, 1, 2, 1, {'nurse': 2, 'clerk': 1})
    """

    name: str
    type: str
    rows: int
    missing: int
    distinct: int
    single: int
    values: Mapping[Value, int] = field(default_factory=dict)
    holds_lists: bool = False
    blank: bool = False
    """Whether some of the missing cells hold blanks."""

    @property
    def complete(self) -> bool:
        """Whether `values` holds every value."""
        return len(self.values) == self.distinct

    @property
    def filled(self) -> int:
        """Rows that hold a value."""
        return self.rows - self.missing

    @property
    def uniqueness(self) -> float:
        """Distinct values over rows that hold one: 1 where every row has its own."""
        return self.distinct / self.filled if self.filled else 0.0
