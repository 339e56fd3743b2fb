"""Compiled: division where all columns together gain most.

The general form (`multidimensional_template`), which it must agree with, looks at all groups at once, round by round,
and holds what every column makes of every tuple in arrays as long as the table. Here one group is looked at after the
other, the smaller part of a group first. The ranks of a tuple stand side by side in one word of 63 bits (or in
several), so that one look tells whether it lies outside of a span in any column; groups that are small enough move into
arrays of their own, near each other in memory. Sums are added up in the same order, so that both forms find the same
cuts to the bit.

What is known of each column stands in the rows of two tables, whole numbers and others: every array that is handed on
by itself costs time, to compile and to run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from keepsense.numba_cache import njit

# The joint loss after each cut, in one pass; tests compute the spans one by one


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


# Division

_NEAR = 65_536
"""Tuples of a group up to which it is divided in arrays of its own, which a processor keeps at hand."""
_FEW = 64
"""Tuples of a group up to which every one of them is looked at, whether it lies outside of a span or not."""

WORD, SHIFT, MASK, LEVEL, FIRST, FIRST_SPAN, RANKS = range(7)
"""Given of each column: its word, the bits right of it, all its bits; where the tables of its losses begin."""
LOW, HIGH, NEAR, FAR, NEAR_BEHIND, FAR_BEHIND, FULL, PLACE, LEFT, TRIED = range(7, 17)
"""Worked out: the span of the group, of the part left and right of a cut, and the best cut."""
WEIGHT, IMPORTANCE, COST, COST_BEHIND, GAIN = range(5)
"""Numbers of each column: those that are given, what spans of it lose, and what its best cut wins back."""
FREE, NEARS, FARS = range(3)
"""Of each word: the bits that are free above each column, and the span of a part, packed as tuples are."""


@njit(cache=True, nogil=True)
def divide_together(
    words: Any, weights: Any, orders: Any, known: Any, numbers: Any, free: Any, above: Any, loss: Any, spans: Any,
    least: int, promise: Any, waiting: Any, open_: int, closed: Any, done: int, budget: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Go on dividing the groups that are waiting until none is left, or `budget` tuples were looked at.

    `words` and `weights` are those of each tuple, `orders[j]` the tuples by their rank in column j, those of a group
    side by side: a group is a stretch of all orders, and cutting it brings each into the order of its parts. `known`,
    `numbers` and `free` have a row for each of the constants above. `above` and `loss` are those of `lost_beside`,
    `spans` every span's loss where a column has few values. Every group must hold `least` records, and of each
    histogram of `promise` (starts, values, counts, how many are needed, a place for each value) so many values.
    `waiting` holds begin, end, round and records of `open_` groups, `closed` those of the `done` ones. Returns both
    numbers, and the records of the groups that were closed.
    """
    columns, n = orders.shape
    few = min(n, _NEAR)
    cuts = _FEW
    for j in range(columns):
        cuts = max(cuts, known[RANKS, j])
    at, losses = np.empty((2, cuts), np.int64), np.empty((2, cuts))
    view, aside = np.empty((0, words.shape[1]), np.int64), np.empty(0, np.int32)
    near_words, near_weights = np.empty((few, words.shape[1]), np.int64), np.empty(few, weights.dtype)
    near_ranks, near_orders = np.empty((few, columns), np.int32), np.empty((columns, few), np.int32)
    who, place = np.empty(few, np.int32), np.empty(n, np.int32)
    stack = np.empty((64, 4), np.int64)
    spent = settled = 0
    while open_ and spent < budget:
        open_ -= 1
        begin, end = waiting[open_, 0], waiting[open_, 1]
        size = end - begin
        if size > len(aside):
            view, aside = np.empty((size, words.shape[1]), np.int64), np.empty(size, np.int32)
        near = size <= _NEAR
        _copy(waiting, open_, stack, 0)
        if near:
            _brought_near(
                words, weights, orders, known, begin, size, near_words, near_weights, near_ranks, near_orders, who,
                place,
            )  # fmt: skip
            stack[0, 0], stack[0, 1] = 0, size
        still = 1
        while still:
            still -= 1
            spent += stack[still, 1] - stack[still, 0]
            still, done, more = _divided(
                near_words if near else words, near_weights if near else weights, near_ranks,
                near_orders if near else orders, who if near else who[:0], begin if near else 0, known, numbers, free,
                above, loss, spans, least, promise, stack, still, closed, done, view, aside, at, losses,
            )  # fmt: skip
            settled += more
            if not near:
                break
        if near:
            for j in range(columns):
                for i in range(size):
                    orders[j, begin + i] = who[near_orders[j, i]]
        for i in range(still):
            _copy(stack, i, waiting, open_)
            open_ += 1
    return open_, done, settled


