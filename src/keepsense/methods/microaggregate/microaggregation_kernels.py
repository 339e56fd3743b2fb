"""Compiled: nearest and farthest records, and the cheapest grouping of a line. The tests have plain references."""

from __future__ import annotations

from typing import Any

import numpy as np

from keepsense.numba_cache import njit

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


@njit(cache=True, nogil=True)
def farthest(distances: Any, left: Any, noise: float) -> int:
    """First of the records at the greatest distance."""
    best = -1
    top = -np.inf
    for i in range(len(left)):
        if distances[i] > top + noise and left[i] > 0:
            best = i
            top = distances[i]
    return best


@njit(cache=True, nogil=True)
def nearest(distances: Any, left: Any, wanted: int, noise: float) -> Any:
    """Up to `wanted` records at the least distances, the nearest first; of equals the first comes first."""
    place = np.empty(wanted, np.int64)
    far = np.full(wanted, np.inf)
    held = 0
    for i in range(len(left)):
        d = distances[i]
        if not d < far[wanted - 1] - noise or left[i] == 0:
            continue
        at = held if held < wanted else wanted - 1
        while at > 0 and d < far[at - 1] - noise:
            if at < wanted:
                far[at] = far[at - 1]
                place[at] = place[at - 1]
            at -= 1
        far[at] = d
        place[at] = i
        if held < wanted:
            held += 1
    return place[:held]


@njit(cache=True, nogil=True)
def nearest_in_parts(distances: Any, record: Any, part: Any, alive: Any, parts: int, noise: float) -> Any:
    """For each part the row that is alive and whose record is nearest, the first of equals; -1 where none is alive."""
    found = np.full(parts, -1, np.int64)
    low = np.full(parts, np.inf)
    for i in range(len(record)):
        d = distances[record[i]]
        if alive[i] and d < low[part[i]] - noise:
            low[part[i]] = d
            found[part[i]] = i
    return found
