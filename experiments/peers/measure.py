"""What a released file is worth, whoever made it: every label is taken for the original values that it covers."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

from keepsense.hierarchies import Hierarchy
from keepsense.hierarchies.intervals import parse_interval

Row = tuple[str, ...]


def covered(label: str, values: list[str], tree: Hierarchy | None) -> set[str]:
    """Original values that a released label may stand for.

    >>> sorted(covered("20-29", ["19", "20", "25"], None)), sorted(covered("a;b", ["a", "b", "c"], None))
    (['20', '25'], ['a', 'b'])
    """
    if label in values:
        return {label}
    if tree is not None:
        below = {str(row[0]) for row in tree.rows() if label in map(str, row)}
        if below:
            return below & set(values)
    if label == "*":
        return set(values)
    for mark in ";,":
        parts = set(label.split(mark))
        if parts <= set(values):
            return parts
    ends = parse_interval(label, inside=True)
    if ends is None:
        raise ValueError(f"nothing is known about the label {label!r}")
    return {value for value in values if ends[0] <= float(value) <= ends[1]}


def figures(folder: Path, names: list[str], trees: dict[str, Hierarchy], k: int) -> dict[str, object]:
    """Smallest class, records left out, certainty penalty (records left out lose all), class sizes, discernibility."""
    with (folder / "table.csv").open(encoding="utf-8", newline="") as file:
        original = [tuple(row[name] for name in names) for row in csv.DictReader(file)]
    with (folder / "released.csv").open(encoding="utf-8", newline="") as file:
        released = [tuple(row[name] for name in names) for row in csv.DictReader(file)]
    stars = sum(set(row) == {"*"} for row in released)
    shown = [row for row in released if set(row) != {"*"}]
    classes = Counter(shown)
    hidden = len(original) - len(shown)
    penalty = 0.0
    for j, name in enumerate(names):
        values = sorted({row[j] for row in original})
        lost = {
            label: (len(covered(label, values, trees.get(name))) - 1) / max(1, len(values) - 1)
            for label in {row[j] for row in shown}
        }
        penalty += sum(lost[row[j]] for row in shown) + hidden
    return {
        "smallest class": min(classes.values(), default=0),
        "k holds": min(classes.values(), default=0) >= k,
        "left out": hidden,
        "starred": stars,
        "certainty penalty": round(penalty / (len(names) * len(original)), 4),
        "average class": round(len(shown) / max(1, len(classes)), 1),
        "discernibility": sum(n * n for n in classes.values()) + hidden * len(original),
    }
