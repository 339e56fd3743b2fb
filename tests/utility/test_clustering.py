"""Weighted Ward, Calinski-Harabasz, Rand and NMI against SciPy and scikit-learn on the spelled-out rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics import calinski_harabasz_score, normalized_mutual_info_score, rand_score

from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.recoding import Cells, Cut, Cuts
from keepsense.utility import clustering as module
from keepsense.utility.clustering import (
    compare_clusters,
    contingency,
    normalised_mutual_information,
    rand_index,
    record_distances,
    ward,
)


@st.composite
def weighted_points(draw):
    n = draw(st.integers(2, 12))
    seed = draw(st.integers(0, 10_000))
    rng = np.random.default_rng(seed)
    return rng.random((n, 2)), rng.integers(1, 6, n)


def same_partition(a, b):
    return len(set(zip(a, b, strict=True))) == len(set(a)) == len(set(b))


@given(weighted_points())
@settings(max_examples=50, deadline=None)
def test_ward_equals_scipy_on_the_spelled_out_rows(case):
    points, weights = case
    tree = ward(squareform(pdist(points)), weights)
    rows = np.repeat(points, weights, axis=0)
    peer = linkage(rows, "ward")
    # SciPy's height of a merge is the root of twice what it adds to the sum of squares.
    expected = np.sort(peer[:, 2] ** 2 / 2)[len(rows) - len(points) :]
    assert tree.costs == pytest.approx(expected, abs=1e-9)
    for clusters in range(1, len(points) + 1):
        mine = np.repeat(tree.partition(clusters), weights)
        assert same_partition(mine, fcluster(peer, clusters, "maxclust"))


@given(weighted_points())
@settings(max_examples=50, deadline=None)
def test_criterion_equals_scikit_learn_on_the_spelled_out_rows(case):
    points, weights = case
    tree = ward(squareform(pdist(points)), weights)
    rows = np.repeat(points, weights, axis=0)
    scores = tree.criterion(most=8)
    assert len(scores) == max(0, min(8, len(points) - 1) - 1)
    for clusters, score in enumerate(scores, start=2):
        labels = np.repeat(tree.partition(clusters), weights)
        assert score == pytest.approx(calinski_harabasz_score(rows, labels), rel=1e-9)
    best = tree.best(most=8)
    if len(scores):
        assert len(set(best.tolist())) == 2 + int(np.argmax(scores))


@st.composite
def dissimilarities(draw):
    n = draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    m = np.round(rng.random((n, n)), 1)
    m = (m + m.T) / 2
    np.fill_diagonal(m, 0)
    return m, rng.integers(1, 5, n)


@given(dissimilarities())
@settings(max_examples=50, deadline=None)
def test_ward_without_coordinates_joins_the_cheapest_pair_each_time(case):
    """The obvious algorithm: recompute the within-cluster sum of squares of every pair of clusters, join the cheapest.

    Distances with ties and without coordinates; ties may be broken differently, so only costs are compared where the
    cheapest pair is unique.
    """
    far, weights = case
    n = len(weights)

    def within(members):
        w = weights[members]
        return (w[:, None] * w * far[np.ix_(members, members)] ** 2).sum() / 2 / w.sum()

    clusters = [[i] for i in range(n)]
    costs, unique = [], True
    while len(clusters) > 1:
        options = sorted(
            (within(np.array(a + b)) - within(np.array(a)) - within(np.array(b)), i, j)
            for i, a in enumerate(clusters)
            for j, b in enumerate(clusters[:i])
        )
        unique = unique and (len(options) == 1 or options[1][0] - options[0][0] > 1e-9)
        cost, i, j = options[0]
        costs.append(cost)
        joined = clusters[i] + clusters[j]
        clusters = [c for at, c in enumerate(clusters) if at not in (i, j)] + [joined]
    tree = ward(far, weights)
    assert tree.costs.sum() == pytest.approx(within(np.arange(n))), "all merges together make the total sum of squares"
    if unique:
        assert tree.costs == pytest.approx(np.sort(costs), abs=1e-9)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 4)), min_size=1, max_size=12))
@settings(max_examples=50, deadline=None)
def test_indices_equal_scikit_learn(items):
    first, second, weights = (np.array(x) for x in zip(*items, strict=True))
    table = contingency(first, second, weights)
    a, b = np.repeat(first, weights), np.repeat(second, weights)
    assert rand_index(table) == pytest.approx(rand_score(a, b))
    assert normalised_mutual_information(table) == pytest.approx(normalized_mutual_info_score(a, b), abs=1e-9)


def test_clusters_of_a_table_before_and_after():
    rng = np.random.default_rng(3)
    values = tuple("abcdefgh")
    at = np.concatenate([rng.normal(0, 0.05, 4), rng.normal(1, 0.05, 4)])
    far = np.abs(at[:, None] - at)
    counts = Counts.of({"x": rng.choice(values, 60).tolist(), "y": rng.choice(values, 60).tolist()})
    matrices = {name: far[np.ix_(*[[values.index(v) for v in counts.values_of(name)]] * 2)] for name in ("x", "y")}
    same = Cuts(tuple(Cut(name, counts.values_of(name), counts.values_of(name)) for name in ("x", "y")))
    kept = compare_clusters(counts, same, matrices, matrices, most=6)
    assert (kept.rand, kept.nmi) == pytest.approx((1.0, 1.0))
    assert kept.clusters_before == kept.clusters_after == 4
    # Everything suppressed: one cluster, nothing left in common.
    hidden = Cuts(tuple(Cut(name, counts.values_of(name), ("*",) * 8) for name in ("x", "y")))
    gone = compare_clusters(counts, hidden, matrices, {"x": np.zeros((1, 1)), "y": np.zeros((1, 1))})
    assert gone.clusters_after == 1
    assert gone.nmi == 0.0
    assert gone.rand < 0.5
    # The same by hand, row by row.
    rows = np.repeat(counts.codes, counts.weights, axis=0)
    matrix = (matrices["x"][np.ix_(rows[:, 0], rows[:, 0])] + matrices["y"][np.ix_(rows[:, 1], rows[:, 1])]) / 2
    assert record_distances(rows, [matrices["x"], matrices["y"]]) == pytest.approx(matrix)
    sampled = compare_clusters(counts, same, matrices, matrices, sample=30, rng=5)
    assert sampled.rand == 1.0
    assert compare_clusters(counts, same, matrices, matrices, sample=30, rng=5) == sampled


def test_rows_of_one_tuple_may_part():
    counts = Counts.of({"x": ["a"] * 4 + ["b"] * 2})
    cells = Cells(("x",), (("a", "b"),), np.array([0, 0, 1]), np.array([[0], [1], [1]]), np.array([3, 1, 2]))
    far = {"x": np.array([[0.0, 1.0], [1.0, 0.0]])}
    found = compare_clusters(counts, cells, far, far)
    assert found.rand == pytest.approx(rand_score([0] * 4 + [1] * 2, [0] * 3 + [1] * 3))


def test_degenerate_tables():
    assert ward(np.zeros((1, 1)), np.array([5])).best().tolist() == [0]
    assert ward(np.zeros((3, 3)), np.array([1, 1, 1])).best().tolist() == [0, 0, 0]
    assert ward(np.array([[0.0, 1], [1, 0]]), np.array([2, 2])).best().tolist() == [0, 1]
    assert rand_index(np.array([[1]])) == 1.0


def test_bad_calls(monkeypatch):
    with pytest.raises(BadInput, match="2 x 2 matrix"):
        ward(np.zeros((1, 1)), np.array([1, 1]))
    with pytest.raises(BadInput, match="not negative"):
        ward(-np.ones((2, 2)), np.array([1, 1]))
    with pytest.raises(BadInput, match="between 1 and 2 clusters"):
        ward(np.zeros((2, 2)), np.array([1, 1])).partition(3)
    counts = Counts.of({"x": ["a", "b"]})
    same = Cuts((Cut("x", ("a", "b"), ("a", "b")),))
    with pytest.raises(BadInput, match="released values of column 'x'"):
        compare_clusters(counts, same, {"x": np.zeros((2, 2))}, {})
    monkeypatch.setattr(module, "MOST_TUPLES", 1)
    with pytest.raises(BadInput, match="take a sample"):
        compare_clusters(counts, same, {"x": np.zeros((2, 2))}, {"x": np.zeros((2, 2))})
