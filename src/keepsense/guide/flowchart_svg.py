"""Flowcharts as inline SVG: no script, no font, no network; colours follow the page, light or dark."""

from __future__ import annotations

import textwrap
from html import escape

from keepsense.guide.flowchart import Lane, lanes, shown, straight
from keepsense.methods.flowchart import Flowchart, Node

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

    >>> from keepsense.methods.flowchart import Edge
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
