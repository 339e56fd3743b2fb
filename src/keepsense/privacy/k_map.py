"""k-map and delta-presence: promises that compare the table with the population it was drawn from.

The population is a second `Counts` over the same quasi-identifiers. `with_population` adds it to the table
as one more histogram, which is added up with the records whenever classes merge.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Rows
from keepsense.counts import Counts, Histogram, distinct_rows
from keepsense.errors import BadInput
from keepsense.privacy.privacy_model import (
    Count,
    Disclosure,
    Flags,
    Model,
    Share,
    Weights,
    histogram_of,
    privacy_model,
    unless_empty,
)
from keepsense.risk.equivalence_classes import align

POPULATION = "population"
"""Name of the histogram that counts the population under each tuple."""


class _OfPopulation(Model):
    needs_population: ClassVar[bool] = True

    @property
    def columns(self) -> tuple[str, ...]:
        """The histogram that counts the population."""
        return (POPULATION,)


@privacy_model(
    check="keepsense.verification.population_checks:k_map",
    promises="everything released about somebody fits at least k people of the population",
    choose="nobody knows who is in the table",
    paper="Sweeney 2002",
    rank=14,
    begin={"k": 5},
)
@dataclass(frozen=True)
class KMap(_OfPopulation):
    """Every combination of quasi-identifiers that is released fits at least k people of the population (Sweeney 2002).

    Weaker than k-anonymity: a combination may be unique in the table as long as it is not in the population. Use it
    where an attacker does not know who is in the table.

    >>> sample = Counts.of({"job": ["nurse", "clerk"]})
    >>> both = with_population(sample, Counts.of({"job": ["nurse"] * 3 + ["clerk"]}))
    >>> KMap(2).satisfied(both.weights, both.histograms).tolist()
    [True, False]
    """

    k: Count
    name: ClassVar[str] = "k-map"
    stays_kept: ClassVar[bool] = True

    def satisfied(self, class_weights: Weights, histograms: Mapping[str, Histogram]) -> Flags:
        """Whether each class fits at least k people of the population."""
        return unless_empty(_people(histograms, class_weights, self.name) >= self.k, class_weights)

    def describe(self) -> str:
        """The promise in plain words."""
        return f"Every released combination of quasi-identifiers fits at least {self.k} people of the population."


@privacy_model(
    check="keepsense.verification.population_checks:delta_presence",
    promises="the chance that a person of the population is in the table lies within bounds",
    choose="being in the table at all is the secret",
    paper="Nergiz et al. 2007",
    rank=17,
    begin={"lower": 0.0, "upper": 0.5},
)
@dataclass(frozen=True)
class DeltaPresence(_OfPopulation):
    """The chance that a person of the population is in the table lies between two bounds (Nergiz et al. 2007).

    For a class it is the records of the table over the people of the population that fit it. Use it where being in the
    table is itself the secret (a list of patients). Classes of the population that no record fits have a chance of 0,
    so a lower bound above 0 forbids them; suppressing a class makes its chance 0 too.

    >>> sample = Counts.of({"job": ["nurse", "clerk"]})
    >>> both = with_population(sample, Counts.of({"job": ["nurse"] * 4 + ["clerk", "farmer"]}))
    >>> DeltaPresence(0.0, 0.5).satisfied(both.weights, both.histograms).tolist()
    [True, False, True]
    """

    lower: Share
    upper: Share
    name: ClassVar[str] = "delta-presence"
    protects: ClassVar[tuple[Disclosure, ...]] = ("membership",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.lower > self.upper:
            raise BadInput(f"{self.name}: the lower bound {self.lower:g} is above the upper bound {self.upper:g}")

    def satisfied(self, class_weights: Weights, histograms: Mapping[str, Histogram]) -> Flags:
        """Whether the chance of presence in each class lies within the bounds."""
        people = _people(histograms, class_weights, self.name)
        noise = 1e-12 * people
        enough = class_weights >= self.lower * people - noise
        return enough & (class_weights <= self.upper * people + noise)

    def holds(self, class_weights: Weights, histograms: Mapping[str, Histogram], kept: Flags | None = None) -> bool:
        """Whether the bounds hold in every class; a suppressed class has a chance of 0."""
        if kept is None or bool(kept.all()):
            return super().holds(class_weights, histograms)
        people = _people(histograms, class_weights, self.name)
        return super().holds(class_weights, histograms, kept) and (self.lower == 0 or not people[~kept].any())

    def describe(self) -> str:
        """The promise in plain words."""
        return (
            f"The chance that a person of the population is in the table lies between {self.lower:g} "
            f"and {self.upper:g}."
        )


def _people(histograms: Mapping[str, Histogram], class_weights: Weights, model: str) -> NDArray[np.int64]:
    counted = histogram_of(histograms, POPULATION, len(class_weights), model)
    people = np.bincount(counted.rows.row_of(), counted.counts, len(class_weights)).astype(np.int64)
    if (people < class_weights).any():
        raise BadInput(
            f"{model}: the population has fewer people than the table in some class; it must contain the table"
        )
    return people


def with_population(counts: Counts, population: Counts) -> Counts:
    """The table's tuples and the population's, the latter as a histogram of one value.

    Tuples that only the population holds come last, with weight 0. The population must contain the table.

    >>> both = with_population(Counts.of({"job": ["nurse"]}), Counts.of({"job": ["nurse", "nurse", "clerk"]}))
    >>> both.weights.tolist(), both.histograms["population"].counts.tolist()
    ([1, 0], [2, 1])
    """
    values, mine, theirs = align(counts, population)
    distinct, group = distinct_rows(np.concatenate([mine, theirs]))
    size = len(distinct)
    weights = np.zeros(size, dtype=np.int64)
    weights[: len(counts)] = counts.weights
    people = np.bincount(group[len(counts) :], population.weights, size).astype(np.int64)
    if (people < weights).any():
        raise BadInput(
            f"{int((people < weights).sum()):,} combination(s) of quasi-identifiers occur more often in the table than "
            "in the population; the population must contain the table"
        )
    histograms = {
        key: Histogram(h.values, Rows.from_pairs(h.rows.row_of(), h.rows.indices, size), h.counts)
        for key, h in counts.histograms.items()
    }
    one_each = Rows(np.arange(size + 1, dtype=np.int32), np.zeros(size, dtype=np.int32))
    histograms[POPULATION] = Histogram((POPULATION,), one_each, people)
    sums = {key: np.concatenate([x, np.zeros(size - len(counts))]) for key, x in counts.sums.items()}
    return Counts(counts.names, values, distinct, weights, histograms, sums)
