"""Checks against a known or estimated population."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import exp, lgamma, log
from typing import Any

from keepsense.verification.check_result import Check, Unseen
from keepsense.verification.released_classes import Classes, exact

# A known population


def k_map(classes: Classes, promise: Mapping[str, Any], evidence: Mapping[str, Any]) -> Check:
    """At least k people of the population fit every class."""
    _gather(classes)
    fitting = f"SELECT class_, b AS x FROM ({_released(classes)}) f"
    return classes.judged(promise, fitting, f"x < {int(promise['k'])}", "min")


def delta_presence(classes: Classes, promise: Mapping[str, Any], evidence: Mapping[str, Any]) -> Check:
    """Records that fit over people who fit lies within the bounds: in every class, and for everybody in the population.

    Without wildcards a person is in a class, or fits no record and has no chance to be in the table. With them the
    records and people who fit a person may be others than those who fit any class.
    """
    low, high = exact(promise["lower"]), exact(promise["upper"])

    def beyond(records: int, people: int) -> bool:
        return not people or not low * people <= records <= high * people

    _gather(classes)
    check = classes.compared(promise, _released(classes), beyond)
    if not check.holds:
        return check
    chances = [tuple(map(int, row)) for row in classes.ask(_everybody(classes))]
    exposed = sum(number for records, people, number in chances if beyond(records, people))
    if not exposed:
        return check
    absent = sum(number for records, _, number in chances if not records)
    reason = (
        f"people of the population who fit no released record: {absent:,}"
        if absent and low
        else f"people of the population whose chance to be in the table is out of bounds: {exposed:,}"
    )
    return replace(check, holds=False, worst=None, reason=reason)


def _released(classes: Classes) -> str:
    """Query for (class_, a, b): how many records, and how many people, fit each class of the release."""
    fitting = " UNION ALL ".join(
        f"SELECT a.class_, b.people FROM tuples a JOIN everybody b ON {fits}"
        for fits in classes.fits("tuples", "everybody")
    )
    people = f"SELECT class_, sum(people) AS people FROM ({fitting}) fitting GROUP BY class_"
    return (
        "SELECT s.class_, s.n AS a, CAST(coalesce(f.people, 0) AS BIGINT) AS b FROM sizes s "
        f"LEFT JOIN ({people}) f ON s.class_ = f.class_"
    )


def _everybody(classes: Classes) -> str:
    """Query for (records, people, number): how many records and people fit so many people of the population."""
    fitting = [
        *(
            f"SELECT a.number, 0 AS records, b.people AS people FROM everybody a JOIN everybody b ON {fits}"
            for fits in classes.fits("everybody", "everybody")
        ),
        *(
            f"SELECT a.number, b.own AS records, 0 AS people FROM everybody a JOIN tuples b ON {fits}"
            for fits in classes.fits("everybody", "tuples")
        ),
    ]
    fit = f"SELECT number, sum(records) AS records, sum(people) AS people FROM ({' UNION ALL '.join(fitting)}) fitting"
    return (
        f"SELECT f.records, f.people, sum(e.people) FROM ({fit} GROUP BY number) f "
        "JOIN everybody e ON e.number = f.number GROUP BY f.records, f.people ORDER BY f.records, f.people"
    )


def _gather(classes: Classes) -> None:
    """A table `everybody`: the population's combinations of quasi-identifiers, with numbers and how many people."""
    population = classes.tables.get("population")
    if population is None:
        raise Unseen("the promise compares with a population; give it to the verifier, recoded like the release")
    lacking = [name for name in classes.quasi_identifiers if name not in population.columns]
    if lacking:
        raise Unseen(f"the population lacks the column {lacking[0]!r}")
    keys = ", ".join(classes.keys)
    named = ", ".join(
        f"{population.column(name)} AS {key}" for name, key in zip(classes.quasi_identifiers, classes.keys, strict=True)
    )
    people = f"SELECT {keys}, count(*) AS people FROM (SELECT {named} FROM population) named GROUP BY {keys}"
    number = f"CAST(row_number() OVER (ORDER BY {keys}) AS BIGINT)"
    classes.once(
        f"CREATE TABLE everybody AS SELECT {keys}, people, {number} AS number, {classes.gaps()} AS gaps "
        f"FROM ({people}) people"
    )


