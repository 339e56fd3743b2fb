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
from collections.abc import Callable
from importlib import import_module
from typing import Any

# Public names are imported on first use: a run needs few of them. The stub `__init__.pyi` says where each one lives;
# type checkers read it, and so does `attach`.


def attach(package: str) -> tuple[Callable[[str], Any], list[str]]:
    """What a package needs to hand out the names of its stub: its `__getattr__` and its `__all__`.

    >>> getattribute, names = attach("keepsense.hierarchies")
    >>> "Hierarchy" in names, getattribute("Hierarchy").of_rows([("nurse", "medic", "*")]).height
    (True, 2)
    """
    stub = ast.parse(pkgutil.get_data(package, "__init__.pyi") or b"")
    homes = {
        alias.name: node.module
        for node in stub.body
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for alias in node.names
    }

    def getattribute(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    return getattribute, sorted(homes)


__version__ = "0.1.0"

__getattr__, _NAMES = attach(__name__)
__all__ = ["__version__", *_NAMES]


def __dir__() -> list[str]:
    return sorted(__all__)
