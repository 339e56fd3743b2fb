"""What groups of tuples span in every dimension, and what they are released as."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Value
from keepsense.methods.generalize.parts.dimension import Dimension

Spans = tuple[NDArray[Any], NDArray[Any]]


def spans_of(ranks: NDArray[Any], group: NDArray[Any], number: int) -> Spans:
    """Lowest and highest rank of each group in every dimension.

    >>> low, high = spans_of(np.array([[0], [3], [1]]), np.array([0, 1, 0]), 2)
    >>> low.ravel().tolist(), high.ravel().tolist()
    ([0, 3], [1, 3])
    """
    order = np.argsort(group, kind="stable")
    start = np.searchsorted(group[order], np.arange(number))
    sorted_ranks = ranks[order]
    return np.minimum.reduceat(sorted_ranks, start), np.maximum.reduceat(sorted_ranks, start)


def released(
    dimensions: Sequence[Dimension], lows: NDArray[Any], highs: NDArray[Any], group: NDArray[Any]
) -> tuple[NDArray[np.int32], tuple[tuple[Value, ...], ...]]:
    """The code of each tuple in every dimension, where its group is released as its span, and the dictionaries.

    >>> from keepsense.methods.generalize.parts.dimension import numeric
    >>> ages = numeric("age", (31, 35, 40, 44))
    >>> released([ages], np.array([[0], [2]]), np.array([[1], [2]]), np.array([0, 0, 1, 1]))[1]
    (('under 40', '40 or more'),)
    """
    codes = np.empty((len(group), len(dimensions)), dtype=np.int32)
    dictionaries: list[tuple[Value, ...]] = []
    for j, dimension in enumerate(dimensions):
        low, high = lows[:, j].astype(np.int64), highs[:, j].astype(np.int64)
        spans, back = np.unique(low * len(dimension.width) + high, return_inverse=True)
        names = dimension.name_of(spans // len(dimension.width), spans % len(dimension.width))
        place: dict[Value, int] = {}
        code = np.array([place.setdefault(name, len(place)) for name in names], dtype=np.int32)
        codes[:, j] = code[back][group]
        dictionaries.append(tuple(place))
    return codes, tuple(dictionaries)
