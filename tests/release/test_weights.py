"""A column's weight: what counts more is spared."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from keepsense.project.project_file import Project
from keepsense.release.figures.measure import column_penalties
from keepsense.release.run import Outcome, run

WEIGHING = ("mondrian", "semantic mondrian")
"""Methods that decide by weights."""


def _lost(method: str, weight: float, folder: Path) -> dict[str, float]:
    rng = np.random.default_rng(7)
    jobs = ("nurse", "midwife", "surgeon", "dentist", "pilot", "clerk", "baker", "farmer", "pianist")
    table = {"job": rng.choice(jobs, 300).tolist(), "age": [str(age) for age in rng.integers(20, 80, 300)]}
    job = {"role": "quasi-identifier", "taxonomy": "wordnet", "domain": "person", "weight": weight}
    project = Project.model_validate(
        {
            "columns": {"job": job, "age": {"role": "quasi-identifier", "kind": "numeric"}},
            "privacy": [{"model": "k-anonymity", "k": 25}],
            "method": {"name": method},
            "release": {"file": "people.csv"},
        }
    )
    done = run(project, data=table, folder=folder, rng=1)
    return column_penalties(done.job, done.recodings)


@pytest.mark.parametrize("method", WEIGHING)
def test_what_weighs_more_loses_less(method: str, tmp_path: Path) -> None:
    lost = {}
    for weight in (0.1, 1.0, 10.0):
        (tmp_path / str(weight)).mkdir()
        lost[weight] = _lost(method, weight, tmp_path / str(weight))
    assert lost[10.0]["job"] <= lost[1.0]["job"] <= lost[0.1]["job"]
    assert lost[10.0]["job"] < lost[0.1]["job"]


@pytest.mark.parametrize("method", ["optimal", "microaggregation of records"])
def test_weights_of_a_project_reach_every_way_of_calling(method: str, tmp_path: Path) -> None:
    """Methods by hierarchies and by columns: age loses less where it is the heavy one."""
    rng = np.random.default_rng(4)
    table = {name: rng.integers(20, 80, 200).tolist() for name in ("age", "stay")}
    moved = {}
    for heavy in table:
        columns = {
            name: {"role": "quasi-identifier", "kind": "numeric", "weight": 10.0 if name == heavy else 1.0}
            for name in table
        }
        (tmp_path / heavy).mkdir()
        project = Project.model_validate(
            {
                "columns": columns,
                "privacy": [{"model": "k-anonymity", "k": 5}],
                "method": {"name": method},
                "release": {"file": "people.csv"},
            }
        )
        done = run(project, data=table, folder=tmp_path / heavy, rng=1)
        moved[heavy] = done.description["columns"]["age"]["lost"] if method == "optimal" else _away(done, table)
    assert moved["age"] < moved["stay"]


def _away(done: Outcome, table: dict[str, list[int]]) -> float:
    """How far the ages of a release are from those they stand for, on average."""
    (rule,) = done.recodings
    cells = rule.cells(done.counts)
    j = cells.names.index("age")
    before = np.array([float(value) for value in done.counts.values_of("age")])[done.counts.column("age")[cells.source]]
    after = np.array([float(value) for value in cells.values[j]])[cells.codes[:, j]]
    return float(cells.multiplicity @ np.abs(before - after)) / len(table["age"])
