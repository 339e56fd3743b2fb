"""Flowcharts as data: what a method does, step by step, in words that need no programming.

A flowchart is a spine of nodes from start to end, read downwards, and edges. An edge between neighbours goes straight
down; any other goes round in a lane of its own, backwards on the left and forwards on the right. `draw` in
`flowchart_text` and `flowchart_svg` use the same layout.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from string import Formatter
from typing import Literal

from keepsense.errors import BadInput

NodeKind = Literal["start", "step", "question", "end"]


@dataclass(frozen=True)
class Node:
    """One box: a start, a step, a question or an end. `{name}` in its text is a parameter still to be filled in.

    `part` names the node of the more general flowchart that this one makes concrete.

    >>> Node("score", "Score each step by {metric}").kind
    'step'
    """

    key: str
    text: str
    kind: NodeKind = "step"
    part: str = ""


@dataclass(frozen=True)
class Edge:
    """An arrow, with its answer where it leaves a question.

    >>> Edge("finished", "release", "yes").label
    'yes'
    """

    start: str
    end: str
    label: str = ""


@dataclass(frozen=True)
class Flowchart:
    """Nodes from top to bottom, and the arrows between them.

    >>> chart = Flowchart((Node("a", "Begin", "start"), Node("b", "Score by {metric}"), Node("c", "Done", "end")),
    ...     (Edge("a", "b"), Edge("b", "c")))
    >>> chart.parameters, chart.filled({"metric": "loss"}).nodes[1].text
    (('metric',), 'Score by loss')
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def __post_init__(self) -> None:
        keys = [node.key for node in self.nodes]
        if len(set(keys)) != len(keys):
            raise BadInput("a flowchart names two nodes alike")
        for edge in self.edges:
            for end in (edge.start, edge.end):
                if end not in keys:
                    raise BadInput(f"a flowchart has an arrow at {end!r}, and no such node")

    @property
    def parameters(self) -> tuple[str, ...]:
        """What is still to be filled in, in order."""
        names = (name for node in self.nodes for _, name, _, _ in Formatter().parse(node.text) if name)
        return tuple(dict.fromkeys(names))

    @property
    def numbers(self) -> dict[str, int]:
        """Number of each step and question; start and end have none."""
        counted = [node.key for node in self.nodes if node.kind in ("step", "question")]
        return {key: i for i, key in enumerate(counted, start=1)}

    def filled(self, words: Mapping[str, str]) -> Flowchart:
        """The same flowchart with parameters replaced by words; those not given stay open."""
        every = {name: words.get(name, "{" + name + "}") for name in self.parameters}
        return replace(self, nodes=tuple(replace(node, text=node.text.format_map(every)) for node in self.nodes))

    def index(self, key: str) -> int:
        """Place of a node on the spine."""
        return next(i for i, node in enumerate(self.nodes) if node.key == key)


@dataclass(frozen=True)
class Lane:
    """An arrow that does not go to the next node: on which side it runs, and how far out.

    >>> Lane(Edge("b", "a"), "left", 0).side
    'left'
    """

    edge: Edge
    side: Literal["left", "right"]
    depth: int


def lanes(chart: Flowchart) -> list[Lane]:
    """Lanes of the arrows that are not straight; shorter ones run nearer to the spine.

    >>> chart = Flowchart((Node("a", "A"), Node("b", "B"), Node("c", "C")),
    ...     (Edge("a", "b"), Edge("b", "c"), Edge("b", "a"), Edge("a", "c")))
    >>> [(lane.edge.start + lane.edge.end, lane.side, lane.depth) for lane in lanes(chart)]
    [('ba', 'left', 0), ('ac', 'right', 0)]
    """
    found: list[Lane] = []
    taken: dict[tuple[str, int], list[tuple[int, int]]] = {}
    around = [e for e in chart.edges if chart.index(e.end) != chart.index(e.start) + 1]
    around.sort(key=lambda e: abs(chart.index(e.end) - chart.index(e.start)))
    for edge in around:
        first, last = chart.index(edge.start), chart.index(edge.end)
        side: Literal["left", "right"] = "left" if last <= first else "right"
        low, high = min(first, last), max(first, last)
        depth = 0
        while any(low <= b and a <= high for a, b in taken.get((side, depth), [])):
            depth += 1
        taken.setdefault((side, depth), []).append((low, high))
        found.append(Lane(edge, side, depth))
    return found


def straight(chart: Flowchart) -> dict[int, Edge]:
    """The arrow from each node to the next one down, where there is one.

    >>> chart = Flowchart((Node("a", "A"), Node("b", "B")), (Edge("a", "b", "no"),))
    >>> straight(chart)[0].label
    'no'
    """
    found = {}
    for edge in chart.edges:
        i = chart.index(edge.start)
        if chart.index(edge.end) == i + 1:
            found[i] = edge
    return found


def shown(text: str) -> str:
    """Text of a node for people: open parameters stand in angle marks.

    >>> shown("Score each step by {metric}")
    'Score each step by ‹metric›'
    """
    return text.replace("{", "‹").replace("}", "›")
