"""Section: the verdict, warnings, changes, time, the data dictionary, and how to reproduce the release."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html import escape
from typing import Any

from keepsense.hierarchies.intervals import spelled
from keepsense.metrics import figure, number, percent
from keepsense.privacy.privacy_model import PRIVACY
from keepsense.report import html_page
from keepsense.report.report_subject import Subject

_METHODS: dict[bool, str] = {
    True: "Values were made less exact, never false: every released value is true of its record.",
    False: "Values were changed: a released value need not be the one of its record. The figures below tell what "
    "that did to the table as a whole.",
}
"""What a method does to values, by whether it keeps them true."""


def summary(subject: Subject) -> str:
    """The verdict, the promises in plain words with what was reached, and the figures people look for first.

    >>> from keepsense.release.example import example_release
    >>> from keepsense.report.report_subject import Subject
    >>> "Verified: every promise below holds" in summary(Subject(example_release()))
    True
    """
    check, description = subject.outcome.verification, subject.told
    reached = [_reached(checked.promise, checked.worst) for checked in check.checks]
    reached += [""] * (len(description["in words"]) - len(reached))
    promised = "".join(
        f"<li>{escape(words)}{escape(also)}</li>" for words, also in zip(description["in words"], reached, strict=False)
    )
    verdict = "Verified: every promise below holds for the released file." if check.ok else "Not verified."
    risk, lost = description["risk"].get("after", {}), description["utility"]
    items = [(number(check.records), "records released")]
    if subject.about_classes:
        items.append((number(check.classes), "classes of records that look alike"))
    items.append((number(description.get("suppressed records", check.suppressed)), "records suppressed"))
    if "prosecutor, highest" in risk and subject.about_classes:
        items.append((percent(risk["prosecutor, highest"]), "highest risk of any person to be recognized"))
    elif not subject.public and "after" in subject.measured.linkage:
        items.append((percent(subject.measured.linkage["after"].risk), "of records linked rightly by their values"))
    for name in ("loss", "mean distance"):
        if name in lost:
            items.append(
                (percent(lost[name]), figure(name, lost[name]).label + (" on average" if name == "loss" else ""))
            )
    kind = "verdict" if check.ok else "verdict no"
    return (
        f'<div class="{kind}"><b>{verdict}</b><ul>{promised}</ul></div>{html_page.figures(items)}'
        + html_page.paragraph(_METHODS[subject.truthful] + _but_for_sets(subject))
    )


def _but_for_sets(subject: Subject) -> str:
    """What differs for set-valued columns, where a method of their own makes new sets."""
    from keepsense.release.job.sets import method_for_sets

    names = subject.job.set_columns
    if not subject.truthful or not names or method_for_sets(subject.job).truthful:
        return ""
    return f" Only the sets of {', '.join(names)} are new ones, close in meaning to what people of a class have."


def _reached(promise: object, worst: float | None) -> str:
    name = str(promise.get("model", "")) if isinstance(promise, dict) or hasattr(promise, "get") else ""
    what = PRIVACY[name].model.decided_by if name in PRIVACY else ""
    return f" ({what}: {number(float(worst))})" if what and worst is not None else ""


def warnings(subject: Subject) -> str:
    """What the publisher should look at, column by column.

    >>> from keepsense.release.example import example_release
    >>> from keepsense.report.report_subject import Subject
    >>> "nothing is promised about these sensitive columns" in warnings(Subject(example_release()))
    True
    """
    groups: dict[str, list[str]] = {}
    for finding in subject.outcome.findings:
        if not finding.is_error:
            text = f"{_with_commands(finding.message)} <small>({escape(finding.code)})</small>"
            groups.setdefault(finding.where, []).append(text)
    return "".join(
        f'<div class="warn"><b>{escape(where)}</b>' + "".join(f"<p>{text}</p>" for text in texts) + "</div>"
        for where, texts in groups.items()
    )


def _with_commands(message: str) -> str:
    """A message as HTML, what stands in backticks as code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(message))


# ---- how it was made -------------------------------------------------------------------------------------------------


