"""Whole runs that are pinned: drafted projects of real tables, persons, sets, an earlier recoding reused, and Spark.

Each pin is a file of `tests/pins/facts`; each fact in it stands on a line of its own.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.pins import commands
from tests.pins.made_up import toml, write_inputs
from tests.pins.releases import CASES, steady
from tests.pins.terminal import keepsense

FACTS = Path(__file__).parent / "facts"
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Run:
    """Commands of one folder by their labels, and what the folder holds before the first of them."""

    commands: dict[str, str]
    table: str = ""
    rows: int | None = None
    case: str = ""


def _drafted(table: str, rows: int | None = None) -> Run:
    """A table of the data folder, or its first rows, as a project that was drafted and run untouched."""
    return Run({"init": "init TABLE --output project.toml", "run": "run project.toml --seed 1"}, table, rows)


REUSE = "--reuse release/private/recoding.json --seed 1"
TABLES = {
    "false_label": _drafted("false_label"),
    "comma": _drafted("comma"),
    "student_mat": _drafted("student_mat"),
    "versicherung": _drafted("versicherung"),
    "coffee": _drafted("coffee"),
    "shootings": _drafted("shootings"),
    "compas": _drafted("compas", 500),
    "masculinity": _drafted("masculinity", 100),
}
"""Real tables, as whole as their cost allows."""

SYNTHETIC = {
    "persons": Run({"init": "init visits.csv --output project.toml", "run": "run project.toml --seed 1"}),
    "sets": Run({"init": "init people.csv --output project.toml", "run": "run project.toml --seed 1"}),
    "reuse": Run(
        {
            "run": "run project.toml --seed 1",
            "more rows": f"run project.toml --source everybody.csv --output more {REUSE}",
            "fewer rows": f"run project.toml --source few.csv --output few {REUSE}",
            "unknown values": f"run project.toml --source unknown.csv --output unknown {REUSE}",
            "unknown values suppressed": f"run project.toml --source unknown.csv --output unknown {REUSE}"
            " --unknown suppress --set release.suppression=0.4",
        },
        case="method: optimal",
    ),
    "reuse of cells": Run(
        {
            "run": "run project.toml --seed 1",
            "more rows": f"run project.toml --source everybody.csv --output more {REUSE}",
        },
        case="method: local recoding",
    ),
}
SPARK = {
    "spark": Run({"run": "run project.toml --engine spark --seed 1"}, case="method: optimal"),
    "persons on spark": Run({"run": "run project.toml --engine spark --seed 1"}, case="persons"),
}
RUNS = {**TABLES, **SYNTHETIC, **SPARK}


def data_folder() -> Path:
    """Where the tables of the data folder are."""
    return ROOT / (os.environ.get("KEEPSENSE_DATA") or "../shared/data") / "people_tables"


def facts(run: Run, folder: Path, data: Path | None = None) -> dict[str, Any]:
    """Run the commands in an empty folder, and return what can be compared of each."""
    write_inputs(folder)
    lines = (folder / "people.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "few.csv").write_text("".join(lines[:31]), encoding="utf-8")
    unknown = [line.replace("dentist", "astronaut") for line in lines]
    (folder / "unknown.csv").write_text("".join(unknown), encoding="utf-8")
    if run.case:
        (folder / "project.toml").write_text(toml(CASES[run.case]), encoding="utf-8")
    places = {str(folder): "FOLDER"}
    if data is not None and run.table:
        table = data / f"{run.table}.csv"
        table = table if run.rows is None else _first_rows(table, run.rows, folder)
        places = {os.path.relpath(table, folder): "TABLE", str(table): "TABLE", **places}
    return {label: _facts_of(command, folder, places) for label, command in run.commands.items()}


def _facts_of(command: str, folder: Path, places: dict[str, str]) -> dict[str, Any]:
    arguments = [next(iter(places)) if word == "TABLE" else word for word in command.split()]
    answer = keepsense(*arguments, "--json", folder=folder)
    printed = json.loads(answer.out) if answer.out.strip() else {}
    codes = [finding["code"] for finding in printed.get("findings", [])] or re.findall(r"\b[EW]\d{3}\b", answer.err)
    result = {
        "command": command,
        "exit": answer.code,
        "findings": dict(sorted(Counter(codes).items())),
        "errors": _brief(_without_places(answer.err.strip(), places)),
    }
    if arguments[0] == "init":
        text = _without_places((folder / "project.toml").read_text(encoding="utf-8"), places)
        project = tomllib.loads(text)
        result["project"] = {key: _brief(value, key) for key, value in project.items()}
        result["project's text"] = _digest(text)
    description: dict[str, Any] = {}
    if arguments[0] == "run" and answer.code == 0:
        file = folder / printed["file"]
        description = json.loads((file.parent / "release.json").read_text(encoding="utf-8"))
        recoding = json.loads((file.parent / "private" / "recoding.json").read_text(encoding="utf-8"))
        result["bytes"] = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
        result["release.json"] = {key: _brief(value, key) for key, value in description.items() if key not in VARYING}
        result["recoding.json"] = _brief(recoding["rules"])
    # what the description does not say already
    result["json"] = {
        key: _brief(_without_places(value, places), key)
        for key, value in printed.items()
        if key not in VARYING and description.get(key) != value
    }
    return result


VARYING = ("keepsense", "sha256", "seconds")
"""Keys that change with the version or from run to run, or that another fact holds."""
READABLE = ("code", "method", "utility", "risk")
"""Keys whose values a review wants to read, as all numbers; of others a digest is kept."""


def _brief(value: Any, key: str = "") -> Any:
    """A value, if a review wants to read it, else its digest, so that no cell of a real table is copied."""
    if key in READABLE or value in ("", [], {}, None) or isinstance(value, bool | int | float):
        return steady(value)
    return _digest(json.dumps(steady(value), ensure_ascii=False))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _without_places(value: Any, places: dict[str, str]) -> Any:
    """Texts without the folders of this machine."""
    if isinstance(value, dict):
        return {key: _without_places(inner, places) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_places(inner, places) for inner in value]
    if isinstance(value, str):
        for place, name in places.items():
            value = value.replace(place, name)
    return value


def _first_rows(table: Path, rows: int, folder: Path) -> Path:
    """The header and the first rows of a table, in a file of that name; cells may hold line breaks."""
    with table.open(encoding="utf-8", newline="") as source:
        reader = csv.reader(source)
        for _ in range(rows + 1):
            next(reader)
    with table.open("rb") as source:
        (folder / table.name).write_bytes(b"".join(source.readline() for _ in range(reader.line_num)))
    return folder / table.name


def facts_file(name: str) -> Path:
    """Where the facts of a run are pinned."""
    return FACTS / f"{name.replace(' ', '-')}.json"


def write_facts(name: str, folder: Path) -> list[str]:
    """Pin a run again, and return which facts changed."""
    folder.mkdir()
    if name in SPARK:
        from tests.spark import session

        session()
    new = facts(RUNS[name], folder, data_folder())
    old = json.loads(facts_file(name).read_text(encoding="utf-8")) if facts_file(name).exists() else {}
    facts_file(name).write_text(commands.lines(new) + "\n", encoding="utf-8")
    return [f"{name}: {change}" for change in changes(old, json.loads(json.dumps(new)))]


def changes(old: Any, new: Any, place: str = "") -> list[str]:
    """Where two facts differ, down to the fact."""
    if isinstance(old, dict) and isinstance(new, dict) and old:
        keys = sorted({*old, *new})
        inner = f"{place}, " if place else ""
        return [line for key in keys for line in changes(old.get(key), new.get(key), inner + key)]
    return [] if old == new else [place or "new"]
