"""Compiled loops: optimal transport and nearest records. Each has an obvious reference in the tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def transport(supply: Any, demand: Any, cost: Any) -> float:
    """Least work to ship whole-number supplies to demands of the same total.

    Successive shortest paths with potentials: a dense Dijkstra from all open supplies to the nearest open demand, then
    as much as fits along that path.
    """
    a, b = len(supply), len(demand)
    n = a + b
    left = supply.copy()
    want = demand.copy()
    flow = np.zeros((a, b), np.int64)
    potential = np.zeros(n, np.float64)
    dist = np.empty(n, np.float64)
    done = np.empty(n, np.bool_)
    before = np.empty(n, np.int64)
    open_supply = left.sum()
    while open_supply > 0:
        for v in range(n):
            dist[v] = np.inf
            done[v] = False
            before[v] = -1
        for i in range(a):
            if left[i] > 0:
                dist[i] = 0.0
        target = -1
        while target < 0:
            here = -1
            for v in range(n):
                if not done[v] and dist[v] < np.inf and (here < 0 or dist[v] < dist[here]):
                    here = v
            if here < 0:
                return np.inf
            done[here] = True
            if here >= a:
                j = here - a
                if want[j] > 0:
                    target = here
                    break
                for i in range(a):
                    if flow[i, j] > 0 and not done[i]:
                        step = -cost[i, j] + potential[here] - potential[i]
                        step = max(step, 0.0)
                        if dist[here] + step < dist[i]:
                            dist[i] = dist[here] + step
                            before[i] = here
            else:
                for j in range(b):
                    v = a + j
                    if not done[v]:
                        step = cost[here, j] + potential[here] - potential[v]
                        step = max(step, 0.0)
                        if dist[here] + step < dist[v]:
                            dist[v] = dist[here] + step
                            before[v] = here
        reach = dist[target]
        for v in range(n):
            potential[v] += min(dist[v], reach)
        amount = want[target - a]
        v = target
        while before[v] >= 0:
            u = before[v]
            if u >= a:
                amount = min(amount, flow[v, u - a])
            v = u
        amount = min(amount, left[v])
        left[v] -= amount
        v = target
        while before[v] >= 0:
            u = before[v]
            if u < a:
                flow[u, v - a] += amount
            else:
                flow[v, u - a] -= amount
            v = u
        want[target - a] -= amount
        open_supply -= amount
    work = 0.0
    for i in range(a):
        for j in range(b):
            if flow[i, j] > 0:
                work += flow[i, j] * cost[i, j]
    return work


@njit(cache=True, nogil=True)
def _masses(
    indices: Any, counts: Any, reference: Any, total: Any, stay: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64], float]:
    """What each value gives and takes in whole numbers: the class's counts times the reference's total and back."""
    size = np.int64(0)
    for e in range(len(indices)):
        size += counts[e]
    m = len(reference)
    held = np.zeros(m, np.int64)
    for e in range(len(indices)):
        held[indices[e]] += counts[e] * total
    wanted = np.empty(m, np.int64)
    for v in range(m):
        wanted[v] = reference[v] * size
        if stay:
            both = min(held[v], wanted[v])
            held[v] -= both
            wanted[v] -= both
    return held, wanted, float(size) * float(total)


@njit(cache=True, nogil=True)
def transport_classes(
    starts: Any, indices: Any, counts: Any, reference: Any, matrix: Any, stay: Any
) -> NDArray[np.float64]:
    """Exact earth mover's distance of each class to the reference."""
    classes = len(starts) - 1
    total = reference.sum()
    found = np.zeros(classes, np.float64)
    for c in range(classes):
        lo, hi = starts[c], starts[c + 1]
        held, wanted, unit = _masses(indices[lo:hi], counts[lo:hi], reference, total, stay)
        give = np.flatnonzero(held > 0)
        take = np.flatnonzero(wanted > 0)
        if unit <= 0.0 or len(give) == 0:
            continue
        cost = np.empty((len(give), len(take)), np.float64)
        for i in range(len(give)):
            for j in range(len(take)):
                cost[i, j] = matrix[give[i], take[j]]
        found[c] = transport(held[give], wanted[take], cost) / unit
    return found


@njit(cache=True, nogil=True)
def _shipped(give: Any, take: Any, matrix: Any, near: Any, alone: Any) -> float:
    """Work if each value ships to its nearest takers in turn.

    With `alone` every value finds all takers fresh, which never costs more than the real work; without, takers fill
    up, which is one way of doing it and never costs less.
    """
    open_ = take.copy()
    work = 0.0
    for i in range(len(give)):
        left = give[i]
        if left == 0:
            continue
        for p in range(len(near)):
            j = near[i, p]
            part = min(left, take[j] if alone else open_[j])
            if part > 0:
                work += part * matrix[i, j]
                left -= part
                if not alone:
                    open_[j] -= part
                if left == 0:
                    break
    return work


@njit(cache=True, nogil=True)
def bound_classes(
    starts: Any, indices: Any, counts: Any, reference: Any, matrix: Any, stay: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounds below and above the earth mover's distance of each class, from either side the better one."""
    classes, m = len(starts) - 1, len(reference)
    total = reference.sum()
    low = np.zeros(classes, np.float64)
    high = np.zeros(classes, np.float64)
    back = np.ascontiguousarray(matrix.T)
    near = np.empty((m, m), np.int64)
    near_back = np.empty((m, m), np.int64)
    for v in range(m):
        near[v] = np.argsort(matrix[v])
        near_back[v] = np.argsort(back[v])
    for c in range(classes):
        lo, hi = starts[c], starts[c + 1]
        held, wanted, unit = _masses(indices[lo:hi], counts[lo:hi], reference, total, stay)
        if unit > 0.0:
            there = _shipped(held, wanted, matrix, near, True)
            low[c] = max(there, _shipped(wanted, held, back, near_back, True)) / unit
            there = _shipped(held, wanted, matrix, near, False)
            high[c] = min(there, _shipped(wanted, held, back, near_back, False)) / unit
    return low, high


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
