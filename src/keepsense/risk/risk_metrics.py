"""The metrics of risk: what each attack on a table finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts, distinct_rows
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.metrics import metric
from keepsense.recoding import SUPPRESSED, Cells, suppressed_tuples
from keepsense.risk.attribute_disclosure import NumberPairs, interval_disclosure
from keepsense.risk.equivalence_classes import Missing
from keepsense.risk.record_linkage import Linkage
from keepsense.risk.reidentification import Risk, household_risk, individual_risk, risk
from keepsense.risk.suda import SpecialUniques, score, special_uniques, special_uniques_by_meaning
from keepsense.risk.uniqueness import population_uniqueness

# Distinction and separation of columns (Motwani and Xu 2007)


@dataclass(frozen=True)
class Separation:
    """How far some columns tell records apart.

    `distinction` is the share of records that would be left if of those alike one was kept: different combinations
    over records. `separation` is the share of pairs of records that differ in some of the columns (Motwani and Xu 2007,
    Definitions 1 and 2). An alpha-quasi-identifier of the paper is a set of columns where these are at least alpha.

    >>> separations(Counts.of({"sex": ["f", "f", "m", "m"], "job": ["a", "b", "c", "c"]}))[0]
    Separation(columns=('job',), distinction=0.75, separation=0.8333333333333334)
    """

    columns: tuple[str, ...]
    distinction: float
    separation: float


def separations(counts: Counts, most: int = 1) -> list[Separation]:
    """Every set of up to `most` columns, those that tell most pairs of records apart first.

    >>> table = Counts.of({"sex": ["f", "f", "m", "m"], "job": ["a", "b", "c", "c"]})
    >>> [(found.columns, round(found.separation, 2)) for found in separations(table, 2)]
    [(('job',), 0.83), (('sex', 'job'), 0.83), (('sex',), 0.67)]
    """
    chosen = [names for size in range(1, most + 1) for names in combinations(counts.names, size)]
    measured = [_separation_of(counts, names) for names in chosen]
    return sorted(measured, key=lambda found: (-found.separation, len(found.columns), found.columns))


def _separation_of(counts: Counts, names: tuple[str, ...]) -> Separation:
    sizes = counts.project(names).weights
    sizes = sizes[sizes > 0].astype(object)  # pairs of billions of records do not fit into 64 bits
    records = int(sizes.sum())
    pairs, alike = records * (records - 1), int((sizes * (sizes - 1)).sum())
    return Separation(names, len(sizes) / max(1, records), 1 - alike / pairs if pairs else 0.0)


# Metrics

BY_MEANING = 3
"""Columns of the largest sets that are looked at by meaning, at every level of generalization."""


@dataclass(frozen=True, eq=False)
class Exposed:
    """A table as attackers see it: all that metrics of risk look at.

    `people` are the people of the population that the records of each class stand for, by their sampling weights,
    beside the sizes of those classes; `fraction` is the share of the population that is in the table, where only that
    is known. `households` counts the same columns with the household of each record. `linkage` is how linking by
    meaning fared, where that was tried. `hierarchies` say what values of the counts have in common, `numbers` holds
    original and released numbers of columns that are released as numbers.

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
    fraction: float | None = None
    households: Counts | None = None
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    numbers: Mapping[str, NumberPairs] = field(default_factory=dict)

    @cached_property
    def of_households(self) -> tuple[NDArray[np.float64], NDArray[np.int64]] | None:
        """For each combination of values and household the chance that anybody of the household is found."""
        if self.households is None:
            return None
        counts, size = self.households, len(self.households.names) - 1
        shown = ~suppressed_tuples(
            Counts(counts.names[:size], counts.values[:size], counts.codes[:, :size], counts.weights)
        )
        group = distinct_rows(np.ascontiguousarray(counts.codes[:, :size]))[1]
        sizes = np.bincount(group, counts.weights).astype(np.int64)
        people = sizes.astype(np.float64) if self.fraction is None else sizes / self.fraction
        risks = np.where(shown, individual_risk(sizes, people)[group], 0.0)
        # all records of one combination and household: none of them is found
        none_found = -np.expm1(counts.weights * np.log1p(-np.minimum(risks, 1 - 1e-12)))
        return household_risk(none_found, counts.codes[:, size].astype(np.int64)), counts.weights

    @cached_property
    def special(self) -> SpecialUniques:
        """Records that few columns set apart."""
        return special_uniques(self.counts)

    @cached_property
    def by_meaning(self) -> tuple[NDArray[np.float64], NDArray[np.int64]] | None:
        """Scores of special uniques by meaning, over the largest possible, and how many steps up each is alone."""
        if not self.hierarchies:
            return None
        most, columns = min(BY_MEANING, self.special.most), len(self.counts.names)
        scores, steps = special_uniques_by_meaning(self.counts, self.hierarchies, most=most)
        return scores / (columns * score(1, columns, most)), steps

    @cached_property
    def separations(self) -> Mapping[str, Separation]:
        """How far each column tells records apart."""
        apart = {found.columns[0]: found for found in separations(self.counts)}
        return {name: apart[name] for name in self.counts.names}

    @cached_property
    def stands_for(self) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
        """Sizes of classes, and the people each stands for: by sampling weights, or by the sampling fraction."""
        if self.people is not None and len(self.people[0]):
            return self.people[0], np.maximum(self.people[1], self.people[0])
        if self.fraction is None:
            return None
        sizes = self.counts.weights[~suppressed_tuples(self.counts, self.suppressed)]
        return sizes, sizes / self.fraction

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
    """People each class stands for by sampling weights, at least those of the sample."""
    return None if exposed.people is None or exposed.stands_for is None else exposed.stands_for[1]


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
    return _uniqueness(exposed, "zayatz")


