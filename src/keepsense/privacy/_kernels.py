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
def _problem(
    indices: Any, counts: Any, reference: Any, total: Any, stay: Any, matrix: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], float]:
    """Supplies, demands and costs of one class in whole numbers: its counts times the reference's total and back."""
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
    give = np.flatnonzero(held > 0)
    take = np.flatnonzero(wanted > 0)
    cost = np.empty((len(give), len(take)), np.float64)
    for i in range(len(give)):
        for j in range(len(take)):
            cost[i, j] = matrix[give[i], take[j]]
    return held[give], wanted[take], cost, float(size) * float(total)


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
        supply, demand, cost, unit = _problem(indices[lo:hi], counts[lo:hi], reference, total, stay, matrix)
        if unit > 0.0 and len(supply) > 0:
            found[c] = transport(supply, demand, cost) / unit
    return found


@njit(cache=True, nogil=True)
def _alone(supply: Any, demand: Any, cost: Any) -> float:
    """Work if each supply could use every demand for itself: never more than the real work."""
    work = 0.0
    for i in range(len(supply)):
        left = supply[i]
        for j in np.argsort(cost[i]):
            part = min(left, demand[j])
            work += part * cost[i, j]
            left -= part
            if left == 0:
                break
    return work


@njit(cache=True, nogil=True)
def bound_classes(
    starts: Any, indices: Any, counts: Any, reference: Any, matrix: Any, stay: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounds below and above the earth mover's distance of each class."""
    classes = len(starts) - 1
    total = reference.sum()
    low = np.zeros(classes, np.float64)
    high = np.zeros(classes, np.float64)
    for c in range(classes):
        lo, hi = starts[c], starts[c + 1]
        supply, demand, cost, unit = _problem(indices[lo:hi], counts[lo:hi], reference, total, stay, matrix)
        if unit <= 0.0 or len(supply) == 0:
            continue
        low[c] = max(_alone(supply, demand, cost), _alone(demand, supply, np.ascontiguousarray(cost.T))) / unit
        work = 0.0
        left = supply.sum()
        b = len(demand)
        for pair in np.argsort(cost.ravel()):
            i, j = pair // b, pair % b
            part = min(supply[i], demand[j])
            if part > 0:
                work += part * cost[i, j]
                supply[i] -= part
                demand[j] -= part
                left -= part
                if left == 0:
                    break
        high[c] = work / unit
    return low, high


@njit(cache=True, nogil=True)
def nearest_groups(
    released: Any, reach: Any, originals: Any, weights: Any, tables: Any, offsets: Any, widths: Any, noise: Any
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """For each released tuple the least distance to an original tuple, and the records at that distance.

    `tables` holds one released x original matrix of distances a column, one after the other; `offsets` and `widths`
    say where each begins and how many originals it has. `reach` is a distance known to occur: adding up stops as soon
    as the best is out of reach.
    """
    rows, columns = released.shape
    least = np.empty(rows, np.float64)
    group = np.zeros(rows, np.int64)
    base = np.empty(columns, np.int64)
    for r in range(rows):
        for j in range(columns):
            base[j] = offsets[j] + released[r, j] * widths[j]
        best = reach[r]
        near = np.int64(0)
        for o in range(len(originals)):
            far = 0.0
            for j in range(columns):
                far += tables[base[j] + originals[o, j]]
                if far > best + noise:
                    break
            if far < best - noise:
                best = far
                near = weights[o]
            elif far <= best + noise:
                near += weights[o]
        least[r] = best
        group[r] = near
    return least, group
