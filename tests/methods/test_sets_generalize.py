"""Truthful generalization of sets: apriori (one cut for all) and top-down (group by group)."""

from __future__ import annotations

import csv
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.tiny_hierarchies import food_hierarchy

from keepsense.errors import BadHierarchy, BadInput, Infeasible
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.sets.apriori import generalize_sets_apriori
from keepsense.methods.sets.set_column import GeneralizedSets, ItemTree
from keepsense.methods.sets.top_down_sets import generalize_sets_top_down
from keepsense.sets.concept_sets import map_sets
from keepsense.sets.item_sets import from_lists, read_baskets
from keepsense.utility.set_comparison import compare_sets
from keepsense.verification.verifier import verify_sets

ITEMS = [str(leaf) for leaf in food_hierarchy().leaves]
RECORDS = st.lists(st.sets(st.sampled_from(ITEMS), max_size=4).map(sorted), min_size=1, max_size=16)


def truthful(release: GeneralizedSets) -> None:
    """Every item is itself or below something released, and everything released is above some item."""
    tree = release.tree
    place = {label: leaf for leaf, label in enumerate(tree.labels[: tree.leaves])}
    for before, nodes in zip(
        release.sets.sets(), (release.rows[i].tolist() for i in range(len(release.rows))), strict=True
    ):
        leaves = [place[item] for item in before]
        for leaf in leaves:
            assert set(tree.path(leaf)) & set(nodes)
        for node in nodes:
            below = set(tree.leaves_under(node).tolist())
            assert below & set(leaves) or tree.labels[node] in (None, "*")


@settings(max_examples=60, deadline=None)
@given(RECORDS, st.integers(1, 4), st.integers(1, 3))
def test_apriori_keeps_its_promise_and_the_truth(records: list[list[str]], k: int, m: int) -> None:
    sets = from_lists(records)
    filled = sum(bool(r) for r in records)
    if 0 < filled < k:
        with pytest.raises(Infeasible, match="hold any item"):
            generalize_sets_apriori(sets, food_hierarchy(), k=k, m=m)
        return
    release = generalize_sets_apriori(sets, food_hierarchy(), k=k, m=m)
    assert verify_sets(release.records(), [release.promise()]).ok
    truthful(release)
    assert 0 <= release.penalty <= 1
    assert release.cut is not None
    rule = dict(zip(release.cut.inputs, release.cut.outputs, strict=True))
    assert release.records() == [sorted({rule[i] for i in r}) for r in records]


@settings(max_examples=25, deadline=None)
@given(RECORDS.filter(lambda r: sum(map(bool, r)) >= 2))
def test_apriori_is_never_better_than_the_best_cut(records: list[list[str]]) -> None:
    """All cuts of the small hierarchy, one by one."""
    tree = ItemTree.of(food_hierarchy())
    release = generalize_sets_apriori(from_lists(records), food_hierarchy(), k=2, m=2)
    best = 2.0
    for choice in product(*(tree.path(leaf) for leaf in range(tree.leaves))):
        if any(choice[b] != node for node in choice for b in tree.leaves_under(node)):
            continue
        rule = dict(zip(ITEMS, choice, strict=True))
        rows = [{rule[i] for i in r} for r in records]
        held = [c for r in rows for size in (1, 2) for c in combinations(sorted(r), size)]
        if all(held.count(c) >= 2 for c in set(held)):
            nodes = [rule[i] for r in records for i in r]
            best = min(best, float(np.mean(tree.penalty[nodes])))
    assert release.penalty >= best - 1e-9


@settings(max_examples=60, deadline=None)
@given(RECORDS, st.integers(2, 4))
def test_topdown_keeps_its_promise_and_the_truth(records: list[list[str]], k: int) -> None:
    sets = from_lists(records)
    if len(records) < k:
        with pytest.raises(Infeasible, match="cannot form a group"):
            generalize_sets_top_down(sets, food_hierarchy(), k=k)
        return
    release = generalize_sets_top_down(sets, food_hierarchy(), k=k)
    assert verify_sets(release.records(), [release.promise()]).ok
    truthful(release)
    assert release.group is not None
    for one in np.unique(release.group):
        members = np.flatnonzero(release.group == one)
        assert len(members) >= k
        assert len({tuple(release.rows[i].tolist()) for i in members.tolist()}) == 1


