"""The catalogue as text: an entry for the terminal or for scripts, the tree of all, the page of the documentation."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from html import escape
from typing import Any

from keepsense.guide.catalogue import (
    APPLICABLE,
    DATA_TYPES,
    FEATURES,
    PRESERVED,
    SATISFIES,
    catalogue,
    children,
    entry,
    flowchart,
)
from keepsense.guide.flowchart_drawing import draw_text
from keepsense.methods.method import Described, Relation

# The tree of methods, Figure 9 of Ben Fredj et al. (2015) extended, as text and as SVG


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

_BOX_WIDTH, _ROW, _BOX, _GAP = 232, 40, 30, 44


def draw_tree_svg(branch: Branch) -> str:
    """Draw a tree from left to right as one `<svg>`; boxes with a dashed edge are not among the paper's nine.

    >>> drawn = draw_tree_svg(tree())
    >>> drawn.startswith("<svg"), "Datafly" in drawn
    (True, True)
    """
    parts: list[str] = []
    _place(branch, 0, 0, parts)
    depth = _depth(branch)
    width, height = depth * (_BOX_WIDTH + _GAP) - _GAP + 4, branch.leaves * _ROW + 4
    return (
        f'<svg class="methods" role="img" viewBox="-2 -2 {width} {height}" width="{width}" height="{height}" '
        f'style="max-width:100%;height:auto"><title>{escape(branch.entry.title)}</title>{"".join(parts)}</svg>'
    )


def _depth(branch: Branch) -> int:
    return 1 + max((_depth(child) for child in branch.below), default=0)


def _place(branch: Branch, level: int, row: float, parts: list[str]) -> float:
    """Draw a branch whose first leaf is on `row`; returns the height of its middle."""
    x = level * (_BOX_WIDTH + _GAP)
    middles, at = [], row
    for child in branch.below:
        middles.append(_place(child, level + 1, at, parts))
        at += child.leaves
    middle = (middles[0] + middles[-1]) / 2 if middles else row * _ROW + _ROW / 2
    for end in middles:
        bend = x + _BOX_WIDTH + _GAP / 2
        parts.append(f'<path d="M{x + _BOX_WIDTH} {middle:g}H{bend:g}V{end:g}H{x + _BOX_WIDTH + _GAP}"/>')
    kind = branch.entry.kind if branch.entry.kind != "algorithm" else ("nine" if branch.entry.nine else "beyond")
    size = "" if len(branch.entry.title) < 32 else ' style="font-size:11px"'
    title = escape(branch.entry.title)
    parts.append(
        f'<g class="{kind}"><rect x="{x}" y="{middle - _BOX / 2:g}" width="{_BOX_WIDTH}" height="{_BOX}" rx="5"/>'
        f'<text x="{x + _BOX_WIDTH / 2:g}" y="{middle + 5:g}" text-anchor="middle"{size}>{title}</text>'
        f"<title>{escape(branch.entry.intent)}</title></g>"
    )
    return middle


# Entries as text, and the page of the documentation

_WIDTH = 88


def as_data(described: Described) -> dict[str, Any]:
    """An entry for scripts.

    >>> as_data(entry("datafly"))["parameters"]["direction"]
    'up'
    """
    chart = flowchart(described.name)
    return {
        "name": described.name,
        "title": described.title,
        "kind": described.kind,
        "parent": described.family,
        "intent": described.intent,
        "use": list(described.use),
        "avoid": list(described.avoid),
        "inputs": list(described.inputs),
        "guarantee": described.guarantee,
        "cost": described.cost,
        "example": described.example,
        "paper": described.paper,
        "truthful": described.truthful,
        "in project files": described.name if described.in_projects else None,
        "function": described.code,
        "parameters": {key: filling.value for key, filling in described.fillings.items()},
        "combines": {relation.name: relation.why for relation in described.combines},
        "conflicts": {relation.name: relation.why for relation in described.conflicts},
        "steps": {
            "nodes": [{"key": n.key, "text": n.text, "kind": n.kind, "part": n.part} for n in chart.nodes],
            "edges": [{"start": e.start, "end": e.end, "label": e.label} for e in chart.edges],
        },
    }


def as_text(described: Described) -> str:
    """An entry for the terminal, with its flowchart.

    >>> print(as_text(entry("datafly")).splitlines()[0])
    Datafly: raise the column with most different values
    """
    lines = [f"{described.title}: {described.short}", "", *_wrapped(described.intent, "")]
    for title, texts in _parts(described):
        lines += ["", title]
        for text in texts:
            lines += _wrapped(text, "  - " if len(texts) > 1 else "  ")
    lines += ["", "Steps", "", draw_text(flowchart(described.name))]
    if children(described.name):
        lines += ["", "Below it", "", draw_tree_text(tree(described.name))]
    return "\n".join(lines)


def _parts(described: Described) -> list[tuple[str, tuple[str, ...]]]:
    parts = [
        ("Use it when", described.use),
        ("Rather not when", described.avoid),
        ("It needs", described.inputs),
        ("It guarantees", (described.guarantee,)),
        ("For example", (described.example,)),
        ("Cost", (described.cost,)),
        ("Goes well with", _related(described.combines)),
        ("Does not go with", _related(described.conflicts)),
        ("Paper", (described.paper,)),
        ("In project files", (f'name = "{described.name}"',) if described.in_projects else ()),
    ]
    if not described.runs and described.kind != "category" and not children(described.name):
        parts.append(("Note", ("Keepsense describes it, and does not do it.",)))
    return [(title, texts) for title, texts in parts if texts]


def _related(relations: tuple[Relation, ...]) -> tuple[str, ...]:
    return tuple(f"{entry(r.name).title}: {r.why}" for r in relations)


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=" " * len(indent))


# ---- the page of the documentation -----------------------------------------------------------------------------------


def as_page() -> str:
    """The whole catalogue as Markdown: the tree, the comparison of families, and every entry.

    >>> as_page().startswith("# The catalogue of methods")
    True
    """
    families = [described for described in catalogue().values() if described.family is None]
    parts = [
        "# The catalogue of methods",
        "This page is made from the catalogue that `keepsense guide` uses. The grouping of "
        "generalization into three categories, each with one flowchart whose parameters its algorithms fill in, is "
        "that of Ben Fredj, Lammari and Comyn-Wattiau (2015). A star marks their nine algorithms.",
        "```text\n" + "\n\n".join(draw_tree_text(tree(described.name)) for described in families) + "\n```",
        "## What families of methods preserve",
        "After Rodríguez-García (2017), Table 2.1: `=` fully, `++` highly, `+` fairly, empty: not. For words, the "
        "semantic versions in Keepsense take swapping, noise and microaggregation to nominal values too. The mark for "
        "correlation under noise is that of correlated noise.",
        _comparison(),
        "## What keeps which promise",
        "After Rodríguez-García (2017), Table 2.2. Where the table names noise addition for differential privacy, "
        "noise calibrated to it is meant: a family of its own here, because noise that only masks keeps no such "
        "promise.",
        _promises(),
    ]
    for described in families:
        parts += _section(described, 2)
    return "\n\n".join(parts) + "\n"


def _comparison() -> str:
    names = list(PRESERVED)
    head = ["", *(entry(name).title.lower() for name in names)]
    rows = [[kind, *("yes" if kind in APPLICABLE[name] else "" for name in names)] for kind in DATA_TYPES]
    rows += [[feature, *(_code(PRESERVED[name].get(feature, "")) for name in names)] for feature in FEATURES]
    return _table(head, rows)


def _code(mark: str) -> str:
    return f"`{mark}`" if mark else ""


def _promises() -> str:
    rows = [[promise, ", ".join(entry(name).title.lower() for name in able)] for promise, able in SATISFIES.items()]
    return _table(["promise", "families"], rows)


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _section(described: Described, level: int) -> list[str]:
    parts = [f"{'#' * level} {described.title}", described.intent]
    lines = []
    for title, texts in _parts(described):
        lines.append(f"- **{title}**: {'; '.join(texts)}")
    parts.append("\n".join(lines))
    if described.fillings:
        rows = [[f"*{key}*", filling.words.strip("; ") or "not used"] for key, filling in described.fillings.items()]
        parts.append(_table(["parameter", "filled in with"], rows))
    if described.steps is not None:
        parts.append(f"```text\n{draw_text(described.steps)}\n```")
    for child in children(described.name):
        parts += _section(child, min(level + 1, 4))
    return parts
