"""The code of the three templates walks through its category's flowchart, node by node."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from typing import Any

import pytest

from keepsense.guide.catalogue import entry as find
from keepsense.guide.catalogue import flowchart, function
from keepsense.lessons.lesson import example
from keepsense.methods.generalize import lattice_template, multidimensional_template, table_template
from keepsense.methods.generalize.table_state import State
from keepsense.methods.method_flowchart import Flowchart
from keepsense.privacy.k_anonymity import KAnonymity


class Walk:
    """Notes which node of the flowchart the code is at, each time it calls what stands for one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.patch = monkeypatch
        self.at: list[str] = []

    def note(self, owner: Any, name: str, node: str, *, once: bool = False) -> None:
        """`once`: calls in a row are one visit (a look at each column is one look at all)."""
        real: Callable[..., Any] = getattr(owner, name)

        def spy(*args: Any, **given: Any) -> Any:
            if not (once and self.at and self.at[-1] == node):
                self.at.append(node)
            return real(*args, **given)

        self.patch.setattr(owner, name, spy)

    def run(self, name: str, **given: Any) -> list[str]:
        lesson = example()
        function(find(name))(lesson.counts, lesson.hierarchies, models=[KAnonymity(2)], **given)
        return self.at


def follows(chart: Flowchart, visited: list[str]) -> bool:
    """Whether a list of nodes is a way through the chart; the code may answer a question on its way to what is next."""
    edges = {(edge.start, edge.end) for edge in chart.edges}
    questions = [node.key for node in chart.nodes if node.kind == "question"]

    def leads(a: str, b: str) -> bool:
        return (a, b) in edges or any((a, q) in edges and (q, b) in edges for q in questions)

    way = [chart.nodes[0].key, *visited, chart.nodes[-1].key]
    return all(leads(a, b) for a, b in pairwise(way))


@pytest.fixture
def walk(monkeypatch: pytest.MonkeyPatch) -> Walk:
    return Walk(monkeypatch)


@pytest.mark.parametrize(("name", "given"), [("datafly", {}), ("bottom-up", {"target": "ill"}), ("top-down", {})])
def test_table_recoding(name: str, given: dict[str, Any], walk: Walk) -> None:
    walk.note(State, "__init__", "prepare")
    walk.note(State, "decide", "finished", once=True)
    walk.note(State, "steps", "candidates")
    walk.note(State, "take", "apply")
    walk.note(table_template, "_recoding", "settle")
    real = table_template._best

    def best(*args: Any, **options: Any) -> Any:
        found = real(*args, **options)
        if found is None:
            walk.at[-1] = "finished"  # no step is left: that is how the way down ends
        else:
            walk.at.append("choose")
        return found

    walk.patch.setattr(table_template, "_best", best)
    visited = walk.run(name, **given)
    assert visited.count("apply") >= 2
    # the table that is released is judged once more, as it will be read
    settled = visited[: visited.index("settle") + 1]
    assert follows(flowchart("table recoding"), _without_repeats(settled)), settled


def _without_repeats(visited: list[str]) -> list[str]:
    return [node for i, node in enumerate(visited) if node != "finished" or i == 0 or visited[i - 1] != "finished"]


def test_lattice_recoding(walk: Walk) -> None:
    space = type(_space())
    walk.note(lattice_template.LatticeSearch, "__init__", "prepare")
    walk.note(space, "node", "candidates")
    walk.note(lattice_template.LatticeSearch, "check", "choose")
    walk.note(lattice_template.LatticeSearch, "tag", "apply")
    walk.note(import_module("keepsense.methods.generalize.samarati"), "recoding", "settle")
    visited = walk.run("samarati")
    settled = visited[: visited.index("settle") + 1]
    assert settled.count("apply") >= 2
    assert follows(flowchart("lattice recoding"), settled), settled


def _space() -> Any:
    lesson = example()
    return lattice_template.LatticeSearch(lesson.counts, lesson.hierarchies, [KAnonymity(2)]).space


@pytest.mark.parametrize(
    ("name", "given"), [("infogain mondrian", {"target": "ill"}), ("lsd mondrian", {"target": "days"})]
)
def test_multidimensional_recoding(name: str, given: dict[str, Any], walk: Walk) -> None:
    walk.note(multidimensional_template._Division, "__init__", "prepare")
    walk.note(multidimensional_template._Division, "view", "candidates", once=True)
    walk.note(multidimensional_template._Division, "choose", "choose")
    walk.note(multidimensional_template._Division, "cut", "apply")
    walk.note(multidimensional_template._Division, "cells", "settle")
    visited = walk.run(name, numbers=["age"], **given)
    assert visited.count("apply") >= 2
    assert follows(flowchart("multidimensional recoding"), visited), visited


def test_another_order_of_steps_would_be_noticed() -> None:
    chart = flowchart("table recoding")
    good = ["prepare", "finished", "candidates", "choose", "apply", "finished", "settle"]
    assert follows(chart, good)
    for wrong in (
        ["prepare", "candidates", "apply", "choose", "settle"],
        ["prepare", "settle", "finished"],
        ["finished", "candidates", "choose", "apply", "settle"],
        good[:-1],
    ):
        assert not follows(chart, wrong)


@pytest.mark.parametrize("name", ["table recoding", "lattice recoding", "multidimensional recoding"])
def test_a_category_has_the_shape_of_the_technique(name: str) -> None:
    """Figure 8: a category is the technique with its parts made concrete, in the same order."""
    root, own = flowchart("generalization"), flowchart(name)
    part = {node.key: node.part or node.key for node in own.nodes}
    assert [part[node.key] for node in own.nodes] == [node.key for node in root.nodes]
    assert {(part[e.start], part[e.end], e.label) for e in own.edges} == {(e.start, e.end, e.label) for e in root.edges}
