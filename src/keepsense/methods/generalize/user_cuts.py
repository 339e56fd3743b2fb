"""Cuts set by the publisher: at which column the whole table or a part is cut, and the parts that result.

A part is named by the way to it: `whole` is the table, `1` and `2` are its two parts, `12` is the second part of the
first, and so on. Part 1 holds what comes first in the order of the column.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.errors import BadInput, Infeasible, did_you_mean

CUTS = "cuts"
"""What the parameter of methods is called."""
WHOLE = "whole"
"""What the whole table is called."""
_WAY = re.compile("[12]+")

Longs = NDArray[np.int64]
Flags = NDArray[np.bool_]


class CannotCut(Infeasible):
    """A cut that was given cannot be made; `why` says what stands in its way.

    >>> raise CannotCut("12", "age", "one of its parts would have fewer than 5 records")
    Traceback (most recent call last):
    ...
    keepsense.methods.generalize.user_cuts.CannotCut: cuts: part 12 cannot be cut at column 'age': one of its parts \
would have fewer than 5 records
    """

    def __init__(self, part: str, column: str, why: str) -> None:
        super().__init__(
            f"cuts: {in_words(part)} cannot be cut at column {column!r}: {why}",
            relax=(f"cut {in_words(part)} at another column", "leave that cut to the method"),
        )
        self.why = why


def in_words(part: str) -> str:
    """A part as sentences name it.

    >>> in_words("whole"), in_words("12")
    ('the whole table', 'part 12')
    """
    return "the whole table" if part == WHOLE else f"part {part}"


def parts_of(part: str) -> tuple[str, str]:
    """The two parts that a cut makes.

    >>> parts_of("whole"), parts_of("2")
    (('1', '2'), ('21', '22'))
    """
    way = "" if part == WHOLE else part
    return f"{way}1", f"{way}2"


def above(part: str) -> str:
    """The part that a part comes of.

    >>> above("12"), above("1")
    ('1', 'whole')
    """
    return part[:-1] or WHOLE


def checked(cuts: Mapping[str, str], names: Sequence[str]) -> dict[str, int]:
    """The place of each part's column among the names; a part or a column that is not there is refused.

    >>> checked({"whole": "job", "1": "age"}, ("age", "job"))
    {'whole': 1, '1': 0}
    >>> checked({"whole": "ago"}, ("age", "job"))
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: cuts: the whole table is to be cut at column 'ago', which is no quasi-identifier; name \
one of age, job. Did you mean age?
    """
    for part, column in cuts.items():
        if part != WHOLE and _WAY.fullmatch(part) is None:
            raise BadInput(
                f"cuts: {part!r} is no part of the table; write {WHOLE} for the table, 1 and 2 for its parts, 12 for "
                "the second part of the first, and so on"
            )
        if column not in names:
            raise BadInput(
                f"cuts: {in_words(part)} is to be cut at column {column!r}, which is no quasi-identifier; name one of "
                f"{', '.join(names)}.{did_you_mean(column, names)}"
            )
        if part != WHOLE and above(part) not in cuts:
            raise BadInput(
                f"cuts: part {part} is there once {in_words(above(part))} is cut; say at which column that is done, too"
            )
    return {part: names.index(column) for part, column in cuts.items()}


class GivenCuts:
    """Cuts that are made before the method goes its own way, and how far they are.

    `parts` names the groups that are being divided. `region` tells which tuples a given cut has parted: those of two
    regions come into one group never again.

    >>> given = GivenCuts({"whole": "job"}, ("age", "job"), 3)
    >>> refused = np.zeros((1, 2), dtype=bool)
    >>> given.insist(refused)
    >>> refused.tolist(), given.waiting
    ([[True, False]], True)
    """

    def __init__(self, cuts: Mapping[str, str] | None, names: Sequence[str], tuples: int) -> None:
        self.columns = checked(cuts or {}, names)
        self.names = names
        self.parts = [WHOLE]
        self.region: Longs = np.zeros(tuples if self.columns else 0, dtype=np.int64)

    @property
    def waiting(self) -> bool:
        """Whether cuts are still to be made."""
        return bool(self.columns) and any(part in self.columns for part in self.parts)

    def insist(self, refused: Flags) -> None:
        """Let groups that a cut is given for be cut at its column, and at no other."""
        for group, part in enumerate(self.parts):
            if part in self.columns:
                refused[group, np.arange(refused.shape[1]) != self.columns[part]] = True

    def asked(self, groups: Flags) -> list[tuple[int, int]]:
        """Those of some groups that a cut is given for, and its column."""
        if not self.columns:
            return []
        return [(g, self.columns[self.parts[g]]) for g in np.flatnonzero(groups).tolist() if self._is_asked(g)]

    def refuse(self, group: int, why: str) -> None:
        """Refuse a cut that was given and cannot be made."""
        part = self.parts[group]
        raise CannotCut(part, self.names[self.columns[part]], why)

    def made(self, used: NDArray[Any], cut: Flags, beyond: Mapping[int, Longs]) -> None:
        """Note which groups there are after a round: `used` are twice the number of the earlier one, and the side.

        `cut` tells which of the earlier ones were cut, and `beyond` the tuples on the far side of cuts that were given.
        """
        for tuples in beyond.values():
            self.region[tuples] = self.region.max() + 1
        earlier = self.parts
        self.parts = [
            parts_of(earlier[group])[side] if cut[group] else earlier[group]
            for group, side in zip(*(half.tolist() for half in np.divmod(used, 2)), strict=True)
        ]

    def _is_asked(self, group: int) -> bool:
        return self.parts[group] in self.columns
