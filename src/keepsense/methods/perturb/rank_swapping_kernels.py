"""Compiled: swaps inside a window of ranks, and noise drawn against a partner. The tests have plain references."""

from __future__ import annotations

from typing import Any

import numpy as np

from keepsense.numba_cache import njit


@njit(cache=True, nogil=True)
def swap_window(rng: Any, n: Any, k: Any) -> Any:
    """Rank swapping on positions 0..n-1: each free one with a free one among the k after it, drawn uniformly.

    Returns for each position the one whose value it gets. A few random tries, then a scan: same distribution.
    """
    got = np.arange(n)
    done = np.zeros(n, dtype=np.bool_)
    for i in range(n):
        if done[i]:
            continue
        done[i] = True
        wide = min(k, n - 1 - i)
        chosen = -1
        if wide > 32:
            for _ in range(24):
                j = i + 1 + int(rng.random() * wide)
                if not done[j]:
                    chosen = j
                    break
        if chosen < 0:
            seen = 0
            for j in range(i + 1, i + 1 + wide):
                if not done[j]:
                    seen += 1
                    if rng.random() * seen < 1.0:
                        chosen = j
        if chosen >= 0:
            got[i], got[chosen] = chosen, i
            done[chosen] = True
    return got


@njit(cache=True, nogil=True)
def swap_shifted(rng: Any, n: Any, width: Any) -> Any:
    """Rank swapping by a normal shift of mean and deviation width / 2; see `rank_swapping_of_numbers`."""
    got = np.arange(n)
    done = np.zeros(n, dtype=np.bool_)
    free = n
    for i in range(n):
        if done[i]:
            continue
        done[i] = True
        free -= 1
        if free == 0:
            break
        chosen, target = -1, i
        for _ in range(64):
            target = i + int(np.rint(rng.normal(0.5 * width, 0.5 * width)))
            if 0 <= target < n and not done[target]:
                chosen = target
                break
        if chosen < 0:
            target = min(max(target, 0), n - 1)
            for step in range(n):
                if target + step < n and not done[target + step]:
                    chosen = target + step
                    break
                if target - step >= 0 and not done[target - step]:
                    chosen = target - step
                    break
        got[i], got[chosen] = chosen, i
        done[chosen] = True
        free -= 1
    return got


@njit(cache=True, nogil=True)
def swap_buckets(rng: Any, n: Any, buckets: Any) -> Any:
    """Rank swapping between buckets, nearer ones likelier (a half for each step); see `rank_swapping_of_numbers`."""
    got = np.arange(n)
    listed, at = np.arange(n), np.arange(n)
    begin = np.array([(b * n) // buckets for b in range(buckets + 1)])
    free = begin[1:] - begin[:-1]
    home = np.empty(n, dtype=np.int64)
    for b in range(buckets):
        home[begin[b] : begin[b + 1]] = b
    chance = np.empty(buckets)
    for i in range(n):
        b = home[i]
        if at[i] >= begin[b] + free[b]:
            continue
        _drop(listed, at, begin, free, b, i)
        total = 0.0
        for s in range(buckets):
            chance[s] = 0.5 ** abs(s - b) if s != b and free[s] > 0 else 0.0
            total += chance[s]
        chosen = b
        if total > 0.0:
            x = rng.random() * total
            for s in range(buckets):
                if chance[s] > 0.0:
                    chosen = s
                    if x < chance[s]:
                        break
                    x -= chance[s]
        if free[chosen] == 0:
            continue
        j = listed[begin[chosen] + int(rng.random() * free[chosen])]
        _drop(listed, at, begin, free, chosen, j)
        got[i], got[j] = j, i
    return got


@njit(cache=True, nogil=True)
def _drop(listed: Any, at: Any, begin: Any, free: Any, bucket: Any, item: Any) -> None:
    """Take an item out of the front part of its bucket."""
    end = begin[bucket] + free[bucket] - 1
    here, other = at[item], listed[end]
    listed[here], listed[end] = other, item
    at[other], at[item] = here, end
    free[bucket] -= 1


@njit(cache=True, nogil=True)
def replace_beside(
    rng: Any,
    order: Any,
    far: Any,
    level: Any,
    rows: Any,
    top: Any,
    own: Any,
    partner: Any,
    error: Any,
    out: Any,
    hits: Any,
) -> Any:
    """Replacements of records that share one value, each measured against its partner's value (SNA-Algorithm 2).

    `order` lists all concepts by distance `far` from the value, `level` ends each run of equal distances. Record i has
    the partner row `rows[partner[i]]` (greatest entry `top`), in which `own` is the value itself; records of one
    partner and sign follow each other. Returns how many were not far enough and how many had no concept on their side.
    """
    n = len(order)
    short, unsided = 0, 0
    held, held_for, held_sign = 0, -1, 0
    for i in range(len(error)):
        size = abs(error[i])
        if size == 0.0:
            out[i] = own
            continue
        sign = 1 if error[i] > 0 else -1
        row = rows[partner[i]]
        mine = row[own]
        begin = np.searchsorted(far, size - 1e-12)
        chosen = -1
        possible = mine < top[partner[i]] if sign > 0 else mine > 0
        listed = held_for == partner[i] and held_sign == sign
        if possible and not listed:
            chosen = _walk_outwards(rng, order, level, row, mine, sign, begin)
        if possible and chosen < 0:
            if not listed:
                held, held_for, held_sign = 0, partner[i], sign
                for at in range(n):
                    if (row[order[at]] - mine) * sign > 0:
                        hits[held] = at
                        held += 1
            if held > 0:
                first = np.searchsorted(hits[:held], begin)
                if first == held:
                    short += 1
                    first -= 1
                    last = held
                    floor = far[hits[first]] - 1e-12
                    while first > 0 and far[hits[first - 1]] >= floor:
                        first -= 1
                else:
                    last = np.searchsorted(hits[:held], level[hits[first]])
                chosen = order[hits[first + int(rng.random() * (last - first))]]
        if chosen < 0:
            unsided += 1
            low, high = begin, n
            if begin == n:
                short += 1
                low = np.searchsorted(far, far[n - 1] - 1e-12)
            else:
                high = level[begin]
            chosen = order[low + int(rng.random() * (high - low))]
        out[i] = chosen
    return short, unsided


@njit(cache=True, nogil=True)
def _walk_outwards(rng: Any, order: Any, level: Any, row: Any, mine: Any, sign: int, begin: int) -> int:
    """A concept on the right side in the nearest run that has one: a few draws inside a run, then all of it.

    Gives up with -1 after a long walk: it is remembered instead.
    """
    low, steps = begin, 0
    while low < len(order) and steps < 2048:
        high = level[low]
        for _ in range(min(8, high - low)):
            c = order[low + int(rng.random() * (high - low))]
            if (row[c] - mine) * sign > 0:
                return int(c)
        chosen, seen = -1, 0
        for at in range(low, high):
            c = order[at]
            if (row[c] - mine) * sign > 0:
                seen += 1
                if rng.random() * seen < 1.0:
                    chosen = c
        if chosen >= 0:
            return int(chosen)
        steps += high - low
        low = high
    return -1
