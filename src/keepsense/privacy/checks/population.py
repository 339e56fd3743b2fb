"""Checks of promises that compare a release with the population it was drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from keepsense.privacy.checks.classes import Classes, same
from keepsense.privacy.checks.outcome import SLACK, Check, Unseen


def k_map(classes: Classes, promise: Mapping[str, Any], evidence: Mapping[str, Any]) -> Check:
    """At least k people of the population fit every class."""
    return classes.judged(
        promise, f"SELECT class_, people AS x FROM ({_fitting(classes)}) f", f"x < {int(promise['k'])}", "min"
    )


def delta_presence(classes: Classes, promise: Mapping[str, Any], evidence: Mapping[str, Any]) -> Check:
    """Records over people who fit lies within the bounds in every class, those of the population included."""
    low, high = float(promise["lower"]) - SLACK, float(promise["upper"]) + SLACK
    query = f"SELECT class_, own / nullif(people, 0) AS x FROM ({_fitting(classes)}) f"
    check = classes.judged(promise, query, f"x IS NULL OR x < {low!r} OR x > {high!r}", "max")
    if low <= 0 or not check.holds:
        return check
    matching = " AND ".join(same("t", "p", key) for key in classes.keys)
    absent = int(
        classes.one(
            f"SELECT count(*) FROM ({_people(classes)}) p WHERE NOT EXISTS (SELECT 1 FROM tuples t WHERE {matching})"
        )
    )
    reason = f"{absent:,} people of the population fit no released record"
    return replace(check, holds=False, worst=0.0, reason=reason) if absent else check


def _fitting(classes: Classes) -> str:
    """Query for (class_, own, people): how many of the population fit each class."""
    keys = ", ".join(classes.keys)
    people = f"SELECT {keys}, count(*) AS people FROM ({_people(classes)}) everybody GROUP BY {keys}"
    conditions = [
        f"({same('t', 'p', key)} OR t.{key} IS NULL OR p.{key} IS NULL)" if key in classes.wild else same("t", "p", key)
        for key in classes.keys
    ]
    return (
        f"SELECT t.class_, t.own, coalesce(sum(p.people), 0) AS people FROM tuples t LEFT JOIN ({people}) p "
        f"ON {' AND '.join(conditions)} GROUP BY t.class_, t.own"
    )


def _people(classes: Classes) -> str:
    """The population's quasi-identifiers under the release's names."""
    population = classes.tables.get("population")
    if population is None:
        raise Unseen("the promise compares with a population; give it to the verifier, recoded like the release")
    lacking = [name for name in classes.quasi_identifiers if name not in population.columns]
    if lacking:
        raise Unseen(f"the population lacks the column {lacking[0]!r}")
    pairs = zip(classes.quasi_identifiers, classes.keys, strict=True)
    return f"SELECT {', '.join(f'{population.column(name)} AS {key}' for name, key in pairs)} FROM population"
