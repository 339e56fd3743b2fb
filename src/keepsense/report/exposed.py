"""Who stands out, and by which columns: for the publisher alone, since it lists records that are easily found."""

from __future__ import annotations

import numpy as np

from keepsense.counts import Counts
from keepsense.errors import KeepsenseError
from keepsense.metrics import number, percent
from keepsense.privacy import interval_disclosure, separations, special_uniques, special_uniques_by_meaning
from keepsense.privacy.promises.ground import numbers_of
from keepsense.recoding import suppressed_tuples
from keepsense.report import charts, page
from keepsense.report.subject import Subject
from keepsense.utility.alignment import aligned, whole_table

ROWS = 20
"""Records at risk that are listed."""
MOST_TUPLES = 500_000
"""Distinct tuples up to which sets of columns are compared."""


def exposed(subject: Subject) -> str:
    """Which columns tell people apart, how many records few columns single out, and the records most at risk.

    In public never, whoever asks: a list of who is easily found helps nobody but those who look for them.

    >>> from keepsense.release.example import example_release
    >>> from keepsense.report.subject import Subject
    >>> done = example_release()
    >>> "Records most at risk" in exposed(Subject(done)), exposed(Subject(done, public=True))
    (True, '')
    """
    if subject.public or not subject.columns:
        return ""
    return _columns(subject) + _meaning(subject) + _numbers(subject) + _records(subject)


def _columns(subject: Subject) -> str:
    """Distinction, separation and the share of special uniques, of each column, before and after."""
    tables = (subject.before, subject.after)
    if max(map(len, tables)) > MOST_TUPLES:
        return page.paragraph("There are too many combinations to compare all sets of columns.", "note")
    apart = [{found.columns[0]: found for found in separations(counts)} for counts in tables]
    special = [special_uniques(counts) for counts in tables]
    rows = [
        [
            name,
            *(percent(each[name].distinction) for each in apart),
            *(percent(each[name].separation) for each in apart),
            *(percent(each.contributions[name]) for each in special),
        ]
        for name in subject.columns
    ]
    text = (
        "Distinct: different values over records. Separated: pairs of records that the column tells apart (Motwani and "
        "Xu 2007). Uniques: how much of all that singles records out has to do with the column (SUDA2, Manning, Haglin "
        f"and Keane 2008; sets of up to {special[0].most} columns). {special[0].records:,} records of the original are "
        f"one of a kind, {special[1].records:,} of the release."
    )
    header = ["column", "distinct before", "after", "separated before", "after", "uniques before", "after"]
    return "<h3>Columns that tell people apart</h3>" + page.paragraph(text) + page.table(header, rows)


def _meaning(subject: Subject) -> str:
    """How many records of the original are alone even within a concept."""
    try:
        _, steps = special_uniques_by_meaning(subject.before, subject.job.hierarchies, most=3)
    except KeepsenseError:
        return ""  # sets, or values that no hierarchy holds
    alone, within = int((steps >= 0).sum()), int((steps >= 1).sum())
    if not alone:
        return ""
    return page.paragraph(
        f"By meaning: of {alone:,} records of the original that up to three columns single out, {within:,} stay alone "
        f"when all values are made one step coarser, so that whoever knows roughly what they are finds them; the "
        f"farthest {int(steps.max())} steps up."
    )


def _numbers(subject: Subject) -> str:
    """Interval disclosure of columns whose released values are numbers."""
    names = subject.job.quasi_identifiers
    rules = whole_table(subject.outcome.recodings, names)
    if len(rules) != 1:
        return ""
    counts = subject.job.own_counts
    cells = aligned(counts, rules[0])
    rows = []
    for name in names:
        at = cells.names.index(name)
        before, after = numbers_of(counts.values_of(name)), numbers_of(cells.values[at])
        if before is None or after is None:
            continue
        pair = (before[counts.column(name)[cells.source]], after[cells.codes[:, at]], cells.multiplicity)
        rows.append([name, percent(interval_disclosure(*pair)), percent(interval_disclosure(*pair, by="deviation"))])
    if not rows:
        return ""
    text = (
        "Share of records whose true number lies within a small interval around the released one: one to ten percent "
        "of all numbers to either side, or of their standard deviation (Mateo-Sanz et al. 2004)."
    )
    header = ["column", "within ranks", "within deviations"]
    return "<h3>Numbers told up to a little</h3>" + page.paragraph(text) + page.table(header, rows)


def _records(subject: Subject) -> str:
    """The released combinations that fewest records share."""
    counts = subject.after
    shown = np.flatnonzero(~suppressed_tuples(counts) & (counts.weights > 0))
    if not len(shown):
        return ""
    scores = special_uniques(counts, most=3).scores if len(counts) <= MOST_TUPLES else np.zeros(len(counts))
    order = shown[np.lexsort((-scores[shown], counts.weights[shown]))][:ROWS]
    rows = [
        [*_texts(counts, at), f"{int(counts.weights[at]):,}", percent(1 / int(counts.weights[at])), number(scores[at])]
        for at in order.tolist()
    ]
    risky = int(counts.weights[shown][counts.weights[shown] < 5].sum())
    text = (
        f"{risky:,} released records are found with a chance above 20%. These combinations are shared by the fewest; "
        "the last figure is the SUDA score of sets of up to three columns. Keep this list inside."
    )
    header = [*counts.names, "records", "risk", "score"]
    listed = page.table(header, rows, words=range(len(counts.names)))
    return "<h3>Records most at risk</h3>" + page.paragraph(text) + listed


def _texts(counts: Counts, at: int) -> list[str]:
    return [charts.show(values[code]) for values, code in zip(counts.values, counts.codes[at].tolist(), strict=True)]
