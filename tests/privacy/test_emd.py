"""Earth mover's distances: closed forms, bounds and transport against a linear program."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from keepsense.arrays import Rows
from keepsense.counts import Histogram
from keepsense.privacy import earth_movers_distance


def least_work(share, target, cost):
    """The definition: cheapest flow between two distributions, by linear programming over all pairs."""
    a, b = cost.shape
    sums = np.zeros((a + b, a * b))
    for i in range(a):
        sums[i, i * b : (i + 1) * b] = 1
    for j in range(b):
        sums[a + j, j::b] = 1
    solved = linprog(cost.ravel(), A_eq=sums[:-1], b_eq=np.concatenate([share, target])[:-1], method="highs")
    assert solved.status == 0
    return solved.fun


def histogram_of(table) -> Histogram:
    table = np.asarray(table)
    row, code = np.nonzero(table)
    values = tuple(range(table.shape[1]))
    return Histogram(values, Rows.from_pairs(row, code, len(table)), table[row, code].astype(np.int64))


@st.composite
def tables(draw, most=6):
    """Counts of classes x values with no empty class; the reference is the column sums."""
    values = draw(st.integers(1, most))
    classes = draw(st.integers(1, 4))
    cells = st.lists(st.integers(0, 5), min_size=values, max_size=values).filter(any)
    return np.array(draw(st.lists(cells, min_size=classes, max_size=classes)))


def expected(table, cost):
    whole = table.sum(axis=0)
    return [least_work(row / row.sum(), whole / whole.sum(), cost) for row in table]


def symmetric(rng, n, metric):
    if metric:
        at = rng.random((n, 2))
        return np.sqrt(((at[:, None] - at[None]) ** 2).sum(-1)) / np.sqrt(2)
    m = rng.random((n, n)) ** 3
    m = (m + m.T) / 2
    np.fill_diagonal(m, 0)
    return m


@given(tables())
@settings(max_examples=30, deadline=None)
def test_equal_distance_is_total_variation(table):
    n = table.shape[1]
    assert earth_movers_distance.equal(histogram_of(table), table.sum(0)) == pytest.approx(
        expected(table, 1 - np.eye(n)), abs=1e-9
    )


@given(tables(), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_ordered_distance_equals_the_linear_program(table, random):
    n = table.shape[1]
    positions = np.array(random.sample(range(20), n), dtype=float)
    length = np.ptp(positions) or 1.0
    cost = np.abs(positions[:, None] - positions) / length
    assert earth_movers_distance.ordered(histogram_of(table), table.sum(0), positions) == pytest.approx(
        expected(table, cost), abs=1e-9
    )


def random_levels(random, leaves):
    """Codes of a random rectangular hierarchy: each level merges labels of the one below, the top has one."""
    codes = [list(range(leaves))]
    while len(set(codes[-1])) > 1:
        labels = sorted(set(codes[-1]))
        into = {label: random.randrange(max(1, len(labels) // 2)) for label in labels}
        seen: dict[int, int] = {}
        codes.append([seen.setdefault(into[c], len(seen)) for c in codes[-1]])
    return np.array(codes, dtype=np.int32).T


@given(tables(), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_hierarchical_distance_equals_the_linear_program(table, random):
    codes = random_levels(random, table.shape[1])
    height = codes.shape[1] - 1
    n = len(codes)
    cost = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            cost[i, j] = np.flatnonzero(codes[i] == codes[j])[0] / max(1, height)
    assert earth_movers_distance.hierarchical(histogram_of(table), table.sum(0), codes) == pytest.approx(
        expected(table, cost), abs=1e-9
    )


@given(tables(), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_tree_distance_equals_the_linear_program(table, random):
    """Values anywhere in a random tree (inner nodes too), links of random length."""
    n = table.shape[1]
    parent = [0] + [random.randrange(i) for i in range(1, 9)]
    lengths = np.array([0.0] + [random.random() for _ in range(8)])
    node = [random.randrange(9) for _ in range(n)]

    def up(v):
        found = []
        while v:
            found.append(v)
            v = parent[v]
        return found

    above = [up(v) for v in node]
    cost = np.array([[sum(lengths[list(set(a) ^ set(b))]) for b in above] for a in above])
    row = [i for i, nodes in enumerate(above) for _ in nodes]
    rows = Rows.from_pairs(row, [v for nodes in above for v in nodes], n)
    assert earth_movers_distance.tree(histogram_of(table), table.sum(0), rows, lengths) == pytest.approx(
        expected(table, cost), abs=1e-9
    )


@given(tables(7), st.integers(0, 10_000), st.booleans())
@settings(max_examples=60, deadline=None)
def test_exact_transport_equals_the_linear_program_and_lies_between_its_bounds(table, seed, metric):
    cost = symmetric(np.random.default_rng(seed), table.shape[1], metric)
    h, whole = histogram_of(table), table.sum(0)
    found = earth_movers_distance.exact(h, whole, cost)
    assert found == pytest.approx(expected(table, cost), abs=1e-9)
    low, high = earth_movers_distance.bounds(h, whole, cost)
    assert (low <= found + 1e-9).all()
    assert (found <= high + 1e-9).all()
    for threshold in (0.0, 0.1, 0.3, float(found[0])):
        assert (
            earth_movers_distance.within(h, whole, cost, threshold)
            == (found <= threshold + earth_movers_distance.NOISE)
        ).all()


def test_shared_mass_must_move_where_the_triangle_inequality_fails():
    """Going through the middle is cheaper than straight on: leaving shared mass alone would be wrong."""
    cost = np.array([[0, 0.1, 1.0], [0.1, 0, 0.1], [1.0, 0.1, 0]])
    table = np.array([[1, 1, 0]])
    h, whole = histogram_of(table), np.array([0, 1, 1])
    assert not earth_movers_distance.is_metric(cost)
    assert earth_movers_distance.exact(h, whole, cost) == pytest.approx([0.1])
    assert earth_movers_distance.exact(h, whole, cost, metric=True) == pytest.approx([0.5])


def test_li_et_al_2007_example_of_ordered_distance():
    """Salaries 3k..11k: the class {3k,4k,5k} is 0.375 away, {6k,8k,11k} 0.167 (Li et al. 2007, Sec. 4.1)."""
    table = np.zeros((2, 9), dtype=int)
    table[0, :3] = 1
    table[1, [3, 5, 8]] = 1
    whole = np.ones(9, dtype=np.int64)
    found = earth_movers_distance.ordered(histogram_of(table), whole, np.arange(9.0))
    assert found == pytest.approx([0.375, 1 / 6])


def test_classes_without_records_are_no_distance_away():
    h = histogram_of(np.array([[0, 0], [1, 1]]))
    whole = np.array([3, 1])
    cost = 1 - np.eye(2)
    levels = np.array([[0, 0], [1, 0]], dtype=np.int32)
    for found in (
        earth_movers_distance.equal(h, whole),
        earth_movers_distance.ordered(h, whole, np.arange(2.0)),
        earth_movers_distance.hierarchical(h, whole, levels),
        earth_movers_distance.exact(h, whole, cost),
    ):
        assert found.tolist() == [0.0, 0.25]


def test_large_matrices_are_never_taken_for_metrics():
    assert not earth_movers_distance.is_metric(1 - np.eye(401))
    assert earth_movers_distance.is_metric(1 - np.eye(20))
    assert not earth_movers_distance.is_metric(np.array([[0.0, 1.0], [0.5, 0.0]]))
