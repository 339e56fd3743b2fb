"""What columns are beside one another: the same fact twice, one person in several rows, a place in two systems."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, islice
from typing import TYPE_CHECKING

import numpy as np

from keepsense.hierarchies.kinds import KINDS
from keepsense.project import patterns
from keepsense.project.inspected import Inspected
from keepsense.project.roles import ROLES

if TYPE_CHECKING:
    from keepsense.engines import Engine, Table

MOST_PAIRS = 300
"""Most pairs of columns that are compared row by row."""

_STRICT = ("identifier", "person", "quasi-identifier", "weight", "sensitive", "target", "insensitive")
_SURE = ("sure", "likely", "unsure")


def settled(columns: Sequence[Inspected], same: Callable[[str, str], bool]) -> tuple[Inspected, ...]:
    """The guesses, each made in view of the others; `same` tells whether two columns determine each other.

    A single role goes to the column that most likely has it; columns that say the same get the same role; coordinates
    in a second system are left out.

    >>> from keepsense.project.inspect import inspect
    >>> town = {"deck": ["A", "B", "C"] * 9, "floor": ["1", "2", "3"] * 9, "illness": ["flu", "cold", "flu"] * 9}
    >>> [(c.name, c.notes) for c in inspect(town).columns if c.notes]
    [('floor', ('says the same as deck',))]
    """
    return _one_place(_copies(_one_each(list(columns)), same))


def _one_each(columns: list[Inspected]) -> list[Inspected]:
    """Roles that one column at most can have stay with the likeliest; the others get the safe guess."""
    for role in ROLES.values():
        having = [column for column in columns if column.role == role.name] if role.single else []
        chosen = min(having, key=_likely_person, default=None)
        other = "quasi-identifier" if role.released else "identifier"
        for i, column in enumerate(columns):
            if column in having and column is not chosen and chosen is not None:
                reason = f"{column.reason}; the {role.name} is {chosen.name}"
                columns[i] = replace(column, role=other, reason=reason)
    return columns


def _likely_person(column: Inspected) -> tuple[bool, int, int]:
    named = patterns.named_like(column.name, patterns.PERSONS)
    return named is None, _SURE.index(column.confidence), column.profile.distinct


def _copies(columns: list[Inspected], same: Callable[[str, str], bool]) -> list[Inspected]:
    """Columns that say the same: what one hides, the other must not tell."""
    by_name = {column.name: column for column in columns}
    for first, second in _pairs(columns):
        one, other = by_name[first], by_name[second]
        if not same(first, second):
            continue
        role = min((one, other), key=lambda c: (_SURE.index(c.confidence), _STRICT.index(c.role)))
        by_name[second] = replace(other, notes=(*other.notes, f"says the same as {first}"))
        for name in (first, second):
            if by_name[name].role != role.role:
                by_name[name] = replace(
                    by_name[name],
                    role=role.role,
                    reason=f"says the same as {role.name}: {role.reason}",
                    confidence=role.confidence,
                )
    return list(by_name.values())


def _pairs(columns: Sequence[Inspected]) -> Iterator[tuple[str, str]]:
    """Pairs of columns that may be copies: released, not nearly unique, and with about as many values."""
    telling = [
        c
        for c in columns
        if 1 < c.profile.distinct <= 0.5 * c.profile.filled and ROLES[c.role].released and not KINDS[c.kind].sets
    ]
    alike = ((a, b) for a, b in combinations(telling, 2) if _near(a.profile.distinct, b.profile.distinct))
    yield from ((a.name, b.name) for a, b in islice(alike, MOST_PAIRS))


def _near(count: int, other: int) -> bool:
    """Whether two counts are the same but for a few spellings of the same thing."""
    return abs(count - other) <= 0.05 * max(count, other)


def determine_each_other(engine: Engine, table: Table) -> Callable[[str, str], bool]:
    """Whether two columns of a table have one value for each of the other, but for a few, where both are filled.

    >>> from keepsense.engines import engine
    >>> with engine() as running:
    ...     same = determine_each_other(running, running.read({"a": [1, 2, 1], "b": ["x", "y", "x"], "c": [1, 1, 2]}))
    ...     same("a", "b"), same("a", "c")
    (True, False)
    """

    def same(first: str, second: str) -> bool:
        counts = engine.count(table, [first, second])
        filled = np.ones(len(counts), dtype=bool)
        for name in (first, second):
            there = np.array([value is not None and str(value).strip() != "" for value in counts.values_of(name)])
            filled &= there[counts.column(name)]
        sizes = [len(np.unique(counts.column(name)[filled])) for name in (first, second)]
        return min(sizes) > 1 and _near(int(filled.sum()), min(sizes))

    return same


def _one_place(columns: Sequence[Inspected]) -> tuple[Inspected, ...]:
    """Projected coordinates beside latitude and longitude say the same in other numbers, and are left out."""
    places = [c for c in columns if c.role == "quasi-identifier" and patterns.named_like(c.name, patterns.COORDINATES)]
    degrees = [c for c in places if KINDS[c.kind].numbers and all(abs(float(str(v))) <= 180 for v in c.profile.values)]
    if len(degrees) < 2:
        return tuple(columns)
    says = " and ".join(c.name for c in degrees[:2])
    return tuple(
        replace(c, role="identifier", reason=f"coordinates again, in another system than {says}")
        if c in places and c not in degrees
        else c
        for c in columns
    )
