"""The promise about sets that whoever knows a few items of a person still finds enough people: k^m-anonymity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Ints, Rows
from keepsense.counts import Histogram
from keepsense.errors import Infeasible
from keepsense.privacy.base import Flags, Model, Weights, histogram_of, unless_empty
from keepsense.privacy.parameters import Column, Count
from keepsense.privacy.registry import privacy_model

_BLOCK = 1 << 21
_MOST = 1 << 29


@privacy_model(
    check="",
    check_sets="keepsense.privacy.checks.sets:combinations",
    promises="whoever knows up to m items of a person still finds at least k records that hold them",
    choose="sets are published, and nobody can say which items would give somebody away",
    paper="Terrovitis et al. 2008",
    rank=18,
    begin={"k": 5, "m": 2},
)
@dataclass(frozen=True)
class KmAnonymity(Model):
    """Any m items or fewer that occur together occur together in at least k records (Terrovitis et al. 2008).

    For set-valued columns, where nobody can say which items are quasi-identifying: an attacker who knows up to m items
    of a person finds at least k records that hold them. A class is a distinct released set; `column` names the
    histogram that counts its items. `satisfied` marks the sets in which every such combination is frequent enough;
    suppressing others lowers frequencies, so `holds` decides for what is kept. It says nothing of an attacker who
    knows more than m items: a set need not be shared as a whole.

    >>> baskets = Histogram(("milk", "tea"), Rows.from_pairs([0, 0, 1], [0, 1, 0], 2), np.ones(3, np.int64))
    >>> KmAnonymity(2, 1, "basket").satisfied(np.array([1, 4]), {"basket": baskets}).tolist()
    [False, True]
    """

    k: Count
    m: Count
    column: Column
    name: ClassVar[str] = "k^m-anonymity"
    per_class: ClassVar[bool] = False
    by_size: ClassVar[bool] = True
    of_sets: ClassVar[bool] = True

    def satisfied(self, class_weights: Weights, histograms: Mapping[str, Histogram]) -> Flags:
        """Whether every combination of up to m items of each set occurs at least k times."""
        items = histogram_of(histograms, self.column, len(class_weights), self.name)
        bad = np.zeros(len(class_weights), dtype=np.bool_)
        for rare in rare_itemsets(items.rows, class_weights, self.k, self.m):
            bad[rare.holders] = True
        return unless_empty(~bad, class_weights)

    def holds(self, class_weights: Weights, histograms: Mapping[str, Histogram], kept: Flags | None = None) -> bool:
        """Whether no combination of up to m items is rare among the sets that are kept."""
        weights = class_weights if kept is None else np.where(kept, class_weights, 0)
        return bool(self.satisfied(weights, histograms).all())

    def describe(self) -> str:
        """The promise in plain words."""
        items = "item" if self.m == 1 else f"{self.m} items or fewer"
        return f"Any {items} of {self.column} that occur together do so in at least {self.k} records."


@dataclass(frozen=True, eq=False)
class Rare:
    """Combinations of one size that occur, but in too few records: a row each, how often, and the sets holding any.

    >>> Rare(np.array([[1, 2]]), np.array([3]), np.array([0])).itemsets.tolist()
    [[1, 2]]
    """

    itemsets: Ints
    support: NDArray[np.int64]
    holders: NDArray[np.int64]


def rare_itemsets(rows: Rows, weights: Weights, k: int, m: int) -> Iterator[Rare]:
    """Combinations of 1 to m items held by at least one and fewer than k records, size by size.

    Those that contain a smaller rare one are rare too and left out, so only items that are frequent by themselves are
    combined. Refused where a set is so large that its combinations cannot be counted.

    >>> sets = Rows.from_pairs([0, 0, 1, 1, 2], [0, 1, 0, 2, 0], 3)
    >>> [rare.itemsets.tolist() for rare in rare_itemsets(sets, np.ones(3, np.int64), 2, 2)]
    [[[1], [2]], []]
    """
    names, code = np.unique(rows.indices, return_inverse=True)
    row = rows.row_of()
    entry = weights[row] > 0
    support = np.bincount(code[entry], weights[row[entry]], len(names)).astype(np.int64)
    rare = (support > 0) & (support < k)
    bad = np.unique(row[entry & rare[code]])
    yield Rare(names[rare][:, None].astype(np.int32), support[rare], bad.astype(np.int64))
    shared = entry & (support[code] >= k)
    frequent = Rows.from_pairs(row[shared], code[shared].astype(np.int32), len(rows))
    smaller: list[Ints] = []
    for number in range(2, m + 1):
        itemsets, times = _counted(frequent, weights, number)
        itemsets, times = itemsets[times < k], times[times < k]
        minimal = ~_contain_any(itemsets, smaller)
        itemsets = itemsets[minimal]
        yield Rare(names[itemsets].astype(np.int32), times[minimal], _holders(frequent, weights, itemsets))
        smaller.append(itemsets)


def _counted(rows: Rows, weights: Weights, number: int) -> tuple[Ints, NDArray[np.int64]]:
    """Every combination of `number` items that occurs, sorted, and the records that hold it."""
    total = sum(comb(int(s), number) for s in rows.sizes.tolist())
    if total > _MOST:
        raise Infeasible(
            f"k^m-anonymity: the sets hold {total:,} combinations of {number} items, too many to count",
            relax=("a smaller m", "generalize or split the largest sets first"),
        )
    keys = np.empty((0, number), dtype=np.int32)
    times = np.empty(0, dtype=np.int64)
    for itemsets, row in _combined(rows, number):
        live = weights[row] > 0
        all_times = np.concatenate([times, weights[row[live]]])
        keys, where = _unique_rows(np.concatenate([keys, itemsets[live]]))
        times = np.bincount(where, all_times, len(keys)).astype(np.int64)
    return keys, times


def _combined(rows: Rows, number: int) -> Iterator[tuple[Ints, NDArray[np.int64]]]:
    """Combinations of the items of each row, sorted within, in blocks; and the row of each."""
    sizes = rows.sizes
    for size in np.unique(sizes[sizes >= number]).tolist():
        which = np.flatnonzero(sizes == size)
        items = np.sort(rows.gather(which.astype(np.int32)).reshape(len(which), size), axis=1)
        choices = combinations(range(size), number)
        while True:
            picks = np.array(list(islice(choices, max(1, _BLOCK // len(which)))), dtype=np.int64)
            if not len(picks):
                break
            yield items[:, picks].reshape(-1, number), np.repeat(which, len(picks))


def _unique_rows(table: Ints) -> tuple[Ints, NDArray[np.int64]]:
    """Distinct rows, sorted, and which of them each row is."""
    if not len(table):
        return table, np.empty(0, dtype=np.int64)
    width = int(table.max()) + 1
    if width ** table.shape[1] < 2**62:
        key = np.zeros(len(table), dtype=np.int64)
        for column in table.T:
            key = key * width + column
        _, first, where = np.unique(key, return_index=True, return_inverse=True)
        return table[first], where
    distinct, where = np.unique(table, axis=0, return_inverse=True)
    return distinct, where.reshape(-1)


def _contain_any(table: Ints, smaller: list[Ints]) -> Flags:
    """Whether each combination contains one of the smaller ones."""
    contains = np.zeros(len(table), dtype=np.bool_)
    for itemsets in smaller:
        listed = {tuple(row) for row in itemsets.tolist()}
        for pick in combinations(range(table.shape[1]), itemsets.shape[1]) if listed and len(table) else ():
            contains |= np.fromiter((tuple(row) in listed for row in table[:, pick].tolist()), np.bool_, len(table))
    return contains


def _holders(rows: Rows, weights: Weights, itemsets: Ints) -> NDArray[np.int64]:
    """Rows that hold at least one of the combinations."""
    if not len(itemsets):
        return np.empty(0, dtype=np.int64)
    listed = {tuple(row) for row in itemsets.tolist()}
    held: list[NDArray[np.int64]] = []
    for combined, row in _combined(rows, itemsets.shape[1]):
        keys, where = _unique_rows(combined)
        hit = np.fromiter((tuple(key) in listed for key in keys.tolist()), np.bool_, len(keys))
        held.append(np.unique(row[hit[where]]))
    holders = np.unique(np.concatenate(held)) if held else np.empty(0, dtype=np.int64)
    return holders[weights[holders] > 0]
