"""Compiled selections against plain ones."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import taxonomies

from keepsense.methods.microaggregate.microaggregation_kernels import farthest, nearest, nearest_in_parts
from keepsense.semantics.distance import distance
from keepsense.sets import set_kernels as kernels
from keepsense.sets.item_distances import ItemDistances
from keepsense.sets.set_distance import KINDS, set_distance
from keepsense.taxonomy.taxonomy import Taxonomy

NOISE = 1e-9
# few different distances, so that there are ties, some of them off by rounding noise only
DISTANCES = st.lists(
    st.tuples(st.sampled_from([0.0, 0.25, 0.25 + 1e-13, 0.5, 1.0]), st.integers(0, 2)), min_size=1, max_size=14
)


def first_best(pairs: list[tuple[float, int]], sign: int) -> int:
    alive = [(i, d) for i, (d, copies) in enumerate(pairs) if copies]
    if not alive:
        return -1
    best = max(sign * d for _, d in alive)
    return next(i for i, d in alive if sign * d >= best - NOISE / 2)


@settings(max_examples=60, deadline=None)
@given(DISTANCES, st.integers(1, 6))
def test_choosing(pairs: list[tuple[float, int]], wanted: int) -> None:
    distances = np.array([d for d, _ in pairs])
    left = np.array([c for _, c in pairs], dtype=np.int64)
    assert farthest(distances, left, NOISE) == first_best(pairs, 1)
    assert kernels.closest(distances, left, NOISE) == first_best(pairs, -1)
    alive = [i for i, c in enumerate(left) if c]
    slow = sorted(alive, key=lambda i: (round(float(distances[i]), 6), i))[:wanted]
    assert nearest(distances, left, wanted, NOISE).tolist() == slow


@settings(max_examples=40, deadline=None)
@given(DISTANCES, st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_nearest_of_each_part(pairs: list[tuple[float, int]], parts: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    distances = np.array([d for d, _ in pairs])
    record = rng.integers(0, len(distances), 20)
    part = rng.integers(0, parts, 20)
    alive = rng.random(20) < 0.7
    found = nearest_in_parts(distances, record, part, alive, parts, NOISE).tolist()
    for p in range(parts):
        rows = [i for i in range(20) if part[i] == p and alive[i]]
        slow = min(rows, key=lambda i: (round(float(distances[record[i]]), 6), i), default=-1)
        assert found[p] == slow


@settings(max_examples=40, deadline=None)
@given(taxonomies(8), st.integers(0, 2**32 - 1))
def test_distance_of_two_sets(taxonomy: Taxonomy, seed: int) -> None:
    rng = np.random.default_rng(seed)
    items = ItemDistances(distance("feature", taxonomy), np.arange(len(taxonomy)), 2)
    first, second = (rng.choice(len(items), int(rng.integers(1, len(items) + 1)), replace=False) for _ in range(2))
    place = np.arange(items.semantic)
    for number, kind in enumerate(KINDS):
        fast = kernels.pair_distance(
            number, items.rows(place), place, items.semantic, first, second, np.empty(len(second))
        )
        assert abs(fast - set_distance(kind, items, first.tolist(), second.tolist())) < 1e-12


def test_fixed_sums_leave_no_trace() -> None:
    rng = np.random.default_rng(0)
    sums = np.zeros(5, dtype=np.int64)
    tables = [rng.random(5) for _ in range(100)]
    for table in tables:
        kernels.add_fixed(table, 2.0**40, 3, 5, sums)
    for table in reversed(tables):
        kernels.add_fixed(table, 2.0**40, -3, 5, sums)
    assert not sums.any()
