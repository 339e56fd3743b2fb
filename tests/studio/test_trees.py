"""Hierarchies in the studio: candidates with their cost and reward, edits that can be undone, faults with their fix."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from keepsense.errors import KeepsenseError
from keepsense.hierarchies.hierarchy_scores import ASPECTS
from keepsense.studio.session import trees
from keepsense.studio.session.columns import rows_by_value
from keepsense.studio.session.session import Session

JOBS = ("nurse", "surgeon", "dentist", "clerk", "pilot", "baker", "teacher", "pianist")
OUT_OF_ORDER = """surgeon;medical practitioner;doctor;person
dentist;medical practitioner;doctor;person
nurse;health professional;doctor;person
clerk;worker;employee;person
baker;worker;employee;person
pilot;worker;employee;person
teacher;educator;professional;person
pianist;musician;performer;person
"""


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    rows = [f"{20 + i * i * 7 % 41},{JOBS[i * i % 97 % 8]}" for i in range(240)]
    (tmp_path / "people.csv").write_text("\n".join(["age,job", *rows, ""]), encoding="utf-8")
    with Session.open(tmp_path / "people.csv") as opened:
        yield opened


def _label(session: Session, level: int) -> object:
    """A label of a level, with its level's others."""
    return trees.current(session, "job").labels[level][0]


@pytest.mark.parametrize("column", ["job", "age"])
def test_candidates_have_a_cost_a_reward_and_a_loss_for_every_level(session: Session, column: str) -> None:
    offered = trees.candidates(session, column)
    assert len(offered.all) > 1
    assert offered.all[0].chosen
    ranked = offered.by_cost()
    costs = [candidate.cost for candidate in ranked if candidate.cost is not None]
    assert costs == sorted(costs)
    assert len(costs) > 1
    for candidate in offered.all:
        assert len(candidate.levels) == candidate.hierarchy.height
        assert candidate.sizes[-1] == 1


def test_the_weights_of_the_reward_decide_the_ranking(session: Session) -> None:
    offered = trees.candidates(session, "age")
    firsts = {offered.by_reward([float(name == aspect) for name in ASPECTS])[0].made for aspect in ASPECTS}
    assert len(firsts) > 1
    assert offered.rewards((0, 0, 0, 0)) == pytest.approx(offered.rewards(trees.EVEN))
    assert offered.rewards((2, 2, 2, 2)) == pytest.approx(offered.rewards(trees.EVEN))


def test_another_candidate_is_used_and_undone(session: Session) -> None:
    before = trees.current(session, "job").rows()
    other = next(candidate for candidate in trees.candidates(session, "job").all if not candidate.chosen)
    trees.use(session, "job", other.hierarchy, other.made)
    assert sorted(map(str, trees.current(session, "job").rows())) == sorted(map(str, other.hierarchy.rows()))
    session.undo()
    assert trees.current(session, "job").rows() == before


def test_the_tree_is_edited_saved_and_run_with(session: Session) -> None:
    tree = trees.current(session, "job")
    states = [tree.rows()]
    (label, *more) = tree.labels[1]
    steps: list[tuple[str, dict[str, object]]] = [
        ("rename", {"level": 1, "label": label, "to": "renamed"}),
        ("insert_level", {"above": 1, "groups": {"grouped": ["renamed"]}}),
        ("drop_level", {"level": 2}),
    ]
    for operation, arguments in steps:
        trees.change(session, "job", operation, **arguments)
        states.append(trees.current(session, "job").rows())
        assert states[-1] != states[-2]
    assert session.project.columns["job"].hierarchy.startswith("hierarchies/job-")
    for rows in reversed(states[:-1]):
        session.undo()
        assert trees.current(session, "job").rows() == rows
    for rows in states[1:]:
        session.redo()
        assert trees.current(session, "job").rows() == rows
    made = session.start().wait()
    assert made.state == "done", made.problem
    assert more


def test_labels_are_moved_and_merged(session: Session, tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text(OUT_OF_ORDER, encoding="utf-8")
    trees.use_file(session, "job", tmp_path / "jobs.csv")
    trees.change(session, "job", "move", level=1, label="musician", to="employee")
    assert ("pianist", "musician", "employee", "person") in trees.current(session, "job").rows()
    trees.change(session, "job", "merge", level=1, labels=["worker", "musician"], into="worker")
    assert ("pianist", "worker", "employee", "person") in trees.current(session, "job").rows()


def test_what_contradicts_itself_is_refused_and_nothing_changes(session: Session) -> None:
    text = session.text
    with pytest.raises(KeepsenseError):
        trees.change(session, "job", "drop_level", level=0)
    with pytest.raises(KeepsenseError):
        trees.change(session, "illness", "drop_level", level=1)
    assert session.text == text


def test_a_doctor_above_a_medical_practitioner_is_found_and_mended_by_a_click(session: Session, tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text(OUT_OF_ORDER, encoding="utf-8")
    trees.use_file(session, "job", tmp_path / "jobs.csv")
    told = trees.explained(session, "job")
    assert told is not None
    fault = next(problem for problem in told.problems if "medical practitioner" in problem.message)
    assert fault.message == "'doctor' stands above 'medical practitioner' and is a kind of it"
    assert fault.fixes
    trees.mend(session, "job", fault.fixes[0])
    again = trees.explained(session, "job")
    assert again is not None
    assert fault.message not in [problem.message for problem in again.problems]
    assert again.gsl.total <= told.gsl.total + 1e-9


def test_a_file_that_misses_values_is_refused_with_a_sentence(session: Session, tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text("nurse;medic;*\n", encoding="utf-8")
    with pytest.raises(KeepsenseError, match="misses 7 value"):
        trees.use_file(session, "job", tmp_path / "jobs.csv")


def test_every_column_with_a_scale_or_a_taxonomy_has_a_loss_for_every_level(session: Session) -> None:
    for column in ("job", "age"):
        losses = trees.losses(session, column)
        assert len(losses) == trees.current(session, column).height
        assert losses == tuple(sorted(losses)), "higher up more is lost"


def test_a_tree_that_nobody_named_is_told_by_what_becomes_of_a_value(tmp_path: Path) -> None:
    days = [f"19{40 + i * 7 % 60}-0{1 + i % 9}-1{i % 9}" for i in range(120)]
    frame = {"born": days, "job": [JOBS[i % 8] for i in range(120)]}
    with Session.of_frame(frame, tmp_path) as opened:
        made = [candidate.made for candidate in trees.candidates(opened, "born").all]
    assert not {"another", "yours"} & set(made)
    assert any("→" in how for how in made)


def test_empty_cells_are_counted_where_the_tree_has_them(tmp_path: Path) -> None:
    frame = {"race": ["a", "b", None] * 20, "age": [str(20 + i) for i in range(60)]}
    with Session.of_frame(frame, tmp_path) as opened:
        rows = rows_by_value(opened.inspected("race"))
        leaves = trees.current(opened, "race").leaves
    assert None in leaves
    assert sum(rows[None if leaf is None else str(leaf)] for leaf in leaves) == 60
