"""The gold standard of senses is what its README says, and fits the embedded WordNet."""

from __future__ import annotations

import pytest
from tests.taxonomy.gold_senses import NONE, chosen_by, gold, scored

from keepsense.taxonomy.embedded_taxonomies import wordnet
from keepsense.taxonomy.sense_disambiguation import DEFAULT, STRATEGIES


def test_it_is_large_enough_and_split_by_column() -> None:
    columns = gold()
    words = [word for column in columns for word in column.words]
    assert len(columns) >= 20
    assert len(words) >= 300
    for half in ("tuning", "judging"):
        assert sum(column.half == half for column in columns) == 15
        assert sum(word.ambiguous for column in columns if column.half == half for word in column.words) >= 90


def test_every_label_is_a_sense_of_its_word() -> None:
    nouns = wordnet()
    for column in gold():
        for word in column.words:
            spelled = " ".join(word.text.lower().replace("_", " ").replace(".", " ").split())
            known = {nouns.id(concept) for concept in nouns.senses_of(spelled)}
            assert len(known) <= word.senses, word  # a plural has the senses of its singular besides
            assert len(known) < word.senses or word.accepted - {NONE} <= known, word


def test_the_labellers_agree() -> None:
    words = [word for column in gold() for word in column.words]
    ambiguous = [word for word in words if word.ambiguous]
    assert sum(word.first[0] == word.second[0] for word in words) / len(words) > 0.98
    assert sum(word.first[0] == word.second[0] for word in ambiguous) / len(ambiguous) > 0.97


@pytest.mark.parametrize("senses", ["context", "first", "lesk", "joint"])
def test_every_way_to_choose_senses_beats_chance_on_the_half_to_tune_on(senses: str) -> None:
    assert scored(chosen_by(senses), "tuning", ambiguous=True).accuracy > 0.4


@pytest.mark.parametrize("half", ["tuning", "judging"])
@pytest.mark.parametrize(("ambiguous", "least"), [(False, 0.90), (True, 0.85)])
def test_the_default_is_right_where_it_decides_and_seldom_undecided(half: str, ambiguous: bool, least: float) -> None:
    """The bar, on the half to tune on and on the one nobody looked at; README has the figures and their intervals."""
    score = scored(chosen_by(DEFAULT), half, ambiguous=ambiguous)
    assert score.accuracy >= least
    assert score.undecided <= (score.right + score.wrong + score.undecided) / 10


def test_the_default_is_better_than_every_other_way_on_the_half_nobody_looked_at() -> None:
    right = {s: scored(chosen_by(s), "judging", ambiguous=True).accuracy for s in STRATEGIES}
    assert max(right, key=lambda strategy: right[strategy]) == DEFAULT
