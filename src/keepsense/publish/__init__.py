"""How a table is published: the project file, the one code path that runs it, the verified release and its ledger."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from keepsense.publish.pipeline import Outcome as Outcome
    from keepsense.publish.pipeline import run as run
    from keepsense.publish.project import Project as Project
    from keepsense.publish.project import read_project as read_project

_PUBLIC = {
    "Project": "keepsense.publish.project",
    "read_project": "keepsense.publish.project",
    "run": "keepsense.publish.pipeline",
    "Outcome": "keepsense.publish.pipeline",
}
__all__ = ["Outcome", "Project", "read_project", "run"]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'keepsense.publish' has no attribute {name!r}")
