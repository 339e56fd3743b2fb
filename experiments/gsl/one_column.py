"""One column generalized with one hierarchy for every k at once: where an algorithm stops, and what that loses.

With a single column a release is a level and the values whose classes are too small for k. Losses are sums over values,
so those of all k come from one table a level, in place of one run of the algorithm for each k. The tests set the levels
and losses beside what the algorithms and metrics of the library say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from experiments.gsl.columns import Column
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.recoding import SUPPRESSED
from keepsense.semantics.distance import Distance
from keepsense.utility.generalization_losses import level_losses
from keepsense.utility.value_distances import leaf_distances, value_concepts, value_distances

Floats = NDArray[np.float64]
KS = tuple(range(2, 101))
NOISE = 1e-9


@dataclass(frozen=True, eq=False)
class Tables:
    """What a column loses at each level of a hierarchy, value by value, and when suppressed."""

    levels: Floats
    hidden: Floats

    @classmethod
    def of(cls, hierarchy: Hierarchy, distance: Distance) -> Tables:
        """Semantic distances from values to their labels."""
        levels, hidden = leaf_distances(hierarchy, distance)
        return cls(np.stack(levels), hidden)


class OneColumn:
    """A column and a hierarchy of its values, asked about many k."""

    def __init__(self, column: Column, hierarchy: Hierarchy, ks: Sequence[int] = KS) -> None:
        self.hierarchy = hierarchy
        self.ks = np.array(ks)
        self.rows = np.array([column.counts[str(leaf)] for leaf in hierarchy.leaves], dtype=np.int64)
        self.total = int(self.rows.sum())
        if self.total < max(ks):
            raise ValueError(f"{hierarchy.name}: {self.total} records cannot be alike by {max(ks)}")
        sizes = [np.bincount(codes, self.rows)[codes] for codes in hierarchy.codes.T]
        # levels x k x values: whether a value's class is too small
        self.small = np.stack(sizes)[:, None, :] < self.ks[None, :, None]
        self.alone = (self.small @ self.rows).T
        """Records in classes of fewer than k, for each k (rows) at each level (columns)."""

    def holds(self, *, suppress: bool) -> NDArray[np.bool_]:
        """Whether each k is kept at each level; with `suppress` at most k records may be suppressed, but never all."""
        limit = np.minimum(self.ks, self.total - 1) if suppress else np.zeros_like(self.ks)
        return np.asarray(self.alone <= limit[:, None], dtype=np.bool_)

    def datafly(self, *, suppress: bool) -> NDArray[np.int64]:
        """The lowest level at which each k is kept: with one column semantic Datafly has nothing to choose."""
        lowest: NDArray[np.int64] = np.argmax(self.holds(suppress=suppress), axis=1)
        return lowest

    def incognito(self, tables: Tables, *, suppress: bool) -> NDArray[np.int64]:
        """Of all levels at which each k is kept, the one that loses least meaning; of equals the lowest."""
        lost = np.stack([self._sums(tables, level, 1) for level in range(len(self.small))], axis=1) / self.total
        lost = np.where(self.holds(suppress=suppress), lost, np.inf)
        best: NDArray[np.int64] = np.argmax(lost <= lost.min(axis=1, keepdims=True) + NOISE, axis=1)
        return best

    def _sums(self, tables: Tables, level: int, power: int) -> Floats:
        """Sum over records of a power of what each loses at one level, too small classes suppressed, for each k."""
        lost = np.where(self.small[level], tables.hidden, tables.levels[level]) ** power
        found: Floats = lost @ self.rows
        return found

    def lost(self, tables: Tables, levels: NDArray[np.int64], power: int = 1) -> Floats:
        """The same at the level that each k ends at: SemILoss times the records, with power 2 the SSE."""
        found = np.empty(len(self.ks))
        for level in np.unique(levels):
            mine = levels == level
            found[mine] = self._sums(tables, int(level), power)[mine]
        return found

    def class_sizes(self, levels: NDArray[np.int64]) -> Floats:
        """Records over classes over k (CAVG), the suppressed records counted as one class."""
        number = np.empty(len(self.ks))
        for level in np.unique(levels):
            labels = self.hierarchy.labels[level]
            same = {label: i for i, label in enumerate(labels)}  # in a test bed one label can stand for two groups
            shown = np.array([same[label] for label in labels])[self.hierarchy.codes[:, level]]
            held = np.eye(len(labels), dtype=np.int64)[shown]
            small = self.small[level]
            number[levels == level] = ((((~small) @ held) > 0).sum(axis=1) + small.any(axis=1))[levels == level]
        sizes: Floats = self.total / number / self.ks
        return sizes

    def linked(self, distance: Distance) -> Tables:
        """Chance that a record is linked rightly to its original by the least distance (`record_linkage`)."""
        concepts = value_concepts(self.hierarchy, distance.taxonomy)
        leaves = self.hierarchy.leaves
        levels = []
        for level, labels in enumerate(self.hierarchy.labels):
            levels.append(self._chance(value_distances(distance, labels, leaves, concepts), level))
        hidden = self._chance(value_distances(distance, [SUPPRESSED], leaves, concepts), None)
        return Tables(np.stack(levels), hidden)

    def _chance(self, far: Floats, level: int | None) -> Floats:
        near = far <= far.min(axis=1, keepdims=True) + NOISE
        group = near @ self.rows
        code = np.zeros(len(self.rows), dtype=np.int64) if level is None else self.hierarchy.codes[:, level]
        found: Floats = near[code, np.arange(len(code))] / group[code]
        return found

    @cached_property
    def shares(self) -> Tables:
        """Share of the values that a label covers (GenILoss)."""
        return Tables(level_losses("geniloss", self.hierarchy).T, np.ones(len(self.rows)))
