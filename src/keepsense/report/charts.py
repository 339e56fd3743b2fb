"""Charts as inline SVG beside real text: no script, no font, no network.

Colours come from the page, so light and dark both work; labels are text of the page, so they stay readable on a phone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from keepsense.arrays import Floats
from keepsense.counts import Value
from keepsense.metrics import number


def show(value: Value) -> str:
    """A cell as text for people.

    >>> show(None), show("nurse"), show(("tea", "jazz"))
    ('(missing)', 'nurse', 'tea; jazz')
    """
    if isinstance(value, tuple):
        return "; ".join(map(show, value)) or "(nothing)"
    return "(missing)" if value is None else str(value)


@dataclass(frozen=True)
class Row:
    """One row of a bar chart: its label, its values and how these are spelled, a remark below the label.

    >>> Row("nurse", (3.0,), ("3",)).note
    ''
    """

    label: str
    values: tuple[float, ...]
    texts: tuple[str, ...]
    note: str = ""
    strong: bool = False


def bars(rows: Sequence[Row], kinds: Sequence[str], title: str, *, most: float | None = None, room: int = 5) -> str:
    """Horizontal bars, one group a row, one bar a kind (`before`, `after`, `safe`); `room` letters fit behind them.

    >>> bars([Row("nurse", (3, 2), ("3", "2"))], ("before", "after"), "jobs").count("<rect")
    2
    """
    top = most or max((value for row in rows for value in row.values), default=0) or 1
    parts = []
    for row in rows:
        lines = []
        for value, text, kind in zip(row.values, row.texts, kinds, strict=True):
            share = min(1.0, max(0.0, value / top))
            lines.append(_line(((share, kind),), text, room))
        note = f"<small>{escape(row.note)}</small>" if row.note else ""
        name = f"<b>{escape(row.label)}</b>" if row.strong else escape(row.label)
        parts.append(f'<div class="row"><div class="label">{name}{note}</div><div>{"".join(lines)}</div></div>')
    return f'<div class="bars" role="group" aria-label="{escape(title)}">{"".join(parts)}</div>'


def _line(shares: Sequence[tuple[float, str]], text: str, room: int) -> str:
    drawn = "".join(
        f'<svg class="bar" style="flex-basis:calc((100% - {room}em)*{share:.4f})" aria-hidden="true">'
        f'<rect width="100%" height="100%" class="{kind}"/></svg>'
        for share, kind in shares
        if share > 0
    )
    return f'<div class="line">{drawn}<span>{escape(text)}</span></div>'


def stacked(rows: Sequence[tuple[str, Sequence[float], str, bool]], kinds: Sequence[str], title: str) -> str:
    """Bars of several parts behind each other: a label, the parts, a text, and whether the row is marked.

    >>> stacked([("height 0", (0, 1), "0 of 1", False)], ("safe", "unsafe"), "lattice").count("<rect")
    1
    """
    top = max((sum(parts) for _, parts, _, _ in rows), default=0) or 1
    drawn = []
    for label, values, text, marked in rows:
        line = _line([(value / top, kind) for value, kind in zip(values, kinds, strict=True)], text, 12)
        name = f"<b>{escape(label)}</b>" if marked else escape(label)
        drawn.append(f'<div class="row"><div class="label">{name}</div><div>{line}</div></div>')
    return f'<div class="bars" role="group" aria-label="{escape(title)}">{"".join(drawn)}</div>'


def histogram(before: Floats | None, after: Floats, ends: tuple[float, float], title: str) -> str:
    """How numbers are distributed over equal bins: the original as an area, the release as a line.

    >>> import numpy as np
    >>> histogram(None, np.array([1.0, 3.0]), (0, 10), "age").count("<path")
    1
    """
    tallest = max(float(after.max(initial=0)), 0.0 if before is None else float(before.max(initial=0))) or 1.0
    parts = []
    if before is not None:
        parts.append(f'<path d="{_steps(before, tallest)}V100H0Z" class="area"/>')
    parts.append(f'<path d="{_steps(after, tallest)}" class="outline"/>')
    low, high = ends
    middle = (low + high) / 2
    shown = (low, round(middle) if high - low > 10 else middle, high)
    ticks = "".join(f"<span>{escape(number(tick))}</span>" for tick in shown)
    return (
        f'<div class="histogram"><svg viewBox="0 -2 {len(after)} 102" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(title)}">{"".join(parts)}</svg><div class="ticks">{ticks}</div></div>'
    )


def _steps(values: Floats, tallest: float) -> str:
    points = [f"M0 {100 - 100 * float(values[0]) / tallest:.2f}"] if len(values) else ["M0 100"]
    for i, value in enumerate(values.tolist()):
        points.append(f"V{100 - 100 * value / tallest:.2f}H{i + 1}")
    return "".join(points)


def binned(ranges: Sequence[tuple[float, float, float]], ends: tuple[float, float], bins: int) -> Floats:
    """Records in each bin; (low, high, records) is spread evenly over the bins it reaches.

    >>> binned([(0, 4, 8.0), (3, 3, 1.0)], (0, 4), 4).tolist()
    [2.0, 2.0, 2.0, 3.0]
    """
    low, high = ends
    edges = np.linspace(low, high, bins + 1)
    totals = np.zeros(bins)
    for start, stop, records in ranges:
        if stop <= start:
            totals[min(bins - 1, max(0, int(np.searchsorted(edges, start, side="right")) - 1))] += records
            continue
        overlap = np.minimum(edges[1:], stop) - np.maximum(edges[:-1], start)
        inside = overlap.clip(0.0)
        totals += records * inside / (inside.sum() or 1.0)
    return totals


@dataclass(frozen=True)
class Branch:
    """A node of a drawn tree: its label, whether it is released, a remark, its children, and how many are left out.

    >>> Branch("medic", True).children
    ()
    """

    label: str
    released: bool
    note: str = ""
    children: tuple[Branch, ...] = ()
    more: int = 0


def tree(root: Branch, title: str) -> str:
    """A hierarchy from its top down as nested lists, the released labels marked.

    >>> tree(Branch("*", False, "", (Branch("medic", True),)), "jobs").count("<li")
    2
    """

    def draw(node: Branch) -> str:
        kind = ' class="cut"' if node.released else ""
        note = f" <small>{escape(node.note)}</small>" if node.note else ""
        below = "".join(map(draw, node.children))
        if node.more:
            below += f'<li class="more">… {node.more:,} more</li>'
        inner = f"<ul>{below}</ul>" if below else ""
        return f"<li{kind}><span>{escape(node.label)}</span>{note}{inner}</li>"

    return f'<ul class="tree" aria-label="{escape(title)}">{draw(root)}</ul>'


def legend(kinds: Mapping[str, str]) -> str:
    """Coloured marks with their meaning.

    >>> legend({"before": "original"}).count('class="before"')
    1
    """
    marks = (
        f'<span class="key"><svg width="11" height="11" aria-hidden="true"><rect width="11" height="11" rx="2" '
        f'class="{kind}"/></svg>{escape(text)}</span>'
        for kind, text in kinds.items()
    )
    return f'<p class="legend">{"".join(marks)}</p>'
