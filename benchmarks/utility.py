"""Utility measures, in units of one sort of the table or against the same work on spelled-out rows."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from benchmarks._registry import Figure, benchmark, best_of, missing
from benchmarks.privacy import SEED, adult
from keepsense.recoding import Cuts


@benchmark("utility-measures")
def measures() -> Iterable[Figure]:
    """Measures of one recoding of Adult, in units of one np.unique over its 30,162 packed tuples."""
    found = adult()
    if found is None:
        yield missing("measures of one recoding of Adult", "Adult data", "<= 10")
        return
    from keepsense.utility.class_size_metrics import discernibility
    from keepsense.utility.entropy_losses import kl_divergence, non_uniform_entropy
    from keepsense.utility.generalization_losses import loss
    from keepsense.utility.query_error import query_error, random_queries

    counts, hierarchies, _ = found
    levels = (0, 3, 0, 2, 2, 1, 1, 2)
    rule = Cuts(tuple(hierarchies[n].cut(level) for n, level in zip(counts.names, levels, strict=True)))
    rows = np.repeat(counts.codes, counts.weights, axis=0)
    rng = np.random.default_rng(SEED)
    keys = rng.permutation(np.asarray(np.ravel_multi_index(rows.T, [len(v) for v in counts.values])))
    unit = best_of(lambda: np.unique(keys, return_inverse=True, return_counts=True), 5)
    inner = {name: hierarchies[name] for name in counts.names}
    queries = random_queries(inner, number=100, columns=3, rng=SEED)
    kl_divergence(counts, rule, inner)
    for name, limit, work in (
        ("loss", 10, lambda: loss(counts, rule, inner)),
        ("discernibility", 10, lambda: discernibility(counts, rule)),
        ("non-uniform entropy", 10, lambda: non_uniform_entropy(counts, rule, inner)),
        ("KL divergence", 100, lambda: kl_divergence(counts, rule, inner)),
        ("100 range-count queries", 100, lambda: query_error(counts, rule, inner, queries)),
    ):
        seconds = best_of(work, 7)
        ratio = seconds / unit
        yield Figure(
            f"{name} of Adult", seconds, "s", "one np.unique of its rows", ratio, f"<= {limit}", ratio <= limit
        )


@benchmark("utility-clustering")
def clustering() -> Iterable[Figure]:
    """Weighted Ward on distinct tuples, against SciPy's Ward on all rows."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import pdist, squareform

    from keepsense.utility.clustering import ward

    rng = np.random.default_rng(SEED)
    points = rng.random((1000, 4))
    weights = rng.integers(1, 10, 1000)
    rows = np.repeat(points, weights, axis=0)
    ward(squareform(pdist(points[:10])), weights[:10])
    ours = best_of(lambda: ward(squareform(pdist(points)), weights))
    peer = best_of(lambda: linkage(rows, "ward"), 1)
    name = f"Ward of 1,000 distinct tuples for {len(rows):,} rows"
    yield Figure(name, ours, "s", "SciPy on all rows", ours / peer, "<= 0.1", ours <= 0.1 * peer)
    alone = best_of(lambda: linkage(points, "ward"))
    yield Figure(f"{name}, unweighted", ours, "s", "SciPy on distinct tuples", ours / alone, "<= 3", ours <= 3 * alone)
