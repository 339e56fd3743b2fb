"""The tree of methods: Figure 9 of Ben Fredj et al. (2015) and what has grown on it since, as text and as SVG."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from keepsense.guide.catalogue import catalogue, children, entry
from keepsense.methods.registry import Described


@dataclass(frozen=True)
class Branch:
    """An entry and what hangs below it.

    >>> tree("swapping").entry.title
    'Swapping'
    """

    entry: Described
    below: tuple[Branch, ...]

    @property
    def leaves(self) -> int:
        """Lines the branch takes: its leaves, and itself where it is one."""
        return sum(branch.leaves for branch in self.below) or 1


def tree(name: str = "generalization", *, nine: bool = False) -> Branch:
    """The tree below an entry; with `nine` only what Figure 9 holds.

    >>> [branch.entry.name for branch in tree(nine=True).below]
    ['table recoding', 'lattice recoding', 'multidimensional recoding']
    """
    described = entry(name)
    below = [tree(child.name, nine=nine) for child in children(described.name) if not nine or _drawn(child)]
    return Branch(described, tuple(below))


def trees() -> list[Branch]:
    """One tree for each outermost family.

    >>> trees()[0].entry.name
    'generalization'
    """
    return [tree(described.name) for described in catalogue().values() if described.family is None]


def _drawn(described: Described) -> bool:
    return described.nine or described.kind == "category"


def draw_tree_text(branch: Branch, *, about: bool = True) -> str:
    """Draw a tree for the terminal; a star marks the nine algorithms of the paper.

    >>> print(draw_tree_text(tree(nine=True), about=False).splitlines()[1])
    ├── Table recoding (TR)
    """
    lines: list[tuple[str, Described]] = []
    _grow(branch, "", "", lines)
    widest = max(len(left) for left, _ in lines)
    if not about:
        return "\n".join(left for left, _ in lines)
    return "\n".join(
        f"{left.ljust(widest)}  {described.short}" if described.short else left for left, described in lines
    )


def _grow(branch: Branch, here: str, further: str, lines: list[tuple[str, Described]]) -> None:
    mark = " *" if branch.entry.nine else ""
    only = "" if branch.entry.runs or branch.below else " (described only)"
    lines.append((f"{here}{branch.entry.title}{mark}{only}", branch.entry))
    for i, child in enumerate(branch.below):
        last = i == len(branch.below) - 1
        _grow(child, further + ("└── " if last else "├── "), further + ("    " if last else "│   "), lines)


STYLE = """
.methods text { font: 14px system-ui, sans-serif; fill: var(--ink, #1d2a2a); }
.methods rect { fill: var(--box, #fff); stroke: var(--line, #789); stroke-width: 1.2; }
.methods .technique rect, .methods .category rect { fill: var(--soft, #e0f2f1); }
.methods .beyond rect { stroke-dasharray: 4 3; }
.methods path { fill: none; stroke: var(--line, #789); stroke-width: 1.3; }
"""
"""Style sheet of the drawing."""

_WIDTH, _ROW, _BOX, _GAP = 232, 40, 30, 44


def draw_tree_svg(branch: Branch) -> str:
    """Draw a tree from left to right as one `<svg>`; boxes with a dashed edge are not among the paper's nine.

    >>> drawn = draw_tree_svg(tree())
    >>> drawn.startswith("<svg"), "Datafly" in drawn
    (True, True)
    """
    parts: list[str] = []
    _place(branch, 0, 0, parts)
    depth = _depth(branch)
    width, height = depth * (_WIDTH + _GAP) - _GAP + 4, branch.leaves * _ROW + 4
    return (
        f'<svg class="methods" role="img" viewBox="-2 -2 {width} {height}" width="{width}" height="{height}" '
        f'style="max-width:100%;height:auto"><title>{escape(branch.entry.title)}</title>{"".join(parts)}</svg>'
    )


def _depth(branch: Branch) -> int:
    return 1 + max((_depth(child) for child in branch.below), default=0)


def _place(branch: Branch, level: int, row: float, parts: list[str]) -> float:
    """Draw a branch whose first leaf is on `row`; returns the height of its middle."""
    x = level * (_WIDTH + _GAP)
    middles, at = [], row
    for child in branch.below:
        middles.append(_place(child, level + 1, at, parts))
        at += child.leaves
    middle = (middles[0] + middles[-1]) / 2 if middles else row * _ROW + _ROW / 2
    for end in middles:
        bend = x + _WIDTH + _GAP / 2
        parts.append(f'<path d="M{x + _WIDTH} {middle:g}H{bend:g}V{end:g}H{x + _WIDTH + _GAP}"/>')
    kind = branch.entry.kind if branch.entry.kind != "algorithm" else ("nine" if branch.entry.nine else "beyond")
    size = "" if len(branch.entry.title) < 32 else ' style="font-size:11px"'
    title = escape(branch.entry.title)
    parts.append(
        f'<g class="{kind}"><rect x="{x}" y="{middle - _BOX / 2:g}" width="{_WIDTH}" height="{_BOX}" rx="5"/>'
        f'<text x="{x + _WIDTH / 2:g}" y="{middle + 5:g}" text-anchor="middle"{size}>{title}</text>'
        f"<title>{escape(branch.entry.intent)}</title></g>"
    )
    return middle
