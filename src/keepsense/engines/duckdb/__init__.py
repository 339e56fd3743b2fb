"""The engine for one machine: rows in DuckDB."""

from __future__ import annotations

from typing import Any

from keepsense.engines.protocol import ENGINES, Engine, EngineEntry, SqlConnection


def _start(**options: Any) -> Engine:
    from keepsense.engines.duckdb.engine import DuckDBEngine

    return DuckDBEngine(**options)


def _connect() -> SqlConnection:
    from keepsense.engines.duckdb.sql import DuckDBConnection

    return DuckDBConnection()


ENGINES.add("duckdb", EngineEntry("duckdb", "on this machine, in DuckDB", _start, _connect))
