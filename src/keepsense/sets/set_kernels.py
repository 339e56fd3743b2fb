"""Compiled: distances and centres of sets held as compressed rows. The tests have plain references.

A pass gives the distance of every record to one fixed record, set or centre, which has been spread over the vocabulary
before: `reach[v]` says how far item v is from it. Records with no copy left are measured too (a branch would cost
more) and passed over when one is chosen; they are let go of from time to time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from keepsense.numba_cache import njit


@njit(cache=True, nogil=True)
def add_rows(block: Any, index: Any, semantic: int, reach: Any) -> None:
    """Add the given rows of a block of distances to the reach of each semantic item."""
    for p in range(len(index)):
        row = index[p]
        for v in range(semantic):
            reach[v] += block[row, v]


@njit(cache=True, nogil=True)
def least_rows(block: Any, index: Any, semantic: int, reach: Any) -> None:
    """Lower the reach of each semantic item to the least of the given rows."""
    for p in range(len(index)):
        row = index[p]
        for v in range(semantic):
            if block[row, v] < reach[v]:
                reach[v] = block[row, v]


@njit(cache=True, nogil=True)
def most_rows(block: Any, index: Any, semantic: int, reach: Any) -> None:
    """Raise the reach of each semantic item to the most of the given rows."""
    for p in range(len(index)):
        row = index[p]
        for v in range(semantic):
            if block[row, v] > reach[v]:
                reach[v] = block[row, v]


@njit(cache=True, nogil=True)
def mean_pass(starts: Any, items: Any, reach: Any, out: Any) -> None:
    """Mean reach over each record's items."""
    for i in range(len(out)):
        total = 0.0
        for p in range(starts[i], starts[i + 1]):
            total += reach[items[p]]
        out[i] = total / (starts[i + 1] - starts[i])


@njit(cache=True, nogil=True)
def least_pass(starts: Any, items: Any, reach: Any, out: Any) -> None:
    """Least reach among each record's items."""
    for i in range(len(out)):
        least = np.inf
        for p in range(starts[i], starts[i + 1]):
            least = min(least, reach[items[p]])
        out[i] = least


@njit(cache=True, nogil=True)
def most_pass(starts: Any, items: Any, reach: Any, out: Any) -> None:
    """Greatest reach among each record's items."""
    for i in range(len(out)):
        most = 0.0
        for p in range(starts[i], starts[i + 1]):
            most = max(most, reach[items[p]])
        out[i] = most


@njit(cache=True, nogil=True)
def begin_both_ways(
    starts: Any, items: Any, reach: Any, mark: Any, opaque: int, semantic: int, least: bool, out: Any
) -> None:
    """Sums from each record to the fixed set, and back from the fixed set's opaque items.

    `mark` tells which opaque items the fixed set holds, `opaque` how many they are.
    """
    for i in range(len(out)):
        total = 0.0
        shared = 0
        for p in range(starts[i], starts[i + 1]):
            v = items[p]
            total += reach[v]
            if v >= semantic and mark[v]:
                shared += 1
        # Going back: an opaque item is 0 from itself and 1 from all else, so its least is 0 where it is shared; its
        # greatest is 0 only where the record holds nothing but that item.
        if least or starts[i + 1] - starts[i] == 1:
            total += opaque - shared
        else:
            total += opaque
        out[i] = total


@njit(cache=True, nogil=True)
def back_least(starts: Any, items: Any, table: Any, semantic: int, out: Any) -> None:
    """Add, for each semantic item of the fixed set (a column of the table), its least distance to each record."""
    width = table.shape[1]
    best = np.empty(width)
    for i in range(len(out)):
        best[:] = 1.0
        for p in range(starts[i], starts[i + 1]):
            v = items[p]
            if v < semantic:
                for c in range(width):
                    best[c] = min(best[c], table[v, c])
        total = 0.0
        for c in range(width):
            total += best[c]
        out[i] += total


