"""The page about the comparison: the table, and what each tool cannot do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

SHOWN = (
    "tool", "seconds", "memory", "smallest class", "checked by pycanon", "left out", "certainty penalty",
    "average class", "discernibility",
)  # fmt: skip

CANNOT = {
    "anjana": "builds no hierarchies, so ours were given to it; one level a column for all records; no meaning, no "
    "sets, no gaps; the promise is not checked on the written file",
    "anonypy": "takes no hierarchies, so words come out as lists of all values of their group; no suppression, sets or "
    "gaps; returns counts of groups, not the table",
    "pycanon": "checks only; it is used here as a judge of all others",
}


def text(rows: Sequence[Mapping[str, Any]], k: int, suppression: float, pinned: Sequence[str]) -> str:
    """The README of the results."""
    parts = [
        "# Beside peers",
        f"k = {k}, at most {suppression:.0%} of the records left out where a tool can. Same rows, same hierarchies. "
        "Seconds are CPU seconds of the tool alone (reading, imports and compiling apart), memory the peak of its "
        "process in MB. The certainty penalty takes every released label for the original values it covers, and a "
        "record left out for lost; it is computed by one function for all. A list of single values (anonypy) loses "
        "least by it and is the hardest to read: it names the values of a group, not what they have in common.",
        f"Versions: Keepsense {_version(rows)}, {', '.join(pinned)}. `python -m experiments run peers` repeats it.",
    ]
    for table in dict.fromkeys(row["table"] for row in rows):
        mine = [row for row in rows if row["table"] == table]
        parts.append(f"## {table}: {mine[0]['rows']:,} rows, {mine[0]['columns']} columns")
        lines = ["| " + " | ".join(SHOWN) + " |", "| " + " | ".join("---" for _ in SHOWN) + " |"]
        for row in mine:
            cells = [row["tool"], row["note"]] if row["note"] else [row[name] for name in SHOWN]
            cells += [""] * (len(SHOWN) - len(cells))
            lines.append("| " + " | ".join(f"{c:,}" if isinstance(c, int) else str(c) for c in cells) + " |")
        parts.append("\n".join(lines))
    parts.append("## What they cannot do")
    parts.append("\n".join(f"- **{tool}**: {why}." for tool, why in CANNOT.items()))
    parts.append(
        "ARX does not install from PyPI. Its optima on Adult (nine columns, k = 5: loss 0.6355 without suppression, "
        "0.3575 with 2%, 0.2696 with 5%) are what `tests/golden` demands of Keepsense to the last digit; its local "
        "recoding at its finest setting reaches a loss of 0.0524, which `python -m benchmarks run generalize` sets "
        "beside ours."
    )
    return "\n\n".join(parts) + "\n"


def _version(rows: Sequence[Mapping[str, Any]]) -> str:
    return next((str(row["version"]) for row in rows if row["tool"] == "optimal" and row["version"]), "")
