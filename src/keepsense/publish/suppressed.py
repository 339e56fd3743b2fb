"""Suppressed records: hidden in all quasi-identifiers, they still tell their sensitive values, and to whom they belong.

Somebody who knows that a person is in the table and finds no record that fits knows that theirs is among the suppressed
ones. So these are a class like any other: where too few are alike, or their sensitive values too, they are left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from keepsense.counts import Counts, Value
from keepsense.privacy import bind, needed_columns
from keepsense.privacy.risk import suppressed_tuples
from keepsense.publish.attributes import least_size
from keepsense.publish.plan import Plan


def without_the_few(plan: Plan, recoded: Any) -> Any:
    """The recoded table, without its suppressed records where they do not keep the promises as a class.

    >>> from keepsense.publish.example import example_plan
    >>> plan = example_plan()
    >>> lone = plan.engine.read({"age": ["20"] * 4 + ["*"], "job": ["nurse"] * 4 + ["*"]})
    >>> without_the_few(plan, lone).rows
    4
    """
    asked = plan.project.release.suppressed
    if asked == "keep" or not plan.truthful:  # methods that change values hide none
        return recoded
    names = plan.every_quasi_identifier
    needed = [n for n in needed_columns(plan.models) if n in recoded.columns and n not in names]
    counts = plan.engine.count(recoded, names, histograms=dict.fromkeys(needed))
    hidden = suppressed_class(counts)
    if hidden is None or (asked == "auto" and _keeps(plan, counts, hidden)):
        return recoded
    marks: dict[str, Value] = {n: counts.values_of(n)[counts.column(n)[hidden]] for n in names}
    return plan.engine.leave_out(recoded, marks)


def suppressed_class(counts: Counts) -> int | None:
    """Position of the tuple that is hidden in every column; None where there is none, or nothing else.

    >>> suppressed_class(Counts.of({"job": ["*", "nurse"]}))
    0
    >>> suppressed_class(Counts.of({"job": ["*", "*"]})) is None
    True
    """
    found = np.flatnonzero(suppressed_tuples(counts) & (counts.weights > 0))
    return int(found[0]) if len(found) else None


def _keeps(plan: Plan, counts: Counts, hidden: int) -> bool:
    """Whether the suppressed records are many and mixed enough to be released as a class of their own."""
    if counts.weights[hidden] < max(2, least_size(plan) or 2):
        return False
    of_classes = [m for m in plan.models if m.per_class and m.promise().get("about") != "mechanism"]
    for model in bind(of_classes, counts):
        if any(name not in counts.histograms for name in model.columns):
            return False
        if not model.satisfied(counts.weights, counts.histograms)[hidden]:
            return False
    return True
