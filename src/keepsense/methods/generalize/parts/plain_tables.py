"""Class tables without a compiler: the same tables, figures and sums as the compiled loops, to the last bit."""

from __future__ import annotations

from math import log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.methods.generalize.parts.levels import first_seen
from keepsense.methods.generalize.parts.packed import SQUARES, Goal, Levels, Losses, Store

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

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
