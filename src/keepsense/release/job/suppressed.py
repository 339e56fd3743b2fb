"""Suppressed records, which form a class: hidden in all quasi-identifiers, they still show sensitive values.

If a person is known to be in the table and no record fits, the record of that person must be a suppressed one. So these
are a class like any other, and keep every promise or are left out, whatever the project file asks for.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from keepsense.arrays import used_codes
from keepsense.counts import Counts, Value, with_joined
from keepsense.engines.protocol import Table
from keepsense.methods.task import least_size
from keepsense.privacy.dp_promises import differentially_private
from keepsense.privacy.privacy_model import bind, joined_columns, needed_columns
from keepsense.recoding import suppressed_tuples
from keepsense.release.job.job import Job


def settle_suppressed(job: Job, recoded: Table) -> tuple[Table, Counts]:
    """The recoded table, without its suppressed records where they do not keep the promises as a class; and its counts.

    >>> from keepsense.release.example import example_job
    >>> job = example_job()
    >>> lone = job.engine.read({"age": ["20"] * 4 + ["*"], "job": ["nurse"] * 4 + ["*"]})
    >>> left, counts = settle_suppressed(job, lone)
    >>> left.rows, counts.rows_of("job")
    (4, {'nurse': 4})
    """
    names, choice = job.every_quasi_identifier, job.project.release.suppressed
    if not job.truthful:  # methods that change values hide none
        return recoded, job.count_in(recoded)
    joined = joined_columns(job.models)
    needed = [n for n in needed_columns(job.models) if n in recoded.columns and n not in (*names, *joined)]
    counts = job.engine.count(recoded, names, histograms=dict.fromkeys(needed))
    if joined:
        parts = dict.fromkeys(part for columns in joined.values() for part in columns)
        counts = with_joined(counts, job.engine.count(recoded, [*names, *parts]), joined)
    hidden = suppressed_class(counts)
    # under differential privacy nobody learns how many records were left out
    choice = "drop" if differentially_private(job.models) else choice
    if hidden is None or (choice != "drop" and _keeps(job, counts, hidden)):
        return recoded, replace(counts, histograms={})
    marks: dict[str, Value] = {n: counts.values_of(n)[counts.column(n)[hidden]] for n in names}
    return job.engine.leave_out(recoded, marks), _without(counts, hidden)


def suppressed_class(counts: Counts) -> int | None:
    """Position of the tuple that is hidden in every column; None where there is none, or nothing else.

    >>> suppressed_class(Counts.of({"job": ["*", "nurse"]}))
    0
    >>> suppressed_class(Counts.of({"job": ["*", "*"]})) is None
    True
    """
    hidden = np.flatnonzero(suppressed_tuples(counts) & (counts.weights > 0))
    return int(hidden[0]) if len(hidden) else None


def _keeps(job: Job, counts: Counts, hidden: int) -> bool:
    """Whether the suppressed records are many and mixed enough to be released as a class of their own."""
    if counts.weights[hidden] < max(2, least_size(job.models) or 2):
        return False
    # a promise about the table as a whole has a stricter one about each class, by which these few are judged
    for model in bind([m for m in job.models if m.about != "mechanism"], counts):
        if any(name not in counts.histograms for name in model.columns):
            return False
        if not model.satisfied(counts.weights, counts.histograms)[hidden]:
            return False
    return True


def _without(counts: Counts, position: int) -> Counts:
    """The counts without one tuple, and without values that only this one held."""
    codes = np.delete(counts.codes, position, axis=0)
    values = []
    for j, listed in enumerate(counts.values):
        used, codes[:, j] = used_codes(codes[:, j])
        values.append(tuple(listed[code] for code in used.tolist()))
    return Counts(counts.names, tuple(values), codes, np.delete(counts.weights, position))
