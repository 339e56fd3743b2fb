"""Compiled: Ward's merges, and mass spread over a range. The tests have plain references."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.numba_cache import njit


@njit(cache=True, nogil=True)
def spread_mass(
    originals: Any, released: Any, share: Any, covers: Any, starts: Any, widths: Any
) -> NDArray[np.float64]:
    """For each original tuple the mass of all released tuples that may stand for it.

    `covers` holds one released x original table of flags a column, one after the other; `starts` and `widths` say where
    each begins and how many originals it has. Originals come sorted and distinct: those that agree in their first
    columns are skipped together.
    """
    rows, columns = originals.shape
    differs = np.zeros(rows, np.int64)
    after = np.empty((rows, columns), np.int64)
    for x in range(1, rows):
        while originals[x, differs[x]] == originals[x - 1, differs[x]]:
            differs[x] += 1
    for x in range(rows - 1, -1, -1):
        for j in range(columns):
            after[x, j] = after[x + 1, j] if x + 1 < rows and differs[x + 1] > j else x + 1
    mass = np.zeros(rows, np.float64)
    base = np.empty(columns, np.int64)
    for g in range(len(released)):
        for j in range(columns):
            base[j] = starts[j] + released[g, j] * widths[j]
        x = 0
        while x < rows:
            step = x + 1
            fits = True
            for j in range(differs[x], columns):
                if not covers[base[j] + originals[x, j]]:
                    step = after[x, j]
                    fits = False
                    break
            if fits:
                mass[x] += share[g]
            x = step
    return mass


@njit(cache=True, nogil=True)
def ward_merges(cost: Any, weights: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Ward's clustering of weighted points by chains of nearest neighbours.

    `cost[i, j]` is what joining i and j adds to the sum of squares; it is overwritten. Returns for each merge the two
    clusters, named by a member each, and the cost, in the order of the chains (not yet of the costs).
    """
    n = len(weights)
    size = weights.astype(np.float64)
    alive = np.ones(n, np.bool_)
    first = np.empty(max(0, n - 1), np.int64)
    second = np.empty(max(0, n - 1), np.int64)
    price = np.empty(max(0, n - 1), np.float64)
    chain = np.empty(n, np.int64)
    length = 0
    start = 0
    for merge in range(n - 1):
        if length == 0:
            while not alive[start]:
                start += 1
            chain[0] = start
            length = 1
        while True:
            here = chain[length - 1]
            # The previous link wins ties, so that the chain ends.
            if length > 1:
                near = chain[length - 2]
                best = cost[here, near]
            else:
                near = -1
                best = np.inf
            for other in range(n):
                if alive[other] and other != here and cost[here, other] < best:
                    best = cost[here, other]
                    near = other
            if length > 1 and near == chain[length - 2]:
                break
            chain[length] = near
            length += 1
        length -= 2
        keep, gone = min(here, near), max(here, near)
        first[merge], second[merge], price[merge] = keep, gone, best
        alive[gone] = False
        a, b = size[keep], size[gone]
        for other in range(n):
            if alive[other] and other != keep:
                c = size[other]
                joined = ((a + c) * cost[keep, other] + (b + c) * cost[gone, other] - c * best) / (a + b + c)
                cost[keep, other] = joined
                cost[other, keep] = joined
        size[keep] = a + b
    return first, second, price
