"""What a released file is worth, whoever made it: every label is taken for the original values that it covers."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from keepsense.hierarchies.hierarchy import Hierarchy
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


Apart = NDArray[np.float64]


def apart_in_tree(values: list[str], tree: Hierarchy) -> Apart:
    """Share of the other values under the lowest label that two values have in common.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")])
    >>> apart_in_tree(["clerk", "nurse", "surgeon"], jobs).tolist()
    [[0.0, 1.0, 1.0], [1.0, 0.0, 0.5], [1.0, 0.5, 0.0]]
    """
    row = {str(leaf): i for i, leaf in enumerate(tree.leaves)}
    codes = tree.codes[[row[value] for value in values]]
    found = np.ones((len(values), len(values)))
    for level in range(tree.height, -1, -1):
        same = codes[:, level][:, None] == codes[:, level][None, :]
        under = same.sum(axis=1) - 1
        found = np.where(same, under[:, None] / max(1, len(values) - 1), found)
    return found


def apart_on_line(values: list[str]) -> Apart:
    """Difference of two numbers over the range of all."""
    numbers = np.array([float(value) for value in values])
    apart: Apart = np.abs(numbers[:, None] - numbers[None, :]) / max(1e-12, float(np.ptp(numbers)))
    return apart


@dataclass(frozen=True, eq=False)
class Domain:
    """The values of a column with their rows, what its labels may stand for, and how far values are apart.

    `near` measures numbers along their line and words in the tree of the column; `meaning` is the semantic distance of
    words, where the column has a taxonomy.
    """

    values: list[str]
    rows: NDArray[np.int64]
    tree: Hierarchy | None
    near: Apart
    meaning: Apart | None

    @classmethod
    def of(cls, name: str, cells: Sequence[str], tree: Hierarchy, folder: Path, numbers: Sequence[str]) -> Domain:
        """From the cells of the original table."""
        held = Counter(cells)
        values = sorted(held)
        near = apart_on_line(values) if name in numbers else apart_in_tree(values, tree)
        stored = folder / f"{name}.meaning.npz"
        meaning = None
        if stored.exists():
            with np.load(stored) as found:
                place = {str(value): i for i, value in enumerate(found["values"])}
                which = [place[value] for value in values]
                meaning = found["apart"][np.ix_(which, which)]
        return cls(values, np.array([held[value] for value in values]), tree, near, meaning)

    def lost(self, label: str) -> tuple[float, float, float, float]:
        """What a label loses: certainty penalty, bits, nearness, meaning.

        Of the values that the label covers, taken as often as they occur: the share of the others, the entropy, and how
        far two of them drawn at random are apart.
        """
        place = {value: i for i, value in enumerate(self.values)}
        inside = np.array(sorted(place[value] for value in covered(label, self.values, self.tree)))
        share = self.rows[inside] / self.rows[inside].sum()
        bits = float(-(share * np.log2(share)).sum())
        near, meaning = (
            float("nan") if table is None else float(share @ table[np.ix_(inside, inside)] @ share)
            for table in (self.near, self.meaning)
        )
        return (len(inside) - 1) / max(1, len(self.values) - 1), bits, near, meaning


MEASURES = ("certainty penalty", "bits lost", "values apart", "meaning apart")


def figures(folder: Path, names: list[str], trees: dict[str, Hierarchy], k: int) -> dict[str, object]:
    """Smallest class, records left out, four losses (a record left out may be anything), class sizes, "
    "discernibility."""
    numbers = json.loads((folder / "job.json").read_text(encoding="utf-8"))["numbers"]
    with (folder / "table.csv").open(encoding="utf-8", newline="") as file:
        original = [tuple(row[name] for name in names) for row in csv.DictReader(file)]
    with (folder / "released.csv").open(encoding="utf-8", newline="") as file:
        released = [tuple(row[name] for name in names) for row in csv.DictReader(file)]
    stars = sum(set(row) == {"*"} for row in released)
    shown = [row for row in released if set(row) != {"*"}]
    classes = Counter(shown)
    hidden = len(original) - len(shown)
    losses = np.zeros((len(names), len(MEASURES)))
    for j, name in enumerate(names):
        domain = Domain.of(name, [row[j] for row in original], trees[name], folder, numbers)
        held = Counter(row[j] for row in shown)
        held["*"] += hidden
        for label, times in held.items():
            if times:
                losses[j] += times * np.array(domain.lost(label)) / len(original)
    means = np.array(
        [column[np.isfinite(column)].mean() if np.isfinite(column).any() else np.nan for column in losses.T]
    )
    return {
        "smallest class": min(classes.values(), default=0),
        "k holds": min(classes.values(), default=0) >= k,
        "left out": hidden,
        "starred": stars,
        **{name: "-" if np.isnan(mean) else round(mean, 4) for name, mean in zip(MEASURES, means, strict=True)},
        "average class": round(len(shown) / max(1, len(classes)), 1),
        "discernibility": sum(n * n for n in classes.values()) + hidden * len(original),
    }
