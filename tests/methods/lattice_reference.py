"""The obvious way to search a lattice: recode the rows at every node, look at every class, keep the best."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from keepsense.arrays import Rows
from keepsense.counts import Counts, Histogram
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.requirement import suppression_limit
from keepsense.privacy.privacy_model import Model, bind, decide

Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Judged:
    node: tuple[int, ...]
    holds: bool
    classes: dict[tuple[Any, ...], int]
    bad: frozenset[tuple[Any, ...]]
    suppressed: int


def nodes_of(hierarchies: Mapping[str, Hierarchy]) -> list[tuple[int, ...]]:
    return list(itertools.product(*(range(h.height + 1) for h in hierarchies.values())))


def released(columns: Columns, hierarchies: Mapping[str, Hierarchy], node: Sequence[int]) -> list[tuple[Any, ...]]:
    """Rows as they are released at a node."""
    out = []
    for (name, hierarchy), level in zip(hierarchies.items(), node, strict=True):
        rule = dict(zip(hierarchy.leaves, hierarchy.cut(level).outputs, strict=True))
        out.append([rule[value] for value in columns[name]])
    return list(zip(*out, strict=True))


def judge(
    columns: Columns,
    sensitive: Columns,
    hierarchies: Mapping[str, Hierarchy],
    models: Sequence[Model],
    suppression: float,
    node: Sequence[int],
) -> Judged:
    rows = released(columns, hierarchies, node)
    classes = Counter(rows)
    order = list(classes)
    histograms = {}
    for name, column in sensitive.items():
        values = tuple(dict.fromkeys(column))
        table: dict[tuple[int, int], int] = defaultdict(int)
        for row, value in zip(rows, column, strict=True):
            table[order.index(row), values.index(value)] += 1
        at = sorted(table)
        histograms[name] = Histogram(
            values,
            Rows.from_pairs([a for a, _ in at], [b for _, b in at], len(order)),
            np.array([table[x] for x in at]),
        )
    weights = np.array([classes[c] for c in order])
    original = Counts.of({n: columns[n] for n in hierarchies}, histograms=dict(sensitive))
    decision = decide(bind(models, original), weights, histograms, suppression_limit(suppression, len(rows)))
    bad = frozenset(c for c, kept in zip(order, decision.kept.tolist(), strict=True) if not kept)
    return Judged(tuple(node), decision.holds, dict(classes), bad, decision.suppressed)


def value(
    measure: str, columns: Columns, hierarchies: Mapping[str, Hierarchy], judged: Judged, tables: Any = None
) -> float:
    """The measure at a judged node, cell by cell."""
    rows = released(columns, hierarchies, judged.node)
    total = len(rows)
    if measure == "height":
        return float(sum(judged.node))
    if measure == "discernibility":
        return float(sum(total if row in judged.bad else judged.classes[row] for row in rows))
    if measure == "average class size":
        return total / (len(judged.classes) - len(judged.bad) + (judged.suppressed > 0))
    by_column = []
    for (name, hierarchy), level in zip(hierarchies.items(), judged.node, strict=True):
        column, lost = columns[name], []
        for original, row in zip(column, rows, strict=True):
            lost.append(_cell(measure, hierarchy, column, original, level, row in judged.bad, name, tables))
        by_column.append(lost)
    if measure == "geometric loss" or (tables is not None and tables.combine == "geometric"):
        means = [sum(lost) / total for lost in by_column]
        return float(np.prod([1 + m for m in means]) ** (1 / len(means)) - 1)
    if tables is not None and tables.combine == "squares":
        return float(sum((sum(cells) / len(cells)) ** 2 for cells in zip(*by_column, strict=True)))
    cells = sum(map(sum, by_column))
    return cells if tables is not None and tables.combine == "sum" else cells / (total * len(by_column))


def _cell(
    measure: str,
    hierarchy: Hierarchy,
    column: Sequence[Any],
    original: Any,
    level: int,
    bad: bool,
    name: str,
    tables: Any,
) -> float:
    leaf = hierarchy.leaves.index(original)
    under = [x for x, code in zip(hierarchy.leaves, hierarchy.codes[:, level], strict=True)
             if code == hierarchy.codes[leaf, level]]  # fmt: skip
    if tables is not None:
        if bad:
            return float(np.broadcast_to(tables.suppressed[name], len(hierarchy.leaves))[leaf])
        return float(tables.tables[name][level][leaf])
    if measure == "non-uniform entropy":
        held = len(column) if bad else sum(x in under for x in column)
        return float(np.log2(held / sum(x == original for x in column)))
    if bad:
        return 1.0
    if measure == "precision":
        return level / max(1, hierarchy.height)
    if measure == "ncp":
        return len(under) / len(hierarchy.leaves) if len(under) > 1 else 0.0
    return (len(under) - 1) / max(1, len(hierarchy.leaves) - 1)


# ---- small random tables ------------------------------------------------------------------------------------------


@st.composite
def hierarchies(draw: st.DrawFn, name: str, rooted: bool = True) -> Hierarchy:
    """A hierarchy of up to five leaves and three steps, with or without a single top."""
    n = draw(st.integers(1, 5))
    height = draw(st.integers(0, 3))
    levels = [list(range(n))]
    for level in range(height):
        groups = sorted(set(levels[-1]))
        if rooted and level == height - 1:
            place = dict.fromkeys(groups, 0)
        else:
            place = {g: draw(st.integers(0, len(groups) - 1)) for g in groups}
        levels.append([place[g] for g in levels[-1]])
    rows = [(f"{name}{leaf}", *(f"{name}{step}:{levels[step][leaf]}" for step in range(1, height + 1)))
            for leaf in range(n)]  # fmt: skip
    return Hierarchy.of_rows(rows, name=name)


@st.composite
def tables(
    draw: st.DrawFn, rooted: bool = True
) -> tuple[dict[str, list[Any]], dict[str, list[Any]], dict[str, Hierarchy]]:
    """Columns, sensitive columns and hierarchies of a small table."""
    width = draw(st.integers(1, 3))
    chosen = {f"q{j}": draw(hierarchies(f"q{j}", rooted)) for j in range(width)}
    rows = draw(st.integers(2, 24))
    columns = {
        name: [h.leaves[draw(st.integers(0, len(h.leaves) - 1))] for _ in range(rows)] for name, h in chosen.items()
    }
    sensitive = {"s": [f"s{draw(st.integers(0, 3))}" for _ in range(rows)]}
    return columns, sensitive, chosen
