"""Privacy models, the verifier and disclosure risk, against the same work done the usual way."""

from __future__ import annotations

import csv
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._registry import Figure, benchmark, best_of, missing
from keepsense.counts import Counts
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.recoding import Cuts

SEED = 7


def adult() -> tuple[Counts, dict[str, Hierarchy], list[list[str]]] | None:
    """Adult with ARX's hierarchies, or None where the real data is not there."""
    folder = Path(os.environ.get("KEEPSENSE_DATA", "../shared/data")) / "adult"
    if not folder.is_dir():
        return None
    with (folder / "adult.csv").open(newline="") as file:
        header, *rows = csv.reader(file, delimiter=";")
    keys = header[:-1]
    counts = Counts.of(
        {name: [row[j] for row in rows] for j, name in enumerate(keys)},
        histograms={"salary-class": [row[-1] for row in rows]},
    )
    hierarchies = {}
    for name in header:
        with (folder / f"adult_hierarchy_{name}.csv").open(newline="") as file:
            hierarchies[name] = Hierarchy.of_rows(csv.reader(file, delimiter=";"), name=name)
    return counts, hierarchies, rows


def _classes(classes: int, values: int, size: int = 12) -> tuple[Any, Any, Any]:
    """Random classes of sensitive values, a reference, and a metric of distances between values."""
    from keepsense.counts import histogram

    rng = np.random.default_rng(SEED)
    group = np.repeat(np.arange(classes), size)
    codes = rng.zipf(1.4, len(group)) % values
    h = histogram(tuple(range(values)), codes, group, np.ones(len(group), np.int64), classes)
    at = rng.random((values, 3))
    far = np.sqrt(((at[:, None] - at[None]) ** 2).sum(-1))
    return h, h.total(), far / far.max()


