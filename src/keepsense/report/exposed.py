"""Who stands out, and by which columns: for the publisher alone, since it lists records that are easily found."""

from __future__ import annotations

import numpy as np

from keepsense.counts import Counts
from keepsense.metrics import Figure, figures, number, percent
from keepsense.privacy.attacks.exposed import BY_MEANING
from keepsense.privacy.attacks.suda import special_uniques
from keepsense.recoding import suppressed_tuples
from keepsense.report import charts, page
from keepsense.report.subject import Subject

ROWS = 20
"""Records at risk that are listed."""


def exposed(subject: Subject) -> str:
    """Every metric of risk that no description tells, of the table and of each column, and the records most at risk.

    In public never, whoever asks: a list of who is easily found helps nobody but those who look for them.

    >>> from keepsense.release.example import example_release
    >>> from keepsense.report.subject import Subject
    >>> done = example_release()
    >>> "Records most at risk" in exposed(Subject(done)), exposed(Subject(done, public=True))
    (True, '')
    """
    if subject.public or not subject.columns:
        return ""
    measured = [
        {each.name: each for each in figures("risk", table, every_run=False)} for table in subject.exposed.values()
    ]
    return _table(*measured) + _columns(subject, *measured) + _records(subject)


Figures = dict[str, Figure]


def _table(before: Figures, after: Figures) -> str:
    """What the metrics say of the table as a whole."""
    each = {name: figure for name, figure in {**before, **after}.items() if not figure.column}
    rows = [
        [f"{figure.label}\n{figure.metric.meaning}", *(_text(when.get(name)) for when in (before, after))]
        for name, figure in each.items()
    ]
    return page.table(["attack", "before", "after"], rows)


def _columns(subject: Subject, before: Figures, after: Figures) -> str:
    """What they say of each column of the release, with the original in small letters where it was different."""
    metrics = {figure.metric.name: figure.metric for figure in (*before.values(), *after.values()) if figure.column}
    rows = []
    for column in subject.columns:
        names = [f"{name}, {column}" for name in metrics]
        texts = [(_text(after.get(name)), _text(before.get(name))) for name in names]
        rows.append([column, *(now if was in ("", now) else f"{now}\nwas {was}" for now, was in texts)])
    text = " ".join(f"{name[:1].upper()}{name[1:]}: {metric.meaning}." for name, metric in metrics.items())
    most = subject.exposed["before"].special.most
    if most < len(subject.columns):
        text += f" Sets of more than {most} columns are too many to look at."
    return (
        "<h3>Columns that tell people apart</h3>" + page.paragraph(text) + page.table(["column", *metrics], rows)
        if metrics
        else ""
    )


def _text(figure: Figure | None) -> str:
    return "" if figure is None else figure.text


def _records(subject: Subject) -> str:
    """The released combinations that fewest records share."""
    counts = subject.after
    shown = np.flatnonzero(~suppressed_tuples(counts) & (counts.weights > 0))
    if not len(shown):
        return ""
    most = min(BY_MEANING, subject.exposed["after"].special.most)
    scores = special_uniques(counts, most=most).scores
    order = shown[np.lexsort((-scores[shown], counts.weights[shown]))][:ROWS]
    rows = [
        [*_texts(counts, at), f"{int(counts.weights[at]):,}", percent(1 / int(counts.weights[at])), number(scores[at])]
        for at in order.tolist()
    ]
    risky = int(counts.weights[shown][counts.weights[shown] < 5].sum())
    text = (
        f"{risky:,} released records are found with a chance above 20%. These combinations are shared by the fewest; "
        f"the last figure is the SUDA score of sets of up to {most} columns. Keep this list inside."
    )
    header = [*counts.names, "records", "risk", "score"]
    listed = page.table(header, rows, words=range(len(counts.names)))
    return "<h3>Records most at risk</h3>" + page.paragraph(text) + listed


def _texts(counts: Counts, at: int) -> list[str]:
    return [charts.show(values[code]) for values, code in zip(counts.values, counts.codes[at].tolist(), strict=True)]
