"""Batet et al. 2014: five set distances, with and without meaning, on baskets, diagnoses and query logs (Table 1)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments import tables
from experiments.sets import report
from experiments.sets.data import SAMPLE, SEED, Data, diagnoses, groceries, query_logs
from experiments.sets.space import Floats, TableSpace, all_distances, centres_of
from keepsense.methods.microaggregate.mdav import mdav
from keepsense.methods.sets.apriori import generalize_sets_apriori
from keepsense.methods.sets.set_microaggregation import microaggregate_sets
from keepsense.methods.sets.top_down_sets import generalize_sets_top_down
from keepsense.semantics.distance import distance
from keepsense.sets.concept_sets import ConceptSets
from keepsense.sets.item_distances import ItemDistances
from keepsense.sets.set_distance import KINDS, SetSpace
from keepsense.utility.set_comparison import SetComparison, compare_sets
from keepsense.utility.set_losses import average_distances
from keepsense.verification.verifier import verify_sets

SIZES = (2, 3, 4, 5)
ORDERS = ("by content", *(f"seed {seed}" for seed in range(1, 6)))
"""Orders of the records; where distances tie, the first counts."""


Positions = NDArray[np.int64]


@dataclass(frozen=True)
class Outcome:
    """One run: its loss, the loss of the first to the last quarter of groups, the number of groups, and the seconds."""

    loss: float
    quarters: list[float]
    groups: int
    seconds: float


@dataclass(frozen=True, eq=False)
class Subject:
    """Records as sets of concepts, the distances between these, and what the original itself would lose."""

    sets: ConceptSets
    items: ItemDistances
    floor: float

    @classmethod
    def of(cls, data: Data) -> Subject:
        """The column as the loss sees it: with meaning."""
        sets = data.sets(semantic=True)
        items = sets.distances(distance("feature", data.taxonomy))
        own = average_distances(sets.rows, sets.rows, items.pairs)
        return cls(sets, items, float(own @ own))

    def lost(self, stands: Positions) -> NDArray[np.float64]:
        """Squared average distance of each record to the record that stands for its group (Eq. 8)."""
        lost: NDArray[np.float64] = average_distances(self.sets.rows, self.sets.rows.taken(stands), self.items.pairs)
        return lost**2


def run(results: Path) -> None:
    """Table 1 on samples in several orders, the average distance on everything, and the truthful ways beside it."""
    data = [groceries(), diagnoses(), query_logs()]
    table = [row for one in data for row in table_one(one.sample(SAMPLE))]
    large = [row for one in data[:2] for row in whole(one)]
    ways = [row for one in (data[0], data[1].sample(10_000)) for row in truthful(one)]
    spreads = [row for one in data for row in spread(one.sample(SAMPLE))]
    for name, rows in (("table1", table), ("large", large), ("ways", ways), ("spread", spreads)):
        tables.write(results / f"{name}.csv", rows)
    report.write(results)


def table_one(data: Data) -> Iterator[dict[str, Any]]:
    """Loss of each distance, with and without meaning, for each k, in several orders of the records."""
    subject = Subject.of(data)
    plain = data.sets(semantic=False)
    for semantic, sets in ((True, subject.sets), (False, plain)):
        items = subject.items if semantic else plain.distances(None)
        for kind in KINDS:
            table = all_distances(SetSpace(kind, items, sets.rows))
            for order in ORDERS:
                positions = ordered(sets, order)
                for k in SIZES:
                    found = grouped(subject, table, positions, k)
                    yield {**_row(data, subject, kind, semantic, k, found), "order": order}
            print(f"  {data.name}: {kind}, {'with' if semantic else 'without'} meaning", flush=True)


def ordered(sets: ConceptSets, order: str) -> Positions:
    """Positions of the records in one order: by content, as the product has them, or as a seed shuffles them.

    >>> from keepsense.sets.item_sets import from_lists
    >>> from keepsense.sets.concept_sets import map_sets
    >>> sets = map_sets(from_lists([["b", "c"], ["b"], ["a"]]), None)
    >>> ordered(sets, "by content").tolist(), sorted(ordered(sets, "seed 1").tolist())
    ([2, 1, 0], [0, 1, 2])
    """
    if order == "by content":
        return np.argsort(sets.distinct[2], kind="stable")
    return np.random.default_rng(int(order.split()[-1])).permutation(len(sets))


def grouped(subject: Subject, distances: Floats, positions: Positions, k: int) -> Outcome:
    """Groups of records in one order, each of its own, by the distances between them, and what their centroids lose."""
    start = time.perf_counter()
    table = np.ascontiguousarray(distances[np.ix_(positions, positions)])
    partition = mdav(TableSpace(table), np.ones(len(table), dtype=np.int64), k)
    centres = centres_of(table, partition)
    seconds = time.perf_counter() - start
    stands = np.empty(len(table), dtype=np.int64)
    stands[positions[partition.record]] = positions[centres[partition.group]]
    lost = subject.lost(stands)
    group = np.empty(len(table), dtype=np.int64)
    group[positions[partition.record]] = partition.group
    parts = np.bincount(4 * group // max(1, len(partition)), lost, 4).round(1).tolist()
    return Outcome(float(lost.sum()), parts, len(partition), seconds)


def spread(data: Data) -> Iterator[dict[str, Any]]:
    """How much each distance tells sets apart: all records against every tenth, with meaning."""
    sets = data.sets(semantic=True)
    items = sets.distances(distance("feature", data.taxonomy))
    for kind in KINDS:
        space = SetSpace(kind, items, sets.rows)
        found = np.concatenate([space.from_record(i).copy() for i in range(0, len(sets), 10)])
        yield {
            "data": data.name,
            "distance": kind,
            "mean": round(float(found.mean()), 4),
            "standard deviation": round(float(found.std()), 4),
            "within 0.05 of the greatest": round(float((found > found.max() - 0.05).mean()), 4),
        }


def whole(data: Data) -> Iterator[dict[str, Any]]:
    """The average distance on all records as the product groups them, equal ones held once, k = 3."""
    subject = Subject.of(data)
    measure = distance("feature", data.taxonomy)
    for semantic in (True, False):
        start = time.perf_counter()
        sets = subject.sets if semantic else data.sets(semantic=False)
        release = microaggregate_sets(sets, measure if semantic else None, k=3, sizes="any", rng=SEED)
        seconds = time.perf_counter() - start
        first = np.unique(sets.distinct[2], return_index=True)[1]  # a record that is that distinct one
        lost = subject.lost(first[release.centroids[release.group]])
        parts = np.bincount(4 * release.group // max(1, len(release.partition)), lost, 4).round(1).tolist()
        found = Outcome(float(lost.sum()), parts, len(release.partition), seconds)
        yield _row(data, subject, "average", semantic, 3, found)
        print(f"  {data.name}: all {len(sets):,}, {seconds:.0f} s", flush=True)


def _row(data: Data, subject: Subject, kind: str, semantic: bool, k: int, found: Outcome) -> dict[str, Any]:
    return {
        "data": data.name,
        "records": len(subject.sets),
        "distance": kind,
        "semantic": semantic,
        "k": k,
        "loss": round(found.loss, 2),
        "floor": round(subject.floor, 2),
        **{f"loss of quarter {i}": part for i, part in enumerate(found.quarters, start=1)},
        "groups": found.groups,
        "seconds": round(found.seconds, 2),
    }


def truthful(data: Data) -> Iterator[dict[str, Any]]:
    """Synthetic and generalized releases of the same records, measured alike."""
    sets = data.sets(semantic=True)
    measure = distance("feature", data.taxonomy)
    hierarchy = data.hierarchy
    assert hierarchy is not None
    top = {str(row[0]): row[-2] for row in hierarchy.rows()}
    tops = [sorted({top[item] for item in record}, key=str) for record in data.records]
    pairs = Counter(pair for held in tops for pair in combinations(held, 2))
    for k in SIZES:
        rare = sum(n < k for n in pairs.values())
        start = time.perf_counter()
        release = microaggregate_sets(sets, measure, k=k, rng=SEED)
        records = release.records()
        ok = verify_sets(records, [release.promise()]).ok
        found = compare_sets(sets, records, measure, rng=SEED)
        yield _way(data, "microaggregation", k, found, 0.0, ok, time.perf_counter() - start, rare)
        for name, way in (
            ("apriori, m = 2", generalize_sets_apriori(data.items(), hierarchy, k=k, m=2)),
            ("top-down", generalize_sets_top_down(data.items(), hierarchy, k=k)),
        ):
            start = time.perf_counter()
            shown = way.records()
            ok = verify_sets(shown, [way.promise()]).ok
            found = compare_sets(sets, shown, measure, covers=way.covers(), concepts=data.labels, rng=SEED)
            yield _way(data, name, k, found, way.penalty, ok, time.perf_counter() - start, rare)
        print(f"  {data.name}: three ways, k = {k}", flush=True)


def _way(
    data: Data, name: str, k: int, found: SetComparison, penalty: float, ok: bool, seconds: float, rare: int
) -> dict[str, Any]:
    linked: Sequence[Any] = found.linkage
    return {
        "data": data.name,
        "records": found.loss.records,
        "way": name,
        "k": k,
        "verified": ok,
        "loss": round(found.loss.total, 1),
        "floor": round(found.loss.floor, 1),
        "penalty": round(penalty, 4),
        "item error": round(found.items.relative, 4),
        "item variation": round(found.items.variation, 4),
        "pair error": round(found.pairs.relative, 4),
        **{f"risk, {one.m} known": round(one.risk, 4) for one in linked},
        "profile kept": round(found.profile or 0.0, 4),
        "rare pairs below the top": rare,
        "seconds": round(seconds, 1),
    }