def _uniqueness(exposed: Exposed, estimator: str) -> float | None:
    """Population uniqueness where each record stands for some people; None where nobody knows how many."""
    if exposed.stands_for is None:
        return None
    sizes, people = exposed.stands_for
    return population_uniqueness(sizes, float(sizes.sum() / people.sum()), estimator)


@metric(
    "unique in the population, Dankar's rule",
    "share of one of a kind in the population, by Dankar's rule",
    about="risk",
    every_run=True,
    rank=13,
)
def _unique_by_rule(exposed: Exposed) -> float | None:
    """Share of records that probably fit one person only, by the estimate that fits the sampling fraction.

    Computed: Pitman's model up to a fraction of 0.1, else the smaller of Zayatz and the slide negative binomial (Dankar
    et al. 2012).
    """
    return _uniqueness(exposed, "dankar")


@metric(
    "unique in the population, Pitman",
    "share of one of a kind in the population, by Pitman",
    about="risk",
    every_run=True,
    rank=14,
)
def _unique_by_pitman(exposed: Exposed) -> float | None:
    """Share of records that probably fit one person only, for small samples.

    Computed: expected uniques of Pitman's sampling formula with the likeliest parameters (Hoshino 2001).
    """
    return _uniqueness(exposed, "pitman")


@metric(
    "unique in the population, slide negative binomial",
    "share of one of a kind in the population, by the slide negative binomial",
    about="risk",
    every_run=True,
    rank=15,
)
def _unique_by_slide(exposed: Exposed) -> float | None:
    """Share of records that probably fit one person only, for large samples.

    Computed: classes of one person where sizes are one more than negative binomial (Chen and McNulty 1998).
    """
    return _uniqueness(exposed, "snb")


@metric("individual risk, highest", "most at risk, individual risk", about="risk", every_run=True, rank=16)
def _individual_highest(exposed: Exposed) -> float | None:
    """Chance to find the person most at risk, given how many people each class probably has.

    Computed: mean of 1 / people who fit, negative binomial given the records that fit (Benedetti and Franconi 1998).
    """
    return None if exposed.stands_for is None else float(individual_risk(*exposed.stands_for).max())


@metric("individual risk, average", "average, individual risk", about="risk", every_run=True, rank=17)
def _individual_average(exposed: Exposed) -> float | None:
    """The same chance for a record drawn at random.

    Computed: mean over records of their individual risk (Benedetti and Franconi 1998).
    """
    if exposed.stands_for is None:
        return None
    sizes, people = exposed.stands_for
    return float(sizes @ individual_risk(sizes, people)) / float(sizes.sum())


@metric("special uniques", "share of records that some of the columns set apart", about="risk", rank=18)
def _special_uniques(exposed: Exposed) -> float:
    """Share of records that nobody needs all columns to single out.

    Computed: records with a minimal sample unique of fewer than all columns / records (Manning, Haglin and Keane
    2008).
    """
    special = exposed.special
    few = (special.sets > 0) & (special.smallest < len(exposed.counts.names))
    return float(few.sum()) / max(1, exposed.counts.total)


@metric("linked by meaning", "share of records linked rightly by meaning", about="risk", every_run=True, rank=12)
def _linked_by_meaning(exposed: Exposed) -> float | None:
    """Chance that somebody who has the original values, and takes the nearest for each released record, is right.

    Computed: mean over records of 1 / nearest originals, where the right one is among them (Domingo-Ferrer and
    Torra 2001).
    """
    return None if exposed.linkage is None else exposed.linkage.risk


