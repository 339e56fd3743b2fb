"""Shortest paths along a line of records; the plain reference is in the tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from keepsense.compiled import njit

TIE = 1e-12


@njit(cache=True, nogil=True)
def shortest_path(positions: Any, k: int, by_median: bool) -> Any:
    """For every number of records from the left the begin of its last group in the cheapest grouping, or -1.

    A group is k to 2k - 1 neighbours; it costs their squared distances to its mean, or to its lower median. Mean and
    sum of squares grow with the group record by record, so that nothing cancels. Of equally cheap groups the smallest
    is taken.
    """
    total = len(positions)
    cost = np.full(total + 1, np.inf)
    begin = np.full(total + 1, -1, np.int64)
    cost[0] = 0.0
    for end in range(k, total + 1):
        mean = 0.0
        squares = 0.0
        for size in range(1, min(2 * k - 1, end) + 1):
            first = end - size
            away = positions[first] - mean
            mean += away / size
            squares += away * (positions[first] - mean)
            if size < k or cost[first] == np.inf:
                continue
            price = cost[first] + squares
            if by_median:
                price += size * (mean - positions[first + (size - 1) // 2]) ** 2
            if begin[end] < 0 or price < cost[end] - TIE * abs(cost[end]):
                cost[end] = price
                begin[end] = first
    return begin
