"""Suppressed records: hidden in all quasi-identifiers, they still tell their sensitive values, and to whom they belong.

Somebody who knows that a person is in the table and finds no record that fits knows that theirs is among the suppressed
ones. So these are a class like any other: where too few are alike, or their sensitive values too, they are left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from keepsense.counts import Counts, Value
from keepsense.privacy import bind, needed_columns
from keepsense.recoding import suppressed_tuples
from keepsense.release.attributes import least_size
from keepsense.release.job import Job


def without_the_few(job: Job, recoded: Any) -> Any:
    """The recoded table, without its suppressed records where they do not keep the promises as a class.

    >>> from keepsense.release.example import example_job
    >>> job = example_job()
    >>> lone = job.engine.read({"age": ["20"] * 4 + ["*"], "job": ["nurse"] * 4 + ["*"]})
    >>> without_the_few(job, lone).rows
    4
    """
    asked = job.project.release.suppressed
    if asked == "keep" or not job.truthful:  # methods that change values hide none
        return recoded
    names = job.every_quasi_identifier
    needed = [n for n in needed_columns(job.models) if n in recoded.columns and n not in names]
    counts = job.engine.count(recoded, names, histograms=dict.fromkeys(needed))
    hidden = suppressed_class(counts)
    if hidden is None or (asked == "auto" and _keeps(job, counts, hidden)):
        return recoded
    marks: dict[str, Value] = {n: counts.values_of(n)[counts.column(n)[hidden]] for n in names}
    return job.engine.leave_out(recoded, marks)


def suppressed_class(counts: Counts) -> int | None:
    """Position of the tuple that is hidden in every column; None where there is none, or nothing else.

    >>> suppressed_class(Counts.of({"job": ["*", "nurse"]}))
    0
    >>> suppressed_class(Counts.of({"job": ["*", "*"]})) is None
    True
    """
    found = np.flatnonzero(suppressed_tuples(counts) & (counts.weights > 0))
    return int(found[0]) if len(found) else None


def _keeps(job: Job, counts: Counts, hidden: int) -> bool:
    """Whether the suppressed records are many and mixed enough to be released as a class of their own."""
    if counts.weights[hidden] < max(2, least_size(job) or 2):
        return False
    of_classes = [m for m in job.models if m.per_class and m.promise().get("about") != "mechanism"]
    for model in bind(of_classes, counts):
        if any(name not in counts.histograms for name in model.columns):
            return False
        if not model.satisfied(counts.weights, counts.histograms)[hidden]:
            return False
    return True
