"""Compiled walks through the lattice: tagging, bounds, best-first search, classification."""

from __future__ import annotations

from typing import Any

import numpy as np

from keepsense.compiled import njit
from keepsense.methods.generalize.kernels.tables import evaluate, mark_bad, table_of
from keepsense.methods.generalize.parts.packed import (
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
