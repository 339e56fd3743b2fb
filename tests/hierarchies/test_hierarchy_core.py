"""The hierarchy itself: codes, labels, padding, signature, findings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from tests.hierarchies.trees import hierarchies, trees

from keepsense.errors import BadHierarchy
from keepsense.hierarchies.hierarchy import Hierarchy, MissingValues, assemble, signature
from keepsense.hierarchies.hierarchy_checks import check, check_rows, require
from keepsense.hierarchies.hierarchy_tree import POLICIES, Tree, from_nodes, grow, to_hierarchy, tree_of

JOBS = [("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")]


def codes_of(findings: list) -> list[str]:
    return [finding.code for finding in findings]


def test_rows_come_back() -> None:
    jobs = Hierarchy.of_rows(JOBS)
    assert jobs.rows() == JOBS
    assert jobs.parents[0].tolist() == [0, 0, 1]
    assert jobs.parents[1].tolist() == [0, 0]
    assert [c.tolist() for c in jobs.leaf_counts] == [[1, 1, 1], [2, 1], [3]]


def test_missing_values_are_counted_and_listed_but_not_shown() -> None:
    jobs = Hierarchy.of_rows(JOBS, name="job")
    with pytest.raises(MissingValues, match=r"job: the hierarchy misses 2 value\(s\)") as caught:
        jobs.lookup(["nurse", "secret one", "secret two"])
    assert caught.value.values == ("secret one", "secret two")
    assert "secret" not in str(caught.value)


def test_unknown_label_gets_a_hint() -> None:
    with pytest.raises(BadHierarchy, match="Did you mean medic"):
        Hierarchy.of_rows(JOBS).code(1, "medik")


def test_level_out_of_range_is_refused() -> None:
    with pytest.raises(BadHierarchy, match="levels run from 0 to 2"):
        Hierarchy.of_rows(JOBS).cut(3)


def test_a_torn_level_is_refused_by_of_rows() -> None:
    with pytest.raises(BadHierarchy, match="'medic' at level 1 has several parents"):
        Hierarchy.of_rows([("nurse", "medic", "a"), ("surgeon", "medic", "b")])


def test_assemble_drops_unused_labels_and_keeps_concepts() -> None:
    made = assemble(
        "x",
        np.array([[0, 5], [1, 5]]),
        [["a", "b"], list("uvwxyz")],
        concepts=[np.array([7, 8], np.int32), np.arange(6, dtype=np.int32)],
    )
    assert made.labels == (("a", "b"), ("z",))
    assert made.concepts is not None
    assert [c.tolist() for c in made.concepts] == [[7, 8], [5]]


@settings(max_examples=40, deadline=None)
@given(hierarchies())
def test_signature_ignores_the_order_of_leaves(hierarchy: Hierarchy) -> None:
    assert signature(hierarchy) == signature(Hierarchy.of_rows(hierarchy.rows()[::-1]))


def test_signature_sees_another_parent() -> None:
    other = [("nurse", "medic", "*"), ("surgeon", "office", "*"), ("clerk", "office", "*")]
    assert signature(Hierarchy.of_rows(JOBS)) != signature(Hierarchy.of_rows(other))


# ---- trees and padding ----


@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=60, deadline=None)
@given(tree=trees())
def test_every_policy_gives_a_valid_hierarchy_and_the_tree_comes_back(policy: str, tree: Tree) -> None:
    made = to_hierarchy(tree, policy=policy)  # type: ignore[arg-type]
    assert not [f for f in check(made) if f.is_error]
    assert made.leaves == tree.labels[: tree.n_leaves]
    back = tree_of(made)
    edges = {(tree.labels[i], tree.labels[p]) for i, p in enumerate(tree.parent.tolist()) if p >= 0}
    assert {(back.labels[i], back.labels[p]) for i, p in enumerate(back.parent.tolist()) if p >= 0} == edges
    assert sorted(back.child_counts().tolist()) == sorted(tree.child_counts().tolist())


def test_policies_pad_a_shallow_leaf_as_documented() -> None:
    tree = grow([("a", "N", "P"), ("b", "C", "N", "P"), ("d", "P")])
    assert to_hierarchy(tree, policy="leaf").rows() == [
        ("a", "a", "N", "P"),
        ("b", "C", "N", "P"),
        ("d", "d", "d", "P"),
    ]
    assert to_hierarchy(tree, policy="parent").rows()[0] == ("a", "N", "N", "P")
    assert to_hierarchy(tree, policy="top").rows()[0] == ("a", "N", "P", "P")


def test_unknown_policy_is_refused() -> None:
    with pytest.raises(BadHierarchy, match="no padding policy 'middle'"):
        to_hierarchy(grow([("a", "b")]), policy="middle")  # type: ignore[arg-type]


def test_a_value_that_is_also_an_inner_node_stays_a_leaf() -> None:
    tree = tree_of(Hierarchy.of_rows([("doctor", "doctor", "*"), ("surgeon", "doctor", "*")]))
    assert tree.labels == ("doctor", "surgeon", "doctor", "*")
    assert tree.parent.tolist() == [2, 2, 3, -1]


def test_grow_refuses_two_parents() -> None:
    with pytest.raises(BadHierarchy, match="'medic' has several parents"):
        grow([("nurse", "medic", "a"), ("surgeon", "medic", "b")])


def test_a_cycle_of_parents_is_refused() -> None:
    with pytest.raises(BadHierarchy, match="cycle"):
        _ = Tree(("a", "b", "c"), np.array([1, 2, 1], np.int32), 1).depth


def test_from_nodes_refuses_repeated_leaves() -> None:
    with pytest.raises(BadHierarchy, match="E303"):
        from_nodes(["*", "a", "a"], [-1, 0, 0])


# ---- findings ----


def test_a_sound_hierarchy_has_no_findings() -> None:
    assert check(Hierarchy.of_rows(JOBS), ["nurse", "surgeon", "clerk"]) == []


def test_every_finding_is_found() -> None:
    assert codes_of(check_rows([])) == ["E301"]
    assert codes_of(check_rows([("a", "*"), ("b",), ("c", "*")])) == ["E302"]
    assert codes_of(check_rows([("a", "*"), ("a", "*")])) == ["E303"]
    assert codes_of(check_rows([("a", "x", "*"), ("b", "x", "+")])) == ["E304"]
    assert codes_of(check_rows([("a", " ", "*"), ("b", "x", "*")])) == ["E306"]
    jobs = Hierarchy.of_rows(JOBS)
    assert codes_of(check(jobs, ["nurse", "surgeon", "clerk", "pilot"])) == ["E305"]
    assert codes_of(check(jobs, ["nurse", "surgeon"])) == ["W302"]
    assert codes_of(check(Hierarchy.of_rows([("a", "x"), ("b", "y")]))) == ["W301"]
    assert codes_of(check(Hierarchy.of_rows([("a", "a", "*"), ("b", "b", "*")]))) == ["W303"]
    assert codes_of(check(Hierarchy.of_rows([("a", "x", "z", "*"), ("b", "y", "x", "*")]))) == ["W304"]
    twice = Hierarchy("t", (("a", "b"), ("x", "x"), ("*",)), np.array([[0, 0, 0], [1, 1, 0]], np.int32))
    assert codes_of(check(twice)) == ["E307", "W304"]
    torn = Hierarchy("t", (("a", "b"), ("x",), ("y", "z")), np.array([[0, 0, 0], [1, 0, 1]], np.int32))
    assert "E304" in codes_of(check(torn))


def test_ragged_rows_are_listed_by_number() -> None:
    rows = [("a", "*")] * 1 + [(f"v{i}", "x", "*") for i in range(5)]
    finding = check_rows(rows, name="job.csv")[0]
    assert str(finding) == "E302 job.csv: 1 of 6 rows do not have the 3 levels of most rows (row 1)"


def test_require_names_every_error_and_lets_warnings_pass() -> None:
    require(check(Hierarchy.of_rows([("a", "x"), ("b", "y")])))
    with pytest.raises(BadHierarchy, match=r"E303.*E306"):
        require(check_rows([("a", ""), ("a", "")]))
