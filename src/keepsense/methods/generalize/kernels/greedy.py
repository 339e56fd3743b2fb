"""Compiled loops of greedy cell recoding. Each has an obvious reference in the tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from keepsense.numba_cache import njit


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

    A class starts with the waiting tuple nearest to the class before it (the first one at the start) and takes in,
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
            best = _least_added(columns, weights, waiting, size, owner, costs, begin, weight, lost)
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
        size, seed = _still_waiting(columns, waiting, size, owner, costs, begin)
    return size, classes


@njit(cache=True, nogil=True)
def _least_added(columns: Any, weights: Any, waiting: Any, size: int, owner: Any, costs: Any, begin: Any, weight: Any,
                 lost: float) -> int:  # fmt: skip
    """Place of the waiting tuple that adds least loss to a class of some weight, of several the first; -1: none."""
    best, best_cost = -1, np.inf
    for i in range(size):
        u = waiting[i]
        if owner[u] >= 0:
            continue
        w = weight + weights[u]
        bound = (best_cost + weight * lost) / w
        cost = 0.0
        for j in range(columns.shape[1]):
            cost += costs[begin[j] + columns[u, j]]
            if cost >= bound:
                break
        added = w * cost - weight * lost
        if cost < bound and added < best_cost:
            best, best_cost = i, added
    return best


@njit(cache=True, nogil=True)
def _still_waiting(columns: Any, waiting: Any, size: int, owner: Any, costs: Any, begin: Any) -> tuple[int, int]:
    """Put those who still wait in front; returns how many they are and the place of the nearest."""
    waits, near, seed = 0, -1.0, 0
    for i in range(size):
        u = waiting[i]
        if owner[u] >= 0:
            continue
        cost = 0.0
        for j in range(columns.shape[1]):
            cost += costs[begin[j] + columns[u, j]]
        if near < 0 or cost < near:
            near, seed = cost, waits
        waiting[waits] = u
        waits += 1
    return waits, seed


@njit(cache=True, nogil=True)
def cheapest(t: int, own: int, columns: Any, weights: Any, rep: Any, level: Any, size: Any, lost: Any, codes: Any,
             losses: Any, at: Any, heights: Any) -> tuple[int, float]:  # fmt: skip
    """The class, other than `own`, that loses least by taking in tuple t, and what it loses; -1 where none can.

    Class c holds `size[c]` records (none: it is gone), the values `rep[c]` at the levels `level[c]`, and each of its
    records loses `lost[c]`.
    """
    d = columns.shape[1]
    best, best_cost = -1, np.inf
    w = weights[t]
    for c in range(len(size)):
        if size[c] == 0 or c == own:
            continue
        base = size[c] * lost[c]
        new = size[c] + w
        cost = 0.0
        for j in range(d):
            step = level[c, j]
            while step <= heights[j] and codes[at[j, step] + rep[c, j]] != codes[at[j, step] + columns[t, j]]:
                step += 1
            if step > heights[j]:
                cost = np.inf
                break
            cost += losses[at[j, step] + rep[c, j]]
            if new * cost - base >= best_cost:
                cost = np.inf
                break
        if new * cost - base < best_cost:
            best, best_cost = c, new * cost - base
    return best, best_cost


@njit(cache=True, nogil=True)
def take_in(c: int, t: int, columns: Any, weights: Any, rep: Any, level: Any, size: Any, lost: Any, codes: Any,
            losses: Any, at: Any) -> None:  # fmt: skip
    """Let class c take in tuple t."""
    total = 0.0
    for j in range(columns.shape[1]):
        while codes[at[j, level[c, j]] + rep[c, j]] != codes[at[j, level[c, j]] + columns[t, j]]:
            level[c, j] += 1
        total += losses[at[j, level[c, j]] + rep[c, j]]
    size[c] += weights[t]
    lost[c] = total


@njit(cache=True, nogil=True)
def dissolve(order: Any, starts: Any, members: Any, columns: Any, weights: Any, owner: Any, rep: Any, level: Any,
             size: Any, lost: Any, codes: Any, losses: Any, at: Any, heights: Any) -> int:  # fmt: skip
    """Dissolve classes whose members are better off in others, in the given order; returns how many were.

    Class c's members are `members[starts[c]:starts[c + 1]]`. Each joins the class that loses least by it; if that
    costs less together than the class loses now, it is done, otherwise everything stays as it was. A class that took
    somebody in is not dissolved this time.
    """
    d = columns.shape[1]
    gone = 0
    touched = np.zeros(len(size), np.bool_)
    for c in order:
        if touched[c]:
            continue
        count = starts[c + 1] - starts[c]
        before = size[c] * lost[c]
        joined = np.full(count, -1, np.int64)
        levels = np.empty((count, d), np.int64)
        sizes = np.empty(count, np.int64)
        losts = np.empty(count)
        spent = 0.0
        done = 0
        for i in range(count):
            t = members[starts[c] + i]
            o, cost = cheapest(t, c, columns, weights, rep, level, size, lost, codes, losses, at, heights)
            spent += cost
            if o < 0 or spent >= before - 1e-9:
                break
            joined[i], sizes[i], losts[i] = o, size[o], lost[o]
            levels[i] = level[o]
            take_in(o, t, columns, weights, rep, level, size, lost, codes, losses, at)
            done += 1
        if done == count:
            for i in range(count):
                owner[members[starts[c] + i]] = joined[i]
                touched[joined[i]] = True
            size[c] = 0
            gone += 1
        else:
            for i in range(done - 1, -1, -1):
                o = joined[i]
                size[o], lost[o] = sizes[i], losts[i]
                level[o] = levels[i]
    return gone


@njit(cache=True, nogil=True)
def relocate(starts: Any, members: Any, columns: Any, weights: Any, k: int, owner: Any, rep: Any, level: Any, size: Any,
             lost: Any, codes: Any, losses: Any, at: Any, heights: Any) -> int:  # fmt: skip
    """Move tuples whose class stays large enough to classes where they cost less than they cost now.

    Members are listed as they were at the start; a class is asked only as long as none of its members has left and
    nobody has joined it, because its levels are then known. Returns how many tuples moved.
    """
    d = columns.shape[1]
    moved = 0
    touched = np.zeros(len(size), np.bool_)
    for c in range(len(size)):
        count = starts[c + 1] - starts[c]
        if touched[c] or size[c] == 0 or count < 2:
            continue
        best_i, best_o, best_gain = -1, -1, 1e-9
        best_level = np.zeros(d, np.int64)
        best_lost = 0.0
        new = np.zeros(d, np.int64)
        for i in range(count):
            t = members[starts[c] + i]
            left = size[c] - weights[t]
            if left < k:
                continue
            first = members[starts[c]] if i != 0 else members[starts[c] + 1]
            new[:] = 0
            without = 0.0
            for j in range(d):
                for m in range(starts[c], starts[c + 1]):
                    if m == starts[c] + i:
                        continue
                    u = members[m]
                    while codes[at[j, new[j]] + columns[first, j]] != codes[at[j, new[j]] + columns[u, j]]:
                        new[j] += 1
                without += losses[at[j, new[j]] + columns[first, j]]
            won = size[c] * lost[c] - left * without
            if won <= best_gain:
                continue
            o, cost = cheapest(t, c, columns, weights, rep, level, size, lost, codes, losses, at, heights)
            if o >= 0 and won - cost > best_gain:
                best_i, best_o, best_gain = i, o, won - cost
                best_level[:] = new
                best_lost = without
        if best_i < 0:
            continue
        t = members[starts[c] + best_i]
        first = members[starts[c]] if best_i != 0 else members[starts[c] + 1]
        owner[t] = best_o
        size[c] -= weights[t]
        lost[c] = best_lost
        level[c] = best_level
        rep[c] = columns[first]
        take_in(best_o, t, columns, weights, rep, level, size, lost, codes, losses, at)
        touched[c] = True
        touched[best_o] = True
        moved += 1
    return moved
