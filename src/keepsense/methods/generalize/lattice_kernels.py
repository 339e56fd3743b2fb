"""Compiled: walks through the lattice: tagging, bounds, best-first search, classification, sweeps over subsets."""

from __future__ import annotations

from typing import Any

import numpy as np

from keepsense.methods.generalize.class_table_kernels import evaluate as evaluate
from keepsense.methods.generalize.class_table_kernels import mark_bad as mark_bad
from keepsense.methods.generalize.class_table_kernels import merge_histogram as merge_histogram
from keepsense.methods.generalize.class_table_kernels import roll_up as roll_up
from keepsense.methods.generalize.class_table_kernels import table_of as table_of
from keepsense.methods.generalize.class_table_kernels import values_seen as values_seen
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
)
from keepsense.numba_cache import njit


@njit(cache=True, nogil=True)
def value_of(kind: int, scale: float, total: int, column: Any, base: float, node: Any, penalty: Any, found: Any) -> Any:
    """The objective at a judged node; smaller is better."""
    d = len(node)
    if kind == DISCERNIBILITY:
        return float(found[3]) + float(total) * float(found[0])
    if kind == CLASS_SIZE:
        return float(total) / float(found[1] + (1 if found[0] else 0))
    if kind == GEOMETRIC:
        logs = 0.0
        for j in range(d):
            logs += np.log1p((column[j, node[j]] + penalty[j]) * scale)
        return np.expm1(logs / d)
    added = 0.0
    for j in range(d):
        added += penalty[j]
    return base + added * scale


@njit(cache=True, nogil=True)
def box(low: Any, high: Any, strides: Any, out: Any) -> Any:
    """Indices of all nodes between two nodes, ends included."""
    count = 1
    out[0] = 0
    for j in range(len(low)):
        out[0] += low[j] * strides[j]
    for j in range(len(low) - 1, -1, -1):
        more = count
        for step in range(1, high[j] - low[j] + 1):
            for i in range(count):
                out[more] = out[i] + step * strides[j]
                more += 1
        count = more
    return count


@njit(cache=True, nogil=True)
def levels_of(index: int, strides: Any, out: Any) -> None:
    """Levels of a node from its index."""
    for j in range(len(strides)):
        out[j] = index // strides[j]
        index -= out[j] * strides[j]


@njit(cache=True, nogil=True)
def tag(nodes: Any, heights: Any, node: Any, holds: bool, scratch: Any) -> None:
    """Predictive tagging: what a checked node tells about the nodes below (it fails) or above it (it holds)."""
    index = 0
    for j in range(len(node)):
        index += node[j] * nodes.strides[j]
    if not holds:
        for i in range(box(np.zeros_like(node), node, nodes.strides, scratch)):
            v = scratch[i]
            nodes.bound[v] = np.inf
            if nodes.status[v] == UNKNOWN:
                nodes.status[v] = FAILS_TAGGED
        nodes.status[index] = FAILS
    else:
        for i in range(box(node, heights, nodes.strides, scratch)):
            if nodes.status[scratch[i]] == UNKNOWN:
                nodes.status[scratch[i]] = HOLDS_TAGGED
        nodes.status[index] = HOLDS
    nodes.bound[index] = np.inf


@njit(cache=True, nogil=True)
def raise_bounds(
    nodes: Any, heights: Any, node: Any, kind: int, monotone: bool, added: float, goal: Any, found: Any, scratch: Any
) -> None:
    """Raise the lower bounds of the nodes below (and for class sizes above) a checked node.

    Records suppressed at a node are suppressed at every node below it, where they lose at least as much: `added` is
    what they add (for a geometric mean, to the mean logarithm of one plus the loss).
    """
    if kind in (SUM, SQUARES):
        if monotone and added > 0:
            for i in range(box(np.zeros_like(node), node, nodes.strides, scratch)):
                v = scratch[i]
                nodes.bound[v] = max(nodes.bound[v], nodes.base[v] + added)
        return
    if kind == GEOMETRIC:
        if monotone and added > 0:
            more = np.exp(added)
            for i in range(box(np.zeros_like(node), node, nodes.strides, scratch)):
                v = scratch[i]
                nodes.bound[v] = max(nodes.bound[v], (1.0 + nodes.base[v]) * more - 1.0)
        return
    total = float(goal.total)
    if kind == DISCERNIBILITY:
        below = total * found[0] + float(goal.k) * (total - found[0])
        above = float(found[4])
    else:
        below = total / (found[5] + 1.0)
        above = total / float(found[2])
    for i in range(box(np.zeros_like(node), node, nodes.strides, scratch)):
        nodes.bound[scratch[i]] = max(nodes.bound[scratch[i]], below)
    for i in range(box(node, heights, nodes.strides, scratch)):
        nodes.bound[scratch[i]] = max(nodes.bound[scratch[i]], above)


