"""Steps of microaggregation and of methods for sets: groups formed, merged, split and replaced by their centre."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from keepsense.counts import Value
from keepsense.lessons.recorder import Story, alike, tells


@tells("records")
def records(story: Story, details: Mapping[str, Any]) -> None:
    """A method says which rows each of its records is: by distinct tuples, or for sets by what each row holds."""
    if "tuples" in details:
        rows = [story.rows_of([t]) for t in np.asarray(details["tuples"]).tolist()]
    else:
        order = np.argsort(story.tuple_of, kind="stable")
        rows = [
            order[np.flatnonzero(details["holds"] == record)].tolist() for record in range(details["holds"].max() + 1)
        ]
    story.heard["waiting"] = rows


@tells("group")
def group(story: Story, details: Mapping[str, Any]) -> None:
    """A group was made around the record farthest out, or of those that are left."""
    number, seed = len(set(story.group.values())), details["seed"]
    rows: list[int] = []
    for record, copies in zip(np.asarray(details["records"]).tolist(), details["copies"], strict=True):
        taken = _take(story, record, int(copies))
        rows = taken + rows if record == seed else rows + taken
    story.group |= dict.fromkeys(rows, number)
    if seed is None:
        title = f"Fewer than {2 * story.k} rows are left: they are the last group"
    else:
        title = f"Row {rows[0] + 1} is farthest from {details['far_from']}: group it with the {len(rows) - 1} nearest"
    _show(story, title, rows, details, farthest=seed is not None)


@tells("leftover")
def leftover(story: Story, details: Mapping[str, Any]) -> None:
    """A record too few for a group joined the nearest."""
    number = int(details["group"])
    for row in _take(story, int(details["record"]), len(story.table)):
        story.group[row] = number
        title = f"Row {row + 1} is left over: it joins group {number + 1}, the nearest"
        _show(story, title, [row], details)


@tells("merged")
def merged(story: Story, details: Mapping[str, Any]) -> None:
    """A group whose sensitive values are not spread as in the table was merged with the nearest."""
    left, into = int(details["group"]), int(details["into"])
    rows = [row for row, number in story.group.items() if number == left]
    story.group |= dict.fromkeys(rows, into)
    _show(story, f"Group {left + 1} is not close to the table: merge it with group {into + 1}", rows, {})


@tells("centred")
def centred(story: Story, details: Mapping[str, Any]) -> None:
    """Every row was replaced by the centre of its group."""
    numbers = {number: i for i, number in enumerate(sorted(set(story.group.values())))}
    groups = [numbers[story.group[row]] for row in range(len(story.table))]
    for column, values in details["released"].items():
        story.put(column, range(len(groups)), [story.shown(column, values[g]) for g in groups])
    story.heard["groups"] = story.groups
    facts = {"groups": len(numbers), "squared error": details.get("error"), **details.get("facts", {})}
    marks = [f"group {g + 1}" for g in groups]
    title = "Replace every row by the centre of its group"
    if story.lesson.sets:
        title = "Release for each group one set close to all of it"
    story.remark(title, facts, marks, groups=story.groups, score=details.get("error"))


@tells("neighbours")
def neighbours(story: Story, details: Mapping[str, Any]) -> None:
    """A column was sorted, cut into groups of k neighbours, and replaced by their centres."""
    column = str(details["column"])
    number = dict(zip(story.rows(details["source"]), details["group"].tolist(), strict=True))
    groups = [number[row] for row in range(len(story.table))]
    marks = [f"group {g + 1} of {column}" for g in groups]
    facts = {"groups": len(set(groups))}
    story.remark(f"Sort {column} and group {details['k']} neighbours", facts, marks, groups=groups, chosen=column)
    story.put(column, range(len(groups)), [details["released"][g] for g in groups])
    story.remark(f"Replace {column} by the centre of each group", {}, marks, groups=groups, chosen=column)


def _take(story: Story, record: int, copies: int) -> list[int]:
    waiting: list[list[int]] = story.heard["waiting"]
    taken, waiting[record] = waiting[record][:copies], waiting[record][copies:]
    return taken


def _show(story: Story, title: str, rows: list[int], details: Mapping[str, Any], *, farthest: bool = False) -> None:
    marks = {}
    for row, number in story.group.items():
        new = ", farthest" if farthest and row == rows[0] else ", new" if row in rows else ""
        marks[row] = f"group {number + 1}{new}"
    distance = details.get("distance")
    left = len(story.table) - len(story.group)
    facts = {"rows": len(rows), "distance of the last one taken": distance, "rows left": left}
    story.remark(title, facts, marks, groups=story.groups, score=distance)


# Methods for sets: items raised, groups split; groups around the farthest set are steps of microaggregation


@tells("mended")
def mended(story: Story, details: Mapping[str, Any]) -> None:
    """Items of a combination that too few rows hold were raised."""
    before = list(story.table)
    _hold(story, details["sets"])
    facts = {
        "rows that hold it": details["shared"],
        "cost": float(details["cost"]),
        "left as it is": _listed(details["left"]),
    }
    marks = ["" if old == new else "changed" for old, new in zip(before, story.table, strict=True)]
    title = f"{' and '.join(map(str, details['items']))}: too few. Raise to {_listed(details['raised'])}"
    story.remark(title, facts, marks, groups=alike(story.table), chosen=story.names[0], score=float(details["cost"]))


@tells("root")
def at_the_root(story: Story, details: Mapping[str, Any]) -> None:
    """All sets begin as one group, at the root."""
    _hold(story, details["sets"])
    story.group = dict.fromkeys(range(len(story.table)), 0)
    story.heard["groups"] = story.groups
    title = "Put all sets into one group, at the root"
    story.remark(title, {}, {}, groups=story.groups, chosen=story.names[0], safe=True)


@tells("split")
def split(story: Story, details: Mapping[str, Any]) -> None:
    """A group was split where most detail is won."""
    _hold(story, details["sets"])
    order = _order(story)
    touched = {int(row) for part in details["parts"] for row in order[part]}
    for part in details["parts"]:
        story.group |= dict.fromkeys(order[part].tolist(), max(story.group.values()) + 1)
    numbers = sorted(set(story.group.values()))
    story.heard["groups"] = story.groups
    groups = [numbers.index(story.group[row]) for row in range(len(story.table))]
    marks = [f"group {g + 1}" + (", split" if row in touched else "") for row, g in enumerate(groups)]
    sizes = " and ".join(str(len(part)) for part in details["parts"])
    facts = {"parts": f"{sizes} rows", "stay as they were": details["stay"] or None, "won by an item": details["won"]}
    title = f"Open {details['opened']} for a group of {len(touched)}"
    story.remark(title, facts, marks, groups=groups, chosen=story.names[0], score=details["won"], safe=True)


def _order(story: Story) -> Any:
    """The row of each set: methods are given the sets in the order of their distinct cells."""
    return np.argsort(story.tuple_of, kind="stable")


def _hold(story: Story, sets: Sequence[Sequence[Value]]) -> None:
    story.put(
        story.names[0], _order(story).tolist(), ["; ".join(sorted(map(str, items))) or "(nothing)" for items in sets]
    )


def _listed(labels: Sequence[Value]) -> str | None:
    return ", ".join(map(str, labels)) or None
