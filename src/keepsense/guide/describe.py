"""The catalogue in words: one entry for the terminal, for scripts, and all of it as a page of the documentation."""

from __future__ import annotations

import textwrap
from typing import Any

from keepsense.guide.catalogue import catalogue, children, entry, flowchart
from keepsense.guide.flowchart_text import draw_text
from keepsense.guide.properties import APPLICABLE, DATA_TYPES, FEATURES, PRESERVED, SATISFIES
from keepsense.guide.taxonomy_tree import draw_tree_text, tree
from keepsense.methods.registry import Described, Relation

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
        "This page is written from the catalogue that `keepsense guide` uses; a test keeps both alike. The grouping of "
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


if __name__ == "__main__":
    import sys

    sys.stdout.write(as_page())