def test_topdown_splits_as_far_as_it_can() -> None:
    records = [["ham", "tea"]] * 3 + [["beef"]] * 3 + [["milk"]]
    release = generalize_sets_top_down(from_lists(records), food_hierarchy(), k=3)
    assert release.records()[:3] == [["ham", "tea"]] * 3
    # the one with milk stays at the top and needs company
    assert release.records()[6] == ["*"]
    assert sum(r == ["*"] for r in release.records()) >= 3


def test_nothing_is_generalized_where_nothing_needs_to_be() -> None:
    records = [["ham", "tea"]] * 5 + [["milk"]] * 5
    for release in (
        generalize_sets_apriori(from_lists(records), food_hierarchy(), k=5, m=3),
        generalize_sets_top_down(from_lists(records), food_hierarchy(), k=5),
    ):
        assert release.records() == records
        assert release.penalty == 0
        assert release.findings() == []


def test_row_order_does_not_matter_for_the_cut() -> None:
    rng = np.random.default_rng(3)
    records = [sorted(rng.choice(ITEMS, int(rng.integers(1, 4)), replace=False).tolist()) for _ in range(30)]
    mixed = [records[i] for i in rng.permutation(30)]
    cuts = [generalize_sets_apriori(from_lists(r), food_hierarchy(), k=3, m=2).cut for r in (records, mixed)]
    assert cuts[0] is not None
    assert cuts[1] is not None
    assert cuts[0].outputs == cuts[1].outputs


def test_levels_that_change_nothing_are_no_steps() -> None:
    tree = ItemTree.of(
        Hierarchy.of_rows([("beef", "beef", "meat", "*"), ("ham", "pork", "meat", "*"), ("tea", "tea", "drink", "*")])
    )
    assert [tree.labels[n] for n in tree.path(0)] == ["beef", "meat", "*"]
    assert [tree.labels[n] for n in tree.path(2)] == ["tea", "*"]


def test_several_tops_get_a_root() -> None:
    tree = ItemTree.of(Hierarchy.of_rows([("beef", "meat"), ("tea", "drink"), ("milk", "drink")]))
    assert tree.labels[tree.root] == "*"
    assert tree.leaf_counts[tree.root] == 3


def test_unknown_items_are_refused_and_counted() -> None:
    with pytest.raises(BadHierarchy, match=r"items: the hierarchy misses 1 value") as error:
        generalize_sets_apriori(from_lists([["caviar"]]), food_hierarchy(), k=1, m=1)
    assert "caviar" not in str(error.value)
    with pytest.raises(BadInput, match="m must be a whole number"):
        generalize_sets_apriori(from_lists([["ham"]]), food_hierarchy(), k=1, m=0)


def test_both_ways_are_measured_alike() -> None:
    records = [["ham"], ["beef"], ["tea"], ["milk"], ["ham", "tea"], ["beef", "tea"]]
    sets = from_lists(records)
    release = generalize_sets_apriori(sets, food_hierarchy(), k=2, m=2)
    found = compare_sets(map_sets(sets, None), release.records(), None, covers=release.covers(), known=[1], rng=0)
    assert found.linkage[0].linked == 1.0  # truthful: the right record always fits
    assert found.linkage[0].risk <= 0.5
    assert found.items.variation < 0.3


@pytest.mark.data
def test_real_baskets(shared_data: Path) -> None:
    folder = shared_data / "groceries"
    sets = read_baskets(folder / "groceries_baskets.csv", delimiter=";")
    with (folder / "groceries_hierarchy.csv").open(encoding="utf-8") as file:
        hierarchy = Hierarchy.of_rows(list(csv.reader(file, delimiter=";"))[1:])
    one = generalize_sets_apriori(sets, hierarchy, k=5, m=2)
    other = generalize_sets_top_down(sets, hierarchy, k=5)
    assert verify_sets(one.records(), [one.promise()], original_records=9_835).ok
    assert verify_sets(other.records(), [other.promise()], original_records=9_835).ok
    assert one.penalty < generalize_sets_apriori(sets, hierarchy, k=5, m=3).penalty
