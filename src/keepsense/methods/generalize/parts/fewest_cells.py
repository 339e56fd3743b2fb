"""The fewest cells to suppress: exactly for small tables, and at least how many it takes for any other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints
from keepsense.counts import Counts

_MOST_WORK = 200_000
"""Most groups that are looked at before the exact search is left to the heuristic."""
Group = tuple[tuple[int, int], ...]
"""Tuples that are released alike, by position, and how many rows of each."""


@dataclass(frozen=True)
class Fewest:
    """A partition of the rows into groups, and what its suppressed cells cost.

    >>> Fewest((((0, 2),),), 0.0).cost
    0.0
    """

    groups: tuple[Group, ...]
    cost: float


def fewest_cells(counts: Counts, k: int, importance: Mapping[str, float] | None = None) -> Fewest | None:
    """The partition into groups of at least k rows whose differing columns cost least; None where that takes too long.

    Finding it is NP-hard (Meyerson and Williams 2004, k of 3 and more), so only small tables are searched. Groups of
    2k rows and more can be divided at no cost, so that k to 2k - 1 rows are looked at; rows of one tuple may go into
    different groups. The search remembers the best for every multiset of rows that are left.

    >>> best = fewest_cells(Counts.of({"job": ["nurse"] * 3 + ["clerk"]}), 2)
    >>> best.cost, best.groups  # one nurse keeps the clerk company, the two others keep their job
    (2.0, (((0, 1), (1, 1)), ((0, 2),)))
    """
    if counts.total < k:
        return None
    rare = int(counts.weights[counts.weights < k].sum())
    # beyond this nobody would need the company of more rows of a tuple; they stay among themselves
    spare = [max(0, int(weight) - (k + (k - 1) * rare)) for weight in counts.weights.tolist()]
    start = tuple(int(weight) - extra for weight, extra in zip(counts.weights.tolist(), spare, strict=True))
    states = prod(number + 1 for number in start)
    if states * comb(len(counts) + 2 * k - 2, min(2 * k - 2, len(counts) + 2 * k - 2)) > _MOST_WORK:
        return None
    price = np.array([float((importance or {}).get(name, 1.0)) for name in counts.names])
    search = _Search(counts.codes, price, k)
    cost = search.best(start)
    groups = list(search.groups(start))
    for at, extra in enumerate(spare):
        if extra:  # they join the group of their own, which the search left at least k rows
            own = next(i for i, group in enumerate(groups) if {member for member, _ in group} == {at})
            groups[own] = ((at, groups[own][0][1] + extra),)
    return Fewest(tuple(groups), cost)


class _Search:
    """The least cost for every multiset of rows that are left, each found once."""

    def __init__(self, codes: Ints, price: Floats, k: int) -> None:
        self._codes, self._price, self._k = codes, price, k
        self._known: dict[tuple[int, ...], tuple[float, Group]] = {}

    def best(self, left: tuple[int, ...]) -> float:
        if not any(left):
            return 0.0
        if left not in self._known:
            chosen: tuple[float, Group] = (np.inf, ())
            for group in self._groups_of_first(left):
                rest = list(left)
                for member, number in group:
                    rest[member] -= number
                cost = self._cost(group)
                if cost < chosen[0] and (cost := cost + self.best(tuple(rest))) < chosen[0]:
                    chosen = (cost, group)
            self._known[left] = chosen
        return self._known[left][0]

    def groups(self, left: tuple[int, ...]) -> Iterator[Group]:
        """The groups of the best partition."""
        while any(left):
            group = self._known[left][1]
            yield group
            taken = dict(group)
            left = tuple(number - taken.get(member, 0) for member, number in enumerate(left))

    def _groups_of_first(self, left: tuple[int, ...]) -> Iterator[Group]:
        """Groups of k to 2k - 1 rows with a row of the first tuple that is left, so that the rest is none or k."""
        first = next(member for member, number in enumerate(left) if number)
        total = sum(left)

        def extended(member: int, group: list[tuple[int, int]], size: int) -> Iterator[Group]:
            if size >= self._k and (total == size or total - size >= self._k):
                yield tuple(group)
            for other in range(member + 1, len(left)):
                for number in range(1, min(left[other], 2 * self._k - 1 - size) + 1):
                    yield from extended(other, [*group, (other, number)], size + number)

        for number in range(1, min(left[first], 2 * self._k - 1) + 1):
            yield from extended(first, [(first, number)], number)

    def _cost(self, group: Group) -> float:
        members = [member for member, _ in group]
        differ = (self._codes[members] != self._codes[members[0]]).any(axis=0)
        return float(self._price[differ].sum()) * sum(number for _, number in group)


def suppressed_columns(counts: Counts, group: Sequence[tuple[int, int]]) -> NDArray[np.bool_]:
    """Columns in which the tuples of a group differ.

    >>> counts = Counts.of({"sex": ["f", "m"], "job": ["clerk", "clerk"]})
    >>> suppressed_columns(counts, ((0, 1), (1, 1))).tolist()
    [True, False]
    """
    members = [member for member, _ in group]
    return np.asarray((counts.codes[members] != counts.codes[members[0]]).any(axis=0), dtype=np.bool_)
