"""Where rows live: read, count, recode, map batches, write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from keepsense.engines.base import Engine, Reading, Table, Writing
from keepsense.errors import BadInput, did_you_mean

if TYPE_CHECKING:
    from keepsense.engines.duckdb.engine import DuckDBEngine

__all__ = ["Engine", "Reading", "Table", "Writing", "engine"]

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
