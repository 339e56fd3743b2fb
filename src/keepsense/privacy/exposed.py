"""Metrics of risk: what each attack on a table would find."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts, distinct_rows
from keepsense.metrics import metric
from keepsense.privacy.linkage import Linkage
from keepsense.privacy.matching import Missing
from keepsense.privacy.reidentification import Risk, estimate_population_uniques, risk
from keepsense.recoding import SUPPRESSED, Cells


@dataclass(frozen=True, eq=False)
class Exposed:
    """A table as attackers see it: all that metrics of risk look at.

    `people` are the people of the population that the records of each class stand for, by their sampling weights,
    beside the sizes of those classes. `linkage` is how linking by meaning fared, where that was tried.

    >>> Exposed(Counts.of({"job": ["nurse", "nurse", "clerk"]})).risk.marketer
    0.6666666666666666
    """

    counts: Counts
    population: Counts | None = None
    missing: Missing = "category"
    threshold: float = 0.2
    suppressed: object = SUPPRESSED
    people: tuple[NDArray[np.int64], NDArray[np.float64]] | None = None
    linkage: Linkage | None = None

    @cached_property
    def risk(self) -> Risk:
        """The figures of classes; refused where no record has any value."""
        return risk(
            self.counts,
            population=self.population,
            threshold=self.threshold,
            missing=self.missing,
            suppressed=self.suppressed,
        )


def weighted_classes(
    counts: Counts, cells: Cells, weights: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Sizes of the released classes, and the people they stand for by the sampling weights of the original tuples.

    >>> jobs = Counts.of({"job": ["nurse", "surgeon"]})
    >>> both = Cells(("job",), (("medic",),), np.arange(2), np.array([[0], [0]]), np.ones(2))
    >>> [figures.tolist() for figures in weighted_classes(jobs, both, np.array([10.0, 20.0]))]
    [[2], [30.0]]
    """
    left = np.ones(len(cells.source), np.bool_) if cells.suppressed is None else ~cells.suppressed
    distinct, group = distinct_rows(np.ascontiguousarray(cells.codes[left]))
    dealt, source = cells.multiplicity[left], cells.source[left]
    people = weights[source] * dealt / counts.weights[source]
    sizes = np.bincount(group, dealt, len(distinct)).astype(np.int64)
    return sizes, np.bincount(group, people, len(distinct)).astype(np.float64)


# ---- the metrics -----------------------------------------------------------------------------------------------------


@metric("prosecutor, highest", "person most at risk", about="risk", every_run=True, rank=1)
def _prosecutor_highest(exposed: Exposed) -> float:
    """Chance that somebody who knows this person is in the table finds the record.

    Computed: 1 / size of the smallest class (El Emam 2013).
    """
    return exposed.risk.prosecutor_maximum


@metric("prosecutor, average", "average person", about="risk", every_run=True, rank=2)
def _prosecutor_average(exposed: Exposed) -> float:
    """The same chance for a person drawn at random.

    Computed: mean over records of 1 / size of its class (El Emam 2013).
    """
    return exposed.risk.prosecutor_average


@metric("prosecutor, at risk", "records at risk", about="risk", rank=3)
def _prosecutor_at_risk(exposed: Exposed) -> float:
    """Share of records found with a chance above the threshold.

    Computed: records with 1 / size of class > threshold / records (El Emam 2013).
    """
    return exposed.risk.prosecutor_at_risk


@metric("marketer", "share found if everybody is tried", about="risk", every_run=True, rank=4)
def _marketer(exposed: Exposed) -> float:
    """Share of records that somebody who links them all gets right.

    Computed: mean over records of 1 / people who fit, of the population where it is known (El Emam and Dankar
    2008).
    """
    return exposed.risk.marketer


@metric("unique records", "share of records that are one of a kind", about="risk", every_run=True, rank=5)
def _unique_records(exposed: Exposed) -> float:
    """Share of records whose combination of values nobody else has.

    Computed: classes of one record / records.
    """
    return exposed.risk.sample_uniques


@metric("journalist, highest", "most at risk, among the population", about="risk", every_run=True, rank=6)
def _journalist_highest(exposed: Exposed) -> float | None:
    """Chance that somebody who does not know who is in the table finds this person.

    Computed: 1 / fewest people of the population who fit a class (El Emam and Dankar 2008).
    """
    return exposed.risk.journalist_maximum


@metric("journalist, average", "average, among the population", about="risk", every_run=True, rank=7)
def _journalist_average(exposed: Exposed) -> float | None:
    """The same chance on average over what fits.

    Computed: classes / people of the population who fit them (El Emam and Dankar 2008).
    """
    return exposed.risk.journalist_average


@metric("unique in the population", "share of one of a kind in the population", about="risk", every_run=True, rank=8)
def _unique_in_the_population(exposed: Exposed) -> float | None:
    """Share of records that fit one person of the population only.

    Computed: records that one person fits / records.
    """
    return exposed.risk.population_uniques


def _people(exposed: Exposed) -> NDArray[np.float64] | None:
    """People each class stands for, at least those of the sample."""
    if exposed.people is None or not len(exposed.people[0]):
        return None
    return np.maximum(exposed.people[1], exposed.people[0])


@metric(
    "journalist, highest, by sampling weights",
    "most at risk, by sampling weights",
    about="risk",
    every_run=True,
    rank=9,
)
def _weighted_highest(exposed: Exposed) -> float | None:
    """Chance to find this person where each record stands for as many people as its weight says.

    Computed: 1 / least sum of sampling weights of a class.
    """
    people = _people(exposed)
    return None if people is None else float(1 / people.min())


@metric(
    "journalist, average, by sampling weights", "average, by sampling weights", about="risk", every_run=True, rank=10
)
def _weighted_average(exposed: Exposed) -> float | None:
    """The same chance on average over what fits.

    Computed: classes / sum of sampling weights.
    """
    people = _people(exposed)
    return None if people is None else float(len(people) / people.sum())


@metric(
    "unique in the population, estimated",
    "share of one of a kind in the population, estimated",
    about="risk",
    every_run=True,
    rank=11,
)
def _estimated_uniques(exposed: Exposed) -> float | None:
    """Share of records that probably fit one person only, by class sizes and sampling weights.

    Computed: estimated from the sizes of the sample's classes (Zayatz 1991).
    """
    people = _people(exposed)
    if people is None or exposed.people is None:
        return None
    sizes = exposed.people[0]
    return estimate_population_uniques(sizes, float(sizes.sum() / people.sum()))


@metric("linked by meaning", "share of records linked rightly by meaning", about="risk", every_run=True, rank=12)
def _linked_by_meaning(exposed: Exposed) -> float | None:
    """Chance that somebody who has the original values, and takes the nearest for each released record, is right.

    Computed: mean over records of 1 / nearest originals, where the right one is among them (Domingo-Ferrer and
    Torra 2001).
    """
    return None if exposed.linkage is None else exposed.linkage.risk
