"""Where rows live: read, count, recode, write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from keepsense.engines.base import Cells, Engine, Reading, SqlConnection, SqlTable, Table, Writing
from keepsense.registry import Registry

__all__ = [
    "ENGINES",
    "USUAL",
    "Cells",
    "Engine",
    "EngineEntry",
    "Reading",
    "SqlConnection",
    "SqlTable",
    "Table",
    "Writing",
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
    connect: Callable[[], SqlConnection]
    """A connection that runs SQL, without the engine."""


ENGINES: Registry[EngineEntry] = Registry("engine", packages=["keepsense.engines.duckdb"])
"""Engines by name: those of the folders named here."""

USUAL = "duckdb"
"""The engine where none is asked for."""


def engine(name: str | None = None, **options: Any) -> Engine:
    """Start an engine by name, or the usual one.

    >>> engine().read({"job": ["nurse"]}).rows
    1
    """
    return ENGINES[name or USUAL].start(**options)


@contextmanager
def started(engine: str | Engine | None = None, **options: Any) -> Iterator[Engine]:
    """An engine to work with: one started by name (or the usual one) and closed again, or one that runs and stays.

    >>> with started() as running:
    ...     with started(running) as same:
    ...         same is running
    True
    """
    if engine is not None and not isinstance(engine, str):
        yield engine
        return
    with ENGINES[engine or USUAL].start(**options) as running:
        yield running


def sql(engine: str | Engine | None = None) -> SqlConnection:
    """A connection that runs SQL over files and frames: of an engine that runs, of one by name, or of the usual one.

    >>> with sql() as connection:
    ...     _ = connection.table("people", {"job": ["nurse"]})
    ...     connection.run("SELECT count(*) FROM people")
    [(1,)]
    """
    return ENGINES[engine or USUAL].connect() if engine is None or isinstance(engine, str) else engine.sql()
