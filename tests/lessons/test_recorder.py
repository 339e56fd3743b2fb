"""Lessons hear what methods tell: every event that is told of is emitted, and nobody else pays for it."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

import keepsense
from keepsense.errors import BadInput
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.lessons.lesson import Lesson, example
from keepsense.lessons.recorder import TELLERS, Story
from keepsense.lessons.walkthrough import explain, explainable
from keepsense.methods.method import METHODS
from keepsense.progress import wants_steps
from keepsense.project.column_meaning import Meaning
from keepsense.project.project_file import Column

ROOM = Path(keepsense.__file__).parent / "lessons"
AGES = Hierarchy.of_rows([(age, "*") for age in range(100)], name="age", kind="numeric")


def ages(*values: int) -> Lesson:
    numbers = Meaning({"age": Column.model_validate({"kind": "numeric"})})
    return Lesson("some people", {"age": list(values)}, ("age",), {"age": AGES}, numbers)


RARE: dict[str, tuple[str, Lesson | None, dict[str, Any]]] = {
    "leftover": ("adaptive microaggregation", ages(99, 50, 50, 50, 50, 1, 1), {"k": 3}),
    "merged": ("t-close microaggregation", None, {"settings": {"how": "merge", "t": 0.1}}),
    "join": ("local recoding", ages(42, 50, 50, 50), {"k": 2}),
}
"""Events that the made-up people do not lead to, and tables that do."""


def heard(name: str, lesson: Lesson | None = None, **options: Any) -> set[str]:
    """Names of the events that a lesson hears."""
    names: set[str] = set()
    real = Story.__call__

    def listen(story: Story, event: Any) -> None:
        names.add(event.name)
        real(story, event)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Story, "__call__", listen)
        explain(name, lesson, **options)
    return names


def test_every_event_that_is_told_of_is_emitted() -> None:
    names = set().union(*(heard(name) for name in explainable()))
    for event, (name, lesson, options) in RARE.items():
        if event not in names:
            told = heard(name, lesson, **options)
            assert event in told, event
            names |= told
    assert set(TELLERS) <= names


@pytest.mark.parametrize("name", list(METHODS))
def test_every_method_has_a_lesson_or_says_why_not(name: str) -> None:
    method = METHODS[name]
    if not method.shown.why_not:
        assert method.in_projects, "only what a project can name can be run for a lesson"
        assert explain(name).steps
        return
    with pytest.raises(BadInput, match=r"cannot be shown \("):
        explain(name)


def test_no_lesson_knows_a_method_by_name() -> None:
    names = {*METHODS, *(alias for method in METHODS.values() for alias in method.aliases)}
    for file in ROOM.glob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        texts = {
            node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        assert not texts & names, file.name


def test_who_does_not_want_every_step_is_not_told_of_it() -> None:
    assert wants_steps(Story(example(), ("age",), 2))
    events: list[Any] = []
    lesson = example()
    METHODS["mondrian"].function(lesson.counts, lesson.hierarchies, k=2, listener=events.append)
    assert {event.name for event in events} == {"round"}
