"""The registry of file formats and databases: one file each, with its entry next to the code."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keepsense.engines.protocol import Reading, Writing
from keepsense.errors import BadInput
from keepsense.registry import Registry

if TYPE_CHECKING:
    from keepsense.engines.duckdb_store import Store

FORMULA = "=+-@\t\r"
"""Signs at the start of a text that make a spreadsheet run it."""

_CURRENCY = "€$£¥₹₽₩₺₴₪฿"
_BLANK = " \u00a0\u202f"
_DIGITS = rf"[0-9]+([.,'’{_BLANK}][0-9]+)*[.,]?|[.,][0-9]+"
HARMLESS = "|".join(
    (
        # a number of any country, with a currency or percent: -1.234,50  -€5  +3 %  -CHF 1'200.-
        rf"[-+][{_BLANK}]*([{_CURRENCY}]|[A-Z]{{3}}[{_BLANK}]+)?[{_BLANK}]*({_DIGITS})([eE][-+]?[0-9]+)?"
        rf"[{_BLANK}]*([%‰{_CURRENCY}]|[A-Z]{{3}}|-+)?",
        rf"\+[0-9][0-9{_BLANK}()./-]*",  # a telephone number
        r"[-+][0-9]{1,2}:[0-9]{2}(:[0-9]{2})?",  # a time zone, a span
        rf"[-+.{_BLANK}]+",  # a mark of what is missing
    )
)
"""Texts that begin like a formula and can be none: what a spreadsheet may read in them is a number."""


@dataclass(frozen=True)
class Database:
    """What a server's tables need beyond a file: a release that nobody sees before it is committed.

    >>> FORMATS["postgresql"].database.same_table("postgresql://db/x", "staff", "postgres://db:5432/x", "staff")
    True
    """

    staged: Callable[[str, str], AbstractContextManager[Any]]
    """From an address and a table, an open transaction with `write`, `read` and `commit`."""
    same_table: Callable[[str, str, str, str], bool]
    """Whether two addresses and tables are the same."""
    check_name: Callable[[str], object]
    """Refuses a name that no table can have."""
    mark: Callable[[str, str], str | None]
    """What `commit` wrote beside a released table of an address; None where there is no such table."""


@dataclass(frozen=True)
class Layout:
    """A text file whose rows are lines: what parts their cells, which quote it must not hold, and names of columns.

    >>> Layout(";", '"', ("job", "age")).titled
    True
    """

    delimiter: str
    quote: str
    names: tuple[str, ...]
    titled: bool = True
    """Whether the first line holds the names."""


@dataclass(frozen=True)
class Declared:
    """What a file says about one of its columns: a label, and the order of its words where they are a scale.

    >>> Declared("highest degree", ("school", "college", "doctor")).order[0]
    'school'
    """

    label: str = ""
    order: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class Format:
    """How tables of one format come and go.

    >>> FORMATS["csv"].endings[0], FORMATS["csv"].is_text, FORMATS["excel"].runs_formulas
    ('.csv', True, True)
    """

    name: str
    endings: tuple[str, ...]
    """Endings of files, or beginnings of addresses such as postgresql://."""
    read: Callable[[Store, str, Reading], str]
    """Takes a file or database table into a store, a part at a time; gives the name it has there."""
    write: Callable[[Store, str, Path, Writing], None] | None
    """Writes what a query of a store gives; None for a database, whose tables are staged."""
    write_coded: Callable[[Store, str, Any, Path, Writing], bool] | None = None
    """Writes what a query gives from an Arrow table of dictionaries that holds the same, where it can; whether so."""
    options: tuple[str, ...] = ()
    """Keys of `Reading` that it understands beside the format."""
    is_text: bool = False
    """Whether a file keeps no types: every cell is a text."""
    runs_formulas: bool = False
    """Whether people open such files in a spreadsheet, which would run what looks like a formula."""
    keeps_tables: bool = False
    """Whether one file holds several tables by name, as databases do."""
    extra: str | None = None
    """What must be installed with Keepsense for it."""
    as_it_stands: Callable[[str, Reading], str] | None = None
    """SQL by which DuckDB itself reads a file, as a recipient would, every cell as it stands."""
    by_column: bool = False
    """Whether columns are read apart from one another: then a large file is better read again than copied."""
    spelled: Callable[[str, str], str] = field(default=lambda column, kind: column)
    """SQL for a column of a type where the format needs another type."""
    dialect: Callable[[str, Reading], tuple[str, str]] | None = None
    """What stands between the cells of a text file and ends its lines, so that another can be written alike."""
    layout: Callable[[str, Reading], Layout | None] | None = None
    """How the lines of a text file are parted, where whoever cuts them at every delimiter reads what `read` does."""
    declared: Callable[[str, Reading], Mapping[str, Declared]] | None = None
    """What a file says about its columns beyond their names."""
    database: Database | None = None

    def reading(self, **options: Any) -> Reading:
        """How to read a file of this format, with those of the options that it understands.

        >>> FORMATS["csv"].reading(delimiter=";", table="staff") == Reading("csv", delimiter=";")
        True
        """
        return Reading(self.name, **{name: value for name, value in options.items() if name in self.options})


FORMATS: Registry[Format] = Registry("format", packages=["keepsense.engines.formats"])
"""Formats by name."""


def register(format: Format) -> Format:
    """Enter a format; it is found by its name and by its endings.

    >>> register(FORMATS["csv"])
    Traceback (most recent call last):
    ...
    keepsense.errors.InternalError: two entries want to be the format 'csv'
    """
    assert set(format.options) <= {entry.name for entry in fields(Reading)}, format.options
    return FORMATS.add(format.name, format)


def format_of(name: str, given: str | None = None) -> Format:
    """Format of a file by its ending, or of an address by its beginning, unless one is given.

    >>> format_of("people.csv").name, format_of("people.dump", "parquet").name
    ('csv', 'parquet')
    """
    if given is not None:
        return FORMATS[given]
    scheme, mark, _ = name.partition("://")
    sign = scheme + mark if mark else Path(name.removesuffix(".gz")).suffix.lower()
    for entry in FORMATS.values():
        if sign in entry.endings:
            return entry
    raise BadInput(
        f"{Path(name).name}: the ending {sign or '(none)'} tells no format; give one of {', '.join(sorted(FORMATS))}"
    )


def names() -> str:
    """All formats in words.

    >>> names()
    'arrow, csv, duckdb, excel, jsonl, parquet, postgresql, rdata, rds, spss, sqlite or stata'
    """
    *others, last = sorted(FORMATS)
    return f"{', '.join(others)} or {last}"


def would_run(text: str) -> bool:
    """Whether a spreadsheet would run a text as a formula.

    >>> would_run("=1+1"), would_run("nurse"), would_run("-1.234,50"), would_run("-cmd|' /C calc'!A0")
    (True, False, False, True)
    """
    return text[:1] != "" and text[:1] in FORMULA and re.fullmatch(HARMLESS, text) is None


def chosen_table(path: Path, places: Mapping[str, str], reading: Reading) -> str:
    """The table asked for, or the only one there is, of those that a file holds by name.

    >>> chosen_table(Path("base.sqlite"), {"staff": '"staff"'}, Reading())
    '"staff"'
    """
    there = ", ".join(places) or "none"
    if reading.table is not None and reading.table not in places:
        raise BadInput(f"{path.name}: there is no table {reading.table!r}; it has {there}")
    if reading.table is None and len(places) != 1:
        raise BadInput(f"{path.name}: say which table to read; it has {there}")
    return places[reading.table or next(iter(places))]
