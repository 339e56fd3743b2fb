"""Flowcharts as data: what a method does, step by step, in words that need no programming.

A flowchart is a spine of nodes from start to end, read downwards, and arrows. A template's flowchart leaves parameters
open (`{metric}`) which each of its methods fills in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from string import Formatter
from typing import Any, Literal

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
class Filling:
    """What a method fills in for one parameter of its template: the value in the code, and the same in words.

    >>> Filling("up", "the table as it is").value
    'up'
    """

    value: Any
    words: str


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

    @classmethod
    def line(cls, start: str, *steps: str, end: str) -> Flowchart:
        """Steps one after another, without a question.

        >>> [edge.end for edge in Flowchart.line("A table", "Draw a share of it", end="A smaller table").edges]
        ['step1', 'end']
        """
        nodes = [Node("begin", start, "start"), *(Node(f"step{i}", text) for i, text in enumerate(steps, start=1))]
        nodes.append(Node("end", end, "end"))
        return cls(tuple(nodes), tuple(Edge(above.key, below.key) for above, below in pairwise(nodes)))

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


LOOP = (
    Edge("begin", "prepare"),
    Edge("prepare", "finished"),
    Edge("finished", "candidates", "no"),
    Edge("candidates", "choose"),
    Edge("choose", "apply"),
    Edge("apply", "finished"),
    Edge("finished", "settle", "yes"),
    Edge("settle", "end"),
)
"""The loop that all of generalization shares: find candidates, choose, apply, until the search is finished."""


def loop(begin: str, finished: str, end: str = "The anonymized table", **steps: str) -> Flowchart:
    """A flowchart of that loop; each node says which part of generalization it makes concrete.

    >>> told = {"prepare": "Look", "candidates": "List", "choose": "Judge", "apply": "Go", "settle": "Tell"}
    >>> loop("A table", "Is it safe?", **told).numbers
    {'prepare': 1, 'finished': 2, 'candidates': 3, 'choose': 4, 'apply': 5, 'settle': 6}
    """
    made = {key: Node(key, text, "step", key) for key, text in steps.items()}
    ask = Node("finished", finished, "question", "finished")
    first, *rest = (made[key] for key in ("prepare", "candidates", "choose", "apply", "settle"))
    return Flowchart((Node("begin", begin, "start"), first, ask, *rest, Node("end", end, "end")), LOOP)