@njit(cache=True, nogil=True)
def next_path(nodes: Any, levels: Any, climb: bool, path: Any, bits: Any, node: Any) -> Any:
    """The next open node and a way up from it, through nodes that lose least; returns its length, 0 at the end.

    Nodes that lose too much to be chosen are on the way as long as it is unknown whether they hold: one that fails
    rules out everything below it. `bits` gets the sum of the columns' entropies at each step.
    """
    heights, entropy = levels.heights, levels.entropy
    position = nodes.place[0]
    while position < len(nodes.order) and not nodes.bound[nodes.order[position]] < nodes.best[0]:
        position += 1
    nodes.place[0] = position
    if position == len(nodes.order):
        return 0
    here = nodes.order[position]
    path[0] = here
    length = 1
    levels_of(here, nodes.strides, node)
    bits[0] = 0.0
    for j in range(len(heights)):
        bits[0] += entropy[j, node[j]]
    while climb:
        step = -1
        step_open = False
        for j in range(len(heights)):
            if node[j] == heights[j]:
                continue
            above = here + nodes.strides[j]
            is_open = nodes.bound[above] < nodes.best[0]
            if not is_open and (step_open or nodes.status[above] != UNKNOWN):
                continue
            if step < 0 or (is_open and not step_open) or nodes.base[above] < nodes.base[here + nodes.strides[step]]:
                step, step_open = j, is_open
        if step < 0:
            break
        here += nodes.strides[step]
        node[step] += 1
        path[length] = here
        bits[length] = bits[length - 1] + entropy[step, node[step]] - entropy[step, node[step] - 1]
        length += 1
    return length


@njit(cache=True, nogil=True)
def search(
    levels: Any, store: Any, losses: Any, goal: Any, nodes: Any, column: Any, scale: float, monotone: bool,
    checks: int, log: Any, log_values: Any
) -> Any:  # fmt: skip
    """Check nodes until the best one is proven or `checks` are spent; returns the checks made.

    Each open node of least loss starts a path upwards; a search along it finds the highest node that rules the start
    out, so that one check rules out as much as possible. It begins where earlier paths had their last failing node, by
    entropy, and goes on in growing steps. `log` gets node, classes and suppressed records.
    """
    d = len(levels.heights)
    path = np.empty(int(np.sum(levels.heights)) + 1, np.int64)
    bits = np.empty(len(path))
    node = np.empty(d, np.int64)
    penalty = np.empty(d, np.float64)
    found = np.zeros(6, np.int64)
    scratch = np.empty(len(nodes.status), np.int64)
    made = 0
    while made < checks:
        length = next_path(nodes, levels, True, path, bits, node)
        if length == 0:
            break
        start = path[0]
        low, high = 0, length - 1
        middle, stride, turn = length // 2, 0, 0
        if nodes.best[1] >= 0:
            middle, stride = 0, 1
            while middle + 1 < length and bits[middle + 1] >= nodes.best[1]:
                middle += 1
        last_out, first_in = -1, length
        while low <= high:
            v = path[middle]
            if nodes.bound[v] < nodes.best[0] or nodes.status[v] == UNKNOWN:
                levels_of(v, nodes.strides, node)
                place = table_of(levels, store, node, losses.leafwise)
                suppressed = mark_bad(store, goal, place)
                value = np.inf
                holds = suppressed <= goal.limit and suppressed < goal.total
                if holds:
                    evaluate(levels, store, losses, goal, place, node, penalty, found)
                    value = value_of(losses.kind, scale, goal.total, column, nodes.base[v], node, penalty, found)
                    if value < nodes.best[0]:
                        nodes.best[0] = value
                        nodes.place[1] = v
                    added = value - nodes.base[v]
                    if losses.kind == GEOMETRIC:
                        added = np.log1p(value) - np.log1p(nodes.base[v])
                    raise_bounds(nodes, levels.heights, node, losses.kind, monotone, added, goal, found, scratch)
                tag(nodes, levels.heights, node, holds, scratch)
                if made < len(log):
                    log[made, 0], log[made, 1], log[made, 2] = v, store.length[place], suppressed
                    log_values[made] = value
                made += 1
                out = not nodes.bound[start] < nodes.best[0]
                if out:
                    last_out = middle
                else:
                    first_in = middle
            else:
                out = nodes.status[v] >= FAILS
            if out:
                low = middle + 1
            else:
                high = middle - 1
            direction = 1 if out else -1
            if stride and turn in (0, direction):
                turn = direction
                middle = min(max(middle + direction * stride, low), high)
                stride *= 2
            else:
                stride = 0
                middle = (low + high + 1) // 2
        if last_out >= 0 and 0 < goal.limit < goal.total:  # else paths are short, or every node holds
            edge = bits[last_out] if first_in == length else 0.5 * (bits[last_out] + bits[first_in])
            nodes.best[1] = 0.7 * nodes.best[1] + 0.3 * edge if nodes.best[1] >= 0 else edge
    nodes.place[2] += made
    return made


