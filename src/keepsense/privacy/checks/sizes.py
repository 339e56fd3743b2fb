"""Checks of promises about how many records, or people, share a class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import Any

from keepsense.privacy.checks.classes import Classes, exact
from keepsense.privacy.checks.outcome import Check


def k_anonymity(classes: Classes, promise: Mapping[str, Any], evidence: Mapping[str, Any]) -> Check:
    """At least k records in every class."""
    return classes.judged(promise, "SELECT class_, n AS x FROM sizes", f"x < {int(promise['k'])}", "min")


def maximum_risk(classes: Classes, promise: Mapping[str, Any], evidence: Mapping[str, Any]) -> Check:
    """One over the size of every class is at most the threshold."""
    least = ceil(1 / exact(promise["threshold"]))
    return classes.judged(promise, "SELECT class_, CAST(1 AS DOUBLE) / n AS x FROM sizes", f"n < {least}", "max")


def average_risk(classes: Classes, promise: Mapping[str, Any], evidence: Mapping[str, Any]) -> Check:
    """The mean over records of one over the size of their class is at most the threshold."""
    limit = exact(promise["threshold"])
    if classes.wild:
        risks = [(int(n), int(own)) for n, own in classes.ask("SELECT n, sum(own) FROM sizes GROUP BY n")]
        mean = _sum([Fraction(own, n) for n, own in risks]) / sum(own for _, own in risks)
    else:
        numbers, records = map(int, classes.ask("SELECT count(*), sum(own) FROM sizes")[0])
        mean = Fraction(numbers, records)
    if mean <= limit:
        return Check(promise, True, worst=float(mean))
    return Check(promise, False, classes.number, classes.records, float(mean))


def _sum(fractions: Sequence[Fraction]) -> Fraction:
    """The exact sum, by halves: so only the last few additions have long denominators."""
    if len(fractions) < 3:
        return sum(fractions, Fraction(0))
    middle = len(fractions) // 2
    return _sum(fractions[:middle]) + _sum(fractions[middle:])


def strict_average_risk(classes: Classes, promise: Mapping[str, Any], evidence: Mapping[str, Any]) -> Check:
    """The average risk is at most the threshold, and every class has at least k records."""
    check = k_anonymity(classes, promise, evidence)
    if not check.holds:
        return check
    return replace(average_risk(classes, promise, evidence), promised=float(promise["threshold"]))


def people(classes: Classes, promise: Mapping[str, Any], evidence: Mapping[str, Any]) -> Check:
    """At least k different people in every class."""
    values = classes.counted(str(promise["person"]))
    distinct = f"SELECT class_, count(*) AS x FROM {values} GROUP BY class_"
    return classes.judged(promise, distinct, f"x < {int(promise['k'])}", "min")
