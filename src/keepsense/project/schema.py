"""The project file's JSON schema, for editors: every key, and the names of all methods and promises."""

from __future__ import annotations

from typing import Any

from keepsense.engines import ENGINES
from keepsense.methods.registry import methods
from keepsense.privacy import PRIVACY
from keepsense.project.file import Project


def json_schema() -> dict[str, Any]:
    """JSON schema of the project file; editors complete its keys, the names of methods and those of promises.

    >>> schema = json_schema()
    >>> schema["title"], "optimal" in schema["$defs"]["Method"]["properties"]["name"]["anyOf"][0]["enum"]
    ('Project', True)
    """
    schema = Project.model_json_schema()
    name = schema["$defs"]["Method"]["properties"]["name"]
    # any spelling of a name is taken (rank-swapping, rank swapping), so the list only proposes
    name["anyOf"] = [{"enum": sorted(method.name for method in methods(in_projects=True))}, {"type": "string"}]
    name.pop("type", None)
    step = schema["$defs"]["Step"]["properties"]["name"]
    step["anyOf"] = [{"enum": sorted(method.name for method in methods() if method.as_step)}, {"type": "string"}]
    step.pop("type", None)
    schema["properties"]["privacy"]["items"] = {"anyOf": [model.schema() for model in PRIVACY.values()]}
    engine = schema["properties"]["engine"]
    engine["anyOf"] = [{"enum": list(ENGINES)}, {"$ref": engine.pop("$ref")}]
    return schema
