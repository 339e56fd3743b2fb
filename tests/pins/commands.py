"""Commands whose help and whose JSON are pinned, on inputs written by a fixed rule."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from tests.pins.cases import METHODS
from tests.pins.made_up import toml, write_inputs
from tests.pins.releases import steady
from tests.pins.terminal import keepsense

HELP = Path(__file__).parent / "help"
TYPER = HELP / "typer-version.txt"
JSON = Path(__file__).parent / "json"

WITH_HELP: tuple[tuple[str, ...], ...] = (
    (),
    ("demo",),
    ("sample",),
    ("inspect",),
    ("init",),
    ("run",),
    ("verify",),
    ("report",),
    ("assess",),
    ("compare",),
    ("map",),
    ("distance",),
    ("guide",),
    ("explain",),
    ("studio",),
    ("taxonomy",),
    ("taxonomy", "list"),
    ("taxonomy", "show"),
    ("taxonomy", "search"),
    ("taxonomy", "import"),
    ("hierarchy",),
    ("hierarchy", "build"),
    ("hierarchy", "score"),
    ("hierarchy", "explain"),
    ("hierarchy", "choose"),
    ("hierarchy", "edit"),
    ("hierarchy", "convert"),
    ("hierarchy", "improve"),
    ("schema",),
    ("version",),
)

COMMANDS: dict[str, str] = {
    "version": "version",
    "schema": "schema",
    "sample": "sample sampled.csv --rows 50 --seed 1",
    "inspect": "inspect people.csv",
    "inspect-values": "inspect people.csv --values 2 --taxonomy illnesses.obo",
    "init": "init people.csv --output drafted.toml --k 4",
    "run": "run datafly.toml --seed 1",
    "run-optimal": "run optimal.toml --seed 1",
    "verify": "verify datafly/people.csv --project datafly.toml",
    "verify-alone": "verify datafly/people.csv --project datafly.toml --alone",
    "verify-broken": "verify people.csv --project datafly.toml --alone",
    "report": "report datafly.toml",
    "assess": "assess people.csv datafly/people.csv --project datafly.toml",
    "assess-columns": "assess people.csv datafly/people.csv --quasi age,job,size --sensitive illness",
    "compare": "compare datafly.toml optimal.toml --seed 1",
    "map": "map people.csv job --domain person",
    "map-sets": "map people.csv likes --separator ;",
    "distance": "distance nurse surgeon",
    "distance-one": "distance influenza gout --distance wu-palmer --taxonomy illnesses.obo",
    "guide": "guide --kind nominal --kind numeric --rows 10000 --columns 4",
    "guide-numbers": "guide --kind numeric --purpose regression",
    "guide-sets": "guide --kind set --limit 5",
    "guide-private": "guide --kind nominal --promise differential_privacy --not-truthful",
    "guide-project": "guide --project datafly.toml",
    "guide-list": "guide --list",
    "guide-method": "guide datafly",
    "explain-list": "explain",
    "explain-datafly": "explain datafly",
    "explain-mondrian": "explain mondrian --on few.csv --column age --column size -k 4",
    "explain-project": "explain incognito --project few.toml",
    "taxonomy-import": "taxonomy import illnesses.obo --name illnesses",
    "taxonomy-list": "taxonomy list",
    "taxonomy-show": "taxonomy show nurse",
    "taxonomy-show-all": "taxonomy show --taxonomy illnesses",
    "taxonomy-search": "taxonomy search infection --taxonomy illnesses",
    "hierarchy-build": "hierarchy build people.csv job --output built.csv --domain person --seed 1",
    "hierarchy-build-numeric": "hierarchy build people.csv age --output ages.csv --seed 1",
    "hierarchy-build-ordinal": "hierarchy build few.csv size --output s.csv --kind ordinal --order small,middle,large",
    "hierarchy-build-date": "hierarchy build people.csv born --output born.csv",
    "hierarchy-build-code": "hierarchy build people.csv town --output town.csv --kind code",
    "hierarchy-score": "hierarchy score jobs.csv letters.csv",
    "hierarchy-explain": "hierarchy explain letters.csv",
    "hierarchy-choose": "hierarchy choose jobs.csv letters.csv",
    "hierarchy-edit": "hierarchy edit jobs.csv rename level=1 label=medic to=healer --output renamed.csv",
    "hierarchy-convert": "hierarchy convert jobs.csv jobs.json",
    "hierarchy-improve": "hierarchy improve letters.csv --output improved.csv --at-most 3",
    "demo": "demo --rows 200 --seed 1 --keep demo",
    "error-no-file": "inspect nowhere.csv",
    "error-method": "guide datafli",
    "error-project": "run broken.toml",
    "error-infeasible": "run impossible.toml --seed 1",
}
"""Commands by the name of their pin; they run in this order in one folder: later ones find what earlier made."""


def write_projects(folder: Path) -> None:
    """Inputs and projects that the commands name."""
    write_inputs(folder)
    for name in ("datafly", "optimal"):
        case = METHODS[name]
        text = toml({**case, "release": {**case["release"], "folder": name}})
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    few = (folder / "people.csv").read_text(encoding="utf-8").splitlines()[:13]
    (folder / "few.csv").write_text("\n".join(few) + "\n", encoding="utf-8")
    (folder / "few.toml").write_text(toml({**METHODS["incognito"], "source": {"path": "few.csv"}}), encoding="utf-8")
    (folder / "broken.toml").write_text(toml({**METHODS["datafly"], "methd": {"name": "datafly"}}), encoding="utf-8")
    promise = [{"model": "k-anonymity", "k": 81}]
    impossible = {**METHODS["datafly"], "privacy": promise, "release": {"folder": "impossible"}}
    (folder / "impossible.toml").write_text(toml(impossible), encoding="utf-8")


def help_of(command: tuple[str, ...], folder: Path) -> str:
    """Help of a command."""
    answer = keepsense(*command, "--help", folder=folder)
    assert answer.code == 0, answer.err
    return answer.out


def help_file(command: tuple[str, ...]) -> Path:
    """Where the help of a command is pinned."""
    return HELP / f"{' '.join(('keepsense', *command)).replace(' ', '-')}.txt"


def json_of(name: str, folder: Path) -> str:
    """JSON of a command, with its exit code and without what differs from time to time and place to place."""
    arguments = [word.replace("_", " ") for word in COMMANDS[name].split()]
    answer = keepsense(*arguments, "--json", folder=folder)
    data = {
        "command": COMMANDS[name],
        "exit": answer.code,
        "json": _normal(steady(json.loads(answer.out)), folder) if answer.out.strip() else None,
        "errors": answer.err.split("\n")[:-1],
        **{
            file: (folder / file).read_text(encoding="utf-8").splitlines()
            for file in _written(arguments)
            if (folder / file).is_file()
        },
    }
    return lines(data) + "\n"


def _written(arguments: list[str]) -> list[str]:
    return [arguments[arguments.index("--output") + 1]] if "--output" in arguments else []


_CHANGING = {"seconds": "SECONDS", "version": "VERSION", "keepsense": "VERSION", "date": "DATE", "when": "DATE"}


def _normal(value: Any, folder: Path) -> Any:
    if isinstance(value, dict):
        return {key: _CHANGING.get(key) or _normal(inner, folder) for key, inner in value.items()}
    if isinstance(value, list):
        return [_normal(inner, folder) for inner in value]
    if isinstance(value, str):
        text = value.split("\n\n>>>")[0].replace(str(folder), "FOLDER")
        text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[^ ]*", "DATE", text)
        # a long text is told by its beginning; what it says is the business of its own place
        return text if len(text) <= 120 else f"{text[:60]}... ({hashlib.sha256(text.encode()).hexdigest()[:8]})"
    return value


def lines(value: Any, indent: str = "") -> str:
    """JSON for review: what fits into a line stands in one."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + len(indent) <= 118 or not isinstance(value, dict | list) or not value:
        return flat
    inner = indent + " "
    if isinstance(value, dict):
        parts = [f"{inner}{json.dumps(key, ensure_ascii=False)}: {lines(part, inner)}" for key, part in value.items()]
    else:
        parts = [inner + lines(part, inner) for part in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n" + ",\n".join(parts) + f"\n{indent}{closing}"
