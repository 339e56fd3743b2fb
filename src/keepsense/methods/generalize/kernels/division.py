"""Strict median Mondrian in one compiled loop; `multidim` has the general form it must agree with."""

from __future__ import annotations

from typing import Any

import numpy as np

from keepsense.compiled import njit


@njit(cache=True, nogil=True)
def halve(ranks: Any, weights: Any, width: Any, least: int, widest: bool, final: Any) -> tuple[int, int]:
    """Cut groups at the place nearest to half of their records until none can be cut; number the groups in `final`.

    `ranks[t, j]` is tuple t's place in dimension j, `width[j, r]` where that place lies on a scale from 0 to 1. Returns
    the number of groups and the depth of the deepest.
    """
    n, d = ranks.shape
    most = 0
    for j in range(d):
        for t in range(n):
            most = max(most, ranks[t, j])
    order = np.arange(n)
    heap = np.zeros(most + 1, np.int64)
    begin, end, deep = [0], [n], [1]
    low, high = np.empty(d, np.int64), np.empty(d, np.int64)
    tried = np.empty(d, np.bool_)
    groups, deepest = 0, 1
    while len(begin):
        a, b, depth = begin.pop(), end.pop(), deep.pop()
        deepest = max(deepest, depth)
        total = 0
        for i in range(a, b):
            total += weights[order[i]]
        at, chosen = -1, -1
        if total >= 2 * least:
            _span(ranks, order, a, b, low, high)
            tried[:] = False
            for _ in range(d):
                j = _next_dimension(width, low, high, tried, widest)
                if j < 0:
                    break
                tried[j] = True
                at = _middle(ranks, weights, order, a, b, j, low[j], high[j], total, least, heap)
                if at >= 0:
                    chosen = j
                    break
        if chosen < 0:
            for i in range(a, b):
                final[order[i]] = groups
            groups += 1
            continue
        left = _parted(ranks, order, a, b, chosen, at)
        begin.append(left)
        end.append(b)
        deep.append(depth + 1)
        begin.append(a)
        end.append(left)
        deep.append(depth + 1)
    return groups, deepest


@njit(cache=True, nogil=True)
def _span(ranks: Any, order: Any, a: int, b: int, low: Any, high: Any) -> None:
    """Lowest and highest place of a group in each dimension."""
    for j in range(ranks.shape[1]):
        low[j], high[j] = ranks[order[a], j], ranks[order[a], j]
    for i in range(a + 1, b):
        t = order[i]
        for j in range(ranks.shape[1]):
            low[j] = min(low[j], ranks[t, j])
            high[j] = max(high[j], ranks[t, j])


@njit(cache=True, nogil=True)
def _next_dimension(width: Any, low: Any, high: Any, tried: Any, widest: bool) -> int:
    """The widest dimension not tried yet, or the first; -1 where none can be cut."""
    best, chosen = -1.0, -1
    for c in range(len(low)):
        if not tried[c] and low[c] < high[c]:
            span = width[c, high[c]] - width[c, low[c]] if widest else float(len(low) - c)
            if span > best:
                best, chosen = span, c
    return chosen


@njit(cache=True, nogil=True)
def _parted(ranks: Any, order: Any, a: int, b: int, dimension: int, at: int) -> int:
    """Put those up to a place in front; returns where the others begin."""
    left, right = a, b - 1
    while left <= right:
        if ranks[order[left], dimension] <= at:
            left += 1
        else:
            order[left], order[right] = order[right], order[left]
            right -= 1
    return left


@njit(cache=True, nogil=True)
def _middle(ranks: Any, weights: Any, order: Any, a: int, b: int, j: int, low: int, high: int, total: int, least: int,
            heap: Any) -> int:  # fmt: skip
    """Highest rank left of the most even cut that leaves enough on both sides, or -1."""
    at, best = -1, total + 1
    if high - low <= 8 * (b - a):
        for i in range(a, b):
            heap[ranks[order[i], j]] += weights[order[i]]
        left = 0
        for r in range(low, high):
            if heap[r]:
                left += heap[r]
                if left >= least and total - left >= least and abs(2 * left - total) < best:
                    best, at = abs(2 * left - total), r
        heap[low : high + 1] = 0
        return at
    mine = np.empty(b - a, np.int64)
    for i in range(a, b):
        mine[i - a] = ranks[order[i], j]
    sorted_ = np.argsort(mine)
    left = 0
    for i in range(len(sorted_) - 1):
        left += weights[order[a + sorted_[i]]]
        r = mine[sorted_[i]]
        if r != mine[sorted_[i + 1]] and left >= least and total - left >= least and abs(2 * left - total) < best:
            best, at = abs(2 * left - total), r
    return at


@njit(cache=True, nogil=True)
def regroup(tuples: Any, label: Any, start: Any, size: int) -> Any:
    """Tuples sorted by group and rank in the order of new groups; those with a negative label are left out.

    New groups part old ones, so a stable pass over the old order keeps the ranks in order: the same as sorting again.
    """
    place = start.copy()
    found = np.empty(size, np.int64)
    for i in range(len(tuples)):
        group = label[tuples[i]]
        if group >= 0:
            found[place[group]] = tuples[i]
            place[group] += 1
    return found
