"""Measures of set releases against plain definitions."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import taxonomies

from keepsense.arrays import Rows
from keepsense.errors import BadInput, Infeasible
from keepsense.semantics.distance import distance
from keepsense.sets.item_distances import ItemDistances
from keepsense.sets.set_distance import set_distance
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.utility import set_losses as measures
from keepsense.utility.set_losses import (
    average_distances,
    item_error,
    known_items_risk,
    pair_error,
    profile_accuracy,
    set_loss,
)


def rows_of(records: list[list[int]]) -> Rows:
    return Rows.from_pairs(
        np.repeat(np.arange(len(records)), [len(r) for r in records]), [i for r in records for i in r], len(records)
    )


def apart(a: np.ndarray, b: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    return (a != b).astype(float)


PAIRS = st.integers(1, 8).flatmap(
    lambda n: st.tuples(
        *[st.lists(st.sets(st.integers(0, 6), min_size=1, max_size=4).map(sorted), min_size=n, max_size=n)] * 2
    )
)


@settings(max_examples=40, deadline=None)
@given(taxonomies(12), st.integers(0, 2**32 - 1), st.sampled_from([0, 1 << 20]))
def test_loss_is_the_sum_of_squared_average_distances(taxonomy: Taxonomy, seed: int, memory: int) -> None:
    rng = np.random.default_rng(seed)
    items = ItemDistances(distance("feature", taxonomy), np.arange(len(taxonomy)), 3, memory=memory)
    before, after = (
        [sorted(rng.choice(len(items), int(rng.integers(1, 4)), replace=False).tolist()) for _ in range(9)]
        for _ in range(2)
    )
    slow = [set_distance("average", items, a, b) for a, b in zip(before, after, strict=True)]
    np.testing.assert_allclose(average_distances(rows_of(before), rows_of(after), items.pairs), slow, atol=1e-12)
    loss = set_loss(rows_of(before), rows_of(after), items.pairs)
    assert loss.total == pytest.approx(sum(d * d for d in slow))
    assert loss.floor == pytest.approx(sum(set_distance("average", items, a, a) ** 2 for a in before))
    assert loss.mean == pytest.approx(loss.total / 9)


def test_many_pairs_are_taken_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = rows_of([[0, 1, 2], [3]]), rows_of([[0, 1], [3, 4, 5]])
    whole = average_distances(before, after, apart)
    monkeypatch.setattr(measures, "_PAIRS", 2)
    np.testing.assert_allclose(average_distances(before, after, apart), whole)


def test_a_set_is_not_at_zero_from_itself_but_one_item_is() -> None:
    sets = rows_of([[0, 1], [2]])
    assert average_distances(sets, sets, apart).tolist() == [0.5, 0.0]
    assert set_loss(sets, sets, apart).above_floor == 0


@settings(max_examples=40, deadline=None)
@given(PAIRS)
def test_item_and_pair_errors_agree_with_counting(records: tuple[list[list[int]], list[list[int]]]) -> None:
    before, after = records
    for size, function in ((1, item_error), (2, pair_error)):
        was = Counter(c for r in before for c in combinations(r, size))
        now = Counter(c for r in after for c in combinations(r, size))
        found = function(rows_of(before), rows_of(after), 7)
        if not was:
            continue
        assert found.absolute == pytest.approx(np.mean([abs(now[c] - n) / len(before) for c, n in was.items()]))
        assert found.relative == pytest.approx(np.mean([abs(now[c] - n) / n for c, n in was.items()]))
        total = sum(now.values())
        moved = sum(abs(was[c] / sum(was.values()) - (now[c] / total if total else 0)) for c in {*was, *now}) / 2
        assert found.variation == pytest.approx(moved)


def test_generalized_items_count_in_fractions() -> None:
    before = rows_of([[0], [1], [2]])
    stands = rows_of([[0], [1], [2], [0, 1]])  # 3 is 0 or 1
    assert item_error(before, rows_of([[3], [3], [2]]), 4, stands).relative == 0
    before = rows_of([[0, 2], [1, 2]])
    assert pair_error(before, rows_of([[2, 3], [2, 3]]), 4, stands).relative == 0
    assert pair_error(before, rows_of([[2, 3], [3]]), 4, stands).relative == 0.5
    assert pair_error(before, rows_of([[2, 3], [3]]), 4, stands, top=1).relative == 0.5


def test_pairs_can_be_limited_to_the_frequent_ones_and_refused() -> None:
    before = rows_of([[0, 1], [0, 1], [1, 2]])
    after = rows_of([[0, 1], [0, 1], [3]])
    assert pair_error(before, after, 4, top=1).relative == 0
    assert pair_error(before, after, 4).relative == 0.5
    huge = rows_of([list(range(20_000))])
    with pytest.raises(Infeasible, match="too many"):
        pair_error(huge, huge, 20_000)


def test_linkage_by_known_items() -> None:
    before = rows_of([[0, 1], [0, 2], [3], [3]])
    assert known_items_risk(before, before, 2, rng=0).risk == pytest.approx((1 + 1 + 0.5 + 0.5) / 4)
    merged = rows_of([[0], [0], [3], [3]])
    found = known_items_risk(before, merged, 2, rng=0)
    assert found.risk == 0.5
    assert found.linked == 1.0
    assert found.group == 2
    # where nothing released holds what is known, everybody is as likely
    assert known_items_risk(before, rows_of([[9]] * 4), 1, rng=0).risk == 0.25
    # item 3 may have been released as 4
    seen_as = Rows.from_pairs([0, 1, 2, 3, 3], [0, 1, 2, 3, 4], 4)
    hidden = known_items_risk(rows_of([[3], [0]]), rows_of([[4], [0]]), 1, seen_as=seen_as, rng=0)
    assert hidden.risk == 1.0
    assert known_items_risk(rows_of([[], []]), rows_of([[], []]), 1).people == 0
    with pytest.raises(BadInput, match="at least 1"):
        known_items_risk(before, before, 0)


def test_people_are_sampled_where_there_are_many() -> None:
    sets = rows_of([[i % 7] for i in range(70)])
    found = known_items_risk(sets, sets, 1, people=20, rng=3)
    assert found.people == 20
    assert found.risk == pytest.approx(0.1)


def test_profiles() -> None:
    category = np.array([0, 0, 1, 2, -1], dtype=np.int32)
    before = rows_of([[0, 1, 2], [3], [4]])
    assert profile_accuracy(before, before, category) == 1.0
    assert profile_accuracy(before, rows_of([[3], [3], [0]]), category, top=1) == 0.5
    assert profile_accuracy(rows_of([[4]]), rows_of([[0]]), category) == 1.0
    with pytest.raises(BadInput, match="at least 1"):
        profile_accuracy(before, before, category, top=0)


def test_unequal_numbers_of_records_are_refused() -> None:
    with pytest.raises(BadInput, match="record by record"):
        set_loss(rows_of([[0]]), rows_of([[0], [1]]), apart)
    with pytest.raises(BadInput, match="empty set"):
        set_loss(rows_of([[]]), rows_of([[0]]), apart)
