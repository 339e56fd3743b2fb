"""The gold standard of senses is what its README says, and fits the embedded WordNet."""

from __future__ import annotations

import pytest
from tests.taxonomy.gold_senses import NONE, Column, gold, scored

from keepsense.taxonomy import map_values, wordnet


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


def by(senses: str, column: Column) -> dict[str, str | None]:
    """What mapping a whole column gives for its words."""
    nouns = wordnet()
    mapping = map_values(column.values, nouns, senses=senses, column=column.name)  # type: ignore[arg-type]
    return {text: nouns.id(concept) for text, concept in mapping.concepts.items()}


@pytest.mark.parametrize("senses", ["first", "lesk", "joint"])
def test_every_way_to_choose_senses_beats_chance_on_the_half_to_tune_on(senses: str) -> None:
    assert scored(lambda column: by(senses, column), "tuning", ambiguous=True).accuracy > 0.4
