"""The project file's JSON schema, for editors: every key, and the names of all methods and promises."""

from __future__ import annotations

from typing import Any

from keepsense.methods.registry import methods
from keepsense.privacy import PRIVACY
from keepsense.project.file import Project


def json_schema() -> dict[str, Any]:
    """JSON schema of the project file; editors complete its keys, the names of methods and those of promises.

    >>> found = json_schema()
    >>> found["title"], "optimal" in found["$defs"]["Method"]["properties"]["name"]["anyOf"][0]["enum"]
    ('Project', True)
    """
    found = Project.model_json_schema()
    name = found["$defs"]["Method"]["properties"]["name"]
    # any spelling of a name is taken (rank-swapping, rank swapping), so the list only proposes
    name["anyOf"] = [{"enum": sorted(found.name for found in methods(in_projects=True))}, {"type": "string"}]
    name.pop("type", None)
    found["properties"]["privacy"]["items"] = {"anyOf": [model.schema() for model in PRIVACY.values()]}
    return found
