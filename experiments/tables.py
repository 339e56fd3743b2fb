"""Result files: rows as CSV, written and read back, so that a page can be written again from them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def write(path: Path, rows: Sequence[Row]) -> None:
    """Rows of one kind as CSV; nothing stands for None."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read(path: Path) -> list[Row]:
    """The rows again: numbers as numbers, True and False as such."""
    with path.open(encoding="utf-8", newline="") as file:
        return [{key: value_of(text) for key, text in row.items()} for row in csv.DictReader(file)]


def value_of(text: str) -> Any:
    """What a cell holds.

    >>> [value_of(text) for text in ("", "True", "7", "0.5", "at most k")]
    [None, True, 7, 0.5, 'at most k']
    """
    known = {"": None, "True": True, "False": False}
    if text in known:
        return known[text]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
