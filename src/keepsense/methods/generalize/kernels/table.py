"""Compiled loops of the TR template. Each has an obvious reference in the tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from keepsense.compiled import njit


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
