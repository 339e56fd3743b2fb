"""Compiled: the originals nearest to each released tuple. The tests have a slow reference."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.numba_cache import njit


@njit(cache=True, nogil=True)
def nearest_groups(
    released: Any, reach: Any, originals: Any, weights: Any, tables: Any, offsets: Any, widths: Any, noise: Any
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """For each released tuple the least distance to an original tuple, and the records at that distance.

    `tables` holds one released x original matrix of distances a column, one after the other; `offsets` and `widths`
    say where each begins and how many originals it has. `reach` is a distance known to occur. Originals come sorted:
    those with the same first columns share their sum, and once it is out of reach all of them are skipped.
    """
    rows, columns = released.shape
    n = len(originals)
    differs = np.zeros(n, np.int64)
    after = np.empty((n, columns), np.int64)
    for o in range(1, n):
        while originals[o, differs[o]] == originals[o - 1, differs[o]]:
            differs[o] += 1
    for o in range(n - 1, -1, -1):
        for j in range(columns):
            after[o, j] = after[o + 1, j] if o + 1 < n and differs[o + 1] > j else o + 1
    least = np.empty(rows, np.float64)
    group = np.zeros(rows, np.int64)
    base = np.empty(columns, np.int64)
    sums = np.zeros(columns + 1, np.float64)
    for r in range(rows):
        for j in range(columns):
            base[j] = offsets[j] + released[r, j] * widths[j]
        best = reach[r]
        near = np.int64(0)
        o = 0
        while o < n:
            step = o + 1
            inside = True
            for j in range(differs[o], columns):
                sums[j + 1] = sums[j] + tables[base[j] + originals[o, j]]
                if sums[j + 1] > best + noise:
                    step = after[o, j]
                    inside = False
                    break
            if inside:
                if sums[columns] < best - noise:
                    best = sums[columns]
                    near = weights[o]
                else:
                    near += weights[o]
            o = step
        least[r] = best
        group[r] = near
    return least, group
