"""Made-up people, everybody around them and a hierarchy, written by a fixed rule; and project files from plain data."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

JOBS = ("nurse", "surgeon", "dentist", "clerk", "baker", "plumber")
THINGS = ("cat", "dog", "horse", "bread", "milk", "tea")
SIZES = ("small", "middle", "large")
ILLNESSES = ("influenza", "asthma", "gout", "measles")
HEADER = ("id", "age", "born", "job", "size", "town", "likes", "illness", "pay", "many")


def person(i: int) -> tuple[Any, ...]:
    """The person of a number: every column has a period of its own, so combinations are many and few are alike."""
    likes = sorted({THINGS[i % 6], THINGS[(i * i + 1) % 6], THINGS[(i // 3) % 6]})
    born = f"19{50 + i * 7 % 40}-{1 + i % 12:02}-{1 + i * 5 % 28:02}"
    job = JOBS[(i * i + i // 7) % 6]
    town = f"{10 + i % 3}{100 + i * 11 % 17}"
    return (i, 20 + i * 13 % 45, born, job, SIZES[i * 3 // 7 % 3], town, ";".join(likes), ILLNESSES[i % 4], i % 9, 5)


def write_inputs(folder: Path) -> None:
    """Eighty people, the same with holes, everybody, and a hierarchy of the jobs."""
    people = [person(i) for i in range(80)]
    _write(folder / "people.csv", HEADER, people)
    holes = [
        tuple("" if (i + j) % 9 == 0 and name in ("age", "job", "size") else cell for j, (name, cell) in pairs)
        for i, row in enumerate(people)
        for pairs in [list(enumerate(zip(HEADER, row, strict=True)))]
    ]
    _write(folder / "holes.csv", HEADER, holes)
    _write(folder / "everybody.csv", HEADER, [person(i % 80)[:1] + person(i % 80)[1:] for i in range(200)])
    visits = [(i // 2, *person(i // 2 if i % 3 else i // 4)[1:]) for i in range(120)]
    _write(folder / "visits.csv", HEADER, visits)
    medics = ("nurse", "surgeon", "dentist")
    lines = [f"{job};{'medic' if job in medics else 'worker'};*" for job in JOBS]
    (folder / "jobs.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    wide = [f"{job};{job[0]};*" for job in JOBS]
    (folder / "letters.csv").write_text("\n".join(wide) + "\n", encoding="utf-8")
    obo = ["format-version: 1.2", ""]
    for name, parents in (
        ("illness", ()),
        ("infection", ("illness",)),
        ("influenza", ("infection",)),
        ("measles", ("infection",)),
        ("asthma", ("illness",)),
        ("gout", ("illness",)),
    ):
        obo += ["[Term]", f"id: X:{name}", f"name: {name}", *(f"is_a: X:{parent}" for parent in parents), ""]
    (folder / "illnesses.obo").write_text("\n".join(obo), encoding="utf-8")


def _write(file: Path, header: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    with file.open("w", encoding="utf-8", newline="") as target:
        csv.writer(target, lineterminator="\n").writerows([header, *rows])


def toml(project: Mapping[str, Any]) -> str:
    """A project as a TOML file: sections of plain keys, deeper ones inline."""
    plain = [f"{key} = {_inline(value)}" for key, value in project.items() if not isinstance(value, dict | list)]
    lists = [f"{key} = {_inline(value)}" for key, value in project.items() if isinstance(value, list)]
    sections = [
        f"[{key}]\n" + "".join(f"{name} = {_inline(inner)}\n" for name, inner in value.items())
        for key, value in project.items()
        if isinstance(value, dict)
    ]
    return "\n".join([*plain, *lists, *sections])


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_inline(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_inline(inner) for inner in value) + "]"
    return json.dumps(value, ensure_ascii=False)
