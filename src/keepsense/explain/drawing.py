"""Steps of noise and of drawing by chance: the error or the chances of each row, and what its value becomes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from keepsense.counts import Value
from keepsense.explain.story import Story, tells
from keepsense.recoding import Draws

_SAME = 1e-9
_LIKELY = 2
"""Other values named beside a row's chance to keep its own."""
_REFERENCES = {"mean": "the mean", "root": "the root of the taxonomy", "partner": "the other column's value"}


@tells("moved")
def moved(story: Story, details: Mapping[str, Any]) -> None:
    """Every value of a column got an error, and was moved by it."""
    column, rows, errors = str(details["column"]), story.rows(details["source"]), details["errors"].tolist()
    typical = float(np.sqrt(np.mean(np.square(errors))))
    facts: dict[str, object] = {"typical error": typical}
    if "mean" in details:
        facts = {"semantic mean": details["mean"], "reference": _REFERENCES[details["reference"]], **facts}
    marks = {row: f"error {error:+.2f}" for row, error in zip(rows, errors, strict=True)}
    story.remark(f"Draw an error for each value of {column}", facts, marks, chosen=column, score=typical)
    values = [details["values"][int(code)] for code in details["codes"]]
    distances, farther = details["distances"], details.get("farther") or [None] * len(rows)
    for row, value, distance, change in zip(rows, values, distances, farther, strict=True):
        before, side = story.value(column, row), _side(change, details.get("reference"))
        marks[row] += ": stays" if str(value) == str(before) else f": was {before}, {distance:.2f} away{side}"
    story.put(column, rows, values)
    average = float(np.mean(distances))
    facts = {"moved on average": average, "as they were": sum(distance == 0 for distance in distances)}
    story.remark(f"Move each value of {column} by its error", facts, marks, chosen=column, score=average)


def _side(change: float | None, reference: str | None) -> str:
    if change is None:
        return ""
    side = "as far from" if abs(change) < _SAME else "farther from" if change > 0 else "nearer to"
    return f", {side} the {reference}"


@tells("drawn")
def drawn(story: Story, details: Mapping[str, Any]) -> None:
    """Every value of a column was redrawn by its row of a table of chances."""
    rule: Draws = details["rule"]
    column, rows = rule.name, story.rows(details["source"])
    chances = dict(zip(rule.inputs, rule.probabilities, strict=True))
    place = {value: i for i, value in enumerate(rule.outputs)}
    stay = [float(chances[value][place[value]]) for value in (story.value(column, row) for row in rows)]
    low, high = f"{min(stay):.2f}", f"{max(stay):.2f}"
    story.remark(
        f"Write down the chances of {column}",
        {"chance to stay": low if low == high else f"{low} to {high}"},
        {row: _chances(rule, story.value(column, row), chances[story.value(column, row)]) for row in rows},
        chosen=column,
        score=float(np.mean(stay)),
    )
    values = [rule.outputs[int(code)] for code in details["codes"]]
    marks, same = {}, 0
    for row, value in zip(rows, values, strict=True):
        before = story.value(column, row)
        chance = float(chances[before][place[value]])
        same += value == before
        marks[row] = f"{'stays' if value == before else f'was {before}'} (chance {chance:.2f})"
    story.put(column, rows, values)
    story.remark(f"Draw a new value of {column} for each row", {"as they were": same}, marks, chosen=column)


def _chances(rule: Draws, value: Value, chance: Any) -> str:
    likely = [i for i in np.argsort(-chance, kind="stable").tolist() if rule.outputs[i] != value][:_LIKELY]
    own = float(chance[list(rule.outputs).index(value)])
    return ", ".join([f"stays {own:.2f}", *(f"{rule.outputs[i]} {chance[i]:.2f}" for i in likely)])
