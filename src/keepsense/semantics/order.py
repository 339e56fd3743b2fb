"""Sorting words: the preorder by closeness to a reference, and what lies farthest (Rodríguez-García 2017, 4.7, 5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Counts
from keepsense.semantics.attribute import Attribute

_TIE = 1e-9


def closeness_ranks(column: Attribute, reference: int) -> NDArray[np.int64]:
    """Rank of each value by closeness to a reference value, from 0; equally close values share a rank (Eq. 4.26).

    >>> from keepsense.semantics.attribute import Ordered
    >>> closeness_ranks(Ordered.of(Counts.of({"age": [40, 30, 50, 20]}), "age"), 0).tolist()
    [0, 1, 1, 2]
    """
    row = column.row(reference)
    order = column.order(reference)
    steps = np.diff(row[order], prepend=row[order[0]]) > _TIE * max(1.0, float(row.max()))
    ranks = np.empty(len(row), dtype=np.int64)
    ranks[order] = np.cumsum(steps)
    return ranks


def most_distant_value(column: Attribute) -> tuple[int, ...]:
    """Values with the greatest sum of distances to all rows (Eq. 5.1); more than one where they tie.

    >>> from keepsense.semantics.attribute import Ordered
    >>> most_distant_value(Ordered.of(Counts.of({"age": [40, 41, 90]}), "age"))
    (2,)
    """
    return _greatest(np.where(column.weights > 0, column.totals(), -1.0))


def most_distant_from(column: Attribute, reference: int) -> tuple[int, ...]:
    """Values farthest from a reference value (Eq. 5.3); more than one where they tie.

    >>> from keepsense.semantics.attribute import Ordered
    >>> most_distant_from(Ordered.of(Counts.of({"age": [40, 30, 50, 20, 60]}), "age"), 0)
    (3, 4)
    """
    return _greatest(np.where(column.weights > 0, column.row(reference), -1.0))


def tuple_distances(counts: Counts, columns: Sequence[Attribute], reference: int) -> Floats:
    """Distance of one distinct tuple to all: the average over the attributes (Eq. 5.5).

    >>> from keepsense.semantics.attribute import Ordered
    >>> counts = Counts.of({"age": [20, 30, 40], "stay": [1, 1, 3]})
    >>> tuple_distances(counts, [Ordered.of(counts, "age"), Ordered.of(counts, "stay")], 0).tolist()
    [0.0, 0.25, 1.0]
    """
    total = np.zeros(len(counts))
    for column in columns:
        codes = counts.column(column.name)
        total += column.row(int(codes[reference]))[codes]
    return total / len(columns)


def most_distant_tuple(counts: Counts, columns: Sequence[Attribute], reference: int | None = None) -> tuple[int, ...]:
    """Distinct tuples farthest from all rows (Eq. 5.6) or from one tuple (Eq. 5.8); more than one where they tie.

    The sum over all rows splits into the attributes' own sums, so it costs no more than they do.

    >>> from keepsense.semantics.attribute import Ordered
    >>> counts = Counts.of({"age": [20, 30, 40], "stay": [1, 1, 3]})
    >>> columns = [Ordered.of(counts, "age"), Ordered.of(counts, "stay")]
    >>> most_distant_tuple(counts, columns), most_distant_tuple(counts, columns, 2)
    ((2,), (0,))
    """
    if reference is not None:
        return _greatest(tuple_distances(counts, columns, reference))
    return _greatest(tuple_totals(counts, columns) / len(columns))


def tuple_totals(counts: Counts, columns: Sequence[Attribute]) -> Floats:
    """Sum of each distinct tuple's distances to all rows, times the number of attributes.

    >>> from keepsense.semantics.attribute import Ordered
    >>> counts = Counts.of({"age": [20, 40, 40]})
    >>> tuple_totals(counts, [Ordered.of(counts, "age")]).tolist()
    [2.0, 1.0]
    """
    total = np.zeros(len(counts))
    for column in columns:
        total += column.totals()[counts.column(column.name)]
    return total


def _greatest(scores: Floats) -> tuple[int, ...]:
    top = float(scores.max())
    return tuple(int(i) for i in np.flatnonzero(scores >= top - _TIE * max(1.0, top)))
