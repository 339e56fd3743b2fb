"""The part of a taxonomy that a comparison needs, and the four sweeps over it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Ints
from keepsense.taxonomy import Taxonomy

Table = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Part:
    """Everything above some concepts, numbered so that parents come before children.

    >>> from keepsense.taxonomy import from_edges
    >>> pets = from_edges([("cat", "animal"), ("dog", "animal"), ("oak", "animal")])
    >>> part = Part(pets, pets.codes(["cat", "dog"]))
    >>> len(part.nodes), part.path(pets.codes(["cat"])).tolist()
    (3, [[0, 2]])
    """

    taxonomy: Taxonomy
    columns: Ints

    @cached_property
    def nodes(self) -> Ints:
        """Concepts of the part, parents first."""
        t = self.taxonomy
        if len(self.columns) == len(t):
            return t.order
        inside = np.zeros(len(t), dtype=np.bool_)
        inside[t.closure(self.columns, t.parents)] = True
        inner: Ints = t.order[inside[t.order]]
        return inner

    @cached_property
    def place(self) -> Ints:
        """Position of each concept in `nodes`, or -1."""
        place = np.full(len(self.taxonomy), -1, dtype=np.int32)
        place[self.nodes] = np.arange(len(self.nodes), dtype=np.int32)
        return place

    @cached_property
    def graph(self) -> tuple[NDArray[Any], Ints]:
        """Parents of each node as (starts, positions); everything above a node is in the part."""
        parents = self.taxonomy.parents
        starts = np.zeros(len(self.nodes) + 1, dtype=np.int64)
        np.cumsum(parents.sizes[self.nodes], out=starts[1:])
        return starts, self.place[parents.gather(self.nodes)]

    @cached_property
    def targets(self) -> Ints:
        """Positions of the columns."""
        positions: Ints = self.place[self.columns]
        return positions

    @cached_property
    def _rank(self) -> Ints:
        """Rank of each node as a least common subsumer, from 0 within the part."""
        rank = np.empty(len(self.nodes), dtype=np.int32)
        order = np.argsort(self.taxonomy.specificity[self.nodes], kind="stable")
        rank[order] = np.arange(len(self.nodes), dtype=np.int32)
        return rank

    @cached_property
    def _by_rank(self) -> Ints:
        by_rank = np.empty(len(self.nodes), dtype=np.int32)
        by_rank[self._rank] = self.nodes
        return by_rank

    @cached_property
    def _above_columns(self) -> tuple[NDArray[Any], Ints]:
        from keepsense.semantics.kernels.sweeps import climb

        starts, parents = self.graph
        row, above, _ = climb(starts, parents, self.targets)
        return row, above

    def _sources(self, concepts: Ints) -> tuple[NDArray[Any], Ints, Ints]:
        """Subsumers of the sources inside the part, with links up: those outside can be common to nothing here."""
        from keepsense.semantics.kernels.sweeps import climb

        parents = self.taxonomy.parents
        row, above, up = climb(parents.starts, parents.indices, concepts)
        position = self.place[above]
        inside = position >= 0
        starts = np.zeros(len(row), dtype=np.int64)
        np.cumsum(np.add.reduceat(inside.astype(np.int64), row[:-1]), out=starts[1:])
        return starts, position[inside], up[inside]

    def path(self, concepts: Ints) -> NDArray[np.int32]:
        """Fewest is-a links between each concept and each column."""
        from keepsense.semantics.kernels.sweeps import sweep_path

        row, above, up = self._sources(concepts)
        out = np.empty((len(concepts), len(self.columns)), dtype=np.int32)
        sweep_path(*self.graph, row, above, up, self.targets, out)
        return out

    def lcs(self, concepts: Ints) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Least common subsumer of each concept and column, and the links from both to it."""
        from keepsense.semantics.kernels.sweeps import sweep_lcs

        row, above, up = self._sources(concepts)
        out = np.empty((2, len(concepts), len(self.columns)), dtype=np.int32)
        sweep_lcs(*self.graph, row, above, up, self._rank, self.targets, out)
        return self._by_rank[out[0]], out[1]

    def highest(self, concepts: Ints, weights: NDArray[Any]) -> NDArray[Any]:
        """Largest weight among common subsumers; weights (one a concept) must not fall from parent to child."""
        from keepsense.semantics.kernels.sweeps import sweep_max

        row, above, _ = self._sources(concepts)
        out = np.empty((len(concepts), len(self.columns)), dtype=weights.dtype)
        sweep_max(*self.graph, row, above, weights[self.nodes], self.targets, out)
        return out

    def shared(self, concepts: Ints) -> NDArray[np.int32]:
        """Number of subsumers each concept and column share."""
        from keepsense.semantics.kernels.sweeps import count_shared

        row, above, _ = self._sources(concepts)
        out = np.empty((len(concepts), len(self.columns)), dtype=np.int32)
        count_shared(len(self.nodes), row, above, *self._above_columns, out)
        return out


def subsumer_counts(taxonomy: Taxonomy, concepts: Ints) -> Ints:
    """Number of subsumers of each concept, itself included.

    >>> from keepsense.taxonomy import from_edges
    >>> pets = from_edges([("cat", "animal")])
    >>> subsumer_counts(pets, pets.codes(["cat", "animal"])).tolist()
    [2, 1]
    """
    from keepsense.semantics.kernels.sweeps import climb

    row, _, _ = climb(taxonomy.parents.starts, taxonomy.parents.indices, np.asarray(concepts, dtype=np.int32))
    sizes: Ints = np.diff(row).astype(np.int32)
    return sizes
