"""How columns of a table are related: copies of each other, one person in several rows, one place in two systems."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts
from keepsense.draft import vocabulary
from keepsense.draft.inspected_column import Inspected
from keepsense.draft.role_rules import FEW, ONE_VALUE_EACH
from keepsense.engines.protocol import Profile
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.project.roles import ROLES
from keepsense.risk.attribute_disclosure import UNDONE

if TYPE_CHECKING:
    from keepsense.engines.protocol import Engine, Table

MOST_PAIRS = 300
"""Most pairs of columns that are compared row by row, where each takes a scan of the table."""

MOST_AT_HAND = 10_000
"""Most pairs of columns that are compared, where all cells are at hand."""

AT_HAND = 1_000_000
"""Cells of a table up to which all of them are counted at once."""

_STRICT = ("identifier", "person", "household", "quasi-identifier", "weight", "sensitive", "target", "insensitive")
_SURE = ("sure", "likely", "unsure")


def settled(
    columns: Sequence[Inspected],
    same: Callable[[str, str], bool],
    undone: Callable[[Inspected, Inspected], float] = lambda telling, hidden: 0.0,
    most: int = MOST_PAIRS,
) -> tuple[Inspected, ...]:
    """The guesses, each made in view of the others.

    A single role goes to the column that most likely has it; columns that say the same get the same role; what tells a
    hidden column is hidden with it; coordinates in a second system are left out. Roles that were given stay. `same`
    says whether two columns determine each other, `undone` how much of what hiding the second gains the first undoes;
    both are asked of so many pairs at `most`.

    >>> from keepsense.draft.inspection import inspect
    >>> town = {"deck": ["A", "B", "C"] * 9, "floor": ["1", "2", "3"] * 9, "illness": ["flu", "cold", "flu"] * 9}
    >>> [(c.name, c.notes) for c in inspect(town).columns if c.notes]
    [('floor', ('says the same as deck',))]
    """
    given = {column.name: column for column in columns if column.given}
    guessed = _one_place(_telling(_copies(_one_each(list(columns)), same, most), undone, most))
    return tuple(replace(given[c.name], notes=c.notes) if c.name in given else c for c in guessed)


def _one_each(columns: list[Inspected]) -> list[Inspected]:
    """Roles that one column at most can have stay with the likeliest; the others get the safe guess."""
    columns = _one_row_each(columns)
    for role in ROLES.values():
        having = [column for column in columns if column.role == role.name] if role.single else []
        chosen = min(having, key=_likely_person, default=None)
        other = "quasi-identifier" if role.released else "identifier"
        for i, column in enumerate(columns):
            if column in having and column is not chosen and chosen is not None:
                reason = f"{column.reason}; the {role.name} is {chosen.name}"
                columns[i] = replace(column, role=other, reason=reason)
    return columns


def _one_row_each(columns: list[Inspected]) -> list[Inspected]:
    """Where every row has a name or number of a person of its own, what repeats stands for something else."""
    own = next(
        (c for c in columns if c.role == "identifier" and c.profile.uniqueness > ONE_VALUE_EACH and _names(c)), None
    )
    if own is None:
        return columns
    return [
        replace(c, role="identifier", reason=f"{c.reason}; whose row it is tells {own.name}", confidence="likely")
        if c.role == "person" and c.confidence != "sure"
        else c
        for c in columns
    ]


def _names(column: Inspected) -> bool:
    """Whether an identifier names people, rather than rows, visits or doors."""
    return "names of people" in column.reason or vocabulary.named_like(column.name, vocabulary.PERSONS) is not None


def _likely_person(column: Inspected) -> tuple[bool, bool, int, int]:
    named = vocabulary.named_like(column.name, vocabulary.PERSONS)
    return not column.given, named is None, _SURE.index(column.confidence), column.profile.distinct


def _copies(columns: list[Inspected], same: Callable[[str, str], bool], most: int) -> list[Inspected]:
    """Columns that say the same: what one hides, the other must not tell."""
    by_name = {column.name: column for column in columns}
    for first, second in islice(_pairs(columns), most):
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


def _telling(columns: list[Inspected], undone: Callable[[Inspected, Inspected], float], most: int) -> list[Inspected]:
    """Sensitive columns that tell what is hidden in others (pay that goes with the rank) are protected with them.

    Where the other has few values and is hidden only because nothing is known of it, it is as sensitive as that.
    """
    by_name = {column.name: column for column in columns}
    hidden = [column for column in columns if column.role == "quasi-identifier"]
    measured = 0
    for told in hidden:  # grows: what is protected from now on may be told by a third
        if by_name[told.name].role != "quasi-identifier":
            continue
        for telling in [column for column in by_name.values() if column.role == "sensitive"]:
            if measured >= most or not _may_tell(telling, told):
                continue
            measured += 1
            unknown = _SURE.index(telling.confidence) < _SURE.index(told.confidence) and told.profile.distinct <= FEW
            if unknown and undone(telling, told) > UNDONE:
                reason = f"{telling.name} tells it, and is sensitive: {telling.reason}"
                by_name[told.name] = replace(told, role="sensitive", reason=reason)
                break
            if undone(telling, told) > UNDONE:
                reason = f"tells {told.name}, which others may know; {telling.reason}"
                by_name[telling.name] = replace(telling, role="quasi-identifier", reason=reason)
                hidden.append(by_name[telling.name])
    return list(by_name.values())


def _may_tell(telling: Inspected, hidden: Inspected) -> bool:
    """Whether a column has enough values to tell those of another."""
    several = all(c.profile.distinct > 1 and not KINDS[c.kind].sets for c in (telling, hidden))
    return several and _gained(_most_guessed(telling, hidden), _usual(hidden)) > UNDONE


def _most_guessed(telling: Inspected, hidden: Inspected) -> float:
    """Share of a column's cells that could be guessed at most, by a column with so many values."""
    rows = sorted(hidden.profile.values.values(), reverse=True)
    return sum(rows[: telling.profile.distinct]) / max(1, hidden.profile.filled)


