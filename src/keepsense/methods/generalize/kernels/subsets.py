"""Compiled sweep over the lattices of all subsets of the columns, from the smallest subsets to all columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from keepsense.compiled import njit
from keepsense.methods.generalize.kernels.tables import mark_bad, table_of
from keepsense.methods.generalize.kernels.walk import levels_of
from keepsense.methods.generalize.parts.packed import FAILS, FAILS_TAGGED, HOLDS, HOLDS_TAGGED


@njit(cache=True, nogil=True)
def rank_nodes(heights: Any, strides: Any, out: Any) -> None:
    """Rank of every node: by the number of columns it keeps, then by its height. A level above the top: left out."""
    d = len(heights)
    node = np.empty(d, np.int64)
    most = np.sum(heights) + 1
    for v in range(len(out)):
        levels_of(v, strides, node)
        columns = height = 0
        for j in range(d):
            if node[j] <= heights[j]:
                columns += 1
                height += node[j]
        out[v] = columns * most + height


@njit(cache=True, nogil=True)
def sweep(
    levels: Any, store: Any, goal: Any, strides: Any, order: Any, status: Any, place: Any, checks: int, log: Any
) -> Any:
    """Settle nodes in order until `checks` are made; with 0 checks, stop at the first node that must be checked.

    A node fails if one with a column less fails (the subset property), holds if one with a lower level holds (the
    generalization property), and is checked otherwise. `place[0]` is the position in `order`. Returns the checks made,
    or with 0 checks the node to be checked next, -1 at the end.
    """
    d = len(levels.heights)
    node = np.empty(d, np.int64)
    made = 0
    while place[0] < len(order):
        v = order[place[0]]
        if status[v] == 0:
            levels_of(v, strides, node)
            for j in range(d):
                if node[j] <= levels.heights[j] and status[v + (levels.heights[j] + 1 - node[j]) * strides[j]] >= FAILS:
                    status[v] = FAILS_TAGGED
                    break
        if status[v] == 0:
            for j in range(d):
                if 0 < node[j] <= levels.heights[j]:
                    below = status[v - strides[j]]
                    if below in (HOLDS, HOLDS_TAGGED):
                        status[v] = HOLDS_TAGGED
                        break
        if status[v] == 0:
            if checks == 0:
                return v
            if made == checks:
                return made
            table = table_of(levels, store, node, False)
            suppressed = mark_bad(store, goal, table)
            status[v] = HOLDS if suppressed <= goal.limit and suppressed < goal.total else FAILS
            if made < len(log):
                log[made, 0], log[made, 1], log[made, 2] = v, store.length[table], suppressed
            made += 1
        place[0] += 1
    return made if checks else -1
