"""Batet et al. 2014: five set distances, with and without meaning, on baskets, diagnoses and query logs (Table 1)."""

from __future__ import annotations

import csv
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from experiments.sets import report
from experiments.sets.data import SAMPLE, SEED, Data, diagnoses, groceries, query_logs
from keepsense.arrays import Rows
from keepsense.methods.aggregate import (
    KINDS,
    ConceptSets,
    SetComparison,
    SetRelease,
    SetSpace,
    compare_sets,
    generalize_sets_apriori,
    generalize_sets_top_down,
    microaggregate_sets,
)
from keepsense.privacy import verify_sets
from keepsense.semantics import Distance, distance
from keepsense.utility.sets import SetLoss, average_distances, set_loss

SIZES = (2, 3, 4, 5)


@dataclass(frozen=True)
class Outcome:
    """One run: its loss, the release, the loss of the first to the last quarter of groups, and the seconds."""

    loss: SetLoss
    release: SetRelease
    quarters: list[float]
    seconds: float


def run(results: Path) -> None:
    """Table 1 on samples, the average distance on everything, and the truthful ways beside it."""
    data = [groceries(), diagnoses(), query_logs()]
    table = [row for one in data for row in table_one(one.sample(SAMPLE))]
    large = [row for one in data[:2] for row in whole(one)]
    ways = [row for one in (data[0], data[1].sample(10_000)) for row in truthful(one)]
    spreads = [row for one in data for row in spread(one.sample(SAMPLE))]
    for name, rows in (("table1", table), ("large", large), ("ways", ways), ("spread", spreads)):
        with (results / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    report.plot(results, table)
    (results / "README.md").write_text(report.text(table, large, ways, spreads), encoding="utf-8")


def table_one(data: Data) -> Iterator[dict[str, Any]]:
    """Loss of each distance, with and without meaning, for each k."""
    meant, plain = data.sets(semantic=True), data.sets(semantic=False)
    measure = distance("feature", data.taxonomy)
    for kind in KINDS:
        for semantic in (True, False):
            for k in SIZES:
                found = _one(meant, meant if semantic else plain, measure, k, kind, semantic)
                yield _row(data, kind, semantic, k, found)
        print(f"  {data.name}: {kind}", flush=True)


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
    """The average distance on all records, k = 3."""
    meant, plain = data.sets(semantic=True), data.sets(semantic=False)
    measure = distance("feature", data.taxonomy)
    for semantic in (True, False):
        found = _one(meant, meant if semantic else plain, measure, 3, "average", semantic)
        yield _row(data, "average", semantic, 3, found)
        print(f"  {data.name}: all {len(meant):,}, {found.seconds:.0f} s", flush=True)


def _one(meant: ConceptSets, sets: ConceptSets, measure: Distance, k: int, kind: str, semantic: bool) -> Outcome:
    start = time.perf_counter()
    release = microaggregate_sets(sets, measure if semantic else None, k=k, distance=kind, sizes="any", rng=SEED)
    seconds = time.perf_counter() - start
    after = centroid_sets(release, meant)
    between = meant.distances(measure).pairs
    squared = average_distances(meant.rows, after, between) ** 2
    quarter = 4 * release.group // max(1, len(release.partition))
    parts = np.bincount(quarter, squared, 4).round(1).tolist()
    return Outcome(set_loss(meant.rows, after, between), release, parts, seconds)


def centroid_sets(release: SetRelease, meant: ConceptSets) -> Rows:
    """Concepts of each record's centroid: what the paper compares with, before any term is drawn or withheld."""
    sets = release.sets
    rows = sets.distinct[0]
    # Where terms were compared as strings a thing is a term; the mapped sets number the same terms alike.
    term = sets.terms_of.indices[np.minimum(sets.terms_of.starts[:-1], len(sets.terms) - 1)]
    thing = (
        np.append(meant.thing_of[term[: sets.nothing]], meant.nothing) if sets is not meant else np.arange(sets.size)
    )
    found = [np.unique(thing[rows[c]]) for c in release.centroids.tolist()]
    per_record = [found[g] for g in release.group.tolist()]
    starts = np.concatenate(([0], np.cumsum([len(r) for r in per_record]))).astype(np.int32)
    return Rows(starts, np.concatenate(per_record).astype(np.int32))


def _row(data: Data, kind: str, semantic: bool, k: int, found: Outcome) -> dict[str, Any]:
    return {
        "data": data.name,
        "records": found.loss.records,
        "distance": kind,
        "semantic": semantic,
        "k": k,
        "loss": round(found.loss.total, 2),
        "floor": round(found.loss.floor, 2),
        **{f"loss of quarter {i}": part for i, part in enumerate(found.quarters, start=1)},
        "groups": len(found.release.partition),
        "released as a record stood": found.release.verbatim,
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
