"""How a table is published: the project file, the one code path that runs it, the verified release and its ledger."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from keepsense.publish.assess import Assessment as Assessment
    from keepsense.publish.checking import verify_file as verify_file
    from keepsense.publish.compare import Compared as Compared
    from keepsense.publish.draft import write_draft as write_draft
    from keepsense.publish.inspect import Inspection as Inspection
    from keepsense.publish.pipeline import Outcome as Outcome
    from keepsense.publish.pipeline import run as run
    from keepsense.publish.project import Project as Project
    from keepsense.publish.project import read_project as read_project
    from keepsense.publish.schema import json_schema as json_schema

_PUBLIC = {
    "Assessment": "assess",
    "Compared": "compare",
    "Inspection": "inspect",
    "Outcome": "pipeline",
    "Project": "project",
    "json_schema": "schema",
    "read_project": "project",
    "run": "pipeline",
    "verify_file": "checking",
    "write_draft": "draft",
}
__all__ = [
    "Assessment",
    "Compared",
    "Inspection",
    "Outcome",
    "Project",
    "json_schema",
    "read_project",
    "run",
    "verify_file",
    "write_draft",
]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(f"keepsense.publish.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module 'keepsense.publish' has no attribute {name!r}")
