"""The release of microaggregated sets: k-anonymous, synthetic, in the form it came in, with everything counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import taxonomies

from keepsense.errors import BadInput, Infeasible
from keepsense.methods.microaggregate.mdav import Partition
from keepsense.methods.sets.set_microaggregation import deal, microaggregate_sets
from keepsense.semantics.distance import distance
from keepsense.sets.concept_sets import map_sets
from keepsense.sets.item_sets import from_delimited, from_lists, from_long, read_baskets
from keepsense.sets.set_distance import KINDS
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import from_edges
from keepsense.utility.set_comparison import compare_sets
from keepsense.verification.verifier import verify_sets

PHONES = from_edges(
    [("smartphone", "phone"), ("landline", "phone"), ("phone", "thing"), ("charger", "thing")],
    names={
        "smartphone": ["smartphone", "iPhone 3", "Galaxy S2", "Nexus 4"],
        "landline": ["landline"],
        "phone": ["phone"],
        "thing": ["thing"],
        "charger": ["charger", "AC adapter"],
    },
)


def released_by(records: list[list[str]], k: int, seed: int = 0, kind: str = "average") -> list[list[str]]:
    sets = map_sets(from_lists(records), PHONES)
    return microaggregate_sets(sets, distance("feature", PHONES), k=k, distance=kind, rng=seed).records()  # type: ignore[return-value]


@settings(max_examples=30, deadline=None)
@given(taxonomies(10), st.integers(0, 2**32 - 1), st.integers(2, 5), st.sampled_from(KINDS))
def test_every_released_set_is_shared_by_k_records(taxonomy: Taxonomy, seed: int, k: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    names = [name for c in range(len(taxonomy)) for name in taxonomy.synonyms(c)[:2]] + ["unheard of", "unseen"]
    records = [list(rng.choice(names, int(rng.integers(0, 4)))) for _ in range(23)]
    sets = map_sets(from_lists(records), taxonomy)
    release = microaggregate_sets(sets, distance("wu-palmer", taxonomy), k=k, distance=kind, rng=rng)
    assert verify_sets(release.records(), [release.promise()], original_records=len(records)).ok
    assert len(release.records()) == len(records)
    assert min(Counter(release.group.tolist()).values()) >= k


def test_terms_are_drawn_from_those_that_enough_people_use() -> None:
    records = [["iPhone 3"]] * 6 + [["Galaxy S2"]] * 3 + [["Nexus 4"]]
    seen = Counter(r[0] for seed in range(60) for r in released_by(records, 3, seed))
    assert set(seen) == {"iPhone 3", "Galaxy S2"}
    assert 1.5 < seen["iPhone 3"] / seen["Galaxy S2"] < 2.7  # drawn over occurrences, 6 to 3


def test_a_concept_whose_terms_are_all_rare_is_released_by_its_label() -> None:
    records = [["iPhone 3"], ["Galaxy S2"], ["Nexus 4"]]
    sets = map_sets(from_lists(records), PHONES)
    release = microaggregate_sets(sets, distance("feature", PHONES), k=3, rng=0)
    assert release.records() == [["smartphone"]] * 3
    assert (release.labelled, release.withheld, release.verbatim) == (1, 0, 0)
    assert any(f.code == "W307" for f in release.findings())


def test_a_rare_opaque_term_is_withheld_and_a_common_one_released() -> None:
    records = [["qqq", "www"], ["qqq", "www"], ["qqq", "eee"]]
    sets = map_sets(from_lists(records), PHONES)
    release = microaggregate_sets(sets, distance("feature", PHONES), k=3, rng=0)
    assert release.records() == [["*", "qqq"]] * 3
    assert release.withheld == 1
    assert any(f.code == "W308" for f in release.findings())


def test_a_set_is_drawn_once_for_all_records_of_a_group() -> None:
    records = [["iPhone 3", "charger"], ["Galaxy S2", "AC adapter"]] * 10
    release = released_by(records, 4, seed=5)
    assert len(set(map(tuple, release))) <= 5
    assert all(len(r) == 2 for r in release)


def test_how_often_chance_gives_the_centroid_back_is_told() -> None:
    one_term_each = map_sets(from_lists([["landline"], ["landline"], ["phone"], ["phone"]]), PHONES)
    release = microaggregate_sets(one_term_each, distance("feature", PHONES), k=2, rng=1)
    assert release.verbatim == len(release.partition) == 2
    assert any(f.code == "W306" and "2 of 2" in f.message for f in release.findings())
    many = map_sets(from_lists([["iPhone 3"]] * 9 + [["Galaxy S2"]] * 9 + [["iPhone 3", "charger"]] * 9), PHONES)
    seen = [microaggregate_sets(many, distance("feature", PHONES), k=9, rng=s).verbatim for s in range(8)]
    assert min(seen) < 3  # one group's centroid has two terms and may be released as the other one


def test_empty_sets_are_alike_and_far_from_the_rest() -> None:
    for kind in KINDS:
        release = released_by([[], [], ["phone"], ["landline"]], 2, kind=kind)
        assert release[:2] == [[], []]
        assert [] not in release[2:]


def test_output_keeps_the_form() -> None:
    measure = distance("feature", PHONES)
    text = map_sets(from_delimited(["phone;charger"] * 2 + ['landline;"a;b"'] * 2, delimiter=";"), PHONES)
    assert microaggregate_sets(text, measure, k=2, rng=0).column() == ["charger;phone"] * 2 + ['"a;b";landline'] * 2
    lists = map_sets(from_lists([["phone"]] * 2), PHONES)
    assert microaggregate_sets(lists, measure, k=2, rng=0).column() == [["phone"]] * 2
    rows = map_sets(from_long(["ann", "bob", "bob"], ["phone", "phone", "charger"]), PHONES)
    keys, items = microaggregate_sets(rows, measure, k=2, rng=0).column(rng=1)
    assert sorted(set(keys)) == [1, 2]
    assert "ann" not in keys
    assert len(keys) == len(items)


def test_a_seed_gives_the_same_release_and_none_gives_fresh_ones() -> None:
    records = [["iPhone 3"], ["Galaxy S2"], ["charger"], ["AC adapter"]] * 20
    assert released_by(records, 4, seed=9) == released_by(records, 4, seed=9)
    sets = map_sets(from_lists(records), PHONES)
    measure = distance("feature", PHONES)
    fresh = {str(microaggregate_sets(sets, measure, k=4).records()) for _ in range(6)}
    assert len(fresh) > 1


def test_what_cannot_be_done_is_refused() -> None:
    sets = map_sets(from_lists([["phone"], ["charger"]]), PHONES)
    measure = distance("feature", PHONES)
    with pytest.raises(Infeasible, match=r"'items': 2 records cannot form a group of k = 3") as error:
        microaggregate_sets(sets, measure, k=3)
    assert "a smaller k" in error.value.relax
    with pytest.raises(BadInput, match="at least 2"):
        microaggregate_sets(sets, measure, k=1)
    with pytest.raises(BadInput, match="Did you mean"):
        microaggregate_sets(sets, measure, k=2, distance="minimun")
    other = from_edges([("phone", "thing")])
    with pytest.raises(BadInput, match="another taxonomy"):
        microaggregate_sets(sets, distance("feature", other), k=2)
    with pytest.raises(Infeasible, match="0 records"):
        microaggregate_sets(map_sets(from_lists([]), PHONES), measure, k=2)


def test_a_record_with_a_hundred_thousand_items_is_grouped_like_any_other() -> None:
    many = [f"item {i}" for i in range(100_000)]
    sets = map_sets(from_lists([many, ["item 5"], ["item 6"], ["phone"]]), PHONES)
    for kind in ("average", "minimum", "minimum-sum"):
        release = microaggregate_sets(sets, distance("feature", PHONES), k=2, distance=kind, rng=0)
        assert verify_sets(release.records(), [release.promise()]).ok


def test_rows_on_demand_give_the_same_groups() -> None:
    rng = np.random.default_rng(4)
    links = [(f"c{i}", f"c{i // 3}") for i in range(1, 200)]
    tree = from_edges(links)
    records = [[f"c{i}" for i in rng.choice(200, 4, replace=False)] for _ in range(60)]
    sets = map_sets(from_lists(records), tree)
    for kind in KINDS:
        whole = microaggregate_sets(sets, distance("feature", tree), k=3, distance=kind, rng=0)
        lean = microaggregate_sets(sets, distance("feature", tree), k=3, distance=kind, rng=0, memory=30_000)
        np.testing.assert_array_equal(whole.group, lean.group)
        assert whole.terms == lean.terms


@pytest.mark.data
def test_real_baskets_are_k_anonymous_afterwards(shared_data: Path) -> None:
    sets = read_baskets(shared_data / "groceries" / "groceries_baskets.csv", delimiter=";")
    assert len(sets) == 9_835
    some = map_sets(from_lists(sets.sets()[:800]), None)
    release = microaggregate_sets(some, None, k=5, rng=0)
    assert verify_sets(release.records(), [release.promise()]).ok
    found = compare_sets(some, release.records(), None, known=[2], people=200, rng=0)
    assert found.linkage[0].risk <= 1 / 5


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(1, 4), st.booleans())
def test_groups_never_cross_classes(seed: int, k: int, classes: int, divide: bool) -> None:
    """Class and released set are shared by k; undivided classes get one set; one class alone is the plain method."""
    rng = np.random.default_rng(seed)
    within = np.repeat(np.arange(classes), k + rng.integers(0, 4 * k, classes))
    texts = [";".join(sorted(set(rng.choice(list("abcdef"), 3).tolist()))) for _ in within]
    sets = map_sets(from_delimited(texts, delimiter=";"), None)
    release = microaggregate_sets(sets, None, k=k, within=within, divide=divide, rng=seed)
    both = Counter(zip(within.tolist(), release.group.tolist(), strict=True))
    assert min(both.values()) >= k
    assert len({group for _, group in both}) == len(both), "a group has one class only"
    if divide:
        sizes = np.bincount(within)
        assert [sum(c == at for c, _ in both) for at in range(classes)] == (sizes // k).tolist()
    else:
        assert len(both) == classes
    alone = microaggregate_sets(sets, None, k=k, within=np.zeros(len(within)), rng=seed)
    assert alone.column() == microaggregate_sets(sets, None, k=k, rng=seed).column()


def test_a_class_too_small_for_a_group_is_refused() -> None:
    sets = map_sets(from_delimited(["a", "b", "c"], delimiter=";"), None)
    with pytest.raises(Infeasible, match="in a class"):
        microaggregate_sets(sets, None, k=2, within=np.array([0, 0, 1]), rng=1)
    with pytest.raises(BadInput, match="3"):
        microaggregate_sets(sets, None, k=2, within=np.array([0, 0]), rng=1)


def test_sets_stay_as_large_and_as_varied_as_they_were() -> None:
    """The average distance prefers sets of one item; what is released is chosen among sets of the usual size."""
    rng = np.random.default_rng(2)
    drawn = [[f"i{i}" for i in rng.choice(20, int(rng.choice([1, 3, 3, 3, 4])), replace=False)] for _ in range(300)]
    sets = map_sets(from_lists(drawn), None)
    usual, free = (microaggregate_sets(sets, None, k=5, sizes=sizes, rng=1).records() for sizes in ("usual", "any"))  # type: ignore[arg-type]
    before = np.mean([len(record) for record in drawn])
    assert abs(np.mean([len(record) for record in usual]) - before) < 0.15 * before
    assert np.mean([len(record) for record in free]) < np.mean([len(record) for record in usual])

    def error(released: Sequence[Sequence[object]]) -> int:
        was, now = (Counter(item for record in records for item in record) for records in (drawn, released))
        return sum(abs(was[item] - now[item]) for item in was | now)

    assert error(usual) < error(free)
    with pytest.raises(BadInput, match="sizes = 'small'"):
        microaggregate_sets(sets, None, k=5, sizes="small")  # type: ignore[arg-type]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=20), st.lists(st.integers(0, 2), min_size=5, max_size=5))
def test_copies_of_a_record_that_are_in_one_group_get_it_and_others_are_dealt(
    records: list[int], group_of: list[int]
) -> None:
    known, which = np.unique(records, return_inverse=True)
    copies = np.bincount(which)
    group = np.array([group_of[record] for record in known])
    order = np.argsort(group, kind="stable")
    whole = Partition(group[order], order, copies[order])
    one, other = np.random.default_rng(1), np.random.default_rng(1)
    assert deal(whole, which, one).tolist() == group[which].tolist()
    other.random(len(which))
    assert one.bit_generator.state == other.bit_generator.state, "as many lots are drawn as ever"
    left = np.append(copies[order] - (order == 0), 1)  # one copy of the first record is in another group
    parted = Partition(np.append(group[order], 7), np.append(order, 0), left)
    dealt = deal(parted, which, one)
    assert (dealt == 7).sum() == 1
    assert (dealt[which > 0] == group[which][which > 0]).all()
