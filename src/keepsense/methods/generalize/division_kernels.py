"""Compiled: strict division at the median, and exchange of records between groups where all lose less."""

from __future__ import annotations

from typing import Any

import numpy as np

from keepsense.methods.generalize.joint_loss_kernels import span_loss
from keepsense.numba_cache import njit

# Strict median Mondrian; `multidimensional_template` has the general form it must agree with


@njit(cache=True, nogil=True)
def halve(ranks: Any, weights: Any, width: Any, least: int, widest: bool, final: Any) -> tuple[int, int]:
    """Cut groups at the place nearest to half of their records until none can be cut; number the groups in `final`.

    `ranks[t, j]` is tuple t's place in dimension j, `width[j, r]` where that place lies on a scale from 0 to 1. Returns
    the number of groups and the depth of the deepest.
    """
    n, d = ranks.shape
    most = 0
    for j in range(d):
        for t in range(n):
            most = max(most, ranks[t, j])
    order = np.arange(n)
    heap = np.zeros(most + 1, np.int64)
    begin, end, deep = [0], [n], [1]
    low, high = np.empty(d, np.int64), np.empty(d, np.int64)
    tried = np.empty(d, np.bool_)
    groups, deepest = 0, 1
    while len(begin):
        a, b, depth = begin.pop(), end.pop(), deep.pop()
        deepest = max(deepest, depth)
        total = 0
        for i in range(a, b):
            total += weights[order[i]]
        at, chosen = -1, -1
        if total >= 2 * least:
            _span(ranks, order, a, b, low, high)
            tried[:] = False
            for _ in range(d):
                j = _next_dimension(width, low, high, tried, widest)
                if j < 0:
                    break
                tried[j] = True
                at = _middle(ranks, weights, order, a, b, j, low[j], high[j], total, least, heap)
                if at >= 0:
                    chosen = j
                    break
        if chosen < 0:
            for i in range(a, b):
                final[order[i]] = groups
            groups += 1
            continue
        left = _parted(ranks, order, a, b, chosen, at)
        begin.append(left)
        end.append(b)
        deep.append(depth + 1)
        begin.append(a)
        end.append(left)
        deep.append(depth + 1)
    return groups, deepest


@njit(cache=True, nogil=True)
def _span(ranks: Any, order: Any, a: int, b: int, low: Any, high: Any) -> None:
    """Lowest and highest place of a group in each dimension."""
    for j in range(ranks.shape[1]):
        low[j], high[j] = ranks[order[a], j], ranks[order[a], j]
    for i in range(a + 1, b):
        t = order[i]
        for j in range(ranks.shape[1]):
            low[j] = min(low[j], ranks[t, j])
            high[j] = max(high[j], ranks[t, j])


@njit(cache=True, nogil=True)
def _next_dimension(width: Any, low: Any, high: Any, tried: Any, widest: bool) -> int:
    """The widest dimension not tried yet, or the first; -1 where none can be cut."""
    best, chosen = -1.0, -1
    for c in range(len(low)):
        if not tried[c] and low[c] < high[c]:
            span = width[c, high[c]] - width[c, low[c]] if widest else float(len(low) - c)
            if span > best:
                best, chosen = span, c
    return chosen


@njit(cache=True, nogil=True)
def _parted(ranks: Any, order: Any, a: int, b: int, dimension: int, at: int) -> int:
    """Put those up to a place in front; returns where the others begin."""
    left, right = a, b - 1
    while left <= right:
        if ranks[order[left], dimension] <= at:
            left += 1
        else:
            order[left], order[right] = order[right], order[left]
            right -= 1
    return left


@njit(cache=True, nogil=True)
def _middle(ranks: Any, weights: Any, order: Any, a: int, b: int, j: int, low: int, high: int, total: int, least: int,
            heap: Any) -> int:  # fmt: skip
    """Highest rank left of the most even cut that leaves enough on both sides, or -1."""
    at, best = -1, total + 1
    if high - low <= 8 * (b - a):
        for i in range(a, b):
            heap[ranks[order[i], j]] += weights[order[i]]
        left = 0
        for r in range(low, high):
            if heap[r]:
                left += heap[r]
                if left >= least and total - left >= least and abs(2 * left - total) < best:
                    best, at = abs(2 * left - total), r
        heap[low : high + 1] = 0
        return at
    mine = np.empty(b - a, np.int64)
    for i in range(a, b):
        mine[i - a] = ranks[order[i], j]
    sorted_ = np.argsort(mine)
    left = 0
    for i in range(len(sorted_) - 1):
        left += weights[order[a + sorted_[i]]]
        r = mine[sorted_[i]]
        if r != mine[sorted_[i + 1]] and left >= least and total - left >= least and abs(2 * left - total) < best:
            best, at = abs(2 * left - total), r
    return at


@njit(cache=True, nogil=True)
def regroup(tuples: Any, label: Any, start: Any, size: int) -> Any:
    """Tuples sorted by group and rank in the order of new groups; those with a negative label are left out.

    New groups part old ones, so a stable pass over the old order keeps the ranks in order: the same as sorting again.
    """
    place = start.copy()
    found = np.empty(size, np.int64)
    for i in range(len(tuples)):
        group = label[tuples[i]]
        if group >= 0:
            found[place[group]] = tuples[i]
            place[group] += 1
    return found


