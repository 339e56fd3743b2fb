"""Compiled: optimal transport. The tests have a plain reference."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.numba_cache import njit

_WHOLE = 2.0**60
"""Masses add up to less than this, so that no sum of whole numbers overflows."""


@njit(cache=True, nogil=True)
def transport(supply: Any, demand: Any, cost: Any) -> float:
    """Least work to ship whole-number supplies to demands of the same total.

    Successive shortest paths with potentials: a dense Dijkstra from all open supplies to the nearest open demand, then
    as much as fits along that path. Nodes are the suppliers, then the takers.
    """
    nodes = len(supply) + len(demand)
    left, want = supply.copy(), demand.copy()
    flow = np.zeros(cost.shape, np.int64)
    potential, distance = np.zeros(nodes, np.float64), np.empty(nodes, np.float64)
    before = np.empty(nodes, np.int64)
    while left.sum() > 0:
        taker = _nearest_taker(left, want, flow, cost, potential, distance, before)
        if taker < 0:
            return np.inf
        potential += np.minimum(distance, distance[taker])
        _send(left, want, flow, before, taker)
    return float((flow * cost).sum())


@njit(cache=True, nogil=True)
def _nearest_taker(left: Any, want: Any, flow: Any, cost: Any, potential: Any, distance: Any, before: Any) -> int:
    """The open demand that is nearest to any open supply, with distances and the way there; -1 where there is none."""
    a, b = cost.shape
    done = np.zeros(a + b, np.bool_)
    before[:] = -1
    distance[:] = np.inf
    distance[:a][left > 0] = 0.0
    while True:
        node = -1
        for v in range(a + b):
            if not done[v] and distance[v] < np.inf and (node < 0 or distance[v] < distance[node]):
                node = v
        if node < 0 or (node >= a and want[node - a] > 0):
            return node
        done[node] = True
        # a supplier ships to every taker; a taker can only send back what it gets
        ships = node < a
        for v in range(a if ships else 0, a + b if ships else a):
            if done[v] or (not ships and flow[v, node - a] == 0):
                continue
            price = cost[node, v - a] if ships else -cost[v, node - a]
            length = distance[node] + max(price + potential[node] - potential[v], 0.0)
            if length < distance[v]:
                distance[v] = length
                before[v] = node


@njit(cache=True, nogil=True)
def _send(left: Any, want: Any, flow: Any, before: Any, taker: int) -> None:
    """Ship as much as fits along the way to a taker."""
    a = len(left)
    amount = want[taker - a]
    v = taker
    while before[v] >= 0:
        if before[v] >= a:
            amount = min(amount, flow[v, before[v] - a])
        v = before[v]
    amount = min(amount, left[v])
    left[v] -= amount
    want[taker - a] -= amount
    v = taker
    while before[v] >= 0:
        if before[v] < a:
            flow[before[v], v - a] += amount
        else:
            flow[v, before[v] - a] -= amount
        v = before[v]


@njit(cache=True, nogil=True)
def _scaled(counts: Any, total: Any) -> NDArray[np.int64]:
    """Shares of a fixed whole; what rounding leaves over goes to the commonest value."""
    scaled = np.zeros(len(counts), np.int64)
    for v in range(len(counts)):
        scaled[v] = np.int64(float(counts[v]) / float(total) * _WHOLE)
    scaled[np.argmax(counts)] += np.int64(_WHOLE) - scaled.sum()
    return scaled


@njit(cache=True, nogil=True)
def _masses(
    indices: Any, counts: Any, reference: Any, total: Any, stay: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64], float]:
    """What each value gives and takes in whole numbers: the class's counts times the reference's total and back.

    Where these products are too large, shares of a fixed whole: wrong by less than the noise of floats.
    """
    size = counts.sum()
    held = np.zeros(len(reference), np.int64)
    for e in range(len(indices)):
        held[indices[e]] += counts[e]
    if float(size) * float(total) < _WHOLE:
        held *= total
        wanted = reference * size
        unit = float(size) * float(total)
    else:
        held, wanted, unit = _scaled(held, size), _scaled(reference, total), _WHOLE
    if stay:
        both = np.minimum(held, wanted)
        held -= both
        wanted -= both
    return held, wanted, unit


@njit(cache=True, nogil=True)
def transport_classes(
    starts: Any, indices: Any, counts: Any, reference: Any, matrix: Any, stay: Any
) -> NDArray[np.float64]:
    """Exact earth mover's distance of each class to the reference."""
    work = np.zeros(len(starts) - 1, np.float64)
    for c in range(len(work)):
        lo, hi = starts[c], starts[c + 1]
        held, wanted, unit = _masses(indices[lo:hi], counts[lo:hi], reference, reference.sum(), stay)
        give, take = np.flatnonzero(held > 0), np.flatnonzero(wanted > 0)
        if unit > 0.0 and len(give) > 0:
            work[c] = transport(held[give], wanted[take], matrix[give][:, take]) / unit
    return work


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
        for p in range(len(near)):
            if left == 0:
                break
            j = near[i, p]
            part = min(left, take[j] if alone else open_[j])
            work += part * matrix[i, j]
            left -= part
            if not alone:
                open_[j] -= part
    return work


@njit(cache=True, nogil=True)
def bound_classes(
    starts: Any, indices: Any, counts: Any, reference: Any, matrix: Any, stay: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounds below and above the earth mover's distance of each class, from either side the better one."""
    classes, m = len(starts) - 1, len(reference)
    total = reference.sum()
    low, high = np.zeros(classes, np.float64), np.zeros(classes, np.float64)
    back = np.ascontiguousarray(matrix.T)
    near, near_back = np.empty((m, m), np.int64), np.empty((m, m), np.int64)
    for v in range(m):
        near[v] = np.argsort(matrix[v])
        near_back[v] = np.argsort(back[v])
    for c in range(classes):
        lo, hi = starts[c], starts[c + 1]
        held, wanted, unit = _masses(indices[lo:hi], counts[lo:hi], reference, total, stay)
        if unit > 0.0:
            forth = _shipped(held, wanted, matrix, near, True)
            low[c] = max(forth, _shipped(wanted, held, back, near_back, True)) / unit
            forth = _shipped(held, wanted, matrix, near, False)
            high[c] = min(forth, _shipped(wanted, held, back, near_back, False)) / unit
    return low, high