@njit(cache=True, nogil=True)
def next_unknown(nodes: Any, heights: Any, climb: bool, path: Any, node: Any) -> Any:
    """The next node of unknown status and a way up from it through unknown nodes; returns its length, 0 at the end."""
    here = nodes.place[3]
    while here < len(nodes.status) and nodes.status[here] != UNKNOWN:
        here += 1
    nodes.place[3] = here
    if here == len(nodes.status):
        return 0
    path[0] = here
    length = 1
    levels_of(here, nodes.strides, node)
    while climb:
        step = -1
        for j in range(len(heights)):
            if node[j] < heights[j] and nodes.status[here + nodes.strides[j]] == UNKNOWN:
                above = here + nodes.strides[j]
                if step < 0 or nodes.base[above] < nodes.base[here + nodes.strides[step]]:
                    step = j
        if step < 0:
            break
        here += nodes.strides[step]
        node[step] += 1
        path[length] = here
        length += 1
    return length


@njit(cache=True, nogil=True)
def classify(levels: Any, store: Any, goal: Any, nodes: Any, checks: int, log: Any) -> Any:
    """Judge nodes until the status of every one is known or `checks` are spent; returns the checks made."""
    path = np.empty(int(np.sum(levels.heights)) + 1, np.int64)
    node = np.empty(len(levels.heights), np.int64)
    scratch = np.empty(len(nodes.status), np.int64)
    made = 0
    while made < checks:
        length = next_unknown(nodes, levels.heights, True, path, node)
        if length == 0:
            break
        low, high = 0, length - 1
        while low <= high:
            middle = (low + high + 1) // 2
            v = path[middle]
            levels_of(v, nodes.strides, node)
            place = table_of(levels, store, node, False)
            suppressed = mark_bad(store, goal, place)
            holds = suppressed <= goal.limit and suppressed < goal.total
            tag(nodes, levels.heights, node, holds, scratch)
            if made < len(log):
                log[made, 0], log[made, 1], log[made, 2] = v, store.length[place], suppressed
            made += 1
            if holds:
                high = middle - 1
            else:
                low = middle + 1
    return made


# Columns and pairs of columns: levels that fail whatever the other columns do


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


# The lattices of all subsets of the columns, from the smallest subsets to all columns


@njit(cache=True, nogil=True)
def rank_nodes(heights: Any, strides: Any, out: Any) -> None:
    """Rank of every node: by the number of columns it keeps, then by its height. A level above the top: left out."""
    d = len(heights)
    node = np.empty(d, np.int64)
    most = np.sum(heights) + 1
    for v in range(len(out)):
        levels_of(v, strides, node)
        columns = height = 0
        for j in range(d):
            if node[j] <= heights[j]:
                columns += 1
                height += node[j]
        out[v] = columns * most + height


@njit(cache=True, nogil=True)
def sweep(
    levels: Any, store: Any, goal: Any, strides: Any, order: Any, status: Any, place: Any, checks: int, log: Any
) -> Any:
    """Settle nodes in order until `checks` are made; with 0 checks, stop at the first node that must be checked.

    A node fails if one with a column less fails (the subset property), holds if one with a lower level holds (the
    generalization property), and is checked otherwise. `place[0]` is the position in `order`. Returns the checks made,
    or with 0 checks the node to be checked next, -1 at the end.
    """
    d = len(levels.heights)
    node = np.empty(d, np.int64)
    made = 0
    while place[0] < len(order):
        v = order[place[0]]
        if status[v] == 0:
            levels_of(v, strides, node)
            for j in range(d):
                if node[j] <= levels.heights[j] and status[v + (levels.heights[j] + 1 - node[j]) * strides[j]] >= FAILS:
                    status[v] = FAILS_TAGGED
                    break
        if status[v] == 0:
            for j in range(d):
                if 0 < node[j] <= levels.heights[j]:
                    below = status[v - strides[j]]
                    if below in (HOLDS, HOLDS_TAGGED):
                        status[v] = HOLDS_TAGGED
                        break
        if status[v] == 0:
            if checks == 0:
                return v
            if made == checks:
                return made
            table = table_of(levels, store, node, False)
            suppressed = mark_bad(store, goal, table)
            status[v] = HOLDS if suppressed <= goal.limit and suppressed < goal.total else FAILS
            if made < len(log):
                log[made, 0], log[made, 1], log[made, 2] = v, store.length[table], suppressed
            made += 1
        place[0] += 1
    return made if checks else -1
