"""Records whose distances are all known: worked out once for a distance, and used for every k and order.

MDAV asks `SetSpace` for the same distances over and over; of a thousand records all fit into one table. The tests set
groups and centroids beside those of the product.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from keepsense.methods.microaggregate.mdav import Partition
from keepsense.sets.set_distance import SetSpace

Floats = NDArray[np.float64]


def all_distances(space: SetSpace) -> Floats:
    """Distances of every record to every other."""
    return np.stack([space.from_record(record).copy() for record in range(len(space))])


class TableSpace:
    """A space for MDAV on a table of distances."""

    noise = SetSpace.noise

    def __init__(self, table: Floats) -> None:
        self.table = table
        self._sums: Floats = np.zeros(len(table))
        self._total = 0

    def start(self, left: NDArray[np.int64]) -> None:
        """Sum the distances to what is left."""
        self._sums = self.table @ left
        self._total = int(left.sum())

    def from_centre(self, left: NDArray[np.int64]) -> Floats:
        """Distances to the record with the least mean distance to what is left; of equals the first."""
        from keepsense.sets.set_kernels import closest

        return self.from_record(int(closest(self._sums / max(1, self._total), left, self.noise)))

    def from_record(self, record: int) -> Floats:
        """Distances to one record."""
        row: Floats = self.table[record]
        return row

    def leave(self, record: int, copies: int, known: Floats | None = None) -> None:
        """Take some copies of a record out of the sums."""
        self._sums = self._sums - copies * self.table[record]
        self._total -= copies

    def keep(self, records: NDArray[np.int64]) -> None:
        """Go on with these records only."""
        self.table = np.ascontiguousarray(self.table[np.ix_(records, records)])
        self._sums = self._sums[records]


def centres_of(table: Floats, partition: Partition) -> NDArray[np.int64]:
    """Record of each group with the least mean distance to all of it, itself included (Eq. 7); of equals the first."""
    found = []
    for records, copies in partition:
        order = np.argsort(records)
        mean = (table[np.ix_(records, records)] @ copies)[order] / copies.sum()
        found.append(records[order][int(np.argmax(mean <= mean.min() + TableSpace.noise))])
    return np.array(found, dtype=np.int64)