# Exchange of records between groups; tests measure the loss by plain counting

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
    weight, level, above, loss, first_of = tables
    columns, groups = ranks.shape[1], len(order)
    members, counts, size, low, high, part = _state(ranks, weights, final, groups, tables)
    near, far = _alone(ranks, members, counts)
    cost = np.zeros(groups)
    for g in range(groups):
        for j in range(columns):
            cost[g] += part[g, j]
    busy = counts > _MOST
    done = np.empty((groups // 2 + 1, 4), np.int64)
    found = 0
    slack = 1e-6 if _grows(tables) else np.inf
    lows, highs = np.empty((columns, block), np.int32), np.empty((columns, block), np.int32)
    outside, likely = np.empty(block, np.int32), np.empty(block, np.int64)
    for first in range(0, groups, block):
        here = order[first : first + block]
        for i in range(len(here)):
            for j in range(columns):
                lows[j, i], highs[j, i] = low[here[i], j], high[here[i], j]
        for g in here:
            if busy[g] or counts[g] < 2:
                continue
            for m in range(counts[g]):
                t = members[g, m]
                if refused[t]:
                    continue
                without = 0.0
                for j in range(columns):
                    without += span_loss(near[t, j], far[t, j], weight[j], level[j], above, loss, first_of[j])
                left = size[g] * cost[g] - (size[g] - weights[t]) * without
                free, stretches = size[g] - weights[t] >= least, cost[g] - without > 1e-12
                if not free and not stretches:
                    continue
                _outside(ranks[t], lows, highs, len(here), outside)
                most = (left + slack) / weights[t] if free else -1.0
                number = _chosen(here, g, busy, outside, _OUTSIDE if stretches else -1, cost, most, likely)
                target, other = _better(
                    ranks, weights, members, counts, size, low, high, part, cost, likely[:number], g, t, near, far,
                    without, left, free, stretches, refused, tables,
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
def _alone(ranks: Any, members: Any, counts: Any) -> Any:
    """The span of each tuple's group without it in each column; groups that are left as they are have none."""
    n, columns = ranks.shape
    near, far = np.full((n, columns), 1 << 30), np.full((n, columns), -1)
    for g in range(len(counts)):
        if counts[g] > _MOST:
            continue
        inside = members[g, : counts[g]]
        for j in range(columns):
            a, second, b, last_but_one = 1 << 30, 1 << 30, -1, -1
            for t in inside:
                rank = ranks[t, j]
                a, second = min(a, rank), min(second, max(a, rank))
                b, last_but_one = max(b, rank), max(last_but_one, min(b, rank))
            for t in inside:
                near[t, j] = second if ranks[t, j] == a else a
                far[t, j] = last_but_one if ranks[t, j] == b else b
    return near, far


@njit(cache=True, nogil=True)
def _grows(tables: Any) -> bool:
    """Whether no label loses less than one below it: then a group that takes one more in loses no less."""
    _, level, _, loss, first = tables
    for j in range(len(level)):
        end = first[j + 1] if j + 1 < len(first) else len(loss)
        for i in range(first[j], end):
            if level[j] > 0 and (i - first[j]) % level[j] > 0 and loss[i] < loss[i - 1]:
                return False
    return True


@njit(cache=True, nogil=True)
def _outside(place: Any, lows: Any, highs: Any, number: int, outside: Any) -> None:
    """In how many columns a tuple lies outside of each of some groups."""
    outside[:number] = 0
    for j in range(len(place)):
        rank, low, high = np.int32(place[j]), lows[j], highs[j]
        for i in range(number):
            outside[i] += np.int32(rank < low[i]) | np.int32(rank > high[i])


@njit(cache=True, nogil=True)
def _chosen(here: Any, g: int, busy: Any, outside: Any, beyond: int, cost: Any, most: float, likely: Any) -> int:
    """How many groups, put into `likely`, a tuple of group g may go to: it lies near them, or they lose little."""
    number = 0
    for i in range(len(here)):
        h = here[i]
        if h != g and not busy[h] and (outside[i] <= beyond or cost[h] < most):
            likely[number] = h
            number += 1
    return number


@njit(cache=True, nogil=True)
def _better(ranks: Any, weights: Any, members: Any, counts: Any, size: Any, low: Any, high: Any, part: Any, cost: Any,
            likely: Any, g: int, t: int, near: Any, far: Any, without: float, left: float, free: bool, stretches: bool,
            refused: Any, tables: Any) -> tuple[int, int]:  # fmt: skip
    """The group in which a tuple makes all lose least, and whom it changes places with (-1: nobody); -1 for its own.

    It is `free` to leave its own without another in its place, and `stretches` that one.
    """
    weight, level, above, loss, first = tables
    columns = ranks.shape[1]
    mine = weights[t]
    best, target, other = 1e-9, -1, -1
    here_too = size[g] * (cost[g] - without)
    for h in likely:
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
            there, lost = 0.0, 0.0
            for j in range(columns):
                rank = ranks[t, j]
                lost += span_loss(
                    min(near[u, j], rank), max(far[u, j], rank), weight[j], level[j], above, loss, first[j]
                )
                there = size[h] * (cost[h] - lost)
                if there + here_too <= best:  # it only loses more in further columns
                    break
            if there + here_too <= best:
                continue
            own = 0.0
            for j in range(columns):
                rank = ranks[u, j]
                own += span_loss(
                    min(near[t, j], rank), max(far[t, j], rank), weight[j], level[j], above, loss, first[j]
                )
            won = there + size[g] * (cost[g] - own)
            if won > best:
                best, target, other = won, h, u
    return target, other
