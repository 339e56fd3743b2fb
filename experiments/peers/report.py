"""The page about the comparison: the tables, what the figures mean, and what each tool cannot do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments import tables

SHOWN = (
    "tool", "seconds", "memory", "smallest class", "checked by pycanon", "left out", "certainty penalty", "bits lost",
    "values apart", "meaning apart", "average class", "discernibility",
)  # fmt: skip

ARX: tuple[tuple[str, dict[str, Any], float], ...] = (
    ("optimal", {"suppression": 0.0}, 0.6355),
    ("optimal", {"suppression": 0.02}, 0.3575),
    ("optimal", {"suppression": 0.05}, 0.2696),
    ("local recoding", {}, 0.0524),
)
"""Our method, its options, and the loss that ARX comes to on Adult, nine columns, k = 5; last its local recoding."""

CANNOT = {
    "anjana": "builds no hierarchies, so ours were given to it; one level a column for all records; no meaning, no "
    "sets, no gaps; the promise is not checked on the written file",
    "anonypy": "takes no hierarchies, so words come out as lists of all values of their group; no suppression, sets or "
    "gaps; returns counts of groups, not the table",
    "pycanon": "checks only; it is used here as a judge of all others",
    "ARX": "does not install from PyPI and was not run here: its figures above are those that `tests/golden` and the "
    "benchmarks hold us to. It knows no meaning of words",
    "Keepsense": "takes twice the memory of the others on tables of this size; methods that write a label for each "
    "group (local recoding, the two "
    "Mondrians) cannot be used again on next month's file as one level a column can",
}


def text(
    rows: Sequence[Mapping[str, str]], optima: Sequence[Mapping[str, str]], k: int, suppression: float,
    pinned: Sequence[str],
) -> str:  # fmt: skip
    """The page, from the rows of the result files."""
    parts = [
        "# Beside peers",
        "The same tables through Keepsense and through what installs from PyPI beside it: same rows, same "
        "hierarchies, "
        f"same promise (k = {k}), at most {suppression:.0%} of the records left out where a tool can. Made by "
        "`python -m "
        f"experiments run peers`; versions: Keepsense {_version(rows)}, {', '.join(pinned)}.",
        "Seconds are CPU seconds of the tool alone (reading, imports and compiling apart) and memory the peak of its "
        "process in MB, all on one core of one machine within one run: compare them with each other, not with other "
        "pages. Everything else is computed by one function for all, from the released file.",
        MEANINGS,
    ]
    for table in dict.fromkeys(row["table"] for row in rows):
        mine = [row for row in rows if row["table"] == table]
        parts.append(f"## {table}: {int(mine[0]['rows']):,} rows, {mine[0]['columns']} columns")
        lines = ["| " + " | ".join(SHOWN) + " |", "| " + " | ".join("---" for _ in SHOWN) + " |"]
        for row in mine:
            cells = [row["tool"], row["note"]] if row["note"] else [row[name] for name in SHOWN]
            cells += [""] * (len(SHOWN) - len(cells))
            lines.append("| " + " | ".join(_shown(cell) for cell in cells) + " |")
        parts.append("\n".join(lines))
    parts += ["## Beside ARX, on Adult", _arx(optima, k)]
    parts += ["## What they cannot do", "\n".join(f"- **{tool}** {why}." for tool, why in CANNOT.items())]
    return "\n\n".join(parts) + "\n"


MEANINGS = """\
- *smallest class*: records that are alike, at least; *checked by pycanon* the same counted by it.
- *certainty penalty*: share of the column's other values that a released label may stand for.
- *bits lost*: entropy of the values under a label, as often as they occur.
- *values apart*: how far two values under a label, drawn as often as they occur, are apart: numbers on their line,
  words by the lowest label they share in the hierarchy.
- *meaning apart*: the same for words by their distance in the taxonomy; only columns that have one.
- *average class* and *discernibility*: records a class, and records times the size of their class, summed.

Losses are means over columns, and a record left out may be anything. A list of single values (anonypy) loses least by
the first two and is the hardest to read: it names the values of a group, not what they have in common."""


def _shown(cell: str) -> str:
    return f"{int(cell):,}" if cell.isdigit() else cell


def _arx(optima: Sequence[Mapping[str, str]], k: int) -> str:
    lines = [
        f"All nine columns, k = {k}, ARX's own hierarchies. The loss is the certainty penalty, a suppressed record",
        "loses",
        "all. The last line is local recoding, ARX's at its finest setting.",
        "",
        "| method | may be suppressed | loss | ARX | our seconds |",
        "|---|---|---|---|---|",
    ]
    for row in optima:
        lines.append(f"| {row['method']} | {row['suppression']} | {row['loss']} | {row['ARX']} | {row['seconds']} |")
    return tables.filled(lines)


def _version(rows: Sequence[Mapping[str, str]]) -> str:
    return next((row["version"] for row in rows if row["tool"] == "optimal" and row["version"]), "")