@metric("household risk, highest", "household most at risk", about="risk", every_run=True, rank=19)
def _household_highest(exposed: Exposed) -> float | None:
    """Chance that anybody of the household most at risk is found, and with them all who live there.

    Computed: 1 - product over the household's records of 1 - their risk (Franconi and Polettini 2004).
    """
    return None if exposed.of_households is None else float(exposed.of_households[0].max())


@metric("household risk, average", "average, somebody of the household is found", about="risk", every_run=True, rank=20)
def _household_average(exposed: Exposed) -> float | None:
    """The same chance for a record drawn at random.

    Computed: mean over records of the risk of their household (Franconi and Polettini 2004).
    """
    if exposed.of_households is None:
        return None
    risks, records = exposed.of_households
    return float(risks @ records) / float(records.sum())


@metric("special uniques, highest score", "how far the most special record stands out", about="risk", rank=21)
def _highest_score(exposed: Exposed) -> float:
    """How many sets of columns single out the record that stands out most, of all there can be.

    Computed: largest SUDA score / score of a record that every single column sets apart (Manning, Haglin and Keane
    2008).
    """
    return float(exposed.special.scores.max(initial=0.0)) / exposed.special.largest


@metric("special uniques by meaning", "share of records set apart even one step coarser", about="risk", rank=22)
def _special_by_meaning(exposed: Exposed) -> float | None:
    """Share of records that stay alone when all values are made one step coarser: who knows them roughly finds them.

    Computed: records with a minimal unique of up to three columns at level 1 of the hierarchies / records (SUDA at
    every level; Manning, Haglin and Keane 2008).
    """
    if exposed.by_meaning is None:
        return None
    return float((exposed.by_meaning[1] >= 1).sum()) / max(1, exposed.counts.total)


@metric(
    "special uniques by meaning, highest score",
    "how far the most special record stands out by meaning",
    about="risk",
    rank=23,
)
def _highest_score_by_meaning(exposed: Exposed) -> float | None:
    """The same of values at every level of generalization: 1 for somebody whom each column sets apart to the last.

    Computed: largest mean over levels of SUDA scores of up to three columns / that of a record that every single column
    sets apart at each (Manning, Haglin and Keane 2008).
    """
    return None if exposed.by_meaning is None else float(exposed.by_meaning[0].max(initial=0.0))


@metric("contribution to special uniques", "share of special uniques that {} is part of", about="risk", rank=24)
def _contributions(exposed: Exposed) -> Mapping[str, float] | None:
    """How much of all that singles records out has to do with a column.

    Computed: SUDA scores of minimal uniques that the column is part of / all scores (Manning, Haglin and Keane 2008).
    """
    return exposed.special.contributions


@metric("distinction", "different values of {}", about="risk", rank=25)
def _distinction(exposed: Exposed) -> Mapping[str, float]:
    """Different values of a column over records: all of them differ at 100%.

    Computed: distinct values / records (Motwani and Xu 2007, Definition 1).
    """
    return {name: found.distinction for name, found in exposed.separations.items()}


@metric("separation", "pairs of records that {} tells apart", about="risk", rank=26)
def _separation(exposed: Exposed) -> Mapping[str, float]:
    """Share of pairs of records that differ in a column.

    Computed: pairs of records with different values / pairs of records (Motwani and Xu 2007, Definition 2).
    """
    return {name: found.separation for name, found in exposed.separations.items()}


@metric("interval disclosure", "numbers of {} told up to a few ranks", about="risk", rank=27)
def _interval_disclosure(exposed: Exposed) -> Mapping[str, float]:
    """Share of records whose true number lies near the released one in the order of all numbers.

    Computed: true numbers within 1% to 10% of the ranks to either side of the released one / records, mean (Mateo-Sanz,
    Sebé and Domingo-Ferrer 2004).
    """
    return {name: interval_disclosure(*pairs) for name, pairs in exposed.numbers.items()}


@metric("interval disclosure, by deviation", "numbers of {} told up to a little", about="risk", rank=28)
def _interval_disclosure_by_deviation(exposed: Exposed) -> Mapping[str, float]:
    """Share of records whose true number lies within a small part of the standard deviation around the released one.

    Computed: true numbers within 0.01 to 0.1 standard deviations of the released one / records, mean (Mateo-Sanz, Sebé
    and Domingo-Ferrer 2004, as sdcMicro has it).
    """
    return {name: interval_disclosure(*pairs, by="deviation") for name, pairs in exposed.numbers.items()}
