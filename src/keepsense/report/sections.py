"""What a report says about the whole release: the verdict, risk, usefulness, classes, time, how to reproduce it."""

from __future__ import annotations

import json
from html import escape
from itertools import pairwise

from keepsense.publish.figures import Association, within_classes
from keepsense.report import charts, page
from keepsense.report.charts import Row, number, percent
from keepsense.report.subject import Subject
from keepsense.report.words import METHODS, measure_words, risk_words

_EDGES = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000, 10**15)


def summary(subject: Subject) -> str:
    """The verdict, the promises in plain words with what was reached, and the figures people look for first.

    >>> from keepsense.publish.example import example_release
    >>> from keepsense.report.subject import Subject
    >>> "Verified: every promise below holds" in summary(Subject(example_release()))
    True
    """
    check, told = subject.outcome.verification, subject.told
    reached = [_reached(one.promise, one.worst) for one in check.checks]
    reached += [""] * (len(told["in words"]) - len(reached))
    promised = "".join(
        f"<li>{escape(words)}{escape(also)}</li>" for words, also in zip(told["in words"], reached, strict=False)
    )
    verdict = "Verified: every promise below holds for the released file." if check.ok else "Not verified."
    risk, lost = told["risk"].get("after", {}), told["utility"]
    items = [(number(check.records), "records released")]
    if _about_classes(subject):
        items.append((number(check.classes), "classes of records that look alike"))
    items.append((number(told.get("suppressed records", check.suppressed)), "records suppressed"))
    if "prosecutor, highest" in risk and _about_classes(subject):
        items.append((percent(risk["prosecutor, highest"]), "highest risk of any person to be recognized"))
    elif not subject.public and "after" in subject.details.linkage:
        items.append((percent(subject.details.linkage["after"].risk), "of records linked rightly by their values"))
    for name in ("loss", "mean distance"):
        if name in lost:
            items.append((percent(lost[name]), measure_words(name)[0] + (" on average" if name == "loss" else "")))
    kind = "verdict" if check.ok else "verdict no"
    return f'<div class="{kind}"><b>{verdict}</b><ul>{promised}</ul></div>{page.figures(items)}' + page.paragraph(
        METHODS[subject.truthful] + _but_for_sets(subject)
    )


def _but_for_sets(subject: Subject) -> str:
    """What differs for set-valued columns, where a method of their own makes new sets."""
    from keepsense.publish.set_methods import method_for_sets

    names = subject.plan.set_columns
    if not subject.truthful or not names or method_for_sets(subject.plan).truthful:
        return ""
    return f" Only the sets of {', '.join(names)} are new ones, close in meaning to what people of a class have."


def _reached(promise: object, worst: float | None) -> str:
    name = str(promise.get("model", "")) if isinstance(promise, dict) or hasattr(promise, "get") else ""
    if worst is None or not name:
        return ""
    what = {"k-anonymity": "smallest class", "l-diversity": "fewest", "t-closeness": "greatest"}.get(name)
    return "" if what is None else f" ({what}: {number(float(worst))})"


def _about_classes(subject: Subject) -> bool:
    """Whether classes protect people here: they do not where values were changed and no size of classes is promised."""
    return subject.truthful or any(int(m.promise().get("k", 0)) > 1 for m in subject.plan.models if "k" in m.promise())


def warnings(subject: Subject) -> str:
    """What the publisher should look at.

    >>> from keepsense.publish.example import example_release
    >>> from keepsense.report.subject import Subject
    >>> "nothing is promised about these sensitive columns" in warnings(Subject(example_release()))
    True
    """
    seen = [f for f in subject.outcome.findings if not f.is_error]
    return "".join(
        f'<p class="warn"><b>{escape(f.where)}:</b> {escape(f.message)} <small>({escape(f.code)})</small></p>'
        for f in seen
    )


# ---- risk ------------------------------------------------------------------------------------------------------------


def risk(subject: Subject) -> str:
    """Risk of re-identification before and after, by classes and by linkage.

    >>> from keepsense.publish.example import example_release
    >>> from keepsense.report.subject import Subject
    >>> ["Linkage by meaning" in risk(Subject(example_release(), public)) for public in (False, True)]
    [True, False]
    """
    told = subject.told["risk"]
    before, after = told.get("before", {}), told.get("after", {})
    rows = [_risk_row(name, before[name], after[name]) for name in before if name in after]
    key = charts.legend({"before": "before", "after": "after"})
    text = (
        "How likely is it that somebody who knows a person's values in the columns below finds that person's record? "
        "Before: in the original table. After: in the release. The lower the better; 100% means certainty."
    )
    parts = [page.paragraph(text)]
    if not _about_classes(subject):
        parts.append(
            page.paragraph(
                "This method changes values, so a record that is one of a kind in the release need not belong to the "
                "person it looks like: the figures by class say little here, and linkage is what counts."
            )
        )
    linked = "" if subject.public else _linkage(subject)
    classes = key + charts.bars(rows, ("before", "after"), "Risk before and after", most=1.0) if rows else ""
    if not _about_classes(subject):
        parts += [linked, f"<details><summary>Figures by class</summary>{classes}</details>"]
    else:
        parts += [classes, linked]
    return "".join(parts)


