"""Outliers in numbers and dates, under methods that release values: swapped, redrawn, distorted, or averaged.

Generalization hides an extreme in an open range. A swap gives it to another person, noise moves it a little, a mean of
a few shows most of it: anyone who knows that the richest person is in the table finds the figure, though not the
record. That is how these methods work, so it is reported, not forbidden.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Counts
from keepsense.errors import Finding
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.hierarchies.round_bands import usual_ends
from keepsense.privacy.dp_promises import differentially_private
from keepsense.release.job.job import Job


def standing_out(job: Job, released: Counts) -> list[Finding]:
    """A finding for every column in which what is released still shows that a few people lie far from all others.

    Far is farther from the usual ends than these are apart; few are fewer than somebody is hidden among.

    >>> from keepsense.release.example import example_job
    >>> job = example_job()
    >>> standing_out(job, job.counts)  # it generalizes
    []
    """
    if job.truthful or differentially_private(job.models):
        return []
    findings = []
    for name in job.quasi_identifiers:
        if KINDS[job.column(name).kind].span is None:
            continue
        before, rows = _places(job, job.counts, name)
        if not len(before):
            continue
        low, high = usual_ends(before, np.cumsum(rows))
        far = low - (high - low), high + (high - low)
        people = int(rows[(before < far[0]) | (before > far[1])].sum())
        if not 0 < people < job.hidden_among or low == high:
            continue
        after, cells = _places(job, released, name)
        shown = int(cells[(after < far[0]) | (after > far[1])].sum())
        if shown:
            message = f"{shown:,} released cell(s) lie far from all others, as those of fewer than {job.hidden_among} "
            findings.append(Finding("W416", name, message + "people did: these people's values can be read from them"))
    return findings


def _places(job: Job, counts: Counts, name: str) -> tuple[Floats, NDArray[np.int64]]:
    """Where the values of a column lie, in order, and how many rows hold each; without what is no number or date."""
    listed = KINDS[job.column(name).kind].places
    values = counts.rows_of(name)
    places = [] if listed is None else listed(list(values), None)
    known = sorted((place, rows) for place, rows in zip(places, values.values(), strict=True) if place is not None)
    return np.array([place for place, _ in known]), np.array([rows for _, rows in known], dtype=np.int64)
