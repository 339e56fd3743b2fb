"""Division where all columns together win most back, in one compiled loop; `multidim` has the form it must agree with.

The general form looks at all groups at once, round by round, and holds what every column makes of every tuple in arrays
as long as the table. Here one group is looked at after the other, the smaller part of a group first, so that a group's
tuples stay near each other in memory. Sums are added up in the same order, so that both find the same cuts to the bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from keepsense.compiled import njit
from keepsense.methods.generalize.kernels.together import span_loss


@njit(cache=True, nogil=True)
def divide_together(
    record: Any, orders: Any, tables: Any, least: int, promise: Any, waiting: Any, open_: int, closed: Any, done: int,
    budget: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Go on dividing the groups that are waiting until none is left, or `budget` tuples were looked at.

    `record[t]` holds the ranks of tuple t and its weight, `orders[j]` the tuples by their rank in column j, those of a
    group side by side: a group is a stretch of all orders, and cutting it brings each into the order of its parts.
    `tables` are those of `lost_beside`, then every span's loss where a column has few values, where these begin (-1:
    the column has many), how many ranks each column has, and its importance. Every group must hold `least` records, and
    of each histogram of `promise` (starts, values, counts, how many are needed, a place for each value) so many values.
    `waiting` holds begin, end and round of `open_` groups, `closed` those of the `done` ones. Returns both numbers, and
    the records of the groups that were closed.
    """
    columns = record.shape[1] - 1
    low, high = np.empty(columns, np.int64), np.empty(columns, np.int64)
    gain, place, tried = np.empty(columns), np.empty(columns, np.int64), np.empty(columns, np.bool_)
    view = np.empty((columns + 1, 1), record.dtype)
    aside = np.empty(1, orders.dtype)
    at, weight_left = np.empty(1, np.int64), np.empty(1, np.int64)
    loss_left, loss_right = np.empty(1), np.empty(1)
    near, far, cost = np.empty(columns, np.int64), np.empty(columns, np.int64), np.empty(columns)
    following = np.empty(columns, np.int64)
    weight, level, above, loss, first, spans, first_span, ranks, importance = tables
    spent = settled = 0
    while open_ and spent < budget:
        open_ -= 1
        begin, end, turn = waiting[open_, 0], waiting[open_, 1], waiting[open_, 2]
        size = end - begin
        spent += size
        if size > view.shape[1]:
            view, aside = np.empty((columns + 1, size), record.dtype), np.empty(size, orders.dtype)
            at, weight_left = np.empty(size, np.int64), np.empty(size, np.int64)
            loss_left, loss_right = np.empty(size), np.empty(size)
        total = 0
        for i in range(begin, end):
            total += record[orders[0, i], columns]
        chosen = -1
        if total >= 2 * least:
            for j in range(columns):
                low[j], high[j] = record[orders[j, begin], j], record[orders[j, end - 1], j]
            for j in range(columns):
                gain[j], tried[j] = -np.inf, False
                if low[j] == high[j]:
                    continue
                _look(record, orders[j], begin, size, low, high, view)
                cuts = _cuts(view[j], view[columns], size, total, least, at, weight_left)
                if cuts == 0:
                    continue
                whole = _losses(
                    view, size, 1, low, high, near, far, cost, following, at, cuts, loss_left, spans, first_span,
                    ranks, weight, level, above, loss, first,
                )  # fmt: skip
                _losses(
                    view, size, -1, low, high, near, far, cost, following, at, cuts, loss_right, spans, first_span,
                    ranks, weight, level, above, loss, first,
                )  # fmt: skip
                gain[j], place[j] = _best(total, whole, cuts, at, weight_left, loss_left, loss_right)
                place[j] += begin
            chosen, refusals = _promised(orders, begin, end, gain, place, tried, importance, promise)
            turn += refusals
        if chosen < 0:
            closed[done, 0], closed[done, 1], closed[done, 2] = begin, end, turn
            done += 1
            settled += total
            continue
        middle = place[chosen] + 1
        border = record[orders[chosen, place[chosen]], chosen]
        for j in range(columns):
            if j != chosen:
                _part(record, orders[j], begin, end, chosen, border, aside)
        larger = middle - begin > end - middle  # it waits longer than the smaller part, so that few are waiting
        for step in range(2):
            waiting[open_, 0] = begin if larger == (step == 0) else middle
            waiting[open_, 1] = middle if larger == (step == 0) else end
            waiting[open_, 2] = turn + 1
            open_ += 1
    return open_, done, settled


@njit(cache=True, nogil=True)
def _look(record: Any, order: Any, begin: int, size: int, low: Any, high: Any, view: Any) -> None:
    """The group as one column orders it, column by column: ranks side by side, where they differ, and weights."""
    columns = record.shape[1] - 1
    for c in range(columns + 1):
        if c == columns or low[c] < high[c]:
            for i in range(size):
                view[c, i] = record[order[begin + i], c]
        else:
            view[c, 0] = view[c, size - 1] = low[c]


@njit(cache=True, nogil=True)
def _cuts(own: Any, weights: Any, size: int, total: int, least: int, at: Any, weight_left: Any) -> int:
    """Places of the cuts between different values that leave enough on both sides, and the weight left of each."""
    cuts, weight = 0, 0
    for i in range(size - 1):
        weight += weights[i]
        if own[i] != own[i + 1] and weight >= least:
            if total - weight < least:
                break
            at[cuts], weight_left[cuts] = i, weight
            cuts += 1
    return cuts


