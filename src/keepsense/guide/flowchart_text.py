"""Flowcharts for the terminal, drawn with box characters."""

from __future__ import annotations

import textwrap

from keepsense.guide.flowchart import Lane, lanes, shown, straight
from keepsense.methods.flowchart import Flowchart, Node

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

    >>> from keepsense.methods.flowchart import Edge
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
