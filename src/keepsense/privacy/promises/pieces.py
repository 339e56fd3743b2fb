"""The promise about sets that were taken apart: known items fit k records of some table behind the pieces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from keepsense.counts import Histogram
from keepsense.privacy.base import Flags, Weights, histogram_of, unless_empty
from keepsense.privacy.promises.km import KmAnonymity
from keepsense.privacy.registry import privacy_model

CLUSTER = "#"
"""What stands before the number of a record's cluster."""
LOOSE = "+"
"""What stands after the number of a cluster before items that anybody in it may hold."""


@privacy_model(
    check="",
    check_sets="keepsense.privacy.checks.pieces:pieces",
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
