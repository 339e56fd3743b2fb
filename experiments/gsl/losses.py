"""What a release lost, for many releases of one table: distances between labels and values are worked out once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts, Value
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.recoding import SUPPRESSED, Cuts
from keepsense.semantics.distance import Distance
from keepsense.utility.semantic_loss import semantic_loss, semantic_sse
from keepsense.utility.value_distances import value_concepts, value_distances


class Losses:
    """Semantic SSE and SemILoss (Eq. 11 and 12) of releases made with one set of hierarchies."""

    def __init__(self, counts: Counts, hierarchies: Mapping[str, Hierarchy], distance: Distance) -> None:
        self.counts = counts
        self._row: dict[str, dict[Value, int]] = {}
        self._far: dict[str, NDArray[np.float64]] = {}
        self._known: dict[object, tuple[float, float]] = {}
        for name, hierarchy in hierarchies.items():
            labels = list(dict.fromkeys([label for level in hierarchy.labels for label in level] + [SUPPRESSED]))
            concepts = value_concepts(hierarchy, distance.taxonomy)
            self._row[name] = {label: i for i, label in enumerate(labels)}
            self._far[name] = value_distances(distance, labels, counts.values_of(name), concepts)

    def __call__(self, released: Cuts) -> tuple[float, float]:
        """SSE and SemILoss of a release."""
        key = (released.levels, released.suppress)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._measured(released)
        return found

    def matrices(self, released: Cuts) -> dict[str, NDArray[np.float64]]:
        """Distances from each released value to each original one, column by column."""
        cells = released.cells(self.counts)
        return {
            name: self._far[name][[self._row[name][value] for value in values]]
            for name, values in zip(cells.names, cells.values, strict=True)
        }

    def _measured(self, released: Cuts) -> tuple[float, float]:
        far = self.matrices(released)
        return semantic_sse(self.counts, released, far), semantic_loss(self.counts, released, far)
