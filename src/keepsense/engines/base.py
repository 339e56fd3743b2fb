"""What an engine must do: read, count, recode, map batches, write. It touches rows; nothing else does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Protocol, Self

import numpy as np

from keepsense.counts import Counts
from keepsense.recoding import Recoding


class Table(Protocol):
    """Rows that live in an engine: a handle, not the rows themselves.

    >>> from keepsense.engines import engine
    >>> table = engine().read({"job": ["nurse", "clerk"]})
    >>> table.columns, table.rows
    (('job',), 2)
    """

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names in order."""

    @property
    def types(self) -> tuple[str, ...]:
        """Types of the columns in the engine's words."""

    @property
    def rows(self) -> int:
        """Number of rows."""


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


@dataclass(frozen=True)
class Writing:
    """How a file is to be written.

    >>> Writing(shuffle=True).spreadsheet_safe
    True
    """

    format: str | None = None
    delimiter: str = ","
    shuffle: bool = False
    """Release the rows in random order, so that their place tells nothing."""
    spreadsheet_safe: bool = True
    """Put an apostrophe before text in CSV and Excel that a spreadsheet would run as a formula."""
    table: str = "released"


@dataclass(frozen=True)
class SqlTable:
    """A table that an `SqlConnection` knows: in SQL its columns are c0, c1, ..., whatever they are called.

    `lists` are the columns whose cells were lists; as text such a cell reads [a, b].

    >>> SqlTable("released", ("job", "age")).column("age")
    'c1'
    """

    name: str
    columns: tuple[str, ...]
    lists: frozenset[str] = frozenset()

    def column(self, name: str) -> str:
        """What a column is called in SQL."""
        return f"c{self.columns.index(name)}"


class SqlConnection(Protocol):
    """Runs SQL over tables of text, apart from any engine's counting, coding and recoding: what the verifier gets.

    The SQL is what DuckDB and Spark share. A connection is a context manager and forgets its tables when it is closed.

    >>> from keepsense.engines import sql
    >>> with sql() as connection:
    ...     people = connection.table("people", {"job": ["nurse", "clerk", "nurse"]})
    ...     connection.run(f"SELECT {people.column('job')}, count(*) FROM people GROUP BY c0 ORDER BY c0")
    [('clerk', 1), ('nurse', 2)]
    """

    def table(
        self, name: str, source: Any, reading: Reading | None = None, *, beside: Any = None, keep_lists: bool = False
    ) -> SqlTable:
        """Make a file of any format, or a frame or stream of record batches, known under a name: every cell as text.

        `beside` are further columns, row by row: another file or frame with as many rows. With `keep_lists` lists
        stay lists of texts. A stream is read once and never in memory as a whole.
        """

    def run(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a statement; rows that it gives, or none."""

    def close(self) -> None:
        """Forget all tables."""

    def __enter__(self) -> Self:
        """Itself, to be closed at the end of the block."""

    def __exit__(self, *exception: object) -> None:
        """Close it."""


class Engine(Protocol):
    """Five verbs (read, count, recode, map batches, write) and what a checked release asks for besides.

    A contract test suite runs over every engine.

    >>> from keepsense.engines import engine
    >>> duck = engine("duckdb")
    >>> duck.count(duck.read({"job": ["nurse", "nurse"]}), ["job"]).weights.tolist()
    [2]
    """

    def read(self, source: Any, reading: Reading | None = None) -> Any:
        """Open a file, a database table, columns in memory, or any frame narwhals knows."""

    def sql(self) -> SqlConnection:
        """A connection of its own that runs SQL over files and frames."""

    def count(
        self, table: Any, columns: Sequence[str], *, histograms: Iterable[str] = (), sums: Iterable[str] = ()
    ) -> Counts:
        """Count the distinct tuples of some columns; the order of rows never matters."""

    def recode(
        self,
        table: Any,
        recodings: Iterable[Recoding],
        *,
        drop: Iterable[str] = (),
        rng: np.random.Generator | int | None = None,
    ) -> Any:
        """Apply recodings and drop columns; a tuple's several outputs are dealt to its rows at random."""

    def leave_out(self, table: Any, values: Mapping[str, Any]) -> Any:
        """The rows but those that hold all of these values at once."""

    def as_written(self, table: Any, target: str, writing: Writing | None = None) -> Any:
        """The table as it reads in a file of that name."""

    def map_batches(self, table: Any, function: Callable[[Any], Any], *, size: int = 65_536) -> Any:
        """Pass the rows through a function, one Arrow record batch at a time."""

    def write(
        self,
        table: Any,
        target: str | PathLike[str],
        writing: Writing | None = None,
        *,
        rng: np.random.Generator | int | None = None,
    ) -> None:
        """Write a table to a file; the file appears under its name only when it is whole."""

    def stream(
        self,
        table: Any,
        writing: Writing | None = None,
        *,
        rng: np.random.Generator | int | None = None,
        size: int = 65_536,
    ) -> Any:
        """The rows as `write` gives them to a database, as a `pyarrow.RecordBatchReader`."""

    def reader(self, table: Any, columns: Sequence[str] | None = None, *, size: int = 65_536) -> Any:
        """Some columns as they are, as a `pyarrow.RecordBatchReader` that asks the engine only when it is read."""

    def differing(self, table: Any, other: Any, columns: Sequence[str]) -> dict[str, float]:
        """Share of the cells of each column that read differently in another table, row by row."""
