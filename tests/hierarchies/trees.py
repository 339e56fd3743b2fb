"""Hypothesis strategies for hierarchies; not a test file."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.hierarchy_tree import Tree


@st.composite
def hierarchies(draw: st.DrawFn, max_leaves: int = 9, max_height: int = 4) -> Hierarchy:
    """Any valid hierarchy with one root: random coarsenings, distinct labels on each level."""
    n = draw(st.integers(1, max_leaves))
    height = draw(st.integers(1, max_height))
    columns = [[f"v{i}" for i in range(n)]]
    group = list(range(n))
    for level in range(1, height):
        size = max(group) + 1
        up = [draw(st.integers(0, size - 1)) for _ in range(size)]
        kept = {old: new for new, old in enumerate(dict.fromkeys(up[g] for g in group))}
        group = [kept[up[g]] for g in group]
        columns.append([f"L{level}n{g}" for g in group])
    columns.append(["*"] * n)
    return Hierarchy.of_rows(list(zip(*columns, strict=True)), name="column")


@st.composite
def trees(draw: st.DrawFn, max_leaves: int = 8, max_inner: int = 6) -> Tree:
    """Any tree with distinct labels whose inner nodes all hold leaves."""
    inner = draw(st.integers(1, max_inner))
    parents = [-1] + [draw(st.integers(0, i - 1)) for i in range(1, inner)]
    childless = [i for i in range(inner) if i not in parents]
    leaves = childless + [draw(st.integers(0, inner - 1)) for _ in range(draw(st.integers(0, max_leaves)))]
    n = len(leaves)
    parent = [n + p for p in leaves] + [n + p if p >= 0 else -1 for p in parents]
    labels = [f"v{i}" for i in range(n)] + [f"n{i}" for i in range(inner)]
    return Tree(tuple(labels), np.array(parent, dtype=np.int32), n)