def _usual(hidden: Inspected) -> float:
    return max(hidden.profile.values.values(), default=0) / max(1, hidden.profile.filled)


def _gained(guessed: float, usual: float) -> float:
    """How much of what is not guessed without help is guessed with it."""
    return (guessed - usual) / (1 - usual) if usual < 1 else 0.0


def _band(number: str, width: float) -> object:
    """The band that a number falls into; what is no number stands for itself."""
    try:
        return math.floor(float(number) / width)
    except (ValueError, OverflowError):
        return number


def _filled(counts: Counts) -> NDArray[np.bool_]:
    """Which of the counted tuples have no empty cell."""
    filled = np.ones(len(counts), dtype=bool)
    for name in counts.names:
        there = np.array([value is not None and str(value).strip() != "" for value in counts.values_of(name)])
        filled &= there[counts.column(name)]
    return filled


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Counts of two columns of a table, by their names, and how many pairs may be asked for."""

    of: Callable[[Sequence[str]], Counts]
    most: int


def pairs_of(engine: Engine, table: Table, seen: Sequence[Profile]) -> PairCounts:
    """How two columns of a table occur together: of a small table from all cells at hand, else by a scan each.

    >>> from keepsense.engines.protocol import engine
    >>> with engine() as running:
    ...     table = running.read({"a": [1, 2, 1], "b": ["x", "y", "x"]})
    ...     pairs_of(running, table, running.profiles(table)).of(["a", "b"]).weights.tolist()
    [2, 1]
    """
    names = [profile.name for profile in seen if not profile.holds_lists]
    if seen and seen[0].rows * len(names) <= AT_HAND:
        cells = cache(lambda: engine.count(table, names))
        return PairCounts(lambda pair: cells().project(pair), MOST_AT_HAND)
    return PairCounts(lambda pair: engine.count(table, pair), MOST_PAIRS)


def undoes(counted: PairCounts) -> Callable[[Inspected, Inspected], float]:
    """How much of what hiding the second column gains the first undoes, as it is drafted, by guessing from it.

    >>> from keepsense.engines.protocol import engine
    >>> from keepsense.draft.inspection import inspect
    >>> people = {"rank": [1, 2, 3, 4] * 25, "pay": [1000, 2000, 3000, 3000] * 25}
    >>> with engine() as running:
    ...     rank, pay = inspect(people).columns
    ...     table = running.read(people)
    ...     round(undoes(pairs_of(running, table, running.profiles(table)))(pay, rank), 2)
    0.55
    """

    def undone(telling: Inspected, hidden: Inspected) -> float:
        counts = counted.of([telling.name, hidden.name])
        filled = _filled(counts)
        groups: Sequence[object] = counts.values_of(telling.name)
        if telling.points_at_people:
            width = telling.width()
            groups = [_band(telling.plain(value), width) for value in counts.values_of(telling.name)]
        numbers = {group: i for i, group in enumerate(dict.fromkeys(groups))}
        codes = np.array([numbers[group] for group in groups])[counts.column(telling.name)[filled]]
        pairs, place = np.unique(np.stack((codes, counts.column(hidden.name)[filled])), axis=1, return_inverse=True)
        rows = np.bincount(place.ravel(), weights=counts.weights[filled])
        heaviest = np.zeros(len(numbers))
        np.maximum.at(heaviest, pairs[0], rows)
        total = max(1.0, float(rows.sum()))
        guessed = float(heaviest.sum()) / total
        surely = guessed - 2 * math.sqrt(guessed * (1 - guessed) / total)  # few rows prove little
        return _gained(surely, _usual(hidden))

    return undone


def _pairs(columns: Sequence[Inspected]) -> Iterator[tuple[str, str]]:
    """Pairs of columns that may be copies: released, not nearly unique, and with about as many values."""
    telling = [
        c
        for c in columns
        if 1 < c.profile.distinct <= 0.5 * c.profile.filled and ROLES[c.role].released and not KINDS[c.kind].sets
    ]
    alike = ((a, b) for a, b in combinations(telling, 2) if _near(a.profile.distinct, b.profile.distinct))
    yield from ((a.name, b.name) for a, b in alike)


def _near(count: int, other: int) -> bool:
    """Whether two counts are the same but for a few spellings of the same thing."""
    return abs(count - other) <= 0.05 * max(count, other)


def determine_each_other(counted: PairCounts) -> Callable[[str, str], bool]:
    """Whether two columns of a table have one value for each of the other, but for a few, where both are filled.

    >>> from keepsense.engines.protocol import engine
    >>> with engine() as running:
    ...     table = running.read({"a": [1, 2, 1], "b": ["x", "y", "x"], "c": [1, 1, 2]})
    ...     same = determine_each_other(pairs_of(running, table, running.profiles(table)))
    ...     same("a", "b"), same("a", "c")
    (True, False)
    """

    def same(first: str, second: str) -> bool:
        counts = counted.of([first, second])
        filled = _filled(counts)
        sizes = [len(np.unique(counts.column(name)[filled])) for name in (first, second)]
        return min(sizes) > 1 and _near(int(filled.sum()), min(sizes))

    return same


def _one_place(columns: Sequence[Inspected]) -> tuple[Inspected, ...]:
    """Projected coordinates beside latitude and longitude say the same in other numbers, and are left out."""
    places = [
        c for c in columns if c.role == "quasi-identifier" and vocabulary.named_like(c.name, vocabulary.COORDINATES)
    ]
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