@njit(cache=True, nogil=True)
def _copy(source: Any, i: int, target: Any, j: int) -> None:
    """Copy a row, cell by cell: all at once would compile texts of errors, which takes seconds."""
    for c in range(source.shape[1]):
        target[j, c] = source[i, c]


@njit(cache=True, nogil=True)
def _brought_near(
    words: Any, weights: Any, orders: Any, known: Any, begin: int, size: int, near_words: Any, near_weights: Any,
    near_ranks: Any, near_orders: Any, who: Any, place: Any,
) -> None:  # fmt: skip
    """What is known of the tuples of a group, side by side in memory: `who` they are, and their `place` there."""
    for i in range(size):
        t = orders[0, begin + i]
        who[i], place[t] = t, i
        near_weights[i] = weights[t]
        for w in range(words.shape[1]):
            near_words[i, w] = words[t, w]
        for c in range(len(orders)):
            near_ranks[i, c] = (words[t, known[WORD, c]] & known[MASK, c]) >> known[SHIFT, c]
    for j in range(len(orders)):
        for i in range(size):
            near_orders[j, i] = place[orders[j, begin + i]]


@njit(cache=True, nogil=True)
def _divided(
    words: Any, weights: Any, few: Any, orders: Any, who: Any, base: int, known: Any, numbers: Any, free: Any,
    above: Any, loss: Any, spans: Any, least: int, promise: Any, waiting: Any, open_: int, closed: Any, done: int,
    view: Any, aside: Any, at: Any, losses: Any,
) -> tuple[int, int, int]:  # fmt: skip
    """Cut the group that waits at place `open_`, or close it; groups that wait, that are closed, and its records then.

    `who` are the tuples in the table where orders are those of one group (they begin at `base` there), and `few` the
    ranks of each; else `who` is empty.
    """
    columns = len(orders)
    begin, end, turn, total = waiting[open_, 0], waiting[open_, 1], waiting[open_, 2], waiting[open_, 3]
    size = end - begin
    chosen = -1
    if total >= 2 * least:
        for j in range(columns):
            known[LOW, j] = (words[orders[j, begin], known[WORD, j]] & known[MASK, j]) >> known[SHIFT, j]
            known[HIGH, j] = (words[orders[j, end - 1], known[WORD, j]] & known[MASK, j]) >> known[SHIFT, j]
            numbers[GAIN, j] = -np.inf
        for j in range(columns):
            if known[LOW, j] == known[HIGH, j]:
                continue
            if size <= _FEW and len(who):
                _gain(few, weights, orders, j, begin, size, total, least, known, numbers, above, loss, spans, losses)
                continue
            for w in range(words.shape[1]):
                for i in range(size):
                    view[i, w] = words[orders[j, begin + i], w]
            cuts, lowest, highest = _cuts(view, weights, orders, j, begin, size, total, least, known, at)
            if lowest > highest:
                continue
            whole = 0.0
            for side in range(2):
                lost = _losses(view, size, side, j, cuts, lowest, known, numbers, free, above, loss, spans, at, losses)
                whole = whole if side else lost
            best = _best(total, whole, lowest, highest, at, losses)
            numbers[GAIN, j], known[PLACE, j], known[LEFT, j] = best[0], begin + at[0, best[1]], at[1, best[1]]
        chosen, refusals = _promised(orders, who, begin, end, known, numbers, promise)
        turn += refusals
    if chosen < 0:
        closed[done, 0], closed[done, 1], closed[done, 2] = base + begin, base + end, turn
        return open_, done + 1, total
    middle = known[PLACE, chosen] + 1
    word, mask, left_of = known[WORD, chosen], known[MASK, chosen], known[LEFT, chosen]
    border = words[orders[chosen, middle - 1], word] & mask
    for j in range(columns):
        if j != chosen:
            _part(words, orders, j, begin, end, word, mask, border, aside)
    larger = middle - begin > end - middle  # it waits longer than the smaller part, so that few are waiting
    for step in range(2):
        left = larger == (step == 0)
        waiting[open_, 0] = begin if left else middle
        waiting[open_, 1] = middle if left else end
        waiting[open_, 2] = turn + 1
        waiting[open_, 3] = left_of if left else total - left_of
        open_ += 1
    return open_, done, 0


