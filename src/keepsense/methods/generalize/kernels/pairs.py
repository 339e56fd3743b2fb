"""Compiled counting of columns and pairs of columns: which levels cannot go together, whatever the rest does."""

from __future__ import annotations

from typing import Any

import numpy as np

from keepsense.compiled import njit


@njit(cache=True, nogil=True)
def pair_limits(
    tuples: Any, weights: Any, codes: Any, codes_at: Any, levels: Any, start: Any, k: int, limit: int, fine: Any
) -> None:
    """Whether two columns at two levels alone would need more than `limit` records suppressed: `fine` says so.

    A level below `start` gets the verdict of the one that is counted.
    """
    d = tuples.shape[1]
    x = _columns(tuples, codes, codes_at, levels.heights, start)
    most = 1
    for b in range(1, d):
        for a in range(b):
            most = max(most, levels.sizes[a, start[a]] * levels.sizes[b, start[b]])
    counts = np.empty((4, most), np.int64)
    star = np.empty(d, np.int64)
    for b in range(d):  # every pair belongs to the star of one column: four of its pairs are counted in one pass
        rays = (d - 1) // 2 + (1 if d % 2 == 0 and b < d // 2 else 0)
        left = 0
        for q in range(1, rays + 1):
            a = (b + q) % d
            many = (
                levels.sizes[a, start[a]] * levels.sizes[b, start[b]] >= 20
            )  # fewer cells hardly ever rule out a node
            if many and start[a] <= levels.heights[a] and start[b] <= levels.heights[b]:
                star[left] = a
                left += 1
        radix = np.uint32(levels.sizes[b, start[b]])
        for first in range(0, left, 4):
            now = min(4, left - first)
            for q in range(now):
                counts[q, : levels.sizes[star[first + q], start[star[first + q]]] * np.int64(radix)] = 0
            if now == 1:
                _count(x[star[first]], x[b], radix, weights, counts[0])
            else:
                p, r, s = first + 1, first + min(2, now - 1), first + min(3, now - 1)
                if now < 4:
                    counts[now:] = 0
                _count_four(x[star[first]], x[star[p]], x[star[r]], x[star[s]], x[b], radix, weights, counts)
            for q in range(now):
                a = star[first + q]
                _judge_pair(counts[q], codes, codes_at, levels, a, start[a], b, start[b], k, limit, fine)


@njit(cache=True, nogil=True)
def _columns(tuples: Any, codes: Any, codes_at: Any, heights: Any, start: Any) -> Any:
    """Codes of the tuples at one level a column, column by column."""
    n, d = tuples.shape
    widest = 0
    for j in range(d):
        widest = max(widest, codes_at[j + 1] - codes_at[j])
    lift = np.zeros((d, widest), np.uint32)
    for j in range(d):
        if start[j] <= heights[j]:
            mine = codes[codes_at[j] + start[j] : codes_at[j + 1] : heights[j] + 1]
            for v in range(len(mine)):
                lift[j, v] = mine[v]
    x = np.empty((d, n), np.uint32)
    for i in range(n):
        for j in range(d):
            x[j, i] = lift[j, np.uint32(tuples[i, j])]
    return x


@njit(cache=True, nogil=True)
def _count(x: Any, y: Any, radix: Any, weights: Any, count: Any) -> None:
    for i in range(len(weights)):
        count[np.uint32(x[i] * radix + y[i])] += weights[i]


@njit(cache=True, nogil=True)
def _count_four(x: Any, y: Any, z: Any, u: Any, v: Any, radix: Any, weights: Any, counts: Any) -> None:
    first, second, third, fourth = counts[0], counts[1], counts[2], counts[3]
    for i in range(len(weights)):
        w, at = weights[i], v[i]
        first[np.uint32(x[i] * radix + at)] += w
        second[np.uint32(y[i] * radix + at)] += w
        third[np.uint32(z[i] * radix + at)] += w
        fourth[np.uint32(u[i] * radix + at)] += w


@njit(cache=True, nogil=True)
def _judge_pair(
    count: Any, codes: Any, codes_at: Any, levels: Any, a: int, la: int, b: int, lb: int, k: int, limit: int, fine: Any
) -> None:
    """Roll one pair's table up to all its levels; a level below the table's own gets the table's verdict."""
    na, nb = levels.sizes[a, la], levels.sizes[b, lb]
    lift_a, lift_b = np.empty(na, np.int64), np.empty(nb, np.int64)
    for ha in range(la, levels.heights[a] + 1):
        _lift(codes, codes_at, levels, a, la, ha, lift_a)
        for hb in range(lb, levels.heights[b] + 1):
            _lift(codes, codes_at, levels, b, lb, hb, lift_b)
            size = levels.sizes[b, hb]
            total = np.zeros(levels.sizes[a, ha] * size, np.int64)
            for i in range(na):
                row = lift_a[i] * size
                for j in range(nb):
                    total[row + lift_b[j]] += count[i * nb + j]
            few = 0
            for c in range(len(total)):
                if total[c] < k:
                    few += total[c]
            good = few <= limit
            for x in range(0 if ha == la else ha, ha + 1):
                for y in range(0 if hb == lb else hb, hb + 1):
                    fine[a, b, x, y] = good
                    fine[b, a, y, x] = good


@njit(cache=True, nogil=True)
def _lift(codes: Any, codes_at: Any, levels: Any, j: int, low: int, high: int, out: Any) -> None:
    width = levels.heights[j] + 1
    start, stop = codes_at[j], codes_at[j + 1]
    for i in range(start, stop, width):
        out[codes[i + low]] = codes[i + high]
