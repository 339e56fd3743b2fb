"""The loops of lattice search in NumPy, for small tables: the same steps and decisions as the compiled loops.

A small search ends before compiled loops would be loaded. Sums are the same to the last bit. Both work on the same
arrays, so that a search which turns out to be long goes on with the compiled ones where it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, expm1, log1p, log2
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from keepsense.methods.generalize.lattice_space import (
    CLASS_SIZE,
    DISCERNIBILITY,
    FAILS,
    FAILS_TAGGED,
    GEOMETRIC,
    HOLDS,
    HOLDS_TAGGED,
    SQUARES,
    SUM,
    UNKNOWN,
    Goal,
    Levels,
    Losses,
    Nodes,
    Store,
    first_seen,
)

# Class tables: the same tables, figures and sums as `class_table_kernels`

A_CHECK = 2000
"""Merged classes that take as long as what a check costs besides."""

work = {"done": 0}
"""Classes merged in this process without the compiler."""


def find_source(store: Store, node: Ints) -> int:
    """The smallest stored table that is at least as specific as the node."""
    ranked = store.rank[: store.fill[0]]
    fits = (store.level[ranked] <= node).all(axis=1)
    return int(ranked[fits.argmax()]) if fits.any() else 0


def _make_room(store: Store, source: int) -> tuple[int, int, int]:
    """Keep the source alone, right behind the distinct tuples; returns its place, the tables and what they take."""
    size, n = int(store.length[0]), int(store.length[source])
    if source == 0:
        store.rank[0] = 0
        return 0, 1, size
    begin = int(store.first[source])
    for array in (store.keys, store.weights, store.seen):
        array[size : size + n] = array[begin : begin + n].copy()
    store.level[1] = store.level[source]
    store.first[1], store.length[1] = size, n
    store.rank[0], store.rank[1] = 1, 0
    return 1, 2, size + n


def roll_up(levels: Levels, store: Store, source: int, node: Ints, want: bool) -> int:
    """Make the class table of `node` from a stored, more specific one; return its place in the store.

    `store.target` tells the new class of each class of the source, wanted or not.
    """
    n = int(store.length[source])
    tables, used = int(store.fill[0]), int(store.fill[1])
    if tables == len(store.first) or used + n + 1 > len(store.weights):
        source, tables, used = _make_room(store, source)
    begin = int(store.first[source])
    keys = store.keys[begin : begin + n]
    merged = _lifted(levels, keys, store.level[source], node)
    target, first = first_seen(_one_word(merged))
    m = len(first)
    store.target[:n] = target
    store.keys[used : used + m] = merged[first]
    store.weights[used : used + m] = np.bincount(target, store.weights[begin : begin + n], m)
    if store.seen.shape[1]:
        seen = np.zeros((m, store.seen.shape[1]), np.uint64)
        np.bitwise_or.at(seen, target, store.seen[begin : begin + n])
        store.seen[used : used + m] = seen
    store.first[tables], store.length[tables] = used, m
    store.level[tables] = node
    r = tables  # the tables are ranked by size, so that the smallest source is found first
    while r > 0 and store.length[store.rank[r - 1]] > m:
        store.rank[r] = store.rank[r - 1]
        r -= 1
    store.rank[r] = tables
    store.fill[0], store.fill[1] = tables + 1, used + m
    store.fill[2] += n
    work["done"] += n + A_CHECK
    return tables


def _lifted(levels: Levels, keys: NDArray[np.uint64], low: Ints, node: Ints) -> NDArray[np.uint64]:
    """Keys with every column lifted from one level to another."""
    keep = np.full(keys.shape[1], ~np.uint64(0), np.uint64)
    changed = np.flatnonzero(low != node).tolist()
    whole = [j for j in changed if levels.sizes[j, node[j]] == 1]
    for j in whole:
        keep[levels.word[j]] &= ~(levels.mask[j] << levels.shift[j])
    lifted = keys & keep
    for j in changed:
        if j not in whole:
            word = levels.word[j]
            codes = (keys[:, word] >> levels.shift[j]) & levels.mask[j]
            lifted[:, word] ^= levels.up[levels.up_at[j, low[j], node[j]] + codes]
    return lifted


def _one_word(keys: NDArray[np.uint64]) -> NDArray[Any]:
    """Keys of several words as numbers that are equal where all words are."""
    numbers: NDArray[Any] = keys[:, 0]
    for word in range(1, keys.shape[1]):
        _, left = np.unique(numbers, return_inverse=True)
        _, right = np.unique(keys[:, word], return_inverse=True)
        numbers = left.ravel() * (int(right.max(initial=0)) + 1) + right.ravel()
    return numbers


def table_of(levels: Levels, store: Store, node: Ints, leafwise: bool) -> int:
    """The node's class table: stored already, or rolled up, over one in between where that will serve others too."""
    if leafwise:  # the caller wants to know which distinct tuples fell into each class
        return roll_up(levels, store, 0, node, True)
    source = find_source(store, node)
    low, length = store.level[source].copy(), int(store.length[source])
    steps = int((node - low).sum())
    if steps == 0:
        return source
    if steps > 3 and length > 1000:
        for quarters in (2, 3):  # half of the way, or three quarters if that would hardly merge anything
            middle = ((4 - quarters) * low + quarters * node) // 4
            bits = 0.0
            for j, level in enumerate(middle.tolist()):
                bits += float(levels.entropy[j, level])
            if bits < log2(length):
                source = roll_up(levels, store, source, middle, False)
                break
    return roll_up(levels, store, source, node, False)