@njit(cache=True, nogil=True)
def _gain(
    few: Any, weights: Any, orders: Any, j: int, begin: int, size: int, total: int, least: int, known: Any,
    numbers: Any, above: Any, loss: Any, spans: Any, losses: Any,
) -> None:  # fmt: skip
    """The best cut of a small group in a column: what it wins back, its place, and the records left of it.

    Both sides of all cuts grow tuple by tuple at the same time. What a tuple inside of a span adds is 0, and cheaper to
    add than to ask for.
    """
    columns = len(orders)
    for c in range(columns):
        known[NEAR, c] = known[NEAR_BEHIND, c] = known[RANKS, c]
        known[FAR, c] = known[FAR_BEHIND, c] = -1
        numbers[COST, c] = numbers[COST_BEHIND, c] = 0.0
    lost, behind = 0.0, 0.0
    for i in range(size):
        t, u = orders[j, begin + i], orders[j, begin + size - 1 - i]
        losses[1, size - 1 - i] = behind
        for c in range(columns):
            if i > 0 and known[LOW, c] == known[HIGH, c]:
                continue
            rank, other = few[t, c], few[u, c]
            near, far = min(known[NEAR, c], rank), max(known[FAR, c], rank)
            near_behind, far_behind = min(known[NEAR_BEHIND, c], other), max(known[FAR_BEHIND, c], other)
            if known[FIRST_SPAN, c] >= 0:
                cost = spans[known[FIRST_SPAN, c] + near * known[RANKS, c] + far]
                cost_behind = spans[known[FIRST_SPAN, c] + near_behind * known[RANKS, c] + far_behind]
            else:
                cost, cost_behind = numbers[COST, c], numbers[COST_BEHIND, c]
                if near < known[NEAR, c] or far > known[FAR, c]:
                    cost = _lost(near, far, c, known, numbers, above, loss, spans)
                if near_behind < known[NEAR_BEHIND, c] or far_behind > known[FAR_BEHIND, c]:
                    cost_behind = _lost(near_behind, far_behind, c, known, numbers, above, loss, spans)
            known[NEAR, c], known[FAR, c], known[NEAR_BEHIND, c] = near, far, near_behind
            known[FAR_BEHIND, c] = far_behind
            lost += cost - numbers[COST, c]
            behind += cost_behind - numbers[COST_BEHIND, c]
            numbers[COST, c], numbers[COST_BEHIND, c] = cost, cost_behind
        losses[0, i] = lost
    records = 0
    for i in range(size - 1):
        t = orders[j, begin + i]
        records += weights[t]
        if records < least or few[t, j] == few[orders[j, begin + i + 1], j]:
            continue
        if total - records < least:
            break
        won = _won(records / total, lost, losses[0, i], losses[1, i])
        if won > numbers[GAIN, j]:
            numbers[GAIN, j], known[PLACE, j], known[LEFT, j] = won, begin + i, records


@njit(cache=True, nogil=True)
def _won(share: float, whole: float, left: float, right: float) -> float:
    """What a cut wins back that leaves a share of the records on the left; a more even one wins a little more."""
    balance = 1.0 - abs(2.0 * share - 1.0)
    return whole - share * left - (1.0 - share) * right + 1e-6 * balance


