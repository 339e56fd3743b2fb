"""Checks of promises about how many records, or people, share a class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepsense.privacy.checks.classes import Classes
from keepsense.privacy.checks.outcome import SLACK, Check


def k_anonymity(classes: Classes, promise: Mapping[str, Any], evidence: Mapping[str, Any]) -> Check:
    """At least k records in every class."""
    return classes.judged(promise, "SELECT class_, n AS x FROM sizes", f"x < {int(promise['k'])}", "min")


def maximum_risk(classes: Classes, promise: Mapping[str, Any], evidence: Mapping[str, Any]) -> Check:
    """One over the size of every class is at most the threshold."""
    limit = float(promise["threshold"]) + SLACK
    return classes.judged(promise, "SELECT class_, CAST(1 AS DOUBLE) / n AS x FROM sizes", f"x > {limit!r}", "max")


def average_risk(classes: Classes, promise: Mapping[str, Any], evidence: Mapping[str, Any]) -> Check:
    """The mean over records of one over the size of their class is at most the threshold."""
    mean = float(classes.one("SELECT sum(CAST(own AS DOUBLE) / n) / sum(own) FROM sizes"))
    if mean <= float(promise["threshold"]) + SLACK:
        return Check(promise, True, worst=mean)
    return Check(promise, False, classes.number, classes.records, mean)


def people(classes: Classes, promise: Mapping[str, Any], evidence: Mapping[str, Any]) -> Check:
    """At least k different people in every class."""
    values = classes.counted(str(promise["person"]))
    distinct = f"SELECT class_, count(*) AS x FROM {values} GROUP BY class_"
    return classes.judged(promise, distinct, f"x < {int(promise['k'])}", "min")
