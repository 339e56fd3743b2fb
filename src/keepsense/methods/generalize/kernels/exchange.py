"""Records moved and exchanged between groups where all lose less; tests measure what is lost by plain counting."""

from __future__ import annotations

from typing import Any

import numpy as np

from keepsense.compiled import njit
from keepsense.methods.generalize.kernels.together import span_loss

_MOST = 48
"""Tuples of a group above which it is left as it is."""
_OUTSIDE = 2
"""Most columns in which a tuple may lie outside of a group that it is tried in for another."""


@njit(cache=True, nogil=True)
def exchanges(
    ranks: Any, weights: Any, final: Any, order: Any, block: int, least: int, refused: Any, tables: Any
) -> Any:
    """One pass over all tuples: each may go to another group, or change places with a tuple there; `final` follows.

    Groups are looked at in `order`, `block` of them at a time, each takes part in one exchange at most, and stays at
    `least` records or more. Tuples that are `refused` stay where they are. `tables` are those of `lost_beside`. Returns
    a row for each exchange: the tuple, the one that came for it (-1: none), the group it left and the one it went to.
    """
    columns = ranks.shape[1]
    groups = len(order)
    members, counts, size, low, high, part = _state(ranks, weights, final, groups, tables)
    cost = np.zeros(groups)
    for g in range(groups):
        for j in range(columns):
            cost[g] += part[g, j]
    busy = counts > _MOST
    done = np.empty((groups // 2 + 1, 4), np.int64)
    found = 0
    near, far = np.empty(columns, np.int64), np.empty(columns, np.int64)
    nobody: Any = np.int64(-1)  # a literal would be compiled for by itself
    for first in range(0, groups, block):
        here = order[first : first + block]
        for g in here:
            if busy[g] or counts[g] < 2:
                continue
            for m in range(counts[g]):
                t = members[g, m]
                if refused[t]:
                    continue
                without = _without(ranks, members[g, : counts[g]], t, nobody, near, far, tables)
                target, other = _better(
                    ranks, weights, members, counts, size, low, high, part, cost, busy, here, g, t, near, far, without,
                    least, refused, tables,
                )  # fmt: skip
                if target >= 0:
                    final[t] = target
                    if other >= 0:
                        final[other] = g
                    busy[g] = busy[target] = True
                    done[found, 0], done[found, 1], done[found, 2], done[found, 3] = t, other, g, target
                    found += 1
                    break
    return done[:found]


@njit(cache=True, nogil=True)
def _state(ranks: Any, weights: Any, final: Any, groups: int, tables: Any) -> Any:
    """Tuples of each group (of small ones), their number, its records, and what its span in each column loses."""
    weight, level, above, loss, first = tables
    n, columns = ranks.shape
    members, counts, size = np.empty((groups, _MOST), np.int64), np.zeros(groups, np.int64), np.zeros(groups, np.int64)
    low, high = np.full((groups, columns), 1 << 30), np.full((groups, columns), -1)
    part = np.empty((groups, columns))
    for t in range(n):
        g = final[t]
        if counts[g] < _MOST:
            members[g, counts[g]] = t
        counts[g] += 1
        size[g] += weights[t]
        for j in range(columns):
            low[g, j], high[g, j] = min(low[g, j], ranks[t, j]), max(high[g, j], ranks[t, j])
    for g in range(groups):
        for j in range(columns):
            part[g, j] = span_loss(low[g, j], high[g, j], weight[j], level[j], above, loss, first[j])
    return members, counts, size, low, high, part


@njit(cache=True, nogil=True)
def _without(ranks: Any, inside: Any, gone: int, come: int, near: Any, far: Any, tables: Any) -> float:
    """What a record of a group loses without one tuple and with another (-1: none); its span goes to `near`, `far`."""
    weight, level, above, loss, first = tables
    total = 0.0
    for j in range(ranks.shape[1]):
        a, b = 1 << 30, -1
        if come >= 0:
            a = b = ranks[come, j]
        for t in inside:
            if t != gone:
                a, b = min(a, ranks[t, j]), max(b, ranks[t, j])
        near[j], far[j] = a, b
        total += span_loss(a, b, weight[j], level[j], above, loss, first[j])
    return total


@njit(cache=True, nogil=True)
def _better(ranks: Any, weights: Any, members: Any, counts: Any, size: Any, low: Any, high: Any, part: Any, cost: Any,
            busy: Any, here: Any, g: int, t: int, near: Any, far: Any, without: float, least: int, refused: Any,
            tables: Any) -> tuple[int, int]:  # fmt: skip
    """The group in which a tuple makes all lose least, and whom it changes places with (-1: nobody); -1 for its own."""
    weight, level, above, loss, first = tables
    columns = ranks.shape[1]
    mine = weights[t]
    left = size[g] * cost[g] - (size[g] - mine) * without
    free, stretches = size[g] - mine >= least, cost[g] - without > 1e-12
    best, target, other = 1e-9, -1, -1
    a, b = np.empty(columns, np.int64), np.empty(columns, np.int64)
    for h in here:
        if h == g or busy[h]:
            continue
        outside, wider = 0, cost[h]
        won = left - mine * wider if free else 0.0
        for j in range(columns):
            if won <= best and (outside > _OUTSIDE or not stretches):
                break
            rank = ranks[t, j]
            if rank < low[h, j] or rank > high[h, j]:
                outside += 1
                wider -= part[h, j]
                wider += span_loss(
                    min(rank, low[h, j]), max(rank, high[h, j]), weight[j], level[j], above, loss, first[j]
                )
                won = left - (size[h] + mine) * wider + size[h] * cost[h] if free else 0.0
        if won > best:
            best, target, other = won, h, -1
        if outside > _OUTSIDE or not stretches:
            continue
        for m in range(counts[h]):
            u = members[h, m]
            if weights[u] != mine or refused[u]:
                continue
            there = size[h] * (cost[h] - _without(ranks, members[h, : counts[h]], u, t, a, b, tables))
            if there + size[g] * (cost[g] - without) <= best:
                continue
            own = 0.0
            for j in range(columns):
                rank = ranks[u, j]
                own += span_loss(min(near[j], rank), max(far[j], rank), weight[j], level[j], above, loss, first[j])
            won = there + size[g] * (cost[g] - own)
            if won > best:
                best, target, other = won, h, u
    return target, other
