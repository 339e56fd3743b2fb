"""The gold standard of word senses: what words of real columns mean, by reading WordNet's definitions twice."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from keepsense.taxonomy.embedded_taxonomies import wordnet
from keepsense.taxonomy.mapper import map_values

FOLDER = Path(__file__).parent / "senses"
NONE = "-"
"""Label of a word none of whose senses is right."""


@dataclass(frozen=True)
class Word:
    """A word of a column: its number of senses, and the ids that each labeller accepts, best first."""

    text: str
    senses: int
    first: tuple[str, ...]
    second: tuple[str, ...]

    @property
    def accepted(self) -> frozenset[str]:
        """Senses that either labeller accepts."""
        return frozenset(self.first) | frozenset(self.second)

    @property
    def ambiguous(self) -> bool:
        """Whether there is a choice."""
        return self.senses > 1


@dataclass(frozen=True)
class Column:
    """A column of a real table: its values with their rows, which are the context, and the words that were labelled."""

    table: str
    name: str
    half: str
    values: Mapping[str, int]
    words: tuple[Word, ...]


def gold() -> list[Column]:
    """All columns."""
    with (FOLDER / "columns.csv").open(encoding="utf-8", newline="") as file:
        values = list(csv.DictReader(file))
    with (FOLDER / "labels.csv").open(encoding="utf-8", newline="") as file:
        labels = list(csv.DictReader(file))
    columns = []
    for number in dict.fromkeys(row["column"] for row in values):
        own = [row for row in values if row["column"] == number]
        words = tuple(
            Word(
                row["word"],
                int(row["senses"]),
                tuple(row["first_labeller"].split()),
                tuple(row["second_labeller"].split()),
            )
            for row in labels
            if row["column"] == number
        )
        context = {row["value"]: int(row["rows"]) for row in own}
        columns.append(Column(own[0]["table"], own[0]["name"], own[0]["half"], context, words))
    return columns


@dataclass(frozen=True)
class Score:
    """Words right, wrong and left undecided."""

    right: int
    wrong: int
    undecided: int

    @property
    def accuracy(self) -> float:
        """Share of the decided words that are right."""
        return self.right / max(1, self.right + self.wrong)

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95% interval of the accuracy."""
        n, z = max(1, self.right + self.wrong), 1.96
        centre = (self.accuracy + z * z / (2 * n)) / (1 + z * z / n)
        half = z * math.sqrt(self.accuracy * (1 - self.accuracy) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        return centre - half, centre + half


Choose = Callable[[Column], Mapping[str, str | None]]
"""Chooses for the words of a column the id of a concept, or None where it does not dare."""


def scored(choose: Choose, half: str, *, ambiguous: bool = False) -> Score:
    """How many words of one half a chooser gets right; one with no right sense is right only where it is left out."""
    right = wrong = undecided = 0
    for column in gold():
        if column.half != half:
            continue
        chosen = choose(column)
        for word in column.words:
            if ambiguous and not word.ambiguous:
                continue
            concept = chosen.get(word.text)
            if concept is None and NONE not in word.accepted:
                undecided += 1
            elif (concept or NONE) in word.accepted:
                right += 1
            else:
                wrong += 1
    return Score(right, wrong, undecided)


def chosen_by(senses: str) -> Choose:
    """What mapping a whole column onto WordNet gives for its words; words in doubt are undecided."""
    nouns = wordnet()

    def choose(column: Column) -> dict[str, str | None]:
        mapping = map_values(column.values, nouns, senses=senses, column=column.name)
        doubtful = {word.value for word in mapping.doubtful}
        return {str(text): nouns.id(c) for text, c in mapping.concepts.items() if text not in doubtful}

    return choose
