"""Keepsense anonymizes tables whose columns hold words, and keeps what the words mean.

The package imports nothing heavy: every public name is loaded when it is first used, and `__init__.pyi` says where
each lives. The front door is `anonymize`.

>>> import keepsense as ks
>>> release = ks.anonymize({"age": [31, 34, 38, 52, 55, 58] * 5}, k=10, quasi_identifiers=["age"])
>>> sorted(set(release.frame["age"]))
['50 or more', 'under 40']
"""

from __future__ import annotations

import ast
import pkgutil
from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    alias.name: node.module
    for node in ast.parse(pkgutil.get_data(__name__, "__init__.pyi") or b"").body
    if isinstance(node, ast.ImportFrom) and node.module is not None
    for alias in node.names
}
"""The module of each public name, as the stub says it to type checkers, too: a run imports few of them."""

__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
