"""Estimates of how many records are unique in the population, from a sample.

A record that is unique in the population is unique in the sample, so the share of sample uniques bounds every
estimate from above; where a method has no solution it is what remains. `sizes` are the class sizes of the sample.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np

from keepsense.errors import BadInput
from keepsense.risk.reidentification import Sizes

Estimator = Literal["dankar", "pitman", "snb", "zayatz"]
_LOW = 0.1
"""Sampling fraction up to which Dankar's rule takes Pitman's model."""
_EDGE = 1e-6


def population_uniqueness(sizes: Sizes, sampling_fraction: float, estimator: str = "dankar") -> float:
    """Share of the records that are probably unique in the population, by one of the estimators.

    >>> sizes = np.repeat([1, 2, 3, 8], [30, 10, 5, 4])
    >>> [round(population_uniqueness(sizes, 0.05, name), 3) for name in ("pitman", "snb", "zayatz", "dankar")]
    [0.044, 0.064, 0.109, 0.044]
    """
    if estimator not in ESTIMATORS:
        raise BadInput(f"{estimator!r} estimates no uniqueness; there are: {', '.join(ESTIMATORS)}")
    if not 0 < sampling_fraction <= 1:
        raise BadInput(f"the sampling fraction is a number above 0 and up to 1, not {sampling_fraction}")
    sizes = np.asarray(sizes)[np.asarray(sizes) > 0]
    uniques = int((sizes == 1).sum())
    if not uniques:
        return 0.0
    at_most = uniques / int(sizes.sum())
    if sampling_fraction == 1:
        return at_most
    share = ESTIMATORS[estimator](sizes, sampling_fraction)
    return at_most if share is None else min(share, at_most)


def pitman(sizes: Sizes, sampling_fraction: float) -> float | None:
    """Share of population uniques by Pitman's model (Hoshino 2001), or None where it has no solution.

    Class sizes follow Pitman's sampling formula, whose theta and alpha are estimated by maximum likelihood (Hoshino
    2001, Sec. 3). A population of N is then expected to hold N Γ(θ+α+N-1) Γ(θ+1) / (Γ(θ+α) Γ(θ+N)) uniques, of which
    Γ(θ+1) / Γ(θ+α) N^α in the paper is the limit. It suits small sampling fractions.

    >>> round(pitman(np.array([1] * 30 + [2] * 10 + [9] * 5), 0.1), 3)
    0.119
    """
    from scipy.special import gammaln

    found = pitman_parameters(sizes)
    if found is None:
        return None
    theta, alpha = found
    people = int(sizes.sum()) / sampling_fraction
    logarithm = gammaln(theta + alpha + people - 1) + gammaln(theta + 1) - gammaln(theta + alpha)
    return float(np.exp(logarithm - gammaln(theta + people)))


def pitman_parameters(sizes: Sizes) -> tuple[float, float] | None:
    """Theta and alpha of greatest likelihood: for every alpha theta is where its score is 0, then alpha likewise.

    None where all classes have one record: the likelihood then grows with theta for ever.

    >>> theta, alpha = pitman_parameters(np.array([1] * 30 + [2] * 10 + [9] * 5))
    >>> round(theta, 2), round(alpha, 3)
    (7.75, 0.555)
    """
    from scipy.optimize import brentq
    from scipy.special import digamma

    n, classes = int(sizes.sum()), len(sizes)
    if classes == n or classes < 2:
        return None
    size, number = np.unique(sizes, return_counts=True)

    def above(theta: float, alpha: float) -> float:
        """Sum of 1 / (theta + i alpha) over all classes but the first."""
        return float(digamma(theta / alpha + classes) - digamma(theta / alpha + 1)) / alpha

    def score_of_theta(theta: float, alpha: float) -> float:
        return above(theta, alpha) - float(digamma(theta + n) - digamma(theta + 1))

    def theta_for(alpha: float) -> float:
        low, high = -alpha * (1 - 1e-9), 1.0
        while score_of_theta(high, alpha) > 0:
            high *= 2
            if high > 1e15:
                return high
        return float(brentq(score_of_theta, low, high, args=(alpha,), xtol=1e-12, maxiter=500))

    def score_of_alpha(alpha: float) -> float:
        theta = theta_for(alpha)
        grown = (classes - 1 - theta * above(theta, alpha)) / alpha
        return grown - float(number @ (digamma(size - alpha) - digamma(1 - alpha)))

    low, high = _EDGE, 1 - _EDGE
    if score_of_alpha(low) <= 0:
        return theta_for(low), low  # the likeliest alpha is 0
    if score_of_alpha(high) >= 0:
        return theta_for(high), high
    alpha = float(brentq(score_of_alpha, low, high, xtol=1e-12, maxiter=500))
    return theta_for(alpha), alpha


def slide_negative_binomial(sizes: Sizes, sampling_fraction: float) -> float | None:
    """Share of population uniques by the slide negative binomial (Chen and McNulty 1998), or None without solution.

    Class sizes of the population are one more than negative binomial numbers with parameters alpha and beta. Of K
    classes, K f (β/(1-d))^α (1 + αd/(1-d)) have one record in the sample and K α β^α f² (1-β) (2 - (1-α)d) /
    (2 (1-d)^(α+2)) have two, with f the sampling fraction and d = (1-f)(1-β): solved for alpha and beta. K is estimated
    by Shlosser's third estimator (Haas and Stokes 1998). K β^α classes are then unique.

    >>> round(slide_negative_binomial(np.array([1] * 30 + [2] * 10 + [3] * 5), 0.3), 3)
    0.179
    """
    from scipy.optimize import brentq

    f = sampling_fraction
    once, twice = int((sizes == 1).sum()), int((sizes == 2).sum())
    if not once or not twice:
        return None
    classes = population_classes(sizes, f)

    def alpha_for(beta: float) -> float:
        """The alpha for which both equations have the quotient of what was counted: a root of a square."""
        d = (1 - f) * (1 - beta)
        quotient = 2 * twice / (once * f)
        a, b, c = (1 - beta) * d, (1 - beta) * (2 - d) - quotient * (1 - d) * d, -quotient * (1 - d) ** 2
        return float((-b + np.sqrt(b * b - 4 * a * c)) / (2 * a))

    def missing(beta: float) -> float:
        alpha, d = alpha_for(beta), (1 - f) * (1 - beta)
        logarithm = alpha * (np.log(beta) - np.log1p(-d))
        return float(classes * f * np.exp(logarithm) * (1 + alpha * d / (1 - d)) - once)

    edge = np.geomspace(1e-6, 0.01, 40)
    grid = np.concatenate([edge, np.linspace(0.01, 0.99, 99)[1:], 1 - edge[::-1]])
    values = np.array([missing(beta) for beta in grid.tolist()])
    changes = np.flatnonzero((values[:-1] > 0) != (values[1:] > 0))
    if not len(changes):
        return None
    first = int(changes[0])
    beta = float(brentq(missing, grid[first], grid[first + 1], xtol=1e-14))
    return float(classes * beta ** alpha_for(beta) * f / int(sizes.sum()))


def population_classes(sizes: Sizes, sampling_fraction: float) -> float:
    """Classes of the population by Shlosser's third estimator (Haas and Stokes 1998, Sec. 4).

    >>> population_classes(np.array([2, 2, 3]), 0.5), round(population_classes(np.array([1, 1, 2, 3]), 0.5), 3)
    (3.0, 5.257)
    """
    f = sampling_fraction
    size, number = np.unique(sizes, return_counts=True)
    i, c = size.astype(np.float64), number.astype(np.float64)
    uniques = float(c[i == 1].sum())
    if not uniques or f == 1:
        return float(c.sum())
    kept, q = c * (1 - f) ** i, f * f
    first = float((i * q * (1 - q) ** (i - 1)) @ c) / float(((1 - q) ** i - (1 - f) ** i) @ c)
    second = float(kept.sum()) / float((i * f * (1 - f) ** (i - 1)) @ c)
    return float(c.sum()) + uniques * first * second**2


def estimate_population_uniques(sizes: Sizes, sampling_fraction: float) -> float:
    """Share of records that are probably unique in the population, when only the sample is known (Zayatz 1991).

    `sizes` are the class sizes of the sample. The population's classes are taken to be of the same sizes as the
    sample's; a unique of the sample comes from a class of size i with the hypergeometric chance of drawing exactly one
    of i. Good for sampling fractions that are not tiny; with a real population use `risk(population=...)`.

    >>> round(estimate_population_uniques(np.array([1, 1, 2, 3]), 0.5), 4)
    0.1471
    """
    if not 0 < sampling_fraction <= 1:
        raise BadInput(f"the sampling fraction is a number above 0 and up to 1, not {sampling_fraction}")
    sizes = sizes[sizes > 0]
    n = int(sizes.sum())
    uniques = int((sizes == 1).sum())
    if uniques == 0 or n == 0:
        return 0.0
    if sampling_fraction == 1:
        return uniques / n
    from scipy.stats import hypergeom

    population = max(n, round(n / sampling_fraction))
    size, classes = np.unique(sizes, return_counts=True)
    drawn_once = hypergeom.pmf(1, population, size, n)
    chance = float(classes[size == 1][0] * drawn_once[size == 1][0]) / float(classes @ drawn_once)
    return uniques / n * chance


def dankar(sizes: Sizes, sampling_fraction: float) -> float | None:
    """Share of population uniques by the rule of Dankar et al. (2012).

    Up to a sampling fraction of 0.1 Pitman's model. Above it the smaller of Zayatz's estimate and that of the slide
    negative binomial, where this has a solution: simulations found these nearest to the truth.

    >>> sizes = np.array([1] * 30 + [2] * 10 + [3] * 5)
    >>> dankar(sizes, 0.1) == pitman(sizes, 0.1), dankar(sizes, 0.3) == slide_negative_binomial(sizes, 0.3)
    (True, True)
    """
    if sampling_fraction <= _LOW:
        return pitman(sizes, sampling_fraction)
    by_sizes = estimate_population_uniques(sizes, sampling_fraction)
    by_model = slide_negative_binomial(sizes, sampling_fraction)
    return by_sizes if by_model is None else min(by_sizes, by_model)


ESTIMATORS: Mapping[str, Callable[[Sizes, float], float | None]] = {
    "dankar": dankar,
    "pitman": pitman,
    "snb": slide_negative_binomial,
    "zayatz": estimate_population_uniques,
}
"""Ways to estimate population uniqueness by name."""
