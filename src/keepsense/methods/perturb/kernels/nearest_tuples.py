"""Who is near a reference in many attributes: all tuples are looked at, because hardly any can be ruled out unseen.

Where there are few attributes, `reach` and `gather` of `cluster_walk` see only those with near values; they are the
reference for this way, which finds the same tuples in the same order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from keepsense.compiled import njit

FEW = 64
"""Tuples near a reference up to which they are put in order one by one."""


@njit(cache=True, nogil=True)
def push(far: Any, size: Any, n: Any, d: Any, w: Any) -> None:
    """Put a distance and its records on a heap of n, the greatest distance first."""
    i = n
    far[i], size[i] = d, w
    while i > 0 and far[(i - 1) // 2] < far[i]:
        up = (i - 1) // 2
        far[i], far[up] = far[up], far[i]
        size[i], size[up] = size[up], size[i]
        i = up


@njit(cache=True, nogil=True)
def pop(far: Any, size: Any, n: Any) -> None:
    """Take the greatest distance off a heap of n."""
    far[0], size[0] = far[n - 1], size[n - 1]
    i = 0
    while True:
        big = i
        for c in (2 * i + 1, 2 * i + 2):
            if c < n - 1 and far[c] > far[big]:
                big = c
        if big == i:
            return
        far[i], far[big] = far[big], far[i]
        size[i], size[big] = size[big], size[i]
        i = big


@njit(cache=True, nogil=True)
def _within(rows: Any, codes: Any, t: Any, limit: Any) -> Any:
    """Sum of a tuple's distances to the reference over the attributes, or infinity where it is above a limit."""
    d = 0.0
    for j in range(codes.shape[1]):
        d += rows[j, codes[t, j]]
        if d > limit:
            return np.inf
    return d


@njit(cache=True, nogil=True)
def reach_of_all(rows: Any, state: Any, weights: Any, own: Any, k: Any, tol: Any) -> Any:
    """Distance of the k-th nearest record, as `reach`; `away` tells how far tuples are that are no farther than it."""
    far, size, away = state.heap_far, state.heap_size, state.away
    n, held, limit = 0, 0, np.inf
    for t in range(len(away)):
        if weights[t] <= 0:
            away[t] = np.inf
            continue
        d = away[t] = _within(rows, state.codes, t, limit)
        w = weights[t] - (t == own)
        if w <= 0 or (held >= k and d >= far[0]):
            continue
        push(far, size, n, d, w)
        n += 1
        held += w
        while held - size[0] >= k:
            held -= size[0]
            pop(far, size, n)
            n -= 1
        if held >= k:
            limit = far[0] + tol
    return far[0] if n else 0.0


@njit(cache=True, nogil=True)
def measure_all(rows: Any, state: Any, weights: Any, limit: Any) -> None:
    """Say in `away` how far the tuples are that are within a limit; the others are infinitely far."""
    for t in range(len(state.away)):
        state.away[t] = _within(rows, state.codes, t, limit) if weights[t] > 0 else np.inf


@njit(cache=True, nogil=True)
def gather_few(rows: Any, orders: Any, state: Any, weights: Any, own: Any, radius: Any, tol: Any) -> Any:
    """What `gather` returns, and in the same order, from `away`; (-1, 0, 0, 0) where more than a few are near."""
    m = state.codes.shape[1]
    members, part = state.members, (radius + tol) / m
    near, lead, rank = np.empty(FEW, np.int64), np.empty(FEW, np.int64), np.empty(FEW, np.int64)
    few = 0
    for t in range(len(state.away)):
        if state.away[t] > radius + tol:
            continue
        first = 0
        while first < m and rows[first, state.codes[t, first]] > part:
            first += 1
        if first == m:
            continue
        if few == FEW:
            return -1, 0, 0, 0
        place = 0
        while orders[first, place] != state.codes[t, first]:
            place += 1
        i = few  # tuples come in their order, so that equal ones stay so
        while i > 0 and (lead[i - 1] > first or (lead[i - 1] == first and rank[i - 1] > place)):
            near[i], lead[i], rank[i] = near[i - 1], lead[i - 1], rank[i - 1]
            i -= 1
        near[i], lead[i], rank[i] = t, first, place
        few += 1
    inner, tied, inner_size, tied_size = 0, 0, 0, 0
    last = len(members) - 1
    for i in range(few):
        t = near[i]
        w = weights[t] - (t == own)
        if state.away[t] < radius - tol:
            members[inner] = t
            inner += 1
            inner_size += w
        else:
            members[last - tied] = t
            tied += 1
            tied_size += w
    return inner, tied, inner_size, tied_size
