"""Section: classes, sensitive columns and records at risk; for the publisher alone, where it lists records."""

from __future__ import annotations

from html import escape
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts
from keepsense.metrics import Figure, figures, number, percent
from keepsense.recoding import Cells, suppressed_tuples
from keepsense.report import html_page
from keepsense.report.html_page import Row
from keepsense.report.report_subject import Subject
from keepsense.risk.attribute_disclosure import within_classes
from keepsense.risk.risk_metrics import BY_MEANING
from keepsense.risk.suda import special_uniques
from keepsense.utility.recoded_table import aligned, whole_table

# Classes: their sizes, and what they reveal of sensitive columns

_EDGES = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000, 10**15)


def classes(subject: Subject) -> str:
    """How large the equivalence classes are.

    >>> from keepsense.release.example import example_release
    >>> from keepsense.report.report_subject import Subject
    >>> "20 in 4 classes" in classes(Subject(example_release()))
    True
    """
    if not subject.about_classes:
        return ""
    sizes = subject.after.weights[subject.shown]
    rows = []
    for low, high in pairwise(_EDGES):
        inside = sizes[(sizes >= low) & (sizes < high)]
        if len(inside):
            name = f"{low:,}" if high == low + 1 else f"{low:,}–{high - 1:,}" if high < 10**15 else f"{low:,} or more"
            text = f"{number(int(inside.sum()))} in {number(len(inside))} class{'' if len(inside) == 1 else 'es'}"
            rows.append(Row(f"{name} record{'' if name == '1' else 's'}", (float(inside.sum()),), (text,)))
    if not rows:
        return html_page.paragraph("All records are suppressed.")
    text = (
        "People in one class have the same released values and cannot be told apart by them. Small classes protect "
        "less, large ones tell less. Records by the size of the class they are in:"
    )
    return html_page.paragraph(text) + html_page.bars(rows, ("after",), "Records by size of their class", room=12)


def sensitive(subject: Subject) -> str:
    """What classes tell about sensitive columns: different values, the commonest one, l and t.

    >>> from keepsense.release.example import example_release
    >>> from keepsense.report.report_subject import Subject
    >>> "<h3>illness</h3>" in sensitive(Subject(example_release()))
    True
    """
    parts = []
    for name, histogram in subject.after.histograms.items() if subject.about_classes else ():
        whole = dict(zip(histogram.values, histogram.total().tolist(), strict=True))
        seen = within_classes(histogram, subject.shown, whole)
        if not seen.classes:
            continue
        weights = subject.after.weights[subject.shown]
        only = int(weights[seen.distinct == 1].sum())
        facts = [
            ["fewest different values in a class (l)", number(int(seen.distinct.min()))],
            ["the same by entropy: as mixed as so many equally frequent values", number(float(seen.entropy.min()))],
            ["largest share of one value in a class", percent(float(seen.largest.max()))],
            ["greatest distance of a class from the whole column (t, equal distances)", f"{seen.t.max():.2f}"],
            ["records whose class has one value only, which gives it away", number(only)],
        ]
        rows = []
        for low, high in pairwise((1, 2, 3, 4, 5, 7, 10, 20, 50, 10**9)):
            inside = int(weights[(seen.distinct >= low) & (seen.distinct < high)].sum())
            if inside:
                label = f"{low}" if high == low + 1 else f"{low}–{high - 1}" if high < 10**9 else f"{low} or more"
                label += " value" if label == "1" else " different values"
                rows.append(Row(label, (float(inside),), (f"{number(inside)} records",)))
        parts.append(
            f"<h3>{escape(name)}</h3>"
            + html_page.table(["in the release", "reached"], facts)
            + "<h4>Records by how many different values their class has</h4>"
            + html_page.bars(rows, ("after",), f"Different values of {name} in classes", room=8)
        )
    if not parts:
        return ""
    text = (
        "These columns are released as they are. Whoever finds the class of a person learns which values it has: the "
        "more different they are, and the more like the whole column, the less is learned."
    )
    return html_page.paragraph(text) + "".join(parts)


# Records at risk, and the columns that single them out: for the publisher alone

ROWS = 20
"""Records at risk that are listed."""


def exposed(subject: Subject) -> str:
    """Every metric of risk that no description tells, of the table and of each column, and the records most at risk.

    In public never, whoever asks: a list of who is easily found helps nobody but those who look for them.

    >>> from keepsense.release.example import example_release
    >>> from keepsense.report.report_subject import Subject
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
    return html_page.table(["attack", "before", "after"], rows)


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
        "<h3>Columns that tell people apart</h3>"
        + html_page.paragraph(text)
        + html_page.table(["column", *metrics], rows)
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
    listed = html_page.table(header, rows, words=range(len(counts.names)))
    return "<h3>Records most at risk</h3>" + html_page.paragraph(text) + listed


def _texts(counts: Counts, at: int) -> list[str]:
    return [html_page.show(values[code]) for values, code in zip(counts.values, counts.codes[at].tolist(), strict=True)]


# Records before and after: for the publisher alone


def beside(subject: Subject) -> str:
    """Some released records with the original ones below them, in every column that the method decided on.

    They are spread over the whole table, so what happens often is seen often. Nothing where each column was changed by
    itself, because then nobody knows which released record was which. In public never, whoever asks.

    >>> from keepsense.release.example import example_release
    >>> from keepsense.report.report_subject import Subject
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
    return html_page.paragraph(text) + html_page.table(names, rows, words=range(len(names)))


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
        released = html_page.show(cells.values[column][cells.codes[at, column]])
        was = html_page.show(counts.values_of(name)[counts.column(name)[cells.source[at]]])
        texts.append(released if released == was else f"{released}\nwas {was}")
    return texts
