"""The hospital encounters as the thesis uses its discharge records: pairs of columns, and samples of them."""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from experiments.gsl import columns as insurance
from keepsense.counts import Counts
from keepsense.taxonomy.embedded_taxonomies import wordnet
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import from_edges

HERE = Path(__file__).parent
MISSING = {"?", "PhysicianNotFound"}
WORDS = (("hobbies", "activity", "placeOfActivity", 100, 10.0), ("jobs", "occupation", "placeOfWork", 100, 20.0))
"""Pairs of insurance columns, the records a pair of words must have, and how many times more often than by chance."""
Pair = tuple[str, str]


@dataclass(frozen=True)
class Sample:
    """A pair of columns to protect, as counts, with the taxonomy of each."""

    name: str
    about: str
    counts: Counts
    taxonomies: tuple[Taxonomy, Taxonomy]

    @property
    def distinct(self) -> tuple[int, int]:
        """Distinct values of each column."""
        return len(self.counts.values[0]), len(self.counts.values[1])


def folder() -> Path:
    """Where the real data lies: `KEEPSENSE_DATA`, or the folder beside the checkout."""
    given = Path(os.environ.get("KEEPSENSE_DATA") or "../shared/data")
    found = given if given.is_absolute() else HERE.parents[1] / given
    if not found.is_dir():
        raise SystemExit("the experiments need the real data folder; set KEEPSENSE_DATA to it")
    return found


@cache
def diagnoses() -> Taxonomy:
    """ICD-9-CM diagnoses, 17,727 concepts."""
    with (folder() / "icd9cm" / "icd9cm_dx_tree.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = {row["code"]: [row["short"] or row["code"]] for row in rows}
    return from_edges([(r["code"], r["parent"]) for r in rows if r["parent"]], names=names, name="ICD-9-CM")


@cache
def specialties() -> Taxonomy:
    """The specialties of the encounters in four levels; our own arrangement."""
    with (HERE / "specialties.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return from_edges([(r["specialty"], r["parent"]) for r in rows if r["parent"]], name="medical specialties")


@cache
def _encounters() -> tuple[tuple[str, str, str], ...]:
    with (folder() / "diabetes130" / "encounters.csv").open(encoding="utf-8") as file:
        return tuple((r["diag_1"], r["diag_2"], r["medical_specialty"]) for r in csv.DictReader(file))


def _code(text: str) -> str:
    """A diagnosis as the taxonomy writes it: zero-padded, without the dot."""
    head, _, tail = text.partition(".")
    return (head if head[0] in "VE" else head.zfill(3)) + tail


def two_diagnoses() -> list[Pair]:
    """Principal and secondary diagnosis of every encounter that has both."""
    return [(_code(a), _code(b)) for a, b, _ in _encounters() if a not in MISSING and b not in MISSING]


def diagnosis_and_specialty() -> list[Pair]:
    """Principal diagnosis and medical specialty of every encounter that has both."""
    return [(_code(a), c) for a, _, c in _encounters() if a not in MISSING and c not in MISSING]


def associated(pairs: list[Pair], least: int, lift: float) -> list[Pair]:
    """Records whose pair of values occurs at least so often, and so many times more often than by chance."""
    joint = Counter(pairs)
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    kept = {
        (a, b)
        for (a, b), times in joint.items()
        if times >= least and times * len(pairs) >= lift * first[a] * second[b]
    }
    return [pair for pair in pairs if pair in kept]


def _sample(name: str, about: str, pairs: list[Pair], rows: int | None, two: bool) -> Sample:
    taxonomies = (diagnoses(), specialties() if two else diagnoses())
    return Sample(name, about, _counts(pairs, rows), taxonomies)


def _counts(pairs: list[Pair], rows: int | None) -> Counts:
    if rows is not None:
        rng = np.random.default_rng(1)
        pairs = [pairs[i] for i in rng.choice(len(pairs), rows, replace=False)]
    return Counts.of({"a": [a for a, _ in pairs], "b": [b for _, b in pairs]})


def insured(first: str, second: str) -> list[Pair]:
    """Two columns of the insured as concepts of WordNet (senses as in the experiment `gsl`)."""
    senses = {column.name: column.senses for column in insurance.columns() if column.data == "Insurance"}
    ids = {
        name: {str(value): wordnet().ids[c] for value, c in zip(found.values, found.concepts.tolist(), strict=True)}
        for name, found in senses.items()
    }
    with (folder() / "insurance" / insurance.INSURANCE).open(encoding="utf-8", newline="") as file:
        return [(ids[first][row[first]], ids[second][row[second]]) for row in csv.DictReader(file)]


def swapping() -> Iterator[Sample]:
    """What Tables 7.2 to 7.5 are repeated on."""
    one, two = two_diagnoses(), diagnosis_and_specialty()
    yield _sample("moderate, two taxonomies", "diagnosis, specialty; lift 1.35", associated(two, 1, 1.35), 1172, True)
    yield _sample("moderate, one taxonomy", "two diagnoses; lift 1.5", associated(one, 1, 1.5), 1172, False)
    yield _sample(
        "strong, few values", "diagnosis, specialty; lift 1.5, 50 records a pair", associated(two, 50, 1.5), 1012, True
    )
    yield _sample("all, two taxonomies", "diagnosis, specialty; every encounter", two, None, True)
    yield _sample("all, one taxonomy", "two diagnoses; every encounter", one, None, False)


def noise() -> Iterator[Sample]:
    """What Tables 7.7 to 7.13 are repeated on."""
    one, two = two_diagnoses(), diagnosis_and_specialty()
    yield _sample(
        "strong, one taxonomy", "two diagnoses; lift 10, 100 records a pair", associated(one, 100, 10), 1350, False
    )
    yield _sample(
        "strong, two taxonomies",
        "diagnosis, specialty; lift 10, 50 records a pair",
        associated(two, 50, 10),
        1316,
        True,
    )
    for name, first, second, least, lift in WORDS:
        words = associated(insured(first, second), least, lift)
        chosen = f"{first}, {second} of the insured; lift {lift:g}, {least} records a pair"
        yield Sample(f"WordNet, {name}", chosen, _counts(words, 1350), (wordnet(), wordnet()))
    yield _sample("all, one taxonomy", "two diagnoses; every encounter", one, None, False)
    yield _sample("all, two taxonomies", "diagnosis, specialty; every encounter", two, None, True)
