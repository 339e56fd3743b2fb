"""Re-identification risk of a released table: prosecutor, journalist and marketer attacks, sampling weights,
households.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Counts
from keepsense.counts_out_of_core import LargeCounts
from keepsense.errors import BadInput
from keepsense.recoding import SUPPRESSED, suppressed_tuples
from keepsense.risk.equivalence_classes import Missing, class_sizes, sizes_in

Sizes = NDArray[np.int64]


@dataclass(frozen=True)
class Risk:
    """Re-identification risk of the records that are released with values (El Emam 2013, El Emam and Dankar 2008).

    A prosecutor knows that the target is in the table: one over the size of its class. A journalist knows only that
    the target is in the population: one over the people there who fit (average: classes over people who fit them). A
    marketer links everybody: the expected share of records linked rightly. Shares refer to released records.

    >>> risk(Counts.of({"job": ["nurse", "nurse", "clerk"]})).sample_uniques
    0.3333333333333333
    """

    records: int
    suppressed: int
    classes: int
    threshold: float
    prosecutor_maximum: float
    prosecutor_average: float
    prosecutor_at_risk: float
    journalist_maximum: float | None
    journalist_average: float | None
    journalist_at_risk: float | None
    marketer: float
    sample_uniques: float
    population_uniques: float | None


def risk(
    released: Counts,
    *,
    population: Counts | None = None,
    threshold: float = 0.2,
    missing: Missing = "category",
    suppressed: object = SUPPRESSED,
) -> Risk:
    """Risk of a released table over its quasi-identifiers.

    `population` is the table of people it was drawn from, recoded in the same way (`recoding.apply(population)`).
    Records whose every quasi-identifier is suppressed carry no risk and are left out, unless the whole table is so.

    >>> people = Counts.of({"job": ["nurse", "clerk"] * 5})
    >>> found = risk(Counts.of({"job": ["nurse"] * 4 + ["clerk"]}), population=people)
    >>> found.prosecutor_maximum, found.journalist_maximum, found.marketer
    (1.0, 0.2, 0.2)
    """
    if not 0 < threshold <= 1:
        raise BadInput(f"the risk threshold is a number above 0 and up to 1, not {threshold}")
    if isinstance(released, LargeCounts) and population is None and missing == "category":
        return _of_sizes(released, threshold)
    shown = ~suppressed_tuples(released, suppressed)
    weights = released.weights[shown]
    records = int(weights.sum())
    if records == 0:
        raise BadInput("the released table has no record with values; there is no risk to measure")
    sizes = class_sizes(released, missing)[shown]
    if missing == "wildcard":
        # suppressed records that a tuple with wildcards happens to fit protect nobody
        hidden = Counts(released.names, released.values, released.codes[~shown], released.weights[~shown])
        sizes = sizes - sizes_in(released, hidden, missing)[shown]
    chance = 1.0 / sizes
    people = None if population is None else sizes_in(released, population, missing)[shown]
    if people is not None and (people < 1).any():
        raise BadInput(
            f"{int((people < 1).sum()):,} released combination(s) of quasi-identifiers fit nobody in the population; "
            "recode the population in the same way as the table"
        )
    chance_outside = None if people is None else 1.0 / people
    over = threshold * (1 + 1e-12)
    return Risk(
        records=records,
        suppressed=int(released.weights[~shown].sum()),
        classes=len(weights),
        threshold=threshold,
        prosecutor_maximum=float(chance.max()),
        prosecutor_average=float(weights @ chance) / records,
        prosecutor_at_risk=float(weights[chance > over].sum()) / records,
        journalist_maximum=None if chance_outside is None else float(chance_outside.max()),
        journalist_average=None if people is None else len(people) / float(people.sum()),
        journalist_at_risk=None if chance_outside is None else float(weights[chance_outside > over].sum()) / records,
        marketer=float(weights @ (chance if chance_outside is None else chance_outside)) / records,
        sample_uniques=float(weights[sizes == 1].sum()) / records,
        population_uniques=None if people is None else float(weights[people == 1].sum()) / records,
    )


def _of_sizes(counts: LargeCounts, threshold: float) -> Risk:
    """The same where only the sizes of the classes are known, and none is suppressed."""
    sizes, number = counts.sizes
    records = sizes * number
    chance = 1.0 / sizes
    average = float(number @ (sizes * chance)) / counts.total
    return Risk(
        records=counts.total,
        suppressed=0,
        classes=len(counts),
        threshold=threshold,
        prosecutor_maximum=float(chance.max()),
        prosecutor_average=average,
        prosecutor_at_risk=float(records[chance > threshold * (1 + 1e-12)].sum()) / counts.total,
        journalist_maximum=None,
        journalist_average=None,
        journalist_at_risk=None,
        marketer=average,
        sample_uniques=float(records[sizes == 1].sum()) / counts.total,
        population_uniques=None,
    )


def individual_risk(sizes: Sizes, people: NDArray[np.float64]) -> Floats:
    """Risk of a record in each class where sampling weights tell the population (Benedetti and Franconi 1998).

    `sizes` are the records f of each class, `people` the sum F of their sampling weights (f over the sampling fraction
    without weights). Given f, the people of the population who fit follow a negative binomial with chance p = f / F,
    and the risk is the mean of one over them: p^f / f times the hypergeometric function 2F1(f, f; f + 1; 1 - p)
    (Franconi and Polettini 2004, Eq. 3). For f = 1 that is p / (1 - p) log(1 / p).

    >>> individual_risk(np.array([1, 2, 5]), np.array([10.0, 2.0, 5.0])).round(3).tolist()
    [0.256, 0.5, 0.2]
    """
    from scipy.special import hyp2f1

    f = np.asarray(sizes, dtype=np.float64)
    chance = np.clip(f / np.maximum(np.asarray(people, dtype=np.float64), f), 1e-300, 1.0)
    # Euler's transformation keeps the series finite: 2F1(f, f; f+1; z) = (1-z)^(1-f) 2F1(1, 1; f+1; z)
    risk: Floats = chance / f * hyp2f1(1.0, 1.0, f + 1, 1 - chance)
    return np.minimum(risk, 1.0 / f)


def household_risk(risks: Floats, households: NDArray[np.int64]) -> Floats:
    """For each record the chance that somebody of its household is recognized: one minus the chance that nobody is.

    `households` numbers the household of each record. Whoever finds one member finds them all (Franconi and Polettini
    2004, Sec. 5; in sdcMicro "hierarchical risk").

    >>> household_risk(np.array([0.5, 0.5, 0.1]), np.array([0, 0, 1])).tolist()
    [0.75, 0.75, 0.1]
    """
    _, number = np.unique(households, return_inverse=True)
    with np.errstate(divide="ignore"):
        nobody = np.bincount(number, np.log1p(-np.minimum(risks, 1.0)), number.max(initial=-1) + 1)
    together: Floats = -np.expm1(nobody)[number]
    return together