@njit(cache=True, nogil=True)
def _cuts(
    view: Any, weights: Any, orders: Any, j: int, begin: int, size: int, total: int, least: int, known: Any, at: Any
) -> tuple[int, int, int]:
    """How many places lie between different values, and the first and last of them that leave enough on both sides.

    `at` holds the places, and the records left of each.
    """
    word, mask = known[WORD, j], known[MASK, j]
    cuts, weight = 0, 0
    lowest, highest = 0, -1
    for i in range(size - 1):
        weight += weights[orders[j, begin + i]]
        if (view[i, word] ^ view[i + 1, word]) & mask:
            at[0, cuts], at[1, cuts] = i, weight
            lowest += weight < least
            highest += total - weight >= least
            cuts += 1
    return cuts, lowest, highest


@njit(cache=True, nogil=True)
def _losses(
    view: Any, size: int, side: int, own: int, cuts: int, lowest: int, known: Any, numbers: Any, free: Any, above: Any,
    loss: Any, spans: Any, at: Any, losses: Any,
) -> float:  # fmt: skip
    """What the part left (`side` 0) or right (1) of each cut loses, and what all lose.

    A part grows tuple by tuple, but only those change it that lie outside of its span in some column. Once it reaches
    as far as the group in all columns but the one that orders it, only cuts change it. From the right nobody looks
    beyond the lowest cut.
    """
    columns = known.shape[1]
    step = -1 if side else 1
    begin, end = (size - 1, at[0, lowest]) if side else (0, size)
    lost, narrow = 0.0, 0
    for w in range(free.shape[1]):
        free[NEARS, w], free[FARS, w] = view[begin, w], view[begin, w] | free[FREE, w]
    for c in range(columns):
        rank = (view[begin, known[WORD, c]] & known[MASK, c]) >> known[SHIFT, c]
        known[NEAR, c] = known[FAR, c] = rank
        numbers[COST, c] = _lost(rank, rank, c, known, numbers, above, loss, spans)
        lost += numbers[COST, c]
        known[FULL, c] = c == own or known[LOW, c] == known[HIGH, c]
        narrow += not known[FULL, c]
    cut = cuts - 1 if side else 0
    i = begin + step
    while narrow:
        i = _outside(view, i, end, step, free)
        while 0 <= cut < cuts and (at[0, cut] >= i if side else at[0, cut] < i):
            losses[side, cut] = lost
            cut += step
        if i == end:
            return lost
        for c in range(columns):
            word, shift = known[WORD, c], known[SHIFT, c]
            rank = (view[i, word] & known[MASK, c]) >> shift
            if rank < known[NEAR, c]:
                free[NEARS, word] -= (known[NEAR, c] - rank) << shift
                known[NEAR, c] = rank
            elif rank > known[FAR, c]:
                free[FARS, word] += (rank - known[FAR, c]) << shift
                known[FAR, c] = rank
            else:
                continue
            cost = _lost(known[NEAR, c], known[FAR, c], c, known, numbers, above, loss, spans)
            lost += cost - numbers[COST, c]
            numbers[COST, c] = cost
            if not known[FULL, c] and known[NEAR, c] == known[LOW, c] and known[FAR, c] == known[HIGH, c]:
                known[FULL, c] = True
                narrow -= 1
        i += step
    word, shift, mask = known[WORD, own], known[SHIFT, own], known[MASK, own]
    near, far, before = known[NEAR, own], known[FAR, own], numbers[COST, own]
    while (lowest if side else 0) <= cut < cuts:
        losses[side, cut] = lost
        if side and cut == lowest:
            break
        rank = (view[at[0, cut] + 1 - side, word] & mask) >> shift
        near, far = min(near, rank), max(far, rank)
        cost = _lost(near, far, own, known, numbers, above, loss, spans)
        lost += cost - before
        before = cost
        cut += step
    return lost


