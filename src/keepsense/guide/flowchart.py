"""How flowcharts are laid out: a spine read downwards, and arrows that go round it in lanes of their own.

An arrow between neighbours goes straight down; any other goes round, backwards on the left and forwards on the right.
`flowchart_text` and `flowchart_svg` draw the same layout.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from keepsense.methods.flowchart import Edge, Flowchart


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

    >>> from keepsense.methods.flowchart import Node
    >>> chart = Flowchart((Node("a", "A"), Node("b", "B"), Node("c", "C")),
    ...     (Edge("a", "b"), Edge("b", "c"), Edge("b", "a"), Edge("a", "c")))
    >>> [(lane.edge.start + lane.edge.end, lane.side, lane.depth) for lane in lanes(chart)]
    [('ba', 'left', 0), ('ac', 'right', 0)]
    """
    placed: list[Lane] = []
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
        placed.append(Lane(edge, side, depth))
    return placed


def straight(chart: Flowchart) -> dict[int, Edge]:
    """The arrow from each node to the next one down, where there is one.

    >>> from keepsense.methods.flowchart import Node
    >>> chart = Flowchart((Node("a", "A"), Node("b", "B")), (Edge("a", "b", "no"),))
    >>> straight(chart)[0].label
    'no'
    """
    downwards = {}
    for edge in chart.edges:
        i = chart.index(edge.start)
        if chart.index(edge.end) == i + 1:
            downwards[i] = edge
    return downwards


def shown(text: str) -> str:
    """Text of a node for people: open parameters stand in angle marks.

    >>> shown("Score each step by {metric}")
    'Score each step by ‹metric›'
    """
    return text.replace("{", "‹").replace("}", "›")