@njit(cache=True, nogil=True)
def back_most(starts: Any, items: Any, table: Any, semantic: int, out: Any) -> None:
    """Add, for each semantic item of the fixed set (a column of the table), its greatest distance to each record."""
    width = table.shape[1]
    best = np.empty(width)
    for i in range(len(out)):
        best[:] = 0.0
        for p in range(starts[i], starts[i + 1]):
            v = items[p]
            if v < semantic:
                for c in range(width):
                    best[c] = max(best[c], table[v, c])
            else:
                best[:] = 1.0
        total = 0.0
        for c in range(width):
            total += best[c]
        out[i] += total


@njit(cache=True, nogil=True)
def divide_by_sizes(starts: Any, size: int, out: Any) -> None:
    """Divide each sum by the sizes of both sets."""
    for i in range(len(out)):
        out[i] /= size + starts[i + 1] - starts[i]


@njit(cache=True, nogil=True)
def add_fixed(numbers: Any, unit: float, copies: int, until: int, sums: Any) -> None:
    """Add `copies` times the numbers, rounded to whole units, so that taking them off again leaves no trace."""
    for v in range(until):
        sums[v] += copies * np.int64(np.rint(numbers[v] * unit))


@njit(cache=True, nogil=True)
def closest(distances: Any, left: Any, noise: float) -> int:
    """First of the records at the least distance."""
    best = -1
    low = np.inf
    for i in range(len(left)):
        if distances[i] < low - noise and left[i] > 0:
            best = i
            low = distances[i]
    return best


@njit(cache=True, nogil=True)
def pair_distance(kind: int, block: Any, place: Any, semantic: int, first: Any, second: Any, best: Any) -> float:
    """Distance of two sets of items; kinds are numbered as in `set_distance.KINDS`. `best` is room for the second."""
    total = 0.0
    low = np.inf
    high = 0.0
    best[: len(second)] = np.inf if kind == 3 else 0.0
    for a in first:
        near = np.inf
        far = 0.0
        for q in range(len(second)):
            b = second[q]
            if a == b:
                d = 0.0
            elif a >= semantic or b >= semantic:
                d = 1.0
            else:
                d = block[place[a], b]
            near = min(near, d)
            far = max(far, d)
            if kind == 0:
                total += d
            elif kind == 3:
                best[q] = min(best[q], d)
            elif kind == 4:
                best[q] = max(best[q], d)
        low = min(low, near)
        high = max(high, far)
        if kind == 3:
            total += near
        elif kind == 4:
            total += far
    if kind == 0:
        return total / (len(first) * len(second))
    if kind == 1:
        return low
    if kind == 2:
        return high
    for q in range(len(second)):
        total += best[q]
    return total / (len(first) + len(second))


@njit(cache=True, nogil=True)
def group_centroids(
    kind: int,
    block: Any,
    place: Any,
    semantic: int,
    starts: Any,
    items: Any,
    bounds: Any,
    records: Any,
    copies: Any,
    fit: Any,
    noise: float,
    out: Any,
) -> None:
    """For each group the record that is fit with the least sum of distances to all of it; of equals the lowest."""
    widest = 0
    for r in records:
        widest = max(widest, starts[r + 1] - starts[r])
    best = np.empty(widest)
    for g in range(len(bounds) - 1):
        size = 0
        for p in range(bounds[g], bounds[g + 1]):
            size += copies[p]
        chosen = -1
        low = np.inf
        for p in range(bounds[g], bounds[g + 1]):
            if not fit[p]:
                continue
            r = records[p]
            total = 0.0
            for q in range(bounds[g], bounds[g + 1]):
                s = records[q]
                total += copies[q] * pair_distance(
                    kind,
                    block,
                    place,
                    semantic,
                    items[starts[r] : starts[r + 1]],
                    items[starts[s] : starts[s + 1]],
                    best,
                )
            total /= size
            if chosen < 0 or total < low - noise or (total <= low + noise and r < chosen):
                low = min(total, low)
                chosen = r
        out[g] = chosen
