"""What is left when a search through the lattice ends early: divided like a space, since its lattice is too large."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts, Histogram
from keepsense.errors import Infeasible
from keepsense.methods.generalize.multidim import groups
from keepsense.methods.generalize.parts.dimension import nominal
from keepsense.methods.generalize.parts.space import Space
from keepsense.methods.generalize.semantic_mondrian import kept
from keepsense.privacy import Model


def divided(
    space: Space,
    losses: Sequence[NDArray[np.float64]],
    rest: NDArray[np.int64],
    models: Sequence[Model],
    histograms: Mapping[str, Histogram],
) -> NDArray[np.int64] | None:
    """Groups of the waiting tuples, cut where least is lost; None where they cannot even be one class together."""
    whole = space.counts
    part = Counts(
        whole.names, whole.values, np.ascontiguousarray(whole.codes[rest]), whole.weights[rest], dict(histograms)
    )
    dimensions = []
    for name, values, hierarchy, raw, table in zip(
        whole.names, whole.values, space.hierarchies, space.raw, losses, strict=True
    ):
        by_node = []
        for level, labels in enumerate(hierarchy.labels):
            code = raw[:, level]
            there = np.maximum(np.bincount(code, minlength=len(labels)), 1)
            by_node.append(np.bincount(code, table[:, level], len(labels)) / there)
        dimensions.append(nominal(name, values, hierarchy, by_node))
    try:
        return groups(part, dimensions, models, score=kept, order="best")
    except Infeasible:
        return None
