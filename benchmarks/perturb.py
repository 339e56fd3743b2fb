"""Swapping, noise and distance correlation: against the plain algorithms on rows and against `dcor`, in one run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks._registry import Figure, benchmark, best_of, missing, peak_of
from keepsense.counts import Counts
from keepsense.methods.perturb.noise import correlated_noise, noise
from keepsense.methods.perturb.rank_swapping import rank_swapping
from keepsense.methods.perturb.rank_swapping_of_tuples import rank_swapping_of_tuples
from keepsense.semantics.attribute import Nominal, nominal
from keepsense.semantics.distance import distance
from keepsense.semantics.distance_correlation import distance_correlation
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import from_edges

ROWS, VALUES, K = 100_000, 2_000, 20
_ALONE = """
from benchmarks.perturb import table
from keepsense.methods.perturb import {method}
counts, columns = table()
{method}(counts, columns, k={k}, rng=1)
"""


def tree(size: int) -> Taxonomy:
    """A random tree of depth about 20 to 35, in which deep branches are thick."""
    rng = np.random.default_rng(0)
    above = (np.arange(size) * np.sqrt(rng.random(size)) * 0.98).astype(np.int64)
    return from_edges([(f"c{i}", f"c{above[i]}") for i in range(1, size)])


def table(rows: int = ROWS, values: int = VALUES) -> tuple[Counts, list[Nominal]]:
    """Two columns of one tree, unevenly frequent, near each other in seven rows of ten; mostly different pairs."""
    taxonomy = tree(3 * values)
    rng = np.random.default_rng(1)
    words = [taxonomy.ids[c] for c in taxonomy.leaves()[:values]]
    share = 1 / np.sqrt(np.arange(1, values + 1))
    share /= share.sum()
    first = rng.choice(values, rows, p=share)
    near = np.clip(first + rng.normal(0, values / 20, rows).astype(np.int64), 0, values - 1)
    second = np.where(rng.random(rows) < 0.3, rng.choice(values, rows, p=share), near)
    codes, weights = np.unique(np.stack([first, second], axis=1).astype(np.int32), axis=0, return_counts=True)
    counts = Counts(("a", "b"), (tuple(words), tuple(words)), codes, weights.astype(np.int64))
    return counts, [nominal(counts, name, taxonomy) for name in ("a", "b")]


def _plain_steps(counts: Counts, columns: list[Nominal], steps: int) -> float:
    """Seconds for one step of SRS-2 or SRS-3 as printed: rank all rows by distance from the reference."""
    codes = np.repeat(counts.codes, counts.weights, axis=0)
    matrices = [column.matrix for column in columns]
    rng = np.random.default_rng(1)
    reference = int(rng.integers(len(codes)))
    start = time.perf_counter()
    for _ in range(steps):
        away = sum(m[codes[reference, j]][codes[:, j]] for j, m in enumerate(matrices))
        ranked = np.argsort(away, kind="stable")
        rng.choice(ranked[1 : K + 1])
        reference = int(ranked[-1 - int(rng.integers(50))])
    return (time.perf_counter() - start) / steps


@benchmark("rank-swapping")
def swapping() -> Iterator[Figure]:
    """100,000 rows of 2,000 distinct values: SRS-2 on one column and SRS-3 on two; seconds, memory, plain NumPy."""
    counts, columns = table()
    small, few = table(2_000, 200)
    rank_swapping_of_tuples(small, few, k=2)
    rank_swapping(small, few, k=2)
    for name, method, used, bar in (
        ("swap-clusters", rank_swapping, columns[:1], 20),
        ("swap-tuples", rank_swapping_of_tuples, columns, 60),
    ):
        start = time.perf_counter()
        cells = method(counts, used, k=K, rng=1)
        seconds = time.perf_counter() - start
        cells.check(counts)
        # Every step deals with at most two records, so half as many steps as rows is the least the plain way takes.
        plain = _plain_steps(counts, used, 40) * ROWS / 2
        against = f"plain NumPy, 40 steps scaled to {ROWS // 2:,} ({plain:,.0f} s)"
        ratio = seconds / plain
        yield Figure(
            f"{name}-100000", seconds, "s", against, ratio, f"< {bar} s, <= 0.1", seconds < bar and ratio <= 0.1
        )
        peak, _ = peak_of(_ALONE.format(method=method.__name__, k=K))
        yield Figure(f"{name}-100000-memory", peak, "MB", "the whole process", None, "< 1,000 MB", peak < 1000)


@benchmark("semantic-noise")
def noisy() -> Iterator[Figure]:
    """1,000,000 rows of 1,000 distinct values against 100,000 concepts, one column at a time."""
    taxonomy = tree(100_000)
    rng = np.random.default_rng(2)
    words = tuple(taxonomy.ids[c] for c in rng.choice(taxonomy.leaves(), 1_000, replace=False))
    first = rng.integers(0, 1_000, 1_000_000)
    second = np.where(rng.random(len(first)) < 0.5, first, rng.integers(0, 1_000, len(first)))
    codes, weights = np.unique(np.stack([first, second], axis=1).astype(np.int32), axis=0, return_counts=True)
    counts = Counts(("a", "b"), (words, words), codes, weights.astype(np.int64))
    measure = distance("wu-palmer", taxonomy)
    columns = [Nominal.of(counts, name, measure) for name in ("a", "b")]
    small, _ = table(500, 100)
    pair = [Nominal.of(small, name, distance("wu-palmer", tree(300))) for name in ("a", "b")]
    correlated_noise(small, pair, alpha=0.3, reference="partner")
    plain = _plain_noise(columns[0], 60) * 1_000_000
    runs: list[tuple[str, Callable[[], Any], int, int]] = [
        ("noise-mean", lambda: noise(counts, columns[:1], alpha=0.3, rng=1), 1, 30),
        ("noise-root", lambda: noise(counts, columns[:1], alpha=0.3, reference="root", rng=1), 1, 30),
        ("noise-partner", lambda: correlated_noise(counts, columns, alpha=0.3, reference="partner", rng=1), 2, 120),
    ]
    for name, run, used, bar in runs:
        start = time.perf_counter()
        run()
        # Seconds for one column; noise by partner does two of them at once.
        seconds = (time.perf_counter() - start) / used
        against = f"plain NumPy, 60 records scaled ({plain:,.0f} s)"
        ratio = seconds / plain
        yield Figure(
            f"{name}-1000000", seconds, "s", against, ratio, f"< {bar} s, <= 0.1", seconds < bar and ratio <= 0.1
        )


def _plain_noise(column: Nominal, records: int) -> float:
    """Seconds for one record as printed: look through all concepts of the domain for the nearest that is far enough."""
    measure, concepts = column.bound()
    away = measure.against_all(concepts[:1])[0]
    rows = measure.against_all(concepts[:records])
    rng = np.random.default_rng(1)
    start = time.perf_counter()
    for i, error in enumerate(rng.normal(0, 0.2, records)):
        side = away > away[concepts[i]] if error > 0 else away < away[concepts[i]]
        far = side & (rows[i] >= abs(error))
        if far.any():
            best = rows[i][far].min()
            rng.choice(np.flatnonzero(far & (rows[i] == best)))
    return (time.perf_counter() - start) / records


@benchmark("distance-correlation")
def correlation() -> Iterator[Figure]:
    """Distance correlation of 5,000 rows, 500 distinct values in each column, against `dcor` on the same matrices."""
    name, bar = "distance-correlation-5000", ">= 50 x dcor, equal to 1e-9"
    try:
        import dcor
    except ImportError:
        yield missing(name, "dcor", bar)
        return
    counts, columns = table(5_000, 500)
    rows = np.repeat(counts.codes, counts.weights, axis=0)
    matrices = [column.matrix[np.ix_(rows[:, j], rows[:, j])] for j, column in enumerate(columns)]

    def theirs() -> float:
        one, other = (dcor.double_centered(m) for m in matrices)
        covariance = dcor.mean_product(one, other)
        return float(np.sqrt(covariance / np.sqrt(dcor.mean_product(one, one) * dcor.mean_product(other, other))))

    ours = best_of(lambda: distance_correlation(counts, *columns), 5)
    start = time.perf_counter()
    found = theirs()
    peer = time.perf_counter() - start
    peer = min(peer, best_of(theirs, 2))
    same = abs(found - distance_correlation(counts, *columns)) < 1e-9
    yield Figure(name, ours, "s", f"dcor ({peer:.2f} s, matrices given)", peer / ours, bar, peer >= 50 * ours and same)
