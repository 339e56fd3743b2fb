"""Keepsense anonymizes tables whose columns hold words, and keeps what the words mean.

The package imports nothing heavy: every public name is loaded when it is first used.

>>> import keepsense
>>> isinstance(keepsense.__version__, str)
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_PUBLIC = {
    "Counts": "keepsense.counts",
    "Recoding": "keepsense.recoding",
    "KeepsenseError": "keepsense.errors",
    "Taxonomy": "keepsense.taxonomy",
    "wordnet": "keepsense.taxonomy",
    "map_values": "keepsense.taxonomy",
    "distance": "keepsense.semantics",
    "Hierarchy": "keepsense.hierarchies",
}

__all__ = ["__version__", *sorted(_PUBLIC)]

if TYPE_CHECKING:
    from keepsense.counts import Counts as Counts
    from keepsense.errors import KeepsenseError as KeepsenseError
    from keepsense.recoding import Recoding as Recoding
    from keepsense.taxonomy import Taxonomy as Taxonomy


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'keepsense' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