# An estimated population, from the sizes of classes

_SLACK = 1e-4
"""Two ways to solve the same equations differ by less than this share of the threshold."""
Sizes = Mapping[int, int]
"""How many classes have each size."""


def estimated_k_map(classes: Classes, promise: Mapping[str, Any], evidence: Mapping[str, Any]) -> Check:
    """Every class has so many records that one of k people would rarely have as many."""
    how = promise.get("estimator", "poisson")
    if how not in ("poisson", "zero-truncated poisson"):
        raise Unseen(f"the verifier knows no way {how!r} to estimate people from records")
    k, fraction, error = int(promise["k"]), float(promise["fraction"]), float(promise.get("significance", 0.05))
    least = least_records(k, fraction, error, how != "poisson")
    check = classes.judged(promise, "SELECT class_, n AS x FROM sizes", f"x < {least}", "min")
    return replace(check, promised=least)


def least_records(k: int, fraction: float, error: float, seen: bool) -> int:
    """Fewest records that a class of k people has with a chance of at most `error`; of those `seen` at all.

    >>> least_records(10, 0.01, 0.05, False), least_records(20, 0.1, 0.05, False), least_records(20, 0.1, 0.05, True)
    (2, 6, 6)
    """
    mean = k * fraction
    none = exp(-mean)
    whole = 1 - none if seen else 1.0
    for records in range(1, k):
        fewer = sum(exp(i * log(mean) - mean - lgamma(i + 1)) for i in range(1 if seen else 0, records))
        if fewer >= whole - error * whole:
            return records
    return k


def population_uniqueness(classes: Classes, promise: Mapping[str, Any], evidence: Mapping[str, Any]) -> Check:
    """The estimated share of population uniques is at most the threshold."""
    how, fraction = promise.get("estimator", "dankar"), float(promise["fraction"])
    sizes = {int(n): int(number) for n, number in classes.ask("SELECT n, count(*) FROM sizes GROUP BY n")}
    share = estimated_share(sizes, fraction, str(how))
    holds = share <= float(exact(promise["threshold"])) * (1 + _SLACK)
    alone = sizes.get(1, 0)
    return Check(promise, True, worst=share) if holds else Check(promise, False, alone, alone, share)


def estimated_share(sizes: Sizes, fraction: float, how: str) -> float:
    """Share of records that are unique in the population, never above those that are in the sample.

    >>> estimated_share({2: 5}, 0.1, "dankar"), estimated_share({1: 2, 2: 4}, 1.0, "pitman")
    (0.0, 0.2)
    """
    if how not in _ESTIMATES:
        raise Unseen(f"the verifier knows no estimate {how!r} of population uniqueness")
    records, alone = sum(size * number for size, number in sizes.items()), sizes.get(1, 0)
    if not alone or fraction >= 1:
        return alone / records
    share = _ESTIMATES[how](sizes, records, fraction)
    return alone / records if share is None else min(share, alone / records)


def _zayatz(sizes: Sizes, records: int, fraction: float) -> float | None:
    """Chance that one of a class is drawn, by drawing records from the population without putting them back."""
    people = max(records, round(records / fraction))

    left = people - records + 1
    # chance of one of so many against that of one of one: all but one of them are among those who are not drawn
    times, drawn = 1.0, {}
    for size in range(1, max(sizes) + 1):
        if size in sizes:
            drawn[size] = sizes[size] * size * times
        times *= max(0, left - size) / max(1, people - size)
    return sizes[1] / records * drawn[1] / sum(drawn.values())


