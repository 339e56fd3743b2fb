"""Write all pins anew, when a change of behaviour is meant: `python -m tests.pins.renew`, and review the difference.

`python -m tests.pins.renew releases` (or help, json, runs) writes only these; `python -m tests.pins.renew chance`
renews only the draws of releases, where the random source changed, and refuses if anything else did. `runs` prints
which facts of which run changed; runs that need the data folder or Java keep their pins where these are missing.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from tests.pins import commands, releases, runs


def renew(which: set[str]) -> None:
    """Write the pins of the kinds named."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "help" in which:
            commands.HELP.mkdir(exist_ok=True)
            commands.TYPER.write_text(version("typer") + "\n", encoding="utf-8")
            for command in commands.WITH_HELP:
                commands.help_file(command).write_text(commands.help_of(command, folder), encoding="utf-8")
        if "json" in which:
            commands.JSON.mkdir(exist_ok=True)
            (folder / "commands").mkdir()
            commands.write_projects(folder / "commands")
            for pin in commands.COMMANDS:
                told = commands.json_of(pin, folder / "commands")
                (commands.JSON / f"{pin}.json").write_text(told, encoding="utf-8")
        if "releases" in which:
            _renew_releases(folder)
        if "chance" in which:
            _renew_chance(folder)
        if "runs" in which:
            _renew_runs(folder)


def _renew_runs(folder: Path) -> None:
    runs.FACTS.mkdir(exist_ok=True)
    for number, name in enumerate(runs.RUNS):
        if name in runs.TABLES and not runs.data_folder().is_dir():
            print(f"{name}: not renewed, {runs.data_folder()} is not there")
        elif name in runs.SPARK and shutil.which("java") is None:
            print(f"{name}: not renewed, there is no java")
        else:
            for change in runs.write_facts(name, folder / f"run {number}"):
                print(change, flush=True)


def _renew_releases(folder: Path) -> None:
    pins: dict[str, dict[str, object]] = {releases.ALWAYS: {}, releases.BY_CHANCE: {}}
    for number, name in enumerate(releases.CASES):
        place = folder / f"case {number}"
        place.mkdir()
        group, pin = releases.pinned(name, place)
        pins[group][name] = pin
    _write(pins)


def _renew_chance(folder: Path) -> None:
    pins = json.loads(releases.FILE.read_text(encoding="utf-8"))
    for number, (name, pin) in enumerate(pins[releases.BY_CHANCE].items()):
        facts = releases.facts(name, folder / f"draw {number}")
        if releases.common(facts, pin["must stay"]) != pin["must stay"]:
            raise SystemExit(f"{name}: more changed than chance can change; see the failing test")
        pin["may be renewed"] = releases.common(facts, pin["may be renewed"])
    _write(pins)


def _write(pins: dict[str, dict[str, object]]) -> None:
    releases.FILE.write_text(commands.lines(pins) + "\n", encoding="utf-8")


if __name__ == "__main__":
    renew(set(sys.argv[1:]) or {"releases", "help", "json", "runs"})