def mark_bad(store: Store, goal: Goal, place: int) -> int:
    """Mark the classes with too few records or too few different sensitive values; return their records."""
    begin, m = int(store.first[place]), int(store.length[place])
    weights, bad = store.weights[begin : begin + m], store.bad[:m]
    np.less(weights, goal.k, out=bad)
    for s, need in enumerate(goal.need.tolist()):
        words = store.seen[begin : begin + m, goal.need_at[s] : goal.need_at[s + 1]]
        bad |= np.bitwise_count(words).sum(axis=1) < need
    return int(weights[bad].sum())


def evaluate(
    levels: Levels, store: Store, losses: Losses, goal: Goal, place: int, node: Ints, penalty: Floats, found: Ints
) -> None:
    """Judge a class table with `store.bad` marked; see the compiled loop of this name for what the figures are."""
    begin, m = int(store.first[place]), int(store.length[place])
    weights, bad = store.weights[begin : begin + m], store.bad[:m]
    kept = weights[~bad & (weights > 0)]
    suppressed = int(weights[bad].sum())
    floor = (weights * np.maximum(weights, goal.k)).sum()
    found[:] = suppressed, len(kept), np.count_nonzero(weights), (kept * kept).sum(), floor, (kept // goal.k).sum()
    penalty[:] = 0.0
    if losses.leafwise and suppressed:
        _leaf_penalty(levels, store, losses, node, penalty)
    elif suppressed:
        lost_weights, lost_keys = weights[bad], store.keys[begin : begin + m][bad]
        for j in np.flatnonzero(node <= levels.heights).tolist():
            codes = (lost_keys[:, levels.word[j]] >> levels.shift[j]) & levels.mask[j]
            size = int(levels.sizes[j, node[j]])
            records = np.bincount(codes.astype(np.int64), lost_weights, size)
            at = int(losses.at[j, node[j]])
            lost = _sum(records * losses.table[at : at + size])
            penalty[j] = suppressed * losses.worst[losses.worst_at[j]] - lost


def _leaf_penalty(levels: Levels, store: Store, losses: Losses, node: Ints, penalty: Floats) -> None:
    """Added loss where it depends on the original value: `store.target` knows each distinct tuple's class."""
    n = int(store.length[0])
    rows = np.flatnonzero(store.bad[store.target[:n]])
    weights = store.weights[rows]
    before, after = np.zeros(len(rows)), np.zeros(len(rows))
    added: dict[int, Floats] = {}
    for j in np.flatnonzero(node <= levels.heights).tolist():
        codes = ((store.keys[rows, levels.word[j]] >> levels.shift[j]) & levels.mask[j]).astype(np.int64)
        loss = losses.table[losses.at[j, node[j]] + codes]
        worst = losses.worst[losses.worst_at[j] + codes]
        before += loss
        after += worst
        added[j] = weights * (worst - loss)
    if losses.kind == SQUARES:  # the square of the sum, not the sum: put the difference on the first column
        more = weights * (after * after - before * before - (after - before))
        added[0] = np.column_stack([added[0], more]).ravel() if 0 in added else more
    for j, terms in added.items():
        penalty[j] = _sum(terms)


def _sum(terms: NDArray[Any]) -> float:
    """The sum, one term after the other."""
    return float(np.cumsum(terms)[-1]) if len(terms) else 0.0


def values_seen(starts: Any, indices: Any, counts: Any, at: int, seen: NDArray[np.uint64]) -> None:
    """Set the bits of the values that occur under each distinct tuple, from word `at` on."""
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))[counts > 0]
    values = np.asarray(indices[counts > 0]).astype(np.uint64)
    bits = np.uint64(1) << (values & np.uint64(63))
    np.bitwise_or.at(seen, (rows, at + (values >> np.uint64(6)).astype(np.int64)), bits)