def _pitman(sizes: Sizes, records: int, fraction: float) -> float | None:
    """The greatest likelihood found by searching it, not by its derivatives."""
    from scipy.optimize import minimize_scalar

    classes = sum(sizes.values())
    if classes == records or classes < 2:
        return None

    def likelihood(theta: float, alpha: float) -> float:
        above = (classes - 1) * log(alpha) + lgamma(theta / alpha + classes) - lgamma(theta / alpha + 1)
        within = sum(number * (lgamma(size - alpha) - lgamma(1 - alpha)) for size, number in sizes.items())
        return above + within - lgamma(theta + records) + lgamma(theta + 1)

    def best(alpha: float) -> tuple[float, float]:
        def loss(logarithm: float) -> float:
            return -likelihood(exp(logarithm) - alpha, alpha)

        searched = minimize_scalar(loss, bounds=(-20.0, 36.0), method="bounded", options={"xatol": 1e-10})
        return float(searched.fun), exp(float(searched.x)) - alpha

    searched = minimize_scalar(lambda a: best(a)[0], bounds=(1e-6, 1 - 1e-6), method="bounded", options={"xatol": 1e-9})
    alpha = float(searched.x)
    theta, people = best(alpha)[1], records / fraction
    return exp(lgamma(theta + alpha + people - 1) + lgamma(theta + 1) - lgamma(theta + alpha) - lgamma(theta + people))


def _slide(sizes: Sizes, records: int, fraction: float) -> float | None:
    """Both equations by bisection: alpha for every beta, then beta."""
    f, once, twice = fraction, sizes.get(1, 0), sizes.get(2, 0)
    if not twice:
        return None
    people = _classes(sizes, f)

    def expected(alpha: float, beta: float) -> tuple[float, float]:
        d = (1 - f) * (1 - beta)
        base = people * exp(alpha * log(beta / (1 - d)))
        first = f * base * (1 + alpha * d / (1 - d))
        return first, f * f * base * alpha * (1 - beta) * (2 - (1 - alpha) * d) / (2 * (1 - d) ** 2)

    def alpha_for(beta: float) -> float:
        low, high = -40.0, 40.0  # of the logarithm

        def more(logarithm: float) -> bool:
            d = (1 - f) * (1 - beta)
            alpha = exp(logarithm)
            second = f * alpha * (1 - beta) * (2 - (1 - alpha) * d) / (2 * (1 - d) ** 2)
            return second * once > twice * (1 + alpha * d / (1 - d))

        for _ in range(200):
            middle = (low + high) / 2
            low, high = (low, middle) if more(middle) else (middle, high)
        return exp((low + high) / 2)

    steps = [1e-6 * (1e4) ** (i / 39) for i in range(40)]
    grid = [*steps, *(0.01 * i for i in range(2, 100)), *(1 - step for step in reversed(steps))]
    signs = [expected(alpha_for(beta), beta)[0] > once for beta in grid]
    for i in range(len(grid) - 1):
        if signs[i] != signs[i + 1]:
            low, high = grid[i], grid[i + 1]
            for _ in range(100):
                middle = (low + high) / 2
                same = (expected(alpha_for(middle), middle)[0] > once) == signs[i]
                low, high = (middle, high) if same else (low, middle)
            return people * exp(alpha_for(low) * log(low)) * f / records
    return None


def _classes(sizes: Sizes, f: float) -> float:
    """Classes of the population (Shlosser's third estimator)."""
    seen = sum(sizes.values())
    q = f * f
    first = sum(i * q * (1 - q) ** (i - 1) * c for i, c in sizes.items())
    second = sum((1 - f) ** i * ((1 + f) ** i - 1) * c for i, c in sizes.items() if i * log(1 - f) > -600)
    third = sum((1 - f) ** i * c for i, c in sizes.items())
    fourth = sum(i * f * (1 - f) ** (i - 1) * c for i, c in sizes.items())
    return seen + sizes.get(1, 0) * first / second * (third / fourth) ** 2


def _dankar(sizes: Sizes, records: int, fraction: float) -> float | None:
    if fraction <= 0.1:
        return _pitman(sizes, records, fraction)
    estimates = [_zayatz(sizes, records, fraction), _slide(sizes, records, fraction)]
    return min(estimate for estimate in estimates if estimate is not None)


_ESTIMATES = {"dankar": _dankar, "pitman": _pitman, "snb": _slide, "zayatz": _zayatz}
