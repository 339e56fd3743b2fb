"""Flowcharts as text and SVG.

The SVG has no script, no font and no network access; its colours follow the page, light or dark.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from html import escape
from typing import Literal

from keepsense.methods.method_flowchart import Edge, Flowchart, Node

# Layout: a spine read downwards; backward arrows run on the left, forward ones on the right
#
# `draw_text` and `draw_svg` draw the same layout.


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

    >>> from keepsense.methods.method_flowchart import Node
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

    >>> from keepsense.methods.method_flowchart import Node
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


# Text for the terminal, in box characters

_SIDES = {
    "start": ("╭", "╮", "╰", "╯", "│", "│"),
    "end": ("╭", "╮", "╰", "╯", "│", "│"),
    "step": ("┌", "┐", "└", "┘", "│", "│"),
    "question": ("╱", "╲", "╲", "╱", "⟨", "⟩"),
}
_CROSSING = {frozenset("│─"): "┼", frozenset("─┼"): "┼", frozenset("│┼"): "┼"}


class _Grid:
    """Characters by row and column; lines that cross make a cross."""

    def __init__(self) -> None:
        self.cells: dict[tuple[int, int], str] = {}

    def put(self, row: int, column: int, text: str) -> None:
        for i, char in enumerate(text):
            self.cells[row, column + i] = char

    def line(self, row: int, column: int, char: str) -> None:
        old = self.cells.get((row, column))
        self.cells[row, column] = char if old in (None, " ", char) else _CROSSING.get(frozenset((old, char)), char)

    def text(self) -> str:
        height = max(row for row, _ in self.cells) + 1
        width = max(column for _, column in self.cells) + 1
        rows = ("".join(self.cells.get((r, c), " ") for c in range(width)).rstrip() for r in range(height))
        return "\n".join(rows)


def draw_text(chart: Flowchart, width: int = 52) -> str:
    """Draw a flowchart with boxes `width` characters wide; lanes of arrows run beside them.

    >>> from keepsense.methods.method_flowchart import Edge
    >>> chart = Flowchart((Node("a", "Begin", "start"), Node("b", "Look")), (Edge("a", "b"), Edge("b", "b", "again")))
    >>> print(draw_text(chart, 16))
              ╭──────────────╮
              │    Begin     │
              ╰──────┬───────╯
                     ▼
              ┌──────────────┐
    ┌────────▶│   1. Look    │
    └──again──│              │
              └──────────────┘
    """
    around = lanes(chart)
    sides = {side: [lane for lane in around if lane.side == side] for side in ("left", "right")}
    stub = {side: 2 + max((len(lane.edge.label) + 3 for lane in group), default=0) for side, group in sides.items()}
    deep = {side: 3 * max((lane.depth for lane in group), default=0) for side, group in sides.items()}
    left = stub["left"] + deep["left"] if sides["left"] else 0
    grid = _Grid()
    into: dict[tuple[str, str], int] = {}
    out: dict[tuple[str, str], int] = {}
    row = 0
    down = straight(chart)
    for i, node in enumerate(chart.nodes):
        lines = _lines(chart, node, width - 4)
        ports = {side: _ports(node, group) for side, group in sides.items()}
        lines += [""] * (max(len(p) for p in ports.values()) - len(lines))
        a, b, c, d, e, f = _SIDES[node.kind]
        grid.put(row, left, a + "─" * (width - 2) + b)
        for j, line in enumerate(lines, start=1):
            grid.put(row + j, left, f"{e} {line.center(width - 4)} {f}")
        for side, theirs in ports.items():
            for j, (lane, inward) in enumerate(theirs):
                (into if inward else out)[lane.edge.start + ">" + lane.edge.end, side] = row + 1 + j
        bottom = row + len(lines) + 1
        grid.put(bottom, left, c + "─" * (width - 2) + d)
        row = bottom + 1
        if i in down:
            middle = left + width // 2 - 1
            grid.put(bottom, middle, "┬")
            if down[i].label:
                grid.put(row, middle, f"│ {down[i].label}")
                row += 1
            grid.put(row, middle, "▼")
            row += 1
        elif i + 1 < len(chart.nodes):
            row += 1
    for lane in around:
        key = (lane.edge.start + ">" + lane.edge.end, lane.side)
        _lane(grid, lane, out[key], into[key], left, left + width - 1, stub[lane.side])
    return grid.text()


def _ports(node: Node, group: list[Lane]) -> list[tuple[Lane, bool]]:
    """Lanes that touch a node on one side: those that arrive above those that leave."""
    arriving = [(lane, True) for lane in group if lane.edge.end == node.key]
    return arriving + [(lane, False) for lane in group if lane.edge.start == node.key]


def _lines(chart: Flowchart, node: Node, width: int) -> list[str]:
    number = chart.numbers.get(node.key)
    return textwrap.wrap(f"{number}. {shown(node.text)}" if number else shown(node.text), width) or [""]


def _lane(grid: _Grid, lane: Lane, start: int, end: int, left: int, right: int, stub: int) -> None:
    """One arrow out of a box, along its lane, and into another box."""
    leftwards = lane.side == "left"
    edge = left - 1 if leftwards else right + 1
    away = -1 if leftwards else 1
    column = edge + away * (stub - 1 + 3 * lane.depth)
    span = range(min(edge, column), max(edge, column) + 1)
    for row in (start, end):
        for c in span:
            if c != column:
                grid.line(row, c, "─")
    grid.put(end, edge, "▶" if leftwards else "◀")
    if lane.edge.label:
        text = lane.edge.label
        grid.put(start, edge - 1 - len(text) if leftwards else edge + 2, text)
    top, bottom = min(start, end), max(start, end)
    for r in range(top + 1, bottom):
        grid.line(r, column, "│")
    grid.put(top, column, "┌" if leftwards else "┐")
    grid.put(bottom, column, "└" if leftwards else "┘")


# SVG

STYLE = """
.flow text { font: 14px system-ui, sans-serif; fill: var(--ink, #1d2a2a); }
.flow .label { font-size: 12.5px; fill: var(--muted, #566); }
.flow .number { font-weight: 600; fill: var(--accent, #00695c); }
.flow .box { fill: var(--box, #fff); stroke: var(--line, #789); stroke-width: 1.3; }
.flow .start, .flow .end { fill: var(--soft, #e0f2f1); }
.flow .question { fill: var(--ask, #fff8e1); }
.flow .arrow { fill: none; stroke: var(--line, #789); stroke-width: 1.5; }
.flow .head { fill: var(--line, #789); }
"""
"""Style sheet of the drawings; a page may set its colours as variables."""

_LINE, _PAD, _GAP, _CHARS = 19, 11, 34, 46
_WIDTH, _STUB, _LANE = 372, 46, 22


def draw_svg(chart: Flowchart, title: str = "Flowchart") -> str:
    """Draw a flowchart as one `<svg>` element; its style sheet is `STYLE`.

    >>> from keepsense.methods.method_flowchart import Edge
    >>> drawn = draw_svg(Flowchart((Node("a", "Begin", "start"), Node("b", "Look")), (Edge("a", "b"),)), "Two steps")
    >>> drawn.startswith("<svg"), "<title>Two steps</title>" in drawn, "http" in drawn
    (True, True, False)
    """
    around = lanes(chart)
    left = _room(around, "left")
    right = _room(around, "right")
    x, y = left, 6
    body: list[str] = []
    tops: list[tuple[int, int]] = []
    down = straight(chart)
    for i, node in enumerate(chart.nodes):
        lines = textwrap.wrap(shown(node.text), _CHARS - 4 if chart.numbers.get(node.key) else _CHARS) or [""]
        height = max(len(lines) * _LINE + 2 * _PAD, 2 * _PAD + _LINE + 6)
        tops.append((y, height))
        body.append(_box(node, chart.numbers.get(node.key), lines, x, y, height))
        y += height
        if i in down:
            body.append(_arrow([(x + _WIDTH / 2, y), (x + _WIDTH / 2, y + _GAP)], "down"))
            if down[i].label:
                body.append(_text(x + _WIDTH / 2 + 9, y + _GAP / 2 + 4, down[i].label, "label", "start"))
            y += _GAP
        elif i + 1 < len(chart.nodes):
            y += _GAP // 2
    for lane in around:
        body.append(_around(chart, lane, x, tops))
    total = left + _WIDTH + right
    return (
        f'<svg class="flow" role="img" viewBox="0 0 {total} {y + 6}" width="{total}" height="{y + 6}" '
        f'style="max-width:100%;height:auto"><title>{escape(title)}</title>{"".join(body)}</svg>'
    )


def _room(around: list[Lane], side: str) -> int:
    group = [lane for lane in around if lane.side == side]
    return _STUB + _LANE * max(lane.depth for lane in group) + 6 if group else 6


def _box(node: Node, number: int | None, lines: list[str], x: int, y: int, height: int) -> str:
    kind = f'class="box {node.kind}"'
    if node.kind == "question":
        half, cut = y + height / 2, 14
        points = [(x, half), (x + cut, y), (x + _WIDTH - cut, y)]
        points += [(x + _WIDTH, half), (x + _WIDTH - cut, y + height), (x + cut, y + height)]
        shape = f'<polygon {kind} points="{" ".join(f"{a:g},{b:g}" for a, b in points)}"/>'
    else:
        round_ = height / 2 if node.kind in ("start", "end") else 5
        corner = min(round_, 22)
        shape = f'<rect {kind} x="{x}" y="{y}" width="{_WIDTH}" height="{height}" rx="{corner:g}"/>'
    first = y + (height - len(lines) * _LINE) / 2 + 14
    drawn = [_text(x + _WIDTH / 2, first + i * _LINE, line, "", "middle") for i, line in enumerate(lines)]
    if number:
        drawn.append(_text(x + 20, first, str(number), "number", "middle"))
    return shape + "".join(drawn)


def _text(x: float, y: float, text: str, kind: str, anchor: str) -> str:
    mark = f' class="{kind}"' if kind else ""
    return f'<text{mark} x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>'


def _arrow(points: list[tuple[float, float]], towards: str) -> str:
    x, y = points[-1]
    head = {
        "down": [(x - 5, y - 9), (x + 5, y - 9)],
        "right": [(x - 9, y - 5), (x - 9, y + 5)],
        "left": [(x + 9, y - 5), (x + 9, y + 5)],
    }[towards]
    line = " ".join(f"{a:g},{b:g}" for a, b in points)
    tip = " ".join(f"{a:g},{b:g}" for a, b in [(x, y), *head])
    return f'<polyline class="arrow" points="{line}"/><polygon class="head" points="{tip}"/>'


def _around(chart: Flowchart, lane: Lane, x: int, tops: list[tuple[int, int]]) -> str:
    start, end = tops[chart.index(lane.edge.start)], tops[chart.index(lane.edge.end)]
    # out of the lower part of a box and into the upper part, so that a box can have both on one side
    leave, arrive = start[0] + start[1] / 2, end[0] + end[1] / 2
    if lane.edge.start == lane.edge.end:
        leave, arrive = leave + 8, arrive - 8
    left = lane.side == "left"
    edge = x if left else x + _WIDTH
    column = edge + (-1 if left else 1) * (_STUB - 6 + _LANE * lane.depth)
    points = [(edge, leave), (column, leave), (column, arrive), (edge, arrive)]
    drawn = _arrow([(float(a), b) for a, b in points], "right" if left else "left")
    if lane.edge.label:
        at = edge + (-8 if left else 8)
        drawn += _text(at, leave - 5, lane.edge.label, "label", "end" if left else "start")
    return drawn