def again(subject: Subject) -> str:
    """Method, parameters, promises, and the commands that make and check the release.

    >>> from keepsense.release.example import example_release
    >>> from keepsense.report.report_subject import Subject
    >>> "keepsense run keepsense.toml --report" in again(Subject(example_release()))
    True
    """
    description = subject.told
    method = description["method"]
    parameters = ", ".join(f"{key} = {value}" for key, value in method["parameters"].items()) or "the defaults"
    rows = [
        ["method", str(method["name"])],
        ["parameters", parameters],
        ["promises", "; ".join(_promise(promise) for promise in description["promises"])],
        ["may be suppressed", percent(float(description.get("suppression limit", 0.0)))],
        ["Keepsense", str(description["keepsense"])],
    ]
    for done in description.get("steps", [])[::-1]:
        where = f" on {', '.join(done['columns'])}" if done["columns"] else ""
        chosen = ", ".join(f"{key} = {value}" for key, value in done["parameters"].items())
        lost = ", ".join(f"{name} lost {percent(share)}" for name, share in done.get("lost", {}).items())
        outcome = f"{done['name']}{where} ({chosen or 'the defaults'}): {number(done['rows'])} rows"
        rows.insert(0, ["step before the method", f"{outcome}{f', {lost}' if lost else ''}"])
    for rule in subject.outcome.recodings if not subject.public else ():
        if isinstance(gap := rule.info.get("gap"), float):
            cost, least = rule.info["cost"], rule.info["cost at least"]
            rows.append(
                ["suppressed cells", f"cost {cost:g}, and at least {least:g} by any method (gap {percent(gap)})"]
            )
    if "sets" in method:
        rows.insert(rows.index(["parameters", parameters]) + 1, ["method for sets", str(method["sets"]["name"])])
    name = subject.outcome.name
    return (
        html_page.table(["setting", "value"], rows, words=(0, 1))
        + html_page.paragraph(
            "Run the project file again. A method that draws at random gives another release each time, unless it is "
            "given the same seed, which is the publisher's secret and stands nowhere in the release."
        )
        + "<pre>keepsense run keepsense.toml --report</pre>"
        + html_page.paragraph("Check the released file by itself, or write this report again:")
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

    >>> from keepsense.release.example import example_release
    >>> from keepsense.report.report_subject import Subject
    >>> "1 column removed altogether." in changes(Subject(example_release()))
    True
    """
    rows: list[list[str]] = []
    flagged: list[int] = []
    for name in subject.columns:
        lost = subject.told["columns"].get(name, {}).get("lost")
        after = subject.values_released(name)
        before = "" if subject.public else number(len(subject.marginal(subject.before, name)))
        told = "" if lost is None else percent(lost)
        if "flag" in subject.told["columns"].get(name, {}):
            flagged.append(len(rows))
            told += "\nnearly all is lost" + ("" if subject.public else ": see its section below for what would help")
        rows.append([name, *([] if subject.public else [before]), number(after), told])
    header = ["column", *([] if subject.public else ["values before"]), "values released", "certainty lost"]
    if not any(row[-1] for row in rows):
        rows, header = [row[:-1] for row in rows], header[:-1]
    removed = int(subject.told.get("removed columns", 0))
    gone = f"{removed} column{'' if removed == 1 else 's'} removed altogether." if removed else ""
    return (
        html_page.table(header, rows, marked=flagged)
        + _as_they_are(subject)
        + (html_page.paragraph(gone, "note") if gone else "")
    )


def _as_they_are(subject: Subject) -> str:
    """Columns that no method changed: how many people each points at by itself, and which hidden values it tells."""
    rows = []
    for name, column in subject.told["columns"].items():
        if "found by it alone" not in column:
            continue
        told = ", ".join(f"{percent(share)} of {other}" for other, share in column.get("tells", {}).items())
        coarse = f"in bands of {column['width']:g}" if "width" in column else ""
        coarse = f"level {column['level']} of its hierarchy" if "level" in column else coarse
        rows.append([name, coarse or "as it was", percent(column["found by it alone"]), told])
    if not rows:
        return ""
    header = ["column", "released", "people found by it alone", "hidden values it tells"]
    if not any(row[-1] for row in rows):
        rows, header = [row[:-1] for row in rows], header[:-1]
    return "<h3>Columns that no method changed</h3>" + html_page.table(header, rows, words=(0, 1, 3))


# The data dictionary

_SHOWN = 12
"""Labels of a column that are shown; release.json holds all."""


def dictionary(subject: Subject) -> str:
    """Every released column with what was done, and the meaning of its labels and marks.

    >>> from keepsense.release.example import example_release
    >>> "from 30 to 39" in dictionary(Subject(example_release(), public=True))
    True
    """
    told: Mapping[str, Mapping[str, Any]] = subject.told.get("dictionary", {})
    if not told:
        return ""
    rows = [[name, about["role"], about["kind"], about["done"]] for name, about in told.items()]
    parts = [html_page.table(["column", "role", "kind", "what was done"], rows, words=(0, 1, 2, 3))]
    for name, about in told.items():
        meanings = [[mark or "(empty)", text] for mark, text in about.get("marks", {}).items()]
        labels = about.get("labels", {})
        meanings += [[label, text] for label, entry in list(labels.items())[:_SHOWN] if (text := _meaning(entry))]
        if about.get("truth"):
            meanings.append(["(any value)", about["truth"]])
        if not meanings:
            continue
        parts.append(f"<h3>{escape(name)}</h3>{html_page.table(['cell', 'what it means'], meanings, words=(0, 1))}")
        if len(labels) > _SHOWN:
            parts.append(html_page.paragraph(f"and {len(labels) - _SHOWN:,} more labels, in release.json", "note"))
    return "".join(parts)


def _meaning(entry: Mapping[str, Any]) -> str:
    if "lower" in entry:
        lower, upper = (_end(entry[key]) for key in ("lower", "upper"))
        return f"from {lower} to {upper}" if lower and upper else f"{lower} or more" if lower else f"up to {upper}"
    texts = [entry["meaning"]] if "meaning" in entry else []
    if entry.get("stands for"):
        texts.append(f"stands for {', '.join(entry['stands for'])}{' and others' if entry.get('and others') else ''}")
    return "; ".join(texts)


def _end(end: float | str | None) -> str:
    return "" if end is None else end if isinstance(end, str) else spelled(end)
