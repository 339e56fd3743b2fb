"""What goes together in a table: how strongly columns hang together before and after, by equality and by meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from keepsense.counts import Counts
from keepsense.errors import KeepsenseError
from keepsense.recoding import SUPPRESSED, Cells
from keepsense.release.distances import gaps_between
from keepsense.release.figures import Association, Note, association
from keepsense.release.job import Job

PAIRED_VALUES = 4_000
"""Most different values of a column whose distance correlation with others is measured."""
PAIRED_COLUMNS = 6
PAIRED_WORK = 400_000_000
"""Most multiplications that the distance correlation of one pair of columns may take."""


def shown(counts: Counts, cells: Cells) -> Counts:
    """Counts of the release without the suppressed records.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> job, rules = done.job, done.recodings
    >>> counts = job.own_counts
    >>> shown(counts, rules[0].cells(counts)).total
    20
    """
    if cells.suppressed is None or cells.suppressed.all():
        return cells.apply(counts)
    kept = ~cells.suppressed
    part = Cells(cells.names, cells.values, cells.source[kept], cells.codes[kept], cells.multiplicity[kept])
    return part.apply(counts)


def one_label_each(job: Job, cells: Cells, counts: Counts) -> bool:
    """Whether values have one label everywhere: where every class has labels of its own, these go together anyway.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> job, rules = done.job, done.recodings
    >>> counts = job.own_counts
    >>> one_label_each(job, rules[0].cells(counts), counts)
    True
    """
    from keepsense.utility.basis import pairs

    if not job.truthful:
        return True
    shown = replace(cells, suppressed=None, inputs=None)
    for name in cells.names:
        found = pairs(counts, shown, name)
        labels = np.array([label != SUPPRESSED for label in found.values])[found.released]
        if (np.bincount(found.original[labels]) > 1).any():
            return False
    return True


def associations(before: Counts, after: Counts) -> tuple[Association, ...]:
    """Cramér's V of the first columns, pair by pair.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> job, rules = done.job, done.recodings
    >>> counts = job.own_counts
    >>> found = associations(counts, rules[0].apply(counts))[0]
    >>> found.first, found.second, round(found.before, 2), round(found.after, 2)
    ('age', 'job', 0.87, 1.0)
    """
    found = []
    for first, second in combinations(after.names[:PAIRED_COLUMNS], 2):
        was, now = (association(counts.project((first, second))) for counts in (before, after))
        found.append(Association(first, second, was, now))
    return tuple(found)


def dependence(job: Job, before: Counts, after: Counts, notes: list[Note]) -> tuple[Association, ...]:
    """Distance correlations of the first columns, pair by pair (Rodríguez-García 2017, Eq. 4.24).

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> job, rules = done.job, done.recodings
    >>> counts = job.own_counts
    >>> found = dependence(job, counts, rules[0].apply(counts), [])[0]
    >>> found.first, found.second, round(found.before, 2), round(found.after, 2)
    ('age', 'job', 0.85, 0.89)
    """
    from keepsense.semantics.attribute import Nominal
    from keepsense.semantics.dependence import distance_correlation

    columns: dict[str, list[Any]] = {}
    many = []
    for name in after.names[:PAIRED_COLUMNS]:
        values = [counts.values_of(name) for counts in (before, after)]
        if max(map(len, values)) > PAIRED_VALUES:
            many.append(name)
            continue
        try:
            columns[name] = [
                Nominal.of(counts, name, gaps_between(job, name, own, values[0]))
                for counts, own in zip((before, after), values, strict=True)
            ]
        except KeepsenseError:
            continue
    if many:
        notes.append(
            Note(
                "together",
                f"Distance correlation left out {', '.join(many)}: over {PAIRED_VALUES:,} different values.",
            )
        )
    found, skipped = [], 0
    for first, second in combinations(columns, 2):
        if _work(columns[first], columns[second], before) > PAIRED_WORK:
            skipped += 1
            continue
        was, now = (
            distance_correlation(counts, columns[first][i], columns[second][i])
            for i, counts in enumerate((before, after))
        )
        found.append(Association(first, second, was, now))
    if skipped:
        notes.append(Note("together", f"{skipped} pairs of columns were left out: they have too many combinations."))
    return tuple(found)


def _work(first: Sequence[Any], second: Sequence[Any], counts: Counts) -> int:
    """Multiplications of a sparse table of joint counts with a table of distances, about."""
    widest = [max(len(one.values) for one in column) for column in (first, second)]
    return min(len(counts), widest[0] * widest[1]) * max(widest)
