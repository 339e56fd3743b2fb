"""One dimension's view of all groups of a division, how the places to cut at are scored, and what betters groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.methods.generalize.parts.dimension import Dimension

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Cutting:
    """One dimension's view of a round: the tuples sorted by group and rank, and every cut right of one of them.

    `left` and `total` are the records left of the cut and in the whole group; `low` and `high` the group's span;
    `ranks` tells each tuple's place in every dimension.

    >>> from keepsense.counts import Counts
    >>> from keepsense.methods.generalize.multidim import divide
    >>> from keepsense.methods.generalize.parts.dimension import numeric
    >>> from keepsense.privacy import KAnonymity
    >>> counts, rounds = Counts.of({"age": [31, 35, 40, 40]}), []
    >>> def last(cutting):
    ...     rounds.append(cutting)
    ...     return cutting.left.astype(float)
    >>> _ = divide(counts, [numeric("age", counts.values[0])], [KAnonymity(2)], score=last)
    >>> rounds[0].left.tolist(), rounds[0].total.tolist()
    ([1, 2, 4], [4, 4, 4])
    """

    dimension: Dimension
    tuples: Longs
    group: Longs
    start: Longs
    rank: Longs
    left: Longs
    total: Longs
    low: Longs
    high: Longs
    ranks: Longs

    def sums(self, numbers: NDArray[Any]) -> tuple[Floats, Floats]:
        """Sums of some numbers a tuple (rows of `numbers`): left of each cut, and in its whole group."""
        run = np.cumsum(numbers[self.tuples], axis=0, dtype=np.float64)
        before = np.concatenate((np.zeros((1, *run.shape[1:])), run))
        ends = np.append(self.start[1:], len(self.tuples))
        return run - before[self.start][self.group], (before[ends] - before[self.start])[self.group]


Score = Callable[[Cutting], Floats]
"""How good each cut is, the higher the better."""

Settle = Callable[[Longs, Longs, Longs, int, Callable[[Longs], Flags]], None]
"""What betters groups once none can be cut: from ranks, weights, the group of each tuple (changed in place), the least
number of records, and what tells of each group whether it keeps the promise."""


def median(cutting: Cutting) -> Floats:
    """As close to half of the group's records on each side as whole values allow.

    >>> from keepsense.counts import Counts
    >>> from keepsense.methods.generalize.multidim import divide
    >>> from keepsense.methods.generalize.parts.dimension import numeric
    >>> from keepsense.privacy import KAnonymity
    >>> counts = Counts.of({"age": [31, 33, 36, 40, 40, 40]})
    >>> ages = numeric("age", counts.values[0], counts.weights)
    >>> sorted(divide(counts, [ages], [KAnonymity(2)], score=median).values[0])
    ['40', 'under 40']
    """
    found: Floats = -np.abs(2.0 * cutting.left - cutting.total)
    return found
