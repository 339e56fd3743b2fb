"""What a release is worth and what risk it leaves, as the numbers that go into its description and the report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keepsense import utility as measures
from keepsense.counts import Counts
from keepsense.errors import KeepsenseError
from keepsense.privacy import risk
from keepsense.publish.plan import Plan
from keepsense.recoding import Cells, Cuts, Recoding

_MEASURES: dict[str, Callable[[Counts, Any, Any, Any], float]] = {
    "loss": lambda counts, rule, trees, weights: measures.loss(counts, rule, trees, weights=weights),
    "precision": lambda counts, rule, trees, weights: measures.precision(counts, rule, trees),
    "average class size": lambda counts, rule, trees, weights: measures.average_class_size(counts, rule),
    "discernibility": lambda counts, rule, trees, weights: measures.discernibility(counts, rule),
    "non-uniform entropy": lambda counts, rule, trees, weights: measures.non_uniform_entropy(counts, rule, trees),
}


def measured_utility(plan: Plan, rules: list[Recoding]) -> dict[str, float]:
    """Losses of the quasi-identifiers by every measure that applies to the recoding.

    >>> measured_utility.__name__
    'measured_utility'
    """
    found: dict[str, float] = {}
    if not _generalizes(plan):
        return found
    trees, counts = plan.hierarchies, plan.own_counts
    weights = {name: plan.column(name).weight for name in plan.quasi_identifiers}
    for rule in rules:
        if isinstance(rule, Cuts | Cells):
            by_column = column_penalties(plan, rules)
            if by_column:
                whole = sum(weights[name] for name in by_column)
                found["certainty penalty"] = sum(weights[n] * lost for n, lost in by_column.items()) / whole
            for name, measure in _MEASURES.items():
                try:
                    found[name] = float(measure(counts, rule, trees, weights))
                except KeepsenseError:
                    continue  # a measure that does not apply, such as levels of released ranges, is left out
    return found


def column_penalties(plan: Plan, rules: list[Recoding]) -> dict[str, float]:
    """Share of each quasi-identifier's certainty that is gone: 0 where it is as it was, 1 where it is hidden.

    >>> column_penalties.__name__
    'column_penalties'
    """
    if not _generalizes(plan):
        return {}
    # numbers are measured by the widths they are released as, which no hierarchy need hold
    trees = {name: tree for name, tree in plan.hierarchies.items() if plan.column(name).kind != "numeric"}
    found: dict[str, float] = {}
    for rule in rules:
        if isinstance(rule, Cuts | Cells):
            try:
                found.update(measures.column_losses(plan.own_counts, rule, trees, "ncp"))
            except KeepsenseError:
                continue
    return found


def _generalizes(plan: Plan) -> bool:
    from keepsense.publish.techniques import technique

    return technique(plan.project.method.name).truthful


def measured_risk(plan: Plan, after: Counts, population: Counts | None = None) -> dict[str, dict[str, Any]]:
    """Risk of re-identification before and after; a journalist's too where a population or sampling weights are given.

    >>> measured_risk.__name__
    'measured_risk'
    """
    before = plan.own_counts
    everybody = None if plan.population is None else plan.count_in(plan.population)
    found: dict[str, dict[str, Any]] = {}
    for when, counts, people in (("before", before, everybody), ("after", after, population)):
        try:
            measured = risk(counts, population=people, missing=plan.missing)
        except KeepsenseError:
            continue  # nothing but suppressed records: nobody can be looked up
        found[when] = {
            "prosecutor, highest": measured.prosecutor_maximum,
            "prosecutor, average": measured.prosecutor_average,
            "marketer": measured.marketer,
            "unique records": measured.sample_uniques,
        }
        if people is not None:
            found[when]["journalist, highest"] = measured.journalist_maximum
            found[when]["journalist, average"] = measured.journalist_average
    for weight in plan.project.having("weight"):
        found["before"].update(_estimated(before, before.sums[weight]))
    return found


def _estimated(counts: Counts, weights: Any) -> dict[str, float]:
    """A journalist's risk where each row stands for as many people of the population as its sampling weight says."""
    people = [max(float(w), float(n)) for w, n in zip(weights.tolist(), counts.weights.tolist(), strict=True)]
    return {
        "journalist, highest, by sampling weights": 1 / min(people),
        "journalist, average, by sampling weights": len(people) / sum(people),
    }