def merge_histogram(starts: Any, indices: Any, counts: Any, n_values: int, target: Any, m: int) -> Any:
    """Add the rows of a histogram up by class: starts, values and counts of the merged histogram."""
    classes = np.repeat(np.asarray(target[: len(starts) - 1], dtype=np.int64), np.diff(starts))
    numbers, first = first_seen(classes * n_values + indices)
    order = np.argsort(classes[first], kind="stable")
    new_starts = np.zeros(m + 1, np.int32)
    np.cumsum(np.bincount(classes[first], minlength=m), out=new_starts[1:])
    added = np.bincount(numbers, counts, len(first)).astype(np.int64)
    return new_starts, indices[first[order]].astype(np.int32), added[order]


# Walks: the same as `lattice_kernels`

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

ROWS = 1 << 15
"""Distinct tuples up to which a search begins without the compiler."""
NODES = 1 << 17
"""Nodes up to which it does."""
WORK = 10_000_000
"""Classes merged in a process until the compiled loops are worth their loading; a check counts as some thousand."""


def suits(tuples: int, nodes: int) -> bool:
    """Whether a search is to go on without the compiler: it is small, and this process has not searched much yet.

    >>> suits(10, 10**9)
    False
    """
    return tuples <= ROWS and nodes <= NODES and work["done"] < WORK


# ---- nodes -----------------------------------------------------------------------------------------------------------


def value_of(
    kind: int, scale: float, total: int, column: Floats, base: float, node: Ints, penalty: Floats, found: Ints
) -> float:
    """The objective at a judged node; smaller is better."""
    if kind == DISCERNIBILITY:
        return float(found[3]) + float(total) * float(found[0])
    if kind == CLASS_SIZE:
        return float(total) / float(found[1] + (1 if found[0] else 0))
    if kind == GEOMETRIC:
        logs = 0.0
        for j, level in enumerate(node.tolist()):
            logs += log1p((float(column[j, level]) + float(penalty[j])) * scale)
        return expm1(logs / len(node))
    added = 0.0
    for lost in penalty.tolist():
        added += lost
    return base + added * scale


def _down(array: NDArray[Any], heights: Ints, node: Ints) -> NDArray[Any]:
    """What an array of all nodes says of the node and those below it."""
    return array.reshape(heights + 1)[tuple(slice(0, level + 1) for level in node.tolist())]


def _up(array: NDArray[Any], heights: Ints, node: Ints) -> NDArray[Any]:
    """What an array of all nodes says of the node and those above it."""
    return array.reshape(heights + 1)[tuple(slice(level, None) for level in node.tolist())]


def tag(nodes: Nodes, heights: Ints, node: Ints, holds: bool, scratch: Any = None) -> None:
    """Predictive tagging: what a checked node tells about the nodes below (it fails) or above it (it holds)."""
    index = int(node @ nodes.strides)
    reached = (_up if holds else _down)(nodes.status, heights, node)
    reached[reached == UNKNOWN] = HOLDS_TAGGED if holds else FAILS_TAGGED
    if not holds:
        _down(nodes.bound, heights, node)[...] = np.inf
    nodes.status[index] = HOLDS if holds else FAILS
    nodes.bound[index] = np.inf


