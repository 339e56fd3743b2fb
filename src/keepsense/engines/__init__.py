"""Where rows live: read, count, recode, map batches, write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from keepsense.engines.base import Engine, Reading, SqlConnection, SqlTable, Table, Writing
from keepsense.errors import BadInput, did_you_mean

if TYPE_CHECKING:
    from keepsense.engines.duckdb.engine import DuckDBEngine

__all__ = ["Engine", "Reading", "SqlConnection", "SqlTable", "Table", "Writing", "engine", "sql"]

_ENGINES = ("duckdb",)


def engine(name: str = "duckdb", **options: Any) -> DuckDBEngine:
    """Start an engine by name.

    >>> engine().read({"job": ["nurse"]}).rows
    1
    """
    if name not in _ENGINES:
        raise BadInput(f"no engine is called {name!r}; there are: {', '.join(_ENGINES)}.{did_you_mean(name, _ENGINES)}")
    from keepsense.engines.duckdb.engine import DuckDBEngine

    return DuckDBEngine(**options)


def sql(name: str = "duckdb") -> SqlConnection:
    """A connection of an engine that runs SQL over files and frames, without the engine itself.

    >>> with sql() as connection:
    ...     _ = connection.table("people", {"job": ["nurse"]})
    ...     connection.run("SELECT count(*) FROM people")
    [(1,)]
    """
    if name not in _ENGINES:
        raise BadInput(f"no engine is called {name!r}; there are: {', '.join(_ENGINES)}.{did_you_mean(name, _ENGINES)}")
    from keepsense.engines.duckdb.sql import DuckDBConnection

    return DuckDBConnection()