@njit(cache=True, nogil=True)
def _lost(near: int, far: int, c: int, known: Any, numbers: Any, above: Any, loss: Any, spans: Any) -> float:
    """What a span of ranks of a column loses: looked up where all spans were worked out, else worked out."""
    if known[FIRST_SPAN, c] >= 0:
        return float(spans[known[FIRST_SPAN, c] + near * known[RANKS, c] + far])
    return span_loss(near, far, numbers[WEIGHT, c], known[LEVEL, c], above, loss, known[FIRST, c])


@njit(cache=True, nogil=True)
def _outside(view: Any, begin: int, end: int, step: int, free: Any) -> int:
    """The first place from `begin` on, up to `end`, whose rank lies outside of a span in some column; else `end`.

    The bit that is free above each rank is set before the lower end is taken away: it stays where no rank lies below.
    The upper ends have theirs set, and keep it where no rank lies above.
    """
    i = begin
    if free.shape[1] > 1:
        while i != end:
            for w in range(free.shape[1]):
                ranks, bits = view[i, w], free[FREE, w]
                if ((ranks | bits) - free[NEARS, w]) & (free[FARS, w] - ranks) & bits != bits:
                    return i
            i += step
        return i
    bits, near, far = free[FREE, 0], free[NEARS, 0], free[FARS, 0]
    while (end - i) * step >= 16:  # many at once, as long as all of them lie inside
        lowest = i if step > 0 else i - 15
        inside = bits
        for place in range(lowest, lowest + 16):
            inside &= ((view[place, 0] | bits) - near) & (far - view[place, 0])
        if inside != bits:
            break
        i += 16 * step
    while i != end and ((view[i, 0] | bits) - near) & (far - view[i, 0]) & bits == bits:
        i += step
    return i


@njit(cache=True, nogil=True)
def _promised(orders: Any, who: Any, begin: int, end: int, known: Any, numbers: Any, promise: Any) -> tuple[int, int]:
    """The column of the best cut whose parts keep the promise, -1 for none, and how many better ones do not."""
    refusals = 0
    columns = known.shape[1]
    for j in range(columns):
        known[TRIED, j] = numbers[GAIN, j] == -np.inf
    while True:
        chosen: Any = np.int64(-1)  # no literal, for which others would be compiled by themselves
        best = -np.inf
        for j in range(columns):
            if not known[TRIED, j] and numbers[GAIN, j] * numbers[IMPORTANCE, j] > best:
                chosen, best = j, numbers[GAIN, j] * numbers[IMPORTANCE, j]
        if chosen < 0:
            return -1, refusals
        middle = known[PLACE, chosen] + 1
        if _varied(orders, chosen, who, begin, middle, promise) and _varied(orders, chosen, who, middle, end, promise):
            return chosen, refusals
        known[TRIED, chosen] = True
        refusals += 1


@njit(cache=True, nogil=True)
def _varied(orders: Any, j: int, who: Any, begin: int, end: int, promise: Any) -> bool:
    """Whether the tuples of a part hold as many different values of each column as they must."""
    starts, values, counts, first, needed, seen = promise
    for m in range(len(needed)):
        seen[-1] += 1  # marks the values of this part
        found = 0
        for i in range(begin, end):
            t = who[orders[j, i]] if len(who) else orders[j, i]
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
def _best(total: int, whole: float, lowest: int, highest: int, at: Any, losses: Any) -> tuple[float, int]:
    """The most that a cut wins back, and which it is; of equal ones the leftmost."""
    best, chosen = -np.inf, lowest
    for cut in range(lowest, highest + 1):
        won = _won(at[1, cut] / total, whole, losses[0, cut], losses[1, cut])
        if won > best:
            best, chosen = won, cut
    return best, chosen


@njit(cache=True, nogil=True)
def _part(words: Any, orders: Any, j: int, begin: int, end: int, word: int, mask: int, border: int, aside: Any) -> None:
    """Bring a stretch of an order into that of the two parts of a cut, each sorted as it was."""
    left, right = begin, 0
    for i in range(begin, end):  # written to both sides, and counted on one: nothing for a processor to guess
        t = orders[j, i]
        orders[j, left] = aside[right] = t
        stays = words[t, word] & mask <= border
        left += stays
        right += not stays
    for i in range(right):
        orders[j, left + i] = aside[i]


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
