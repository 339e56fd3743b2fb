"""Hierarchies of words as they are released: levels stay, labels read like words and mean one thing."""

from __future__ import annotations

import numpy as np
import pytest

from keepsense.counts import Counts
from keepsense.hierarchies import Hierarchy, build_hierarchy, check
from keepsense.hierarchies.choice import descend
from keepsense.hierarchies.words.base import base_hierarchy
from keepsense.hierarchies.words.readable import plain, spelled
from keepsense.hierarchies.words.shortlist import shortlist
from keepsense.methods.generalize import semantic_mondrian
from keepsense.semantics import distance
from keepsense.taxonomy import Taxonomy, from_edges
from keepsense.taxonomy.embedded import wordnet
from keepsense.utility import leaf_distances
from keepsense.utility.meaning import listed_members

JOBS = ("nurse", "midwife", "surgeon", "dentist", "pilot", "clerk", "baker", "farmer", "pianist", "hospital", "street")
COUNTS = list(range(1, len(JOBS) + 1))


@pytest.fixture(scope="module")
def jobs() -> list[Hierarchy]:
    return shortlist(JOBS, distance("wu-palmer", wordnet()), COUNTS)


def test_the_top_is_a_star_and_no_label_says_nothing(jobs: list[Hierarchy]) -> None:
    for tree in jobs:
        assert not check(tree)
        assert tree.labels[-1] == ("*",)
        labels = {label for level in tree.labels for label in level}
        assert labels.isdisjoint({"entity", "physical entity", "whole", "object", "abstraction", "thing"})
        assert not any("#" in str(label) for label in labels)


def test_a_label_stands_for_the_same_values_wherever_it_is_released(jobs: list[Hierarchy]) -> None:
    for tree in jobs:
        covered: dict[object, frozenset[int]] = {}
        for level, labels in enumerate(tree.labels):
            for code, label in enumerate(labels):
                inside = frozenset(np.flatnonzero(tree.codes[:, level] == code).tolist())
                assert covered.setdefault(label, inside) == inside


def test_every_concept_that_groups_values_keeps_its_level(jobs: list[Hierarchy]) -> None:
    base = base_hierarchy(JOBS, wordnet())
    groups = {frozenset(np.flatnonzero(codes == c).tolist()) for codes in base.codes.T for c in np.unique(codes)}
    silent = {"object", "whole", "physical entity", "entity", "causal agent"}
    for level, labels in enumerate(base.labels):
        for code, label in enumerate(labels):
            if label in silent:
                groups.discard(frozenset(np.flatnonzero(base.codes[:, level] == code).tolist()))
    kept = {frozenset(np.flatnonzero(codes == c).tolist()) for codes in jobs[0].codes.T for c in np.unique(codes)}
    assert groups <= kept


def test_equal_labels_are_told_apart_by_a_parent_in_brackets() -> None:
    links = [("school1", "building"), ("school2", "fish"), ("building", "thing"), ("fish", "thing")]
    links += [(f"{kind}{i}", f"school{kind == 'b'}".replace("True", "2").replace("False", "1"))
              for kind in "ab" for i in range(6)]  # fmt: skip
    pets = from_edges(links, names={"school1": ["school"], "school2": ["school"]})
    values = [f"{kind}{i}" for kind in "ab" for i in range(6)]
    tree = spelled(plain(base_hierarchy(values, pets), pets), pets, name="where")
    assert set(tree.labels[1]) == {"school (building)", "school (fish)"}


def test_a_value_above_another_does_not_share_its_label() -> None:
    pets = from_edges([("cat", "pet"), ("dog", "pet"), ("pet", "animal"), ("ant", "animal")])
    tree = spelled(plain(base_hierarchy(["pet", "cat", "ant"], pets), pets), pets, name="pet")
    assert [row[1] for row in tree.rows()] == ["pet or cat", "pet or cat", "ant"]


def test_a_listed_group_is_as_far_away_as_its_members_on_average() -> None:
    pets = from_edges([("cat", "pet"), ("dog", "pet"), ("cow", "pet"), ("ant", "pet")])
    judge = distance("path", pets)
    tree = shortlist(["cat", "dog", "cow", "ant"], judge, [1, 1, 9, 9])[0]
    label, members = next(iter(listed_members(tree).items()))
    assert len(members) == 2
    assert label == " or ".join(map(str, members))
    level = next(i for i, labels in enumerate(tree.labels) if label in labels)
    losses, _ = leaf_distances(tree, judge)
    assert losses[level][tree.lookup(members)].tolist() == [judge.pair(*map(str, members)) / judge.maximum / 2] * 2


def test_the_lowest_gsl_is_there_for_whoever_wants_it() -> None:
    rows = dict(zip(JOBS, COUNTS, strict=True))
    usual = build_hierarchy(rows, taxonomy=wordnet())
    papers = build_hierarchy(rows, taxonomy=wordnet(), choose="gsl")
    assert papers.info["judged"] == "GSL"
    assert "judged" not in usual.info


def test_columns_are_chosen_together() -> None:
    low = Hierarchy.of_rows([("nurse", "*"), ("clerk", "*")], name="low")
    high = Hierarchy.of_rows([("nurse", "medic", "*"), ("clerk", "office", "*")], name="high")
    costs = {(1, 1): 4.0, (1, 2): 3.0, (2, 1): 5.0, (2, 2): 1.0}  # the first column gains only with the second
    choice = descend({"a": [low, high], "b": [low, high]}, lambda s: costs[s["a"].height, s["b"].height])
    assert choice.positions == {"a": 1, "b": 1}
    assert choice.total == 1.0


@pytest.mark.parametrize("taxonomy", [wordnet()], ids=["wordnet"])
def test_words_are_not_sacrificed_for_numbers(taxonomy: Taxonomy) -> None:
    rng = np.random.default_rng(3)
    counts = Counts.of({"job": rng.choice(JOBS[:9], 400).tolist(), "age": rng.integers(20, 80, 400).tolist()})
    tree = shortlist(counts.values_of("job"), distance("wu-palmer", taxonomy), counts.marginal("job").tolist())[0]
    judge = {"job": distance("wu-palmer", taxonomy)}
    hidden = {}
    for weight in (1.0, 20.0):
        cells = semantic_mondrian(
            counts, {"job": tree}, k=40, distances=judge, numbers=["age"], importance={"job": weight}
        )
        star = [value == "*" for value in cells.values[0]]
        hidden[weight] = int(cells.multiplicity[np.array(star)[cells.codes[:, 0]]].sum())
    assert hidden[20.0] <= hidden[1.0] < 200


def test_no_label_is_a_value_in_another_spelling() -> None:
    tree = build_hierarchy({"STREET": 5, "ALLEY": 2, "DRIVEWAY": 1, "HOUSE": 3}, taxonomy=wordnet(), name="place")
    spellings: dict[str, set[str]] = {}
    for row in tree.rows():
        for label in row:
            spellings.setdefault(str(label).casefold(), set()).add(str(label))
    assert all(len(alike) == 1 for alike in spellings.values())
    assert any("ALLEY" in row and "STREET" in str(row) for row in tree.rows())
