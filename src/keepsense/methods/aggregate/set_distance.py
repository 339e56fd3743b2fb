"""How far two sets of items are apart: the five distances of Batet et al. 2014 (Eq. 2 to 6), and passes over records.

| name | distance | equation |
|---|---|---|
| `minimum` | the two nearest items | 2 |
| `maximum` | the two farthest items | 3 |
| `average` | the mean over all pairs | 4 |
| `minimum-sum` | the mean over all items of both of the distance to the nearest item of the other set | 5 |
| `maximum-sum` | the same with the farthest item | 6 |

Over an `ItemDistances` without a distance they are the versions that ignore meaning (Eq. 9). The average of a set of
two items or more to itself is not 0, and no more are maximum and maximum sum: the definitions compare all pairs.

A set must not be empty: `keepsense.methods.aggregate.concepts` gives an empty one a single opaque item, "nothing",
which makes it 0 from other empty sets and 1 from all else, in each of the five.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Rows
from keepsense.errors import BadInput, did_you_mean
from keepsense.methods.aggregate.item_distances import ItemDistances

KINDS = ("average", "minimum", "maximum", "minimum-sum", "maximum-sum")
"""Names of the set distances."""

_FINEST = 40

_COLUMNS = 256


def check_kind(kind: str) -> str:
    """The name of a set distance, or an error that lists them.

    >>> check_kind("average")
    'average'
    """
    if kind not in KINDS:
        raise BadInput(f"no set distance is called {kind!r}; there are: {', '.join(KINDS)}.{did_you_mean(kind, KINDS)}")
    return kind


def set_distance(kind: str, items: ItemDistances, first: Sequence[int], second: Sequence[int]) -> float:
    """Distance of two sets of items, straight from the definition: slow, obvious, for single pairs and for tests.

    >>> from keepsense.semantics import distance
    >>> from keepsense.taxonomy import from_edges
    >>> web = from_edges([("Swimming", "Water Sports"), ("Windsurfing", "Water Sports"), ("Water Sports", "Sports"),
    ...                   ("Sports", "Top"), ("Mediterranean", "Top")])
    >>> items = ItemDistances(distance("feature", web), web.codes(["Swimming", "Windsurfing", "Mediterranean"]))
    >>> set_distance("minimum-sum", items, [0, 2], [1, 2])
    0.2

    The root is among the subsumers here. The paper's example has trees without a common one, and comes to 0.25:

    >>> rootless = ItemDistances(distance("feature", web, root=False), items.concepts)
    >>> set_distance("minimum-sum", rootless, [0, 2], [1, 2])
    0.25
    """
    check_kind(kind)
    if not len(first) or not len(second):
        raise BadInput("the distance of an empty set is not defined; give it an item that stands for nothing")
    table = [[items.pair(int(a), int(b)) for b in second] for a in first]
    flat = [d for row in table for d in row]
    if kind == "minimum":
        return min(flat)
    if kind == "maximum":
        return max(flat)
    if kind == "average":
        return sum(flat) / len(flat)
    pick: Callable[[Iterable[float]], float] = min if kind == "minimum-sum" else max
    there = sum(pick(row) for row in table)
    back = sum(pick(column) for column in zip(*table, strict=True))
    return (there + back) / (len(first) + len(second))


class SetSpace:
    """Records as sets of items, and the distances of one to all that are ungrouped, in compiled passes.

    `rows` holds the distinct records, none empty, each item once. All five distances spread the fixed record over the
    vocabulary first (distance of every item to it: |record| x concepts) and then read each record's items once, so a
    pass costs as much as there are items. The two sums go back as well, |record| for every item read. The average is
    bilinear: with K the distances between concepts and R the records, each divided by its size, all distances of record
    r are R (K r), and all sums of distances R (K R' left), one pass for the centroid. For the others the sums are kept
    up by one pass for each record that leaves.

    >>> items = ItemDistances(None, opaque=3)
    >>> space = SetSpace("average", items, Rows.from_pairs([0, 1, 1], [0, 0, 1], 2))
    >>> space.from_record(0).tolist()
    [0.0, 0.5]
    """

    noise = 1e-9

    def __init__(self, kind: str, items: ItemDistances, rows: Rows) -> None:
        self.kind = check_kind(kind)
        self.items = items
        if (rows.sizes == 0).any():
            raise BadInput("a record is empty; give it an item that stands for nothing")
        self._starts, self._indices = rows.starts, rows.indices
        self._reach = np.ones(len(items))
        self._mark = np.zeros(len(items), dtype=np.bool_)
        self._out = np.empty(len(rows))
        # Running sums of distances are whole numbers of units, so that taking a record off again leaves no trace.
        self._sums: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._unit = 1.0
        self._total = 0

    def __len__(self) -> int:
        return len(self._starts) - 1

    def items_of(self, record: int) -> NDArray[np.int32]:
        """Items of one record."""
        return self._indices[self._starts[record] : self._starts[record + 1]]

    # ---- distances -----------------------------------------------------------------------------------------------

    def from_record(self, record: int) -> Floats:
        """Distances of one record to all; good until the next call."""
        return self.from_items(self.items_of(record))

    def from_items(self, items: NDArray[Any]) -> Floats:
        """Distances of any set of items to all records; good until the next call."""
        from keepsense.methods.aggregate.kernels import groups as kernels

        opaque = self._spread(items)
        at, out = (self._starts, self._indices), self._out
        if self.kind == "average":
            kernels.mean_pass(*at, self._reach, out)
        elif self.kind == "minimum":
            kernels.least_pass(*at, self._reach, out)
        elif self.kind == "maximum":
            kernels.most_pass(*at, self._reach, out)
        else:
            least = self.kind == "minimum-sum"
            self._mark[opaque] = True
            semantic = self.items.semantic
            kernels.begin_both_ways(*at, self._reach, self._mark, len(opaque), semantic, least, out)
            self._mark[opaque] = False
            back = kernels.back_least if least else kernels.back_most
            for block, where in self.items.blocks(items[items < semantic]):
                for start in range(0, len(where), _COLUMNS):
                    table = np.ascontiguousarray(block[where[start : start + _COLUMNS]].T)
                    back(*at, table, semantic, out)
            kernels.divide_by_sizes(self._starts, len(items), out)
        self._reach[opaque] = 1.0
        return out

    def _spread(self, items: NDArray[Any]) -> NDArray[Any]:
        """Distance of every item of the vocabulary to a set, in `_reach`; returns the set's opaque items."""
        from keepsense.methods.aggregate.kernels import groups as kernels

        semantic, reach = self.items.semantic, self._reach
        opaque = items[items >= semantic]
        own = items[items < semantic]
        if self.kind == "average":
            reach[:semantic] = len(opaque)
            for block, where in self.items.blocks(own):
                kernels.add_rows(block, where, semantic, reach)
            reach[:semantic] /= len(items)
            reach[opaque] = 1.0 - 1.0 / len(items)
        elif self.kind in ("minimum", "minimum-sum"):
            reach[:semantic] = 1.0
            for block, where in self.items.blocks(own):
                kernels.least_rows(block, where, semantic, reach)
            reach[opaque] = 0.0
        else:
            reach[:semantic] = 1.0 if len(opaque) else 0.0
            if not len(opaque):
                for block, where in self.items.blocks(own):
                    kernels.most_rows(block, where, semantic, reach)
            reach[opaque] = 0.0 if len(items) == 1 else 1.0
        return opaque

    # ---- sums of distances and the centroid ----------------------------------------------------------------------

    def start(self, left: NDArray[np.int64]) -> None:
        """Work out what the centroid needs, for the records that are left now."""
        self._total = int(left.sum())
        self._unit = float(1 << min(_FINEST, 61 - self._total.bit_length()))
        if self.kind == "average":
            self._start_bilinear(left)
            return
        self._sums = np.zeros(len(self), dtype=np.int64)
        for record in np.flatnonzero(left).tolist():
            self._add(self.from_record(record), int(left[record]))

    def _start_bilinear(self, left: NDArray[np.int64]) -> None:
        from keepsense.methods.aggregate.kernels import groups as kernels

        sizes = np.diff(self._starts)
        weight = np.bincount(self._indices, np.repeat(left / sizes, sizes), len(self.items))
        semantic = self.items.semantic
        reach = self.items.weighted(weight[:semantic]) + weight[semantic:].sum()
        self._sums = np.zeros(len(self.items), dtype=np.int64)
        kernels.add_fixed(reach, self._unit, 1, semantic, self._sums)
        # For an opaque item only what is missing to 1 is summed: how often it meets itself.
        self._sums[semantic:] = np.rint(weight[semantic:] * self._unit).astype(np.int64)

    def _add(self, distances: Floats, copies: int) -> None:
        from keepsense.methods.aggregate.kernels import groups as kernels

        kernels.add_fixed(distances, self._unit, copies, len(distances), self._sums)

    def leave(self, record: int, copies: int, known: Floats | None = None) -> None:
        """Take some copies of a record out of the running sums; `known` are its distances where they are at hand."""
        from keepsense.methods.aggregate.kernels import groups as kernels

        self._total -= copies
        if self.kind != "average":
            self._add(self.from_record(record) if known is None else known, -copies)
            return
        items = self.items_of(record)
        opaque = self._spread(items)
        self._reach[opaque] = 1.0
        kernels.add_fixed(self._reach, self._unit, -copies, self.items.semantic, self._sums)
        self._sums[opaque] -= copies * np.int64(np.rint(self._unit / len(items)))

    def totals(self) -> Floats:
        """Mean distance of each record to all that are left; good until the next call."""
        from keepsense.methods.aggregate.kernels import groups as kernels

        if self.kind != "average":
            np.divide(self._sums, self._unit * max(1, self._total), out=self._out)
            return self._out
        semantic = self.items.semantic
        reach = self._sums / self._unit
        reach[semantic:] = self._total - reach[semantic:]
        reach /= max(1, self._total)
        kernels.mean_pass(self._starts, self._indices, reach, self._out)
        return self._out

    def centroid(self, left: NDArray[np.int64]) -> int:
        """Record with the least sum of distances to all that are left (Eq. 7); of equals the first."""
        from keepsense.methods.aggregate.kernels import groups as kernels

        return int(kernels.closest(self.totals(), left, self.noise))

    def from_centre(self, left: NDArray[np.int64]) -> Floats:
        """Distances to the centroid of what is left; good until the next call."""
        return self.from_record(self.centroid(left))

    # ---- parts ---------------------------------------------------------------------------------------------------

    def keep(self, records: NDArray[np.int64]) -> None:
        """Go on with some of the records only, numbered anew in their order."""
        rows = Rows(self._starts, self._indices)
        sizes = rows.sizes[records]
        starts = np.zeros(len(records) + 1, dtype=np.int32)
        np.cumsum(sizes, out=starts[1:])
        self._indices = rows.gather(records.astype(np.int32))
        self._starts = starts
        self._out = np.empty(len(records))
        if self.kind != "average":
            self._sums = self._sums[records] if len(self._sums) else self._sums
