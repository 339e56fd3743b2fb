"""What the columns lose together after each cut, in one compiled pass; tests look the spans up one by one."""

from __future__ import annotations

from typing import Any

import numpy as np

from keepsense.compiled import njit


@njit(cache=True, nogil=True)
def lost_beside(tuples: Any, start: Any, ranks: Any, tables: Any) -> Any:
    """What a record left of each place of a view loses in all columns, and right of it, as parts of the group.

    `tuples` are sorted by group and rank, a group begins at each `start`. `tables` are weight, level, above, loss and
    first: column j has `level[j]` levels of labels, and rank r's stand in `above[first[j] + r * level[j]]` and so on,
    with what each loses in `loss`; a column of numbers has no levels, and both ends of rank r's band in `loss`. Losses
    are squared and count by `weight`.
    """
    weight, level, above, loss, first = tables
    n, columns = len(tuples), ranks.shape[1]
    left, right = np.empty(n), np.empty(n)
    low, high, cost = np.empty(columns, np.int64), np.empty(columns, np.int64), np.empty(columns)
    for g in range(len(start)):
        begin = start[g]
        end = start[g + 1] if g + 1 < len(start) else n
        for backwards in range(2):
            total = 0.0
            for step in range(end - begin):
                i = end - 1 - step if backwards else begin + step
                t = tuples[i]
                if backwards:  # what lies right of place i begins behind it
                    right[i] = total
                for j in range(columns):
                    rank = ranks[t, j]
                    if step == 0:
                        low[j] = high[j] = rank
                    elif rank < low[j]:
                        low[j] = rank
                    elif rank > high[j]:
                        high[j] = rank
                    else:
                        continue
                    before = 0.0 if step == 0 else cost[j]
                    cost[j] = span_loss(low[j], high[j], weight[j], level[j], above, loss, first[j])
                    total += cost[j] - before
                if not backwards:
                    left[i] = total
    return left, right


@njit(cache=True, nogil=True)
def span_loss(low: int, high: int, weight: float, levels: int, above: Any, loss: Any, first: int) -> float:
    """What releasing a value as the span of two ranks loses, squared and by its weight."""
    if levels == 0:
        lost = min(loss[first + 2 * high + 1] - loss[first + 2 * low], 1.0)
    else:
        at, other = first + low * levels, first + high * levels
        step = 0
        while step < levels - 1 and above[at + step] != above[other + step]:
            step += 1
        lost = loss[at + step]
    return float(weight * lost * lost)
