"""Records as they were and as they are released, side by side: for the publisher alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts
from keepsense.recoding import Cells
from keepsense.report import charts, page
from keepsense.report.subject import Subject
from keepsense.utility.alignment import aligned, whole_table

ROWS = 20
"""Records that are shown."""


def beside(subject: Subject) -> str:
    """Some released records with the original ones below them, in every column that the method decided on.

    They are spread over the whole table, so what happens often is seen often. Nothing where each column was changed by
    itself, because then nobody knows which released record was which. In public never, whoever asks.

    >>> from keepsense.release.example import example_release
    >>> from keepsense.report.subject import Subject
    >>> done = example_release()
    >>> "30 to 39<small>was 35</small>" in beside(Subject(done)), beside(Subject(done, public=True))
    (True, '')
    """
    if subject.public:
        return ""
    names = subject.job.quasi_identifiers
    rules = whole_table(subject.outcome.recodings, names)
    if not names or len(rules) != 1:
        return ""
    counts = subject.job.own_counts
    cells = aligned(counts, rules[0])
    order = np.argsort(cells.source, kind="stable")  # whatever order the method decided in
    chosen = order[spread(cells.multiplicity[order], ROWS)]
    rows = [_record(counts, cells, at, names) for at in chosen.tolist()]
    text = (
        f"{len(rows)} records, taken evenly from the whole table: what is released of them, and in small letters below "
        "it what they were. A value without a second line is released as it was."
    )
    return page.paragraph(text) + page.table(names, rows, words=range(len(names)))


def spread(rows: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """At most so many combinations at even distances, each as likely as it has rows.

    >>> spread(np.array([1, 8, 1]), 5).tolist()
    [1, 2]
    """
    upto = np.cumsum(rows)
    if not len(upto) or upto[-1] == 0:
        return np.zeros(0, np.int64)
    places = (np.arange(most) + 0.5) * (upto[-1] / most)
    return np.unique(np.searchsorted(upto, places, side="right"))


def _record(counts: Counts, cells: Cells, at: int, names: tuple[str, ...]) -> list[str]:
    """A released combination, each value with what it was where that differs."""
    texts = []
    for name in names:
        column = cells.names.index(name)
        released = charts.show(cells.values[column][cells.codes[at, column]])
        was = charts.show(counts.values_of(name)[counts.column(name)[cells.source[at]]])
        texts.append(released if released == was else f"{released}\nwas {was}")
    return texts