def raise_bounds(  # noqa: PLR0913
    nodes: Nodes, heights: Ints, node: Ints, kind: int, monotone: bool, added: float, goal: Goal, found: Ints,
    scratch: Any = None,
) -> None:  # fmt: skip
    """Raise the lower bounds of the nodes below (and for class sizes above) a checked node."""
    bound = _down(nodes.bound, heights, node)
    if kind in (SUM, SQUARES, GEOMETRIC):
        if monotone and added > 0:
            base = _down(nodes.base, heights, node)
            np.maximum(bound, (1.0 + base) * exp(added) - 1.0 if kind == GEOMETRIC else base + added, out=bound)
        return
    total = float(goal.total)
    if kind == DISCERNIBILITY:
        below = total * int(found[0]) + float(goal.k) * (total - int(found[0]))
        above = float(found[4])
    else:
        below = total / (int(found[5]) + 1.0)
        above = total / float(found[2])
    np.maximum(bound, below, out=bound)
    bound = _up(nodes.bound, heights, node)
    np.maximum(bound, above, out=bound)


def _next_open(nodes: Nodes) -> int:
    """Position in the order of the next node that may be the best."""
    position = int(nodes.place[0])
    while position < len(nodes.order):
        some = nodes.bound[nodes.order[position : position + 4096]] < nodes.best[0]
        if some.any():
            return position + int(some.argmax())
        position += len(some)
    return position


def next_path(nodes: Nodes, levels: Levels, climb: bool, path: Ints, bits: Floats, node: Ints) -> int:
    """The next open node and a way up from it, through nodes that lose least; returns its length, 0 at the end."""
    heights, strides = levels.heights.tolist(), nodes.strides.tolist()
    nodes.place[0] = position = _next_open(nodes)
    if position == len(nodes.order):
        return 0
    here = int(nodes.order[position])
    at = [int(level) for level in np.unravel_index(here, levels.heights + 1)]
    path[0], length = here, 1
    split = 0.0
    for j, level in enumerate(at):
        split += float(levels.entropy[j, level])
    bits[0] = split
    best = float(nodes.best[0])
    while climb:
        step, step_open, lost = -1, False, 0.0
        for j, stride in enumerate(strides):
            if at[j] == heights[j]:
                continue
            above = here + stride
            is_open = bool(nodes.bound[above] < best)
            if not is_open and (step_open or nodes.status[above] != UNKNOWN):
                continue
            if step < 0 or (is_open and not step_open) or nodes.base[above] < lost:
                step, step_open, lost = j, is_open, nodes.base[above]
        if step < 0:
            break
        here += strides[step]
        at[step] += 1
        path[length] = here
        bits[length] = bits[length - 1] + levels.entropy[step, at[step]] - levels.entropy[step, at[step] - 1]
        length += 1
    node[:] = at
    return length


def next_unknown(nodes: Nodes, heights: Ints, climb: bool, path: Ints, node: Ints) -> int:
    """The next node of unknown status and a way up from it through unknown nodes; returns its length, 0 at the end."""
    begin = int(nodes.place[3])
    unknown = np.flatnonzero(nodes.status[begin:] == UNKNOWN)
    nodes.place[3] = here = begin + int(unknown[0]) if len(unknown) else len(nodes.status)
    if here == len(nodes.status):
        return 0
    path[0], length = here, 1
    at = [int(level) for level in np.unravel_index(here, heights + 1)]
    while climb:
        step, lost = -1, 0.0
        for j, stride in enumerate(nodes.strides.tolist()):
            is_open = at[j] < heights[j] and nodes.status[here + stride] == UNKNOWN
            if is_open and (step < 0 or nodes.base[here + stride] < lost):
                step, lost = j, nodes.base[here + stride]
        if step < 0:
            break
        here += int(nodes.strides[step])
        at[step] += 1
        path[length] = here
        length += 1
    node[:] = at
    return length


# ---- walks -----------------------------------------------------------------------------------------------------------


