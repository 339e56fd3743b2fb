"""Section: the risk that is left, the utility of the release, and associations between columns."""

from __future__ import annotations

from html import escape

from keepsense.metrics import figure, number, percent
from keepsense.report import html_page
from keepsense.report.html_page import Row
from keepsense.report.report_subject import Subject
from keepsense.utility.associations import Association

# ---- risk ------------------------------------------------------------------------------------------------------------


def risk(subject: Subject) -> str:
    """Risk of re-identification before and after, by classes and by linkage.

    >>> from keepsense.release.example import example_release
    >>> from keepsense.report.report_subject import Subject
    >>> ["Linkage by meaning" in risk(Subject(example_release(), public)) for public in (False, True)]
    [True, False]
    """
    figures = subject.told["risk"]
    if subject.public and not figures:
        return ""
    before, after = figures.get("before", {}), figures.get("after", {})
    rows = [_risk_row(name, before[name], after[name]) for name in before if name in after]
    key = html_page.legend({"before": "before", "after": "after"})
    text = (
        "How likely is it that somebody who knows a person's values in the columns below finds that person's record? "
        "Before: in the original table. After: in the release. The lower the better; 100% means certainty."
    )
    parts = [html_page.paragraph(text)]
    if not subject.about_classes:
        parts.append(
            html_page.paragraph(
                "This method changes values, so a record that is one of a kind in the release need not belong to the "
                "person it looks like: the figures by class say little here, and linkage is what counts."
            )
        )
    linked = "" if subject.public else _linkage(subject)
    classes = key + html_page.bars(rows, ("before", "after"), "Risk before and after", most=1.0) if rows else ""
    if not subject.about_classes:
        parts += [linked, f"<details><summary>Figures by class</summary>{classes}</details>"]
    else:
        parts += [classes, linked]
    return "".join(parts)


def _risk_row(name: str, before: float, after: float) -> Row:
    entry = figure(name, after)
    return Row(entry.label, (float(before), float(after)), (percent(before), percent(after)), entry.metric.meaning)


def _linkage(subject: Subject) -> str:
    """Linkage by distances of values, and by known items of sets."""
    attacks = subject.measured.linkage
    parts = []
    if "before" in attacks and "after" in attacks:
        then, now = attacks["before"], attacks["after"]
        rows = [
            Row(
                "records linked rightly",
                (then.risk, now.risk),
                (percent(then.estimates[0]), percent(now.estimates[0])),
                "the nearest original record is taken; of equally near ones, one by chance",
            ),
            Row(
                "own record among the nearest",
                (then.linked, now.linked),
                (percent(then.estimates[1]), percent(now.estimates[1])),
                f"{number(round(now.group, 1))} records are equally near on average after, "
                f"{number(round(then.group, 1))} before",
            ),
        ]
        parts.append(
            "<h3>Linkage by meaning</h3>"
            + html_page.paragraph(
                "Somebody who has the original values compares each released record with them, words by what they "
                "mean and numbers by how far apart they are, and takes the nearest."
            )
            + html_page.legend({"before": "before", "after": "after"})
            + html_page.bars(rows, ("before", "after"), "Linkage before and after", most=1.0)
        )
    for sets in subject.measured.sets:
        if sets.risk:
            rows = [
                Row(
                    f"{m} item{'s' if m > 1 else ''} of {sets.column} known",
                    (was, is_),
                    (percent(was), percent(is_)),
                    "" if m > 1 else "chance to find the record of somebody of whom so much is known",
                )
                for m, was, is_ in sets.risk
            ]
            drawn = html_page.bars(rows, ("before", "after"), "Risk by known items", most=1.0)
            parts.append(
                f"<h3>By known items of {escape(sets.column)}</h3>"
                + html_page.legend({"before": "before", "after": "after"})
                + drawn
            )
    return "".join(parts) + _notes(subject, "risk")


def _notes(subject: Subject, about: str) -> str:
    return "".join(html_page.paragraph(note.text, "note") for note in subject.measured.notes if note.about == about)


# ---- usefulness ------------------------------------------------------------------------------------------------------


def utility(subject: Subject) -> str:
    """What was lost, by every metric that applies; in public those of the description.

    >>> from keepsense.release.example import example_release
    >>> from keepsense.report.report_subject import Subject
    >>> "certainty lost" in utility(Subject(example_release()))
    True
    """
    described = subject.told["utility"]
    shown = [figure(name, value) for name, value in described.items()]
    if not subject.public:
        shown += [each for each in subject.measured.utility if each.name not in described]
    if not shown:
        return ""
    rows = [
        [f"{each.label}\n{each.metric.meaning}" if each.metric.meaning else each.label, each.text] for each in shown
    ]
    text = "What readers of the release lose compared with the original. No single figure tells it all."
    moved = _moved(subject)
    return (
        html_page.paragraph(text)
        + html_page.table(["metric", "value"], rows)
        + moved
        + ("" if subject.public else _notes(subject, "utility"))
    )


def _moved(subject: Subject) -> str:
    """By column: how many cells hold another value, and how far values moved."""
    if subject.public or not subject.measured.columns:
        return ""
    rows = [
        [name, percent(changed), "" if distance is None else percent(distance)]
        for name, (changed, distance) in subject.measured.columns.items()
    ]
    header = ["column", "cells changed", "mean distance moved"]
    if not any(row[-1] for row in rows):
        rows, header = [row[:-1] for row in rows], header[:-1]
    return "<h3>By column</h3>" + html_page.table(header, rows)


def association(subject: Subject) -> str:
    """How well the release keeps which values go together.

    >>> from keepsense.release.example import example_release
    >>> from keepsense.report.report_subject import Subject
    >>> "age × job" in association(Subject(example_release()))
    True
    """
    measured = subject.measured
    parts = []
    if measured.dependence:
        parts.append(
            html_page.paragraph(
                "Which columns go together, by meaning: 0 where one tells nothing about the other, 1 where it tells "
                "all (distance correlation of numbers and of the meanings of words). Bars of equal length mean that "
                "a reader finds the same connections as in the original."
            )
            + _pairs(measured.dependence, "Distance correlation before and after")
        )
    if measured.associations:
        text = (
            "The same by equality of values alone, without meaning (Cramér's V). Merging values can make it larger "
            "or smaller."
        )
        parts.append(
            f"<details><summary>By equality of values</summary>{html_page.paragraph(text)}"
            f"{_pairs(measured.associations, 'Association before and after')}</details>"
        )
    return "".join(parts) + (_notes(subject, "together") if parts else "")


def _pairs(pairs: tuple[Association, ...], title: str) -> str:
    rows = [
        Row(f"{pair.first} × {pair.second}", (pair.before, pair.after), (f"{pair.before:.2f}", f"{pair.after:.2f}"))
        for pair in pairs
    ]
    return html_page.legend({"before": "before", "after": "after"}) + html_page.bars(
        rows, ("before", "after"), title, most=1
    )
