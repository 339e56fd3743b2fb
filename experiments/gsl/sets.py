"""Four columns at once, and clusters: hierarchy sets ranked first, in the middle and last (Sec. 6.1, Fig. 6 to 9)."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from experiments.gsl.columns import Column, data_folder
from experiments.gsl.correlate import SUPPRESSION, anonymized, share_of
from experiments.gsl.losses import Losses
from experiments.gsl.one_column import KS
from keepsense.counts import Counts
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.hierarchy_choice import ranked_sets
from keepsense.hierarchies.hierarchy_scores import scores, set_score
from keepsense.methods.generalize.datafly import datafly
from keepsense.methods.generalize.incognito import incognito
from keepsense.methods.generalize.objective import semantic_tables
from keepsense.methods.generalize.semantic_datafly import semantic_datafly
from keepsense.recoding import Cuts
from keepsense.semantics.distance import Distance
from keepsense.utility.clustering import compare_clusters
from keepsense.utility.value_distances import value_concepts, value_distances

RANKS = (1, 50, 100)
WAYS = (
    ("Datafly", SUPPRESSION[0]),
    ("semantic Datafly", SUPPRESSION[0]),
    ("semantic Incognito", SUPPRESSION[0]),
    ("semantic Incognito", SUPPRESSION[1]),
)
SAMPLE = 2_000
_FILE = "insurance_act_original_occ_original_10000.csv"


def insurance() -> Counts:
    """The four insurance columns together."""
    with (data_folder() / "insurance" / _FILE).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    names = ("occupation", "placeOfWork", "activity", "placeOfActivity")
    return Counts.of({name: [row[name] for row in rows] for name in names})


def four_columns(
    title: str, beds: Mapping[str, Sequence[Hierarchy]], wup: Distance, lch: Distance
) -> Iterator[dict[str, Any]]:
    """Losses of the insurance table with each set of hierarchies, on average over k; clusters at k = 2."""
    counts = insurance()
    judged = {name: scores(bed, wup) for name, bed in beds.items()}
    for rank, chosen in zip(RANKS, ranked_sets(beds, judged, RANKS), strict=True):
        total = set_score({name: float(np.sort(judged[name])[rank - 1]) for name in beds})
        by_wup, by_lch = Losses(counts, chosen, wup), Losses(counts, chosen, lch)
        for algorithm, suppression in WAYS:
            released = [_anonymized(algorithm, counts, chosen, k, wup, suppression != "none") for k in KS]
            clusters = _clusters(counts, released[0], chosen, wup)
            yield {
                "test bed": title,
                "algorithm": algorithm,
                "suppression": suppression,
                "rank": rank,
                "VghSetGSL": round(total, 4),
                "SSE": round(float(np.mean([by_wup(one)[0] for one in released])), 1),
                "SemILoss (LCH)": round(float(np.mean([by_lch(one)[1] for one in released])), 4),
                "SemILoss (WuP)": round(float(np.mean([by_wup(one)[1] for one in released])), 4),
                "Rand, k = 2": round(clusters.rand, 4),
                "NMI, k = 2": round(clusters.nmi, 4),
            }


def one_column(column: Column, bed: Sequence[Hierarchy], wup: Distance, k: int = 10) -> Iterator[dict[str, Any]]:
    """Clusters of one column at k = 10 with five hierarchies from the best to the worst."""
    counts = Counts.of({column.name: list(column.counts)}, weights=list(column.counts.values()))
    judged = scores(bed, wup)
    order = np.argsort(judged, kind="stable")
    for rank in (1, 25, 50, 75, 100):
        at = int(order[rank - 1])
        chosen = {column.name: bed[at]}
        tables = semantic_tables(chosen, {column.name: wup})
        for algorithm in ("Datafly", "Incognito"):
            released = anonymized(algorithm, counts, chosen, k, tables)
            found = _clusters(counts, released, chosen, wup)
            yield {
                "column": column.title,
                "rank": rank,
                "GSL": round(float(judged[at]), 4),
                "algorithm": algorithm,
                "level": released.levels[0],
                "height": bed[at].height,
                "Rand": round(found.rand, 4),
                "NMI": round(found.nmi, 4),
            }


def _anonymized(
    algorithm: str, counts: Counts, chosen: Mapping[str, Hierarchy], k: int, wup: Distance, suppress: bool
) -> Cuts:
    distances = dict.fromkeys(chosen, wup)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if algorithm == "Datafly":
            return datafly(counts, chosen, k=k, suppression=None if suppress else 0.0)
        if algorithm == "semantic Datafly":
            return semantic_datafly(counts, chosen, k=k, distances=distances, suppression=None if suppress else 0.0)
        tables = semantic_tables(chosen, distances)
        return incognito(counts, chosen, k=k, metric=tables, suppression=share_of(k, counts) if suppress else 0.0)


def _clusters(counts: Counts, released: Cuts, chosen: Mapping[str, Hierarchy], wup: Distance) -> Any:
    cells = released.cells(counts)
    before, after = {}, {}
    for name, values in zip(cells.names, cells.values, strict=True):
        concepts = value_concepts(chosen[name], wup.taxonomy)
        before[name] = value_distances(wup, counts.values_of(name), counts.values_of(name), concepts)
        after[name] = value_distances(wup, values, values, concepts)
    return compare_clusters(counts, released, before, after, sample=SAMPLE, rng=2)