def _risk_row(name: str, before: float, after: float) -> Row:
    label, meaning = risk_words(name)
    return Row(label, (float(before), float(after)), (percent(before), percent(after)), meaning)


def _linkage(subject: Subject) -> str:
    """Linkage by distances of values, and by known items of sets."""
    found = subject.details.linkage
    parts = []
    if "before" in found and "after" in found:
        then, now = found["before"], found["after"]
        rows = [
            Row(
                "records linked rightly",
                (then.risk, now.risk),
                (percent(then.risk), percent(now.risk)),
                "the nearest original record is taken; of equally near ones, one by chance",
            ),
            Row(
                "own record among the nearest",
                (then.linked, now.linked),
                (percent(then.linked), percent(now.linked)),
                f"{number(round(now.group, 1))} records are equally near on average after, "
                f"{number(round(then.group, 1))} before",
            ),
        ]
        parts.append(
            "<h3>Linkage by meaning</h3>"
            + page.paragraph(
                "Somebody who has the original values compares each released record with them, words by what they "
                "mean and numbers by how far apart they are, and takes the nearest."
            )
            + charts.legend({"before": "before", "after": "after"})
            + charts.bars(rows, ("before", "after"), "Linkage before and after", most=1.0)
        )
    for one in subject.details.sets:
        if one.risk:
            rows = [
                Row(
                    f"{m} item{'s' if m > 1 else ''} of {one.column} known",
                    (was, is_),
                    (percent(was), percent(is_)),
                    "" if m > 1 else "chance to find the record of somebody of whom so much is known",
                )
                for m, was, is_ in one.risk
            ]
            drawn = charts.bars(rows, ("before", "after"), "Risk by known items", most=1.0)
            parts.append(
                f"<h3>By known items of {escape(one.column)}</h3>"
                + charts.legend({"before": "before", "after": "after"})
                + drawn
            )
    return "".join(parts) + _notes(subject, "risk")


def _notes(subject: Subject, about: str) -> str:
    return "".join(page.paragraph(note.text, "note") for note in subject.details.notes if note.about == about)


# ---- usefulness ------------------------------------------------------------------------------------------------------


def utility(subject: Subject) -> str:
    """What was lost, by every measure that applies; in public those of the description.

    >>> from keepsense.publish.example import example_release
    >>> from keepsense.report.subject import Subject
    >>> "measure" in utility(Subject(example_release()))
    True
    """
    found = dict(subject.told["utility"])
    if not subject.public:
        found |= {name: value for name, value in subject.details.utility.items() if name not in found}
        for one in subject.details.sets:
            if one.loss is not None and one.item_error is not None and one.pair_error is not None:
                found[f"sets, meaning, {one.column}"] = one.loss
                found[f"sets, items, {one.column}"] = one.item_error
                found[f"sets, pairs, {one.column}"] = one.pair_error
    if not found:
        return ""
    rows = []
    for name, value in found.items():
        label, meaning, share = measure_words(name)
        rows.append([f"{label}\n{meaning}" if meaning else label, percent(value) if share else number(value)])
    text = "What readers of the release lose compared with the original. No single figure tells it all."
    moved = _moved(subject)
    return (
        page.paragraph(text)
        + page.table(["measure", "value"], rows)
        + moved
        + ("" if subject.public else _notes(subject, "utility"))
    )


def _moved(subject: Subject) -> str:
    """By column: how many cells hold another value, and how far values moved."""
    if subject.public or not subject.details.columns:
        return ""
    rows = [
        [name, percent(one["changed"]), percent(one["distance"]) if "distance" in one else ""]
        for name, one in subject.details.columns.items()
    ]
    header = ["column", "cells changed", "mean distance moved"]
    if not any(row[-1] for row in rows):
        rows, header = [row[:-1] for row in rows], header[:-1]
    return "<h3>By column</h3>" + page.table(header, rows)


def association(subject: Subject) -> str:
    """How well the release keeps which values go together.

    >>> from keepsense.publish.example import example_release
    >>> from keepsense.report.subject import Subject
    >>> "age × job" in association(Subject(example_release()))
    True
    """
    found = subject.details
    parts = []
    if found.dependence:
        parts.append(
            page.paragraph(
                "Which columns go together, by meaning: 0 where one tells nothing about the other, 1 where it tells "
                "all (distance correlation of numbers and of the meanings of words). Bars of equal length mean that "
                "a reader finds the same connections as in the original."
            )
            + _pairs(found.dependence, "Distance correlation before and after")
        )
    if found.associations:
        text = (
            "The same by equality of values alone, without meaning (Cramér's V). Merging values can make it larger "
            "or smaller."
        )
        parts.append(
            f"<details><summary>By equality of values</summary>{page.paragraph(text)}"
            f"{_pairs(found.associations, 'Association before and after')}</details>"
        )
    return "".join(parts) + (_notes(subject, "together") if parts else "")


