"""Checks of promises that compare a release with the population it was drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from keepsense.privacy.checks.classes import Classes, exact
from keepsense.privacy.checks.outcome import Check, Unseen


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
