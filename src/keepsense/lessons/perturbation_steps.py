"""Steps of swapping, noise and redrawing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from keepsense.counts import Value
from keepsense.lessons.recorder import Story, tells
from keepsense.recoding import Draws


@tells("ranked")
def ranked(story: Story, details: Mapping[str, Any]) -> None:
    """A column was ranked, and ranks near each other changed places."""
    column, row_of, away = str(details["column"]), story.rows(details["source"]), details["away"]
    marks = {row: f"rank {i + 1}" + ("" if away is None else f", {away[i]:.2f} away") for i, row in enumerate(row_of)}
    title = f"Rank {column} from low to high"
    if away is not None:
        title = f"Rank {column} by distance from {details['start']}, the value farthest from all others"
    story.remark(title, {"k": story.k}, marks, chosen=column)
    for i, j in enumerate(details["partners"]):
        if i < j:
            pair = [row_of[i], row_of[j]]
            low, high = (story.value(column, row) for row in pair)
            story.put(column, pair, [high, low])
            distance = details["distances"][i]
            story.remark(
                f"Ranks {i + 1} and {j + 1} of {column} change places: {low} and {high}",
                {"distance": distance},
                marks | {row: f"{marks[row]}, swapped" for row in pair},
                groups=_together(story, pair),
                chosen=column,
                score=distance,
            )
    alone = [row_of[i] for i, j in enumerate(details["partners"]) if i == j]
    if alone:
        title = f"Nobody is left for {len(alone)} row(s) of {column}: they stay as they are"
        story.remark(title, {}, marks | {row: f"{marks[row]}, stays" for row in alone}, chosen=column)


@tells("exchange")
def exchanged(story: Story, details: Mapping[str, Any]) -> None:
    """A reference changed places with rows near it, in one column or in each of several."""
    rows, columns = story.rows(details["source"]), details["columns"]
    reference, near = rows[details["reference"]], {rows[record] for record in details["near"]}
    done: set[int] = story.heard.setdefault("done", set())
    if details["first"]:
        done.clear()
    marks = dict.fromkeys(near, "near") | dict.fromkeys(done - near, "done") | {reference: "reference"}
    events = []
    for column in columns:
        if column not in details["partners"]:
            events.append(f"{column} was swapped before")
        elif details["partners"][column] is None:
            events.append(f"{column} stays, all near are swapped")
        else:
            partner = rows[details["partners"][column]]
            own, other = story.value(column, reference), story.value(column, partner)
            story.put(column, [reference, partner], [other, own])
            single = len(columns) == 1
            events.append(f"{own} and {other} change places" if single else f"{column} with row {partner + 1}")
            marks[partner] = f"near, gets {own}" if single else "near, swapped"
            done |= {partner} if single else set()
    done.add(reference)
    story.remark(
        f"Reference row {reference + 1}: {'; '.join(events)}",
        {
            "reference": f"the one farthest from {'all others' if details['first'] else 'the last'}",
            "nearest rows": len(near),
            "distance": details["distance"],
        },
        marks,
        groups=_together(story, [reference, *near]),
        chosen=columns[0] if len(columns) == 1 else None,
        score=details["distance"],
    )


@tells("permuted")
def permuted(story: Story, details: Mapping[str, Any]) -> None:
    """A column, or all together, was cut into groups of near rows and permuted inside each."""
    columns = list(details["released"])
    chosen = columns[0] if len(columns) == 1 else None
    what = "the rows" if chosen is None else f"the values of {chosen}"
    rows, numbers = story.rows(details["source"]), details["group"]
    number = dict(zip(rows, numbers, strict=True))
    for g, widest in enumerate(details["widest"]):
        mine = sorted(row for row in rows if number[row] == g)
        held = ", ".join(" / ".join(str(story.value(column, row)) for column in columns) for row in mine)
        story.group = {row: n for row, n in number.items() if n <= g}
        marks = {row: f"group {n + 1}" for row, n in story.group.items()}
        facts = {"rows": len(mine), "spread": widest}
        title = f"Group {g + 1} of {what}: {held}"
        story.remark(title, facts, marks, groups=story.groups, chosen=chosen, score=widest)
    for column, values in details["released"].items():
        story.put(column, rows, values)
    chance = f"at most 1/{min(numbers.count(g) for g in numbers)}"
    facts = {"chance that a value belongs to a given row": chance}
    story.remark(f"Permute {what} inside each group", facts, marks, groups=story.groups, chosen=chosen)


def _together(story: Story, rows: list[int]) -> list[int]:
    """Groups in which some rows are one and all others stand alone."""
    return [rows[0] if row in rows else row for row in range(len(story.table))]


# Noise and redrawing: the error or the chances of each row, and its new value

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