def _pairs(pairs: tuple[Association, ...], title: str) -> str:
    rows = [
        Row(f"{one.first} × {one.second}", (one.before, one.after), (f"{one.before:.2f}", f"{one.after:.2f}"))
        for one in pairs
    ]
    return charts.legend({"before": "before", "after": "after"}) + charts.bars(rows, ("before", "after"), title, most=1)


# ---- classes ---------------------------------------------------------------------------------------------------------


def classes(subject: Subject) -> str:
    """How large the equivalence classes are.

    >>> from keepsense.publish.example import example_release
    >>> from keepsense.report.subject import Subject
    >>> "20 in 4 classes" in classes(Subject(example_release()))
    True
    """
    if not _about_classes(subject):
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

    >>> from keepsense.publish.example import example_release
    >>> from keepsense.report.subject import Subject
    >>> "<h3>illness</h3>" in sensitive(Subject(example_release()))
    True
    """
    parts = []
    for name, found in subject.after.histograms.items() if _about_classes(subject) else ():
        whole = dict(zip(found.values, found.total().tolist(), strict=True))
        seen = within_classes(found, subject.shown, whole)
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


# ---- how it was made -------------------------------------------------------------------------------------------------


def timing(subject: Subject) -> str:
    """Seconds by step.

    >>> from keepsense.publish.example import example_release
    >>> from keepsense.report.subject import Subject
    >>> "verify" in timing(Subject(example_release()))
    True
    """
    spent = subject.outcome.seconds
    if not spent:
        return ""
    rows = [Row(step, (seconds,), (f"{seconds:.2f} s",)) for step, seconds in spent.items()]
    text = f"The release took {sum(spent.values()):.1f} seconds in all."
    return page.paragraph(text) + charts.bars(rows, ("after",), "Seconds by step")


def again(subject: Subject) -> str:
    """Method, parameters, promises, and the commands that make and check the release.

    >>> from keepsense.publish.example import example_release
    >>> from keepsense.report.subject import Subject
    >>> "keepsense run keepsense.toml --report" in again(Subject(example_release()))
    True
    """
    told = subject.told
    method = told["method"]
    parameters = ", ".join(f"{key} = {value}" for key, value in method["parameters"].items()) or "the defaults"
    rows = [
        ["method", str(method["name"])],
        ["parameters", parameters],
        ["promises", "; ".join(_promise(promise) for promise in told["promises"])],
        ["may be suppressed", percent(float(told.get("suppression limit", 0.0)))],
        ["Keepsense", str(told["keepsense"])],
    ]
    if "sets" in method:
        rows.insert(2, ["method for sets", str(method["sets"]["name"])])
    name = subject.outcome.name
    return (
        page.table(["setting", "value"], rows, words=(0, 1))
        + page.paragraph(
            "Run the project file again. A method that draws at random gives another release each time, unless it is "
            "given the same seed, which is the publisher's secret and stands nowhere in the release."
        )
        + "<pre>keepsense run keepsense.toml --report</pre>"
        + page.paragraph("Check the released file by itself, or write this report again:")
        + f"<pre>keepsense verify release/{escape(name)} --project keepsense.toml\n"
        + "keepsense report keepsense.toml</pre>"
    )


def _promise(promise: dict[str, object]) -> str:
    rest = {k: v for k, v in promise.items() if k not in ("model", "about") and isinstance(v, str | int | float)}
    listed = ", ".join(
        f"{key} = {value if isinstance(value, str) else json.dumps(value)}" for key, value in rest.items()
    )
    return f"{promise['model']} ({listed})" if listed else str(promise["model"])


def changes(subject: Subject) -> str:
    """What became of each column at a glance: values before and after, and the share of certainty lost.

    >>> from keepsense.publish.example import example_release
    >>> from keepsense.report.subject import Subject
    >>> "1 column removed altogether." in changes(Subject(example_release()))
    True
    """
    rows = []
    for name in subject.columns:
        lost = subject.told["columns"].get(name, {}).get("lost")
        after = subject.values_released(name)
        before = "" if subject.public else number(len(subject.marginal(subject.before, name)))
        rows.append([name, *([] if subject.public else [before]), number(after), "" if lost is None else percent(lost)])
    header = ["column", *([] if subject.public else ["values before"]), "values released", "certainty lost"]
    if not any(row[-1] for row in rows):
        rows, header = [row[:-1] for row in rows], header[:-1]
    removed = int(subject.told.get("removed columns", 0))
    gone = f"{removed} column{'' if removed == 1 else 's'} removed altogether." if removed else ""
    return page.table(header, rows) + (page.paragraph(gone, "note") if gone else "")
