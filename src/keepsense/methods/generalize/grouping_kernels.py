"""Compiled loops of local recoding and of the TR template.

Each has a plain reference in the tests.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from keepsense.numba_cache import njit


@njit(cache=True, nogil=True)
def group_at(waiting: Any, size: int, columns: Any, node: Any, codes: Any, losses: Any, at: Any, weights: Any,
             k: int, limit: float, owner: Any, classes: int, head: Any, weight: Any, loss: Any, given: Any,
             slot: Any) -> tuple[int, int, float]:  # fmt: skip
    """Group the waiting tuples at one node and settle every group of at least k records that loses at most `limit`.

    `columns[t, j]` is tuple t's value in column j; its code and loss at level l of column j stand at
    `at[j, l] + value`. Settled tuples get a class number in `owner` and leave `waiting`. Returns how many still wait,
    the next class number, and the least loss among groups that are large enough but lose more.
    """
    d = columns.shape[1]
    mask = len(head) - 1
    head[:] = -1
    for i in range(size):
        t = waiting[i]
        mixed = np.uint64(1469598103934665603)
        for j in range(d):
            mixed = (mixed ^ np.uint64(codes[at[j, node[j]] + columns[t, j]])) * np.uint64(1099511628211)
        mixed ^= mixed >> np.uint64(29)
        place = np.int64(mixed & np.uint64(mask))
        while True:
            first = head[place]
            if first < 0:
                head[place] = t
                weight[place] = 0
                given[place] = -1
                lost = 0.0
                for j in range(d):
                    lost += losses[at[j, node[j]] + columns[t, j]]
                loss[place] = lost
                break
            same = True
            for j in range(d):
                if codes[at[j, node[j]] + columns[t, j]] != codes[at[j, node[j]] + columns[first, j]]:
                    same = False
                    break
            if same:
                break
            place = (place + 1) & mask
        weight[place] += weights[t]
        slot[i] = place
    kept = 0
    later = np.inf
    for i in range(size):
        t, place = waiting[i], slot[i]
        if weight[place] >= k:
            if loss[place] <= limit:
                if given[place] < 0:
                    given[place] = classes
                    classes += 1
                owner[t] = given[place]
                continue
            later = min(later, loss[place])
        waiting[kept] = t
        kept += 1
    return kept, classes, later


@njit(cache=True, nogil=True)
def lowest_levels(owner: Any, columns: Any, codes: Any, at: Any, heights: Any, out: Any) -> None:
    """`out[c, j]` = the lowest level of column j at which all tuples of class c agree."""
    d = columns.shape[1]
    first = np.full(len(out), -1, np.int64)
    for t in range(len(owner)):
        c = owner[t]
        if first[c] < 0:
            first[c] = t
            continue
        for j in range(d):
            level = out[c, j]
            while level < heights[j] and (
                codes[at[j, level] + columns[t, j]] != codes[at[j, level] + columns[first[c], j]]
            ):
                level += 1
            out[c, j] = level


# The TR template


@njit(cache=True, nogil=True)
def group(units: Any, changed: int, fresh: Any, head: Any, owner: Any, first: Any) -> int:
    """Number the distinct rows of `units`, as they are once row i holds `fresh[i]` in column `changed`.

    With `changed` -1 nothing changes. `owner[i]` becomes the number of row i's group, `first[g]` the row that opened
    group g; groups are numbered in order of first appearance. `head` is room for a hash table, its length a power of
    two and more than the number of rows. Returns how many groups there are.
    """
    n, d = units.shape
    mask = len(head) - 1
    head[:] = -1
    groups = 0
    for i in range(n):
        mixed = np.uint64(1469598103934665603)
        for j in range(d):
            code = units[i, j]
            if j == changed:
                code = fresh[i]
            mixed = (mixed ^ np.uint64(code)) * np.uint64(1099511628211)
            mixed ^= mixed >> np.uint64(31)
        place = np.int64(mixed & np.uint64(mask))
        while True:
            g = head[place]
            if g < 0:
                head[place] = groups
                first[groups] = i
                owner[i] = groups
                groups += 1
                break
            other = first[g]
            same = True
            for j in range(d):
                if j == changed:
                    same = fresh[i] == fresh[other]
                else:
                    same = units[i, j] == units[other, j]
                if not same:
                    break
            if same:
                owner[i] = g
                break
            place = (place + 1) & mask
    return groups


@njit(cache=True, nogil=True)
def alone(units: Any, row: int, changed: int, moved: Any) -> bool:
    """Whether no other row equals one of them, once every row holds `moved` of what it holds in column `changed`."""
    n, d = units.shape
    goal = moved[units[row, changed]]
    for i in range(n):
        if i == row or moved[units[i, changed]] != goal:
            continue
        same = True
        for j in range(d):
            if j != changed and units[i, j] != units[row, j]:
                same = False
                break
        if same:
            return False
    return True
