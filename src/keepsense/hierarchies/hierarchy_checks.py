"""Checks of a hierarchy, as coded findings: errors `E3..` must be fixed, warnings `W3..` should be looked at.

`keepsense.errors.FINDINGS` says what each code means.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from keepsense.counts import Value
from keepsense.errors import BadHierarchy, Finding
from keepsense.hierarchies.hierarchy import Hierarchy

_SHOWN = 3


def check_rows(
    rows: Sequence[Sequence[Value]], *, name: str = "hierarchy", lines: Sequence[int] | None = None
) -> list[Finding]:
    """Findings about rows of labels, leaf first, that are to become a hierarchy; nothing is refused.

    Rows are counted from 1, or named by their `lines` in a file. The row of the missing value (None) may lack labels.

    >>> [str(f) for f in check_rows([("nurse", "medic", "*"), ("clerk", "*")], name="job")]
    ['E302 job: 1 of 2 rows do not have the 3 levels of most rows (row 2)']
    """
    if not rows or not any(len(row) for row in rows):
        return [Finding("E301", name, "the hierarchy is empty; it needs at least one leaf")]
    findings: list[Finding] = []
    what, numbers = ("row", range(1, len(rows) + 1)) if lines is None else ("line", lines)
    numbered = list(zip(numbers, rows, strict=True))
    width = Counter(len(row) for row in rows).most_common(1)[0][0]
    ragged = [i for i, row in numbered if len(row) != width]
    if ragged:
        message = f"{len(ragged):,} of {len(rows):,} rows do not have the {width} levels of most rows"
        findings.append(Finding("E302", name, f"{message} ({_numbers(what, ragged)})"))
    leaves: dict[Value, list[int]] = {}
    for i, row in numbered:
        if row:
            leaves.setdefault(row[0], []).append(i)
    twice = [at for at in leaves.values() if len(at) > 1]
    if twice:
        message = f"{len(twice):,} leaf value(s) occur more than once ({_pairs(what, twice)}); keep one {what} for each"
        findings.append(Finding("E303", name, message))
    empty = [i for i, row in numbered if row and row[0] is not None and any(map(_is_blank, row))]
    if empty:
        findings.append(Finding("E306", name, f"{len(empty):,} {what}s hold empty labels ({_numbers(what, empty)})"))
    for level in range(1, width):
        parents: dict[Value, dict[Value, int]] = {}
        for i, row in numbered:
            if len(row) == width and row[level - 1] is not None:
                parents.setdefault(row[level - 1], {}).setdefault(row[level], i)
        torn = {label: list(above.values()) for label, above in parents.items() if len(above) > 1}
        if torn:
            named = "" if level == 1 else f"{_labels(list(torn))}; "
            message = (
                f"{len(torn):,} label(s) of level {level - 1} have several parents at level {level} "
                f"({named}{_pairs(what, list(torn.values()))}); give each one parent"
            )
            findings.append(Finding("E304", name, message))
    return findings


def check(hierarchy: Hierarchy, values: Iterable[Value] | None = None) -> list[Finding]:
    """Findings about a hierarchy, and about how it covers the values of a column where they are given.

    A missing cell (None) may be a leaf.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic"), ("clerk", "office")], name="job")
    >>> [str(f) for f in check(jobs, ["nurse", "clerk", "pilot"])]  # doctest: +NORMALIZE_WHITESPACE
    ['E305 job: 1 value(s) of the column are missing from the hierarchy; add them',
     'W301 job: 2 roots (medic, office); put them under one to allow full generalization']
    """
    name = hierarchy.name
    findings: list[Finding] = []
    codes = hierarchy.codes
    for level, labels in enumerate(hierarchy.labels):
        blank = sum(1 for label in labels if _is_blank(label) and (level or label is not None))
        if blank:
            findings.append(Finding("E306", name, f"level {level} has {blank:,} empty label(s)"))
        if len(set(labels)) != len(labels):
            code, what = ("E303", "leaf value(s)") if level == 0 else ("E307", f"label(s) of level {level}")
            findings.append(Finding(code, name, f"{len(labels) - len(set(labels)):,} {what} occur more than once"))
    if len(np.unique(codes[:, 0])) != len(codes):
        findings.append(Finding("E303", name, "rows of codes share a leaf; each leaf has one row"))
    for level in range(1, hierarchy.height + 1):
        pairs = np.unique(codes[:, level - 1 : level + 1], axis=0)
        torn = np.unique(pairs[1:][pairs[1:, 0] == pairs[:-1, 0]][:, 0])
        if len(torn):
            named = "" if level == 1 else f" ({_labels([hierarchy.labels[level - 1][c] for c in torn.tolist()])})"
            message = f"{len(torn):,} label(s) of level {level - 1} have several parents at level {level}{named}"
            findings.append(Finding("E304", name, message))
        elif len(hierarchy.labels[level]) == len(hierarchy.labels[level - 1]) and (
            hierarchy.labels[level] == hierarchy.labels[level - 1]
        ):
            findings.append(Finding("W303", name, f"level {level} repeats level {level - 1}; drop one of them"))
    if values is not None:
        held, asked = set(hierarchy.leaves), set(values)
        if asked - held:
            message = f"{len(asked - held):,} value(s) of the column are missing from the hierarchy; add them"
            findings.append(Finding("E305", name, message))
        if held - asked:
            findings.append(Finding("W302", name, f"{len(held - asked):,} leaves do not occur in the column"))
    tops = hierarchy.labels[-1]
    if len(tops) > 1:
        message = f"{len(tops):,} roots ({_labels(tops)}); put them under one to allow full generalization"
        findings.append(Finding("W301", name, message))
    again = _reused(hierarchy)
    if again:
        message = f"{len(again):,} label(s) stand for different groups on different levels ({_labels(again)})"
        findings.append(Finding("W304", name, message))
    return findings


def require(findings: Iterable[Finding]) -> None:
    """Refuse what has errors among its findings, naming them all; warnings pass.

    >>> require([Finding("W301", "job", "2 roots")])
    """
    errors = [finding for finding in findings if finding.is_error]
    if errors:
        raise BadHierarchy("; ".join(str(finding) for finding in errors))


def _reused(hierarchy: Hierarchy) -> list[Value]:
    """Inner labels met again higher up over a group that does not hold the first one."""
    found: dict[Value, None] = {}
    seen: dict[Value, tuple[int, int]] = {}
    for level in range(1, hierarchy.height + 1):
        for code, label in enumerate(hierarchy.labels[level]):
            if label in seen:
                low, below = seen[label]
                above = hierarchy.codes[hierarchy.codes[:, low] == below, level]
                if (above != code).any():
                    found[label] = None
            seen[label] = (level, code)
    return list(found)


def _is_blank(label: Value) -> bool:
    return label is None or (isinstance(label, str) and not label.strip())


def _numbers(what: str, numbers: Sequence[int]) -> str:
    shown = ", ".join(f"{i:,}" for i in numbers[:_SHOWN])
    return f"{what} {shown}{', ...' if len(numbers) > _SHOWN else ''}"


def _pairs(what: str, places: Sequence[Sequence[int]]) -> str:
    """Which rows or lines contradict each other: `lines 2 and 5, lines 3 and 9`."""
    shown = ", ".join(f"{what}s {' and '.join(f'{i:,}' for i in at[:_SHOWN])}" for at in places[:_SHOWN])
    return f"{shown}{', ...' if len(places) > _SHOWN else ''}"


def _labels(labels: Sequence[Value]) -> str:
    shown = ", ".join(str(label)[:40] for label in labels[:_SHOWN])
    return f"{shown}{', ...' if len(labels) > _SHOWN else ''}"