def search(  # noqa: PLR0913
    levels: Levels, store: Store, losses: Losses, goal: Goal, nodes: Nodes, column: Floats, scale: float,
    monotone: bool, checks: int, log: Ints, log_values: Floats,
) -> int:  # fmt: skip
    """Check nodes until the best one is proven or `checks` are spent; see the compiled loop of this name."""
    penalty, found = np.empty(len(levels.heights)), np.zeros(6, np.int64)

    def judged(node: Ints, base: float) -> Check:
        place = table_of(levels, store, node, losses.leafwise)
        suppressed = mark_bad(store, goal, place)
        value = np.inf
        if suppressed <= goal.limit and suppressed < goal.total:
            evaluate(levels, store, losses, goal, place, node, penalty, found)
            value = value_of(losses.kind, scale, goal.total, column, base, node, penalty, found)
        return Check(suppressed, int(store.length[place]), value, found)

    return walk(levels, goal, nodes, losses.kind, monotone, checks, judged, (log, log_values))


class Check(NamedTuple):
    """What judging a node showed: suppressed records, classes, the metric if it holds, and what `evaluate` found."""

    suppressed: int
    classes: int
    value: float
    found: Ints


def walk(
    levels: Levels, goal: Goal, nodes: Nodes, kind: int, monotone: bool, checks: int,
    judged: Callable[[Ints, float], Check], logs: tuple[Ints, Floats],
) -> int:  # fmt: skip
    """The way that a search takes, whoever judges the nodes: each with what it loses if nothing is suppressed."""
    heights, (log, log_values) = levels.heights, logs
    path = np.empty(int(heights.sum()) + 1, np.int64)
    bits, node = np.empty(len(path)), np.empty(len(heights), np.int64)
    made = 0
    while made < checks:
        length = next_path(nodes, levels, True, path, bits, node)
        if length == 0:
            break
        along = _Along(length, bits, float(nodes.best[1]))
        while along.low <= along.high:
            v = int(path[along.middle])
            if nodes.bound[v] < nodes.best[0] or nodes.status[v] == UNKNOWN:
                node[:] = np.unravel_index(v, heights + 1)
                base = float(nodes.base[v])
                suppressed, classes, value, found = judged(node, base)
                holds = suppressed <= goal.limit and suppressed < goal.total
                if holds:
                    if value < nodes.best[0]:
                        nodes.best[0], nodes.place[1] = value, v
                    added = log1p(value) - log1p(base) if kind == GEOMETRIC else value - base
                    raise_bounds(nodes, heights, node, kind, monotone, added, goal, found)
                tag(nodes, heights, node, holds)
                if made < len(log):
                    log[made], log_values[made] = (v, classes, suppressed), value
                made += 1
                along.judged(out=not nodes.bound[path[0]] < nodes.best[0])
            else:
                along.step(out=bool(nodes.status[v] >= FAILS))
        if along.last_out >= 0 and 0 < goal.limit < goal.total:  # else paths are short, or every node holds
            edge = along.edge()
            nodes.best[1] = 0.7 * nodes.best[1] + 0.3 * edge if nodes.best[1] >= 0 else edge
    nodes.place[2] += made
    return made


class _Along:
    """The search along one path for the highest node that rules its start out."""

    def __init__(self, length: int, bits: Floats, edge: float) -> None:
        self.length, self.bits = length, bits
        self.low, self.high = 0, length - 1
        self.middle, self.stride, self.turn = length // 2, 0, 0
        if edge >= 0:
            self.middle, self.stride = 0, 1
            while self.middle + 1 < length and bits[self.middle + 1] >= edge:
                self.middle += 1
        self.last_out, self.first_in = -1, length

    def judged(self, *, out: bool) -> None:
        if out:
            self.last_out = self.middle
        else:
            self.first_in = self.middle
        self.step(out=out)

    def step(self, *, out: bool) -> None:
        if out:
            self.low = self.middle + 1
        else:
            self.high = self.middle - 1
        direction = 1 if out else -1
        if self.stride and self.turn in (0, direction):
            self.turn = direction
            self.middle = min(max(self.middle + direction * self.stride, self.low), self.high)
            self.stride *= 2
        else:
            self.stride = 0
            self.middle = (self.low + self.high + 1) // 2

    def edge(self) -> float:
        """Where, by entropy, the last failing node of the path lies."""
        last = float(self.bits[self.last_out])
        return last if self.first_in == self.length else 0.5 * (last + float(self.bits[self.first_in]))


