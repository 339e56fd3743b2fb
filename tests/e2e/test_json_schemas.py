"""Everything that a command prints with `--json` has a schema, and the pinned outputs keep to it."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from tests.pins import commands

from keepsense.commands.command_registry import ERROR, OUTPUTS, output_schema

GROUPS = ("taxonomy", "hierarchy")


def _command(words: str) -> str:
    first, second = [*words.split(), ""][:2]
    return f"{first} {second}" if first in GROUPS else first


def _output(name: str) -> Any:
    pinned = json.loads((commands.JSON / f"{name}.json").read_text(encoding="utf-8"))["json"]
    return _with_seconds(pinned, stages=_command(commands.COMMANDS[name]) == "run")


def _with_seconds(value: Any, *, stages: bool) -> Any:
    """What pins leave out because it differs from time to time."""
    if isinstance(value, list):
        return [_with_seconds(inner, stages=stages) for inner in value]
    if not isinstance(value, dict):
        return value
    inside = {key: _with_seconds(inner, stages=stages or key == "release") for key, inner in value.items()}
    if inside.get("seconds") == "SECONDS":
        inside["seconds"] = {"verify": 0.1} if stages else 0.1
    return inside


@pytest.mark.parametrize("name", commands.COMMANDS)
def test_what_is_printed_keeps_to_its_schema(name: str) -> None:
    failed = name.startswith("error-")
    schema = output_schema(None if failed else _command(commands.COMMANDS[name]))
    jsonschema.Draft202012Validator(schema).validate(_output(name))


def test_a_schema_refuses_what_is_not_documented() -> None:
    checker = jsonschema.Draft202012Validator(output_schema("verify"))
    good = _output("verify")
    assert checker.is_valid(good)
    assert not checker.is_valid({**good, "undocumented": 1})
    assert not checker.is_valid({key: value for key, value in good.items() if key != "ok"})
    assert not checker.is_valid({**good, "records": "many"})


def test_every_command_has_a_schema() -> None:
    from typer.main import get_command

    from keepsense.cli import app

    group: Any = get_command(app)
    words = []
    for name, command in group.commands.items():
        words += [f"{name} {inner}" for inner in command.commands] if hasattr(command, "commands") else [name]
    assert sorted(words) == sorted(OUTPUTS)


@pytest.mark.parametrize("command", [None, *OUTPUTS])
def test_every_schema_is_one_and_says_what_its_keys_mean(command: str | None) -> None:
    schema = output_schema(command)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert all(entry["description"] for entry in schema["properties"].values())
    assert set(output_schema()["required"]) == set(ERROR)
