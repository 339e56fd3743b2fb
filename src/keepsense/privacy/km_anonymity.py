"""k^m-anonymity of sets: any m items that are known of a person fit at least k records; also of disassociated sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Ints, Rows
from keepsense.counts import Histogram
from keepsense.errors import Infeasible
from keepsense.privacy.privacy_model import (
    Column,
    Count,
    Flags,
    Model,
    Weights,
    histogram_of,
    privacy_model,
    unless_empty,
)

_BLOCK = 1 << 21
_MOST = 1 << 29


@privacy_model(
    check="",
    check_sets="keepsense.verification.set_checks:combinations",
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


# Disassociated sets: known items fit k records of some table that fits the pieces

CLUSTER = "#"
"""What stands before the number of a record's cluster."""
LOOSE = "+"
"""What stands after the number of a cluster before items that anybody in it may hold."""


@privacy_model(
    check="",
    check_sets="keepsense.verification.set_checks:pieces",
    promises="whoever knows up to m items of a person finds at least k records that may be theirs, though each holds "
    "pieces of several people",
    choose="sets are published, every item must stay as it is, and readers can do without some of what occurs together",
    paper="Terrovitis, Mamoulis, Liagouris and Skiadopoulos 2012",
    rank=19,
    begin={"k": 5, "m": 2},
)
@dataclass(frozen=True)
class PiecesOfSets(KmAnonymity):
    """For any m known items some table that fits the pieces has at least k records with them (Terrovitis et al. 2012).

    Sets are published in clusters of at least k records. The items of a cluster are divided into pieces; each record
    holds one part of every piece, dealt at random, so that only what stands in one piece belongs to one person. Loose
    items stand beside all records of the cluster. The promise holds if in every piece any m items that occur together
    do so in at least k records, and, where no item is loose and no person's set can be empty, the pieces of a cluster
    of n records in v pieces hold at least n + k (min(m, v) - 1) parts (Lemma 2 there): else some ways to put them
    together would leave people without items, and could be excluded.

    Items are told as `#7` (the cluster of the record), `7.2 milk` (in its second piece) and `7+ rum` (loose).

    >>> parts = Counter({("#1", "1.1 tea", "1.1 milk"): 2, ("#1", "1.1 tea"): 1})
    >>> sorted(broken_clusters(parts, 2, 2)), sorted(broken_clusters(parts, 3, 2))
    ([], ['1'])
    """

    name: ClassVar[str] = "k^m-anonymity of pieces"

    def satisfied(self, class_weights: Weights, histograms: Mapping[str, Histogram]) -> Flags:
        """Whether the cluster of each set keeps the promise."""
        items = histogram_of(histograms, self.column, len(class_weights), self.name)
        sets = [tuple(str(items.values[i]) for i in items.rows[row].tolist()) for row in range(len(class_weights))]
        parts: Counter[tuple[str, ...]] = Counter()
        for held, weight in zip(sets, class_weights.tolist(), strict=True):
            if weight:
                parts[held] += weight
        broken = broken_clusters(parts, self.k, self.m)
        good = np.array([cluster_of(held) not in broken for held in sets], dtype=np.bool_)
        return unless_empty(good, class_weights)

    def describe(self) -> str:
        """The promise in plain words."""
        items = "item" if self.m == 1 else f"{self.m} items or fewer"
        return (
            f"Whoever knows {items} of a person in {self.column} finds at least {self.k} records that may be theirs: "
            "each record holds pieces of several people."
        )


def cluster_of(held: Iterable[str]) -> str:
    """The cluster that a record says it is in; empty where it says none, or several.

    >>> cluster_of(["#7", "7.1 milk"]), cluster_of(["milk"])
    ('7', '')
    """
    named = {item.removeprefix(CLUSTER) for item in held if item.startswith(CLUSTER) and " " not in item}
    return named.pop() if len(named) == 1 else ""


def broken_clusters(records: Mapping[tuple[str, ...], int], k: int, m: int) -> set[str]:
    """Clusters that break the promise, from what each record holds and how many hold it; "" for records in none.

    >>> broken_clusters({("#1", "1+ rum"): 2, ("#2", "2.1 tea"): 1, ("tea",): 5}, 2, 1) == {"2", ""}
    True
    """
    clusters: dict[str, list[tuple[tuple[str, ...], int]]] = {}
    for held, number in records.items():
        clusters.setdefault(cluster_of(held), []).append((held, number))
    broken = {""} if "" in clusters else set()
    for cluster, members in clusters.items():
        if cluster and not _keeps(cluster, members, k, m):
            broken.add(cluster)
    return broken


def _keeps(cluster: str, members: Sequence[tuple[tuple[str, ...], int]], k: int, m: int) -> bool:
    size = sum(number for _, number in members)
    times: Counter[tuple[str, ...]] = Counter()
    pieces: set[str] = set()
    parts = 0
    for held, number in members:
        by_tag: dict[str, list[str]] = {}
        for item in sorted(set(held)):
            if item != CLUSTER + cluster:
                by_tag.setdefault(item.partition(" ")[0], []).append(item)
        for tag, items in by_tag.items():
            if tag != cluster + LOOSE:
                if not tag.startswith(f"{cluster}."):
                    return False
                pieces.add(tag)
                parts += number
            for width in range(1, (1 if tag == cluster + LOOSE else m) + 1):
                for known in combinations(items, width):
                    times[known] += number
    loose = {known[0]: number for known, number in times.items() if known[0].startswith(f"{cluster}{LOOSE} ")}
    if any(number != size for number in loose.values()):
        return False  # who holds a loose item is told
    enough = bool(loose) or not pieces or parts >= size + k * (min(m, len(pieces)) - 1)
    return size >= k and enough and all(number >= k for number in times.values())
