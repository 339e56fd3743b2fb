"""The data dictionary as people read it: each column, and what its labels and marks mean."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from keepsense.hierarchies.ranges.bands import spelled
from keepsense.report import page
from keepsense.report.subject import Subject

_SHOWN = 12
"""Labels of a column that are shown; release.json holds all."""


def dictionary(subject: Subject) -> str:
    """Every released column with what was done, and the meaning of its labels and marks.

    >>> from keepsense.release.example import example_release
    >>> "from 30 to 39" in dictionary(Subject(example_release(), public=True))
    True
    """
    told: Mapping[str, Mapping[str, Any]] = subject.told.get("dictionary", {})
    if not told:
        return ""
    rows = [[name, about["role"], about["kind"], about["done"]] for name, about in told.items()]
    parts = [page.table(["column", "role", "kind", "what was done"], rows, words=(0, 1, 2, 3))]
    for name, about in told.items():
        meanings = [[mark or "(empty)", text] for mark, text in about.get("marks", {}).items()]
        labels = about.get("labels", {})
        meanings += [[label, text] for label, entry in list(labels.items())[:_SHOWN] if (text := _meaning(entry))]
        if about.get("truth"):
            meanings.append(["(any value)", about["truth"]])
        if not meanings:
            continue
        parts.append(f"<h3>{escape(name)}</h3>{page.table(['cell', 'what it means'], meanings, words=(0, 1))}")
        if len(labels) > _SHOWN:
            parts.append(page.paragraph(f"and {len(labels) - _SHOWN:,} more labels, in release.json", "note"))
    return "".join(parts)


def _meaning(entry: Mapping[str, Any]) -> str:
    if "lower" in entry:
        lower, upper = (_end(entry[key]) for key in ("lower", "upper"))
        return f"from {lower} to {upper}" if lower and upper else f"{lower} or more" if lower else f"up to {upper}"
    texts = [entry["meaning"]] if "meaning" in entry else []
    if entry.get("stands for"):
        texts.append(f"stands for {', '.join(entry['stands for'])}{' and others' if entry.get('and others') else ''}")
    return "; ".join(texts)


def _end(end: float | str | None) -> str:
    return "" if end is None else end if isinstance(end, str) else spelled(end)
