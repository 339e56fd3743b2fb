"""Distances between the distinct items of sets: rows of one matrix, computed once as memory allows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints
from keepsense.errors import BadInput
from keepsense.semantics.distance import Distance, Part

MEMORY = 256 << 20
"""Bytes that distances between concepts may take at once: the whole matrix up to 5,792 concepts, rows beyond."""


class ItemDistances:
    """Distances between items numbered from 0: first those that are concepts, then opaque ones.

    An opaque item (a term in no taxonomy) is 0 from itself and 1 from everything else, so it needs no row. Without a
    distance every item is opaque, which is the comparison by equality of Batet et al. 2014 (Eq. 9). Concept distances
    are divided by their maximum. The matrix between concepts is held whole where it fits into `memory` bytes; beyond,
    rows are worked out when they are asked for and the ones last used are kept.

    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet")])
    >>> items = ItemDistances(distance("feature", pets), pets.codes(["cat", "dog"]), opaque=1)
    >>> round(items.pair(0, 1), 4), items.pair(0, 2), items.pair(2, 2)
    (0.6667, 1.0, 0.0)
    """

    def __init__(
        self, distance: Distance | None, concepts: NDArray[Any] | None = None, opaque: int = 0, *, memory: int = MEMORY
    ) -> None:
        self.distance = None if distance is None else distance.normalised()
        self.concepts: Ints = np.empty(0, np.int32) if concepts is None else np.array(concepts, dtype=np.int32)
        if distance is None and len(self.concepts):
            raise BadInput("concepts are given but no distance between them; give both or none")
        self.semantic = len(self.concepts)
        self.size = self.semantic + opaque
        fit = memory // max(1, 8 * self.semantic)
        self.whole = fit >= self.semantic
        self.room = min(self.semantic, max(16, fit))

    def __len__(self) -> int:
        return self.size

    def pair(self, first: int, second: int) -> float:
        """Distance of two items, from the definition."""
        if first == second:
            return 0.0
        if self.distance is None or first >= self.semantic or second >= self.semantic:
            return 1.0
        return self.distance.pair(int(self.concepts[first]), int(self.concepts[second]))

    def blocks(self, items: NDArray[Any]) -> Iterator[tuple[Floats, NDArray[np.int64]]]:
        """Rows of the given concepts: a block and the positions in it, in pieces that fit into memory.

        A piece is good until the next one is asked for.
        """
        if not len(items):
            return
        if self.whole:
            yield self._matrix, items.astype(np.int64)
            return
        for start in range(0, len(items), self.room):
            yield self._rows, self._load(items[start : start + self.room])

    def rows(self, items: NDArray[Any]) -> Floats:
        """Distances of the given concepts to all concepts, as a copy."""
        out = np.empty((len(items), self.semantic))
        done = 0
        for block, where in self.blocks(items):
            out[done : done + len(where)] = block[where]
            done += len(where)
        return out

    def pairs(self, first: NDArray[Any], second: NDArray[Any]) -> Floats:
        """Distance of each of the first items to its partner among the second.

        >>> ItemDistances(None, opaque=2).pairs(np.array([0, 0]), np.array([0, 1])).tolist()
        [0.0, 1.0]
        """
        out: Floats = (first != second).astype(np.float64)
        known = np.flatnonzero((first < self.semantic) & (second < self.semantic))
        if self.whole:
            out[known] = self._matrix[first[known], second[known]]
            return out
        known = known[np.argsort(first[known], kind="stable")]
        rows, begin = np.unique(first[known], return_index=True)
        ends = np.append(begin[1:], len(known))
        done = 0
        for block, where in self.blocks(rows):
            some = known[begin[done] : ends[done + len(where) - 1]]
            place = np.repeat(where, ends[done : done + len(where)] - begin[done : done + len(where)])
            out[some] = block[place, second[some]]
            done += len(where)
        return out

    def weighted(self, weights: NDArray[Any]) -> Floats:
        """Sum of all rows, each times its weight: every row is worked out once, and kept only where all are."""
        if not self.semantic or self.distance is None:
            return np.zeros(self.semantic)
        if self.whole:
            summed: Floats = weights @ self._matrix
            return summed
        total = np.zeros(self.semantic)
        for where, block in self.distance._blocks(self.concepts, self._part):
            total += weights[where] @ block
        return total

    def worked_out(self) -> None:
        """Work the matrix out now, where it is held whole: copies that are sent elsewhere take it along."""
        if self.whole:
            _ = self._matrix

    # ---- the matrix, or some of its rows -------------------------------------------------------------------------

    @cached_property
    def _part(self) -> Part:
        assert self.distance is not None
        return Part(self.distance.taxonomy, self.concepts)

    def _work_out(self, items: NDArray[Any], out: Floats) -> None:
        # Through the part made once: `matrix` would gather everything above the columns anew for each request.
        assert self.distance is not None
        for where, block in self.distance._blocks(self.concepts[items], self._part):
            out[where] = block
        out[np.arange(len(items)), items] = 0.0

    @cached_property
    def _matrix(self) -> Floats:
        n = self.semantic
        out = np.empty((n, n))
        if not n:
            return out
        workers = min(os.cpu_count() or 1, 1 + n // 512)
        self._work_out(np.arange(min(n, 1)), out[:1])  # makes what the threads share
        bounds = np.linspace(0, n, workers + 1).astype(np.int64)
        with ThreadPoolExecutor(workers) as pool:
            pieces = pairwise(bounds.tolist())
            list(pool.map(lambda piece: self._work_out(np.arange(*piece), out[piece[0] : piece[1]]), pieces))
        return out

    @cached_property
    def _rows(self) -> Floats:
        return np.empty((self.room, self.semantic))

    @cached_property
    def _slots(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Slot of each concept or -1, concept in each slot or -1, and when each slot was last used."""
        return np.full(self.semantic, -1), np.full(self.room, -1), np.zeros(self.room, np.int64)

    _clock = 0

    def _load(self, items: NDArray[Any]) -> NDArray[np.int64]:
        slot, holds, used = self._slots
        self._clock += 1
        wanted = np.unique(items)
        used[slot[wanted[slot[wanted] >= 0]]] = self._clock
        missing = wanted[slot[wanted] < 0]
        if len(missing):
            free = np.argsort(used, kind="stable")[: len(missing)]
            slot[holds[free][holds[free] >= 0]] = -1
            fresh = np.empty((len(missing), self.semantic))
            self._work_out(missing, fresh)
            self._rows[free] = fresh
            holds[free] = missing
            slot[missing] = free
            used[free] = self._clock
        found: NDArray[np.int64] = slot[items]
        return found
