"""Population uniqueness and individual risk: against sums and searches that take the definitions at their word."""

from __future__ import annotations

from collections import Counter
from math import comb, log

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import nbinom

from keepsense.errors import BadInput
from keepsense.privacy.population_uniqueness import EstimatedKMap, PopulationUniqueness
from keepsense.privacy.privacy_model import decide
from keepsense.privacy.risk_thresholds import StrictAverageRisk
from keepsense.risk.reidentification import household_risk, individual_risk
from keepsense.risk.uniqueness import (
    ESTIMATORS,
    estimate_population_uniques,
    pitman_parameters,
    population_classes,
    population_uniqueness,
    slide_negative_binomial,
)
from keepsense.verification.population_checks import estimated_share, least_records
from keepsense.verification.verifier import verify

TABLES = [
    np.repeat([1, 2, 9], [30, 10, 5]),
    np.repeat([1, 2, 3, 4, 7], [51, 27, 26, 28, 10]),
    np.repeat([1, 2, 40], [200, 3, 2]),
    np.repeat([1, 3], [4, 9]),
]


def log_likelihood(theta, alpha, sizes):
    """Pitman's sampling formula (Hoshino 2001, Eq. 3), product by product."""
    if not -alpha < theta or not 0 < alpha < 1:
        return -np.inf
    n, classes = int(sizes.sum()), len(sizes)
    above = sum(log(theta + i * alpha) for i in range(1, classes))
    below = sum(log(theta + i) for i in range(1, n))
    within = sum(sum(log(i - alpha) for i in range(1, size)) for size in sizes.tolist())
    return above - below + within


