"""Edits keep a hierarchy valid, refuse contradictions and can be undone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.hierarchies.trees import hierarchies

from keepsense.errors import BadHierarchy
from keepsense.hierarchies.hierarchy import Hierarchy, signature
from keepsense.hierarchies.hierarchy_checks import check
from keepsense.hierarchies.hierarchy_editor import (
    OPERATIONS,
    Editor,
    add_leaf,
    drop_level,
    edit,
    insert_level,
    merge,
    move,
    remove_leaf,
    rename,
    split,
)

ROWS = [
    ("nurse", "medic", "person", "*"),
    ("surgeon", "medic", "person", "*"),
    ("clerk", "office", "person", "*"),
    ("robot", "machine", "thing", "*"),
]
JOBS = Hierarchy.of_rows(ROWS, name="job")


def test_move_takes_everything_below_along_and_empties_disappear() -> None:
    moved = move(JOBS, 1, "machine", "person")
    assert moved.rows()[3] == ("robot", "machine", "person", "*")
    assert moved.labels[2] == ("person",)
    assert move(JOBS, 0, "robot", "medic").labels[1] == ("medic", "office")


def test_merge_and_split_are_each_others_inverse() -> None:
    merged = merge(JOBS, 1, ["medic", "office"], "worker")
    assert merged.labels[1] == ("worker", "machine")
    again = split(merged, 1, "worker", {"medic": ["nurse", "surgeon"], "office": ["clerk"]})
    assert signature(again) == signature(JOBS)


def test_insert_and_drop_are_each_others_inverse() -> None:
    higher = insert_level(JOBS, 0, {"hospital staff": ["nurse", "surgeon"]})
    assert higher.rows()[2] == ("clerk", "clerk", "office", "person", "*")
    assert signature(drop_level(higher, 1)) == signature(JOBS)
    assert insert_level(JOBS, 3, {"everything": ["*"]}).labels[4] == ("everything",)


def test_rename_keeps_the_rest() -> None:
    assert rename(JOBS, 2, "thing", "artefact").rows()[3] == ("robot", "machine", "artefact", "*")


def test_leaves_are_added_and_removed() -> None:
    assert add_leaf(JOBS, "porter", "medic").rows()[4] == ("porter", "medic", "person", "*")
    assert remove_leaf(JOBS, "robot").labels == (
        ("nurse", "surgeon", "clerk"),
        ("medic", "office"),
        ("person",),
        ("*",),
    )


def test_concepts_follow_the_edits() -> None:
    concepts = (np.arange(4, dtype=np.int32), *(np.array(c, np.int32) for c in ([10, 11, 12], [20, 21], [30])))
    jobs = Hierarchy(JOBS.name, JOBS.labels, JOBS.codes, JOBS.kind, concepts)
    assert rename(jobs, 1, "office", "bureau", concept=99).concept_codes(1).tolist() == [10, 99, 12]
    assert rename(jobs, 1, "office", "bureau").concept_codes(1).tolist() == [10, -1, 12]
    assert merge(jobs, 1, ["medic", "office"], "office").concept_codes(1).tolist() == [11, 12]
    assert merge(jobs, 1, ["medic", "office"], "worker", concept=7).concept_codes(1).tolist() == [7, 12]
    parts = split(jobs, 1, "medic", {"medic": ["nurse"], "cutter": ["surgeon"]}, concepts={"cutter": 5})
    assert parts.concept_codes(1).tolist() == [10, 5, 11, 12]
    assert drop_level(jobs, 2).concept_codes(2).tolist() == [30]
    assert insert_level(jobs, 0, {"staff": ["nurse", "surgeon"]}, concepts={"staff": 6}).concept_codes(1).tolist() == [
        6,
        2,
        3,
    ]
    assert move(jobs, 0, "robot", "office").concept_codes(1).tolist() == [10, 11]
    assert add_leaf(jobs, "porter", "medic", concept=8).concept_codes(0).tolist() == [0, 1, 2, 3, 8]


@pytest.mark.parametrize(
    ("operation", "arguments", "message"),
    [
        ("move", {"level": 3, "label": "*", "to": "x"}, "no parent to move to"),
        ("move", {"level": 0, "label": "nurse", "to": "medic"}, "is under 'medic' already"),
        ("move", {"level": 0, "label": "nurse", "to": "nowhere"}, "level 1 has no label 'nowhere'"),
        ("move", {"level": 9, "label": "nurse", "to": "medic"}, "level 9 does not exist"),
        ("merge", {"level": 1, "labels": ["medic", "machine"], "into": "x"}, "different parents"),
        ("merge", {"level": 1, "labels": ["medic", "medic"], "into": "x"}, "two different labels"),
        ("merge", {"level": 1, "labels": ["medic", "office"], "into": "machine"}, "'machine' already"),
        ("merge", {"level": 0, "labels": ["nurse", "clerk"], "into": "x"}, "cannot be merged"),
        ("split", {"level": 1, "label": "medic", "groups": {"a": ["nurse"]}}, "1 are in none"),
        (
            "split",
            {"level": 1, "label": "medic", "groups": {"a": ["nurse"], "b": ["nurse", "surgeon"]}},
            "1 in several",
        ),
        ("split", {"level": 1, "label": "medic", "groups": {"a": ["nurse", "clerk"], "b": ["surgeon"]}}, "1 are not"),
        ("split", {"level": 1, "label": "medic", "groups": {"office": ["nurse"], "b": ["surgeon"]}}, "already"),
        ("rename", {"level": 1, "label": "medic", "to": "office"}, "merge the two"),
        ("rename", {"level": 0, "label": "nurse", "to": "x"}, "cannot be renamed"),
        ("rename", {"level": 1, "label": "medic", "to": " "}, "E306"),
        ("insert_level", {"above": 1, "groups": {"g": ["medic", "machine"]}}, "different parents"),
        ("insert_level", {"above": 1, "groups": {"g": ["medic"], "h": ["medic"]}}, "at most once"),
        ("insert_level", {"above": 1, "groups": {"machine": ["medic"]}}, "E307"),
        ("drop_level", {"level": 0}, "cannot be dropped"),
        ("drop_level", {"level": 3}, "would have 2 roots"),
        ("add_leaf", {"value": "nurse", "under": "medic"}, "leaf already"),
        ("remove_leaf", {"value": "none"}, "no label that value"),
        ("explode", {}, "no editing operation"),
        ("rename", {"colour": 1}, "rename: "),
    ],
)
def test_contradictory_edits_are_refused_and_change_nothing(operation: str, arguments: dict, message: str) -> None:
    editor = Editor(JOBS)
    with pytest.raises(BadHierarchy, match=message):
        editor.do(operation, **arguments)
    assert editor.hierarchy is JOBS
    assert not editor.can_undo


def test_a_step_keeps_what_was_before() -> None:
    step = edit(JOBS, "drop_level", level=1)
    assert step.before is JOBS
    assert step.after.height == 2


def test_undo_redo_and_a_new_branch() -> None:
    editor = Editor(JOBS)
    first = editor.do("rename", level=1, label="medic", to="health")
    second = editor.do("drop_level", level=2)
    assert editor.undo() is first
    assert editor.undo() is JOBS
    assert editor.redo() is first
    assert editor.redo() is second
    editor.undo()
    third = editor.do("drop_level", level=1)
    assert not editor.can_redo
    assert [step.operation for step in editor.steps] == ["rename", "drop_level"]
    assert editor.hierarchy is third
    with pytest.raises(BadHierarchy, match="nothing to redo"):
        editor.redo()
    with pytest.raises(BadHierarchy, match="nothing to undo"):
        Editor(JOBS).undo()


@settings(max_examples=60, deadline=None)
@given(hierarchies(), st.data())
def test_random_edits_keep_it_valid_keep_every_leaf_and_undo_exactly(hierarchy: Hierarchy, data: st.DataObject) -> None:
    editor = Editor(hierarchy)
    seen = [hierarchy]
    for _ in range(6):
        here = editor.hierarchy
        level = data.draw(st.integers(0, here.height))
        label = data.draw(st.sampled_from(here.labels[level]))
        other = data.draw(st.sampled_from(here.labels[min(level + 1, here.height)]))
        choice = data.draw(st.sampled_from(sorted(set(OPERATIONS) - {"add_leaf", "remove_leaf"})))
        under = here.parents[level - 1] == here.code(level, label) if level else np.zeros(0, bool)
        below = [here.labels[level - 1][c] for c in np.flatnonzero(under)]
        arguments = {
            "move": {"level": level, "label": label, "to": other},
            "merge": {"level": level, "labels": list(here.labels[level][:2]), "into": label},
            "split": {"level": level, "label": label, "groups": {"s1": below[:1], "s2": below[1:]}},
            "rename": {"level": level, "label": label, "to": "renamed"},
            "insert_level": {"above": level, "groups": {"g": [label]}},
            "drop_level": {"level": level},
        }[choice]
        try:
            seen.append(editor.do(choice, **arguments))
        except BadHierarchy:
            assert editor.hierarchy is here
            continue
        assert not [f for f in check(editor.hierarchy) if f.is_error]
        assert len(editor.hierarchy.labels[-1]) == 1
        assert set(editor.hierarchy.leaves) == set(hierarchy.leaves)
    for expected in reversed(seen[:-1]):
        assert editor.undo() is expected
