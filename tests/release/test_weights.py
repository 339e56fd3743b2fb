"""A column's weight: what counts more is spared."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from keepsense.project.file import Project
from keepsense.release.measure import column_penalties
from keepsense.release.run import run

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