def classify(levels: Levels, store: Store, goal: Goal, nodes: Nodes, checks: int, log: Ints) -> int:
    """Judge nodes until the status of every one is known or `checks` are spent; returns the checks made."""
    heights = levels.heights
    path, node = np.empty(int(heights.sum()) + 1, np.int64), np.empty(len(heights), np.int64)
    made = 0
    while made < checks:
        length = next_unknown(nodes, heights, True, path, node)
        if length == 0:
            break
        low, high = 0, length - 1
        while low <= high:
            middle = (low + high + 1) // 2
            node[:] = np.unravel_index(int(path[middle]), heights + 1)
            place = table_of(levels, store, node, False)
            suppressed = mark_bad(store, goal, place)
            holds = suppressed <= goal.limit and suppressed < goal.total
            tag(nodes, heights, node, holds)
            if made < len(log):
                log[made] = path[middle], store.length[place], suppressed
            made += 1
            low, high = (low, middle - 1) if holds else (middle + 1, high)
    return made


# ---- pairs of columns ------------------------------------------------------------------------------------------------


def pair_limits(  # noqa: PLR0913
    tuples: Any, weights: Ints, codes: Any, codes_at: Ints, levels: Levels, start: Ints, k: int, limit: int,
    fine: NDArray[np.bool_],
) -> None:  # fmt: skip
    """Whether two columns at two levels alone would need more than `limit` records suppressed: `fine` says so."""
    heights, sizes = levels.heights.tolist(), levels.sizes
    d = len(heights)
    tables = [codes[codes_at[j] : codes_at[j + 1]].reshape(-1, heights[j] + 1) for j in range(d)]
    counted = [j for j in range(d) if start[j] <= heights[j]]
    columns = {j: tables[j][:, start[j]].astype(np.int64)[tuples[:, j]] for j in counted}
    exact = weights.astype(np.float64)

    def pair(a: int, b: int) -> Floats:
        na, nb = int(sizes[a, start[a]]), int(sizes[b, start[b]])
        return np.bincount(columns[a] * nb + columns[b], exact, na * nb).reshape(na, nb).astype(np.float64)

    judge_pairs(pair, tables, levels, start, k, limit, fine)


def judge_pairs(
    pair: Callable[[int, int], Floats], tables: Sequence[Any], levels: Levels, start: Ints, k: int, limit: int,
    fine: NDArray[np.bool_],
) -> None:  # fmt: skip
    """The same, whoever counts the pairs at their levels in `start`; `tables` number the values at all levels."""
    heights, sizes = levels.heights.tolist(), levels.sizes
    counted = [j for j in range(len(heights)) if start[j] <= heights[j]]
    for b in counted:
        for a in counted:
            if a >= b or sizes[a, start[a]] * sizes[b, start[b]] < 20:  # fewer cells hardly ever rule out a node
                continue
            cells = pair(a, b)
            for ha in range(int(start[a]), heights[a] + 1):
                if ha > start[a]:
                    cells = _added(cells, tables[a][:, ha - 1], tables[a][:, ha])
                total = cells.T
                for hb in range(int(start[b]), heights[b] + 1):
                    if hb > start[b]:
                        total = _added(total, tables[b][:, hb - 1], tables[b][:, hb])
                    good = total[total < k].sum() <= limit
                    xs, ys = slice(0 if ha == start[a] else ha, ha + 1), slice(0 if hb == start[b] else hb, hb + 1)
                    fine[a, b, xs, ys] = good
                    fine[b, a, ys, xs] = good


def _added(cells: Floats, low: Any, high: Any) -> Floats:
    """Rows of a table added up from one level's codes to the next one's."""
    up = np.zeros(len(cells), np.int64)
    up[low] = high
    n, columns = int(up.max()) + 1, cells.shape[1]
    at = up[:, None] * columns + np.arange(columns)
    return np.bincount(at.ravel(), cells.ravel(), n * columns).reshape(n, columns).astype(np.float64)
