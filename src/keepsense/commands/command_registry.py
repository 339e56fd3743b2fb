"""Which commands there are, and their JSON.

Every command enters its function into `COMMANDS`, and what it prints with `--json` into `OUTPUTS`: the shape and the
meaning of every key, from which JSON schemas are made. A shape is `text`, `number`, `whole`, `truth`, `any`, several of
these parted by a bar (`number|null`), a list of one shape, a dictionary of keys, each with its meaning and its shape,
or, where its only key is `*`, of any keys. A key that ends in `?` may be missing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from keepsense.registry import Registry

if TYPE_CHECKING:
    import typer


COMMANDS: Registry[Callable[..., Any] | typer.Typer] = Registry(
    "command",
    packages=["keepsense.commands"],
    # as they are needed one after the other
    first=(
        *("demo", "sample", "inspect", "init", "run", "verify", "report", "assess", "compare", "map", "distance"),
        *("guide", "explain", "studio", "taxonomy", "hierarchy", "schema", "version"),
    ),
)
"""Functions whose parameters are a command's options, or groups of such; the command line is made of them."""


OUTPUTS: Registry[dict[str, Any]] = Registry("command", packages=["keepsense.commands"])
"""Shapes by the words of the command."""
_TYPES = {"text": "string", "number": "number", "whole": "integer", "truth": "boolean", "null": "null"}
PROMISE = {"*": "any"}
"""A promise as a project file spells it."""
_FINDING = {
    "code": ("its code, as the reference lists it", "text"),
    "where?": ("the column or file it is about", "text"),
    "message": ("what it says", "text"),
}
FINDINGS = ("what to look at", [_FINDING])
PARAMETERS = ("its parameters", {"*": "any"})
CONCEPT = {"id": ("its id", "text"), "meaning": ("its definition", "text|null")}
ERROR: dict[str, Any] = {
    "error": ("what went wrong, in a sentence", "text"),
    "exit": ("the exit code", "whole"),
    "code": (
        "a short name of it: a finding's code, the kind of error, usage, system, memory, interrupted, bug",
        "text",
    ),
    "column": ("the column that it is about", "text|null"),
    "remedies": ("what to do", ["text"]),
}
"""What any command prints with `--json` where it fails."""


def output_schema(command: str | None = None) -> dict[str, Any]:
    """JSON schema of what a command prints, or of an error.

    >>> output_schema("version")["properties"]["version"]
    {'type': 'string', 'description': 'of Keepsense'}
    >>> list(output_schema()["properties"])
    ['error', 'exit', 'code', 'column', 'remedies']
    """
    title = f"keepsense {OUTPUTS.name_of(command)} --json" if command else "an error under --json"
    shape = OUTPUTS[command] if command else ERROR
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **_schema(shape)}


def _schema(shape: Any) -> dict[str, Any]:
    if isinstance(shape, str):
        names = shape.split("|")
        if "any" in names:
            return {}
        types = [_TYPES[name] for name in names]
        return {"type": types[0] if len(types) == 1 else types}
    if isinstance(shape, list):
        return {"type": "array", "items": _schema(shape[0])}
    keys = {key: entry for key, entry in shape.items() if key != "*"}
    return {
        "type": "object",
        **({"properties": {key.rstrip("?"): _described(entry) for key, entry in keys.items()}} if keys else {}),
        **({"required": needed} if (needed := [key for key in keys if not key.endswith("?")]) else {}),
        "additionalProperties": _schema(shape["*"]) if "*" in shape else False,
    }


def _described(entry: tuple[str, Any]) -> dict[str, Any]:
    meaning, shape = entry
    return {**_schema(shape), "description": meaning}
