"""Whether a released cell is true of the cell it stands for: plain readings of labels, nothing of the package.

A `Knowledge` says what a column is; `covers` whether a label holds a value. What cannot be read is not true.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date

_NUMBER = r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
_RANGE = re.compile(rf"(?:from )?({_NUMBER}) to (under )?({_NUMBER})")
_BELOW = re.compile(rf"(?:under ({_NUMBER})|({_NUMBER}) or less)")
_ABOVE = re.compile(rf"(?:(?:at least )({_NUMBER})|({_NUMBER}) or more)")


@dataclass(frozen=True)
class Knowledge:
    """What is known of a column: its kind, and the values in order, or what stands above each of them."""

    kind: str = "nominal"
    order: tuple[str, ...] = ()
    above: dict[str, set[str]] = field(default_factory=dict)


def plain(cell) -> str | None:
    """A cell as text, alike in all formats: nothing for an empty one, a number in one spelling."""
    if cell is None:
        return None
    if isinstance(cell, bool):
        return str(cell)
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    text = str(cell)
    if re.fullmatch(r"\d{4}-\d\d-\d\d 00:00:00", text):
        text = text[:10]
    text = text[1:] if text.startswith("'-") else text  # what keeps a spreadsheet from running it
    return text or None


def covers(label: str | None, value: str | None, known: Knowledge) -> bool:
    """Whether a released label is true of a value."""
    if label == value or label == "*":
        return True
    if value is None or label is None:
        return False
    if known.kind == "numeric":
        return _number_in(label, float(value))
    if known.kind == "date":
        return _date_in(label, value)
    if known.kind == "code":
        return len(label) >= len(value) and all(
            a in (b, "*") for a, b in zip(label, value.ljust(len(label)), strict=True)
        )
    if known.kind == "ordinal" and " to " in label:
        first, _, last = label.partition(" to ")
        place = {name: i for i, name in enumerate(known.order)}
        return first in place and last in place and place[first] <= place[value] <= place[last]
    parts = [part for part in re.split(r", | or | and |;|/", label.strip("{}")) if part]
    return any(part == value or part in known.above.get(value, ()) for part in [label, *parts])


def covers_set(items: tuple[str, ...], value: str, known: Knowledge) -> bool:
    """Whether every released item is true of one that was there; a set of nothing tells nothing."""
    return all(not item or any(covers(item, there, known) for there in value.split(";")) for item in items)


def _number_in(label: str, number: float) -> bool:
    if hit := _RANGE.fullmatch(label):
        low, high = float(hit[1]), float(hit[3])
        return low <= number < high if hit[2] else low <= number <= high
    if hit := _BELOW.fullmatch(label):
        return number < float(hit[1]) if hit[1] else number <= float(hit[2])
    if hit := _ABOVE.fullmatch(label):
        return number >= float(hit[1] or hit[2])
    return re.fullmatch(_NUMBER, label) is not None and float(label) == number


def _date_in(label: str, value: str) -> bool:
    day = date.fromisoformat(value[:10])
    if hit := re.fullmatch(r"(\d{4})(?:s| or later)|before (\d{4})", label):
        if hit[2]:
            return day.year < int(hit[2])
        return day.year >= int(hit[1]) if label.endswith("later") else day.year // 10 * 10 == int(hit[1])
    if hit := re.fullmatch(r"(\d{4}) Q(\d)", label):
        return (day.year, (day.month + 2) // 3) == (int(hit[1]), int(hit[2]))
    if hit := re.fullmatch(r"(\d{4})-W(\d\d)", label):
        return day.isocalendar()[:2] == (int(hit[1]), int(hit[2]))
    if " to " in label:
        first, _, last = label.partition(" to ")
        return first <= value[: len(first)] and value[: len(last)] <= last
    return re.fullmatch(r"\d{4}(-\d\d){0,2}", label) is not None and value.startswith(label)
