"""k-map and uniqueness in an estimated population, of which only the share that the table holds is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar

from keepsense.counts import Histogram
from keepsense.errors import BadInput
from keepsense.privacy.privacy_model import (
    Chance,
    Count,
    Flags,
    Model,
    Parameter,
    Share,
    Weights,
    privacy_model,
    unless_empty,
)
from keepsense.risk.uniqueness import ESTIMATORS, population_uniqueness

Fraction = Annotated[float, Parameter("number", least=0, most=1, above=True)]
"""Share of the population that is in the table."""
CELLS = ("poisson", "zero-truncated poisson")


@privacy_model(
    check="keepsense.verification.population_checks:estimated_k_map",
    promises="everything released about somebody probably fits at least k people of the population",
    choose="nobody knows who is in the table, and there is no table of everybody",
    paper="El Emam and Dankar 2008",
    rank=15,
    begin={"k": 5},
)
@dataclass(frozen=True)
class EstimatedKMap(Model):
    """Every class is so large that it probably has k people in the population (El Emam and Dankar 2008, D3 and D4).

    `fraction` is the share of the population that is in the table. A class of k people in the population has a Poisson
    number of records in the sample, with mean k times the fraction; as `zero-truncated poisson` only classes that are
    in the sample at all are looked at. Every released class has so many records that one of k people or fewer would
    have as many with a chance of at most `significance`. It needs no table of everybody, as `k-map` does, but holds
    only where the table is a random sample. A class of k records has k people for sure, so that never more are needed.

    >>> EstimatedKMap(10, fraction=0.01).least_size, EstimatedKMap(10, fraction=0.5).least_size
    (2, 10)
    >>> EstimatedKMap(20, fraction=0.1).least_size
    6
    """

    k: Count
    fraction: Fraction
    significance: Chance = 0.05
    estimator: Annotated[str, Parameter("string", options=CELLS)] = "poisson"
    name: ClassVar[str] = "estimated k-map"
    stays_kept: ClassVar[bool] = True
    by_size: ClassVar[bool] = True
    decided_by: ClassVar[str] = "smallest class"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.estimator not in CELLS:
            raise BadInput(f"{self.name}: estimator must be {' or '.join(CELLS)}, not {self.estimator!r}")

    @cached_property
    def least_size(self) -> int:
        """Records that a class needs."""
        from scipy.stats import poisson

        mean = self.k * float(self.fraction)
        absent = float(poisson.pmf(0, mean)) if self.estimator == CELLS[1] else 0.0
        for records in range(1, self.k):
            # as many records, or more, of those classes that are looked at
            if float(poisson.sf(records - 1, mean)) / (1 - absent) <= self.significance:
                return records
        return self.k

    @property
    def hides_among(self) -> int:
        """People of the population among whom somebody is hidden."""
        return self.k

    def satisfied(self, class_weights: Weights, histograms: Mapping[str, Histogram]) -> Flags:
        """Whether each class is large enough to stand for k people."""
        return unless_empty(class_weights >= self.least_size, class_weights)

    def describe(self) -> str:
        """The promise in plain words."""
        return (
            f"Every released combination of quasi-identifiers fits at least {self.k} people of the population, with an "
            f"error of at most {100 * self.significance:g}%, if the table is a random {100 * self.fraction:g}% of it."
        )


@privacy_model(
    check="keepsense.verification.population_checks:population_uniqueness",
    promises="few records are probably one of a kind in the population",
    choose="a rule bounds how many people are unique; beside another promise, for it says nothing of a single person",
    paper="Dankar et al. 2012",
    rank=16,
    begin={"threshold": 0.01},
)
@dataclass(frozen=True)
class PopulationUniqueness(Model):
    """The share of records that are unique in the population is estimated to be at most the threshold.

    `fraction` is the share of the population that is in the table, `estimator` how uniqueness is estimated from the
    sizes of classes: `dankar` (the rule of Dankar et al. 2012), `pitman` (Hoshino 2001), `snb` (Chen and McNulty 1998)
    or `zayatz` (1991). No estimate is above the share of records that are unique in the table, and where a model has no
    solution it is that share. The table as a whole decides: a class that is large enough for itself has two records.

    >>> import numpy as np
    >>> sizes = np.repeat([1, 2, 9], [5, 40, 100])
    >>> [PopulationUniqueness(t, fraction=0.1).holds(sizes, {}) for t in (0.01, 0.0001)]
    [True, False]
    """

    threshold: Share
    fraction: Fraction
    estimator: Annotated[str, Parameter("string", options=tuple(ESTIMATORS))] = "dankar"
    name: ClassVar[str] = "population uniqueness"
    protects_each: ClassVar[bool] = False
    per_class: ClassVar[bool] = False
    monotonic: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.estimator not in ESTIMATORS:
            raise BadInput(f"{self.name}: estimator must be one of {', '.join(ESTIMATORS)}, not {self.estimator!r}")

    def satisfied(self, class_weights: Weights, histograms: Mapping[str, Histogram]) -> Flags:
        """Whether each class is nobody's alone."""
        return unless_empty(class_weights >= 2, class_weights)

    def holds(self, class_weights: Weights, histograms: Mapping[str, Histogram], kept: Flags | None = None) -> bool:
        """Whether the estimate for the records that are not suppressed is at most the threshold."""
        sizes = class_weights if kept is None else class_weights[kept]
        return population_uniqueness(sizes, self.fraction, self.estimator) <= self.threshold

    def describe(self) -> str:
        """The promise in plain words."""
        return (
            f"At most {100 * self.threshold:g}% of the records are unique in the population, by the estimate "
            f"{self.estimator}, if the table is a random {100 * self.fraction:g}% of it."
        )


OF_FRACTION = (EstimatedKMap, PopulationUniqueness)
"""Promises that say which share of the population is in the table."""
