"""How much more, or less, often a sensitive value occurs in a class than in the whole table: counted, and bounded.

A share of a class over a share of the table is a ratio of whole numbers. What floating point cannot tell from a bound
is compared as fractions, so that a class which meets the bound exactly is judged by what the promise says.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Histogram
from keepsense.privacy.base import Flags

_NEAR = 1e-9
"""Ratios that differ from a bound by less are compared as fractions."""


@dataclass(frozen=True, eq=False)
class Shifts:
    """How often values occur: one entry for each class and value that occurs in it.

    `row` is the class, `code` the value, `count` the records of the class that have it, `size` all of the class;
    `whole` are the records of the table that have each value, `total` all of the table.

    >>> from keepsense.arrays import Rows
    >>> seen = Histogram(("flu", "cold"), Rows.from_pairs([0, 1, 1], [0, 0, 1], 2), np.array([2, 1, 1]))
    >>> shifts = shifts_of(seen, seen.total())
    >>> shifts.ratio.round(2).tolist(), shifts.within(np.array([1.3, 2.0])).tolist()
    ([1.33, 0.67, 2.0], [False, True, True])
    """

    row: NDArray[np.int32]
    code: NDArray[np.int32]
    count: NDArray[np.int64]
    size: NDArray[np.int64]
    whole: NDArray[np.int64]
    total: int
    classes: int

    @property
    def ratio(self) -> Floats:
        """Share in the class over share in the table, of each entry."""
        ratio: Floats = (self.count / self.size) / (self.whole[self.code] / self.total)
        return ratio

    def within(self, limit: Floats, *, strictly: bool = False) -> Flags:
        """Whether each entry's ratio is at most (or strictly: below) the limit of its value."""
        most = limit[self.code]
        difference = self.ratio - most
        good: Flags = difference < 0 if strictly else difference <= 0
        for i in np.flatnonzero(np.abs(difference) <= _NEAR * most):
            bound = written(most[i]) * int(self.size[i]) * int(self.whole[self.code[i]])
            times = int(self.count[i]) * self.total
            good[i] = times < bound if strictly else times <= bound
        return good

    def all_of(self, good: Flags) -> Flags:
        """Whether all entries of each class are good."""
        verdict: Flags = np.bincount(self.row[~good], minlength=self.classes) == 0
        return verdict

    def present(self) -> NDArray[np.int64]:
        """Different values in each class."""
        return np.bincount(self.row, minlength=self.classes).astype(np.int64)


def shifts_of(histogram: Histogram, whole: NDArray[np.int64], sizes: NDArray[np.int64] | None = None) -> Shifts:
    """The values that occur in each class; `sizes` of classes where values are counted more than once.

    >>> from keepsense.arrays import Rows
    >>> seen = Histogram(("flu", "cold"), Rows.from_pairs([0, 0], [0, 1], 1), np.array([2, 0]))
    >>> shifts_of(seen, np.array([2, 2])).ratio.tolist()
    [2.0]
    """
    row, classes = histogram.rows.row_of(), len(histogram.rows)
    if sizes is None:
        sizes, total = np.bincount(row, histogram.counts, classes).astype(np.int64), int(whole.sum())
    else:
        total = int(whole.max(initial=0))
    occurs = histogram.counts > 0
    row = row[occurs]
    return Shifts(row, histogram.rows.indices[occurs], histogram.counts[occurs], sizes[row], whole, total, classes)


def written(number: float) -> Fraction:
    """A number as it is written: 2.3 is 23 tenths.

    >>> written(2.3)
    Fraction(23, 10)
    """
    return Fraction(repr(float(number)))
