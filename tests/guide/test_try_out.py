"""Methods that are tried go the way of a release, and are ranked by what they lose."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.clocks import tick

from keepsense.guide.advice import Advice, recommend
from keepsense.guide.answers import Answers
from keepsense.guide.catalogue import entry
from keepsense.guide.try_out import Trial, try_out
from keepsense.progress import Event
from keepsense.project.project_file import Project, check_project


@pytest.fixture(autouse=True)
def the_clock_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long compiling takes, no method is stopped for it."""
    tick(monkeypatch, 0.0)


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
    assert in_order(found)
    assert all(trial.worst is not None and trial.worst <= 1 / 3 for trial in found)
    assert all(trial.linked is not None and trial.linked <= 1 / 3 for trial in found)


def test_nothing_is_released(project: Project, tmp_path: Path) -> None:
    try_out(project, advised("datafly"), folder=tmp_path, rng=1)
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_what_fails_is_told_and_comes_last(project: Project, tmp_path: Path) -> None:
    found = try_out(project, advised("infogain mondrian", "noisy histogram", "optimal"), folder=tmp_path, rng=1)
    assert [trial.ok for trial in found] == [True, False, False]
    problems = {trial.name: trial.problem for trial in found}
    assert "target" in problems["infogain mondrian"]
    assert "project files" in problems["noisy histogram"]


def test_swapped_values_are_measured_by_how_far_they_move(project: Project, tmp_path: Path) -> None:
    numbers = {**project.columns, "grade": project.columns["ill"]}
    promise = [{"model": "probabilistic k-anonymity", "k": 3}]
    swapped = project.model_copy(update={"privacy": promise, "columns": numbers})
    strict = Advice(entry("strict rank swapping"), "records", 1.0, ("asked for",), (), {"k": 3})
    found = try_out(swapped, [strict], folder=tmp_path, rng=1)[0]
    assert found.ok, found.problem
    assert found.loss is not None
    assert 0 < found.loss < 0.5
    assert found.worst == pytest.approx(1 / 3)
    assert found.linked is not None
    assert found.linked <= 1 / 3


def test_methods_of_different_kinds_are_measured_alike(project: Project, tmp_path: Path) -> None:
    """A table at its most general and one in which every value was drawn anew tell equally little."""
    tops = project.model_copy(update={"privacy": [{"model": "k-anonymity", "k": 60}]})
    hidden = try_out(tops, advised("samarati"), folder=tmp_path, rng=1)[0]
    mixed = [Advice(entry("strict rank swapping"), "records", 1.0, ("asked for",), (), {"k": 59})]
    loose = project.model_copy(update={"privacy": [{"model": "probabilistic k-anonymity", "k": 59}]})
    drawn = try_out(loose, mixed, folder=tmp_path, rng=1)[0]
    assert hidden.loss is not None
    assert drawn.loss is not None
    assert hidden.loss == pytest.approx(drawn.loss, abs=0.05)
    assert hidden.loss > 0.25


def test_time_is_bounded_and_progress_is_told(project: Project, tmp_path: Path) -> None:
    seen: list[Event] = []
    found = try_out(project, advised("mondrian"), folder=tmp_path, seconds=-1, rng=1, listener=seen.append)[0]
    assert not found.ok
    assert "stopped after" in found.problem
    assert [event.details["stage"] for event in seen if event.name == "stage"] == ["trying mondrian"]


def test_sets_take_part(tmp_path: Path) -> None:
    lines = [f"{20 + i % 5},{'milk;tea' if i % 2 else 'ham;bread' if i % 3 else 'milk'}" for i in range(60)]
    (tmp_path / "people.csv").write_text("age,basket\n" + "\n".join(lines) + "\n", encoding="utf-8")
    columns = {
        "age": {"role": "quasi-identifier", "kind": "numeric"},
        "basket": {"role": "quasi-identifier", "kind": "set"},
    }
    base = {"source": {"path": "people.csv"}, "privacy": [{"model": "k-anonymity", "k": 3}]}
    both = check_project({**base, "columns": columns})
    found = try_out(both, advised("optimal", "rank swapping"), folder=tmp_path, rng=1)
    assert {trial.name for trial in found if trial.loss is not None} >= {"optimal"}, [t.problem for t in found]
    alone = check_project({**base, "columns": {**columns, "age": {"role": "insensitive"}}})
    for trial in try_out(alone, advised("top-down sets", "microaggregation of sets"), folder=tmp_path, rng=1):
        assert trial.ok, trial.problem
        assert trial.loss is not None
        assert trial.worst is not None
        assert trial.worst <= 1 / 3


def in_order(found: list[Trial]) -> bool:
    key = [(round(t.loss or 0, 2), t.risk or 0) for t in found if t.ok]
    return key == sorted(key)


def test_recommended_methods_can_be_tried(project: Project, tmp_path: Path) -> None:
    advice = recommend(Answers(kinds=("numeric", "ordinal"), columns=2, k=3))
    assert any(trial.ok for trial in try_out(project, advice, folder=tmp_path, rng=1))


def test_a_failed_trial_ranks_after_all_others() -> None:
    assert Trial("x", ok=False).loss is None
