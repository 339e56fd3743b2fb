"""Random projects of every method that makes classes: refused with a sentence, or releases that a slow judge passes."""

from __future__ import annotations

import csv
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.release.judged import EVIDENCE, ILLNESSES, NEAR, Drawn, complaints, draw, write_inputs

from keepsense.errors import BadInput, Infeasible
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.method import METHODS, methods
from keepsense.privacy.earth_movers_distance import Semantic
from keepsense.privacy.t_closeness import TCloseness
from keepsense.project.column_meaning import Given
from keepsense.project.project_file import Project
from keepsense.release.run import run

METHODS_OF_CLASSES = [found.name for found in methods(in_projects=True) if found.gives("k-anonymity")]


def released(drawn: Drawn, folder: Path) -> str:
    """Make the release; gives why it was refused, or nothing."""
    write_inputs(folder, drawn)
    grounds = {
        "hierarchical": lambda: Hierarchy.of_rows(EVIDENCE["illness"]["rows"], name="illness"),
        "semantic": lambda: Semantic(ILLNESSES, np.array(NEAR)),
    }
    models = []
    for place, promise in enumerate(drawn.project["privacy"]):
        if promise.get("ground") in grounds:
            models.append(TCloseness(promise["t"], promise["column"], grounds[promise["ground"]]()))
            drawn.project["privacy"][place] = models[-1].promise()
    try:
        run(Project.model_validate(drawn.project), folder=folder, given=Given(models=models), rng=1)
    except (BadInput, Infeasible) as refused:
        return str(refused)
    return ""


def judged(method: str, seed: object, folder: Path) -> str:
    found = METHODS[method]
    rng = random.Random(f"{method} {seed}")
    drawn = draw(rng, method, whole_values=found.whole_values, only_sets=found.sets == "only")
    folder.mkdir()
    refused = released(drawn, folder)
    if refused:
        assert len(refused.split()) > 4, refused
        assert not any(file.is_file() for file in (folder / "release").rglob("*")), "something is left of a refused run"
        return "refused"
    wrong = complaints(drawn, folder, truthful=found.truthful, to_the_top=found.to_the_top)
    assert not wrong, (method, seed, drawn.project, len(wrong), wrong[:5])
    return "released"


@pytest.mark.parametrize("method", METHODS_OF_CLASSES)
def test_the_judge_passes_what_is_released(tmp_path: Path, method: str) -> None:
    outcomes = [judged(method, seed, tmp_path / str(seed)) for seed in range(100, 102)]
    assert "released" in outcomes, "other numbers should be drawn"


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS_OF_CLASSES)
def test_the_judge_passes_many_releases(tmp_path: Path, method: str) -> None:
    outcomes = Counter(judged(method, seed, tmp_path / str(seed)) for seed in range(20))
    assert outcomes["released"] > 5, "hardly anything is released"


# ---- the judge itself ------------------------------------------------------------------------------------------------


def a_release(folder: Path) -> tuple[Drawn, Path]:
    """Ages and jobs of 40 people under k-anonymity, 2-diversity and presence, as CSV."""
    drawn = draw(random.Random(3), "optimal", whole_values=True, only_sets=False)
    columns = {name: {"role": "identifier"} for name in drawn.project["columns"]}
    columns |= {name: drawn.project["columns"][name] for name in ("row", "illness", "pay")}
    columns |= {"age": {"role": "quasi-identifier", "kind": "numeric"}}
    columns |= {"job": {"role": "quasi-identifier", "hierarchy": "jobs.csv"}}
    drawn.project |= {
        "columns": columns,
        "privacy": [
            {"model": "k-anonymity", "k": 3},
            {"model": "l-diversity", "l": 2, "column": "illness"},
            {"model": "delta-presence", "lower": 0.0, "upper": 0.8},
        ],
        "method": {"name": "optimal"},
        "source": {"path": f"people.{drawn.source}"},
        "population": {"path": f"everybody.{drawn.source}"},
        "release": {"file": "released.csv", "suppression": 0.2, "suppressed": "drop"},
    }
    drawn.population = drawn.rows * 2
    folder.mkdir()
    assert not released(drawn, folder)
    return drawn, folder / "release" / "released.csv"


def _alone(rows, header):
    """All but one record of a class are gone."""
    at = [header.index(name) for name in ("age", "job")]
    cells = [rows[0][i] for i in at]
    return [row for n, row in enumerate(rows) if n == 0 or [row[i] for i in at] != cells]


def _set(name, change):
    def faulty(rows, header):
        at = header.index(name)
        return [[change(row[at]) if i == at else cell for i, cell in enumerate(row)] for row in rows]

    return faulty


FAULTS = {
    "a record alone": (_alone, "'k-anonymity', 'k': 3} does not hold"),
    "one illness everywhere": (_set("illness", lambda _: "flu"), "'l-diversity'"),
    "an illness changed": (_set("illness", lambda cell: "cold" if cell == "flu" else cell), "was 'flu'"),
    "a false range": (_set("age", lambda _: "90 to 99"), "is not true of"),
    "a false job": (_set("job", lambda _: "priest"), "is not true of"),
    "a row twice": (lambda rows, header: [*rows, rows[0]], "rows came twice"),
    "rows lost": (lambda rows, header: rows[: len(rows) // 2], "records are lost"),
    "an identifier": (_set("pay", lambda _: "secret00003x"), "an identifier is left"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_judge_sees_planted_faults(tmp_path: Path, fault: str) -> None:
    drawn, file = a_release(tmp_path / "project")
    assert complaints(drawn, tmp_path / "project", truthful=True) == []
    plant, complaint = FAULTS[fault]
    with file.open(encoding="utf-8", newline="") as table:
        header, *rows = csv.reader(table)
    with file.open("w", encoding="utf-8", newline="") as table:
        csv.writer(table).writerows([header, *plant(rows, header)])
    wrong = complaints(drawn, tmp_path / "project", truthful=True)
    assert any(complaint in words for words in wrong), wrong[:5]


def test_the_judge_sees_that_too_many_of_the_population_are_in_the_table(tmp_path: Path) -> None:
    drawn, _ = a_release(tmp_path / "project")
    drawn.population = list(drawn.rows)
    wrong = complaints(drawn, tmp_path / "project", truthful=True)
    assert any("delta-presence" in words for words in wrong)
