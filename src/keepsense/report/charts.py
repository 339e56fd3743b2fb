"""Charts as inline SVG: no script, no font, no network. Colours come from the page, so light and dark both work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from keepsense.counts import Value

WIDTH = 640
_ROW, _BAR, _NAMES = 24, 9, 190


def show(value: Value) -> str:
    """A cell as text for people.

    >>> show(None), show("nurse")
    ('(missing)', 'nurse')
    """
    return "(missing)" if value is None else str(value)


def _cut(text: str, most: int = 26) -> str:
    return escape(text if len(text) <= most else text[: most - 1] + "…")


def _svg(height: float, body: str, title: str, width: float = WIDTH) -> str:
    box = f'viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(title)}"'
    return f'<svg {box} xmlns="http://www.w3.org/2000/svg" class="chart"><title>{escape(title)}</title>{body}</svg>'


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" class="{kind}">{text}</text>'


def _rect(x: float, y: float, width: float, height: float, kind: str) -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{max(width, 0):.2f}" height="{height:g}" rx="2" class="{kind}"/>'


def bars(rows: Sequence[tuple[str, Sequence[float]]], kinds: Sequence[str], title: str, unit: str = "") -> str:
    """Horizontal bars, one group a row, one bar a kind (`before`, `after`, `plain`).

    >>> bars([("nurse", (3, 2))], ("before", "after"), "jobs").count("<rect")
    2
    """
    most = max((value for _, values in rows for value in values), default=0) or 1
    step = max(_ROW, _BAR * len(kinds) + 8)
    parts = []
    for i, (name, values) in enumerate(rows):
        top = i * step + 4
        parts.append(_text(_NAMES - 8, top + step / 2, _cut(name), "name", "end"))
        for j, (value, kind) in enumerate(zip(values, kinds, strict=True)):
            y = top + j * (_BAR + 1)
            length = (WIDTH - _NAMES - 80) * value / most
            parts.append(_rect(_NAMES, y, length, _BAR, kind))
            parts.append(_text(_NAMES + length + 5, y + _BAR - 1, f"{_number(value)}{unit}", "small"))
    return _svg(len(rows) * step + 8, "".join(parts), title)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"


def columns(values: Sequence[tuple[str, float]], title: str, kind: str = "after") -> str:
    """Vertical columns with their labels below: class sizes, losses by level.

    >>> columns([("5-9", 3), ("10-19", 1)], "sizes").count("<rect")
    2
    """
    height, base = 170, 130
    most = max((value for _, value in values), default=0) or 1
    wide = WIDTH / max(1, len(values))
    parts = []
    for i, (name, value) in enumerate(values):
        tall = 105 * value / most
        x = i * wide + wide * 0.15
        parts.append(_rect(x, base - tall, wide * 0.7, tall, kind))
        parts.append(_text(x + wide * 0.35, base - tall - 5, _number(value), "small", "middle"))
        parts.append(_text(x + wide * 0.35, base + 18, _cut(name, 14), "name", "middle"))
    parts.append(f'<line x1="0" y1="{base}" x2="{WIDTH}" y2="{base}" class="axis"/>')
    return _svg(height, "".join(parts), title)


Branch = tuple[str, bool, tuple["Branch", ...]]
"""A node of a drawn tree: its label, whether it is on the released cut, and its children."""


def tree(root: Branch, title: str, most: int = 60) -> str:
    """A hierarchy from its top down, the released cut marked; at most `most` nodes are drawn.

    >>> tree(("*", False, (("medic", True, ()),)), "jobs").count("<circle")
    2
    """
    parts: list[str] = []
    row = 0

    def draw(node: Branch, depth: int, parent: float | None) -> None:
        nonlocal row
        if row >= most:
            return
        label, released, children = node
        x, y = 12 + depth * 26, 16 + row * 20
        row += 1
        if parent is not None:
            parts.append(f'<path d="M{x - 26:g} {parent:g} V{y:g} H{x - 6:g}" class="edge"/>')
        parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="5" class="{"cut" if released else "node"}"/>')
        parts.append(_text(x + 10, y + 4, _cut(label, 60), "cutname" if released else "name"))
        for child in children:
            draw(child, depth + 1, y + 5)

    draw(root, 0, None)
    if row >= most:
        parts.append(_text(12, 16 + row * 20, "… more below", "small"))
        row += 1
    return _svg(row * 20 + 16, "".join(parts), title)


def lattice(rows: Sequence[tuple[int, int, int]], chosen: int | None, title: str) -> str:
    """The lattice by height: how many nodes are safe and unsafe at each, and where the chosen one lies.

    >>> lattice([(0, 0, 1), (1, 1, 1)], 1, "lattice").count("safe")
    4
    """
    most = max((safe + unsafe for _, safe, unsafe in rows), default=1) or 1
    parts = []
    full = WIDTH - 210
    for i, (height, safe, unsafe) in enumerate(reversed(rows)):
        y = i * 18 + 4
        wide, width = full * safe / most, full * unsafe / most
        parts.append(_text(60, y + 11, f"height {height}", "name", "end"))
        parts.append(_rect(70, y, wide, 13, "safe"))
        parts.append(_rect(70 + wide, y, width, 13, "unsafe"))
        mark = "  ← chosen" if height == chosen else ""
        parts.append(_text(76 + wide + width, y + 11, f"{safe:,} of {safe + unsafe:,}{mark}", "small"))
    return _svg(len(rows) * 18 + 10, "".join(parts), title)


def legend(kinds: Mapping[str, str]) -> str:
    """Coloured marks with their meaning.

    >>> legend({"before": "original"}).count('class="before"')
    1
    """
    marks = (f'<span class="key"><i class="{kind}"></i>{escape(text)}</span>' for kind, text in kinds.items())
    return f'<p class="legend">{"".join(marks)}</p>'
