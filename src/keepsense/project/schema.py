"""The project file's JSON schema, for editors: every key, and the names of all methods and promises."""

from __future__ import annotations

import inspect
from typing import Any

from keepsense.privacy import models
from keepsense.privacy.catalogue import parameters
from keepsense.project.file import Project
from keepsense.release.mechanisms import ABOUT_MECHANISMS
from keepsense.release.techniques import techniques

_TYPES = {"k": "integer", "m": "integer", "l": "number", "c": "number", "t": "number", "epsilon": "number"}
_TYPES |= {"threshold": "number", "lower": "number", "upper": "number"}
_TYPES |= dict.fromkeys(("column", "person", "form"), "string")
_FORMS = ("distinct", "entropy", "recursive")


def json_schema() -> dict[str, Any]:
    """JSON schema of the project file; editors complete its keys, the names of methods and those of promises.

    >>> found = json_schema()
    >>> found["title"], "optimal" in found["$defs"]["Method"]["properties"]["name"]["anyOf"][0]["enum"]
    ('Project', True)
    """
    found = Project.model_json_schema()
    name = found["$defs"]["Method"]["properties"]["name"]
    # any spelling of a name is taken (rank-swapping, rank swapping), so the list only proposes
    name["anyOf"] = [{"enum": sorted(techniques())}, {"type": "string"}]
    name.pop("type", None)
    found["properties"]["privacy"]["items"] = {"anyOf": [_promise(model) for model in (*models(), *ABOUT_MECHANISMS)]}
    return found


def _promise(model: str) -> dict[str, Any]:
    """One kind of promise: its name, what it takes, and what it needs."""
    if model in ABOUT_MECHANISMS:
        takes = dict.fromkeys(inspect.signature(ABOUT_MECHANISMS[model]).parameters, True)
    elif model == "l-diversity":
        every = [parameters(model, form) for form in _FORMS]
        takes = {key: all(one.get(key, False) for one in every) for one in every for key in one}
    else:
        takes = parameters(model)
    return {
        "title": model,
        "type": "object",
        "properties": {"model": {"const": model}, **{key: _kind(key) for key in takes}},
        "required": ["model", *(key for key, must in takes.items() if must)],
        "additionalProperties": False,
    }


def _kind(key: str) -> dict[str, Any]:
    return {"type": _TYPES[key]} if key in _TYPES else {}
