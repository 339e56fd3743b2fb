"""What project files, commands and releases mean does not change by accident: pins written by `tests.pins.renew`."""

from __future__ import annotations

import json
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from tests.pins import commands, releases
from tests.pins.cases import METHODS

PINS: dict[str, dict[str, Any]] = json.loads(releases.FILE.read_text(encoding="utf-8"))
REVIEW = "; if this is meant, run `python -m tests.pins.renew` and review the difference"


@pytest.mark.parametrize("name", PINS[releases.ALWAYS])
def test_a_release_without_chance_is_the_same(name: str, tmp_path: Path) -> None:
    assert releases.facts(name, tmp_path / "case") == PINS[releases.ALWAYS][name], name + REVIEW


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Any:
    made: dict[str, dict[str, Any]] = {}

    def facts(name: str) -> dict[str, Any]:
        if name not in made:
            made[name] = releases.facts(name, tmp_path_factory.mktemp("drawn") / "case")
        return made[name]

    return facts


@pytest.mark.parametrize("name", PINS[releases.BY_CHANCE])
def test_what_chance_cannot_change_stays(name: str, drawn: Any) -> None:
    stays = PINS[releases.BY_CHANCE][name]["must stay"]
    assert releases.common(drawn(name), stays) == stays, name + REVIEW


@pytest.mark.parametrize("name", PINS[releases.BY_CHANCE])
def test_a_seed_gives_the_same_release(name: str, drawn: Any) -> None:
    """These may be renewed with `python -m tests.pins.renew chance` where the random source is changed on purpose."""
    drawn_before = PINS[releases.BY_CHANCE][name]["may be renewed"]
    assert releases.common(drawn(name), drawn_before) == drawn_before, name + REVIEW


def test_every_case_is_pinned_once() -> None:
    assert sorted([*PINS[releases.ALWAYS], *PINS[releases.BY_CHANCE]]) == sorted(releases.CASES)
    assert all(case["method"]["name"] == name for name, case in METHODS.items())


@pytest.mark.parametrize("command", commands.WITH_HELP, ids=" ".join)
def test_help_says_the_same(command: tuple[str, ...], tmp_path: Path) -> None:
    pinned = commands.help_file(command).read_text(encoding="utf-8")
    shown = commands.help_of(command, tmp_path)
    if version("typer") == commands.TYPER.read_text(encoding="utf-8").strip():
        assert shown == pinned, REVIEW
    else:  # another version may lay help out differently, but knows the same options
        options = re.compile(r"--[a-z-]+")
        assert sorted(options.findall(shown)) == sorted(options.findall(pinned)), REVIEW


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("desk")
    commands.write_projects(folder)
    return {name: commands.json_of(name, folder) for name in commands.COMMANDS}


@pytest.mark.parametrize("name", commands.COMMANDS)
def test_json_says_the_same(name: str, desk: dict[str, str]) -> None:
    assert json.loads(desk[name]) == json.loads((commands.JSON / f"{name}.json").read_text(encoding="utf-8")), REVIEW


def test_no_pin_is_left_over() -> None:
    assert {file.stem for file in commands.JSON.iterdir()} == set(commands.COMMANDS)
    assert set(commands.HELP.glob("keepsense*")) == {commands.help_file(command) for command in commands.WITH_HELP}
