"""The metrics of Sec. 7.3, for swaps and for noise."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from experiments.thesis.data import Sample
from keepsense.counts import Counts, distinct_rows
from keepsense.methods.perturb.naive_baselines import distort_by_frequency, distort_naively, swap_freely
from keepsense.methods.perturb.noise import correlated_noise, noise
from keepsense.methods.perturb.rank_swapping import swap_by_clusters
from keepsense.methods.perturb.rank_swapping_by_one_ranking import rank_swapping_by_one_ranking
from keepsense.methods.perturb.rank_swapping_of_tuples import rank_swapping_of_tuples
from keepsense.methods.perturb.strict_rank_swapping import strict_rank_swapping
from keepsense.recoding import Cells
from keepsense.semantics.attribute import Nominal, nominal
from keepsense.semantics.distance_correlation import dependence, distance_variance
from keepsense.semantics.semantic_operators import semantic_mean, semantic_variance
from keepsense.utility.semantic_loss import rmse

KS = (2, 5, 10, 20, 50, 100)
FEW_KS = (2, 10, 100)
"""For all encounters, where SRS-3 takes long."""
ALPHAS = (0.1, 0.3, 0.5, 1.0)
ROWS_FOR_CORRELATION = 10_000
FIRST, LEAVES = ", first of ties", ", leaves"
Row = dict[str, Any]
Columns = list[Nominal]


def columns_of(sample: Sample, over: str) -> Columns:
    """Both columns with Wu-Palmer distances, in the taxonomy of the attribute (swaps) or of the domain (noise)."""
    pairs = zip(("a", "b"), sample.taxonomies, strict=True)
    return [nominal(sample.counts, name, taxonomy, over=over) for name, taxonomy in pairs]  # type: ignore[arg-type]


def features(sample: Sample, columns: Columns, over: str) -> Row:
    """What Tables 7.1, 7.6 and 7.11 tell of a data set."""
    means = [semantic_mean(c, over=over) for c in columns]  # type: ignore[arg-type]
    found = dependence(sample.counts, *columns)
    return {
        "data": sample.name,
        "selection": sample.about,
        "rows": sample.counts.total,
        "values a": sample.distinct[0],
        "values b": sample.distinct[1],
        "sMean a": means[0].label,
        "sMean b": means[1].label,
        "sVar a": round(semantic_variance(columns[0], means[0]), 4),
        "sVar b": round(semantic_variance(columns[1], means[1]), 4),
        "sdVar a": round(found.first_variance, 4),
        "sdVar b": round(found.second_variance, 4),
        "sdCor": round(found.correlation, 4),
    }


def swaps(sample: Sample, seeds: int) -> Iterator[Row]:
    """SRS-1, SRS-2, SRS-3, the strict swaps and unconstrained swapping (k = 0), averaged over seeds."""
    columns = columns_of(sample, "attribute")
    original = dependence(sample.counts, *columns).correlation
    spread = [distance_variance(c) for c in columns]
    means = [semantic_mean(c) for c in columns]
    methods: dict[str, Callable[[int, int], Cells]] = {
        "SRS-1": lambda k, seed: rank_swapping_by_one_ranking(sample.counts, columns, k=k, rng=seed),
        "SRS-2": lambda k, seed: swap_by_clusters(sample.counts, columns, k, rng=seed),
        "SRS-3": lambda k, seed: rank_swapping_of_tuples(sample.counts, columns, k=k, rng=seed),
        "groups": lambda k, seed: strict_rank_swapping(sample.counts, columns, k=k, rng=seed),
        "groups of tuples": lambda k, seed: strict_rank_swapping(sample.counts, columns, k=k, together=True, rng=seed),
        "data swapping": lambda _, seed: swap_freely(sample.counts, ["a", "b"], rng=seed),
    }
    for name, method in methods.items():
        for k in (0,) if name == "data swapping" else KS if seeds > 1 else FEW_KS:
            rows = []
            for seed in range(seeds):
                start = time.perf_counter()
                cells = method(k, seed)
                seconds = time.perf_counter() - start
                cells.check(sample.counts)
                released = cells.apply(sample.counts)
                after = [c.reweighted(released) for c in columns]
                found = dependence(released, *after)
                row: Row = {"seconds": seconds, "sdCor": found.correlation, "sdCor lost": found.correlation - original}
                row["sdCor lost"] = abs(row["sdCor lost"])
                moved = (found.first_variance, found.second_variance)
                unchanged: Any = cells.info["unchanged"]
                for i, column in enumerate(columns):
                    side = column.name
                    row[f"RMSE {side}"] = rmse(sample.counts, cells, column)
                    row[f"sdVar change {side}"] = abs(moved[i] - spread[i])
                    row[f"mean moved {side}"] = float(semantic_mean(after[i]).label != means[i].label)
                    row[f"unchanged {side}"] = unchanged[side] / sample.counts.total
                rows.append(row)
            yield {"data": sample.name, "method": name, "k": k, "seeds": seeds, **_average(rows)}


def noises(sample: Sample, seeds: int) -> Iterator[Row]:
    """SNA-1, SNA-2 and SNA-3, and two distortions that know nothing of meaning (alpha = 0), averaged over seeds.

    In samples also with the first of equally near concepts in place of any, and with leaves of the taxonomy only.
    """
    columns = columns_of(sample, "domain")
    original = dependence(sample.counts, *columns).correlation
    means = [semantic_mean(c, over="domain") for c in columns]
    variances = [semantic_variance(c, mean) for c, mean in zip(columns, means, strict=True)]
    counts = sample.counts
    methods: dict[str, Callable[[float, int], Cells]] = {
        "uncorrelated SNA-1": lambda alpha, seed: noise(counts, columns, alpha=alpha, rng=seed),
        "correlated SNA-1": lambda alpha, seed: correlated_noise(counts, columns, alpha=alpha, rng=seed),
        "correlated SNA-3": lambda alpha, seed: correlated_noise(
            counts, columns, alpha=alpha, reference="root", rng=seed
        ),
        "naive distortion": lambda _, seed: distort_naively(counts, ["a", "b"], rng=seed),
        "probabilistic distortion": lambda _, seed: distort_by_frequency(counts, ["a", "b"], rng=seed),
    }
    if seeds > 1:
        methods |= _variants(counts, columns)
    if sample.taxonomies[0] is sample.taxonomies[1] and not sample.name.startswith("WordNet"):
        methods["correlated SNA-2"] = lambda alpha, seed: correlated_noise(
            counts, columns, alpha=alpha, reference="partner", rng=seed
        )
    for name, method in methods.items():
        for alpha in ALPHAS if "distortion" not in name else (0.0,):
            rows, labels = [], ("", "")
            for seed in range(seeds):
                start = time.perf_counter()
                cells = method(alpha, seed)
                seconds = time.perf_counter() - start
                cells.check(counts)
                released = cells.apply(counts)
                after = [c.reweighted(released) for c in columns]
                part = _part(released, seed)
                kept = dependence(part, *(c.reweighted(part) for c in after)).correlation
                row: Row = {"seconds": seconds, "sdCor": kept, "sdCor lost": abs(kept - original)}
                found = [semantic_mean(c, over="domain") for c in after]
                wanted: Any = cells.info.get("target_rmse", {})
                if not seed:
                    labels = (found[0].label, found[1].label)
                for i, column in enumerate(columns):
                    side, measure = column.name, column.bound()[0]
                    row[f"mean moved {side}"] = measure.pair(found[i].concept, means[i].concept)
                    variance = semantic_variance(after[i], found[i])
                    row[f"sVar {side}"] = variance
                    row[f"sVar expected {side}"] = (1 + alpha) * variances[i]
                    row[f"sVar off {side}"] = abs(variance - (1 + alpha) * variances[i])
                    row[f"RMSE {side}"] = rmse(counts, cells, column)
                    row[f"target RMSE {side}"] = wanted.get(side, float("nan"))
                rows.append(row)
            yield {
                "data": sample.name,
                "method": name,
                "alpha": alpha,
                "seeds": seeds,
                "sMean a": labels[0],
                "sMean b": labels[1],
                **_average(rows),
            }


def _variants(counts: Counts, columns: Columns) -> dict[str, Callable[[float, int], Cells]]:
    """Other rules for ties, and for what a word may become."""
    return {
        f"correlated SNA-1{FIRST}": lambda alpha, seed: correlated_noise(
            counts, columns, alpha=alpha, ties="first", rng=seed
        ),
        f"correlated SNA-3{FIRST}": lambda alpha, seed: correlated_noise(
            counts, columns, alpha=alpha, reference="root", ties="first", rng=seed
        ),
        f"uncorrelated SNA-1{LEAVES}": lambda alpha, seed: noise(
            counts, columns, alpha=alpha, among="leaves", rng=seed
        ),
    }


def _part(released: Counts, seed: int) -> Counts:
    """At most 10,000 records: noise on a large table brings so many new values that all pairs do not fit."""
    if released.total <= ROWS_FOR_CORRELATION:
        return released
    rng = np.random.default_rng(seed)
    chosen = rng.choice(released.total, ROWS_FOR_CORRELATION, replace=False)
    codes = np.repeat(released.codes, released.weights, axis=0)[chosen]
    values = []
    for j in range(codes.shape[1]):
        used, codes[:, j] = np.unique(codes[:, j], return_inverse=True)
        values.append(tuple(released.values[j][i] for i in used))
    distinct, group = distinct_rows(np.ascontiguousarray(codes))
    return Counts(released.names, tuple(values), distinct, np.bincount(group, minlength=len(distinct)).astype(np.int64))


def _average(rows: list[Row]) -> Row:
    return {key: round(float(np.mean([row[key] for row in rows])), 4) for key in rows[0]}
