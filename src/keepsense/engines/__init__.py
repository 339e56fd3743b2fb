"""Where rows live: read, count, recode, write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from keepsense.engines.base import Engine, Reading, SqlConnection, SqlTable, Table, Writing
from keepsense.registry import Registry

__all__ = [
    "ENGINES",
    "Engine",
    "EngineEntry",
    "Reading",
    "SqlConnection",
    "SqlTable",
    "Table",
    "Writing",
    "engine",
    "sql",
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


def engine(name: str = "duckdb", **options: Any) -> Engine:
    """Start an engine by name.

    >>> engine().read({"job": ["nurse"]}).rows
    1
    """
    return ENGINES[name].start(**options)


def sql(name: str = "duckdb") -> SqlConnection:
    """A connection of an engine that runs SQL over files and frames, without the engine itself.

    >>> with sql() as connection:
    ...     _ = connection.table("people", {"job": ["nurse"]})
    ...     connection.run("SELECT count(*) FROM people")
    [(1,)]
    """
    return ENGINES[name].connect()