def _linear_program(h: Any, whole: Any, cost: Any, classes: int) -> None:
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    take = np.flatnonzero(whole)
    for c in range(classes):
        give, n = h.rows[c], h.counts[h.rows.starts[c] : h.rows.starts[c + 1]]
        a, b = len(give), len(take)
        cell = np.arange(a * b)
        rows, columns = np.concatenate([cell // b, a + cell % b]), np.concatenate([cell, cell])
        sums = coo_array((np.ones(2 * a * b), (rows, columns)), shape=(a + b, a * b)).tocsr()
        sides = np.concatenate([n / n.sum(), whole[take] / whole.sum()])
        linprog(cost[np.ix_(give, take)].ravel(), A_eq=sums[:-1], b_eq=sides[:-1], method="highs")


@benchmark("privacy-closeness")
def closeness() -> Iterable[Figure]:
    """Semantic t-closeness of many classes: bounds and own transport against a linear program for each class."""
    from keepsense.privacy import earth_movers_distance

    h, whole, far = _classes(5000, 60)
    few = 40
    earth_movers_distance.within(h, whole, far, 0.2)
    ours = best_of(lambda: earth_movers_distance.within(h, whole, far, 0.2))
    exact = best_of(lambda: earth_movers_distance.exact(h, whole, far), 1)
    start = time.perf_counter()
    _linear_program(h, whole, far, few)
    peer = (time.perf_counter() - start) / few * 5000
    name = "t-closeness of 5,000 classes, 60 values, semantic ground distance"
    yield Figure(f"{name}: verdicts", ours, "s", "SciPy's linear program", ours / peer, "<= 0.02", ours <= 0.02 * peer)
    yield Figure(f"{name}: exact", exact, "s", "SciPy's linear program", exact / peer, "<= 0.1", exact <= 0.1 * peer)
    verdict_ratio = ours / exact
    yield Figure(f"{name}: verdicts", ours, "s", "exact transport", verdict_ratio, "<= 1", verdict_ratio <= 1)
    codes = np.stack([np.arange(60), np.arange(60) // 4, np.arange(60) // 15, np.zeros(60)], axis=1).astype(np.int32)
    tree = best_of(lambda: earth_movers_distance.hierarchical(h, whole, codes))
    yield Figure(f"{name}: tree", tree, "s", "exact transport", tree / exact, "<= 0.1", tree <= 0.1 * exact)


@benchmark("privacy-pycanon")
def against_pycanon() -> Iterable[Figure]:
    """k, l and t of generalized Adult: models on counts against pycanon on rows."""
    found = adult()
    bar = "<= 0.1"
    if found is None:
        yield missing("k, l, t of generalized Adult", "Adult data", bar)
        return
    try:
        import pandas as pd
        from pycanon import anonymity
    except ImportError:
        yield missing("k, l, t of generalized Adult", "pycanon", bar)
        return
    from keepsense.privacy.k_anonymity import KAnonymity
    from keepsense.privacy.l_diversity import DistinctDiversity
    from keepsense.privacy.t_closeness import TCloseness
    from keepsense.verification.verifier import verify

    counts, hierarchies, rows = found
    rule = Cuts(tuple(hierarchies[n].cut(min(1, hierarchies[n].height)) for n in counts.names))
    at = {
        name: dict(zip(cut.inputs, cut.outputs, strict=True)) for name, cut in zip(counts.names, rule.cuts, strict=True)
    }
    table = {name: [at[name][row[j]] for row in rows] for j, name in enumerate(counts.names)}
    table["salary-class"] = [row[-1] for row in rows]
    frame = pd.DataFrame(table)
    keys, sensitive = list(counts.names), ["salary-class"]
    start = time.perf_counter()
    k, t = anonymity.k_anonymity(frame, keys), anonymity.t_closeness(frame, keys, sensitive)
    l = anonymity.l_diversity(frame, keys, sensitive)  # noqa: E741
    peer = time.perf_counter() - start
    promises = [
        KAnonymity(int(k)),
        DistinctDiversity(int(l), "salary-class"),
        TCloseness(min(1.0, t + 1e-9), "salary-class"),
    ]

    def ours() -> None:
        classes = Counts.of({n: table[n] for n in keys}, histograms={"salary-class": table["salary-class"]})
        assert all(p.holds(classes.weights, classes.histograms) for p in promises)

    seconds = best_of(ours)
    name = "k, l, t of generalized Adult"
    yield Figure(
        f"{name}: models, counting included", seconds, "s", "pycanon", seconds / peer, bar, seconds <= 0.1 * peer
    )
    checked = best_of(lambda: verify(table, promises, quasi_identifiers=keys))
    yield Figure(f"{name}: verifier", checked, "s", "pycanon", checked / peer, bar, checked <= 0.1 * peer)


@benchmark("privacy-verify")
def verifying() -> Iterable[Figure]:
    """The verifier on a file of a million rows, against one bare GROUP BY of the same file."""
    import tempfile

    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as pq

    from keepsense.privacy.k_anonymity import KAnonymity
    from keepsense.privacy.l_diversity import DistinctDiversity
    from keepsense.privacy.t_closeness import TCloseness
    from keepsense.verification.verifier import verify

    rng = np.random.default_rng(SEED)
    n = 1_000_000
    table = {
        f"q{j}": pa.array([f"value {v}" for v in range(5)]).take(pa.array(rng.integers(0, 5, n))) for j in range(6)
    }
    table["disease"] = pa.array([f"disease {v}" for v in range(20)]).take(pa.array(rng.integers(0, 20, n)))
    keys = [f"q{j}" for j in range(6)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "release.parquet"
        pq.write_table(pa.table(table), path)
        listed = ", ".join(keys)
        query = f"SELECT {listed}, disease, count(*) FROM read_parquet('{path}') GROUP BY ALL"
        bare = best_of(lambda: duckdb.connect().execute(query).fetchall())
        k = best_of(lambda: verify(path, [KAnonymity(10)], quasi_identifiers=keys))
        many = [KAnonymity(10), DistinctDiversity(3, "disease"), TCloseness(0.5, "disease")]
        everything = best_of(lambda: verify(path, many, quasi_identifiers=keys))
    name = "verify 1,000,000 rows, 6 quasi-identifiers"
    yield Figure(f"{name}, k", k, "s", "bare GROUP BY", k / bare, "<= 5", k <= 5 * bare)
    yield Figure(
        f"{name}, k, l and t", everything, "s", "bare GROUP BY", everything / bare, "<= 10", everything <= 10 * bare
    )


@benchmark("privacy-wildcard")
def wildcards() -> Iterable[Figure]:
    """Class sizes with missing values as wildcards, against comparing all pairs of distinct tuples with NumPy."""
    from keepsense.risk.equivalence_classes import class_sizes

    rng = np.random.default_rng(SEED)
    n = 20_000
    columns: dict[str, list[Any]] = {}
    for j in range(6):
        values: list[Any] = rng.integers(0, 12, n).tolist()
        columns[f"q{j}"] = [None if gone else v for v, gone in zip(values, rng.random(n) < 0.05, strict=True)]
    counts = Counts.of(columns)
    ours = best_of(lambda: class_sizes(counts, "wildcard"))
    gaps = np.array([c.index(None) for c in counts.values])
    few = 200

    def pairs() -> None:
        for i in range(few):
            row = counts.codes[i]
            fits = (counts.codes == row) | (counts.codes == gaps) | (row == gaps)
            int(counts.weights[fits.all(axis=1)].sum())

    peer = best_of(pairs) / few * len(counts)
    name = f"wildcard class sizes of {len(counts):,} distinct tuples"
    yield Figure(name, ours, "s", "all pairs in NumPy", ours / peer, "<= 0.2", ours <= 0.2 * peer)


@benchmark("privacy-linkage")
def linkage() -> Iterable[Figure]:
    """Record linkage on Adult, against the full matrix of record distances in NumPy blocks."""
    found = adult()
    bar = "<= 0.25"
    if found is None:
        yield missing("record linkage of Adult", "Adult data", bar)
        return
    from keepsense.risk.record_linkage import record_linkage

    counts, hierarchies, _ = found
    rule = Cuts(tuple(hierarchies[n].cut(min(1, hierarchies[n].height)) for n in counts.names))
    cells = rule.cells(counts)
    rng = np.random.default_rng(SEED)
    far = {n: rng.random((len(cells.values[j]), len(counts.values_of(n)))) for j, n in enumerate(cells.names)}
    record_linkage(counts, rule, far)
    ours = best_of(lambda: record_linkage(counts, rule, far), 1)
    released = np.unique(cells.codes, axis=0)
    few = 100

    def full() -> None:
        total = np.zeros((few, len(counts)))
        for j, name in enumerate(cells.names):
            total += far[name][np.ix_(released[:few, j], counts.codes[:, j])]
        near = total <= total.min(axis=1)[:, None] + 1e-9
        near @ counts.weights

    peer = best_of(full) / few * len(released)
    name = f"record linkage of Adult ({len(released):,} x {len(counts):,} distinct tuples, {len(cells.names)} columns)"
    yield Figure(name, ours, "s", "NumPy blocks", ours / peer, bar, ours <= 0.25 * peer)
