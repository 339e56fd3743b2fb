"""Very many records: linkage is tried for some and judged by its bound; large matrices of chances are packed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from keepsense.errors import BadInput, Infeasible
from keepsense.project.project_file import Project
from keepsense.release.example import example_job
from keepsense.release.figures import measure
from keepsense.release.folder import description
from keepsense.release.folder.description import DESCRIPTION, transition_matrices
from keepsense.release.run import Outcome, run
from keepsense.risk.record_linkage import Linkage

PROMISED = {"privacy": [{"model": "linkage risk", "threshold": 0.1}]}


@pytest.mark.parametrize(("tried", "holds"), [(1000, True), (200, False), (10, False)])
def test_what_some_records_show_is_judged_by_its_bound(tried: int, holds: bool) -> None:
    job = example_job(**PROMISED)
    found = Linkage(0.09, 1.0, 10.0, tried=tried, records=1000)
    assert measure.linkage_kept(job, [], found) == (("linkage risk",) if holds else ())


def test_the_bound_is_seldom_exceeded() -> None:
    rng = np.random.default_rng(5)
    people = rng.random(5000) < 0.3
    found = [np.mean(rng.choice(people, 300, replace=False)) for _ in range(2000)]
    above = [Linkage(float(share), 1.0, 1.0, tried=300, records=5000).at_most < people.mean() for share in found]
    assert np.mean(above) <= 0.002


def _released(folder: Path, threshold: float = 0.9, **more: Any) -> Outcome:
    project = {
        "columns": {"age": {"role": "quasi-identifier", "kind": "numeric"}, "ill": {"role": "sensitive"}},
        "privacy": [{"model": "linkage risk", "threshold": threshold}],
        "method": {"name": "post-randomization", "parameters": {"keep": 0.2}},
        **more,
    }
    table = {"age": [20 + i % 60 for i in range(600)], "ill": ["flu", "cold", "asthma"] * 200}
    return run(Project.model_validate(project), data=table, folder=folder, into=folder / "out", rng=3)


def test_a_release_says_how_far_the_risk_may_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = _released(tmp_path).description["risk"]["after"]
    assert "linked by meaning, at most" not in whole
    monkeypatch.setattr(measure, "FEWEST_TRIED", 30)
    monkeypatch.setattr(measure.linkage, "__kwdefaults__", {"most": 1})
    some = _released(tmp_path).description["risk"]["after"]
    assert some["linked by meaning"] < some["linked by meaning, at most"] < 0.9
    with pytest.raises(Infeasible, match=r"\(30 were tried; it may be \d+\.\d% of all\)"):
        _released(tmp_path, threshold=some["linked by meaning, at most"] - 0.01)


def test_packed_chances_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    values, chances = transition_matrices(_released(tmp_path / "a").file.parent)["age"]
    monkeypatch.setattr(description, "_MANY_CHANCES", 1)
    monkeypatch.setattr("keepsense.release.folder.packed_arrays.LONG", 1)
    place = _released(tmp_path / "b").file.parent
    again, packed = transition_matrices(place)["age"]
    assert '"packed"' in (place / DESCRIPTION).read_text()
    assert again == values
    assert values[-1] == "other"
    np.testing.assert_allclose(packed, chances, atol=1e-9)
    np.testing.assert_allclose(packed.sum(axis=1), 1.0, atol=1e-6)
    text = (place / DESCRIPTION).read_text()
    (place / DESCRIPTION).write_text(text.replace('"packed": "', '"packed": "!'))
    with pytest.raises(BadInput, match="damaged"):
        transition_matrices(place)