@njit(cache=True, nogil=True)
def _losses(
    view: Any, size: int, step: int, low: Any, high: Any, near: Any, far: Any, cost: Any, following: Any, at: Any,
    cuts: int, losses: Any, spans: Any, first_span: Any, ranks: Any, weight: Any, level: Any, above: Any, loss: Any,
    first: Any,
) -> float:  # fmt: skip
    """What the part on one side of each cut loses, from the left (`step` 1) or the right (-1), and what all lose.

    A part grows tuple by tuple, but only those change it that lie outside of its span in some column. `following` is
    the next of these in each column, and none once the part reaches as far as the group, from `low` to `high`. From the
    right nobody looks beyond the first cut.
    """
    columns = view.shape[0] - 1
    begin, end = (0, size) if step > 0 else (size - 1, at[0])
    lost = 0.0
    for c in range(columns):
        near[c] = far[c] = view[c, begin]
        if first_span[c] >= 0:
            cost[c] = spans[first_span[c] + near[c] * ranks[c] + near[c]]
        else:
            cost[c] = span_loss(near[c], near[c], weight[c], level[c], above, loss, first[c])
        lost += cost[c]
        following[c] = _outside(view[c], begin + step, end, step, near[c], far[c]) if low[c] < high[c] else end
    cut = 0 if step > 0 else cuts - 1
    while True:
        now, who = end, -1
        for c in range(columns):
            if (following[c] - now) * step < 0:
                now, who = following[c], c
        while 0 <= cut < cuts and (at[cut] < now if step > 0 else at[cut] >= now):
            losses[cut] = lost
            cut += step
        if who < 0:
            return lost
        near[who], far[who] = min(near[who], view[who, now]), max(far[who], view[who, now])
        before = cost[who]
        if first_span[who] >= 0:
            cost[who] = spans[first_span[who] + near[who] * ranks[who] + far[who]]
        else:
            cost[who] = span_loss(near[who], far[who], weight[who], level[who], above, loss, first[who])
        lost += cost[who] - before
        full = near[who] == low[who] and far[who] == high[who]
        following[who] = end if full else _outside(view[who], now + step, end, step, near[who], far[who])


@njit(cache=True, nogil=True)
def _outside(own: Any, begin: int, end: int, step: int, near: int, far: int) -> int:
    """The first place from `begin` on, up to `end`, whose rank lies outside of a span; `end` where there is none."""
    i = begin
    while (end - i) * step >= 64:  # many at once, as long as all of them lie inside
        lowest = i if step > 0 else i - 63
        outside = 0
        for place in range(lowest, lowest + 64):
            outside += own[place] < near or own[place] > far
        if outside:
            break
        i += 64 * step
    while i != end and near <= own[i] <= far:
        i += step
    return i


@njit(cache=True, nogil=True)
def _promised(
    orders: Any, begin: int, end: int, gain: Any, place: Any, tried: Any, importance: Any, promise: Any
) -> tuple[int, int]:
    """The column of the best cut whose parts keep the promise, -1 for none, and how many better ones do not."""
    refusals = 0
    while True:
        chosen, best = -1, -np.inf
        for j in range(len(gain)):
            if not tried[j] and gain[j] > -np.inf and gain[j] * importance[j] > best:
                chosen, best = j, gain[j] * importance[j]
        if chosen < 0:
            return -1, refusals
        middle = place[chosen] + 1
        if _varied(orders[chosen], begin, middle, promise) and _varied(orders[chosen], middle, end, promise):
            return chosen, refusals
        tried[chosen] = True
        refusals += 1


@njit(cache=True, nogil=True)
def _varied(order: Any, begin: int, end: int, promise: Any) -> bool:
    """Whether the tuples of a part hold as many different values of each column as they must."""
    starts, values, counts, first, needed, seen = promise
    for m in range(len(needed)):
        seen[-1] += 1  # marks the values of this part
        found = 0
        for i in range(begin, end):
            t = order[i]
            for entry in range(first[m] + starts[m, t], first[m] + starts[m, t + 1]):
                if counts[entry] > 0 and seen[values[entry]] != seen[-1]:
                    seen[values[entry]] = seen[-1]
                    found += 1
            if found >= needed[m]:
                break
        if found < needed[m]:
            return False
    return True


@njit(cache=True, nogil=True)
def _best(
    total: int, whole: float, cuts: int, at: Any, weight_left: Any, loss_left: Any, loss_right: Any
) -> tuple[float, int]:
    """The most that a cut wins back, and its place; of equal ones the leftmost."""
    best, place = -np.inf, -1
    for cut in range(cuts):
        share = weight_left[cut] / total
        balance = 1.0 - abs(2.0 * share - 1.0)
        won = whole - share * loss_left[cut] - (1.0 - share) * loss_right[cut] + 1e-6 * balance
        if won > best:
            best, place = won, at[cut]
    return best, place


@njit(cache=True, nogil=True)
def _part(record: Any, order: Any, begin: int, end: int, chosen: int, border: int, aside: Any) -> None:
    """Bring a stretch of an order into that of the two parts of a cut, each sorted as it was."""
    left, right = begin, 0
    for i in range(begin, end):  # written to both sides, and counted on one: nothing for a processor to guess
        t = order[i]
        order[left] = aside[right] = t
        stays = record[t, chosen] <= border
        left += stays
        right += not stays
    for i in range(right):
        order[left + i] = aside[i]


@njit(cache=True, nogil=True)
def all_spans(tables: Any, ranks: Any, begin: Any, spans: Any) -> None:
    """Fill in what every span of the columns with few values loses."""
    weight, level, above, loss, first = tables
    for c in range(len(ranks)):
        if begin[c] >= 0:
            for near in range(ranks[c]):
                for far in range(near, ranks[c]):
                    spans[begin[c] + near * ranks[c] + far] = span_loss(
                        near, far, weight[c], level[c], above, loss, first[c]
                    )
