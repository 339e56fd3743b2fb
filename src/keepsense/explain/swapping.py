"""Steps of swapping: the order of the values, the rows near a reference, and who changes places with whom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepsense.explain.story import Story, tells


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