@pytest.mark.parametrize("sizes", TABLES[:3])
def test_no_parameters_of_pitman_are_likelier(sizes):
    theta, alpha = pitman_parameters(sizes)
    best = log_likelihood(theta, alpha, sizes)
    searched = minimize(lambda x: -log_likelihood(*x, sizes), [5.0, 0.5], method="Nelder-Mead", tol=1e-10)
    assert best >= -searched.fun - 1e-4
    assert (theta, alpha) == pytest.approx(searched.x, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("fraction", [0.35, 0.5])
def test_the_slide_negative_binomial_explains_what_was_counted(fraction):
    """Expected classes of one and of two records, summed over the sizes that classes of the population may have."""
    rng = np.random.default_rng(2)
    people = 1 + rng.negative_binomial(0.7, 0.15, 20_000)
    seen = rng.binomial(people, fraction)
    share = slide_negative_binomial(seen[seen > 0], fraction)
    assert share * people.sum() == pytest.approx((people == 1).sum(), rel=0.1), "near the truth of its own model"
    classes = population_classes(seen[seen > 0], fraction)
    # beta and alpha from the share, which is K beta^alpha, and the number of those that are seen once
    from scipy.optimize import brentq

    def counted(beta, once=1):
        alpha = log(share * seen.sum() / fraction / classes) / log(beta)
        sizes = np.arange(1, 4000)
        chance = nbinom.pmf(sizes - 1, alpha, beta)
        drawn = sizes * fraction * (1 - fraction) ** (sizes - 1.0)
        if once == 2:
            drawn = sizes * (sizes - 1) / 2 * fraction**2 * (1 - fraction) ** np.maximum(sizes - 2.0, 0)
        return classes * float(chance @ drawn) - int((seen == once).sum())

    beta = brentq(counted, 0.05, 0.9)
    assert counted(beta, 2) == pytest.approx(0, abs=0.01 * (seen == 2).sum())


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("fraction", [0.01, 0.1, 0.3, 0.9])
def test_the_verifier_solves_the_same_equations_otherwise(estimator, fraction):
    for sizes in TABLES:
        own = estimated_share(dict(Counter(sizes.tolist())), fraction, estimator)
        share = population_uniqueness(sizes, fraction, estimator)
        assert own == pytest.approx(share, rel=1e-4)
        assert 0 <= share <= (sizes == 1).sum() / sizes.sum()


def test_population_uniques_are_estimated_from_a_sample():
    rng = np.random.default_rng(11)
    population = rng.zipf(1.6, 40_000).clip(max=30_000)
    sample = rng.choice(population, 20_000, replace=False)
    keys, sizes = np.unique(sample, return_counts=True)
    whole = dict(zip(*np.unique(population, return_counts=True), strict=True))
    true = sum(whole[k] == 1 for k in keys) / len(sample)
    found = estimate_population_uniques(sizes, 0.5)
    assert found == pytest.approx(true, rel=0.35)
    assert estimate_population_uniques(sizes, 1.0) == pytest.approx((sizes == 1).sum() / len(sample))
    assert estimate_population_uniques(np.array([2, 3]), 0.5) == 0.0
    with pytest.raises(BadInput, match="sampling fraction"):
        estimate_population_uniques(sizes, 0.0)


def test_limits():
    assert population_uniqueness(np.array([2, 5]), 0.1) == 0
    assert population_uniqueness(np.array([1, 1, 2]), 1.0) == 0.5
    assert population_uniqueness(np.ones(50, np.int64), 0.05) == 1, "all are unique: no model has a solution"
    with pytest.raises(BadInput, match="above 0 and up to 1"):
        population_uniqueness(np.array([1]), 0)
    with pytest.raises(BadInput, match="estimates no uniqueness"):
        population_uniqueness(np.array([1]), 0.5, "guess")


@pytest.mark.parametrize(("k", "fraction", "least"), [(10, 0.01, 2), (20, 0.1, 6), (5, 0.02, 2), (11, 0.9, 11)])
def test_records_that_stand_for_k_people(k, fraction, least):
    """Tables of Poisson: by a mean of 0.1 two or more have a chance of 0.0047; by 2, six 0.0166 and five 0.0527."""
    assert EstimatedKMap(k, fraction).least_size == least == least_records(k, fraction, 0.05, False)
    assert EstimatedKMap(k, fraction, estimator="zero-truncated poisson").least_size >= least


def test_a_sample_that_keeps_it_has_few_classes_of_fewer_people():
    """People are drawn at random: of small classes of the population hardly one shows so many records."""
    rng = np.random.default_rng(5)
    model = EstimatedKMap(20, 0.1)
    people = np.full(50_000, 20)
    seen = rng.binomial(people, 0.1)
    assert (seen >= model.least_size).mean() <= model.significance
    assert (seen >= model.least_size - 1).mean() > 0.03, "one record less would not do"


def test_strict_averages():
    """30 records in one class and 2 in another: the average is 2 / 32, but one class is small."""
    sizes = np.array([30, 2])
    assert decide([StrictAverageRisk(0.1)], sizes, {}).holds is False
    assert decide([StrictAverageRisk(0.1, 2)], sizes, {}).holds is True
    assert decide([StrictAverageRisk(0.0625, 2)], sizes, {}).holds is True
    assert decide([StrictAverageRisk(0.0624, 2)], sizes, {}).holds is False
    assert StrictAverageRisk(0.1).promise() == {"model": "strict-average risk", "threshold": 0.1, "k": 3}


def test_uniqueness_is_a_promise_about_the_table():
    sizes = np.repeat([1, 2, 9], [5, 40, 100]).tolist()
    rows = {"x": [str(number) for number, size in enumerate(sizes) for _ in range(size)]}
    promise = PopulationUniqueness(0.0048, fraction=0.1)
    assert verify(rows, [promise], quasi_identifiers=["x"]).ok
    assert not verify(rows, [PopulationUniqueness(0.0, fraction=0.1)], quasi_identifiers=["x"]).ok
    assert not verify(rows, [PopulationUniqueness(0.0048, fraction=1.0)], quasi_identifiers=["x"]).ok


def test_individual_risk_is_the_mean_of_one_over_the_people_who_fit():
    """Summed over the negative binomial: given f records, F people with chance C(F-1, f-1) p^f (1-p)^(F-f)."""
    for f, people in ((1, 10.0), (2, 10.0), (3, 7.5), (8, 20.0), (5, 5.0)):
        p = f / people
        mean = sum(comb(F - 1, f - 1) * p**f * (1 - p) ** (F - f) / F for F in range(f, 900))
        assert individual_risk(np.array([f]), np.array([people]))[0] == pytest.approx(mean, rel=1e-9)
    one = individual_risk(np.array([1]), np.array([10.0]))[0]
    assert one == pytest.approx(0.1 / 0.9 * log(10)), "Benedetti and Franconi 1998 for a sample unique"
    assert individual_risk(np.array([3]), np.array([1e9]))[0] == pytest.approx(1 / 1e9 * 3 / 2, rel=1e-3)


def test_whoever_finds_one_of_a_household_finds_all():
    risks, households = np.array([0.5, 0.2, 0.1, 1.0, 0.3]), np.array([7, 7, 7, 3, 3])
    expected = [1 - 0.5 * 0.8 * 0.9] * 3 + [1.0, 1.0]
    assert household_risk(risks, households) == pytest.approx(expected)
