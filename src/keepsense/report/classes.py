"""What a report says of classes of records that look alike: how large they are, what they tell of sensitive columns."""

from __future__ import annotations

from html import escape
from itertools import pairwise

from keepsense.metrics import number, percent
from keepsense.privacy.attacks.disclosure import within_classes
from keepsense.report import charts, page
from keepsense.report.charts import Row
from keepsense.report.subject import Subject

_EDGES = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000, 10**15)


def classes(subject: Subject) -> str:
    """How large the equivalence classes are.

    >>> from keepsense.release.example import example_release
    >>> from keepsense.report.subject import Subject
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
        return page.paragraph("All records are suppressed.")
    text = (
        "People in one class have the same released values and cannot be told apart by them. Small classes protect "
        "less, large ones tell less. Records by the size of the class they are in:"
    )
    return page.paragraph(text) + charts.bars(rows, ("after",), "Records by size of their class", room=12)


def sensitive(subject: Subject) -> str:
    """What classes tell about sensitive columns: different values, the commonest one, l and t.

    >>> from keepsense.release.example import example_release
    >>> from keepsense.report.subject import Subject
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
            + page.table(["in the release", "reached"], facts)
            + "<h4>Records by how many different values their class has</h4>"
            + charts.bars(rows, ("after",), f"Different values of {name} in classes", room=8)
        )
    if not parts:
        return ""
    text = (
        "These columns are released as they are. Whoever finds the class of a person learns which values it has: the "
        "more different they are, and the more like the whole column, the less is learned."
    )
    return page.paragraph(text) + "".join(parts)
