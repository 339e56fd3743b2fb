"""Random inputs that several tests draw from."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import from_edges


@st.composite
def taxonomies(draw: st.DrawFn, max_size: int = 24) -> Taxonomy:
    """A small is-a graph with one root, several parents here and there, and parts; codes in no helpful order."""
    n = draw(st.integers(1, max_size))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    names = [f"c{i}" for i in rng.permutation(n)]
    edges = []
    for i in range(1, n):
        width = 1 + int(rng.random() < 0.35) + int(rng.random() < 0.1)
        for parent in rng.choice(i, size=min(width, i), replace=False):
            edges.append((names[i], names[int(parent)]))
    rng.shuffle(edges)
    parts = [(names[int(a)], names[int(b)]) for a, b in rng.integers(0, n, size=(n // 3, 2)) if a != b]
    spelled = {name: [name, f"also {name}", f"word {int(rng.integers(5))}"] for name in sorted(names)}
    return from_edges([tuple(e) for e in edges], names=spelled, relations={"part": parts})
