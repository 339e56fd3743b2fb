"""Compiled loops of greedy cell recoding. Each has an obvious reference in the tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def joining_costs(rep: Any, level: Any, codes: Any, losses: Any, at: Any, sizes: Any, heights: Any, costs: Any,
                  begin: Any) -> None:  # fmt: skip
    """What a record of a class would lose in each column if some value joined it.

    The class holds `rep[j]` and stands at `level[j]` in column j. `costs[begin[j] + v]` becomes the loss at the lowest
    level from there up where value v meets it, infinite where they never meet.
    """
    for j in range(len(rep)):
        for v in range(sizes[j]):
            step = level[j]
            while step <= heights[j] and codes[at[j, step] + v] != codes[at[j, step] + rep[j]]:
                step += 1
            costs[begin[j] + v] = losses[at[j, step] + rep[j]] if step <= heights[j] else np.inf


@njit(cache=True, nogil=True)
def grow(columns: Any, weights: Any, waiting: Any, k: int, codes: Any, losses: Any, at: Any, sizes: Any, heights: Any,
         begin: Any, owner: Any, classes: int) -> tuple[int, int]:  # fmt: skip
    """Grow classes of at least k records from the waiting tuples, one after the other.

    A class starts with the waiting tuple farthest from the class before it (the first one at the start) and takes in,
    each time, the tuple that adds least loss for all its records together; of several the first. Ends when those who
    wait hold fewer than k records, or cannot meet. Returns how many still wait (in front of `waiting`) and the next
    class number.
    """
    d = columns.shape[1]
    costs = np.zeros(begin[d])
    level = np.zeros(d, np.int64)
    size = len(waiting)
    total = 0
    for i in range(size):
        total += weights[waiting[i]]
    seed = 0
    while total >= k and size > 0:
        t = waiting[seed]
        taken = [seed]
        rep = columns[t]
        level[:] = 0
        weight = weights[t]
        owner[t] = classes
        lost = 0.0
        for j in range(d):
            lost += losses[at[j, 0] + rep[j]]
        joining_costs(rep, level, codes, losses, at, sizes, heights, costs, begin)
        while weight < k:
            best, best_cost = -1, np.inf
            for i in range(size):
                u = waiting[i]
                if owner[u] >= 0:
                    continue
                w = weight + weights[u]
                bound = (best_cost + weight * lost) / w
                cost = 0.0
                for j in range(d):
                    cost += costs[begin[j] + columns[u, j]]
                    if cost >= bound:
                        break
                added = w * cost - weight * lost
                if cost < bound and added < best_cost:
                    best, best_cost = i, added
            if best < 0:
                break
            u = waiting[best]
            owner[u] = classes
            taken.append(best)
            weight += weights[u]
            lost = 0.0
            for j in range(d):
                while codes[at[j, level[j]] + rep[j]] != codes[at[j, level[j]] + columns[u, j]]:
                    level[j] += 1
                lost += losses[at[j, level[j]] + rep[j]]
            joining_costs(rep, level, codes, losses, at, sizes, heights, costs, begin)
        if weight < k:  # nobody left can meet this class
            for i in taken:
                owner[waiting[i]] = -1
            break
        classes += 1
        total -= weight
        kept, far, seed = 0, -1.0, 0
        for i in range(size):
            u = waiting[i]
            if owner[u] >= 0:
                continue
            cost = 0.0
            for j in range(d):
                cost += costs[begin[j] + columns[u, j]]
            if cost > far:
                far, seed = cost, kept
            waiting[kept] = u
            kept += 1
        size = kept
    return size, classes
