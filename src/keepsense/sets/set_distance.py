"""Distances between sets of items: the five of Batet et al. 2014 (Eq. 2 to 6), and compiled passes over records.

| name | distance | equation |
|---|---|---|
| `minimum` | the two nearest items | 2 |
| `maximum` | the two farthest items | 3 |
| `average` | the mean over all pairs | 4 |
| `minimum-sum` | the mean over all items of both of the distance to the nearest item of the other set | 5 |
| `maximum-sum` | the same with the farthest item | 6 |

Over an `ItemDistances` without a distance they are the versions that ignore meaning (Eq. 9). The average of a set of
two items or more to itself is not 0, and no more are maximum and maximum sum: the definitions compare all pairs.

A set must not be empty: `keepsense.sets.concept_sets` gives an empty one a single opaque item, "nothing",
which makes it 0 from other empty sets and 1 from all else, in each of the five.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints, Rows
from keepsense.counts import Counts, Value
from keepsense.errors import BadInput, did_you_mean
from keepsense.semantics.attribute import Nominal
from keepsense.semantics.distance import Distance
from keepsense.sets.item_distances import ItemDistances
from keepsense.sets.item_sets import from_delimited, spelled

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

    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
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
        from keepsense.sets import set_kernels as kernels

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
        from keepsense.sets import set_kernels as kernels

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
        from keepsense.sets import set_kernels as kernels

        sizes = np.diff(self._starts)
        weight = np.bincount(self._indices, np.repeat(left / sizes, sizes), len(self.items))
        semantic = self.items.semantic
        reach = self.items.weighted(weight[:semantic]) + weight[semantic:].sum()
        self._sums = np.zeros(len(self.items), dtype=np.int64)
        kernels.add_fixed(reach, self._unit, 1, semantic, self._sums)
        # For an opaque item only what is missing to 1 is summed: how often it meets itself.
        self._sums[semantic:] = np.rint(weight[semantic:] * self._unit).astype(np.int64)

    def _add(self, distances: Floats, copies: int) -> None:
        from keepsense.sets import set_kernels as kernels

        kernels.add_fixed(distances, self._unit, copies, len(distances), self._sums)

    def leave(self, record: int, copies: int, known: Floats | None = None) -> None:
        """Take some copies of a record out of the running sums; `known` are its distances where they are at hand."""
        from keepsense.sets import set_kernels as kernels

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
        from keepsense.sets import set_kernels as kernels

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
        from keepsense.sets import set_kernels as kernels

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


@dataclass(frozen=True, eq=False)
class Sets:
    """A column of sets: each cell a tuple or frozenset of words, or with `delimiter` one text that lists them.

    Distances between sets are those of Batet et al. 2014 (Eq. 2-6); the normalised sum of minimum distances, Eq. 5, is
    0 for equal sets only and the default.

    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet"), ("pug", "dog")])
    >>> counts = Counts.of({"pets": ["cat;dog", "cat", "pug"]})
    >>> Sets.of(counts, "pets", distance("feature", pets), delimiter=";").row(1).round(3).tolist()
    [0.222, 0.0, 0.75]
    """

    name: str
    values: tuple[Value, ...]
    weights: NDArray[np.int64]
    items: Nominal
    rows: Rows
    kind: str
    delimiter: str | None

    @classmethod
    def of(
        cls, counts: Counts, name: str, distance: Distance, *, kind: str = "minimum-sum", delimiter: str | None = None
    ) -> Sets:
        """A column of counts; every word of every set must be a concept of the distance's taxonomy."""
        check_kind(kind)
        values, weights = counts.values_of(name), counts.marginal(name)
        place: dict[str, int] = {}
        owner: list[int] = []
        item: list[int] = []
        for i, value in enumerate(values):
            words = _words(name, value, delimiter)
            owner += [i] * len(words)
            item += [place.setdefault(word, len(place)) for word in words]
        if not place:
            raise BadInput(f"column {name!r} holds empty sets only")
        times = np.bincount(item, weights[owner], len(place)).astype(np.int64)
        codes = np.arange(len(place), dtype=np.int32)[:, None]
        words_alone = Counts((name,), (tuple(place),), codes, times)
        nominal = Nominal.of(words_alone, name, distance)
        return cls(name, values, weights, nominal, Rows.from_pairs(owner, item, len(values)), kind, delimiter)

    @cached_property
    def _space(self) -> SetSpace:
        distance, concepts = self.items.bound()
        # One opaque item stands for nothing, so that an empty set is far from all others.
        empty = np.flatnonzero(self.rows.sizes == 0).astype(np.int32)
        nothing = np.full(len(empty), len(concepts), dtype=np.int32)
        owner = np.concatenate([self.rows.row_of(), empty]).astype(np.int32)
        item = np.concatenate([self.rows.indices, nothing]).astype(np.int32)
        rows = Rows.from_pairs(owner, item, len(self.rows))
        return SetSpace(self.kind, ItemDistances(distance, concepts, opaque=1), rows)

    @cached_property
    def matrix(self) -> Floats:
        """Distances of all pairs of sets."""
        return np.stack([self.row(i) for i in range(len(self.values))])

    def row(self, value: int) -> Floats:
        """Distances of one set to all; a set is at 0 from itself, whatever the kind of distance says."""
        found = np.array(self._space.from_record(value), dtype=np.float64)
        found[value] = 0.0
        return found

    def order(self, value: int) -> Ints:
        """Positions of all sets, the nearest to one first."""
        return np.argsort(self.row(value), kind="stable").astype(np.int32)

    def totals(self) -> Floats:
        """Sum of each set's distances to all rows."""
        return np.array([float(self.row(i) @ self.weights) for i in range(len(self.values))])

    def write(self, words: Sequence[Value]) -> Value:
        """A set as this column writes them."""
        if self.delimiter is not None:
            return spelled(words, self.delimiter)
        kinds = {type(v) for v in self.values}
        return frozenset(words) if kinds == {frozenset} else tuple(words)


def _words(name: str, value: Value, delimiter: str | None) -> list[str]:
    if isinstance(value, str):
        if delimiter is None:
            raise BadInput(f"column {name!r} holds text; say what separates its words with delimiter=...")
        if '"' in value:
            return sorted(map(str, from_delimited([value], delimiter=delimiter, column=name).sets()[0]))
        parts: Any = (part.strip() for part in value.split(delimiter))  # the same, and quicker
        return sorted({part for part in parts if part})
    if value is None:
        return []
    if not isinstance(value, tuple | frozenset):
        raise BadInput(f"column {name!r} holds a {type(value).__name__}; a set is a tuple, a frozenset or a text")
    return sorted({str(word) for word in value})
