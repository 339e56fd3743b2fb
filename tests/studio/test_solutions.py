"""The space of solutions: nodes of the lattice that keep the promises, divisions of the table, other methods."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from keepsense.release.figures.alternatives import MOST_NODES
from keepsense.studio.session import division, solutions
from keepsense.studio.session.session import Session


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    jobs = ("nurse", "clerk", "pilot", "baker", "surgeon")
    rows = [f"{20 + i * i * 7 % 41},{jobs[i * i % 97 % 5]}" for i in range(240)]
    (tmp_path / "people.csv").write_text("\n".join(["age,job", *rows, ""]), encoding="utf-8")
    with Session.open(tmp_path / "people.csv") as opened:
        opened.set_suppression(0)
        yield opened


def test_the_lattice_shows_every_node_and_the_chosen_one_is_the_best_safe_one(session: Session) -> None:
    session.set_method("optimal")
    found = solutions.lattice(session)
    assert found is not None
    assert found.whole
    assert 0 < found.safe < found.size
    (chosen,) = [node for node in found.nodes if node.chosen]
    assert chosen.safe
    assert chosen.loss == pytest.approx(min(node.loss for node in found.nodes if node.safe))
    top = next(node for node in found.nodes if node.levels == found.tops)
    assert top.safe
    lost = solutions.attempt(session, top, found.columns)
    assert all(share == pytest.approx(1.0) for share in lost.values())


def test_another_node_is_chosen_released_and_taken_back(session: Session) -> None:
    session.set_method("datafly")
    found = solutions.lattice(session)
    assert found is not None
    other = min((node for node in found.nodes if node.safe and not node.chosen), key=lambda node: node.loss)
    solutions.choose(session, other, found.columns)
    assert solutions.own_levels(session)
    again = solutions.lattice(session)
    assert again is not None
    (chosen,) = [node.levels for node in again.nodes if node.chosen]
    assert chosen == other.levels
    shown, made = session.preview(), session.start().wait()
    assert made.outcome is not None, made.problem
    assert made.outcome.recodings[0].levels == other.levels  # type: ignore[union-attr]
    lost = {n: c["lost"] for n, c in made.outcome.description["columns"].items() if "lost" in c}
    assert shown.lost == pytest.approx(lost, abs=1e-3)
    session.undo()
    assert session.project.method.name == "datafly", "one click, one undo"
    session.redo()
    solutions.leave_to_search(session)
    assert not solutions.own_levels(session)


def test_levels_that_break_a_promise_are_refused_with_a_way_out(session: Session) -> None:
    session.set_method("optimal", {"levels": {"age": 0, "job": 0}})
    shown = session.preview()
    assert "the chosen levels leave" in shown.problem
    remedies = {remedy.text: remedy for advice in session.findings() for remedy in advice.remedies}
    session.settle(remedies["Let the search choose the levels"])
    assert session.preview().ok
    session.set_method("optimal", {"levels": {"age": 99, "job": 0}})
    assert "look at 'age', from 0 to" in session.preview().problem


def test_a_division_goes_from_the_whole_to_classes_that_hide_people(session: Session) -> None:
    session.set_method("mondrian")
    assert solutions.lattice(session) is None
    tree = division.division(session)
    assert tree is not None
    assert tree.records == 240
    waiting, classes = [tree], []
    while waiting:
        group = waiting.pop()
        if group.parts:
            assert sum(part.records for part in group.parts) == group.records
            assert group.column in ("age", "job")
            waiting += group.parts
        else:
            classes.append(group.records)
    assert min(classes) >= 5
    assert sum(classes) == 240
    few = division.pruned(tree, 5)
    assert few.parts
    assert not few.parts[0].parts


def test_a_group_is_cut_by_another_column_and_everything_follows(session: Session) -> None:
    session.set_method("mondrian")
    tree = division.division(session)
    assert tree is not None
    assert tree.part == "whole"
    group = tree.parts[1]
    assert group.part == "2"
    other = "job" if group.column == "age" else "age"
    offered = division.attempt(session, group.part, {"whole": tree.column}, other)
    assert offered.safe
    assert offered.now == session.preview().lost
    division.cut_here(session, group.part, {"whole": tree.column}, other)
    assert session.project.method.parameters == {"cuts": {"whole": tree.column, "2": other}}
    assert f'2 = "{other}"' in session.text.replace('"2"', "2")
    again = division.division(session)
    assert again is not None
    assert (again.column, again.parts[1].column) == (tree.column, other)
    shown, made = session.preview(), session.start().wait()
    assert shown.lost == pytest.approx(offered.lost), "what was offered is what is had"
    assert made.outcome is not None, made.problem
    lost = {n: c["lost"] for n, c in made.outcome.description["columns"].items() if "lost" in c}
    assert shown.lost == pytest.approx(lost, abs=1e-3)
    assert division.as_it_is(session, other).more == 0
    session.undo()
    assert not division.own_cuts(session), "one click, one undo"
    session.redo()
    division.cut_here(session, "whole", {}, other)
    assert division.own_cuts(session) == {"whole": other}, "what was inside goes with it"
    division.leave_to_method(session)
    assert "cuts" not in session.project.method.parameters


def test_what_a_group_cannot_be_cut_by_is_told_with_the_reason(session: Session) -> None:
    session.set_method("mondrian")
    tree = division.division(session)
    assert tree is not None
    above, leaf = {}, tree
    while leaf.parts:
        above[leaf.part] = leaf.column
        leaf = leaf.parts[0]
    refused = [division.attempt(session, leaf.part, above, column) for column in ("age", "job")]
    assert not any(cut.safe for cut in refused)
    assert all("fewer than 5 records" in cut.why or "tells its records apart" in cut.why for cut in refused)
    division.cut_here(session, leaf.part, above, "job")
    assert refused[1].why in session.preview().problem
    assert division.division(session) is None
    remedies = {remedy.text: remedy for advice in session.findings() for remedy in advice.remedies}
    session.settle(remedies["Let the method choose the cuts"])
    assert session.preview().ok


def test_given_cuts_are_shown_on_more_rows_where_few_are_not_enough(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.set_method("mondrian", {"cuts": {"whole": "age", "1": "age", "11": "age"}})
    monkeypatch.setattr(division, "MOST_TUPLES", 10)
    tree = division.division(session)
    assert tree is not None
    assert tree.parts[0].parts[0].column == "age"


def test_local_recoding_shows_its_classes(session: Session) -> None:
    session.set_method("local recoding")
    tree = division.division(session)
    assert tree is not None
    assert not tree.part, "nothing is cut, so there is no cut to choose"
    assert sum(part.records for part in tree.parts) == tree.records


def test_other_methods_and_weights_are_tried(session: Session) -> None:
    session.set_k(12)
    tried = solutions.others(session)
    assert {one.method for one in tried if not one.problem} >= {"mondrian", "datafly"}
    offers = solutions.weighed_twice(session)
    assert offers is not None
    assert [offer.column for offer in offers.offers] == ["age", "job"]


def test_columns_beside_sets_are_weighed_too(tmp_path: Path) -> None:
    with Session.sample(tmp_path, rows=300) as session:
        sets = [column.name for column in session.columns if column.kind == "set"]
        assert sets
        offers = solutions.weighed_twice(session)
        assert offers is not None
        names = [offer.column for offer in offers.offers]
        assert len(names) > 2
        assert not set(names) & set(sets)
        assert any(offer.twice < offer.lost for offer in offers.offers)


def test_of_a_lattice_too_large_to_judge_the_nodes_around_the_chosen_one_are_shown(tmp_path: Path) -> None:
    with Session.sample(tmp_path, rows=200) as session:
        session.set_method("datafly")
        found = solutions.lattice(session)
        assert found is not None
        assert found.size > MOST_NODES
        assert found.judged < found.size
        (chosen,) = [node for node in found.nodes if node.chosen]
        assert chosen.safe
        near = [sum(abs(a - b) for a, b in zip(n.levels, chosen.levels, strict=True)) for n in found.nodes]
        assert sorted(near) == near, "the nearest first"
        other = min((node for node in found.nodes if node.safe and not node.chosen), key=lambda node: node.loss)
        solutions.choose(session, other, found.columns)
        again = solutions.lattice(session)
        assert again is not None
        assert [node.levels for node in again.nodes if node.chosen] == [other.levels]
        assert session.preview().ok, "it is safe in the preview, too"
