"""Steps of the methods for sets: items raised, groups split; groups around the farthest set are told in `grouping`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from keepsense.counts import Value
from keepsense.explain.step import alike
from keepsense.explain.story import Story, tells


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
