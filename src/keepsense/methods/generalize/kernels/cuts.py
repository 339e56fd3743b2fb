"""Compiled search for the cheapest node that earlier checks do not rule out, in lattices too large to list.

A cut is a node f with a price: every node at or below f costs at least its own loss plus the price, infinite where f
fails. A level one above a column's top leaves the column out of the cut. To escape a cut a node must rise above f in
some column; the cheapest way to escape all cuts (or to pay for some) is found best first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from keepsense.numba_cache import njit


@njit(cache=True, nogil=True)
def _under(level: Any, cut: Any) -> Any:
    """Whether a node is at or below a cut."""
    for j in range(len(level)):  # noqa: SIM110 - generators do not compile well
        if level[j] > cut[j]:
            return False
    return True


@njit(cache=True, nogil=True)
def _escape(level: Any, most: Any, cut: Any, cost: Any, heights: Any) -> Any:
    """Least cost of rising above a cut, and the column to do it in (-1: there is no way)."""
    least, at = np.inf, -1
    for j in range(len(level)):
        if cut[j] < min(heights[j], most[j]):
            more = cost[j, cut[j] + 1] - cost[j, level[j]]
            if more < least:
                least, at = more, j
    return least, at


@njit(cache=True, nogil=True)
def _look(
    level: Any, most: Any, extra: float, cost: Any, heights: Any, cuts: Any, prices: Any, n: int, ways: Any
) -> Any:
    """Cut to branch on (-1: none is left) and what escaping all cuts costs at least.

    Costs of hard cuts that share no column add up; of the cuts that can be paid for, only one counts, because one
    payment may cover them all.
    """
    branch, worst = -1, -1.0
    soft = 0.0
    found = 0
    for i in range(n):
        if prices[i] <= extra or not _under(level, cuts[i]):
            continue
        more, at = _escape(level, most, cuts[i], cost, heights)
        hard = np.isinf(prices[i])
        if hard and at < 0:
            return i, np.inf
        least = more if hard else min(more, prices[i] - extra)
        if least > worst or (least == worst and hard):
            branch, worst = i, least
        if hard:
            ways[found, 0], ways[found, 1] = least, i
            found += 1
        else:
            soft = max(soft, least)
    if branch < 0:
        return -1, 0.0
    order = np.argsort(-ways[:found, 0])
    used = np.zeros(len(level), np.bool_)
    total = 0.0
    for o in order:
        i = int(ways[o, 1])
        free = True
        for j in range(len(level)):
            if used[j] and cuts[i, j] < min(heights[j], most[j]):
                free = False
                break
        if free:
            total += ways[o, 0]
            for j in range(len(level)):
                if cuts[i, j] < min(heights[j], most[j]):
                    used[j] = True
    return branch, max(total, soft)


@njit(cache=True, nogil=True)
def _push(heap: Any, keys: Any, size: int, item: int) -> None:
    i = size
    heap[i] = item
    while i > 0 and keys[heap[(i - 1) // 2]] > keys[heap[i]]:
        heap[i], heap[(i - 1) // 2] = heap[(i - 1) // 2], heap[i]
        i = (i - 1) // 2


@njit(cache=True, nogil=True)
def _pop(heap: Any, keys: Any, size: int) -> Any:
    top = heap[0]
    heap[0] = heap[size - 1]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= size - 1:
            break
        if child + 1 < size - 1 and keys[heap[child + 1]] < keys[heap[child]]:
            child += 1
        if keys[heap[child]] >= keys[heap[i]]:
            break
        heap[i], heap[child] = heap[child], heap[i]
        i = child
    return top


@njit(cache=True, nogil=True)
def cheapest(
    cost: Any, heights: Any, lowest: Any, cuts: Any, prices: Any, n: int, limit: float, states: int, out: Any
) -> Any:
    """The cheapest node by what is known: fills `out`, returns a lower bound of every node's cost and a verdict.

    Verdicts: 2, `out` is the cheapest node and the bound its cost; 1, the search was cut short, `out` is some node that
    no cut rules out and the bound still holds; 0, no node costs less than `limit`.
    """
    d = len(heights)
    level = np.empty((states, d), np.int16)
    most = np.empty((states, d), np.int16)
    extra = np.zeros(states)
    key = np.empty(states)
    ready = np.zeros(states, np.bool_)
    heap = np.empty(states, np.int64)
    ways = np.empty((n + 1, 2))
    key[0] = 0.0
    for j in range(d):
        level[0, j], most[0, j] = lowest[j], heights[j]
        key[0] += cost[j, lowest[j]]
    _push(heap, key, 0, 0)
    waiting, made = 1, 1
    while waiting:
        s = _pop(heap, key, waiting)
        waiting -= 1
        if key[s] >= limit:
            return limit, 0
        here = extra[s]
        for j in range(d):
            here += cost[j, level[s, j]]
        branch, more = _look(level[s], most[s], extra[s], cost, heights, cuts, prices, n, ways)
        if branch < 0:
            out[:] = level[s]
            return here, 2
        if not ready[s]:
            ready[s] = True
            if here + more > key[s]:
                key[s] = here + more
                if key[s] < limit:
                    _push(heap, key, waiting, s)
                    waiting += 1
                continue
        if made + d + 1 >= states:
            _dive(level[s], most[s], cost, heights, cuts, prices, n)
            out[:] = level[s]
            return key[s], 1
        cut = cuts[branch]
        if prices[branch] < np.inf:
            level[made], most[made] = level[s], np.minimum(most[s], cut)
            extra[made], key[made] = prices[branch], max(key[s], here - extra[s] + prices[branch])
            _push(heap, key, waiting, made)
            waiting, made = waiting + 1, made + 1
        roof = most[s].copy()
        for j in range(d):
            if cut[j] < min(heights[j], roof[j]):
                level[made], most[made] = level[s], roof
                level[made, j] = cut[j] + 1
                extra[made] = extra[s]
                key[made] = max(key[s], here + cost[j, cut[j] + 1] - cost[j, level[s, j]])
                _push(heap, key, waiting, made)
                waiting, made = waiting + 1, made + 1
                roof[j] = cut[j]
    return limit, 0


@njit(cache=True, nogil=True)
def _dive(level: Any, most: Any, cost: Any, heights: Any, cuts: Any, prices: Any, n: int) -> None:
    """Rise above every hard cut that is left, each time as cheaply as possible."""
    for i in range(n):
        if np.isinf(prices[i]) and _under(level, cuts[i]):
            _, at = _escape(level, heights, cuts[i], cost, heights)
            if at >= 0:
                level[at] = cuts[i, at] + 1
