"""Set distances and MDAV against plain definitions: fast equals slow, groups are sound, row order does not matter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import taxonomies

from keepsense.arrays import Rows
from keepsense.errors import BadInput, Infeasible
from keepsense.methods.microaggregate.mdav import Partition, mdav
from keepsense.methods.sets.set_microaggregation import centroids, microaggregate_sets
from keepsense.semantics.distance import distance
from keepsense.sets.concept_sets import distinct_sets, map_sets
from keepsense.sets.item_distances import ItemDistances
from keepsense.sets.item_sets import from_lists
from keepsense.sets.set_distance import KINDS, SetSpace, set_distance
from keepsense.taxonomy.taxonomy import Taxonomy

NOISE = SetSpace.noise


@st.composite
def problems(draw: st.DrawFn, max_records: int = 14) -> tuple[ItemDistances, Rows]:
    """A few records over a small taxonomy and some opaque items; rows on demand in half of the cases."""
    taxonomy = draw(taxonomies(12))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = int(rng.integers(1, len(taxonomy) + 1))
    concepts = np.sort(rng.choice(len(taxonomy), n, replace=False))
    opaque = int(rng.integers(0 if n else 1, 4))
    measure = distance(draw(st.sampled_from(["feature", "wu-palmer", "path"])), taxonomy)
    items = ItemDistances(measure, concepts, opaque, memory=draw(st.sampled_from([0, 1 << 20])))
    records = []
    for _ in range(draw(st.integers(1, max_records))):
        size = int(rng.integers(1, min(6, len(items)) + 1))
        records.append(sorted(rng.choice(len(items), size, replace=False).tolist()))
    return items, rows_of(records)


def rows_of(records: list[list[int]]) -> Rows:
    row = np.repeat(np.arange(len(records)), [len(r) for r in records])
    return Rows.from_pairs(row, [i for r in records for i in r], len(records))


# ---- the slow, obvious references ------------------------------------------------------------------------------------


def first_best(scores: dict[int, float], sign: float) -> int:
    """First record whose score no other beats by more than noise."""
    best = None
    for record, score in scores.items():
        if best is None or sign * score > sign * scores[best] + NOISE:
            best = record
    assert best is not None
    return best


def plain_mdav(kind: str, items: ItemDistances, rows: Rows, k: int) -> list[list[int]]:
    """MDAV one record at a time, every distance from its definition."""

    def far(a: int, b: int) -> float:
        return set_distance(kind, items, rows[a].tolist(), rows[b].tolist())

    left = list(range(len(rows)))
    groups: list[list[int]] = []

    def around(seed: int) -> None:
        group = [seed]
        left.remove(seed)
        while len(group) < k:
            nearest = first_best({x: far(seed, x) for x in left}, -1)
            group.append(nearest)
            left.remove(nearest)
        groups.append(group)

    while len(left) >= 2 * k:
        centre = first_best({x: sum(far(x, y) for y in left) / len(left) for x in left}, -1)
        first = first_best({x: far(centre, x) for x in left}, 1)
        around(first)
        if len(left) < 2 * k:
            break
        around(first_best({x: far(first, x) for x in left}, 1))
    groups.append(left)
    return groups


# ---- distances -------------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(problems())
def test_passes_agree_with_the_definitions(problem: tuple[ItemDistances, Rows]) -> None:
    items, rows = problem
    for kind in KINDS:
        space = SetSpace(kind, items, rows)
        for record in range(len(rows)):
            slow = [set_distance(kind, items, rows[record].tolist(), rows[i].tolist()) for i in range(len(rows))]
            np.testing.assert_allclose(space.from_record(record), slow, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(problems(), st.integers(0, 2**32 - 1))
def test_running_sums_follow_what_leaves(problem: tuple[ItemDistances, Rows], seed: int) -> None:
    items, rows = problem
    rng = np.random.default_rng(seed)
    for kind in KINDS:
        left = rng.integers(1, 4, len(rows))
        space = SetSpace(kind, items, rows)
        space.start(left)
        for record in rng.permutation(len(rows))[: len(rows) - 1].tolist():
            copies = int(rng.integers(1, left[record] + 1))
            left[record] -= copies
            space.leave(record, copies)
        table = np.array([space.from_record(i).copy() for i in range(len(rows))])
        np.testing.assert_allclose(space.totals(), table @ left / left.sum(), atol=1e-9)


def test_distances_by_equality_alone() -> None:
    items = ItemDistances(None, opaque=4)
    first, second = [0, 1], [1, 2, 3]
    assert set_distance("minimum", items, first, second) == 0
    assert set_distance("maximum", items, first, second) == 1
    assert set_distance("average", items, first, second) == pytest.approx(5 / 6)
    assert set_distance("minimum-sum", items, first, second) == pytest.approx(3 / 5)
    assert set_distance("maximum-sum", items, first, second) == 1
    assert [set_distance(kind, items, [2], [2]) for kind in KINDS] == [0] * 5


def test_unknown_distance_and_empty_set_are_refused() -> None:
    items = ItemDistances(None, opaque=2)
    with pytest.raises(BadInput, match="Did you mean average"):
        SetSpace("averag", items, rows_of([[0]]))
    with pytest.raises(BadInput, match="empty"):
        SetSpace("average", items, rows_of([[0], []]))
    with pytest.raises(BadInput, match="empty set"):
        set_distance("average", items, [], [0])


@settings(max_examples=25, deadline=None)
@given(taxonomies(20), st.integers(0, 2**32 - 1))
def test_rows_on_demand_are_the_rows_of_the_matrix(taxonomy: Taxonomy, seed: int) -> None:
    rng = np.random.default_rng(seed)
    concepts = np.arange(len(taxonomy))
    whole = ItemDistances(distance("feature", taxonomy), concepts)
    some = ItemDistances(distance("feature", taxonomy), concepts, memory=0)
    some.room = min(some.room, 3)
    assert whole.whole
    for _ in range(6):
        asked = rng.choice(len(taxonomy), int(rng.integers(1, len(taxonomy) + 1)), replace=False)
        np.testing.assert_array_equal(some.rows(asked), whole.rows(asked))
    weights = rng.random(len(taxonomy))
    np.testing.assert_allclose(some.weighted(weights), whole.weighted(weights))


# ---- MDAV ------------------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(problems(), st.integers(2, 5), st.sampled_from(KINDS))
def test_mdav_agrees_with_the_plain_one(problem: tuple[ItemDistances, Rows], k: int, kind: str) -> None:
    items, rows = problem
    if len(rows) < k:
        with pytest.raises(Infeasible, match="cannot form a group"):
            mdav(SetSpace(kind, items, rows), np.ones(len(rows), np.int64), k)
        return
    found = [records.tolist() for records, _ in mdav(SetSpace(kind, items, rows), np.ones(len(rows), np.int64), k)]
    assert [sorted(g) for g in found] == [sorted(g) for g in plain_mdav(kind, items, rows, k)]


@settings(max_examples=40, deadline=None)
@given(problems(), st.integers(2, 4), st.sampled_from(KINDS))
def test_weighted_records_are_grouped_like_equal_rows(problem: tuple[ItemDistances, Rows], k: int, kind: str) -> None:
    """Copies are interchangeable: collapsing equal rows must give the same groups, counted by distinct record."""
    items, rows = problem
    doubled = rows_of([rows[i].tolist() for i in range(len(rows)) for _ in range(1 + i % 3)])
    distinct, weights, which = distinct_sets(doubled)
    if weights.sum() < k:
        return
    collapsed = mdav(SetSpace(kind, items, distinct), weights, k)
    order = np.argsort(which, kind="stable")
    one_by_one = rows_of([doubled[i].tolist() for i in order.tolist()])
    apart = mdav(SetSpace(kind, items, one_by_one), np.ones(len(doubled), np.int64), k)
    assert [sorted(np.repeat(r, c).tolist()) for r, c in collapsed] == [
        sorted(which[order][r].tolist()) for r, _ in apart
    ]


@settings(max_examples=40, deadline=None)
@given(problems(30), st.integers(2, 5), st.sampled_from(KINDS))
def test_every_group_is_large_enough_and_nobody_is_lost(problem: tuple[ItemDistances, Rows], k: int, kind: str) -> None:
    items, rows = problem
    weights = 1 + np.arange(len(rows)) % 3
    if weights.sum() < k:
        return
    parts = mdav(SetSpace(kind, items, rows), weights, k)
    assert (parts.sizes[:-1] == k).all()
    assert k <= parts.sizes[-1] < 2 * k
    np.testing.assert_array_equal(np.bincount(parts.record, parts.copies, len(rows)), weights)


@settings(max_examples=30, deadline=None)
@given(problems(), st.integers(2, 4), st.sampled_from(KINDS), st.booleans())
def test_centroids_agree_with_the_definition(
    problem: tuple[ItemDistances, Rows], k: int, kind: str, usual: bool
) -> None:
    items, rows = problem
    if len(rows) < k:
        return
    parts = mdav(SetSpace(kind, items, rows), np.ones(len(rows), np.int64), k)
    found = centroids(kind, items, rows, parts, usual_size=usual)
    for g, (records, _) in enumerate(parts):
        mean = np.mean([len(rows[r]) for r in records])
        nearest = min(abs(len(rows[r]) - mean) for r in records)
        sums = {
            r: sum(set_distance(kind, items, rows[r].tolist(), rows[s].tolist()) for s in records.tolist())
            for r in sorted(records.tolist())
            if not usual or abs(len(rows[r]) - mean) <= nearest + 1e-9
        }
        assert sums[int(found[g])] <= min(sums.values()) + 1e-9 * len(records)


def test_long_records_take_another_way_to_the_same_centroid(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    rows = rows_of([sorted(rng.choice(40, int(rng.integers(1, 9)), replace=False).tolist()) for _ in range(30)])
    items = ItemDistances(None, opaque=40)
    for kind in KINDS:
        parts = mdav(SetSpace(kind, items, rows), np.ones(30, np.int64), 4)
        usual = centroids(kind, items, rows, parts, usual_size=True)
        monkeypatch.setattr("keepsense.methods.sets.set_microaggregation._LONG", 0)
        other = centroids(kind, items, rows, parts, usual_size=True)
        monkeypatch.undo()
        for g, (records, _) in enumerate(parts):
            for chosen in (usual[g], other[g]):
                assert chosen in records
            cost = [sum(set_distance(kind, items, rows[c], rows[r]) for r in records) for c in (usual[g], other[g])]
            assert cost[0] == pytest.approx(cost[1])


@settings(max_examples=30, deadline=None)
@given(taxonomies(12), st.integers(0, 2**32 - 1), st.sampled_from(KINDS))
def test_row_order_does_not_matter(taxonomy: Taxonomy, seed: int, kind: str) -> None:
    """Not even among ties: distinct records are put into an order of their own first."""
    rng = np.random.default_rng(seed)
    names = [taxonomy.label(c) for c in range(len(taxonomy))] + ["unheard of", "unseen"]
    records = [list(rng.choice(names, int(rng.integers(0, min(5, len(names)) + 1)), replace=False)) for _ in range(20)]
    order = rng.permutation(len(records)).tolist()
    measure = distance("feature", taxonomy)
    groups = []
    for some in (records, [records[i] for i in order]):
        release = microaggregate_sets(map_sets(from_lists(some), taxonomy), measure, k=3, distance=kind)
        parts = [sorted(np.repeat(r, c).tolist()) for r, c in release.partition]
        groups.append((parts, release.centroids.tolist()))
    assert groups[0] == groups[1]


def test_progress_is_told() -> None:
    seen = []
    mdav(
        SetSpace("average", ItemDistances(None, opaque=9), rows_of([[i % 9] for i in range(40)])),
        np.ones(40, np.int64),
        2,
        listener=seen.append,
    )
    assert seen[-1].fraction == 1.0
    assert seen[-1].details["groups"] == 20


@pytest.mark.parametrize("k", [1, 0, -3, 2.5, True, "3"])
def test_a_size_that_is_none_is_refused(k: object) -> None:
    with pytest.raises(BadInput, match="whole number of at least 2"):
        mdav(SetSpace("average", ItemDistances(None, opaque=1), rows_of([[0]])), np.ones(1, np.int64), k)  # type: ignore[arg-type]


def test_sums_do_not_overflow_for_very_heavy_records() -> None:
    rows = rows_of([[0], [1], [0, 1]])
    space = SetSpace("average", ItemDistances(None, opaque=2), rows)
    left = np.array([2**40, 2**40, 5])
    space.start(left)
    np.testing.assert_allclose(space.totals(), [0.5, 0.5, 0.5], atol=1e-6)


def test_partition_iterates_over_groups() -> None:
    parts = Partition(np.array([0, 0, 1]), np.array([3, 1, 2]), np.array([1, 2, 3]))
    assert [(r.tolist(), c.tolist()) for r, c in parts] == [([3, 1], [1, 2]), ([2], [3])]
    assert len(Partition.of([])) == 0
