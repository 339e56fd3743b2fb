"""Result files: rows as CSV, written and read back, so that a page can be written again from them."""

from __future__ import annotations

import csv
import textwrap
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


def filled(lines: Sequence[str]) -> str:
    """A page of Markdown whose paragraphs and points are wrapped; tables, headings and pictures stay as they are.

    >>> print(filled(["# A page", "", "short", "lines", "", "- a point", "  goes on", "| a | b |"]))
    # A page
    <BLANKLINE>
    short lines
    <BLANKLINE>
    - a point goes on
    | a | b |
    """
    blocks: list[list[str]] = []
    for line in "\n".join(lines).split("\n"):
        fixed = not line or line[0] in "|#!"
        if fixed or line.startswith("- ") or not blocks or not blocks[-1][0] or blocks[-1][0][0] in "|#!":
            blocks.append([line])
        else:
            blocks[-1].append(line.strip())
    shown = []
    for block in blocks:
        text = " ".join(block)
        if not text or text[0] in "|#!":
            shown.append(text)
            continue
        indent = "  " if text.startswith("- ") else ""
        shown += textwrap.wrap(text, 118, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return "\n".join(shown)
