"""Ordinary records (one value a column) as MDAV sees them: numbers, ordered categories and words side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.methods.aggregate.centres import median_position
from keepsense.methods.importance import Importance, importances
from keepsense.semantics.attribute import Attribute, Ordered, check_same_rows

_UNIT = float(1 << 36)


class RecordSpace:
    """Distinct records of several columns; the distance of two is the mean over columns of the squared distances.

    For numbers that is the squared Euclidean distance of MDAV (Rodríguez-García 2017, Sec. 2.3.2.3) on columns scaled
    by their `span`; words add the square of their semantic distance, ordered categories that of their ranks; those of a
    column count by its `importance`. The centre
    is the mean of numbers, the median of ordered categories, and of words the value of the column least distant from
    all. A pass reads each record once, a column at a time.

    >>> counts = Counts.of({"age": [20, 30, 40]})
    >>> RecordSpace(counts, [Ordered.of(counts, "age")]).from_record(0).tolist()
    [0.0, 0.25, 1.0]
    """

    noise = 1e-12

    def __init__(self, counts: Counts, attributes: Sequence[Attribute], importance: Importance | None = None) -> None:
        if not attributes:
            raise BadInput("microaggregation needs at least one column")
        check_same_rows(counts, attributes)
        self.attributes = tuple(attributes)
        self._importance = importances([attribute.name for attribute in attributes], importance).tolist()
        sizes = [len(attribute.values) for attribute in attributes]
        self._offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        codes = np.stack([counts.column(attribute.name) for attribute in attributes], axis=1)
        self._codes = codes.astype(np.int64)
        self._layout()
        self._reach = np.zeros(int(self._offsets[-1]))
        self._counts: list[NDArray[np.int64]] = []
        self._totals: list[NDArray[np.int64] | None] = []

    def _layout(self) -> None:
        n, width = self._codes.shape
        self._items = np.ascontiguousarray(self._codes + self._offsets[:-1], dtype=np.int32).reshape(-1)
        self._starts = np.arange(0, (n + 1) * width, width, dtype=np.int32)
        self._out = np.empty(n)

    def __len__(self) -> int:
        return len(self._codes)

    def from_record(self, record: int) -> Floats:
        """Distances of all records to one; good until the next call."""
        return self._pass([a.row(int(c)) for a, c in zip(self.attributes, self._codes[record], strict=True)])

    def _pass(self, rows: Sequence[Floats]) -> Floats:
        from keepsense.methods.aggregate.kernels.groups import mean_pass

        for j, row in enumerate(rows):
            reach = self._reach[self._offsets[j] : self._offsets[j + 1]]
            np.square(row, out=reach)
            reach *= self._importance[j]
        mean_pass(self._starts, self._items, self._reach, self._out)
        return self._out

    # ---- the centre ----------------------------------------------------------------------------------------------

    def start(self, left: NDArray[np.int64]) -> None:
        """Count the values of the records that are left, and for words add up distances."""
        self._counts, self._totals = [], []
        for j, attribute in enumerate(self.attributes):
            count = np.bincount(self._codes[:, j], left, len(attribute.values)).astype(np.int64)
            self._counts.append(count)
            totals = None
            if not isinstance(attribute, Ordered):
                totals = np.zeros(len(count), dtype=np.int64)
                for value in np.flatnonzero(count).tolist():
                    totals += count[value] * np.rint(attribute.row(value) * _UNIT).astype(np.int64)
            self._totals.append(totals)

    def leave(self, record: int, copies: int, known: Floats | None = None) -> None:
        """Take some copies of a record out of the counts."""
        for j, attribute in enumerate(self.attributes):
            value = int(self._codes[record, j])
            self._counts[j][value] -= copies
            totals = self._totals[j]
            if totals is not None:
                totals -= copies * np.rint(attribute.row(value) * _UNIT).astype(np.int64)

    def from_centre(self, left: NDArray[np.int64]) -> Floats:
        """Distances of all records to the centre of what is left; good until the next call."""
        return self._pass([self._from_centre(j) for j in range(len(self.attributes))])

    def _from_centre(self, j: int) -> Floats:
        attribute, count, totals = self.attributes[j], self._counts[j], self._totals[j]
        if totals is not None or not isinstance(attribute, Ordered):
            assert totals is not None
            return attribute.row(int(np.argmin(totals)))
        if attribute.levels is not None:
            return attribute.row(median_position(attribute, np.arange(len(count)), count))
        mean = count @ attribute.positions / max(1, int(count.sum()))
        away: Floats = np.abs(attribute.positions - mean) / attribute.span
        return away

    def from_values(self, rows: Sequence[Floats]) -> Floats:
        """Distances of all records to a point that is known by its distances to each column's values."""
        return self._pass(rows)

    def keep(self, records: NDArray[np.int64]) -> None:
        """Go on with some of the records only, numbered anew in their order."""
        self._codes = self._codes[records]
        self._layout()
