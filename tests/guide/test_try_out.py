"""Methods that are tried go the way of a release, and are ranked by what they lose."""

from __future__ import annotations

from pathlib import Path

import pytest

from keepsense.guide.advise import Advice, recommend
from keepsense.guide.answers import Answers
from keepsense.guide.catalogue import entry
from keepsense.guide.try_out import Trial, try_out
from keepsense.publish.project import Project, check_project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    lines = [f"{20 + i % 9},{'abcd'[i % 4]},{i % 2}" for i in range(60)]
    (tmp_path / "people.csv").write_text("age,grade,ill\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return check_project(
        {
            "source": {"path": "people.csv"},
            "columns": {
                "age": {"role": "quasi-identifier", "kind": "numeric"},
                "grade": {"role": "quasi-identifier", "kind": "ordinal", "order": ["a", "b", "c", "d"]},
                "ill": {"role": "insensitive"},
            },
            "privacy": [{"model": "k-anonymity", "k": 3}],
        }
    )


def advised(*names: str) -> list[Advice]:
    return [Advice(entry(name), "records", 1.0, ("asked for",)) for name in names]


def test_the_best_comes_first(project: Project, tmp_path: Path) -> None:
    found = try_out(project, advised("datafly", "optimal", "mondrian", "local recoding"), folder=tmp_path, rng=1)
    assert all(trial.ok for trial in found), [t.problem for t in found]
    losses = [trial.loss for trial in found]
    assert None not in losses
    assert losses == sorted(losses)  # type: ignore[type-var]
    by_name = {trial.name: trial for trial in found}
    assert by_name["optimal"].loss <= by_name["datafly"].loss  # type: ignore[operator]
    assert all(trial.risk is not None and trial.risk <= 1 / 3 for trial in found)


def test_nothing_is_released(project: Project, tmp_path: Path) -> None:
    try_out(project, advised("datafly"), folder=tmp_path, rng=1)
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_what_fails_is_told_and_comes_last(project: Project, tmp_path: Path) -> None:
    found = try_out(project, advised("infogain mondrian", "cell greedy", "optimal"), folder=tmp_path, rng=1)
    assert [trial.ok for trial in found] == [True, False, False]
    problems = {trial.name: trial.problem for trial in found}
    assert "target" in problems["infogain mondrian"]
    assert "project files" in problems["cell greedy"]


def test_swapped_values_are_measured_by_how_far_they_move(project: Project, tmp_path: Path) -> None:
    numbers = {**project.columns, "grade": project.columns["ill"]}
    promise = [{"model": "probabilistic k-anonymity", "k": 3}]
    swapped = project.model_copy(update={"privacy": promise, "columns": numbers})
    strict = Advice(entry("strict rank swapping"), "records", 1.0, ("asked for",), (), {"k": 3})
    found = try_out(swapped, [strict], folder=tmp_path, rng=1)[0]
    assert found.ok, found.problem
    assert found.loss is not None
    assert 0 < found.loss < 0.5
    assert found.risk == pytest.approx(1 / 3)


def test_recommended_methods_can_be_tried(project: Project, tmp_path: Path) -> None:
    advice = recommend(Answers(kinds=("numbers", "ordered"), columns=2, k=3))
    assert any(trial.ok for trial in try_out(project, advice, folder=tmp_path, seconds=5, rng=1))


def test_a_failed_trial_ranks_after_all_others() -> None:
    assert Trial("x", ok=False).loss is None
