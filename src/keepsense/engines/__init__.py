"""Where rows live: read, count, recode, write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from keepsense.engines.base import (
    Cells,
    Engine,
    PlacesCells,
    Reading,
    SqlConnection,
    SqlTable,
    SumsRows,
    Table,
    Writing,
)
from keepsense.registry import Registry

__all__ = [
    "ENGINES",
    "USUAL",
    "Cells",
    "Engine",
    "EngineEntry",
    "PlacesCells",
    "Reading",
    "SqlConnection",
    "SqlTable",
    "SumsRows",
    "Table",
    "Writing",
    "at_home",
    "engine",
    "sql",
    "started",
]


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


ENGINES: Registry[EngineEntry] = Registry("engine", packages=["keepsense.engines.duckdb", "keepsense.engines.spark"])
"""Engines by name: those of the folders named here."""

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
    for entry in ENGINES.values() if name else ():
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
