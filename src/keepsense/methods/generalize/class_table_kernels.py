"""Compiled: class tables by roll-up. `lattice_loops` does the same without a compiler."""

from __future__ import annotations

from typing import Any

import numpy as np

from keepsense.methods.generalize.lattice_space import LARGE
from keepsense.numba_cache import njit

# Merged classes: new keys, found by hashing, and sums under them


@njit(cache=True, nogil=True)
def find_narrow(
    source: Any, out: Any, up: Any, jobs: Any, n_jobs: int, keep: Any, slot: Any, bits: int, target: Any
) -> Any:
    """Classes of keys of one word: fill `target` with each source class's new class; return how many there are.

    Indices are kept unsigned, which spares the test for negative ones.
    """
    one = np.uint64(1)
    last = (one << np.uint64(bits)) - one
    shift = np.uint64(64 - bits)
    slot[: np.int64(last) + 1] = -1
    count = np.int64(0)
    for i in range(len(source)):
        key = source[i]
        new = key & keep
        for q in range(n_jobs):
            new ^= up[jobs[q, 0] + ((key >> jobs[q, 1]) & jobs[q, 2])]
        h = (new * np.uint64(0x9E3779B97F4A7C15)) >> shift
        s = np.int64(slot[h])
        fresh = s < 0
        s = count if fresh else s
        if not fresh and out[np.uint64(s)] != new:  # a collision, which is rare; the common ways have no branch
            while True:
                h = (h + one) & last
                s = np.int64(slot[h])
                fresh = s < 0
                s = count if fresh else s
                if fresh or out[np.uint64(s)] == new:
                    break
        slot[h] = s
        out[np.uint64(s)] = new
        target[i] = s
        count += fresh
    return count


@njit(cache=True, nogil=True)
def merge_large(
    source: Any, weights: Any, out: Any, out_weights: Any, up: Any, jobs: Any, n_jobs: int, keep: Any, store: Any,
    want: bool,
) -> Any:  # fmt: skip
    """Merge a table too large for the processor's cache: deal the keys into parts by their hash, then part by part.

    Every part has its own small hash table, so that no look-up leaves the cache. `store.target` is filled if wanted.
    """
    n = len(source)
    new, dealt, rows, slot = store.spare[0], store.spare[1], store.rows, store.slot
    part_bits = 1
    while (n >> part_bits) > 6000:
        part_bits += 1
    parts = 1 << part_bits
    down = np.uint64(64 - part_bits)
    factor = np.uint64(0x9E3779B97F4A7C15)
    begin = np.zeros(parts + 1, np.int64)
    for i in range(n):
        key = source[i]
        x = key & keep
        for q in range(n_jobs):
            x ^= up[jobs[q, 0] + ((key >> jobs[q, 1]) & jobs[q, 2])]
        new[i] = x
        begin[((x * factor) >> down) + np.uint64(1)] += 1
    for p in range(parts):
        begin[p + 1] += begin[p]
    at = begin[:-1].copy()
    for i in range(n):
        p = (new[i] * factor) >> down
        place = np.uint64(at[p])
        at[p] += 1
        dealt[place] = new[i]
        rows[place] = i
    count = 0
    one = np.uint64(1)
    for p in range(parts):
        size = begin[p + 1] - begin[p]
        bits = 4
        while (1 << bits) < 2 * size:
            bits += 1
        last = (one << np.uint64(bits)) - one
        shift = np.uint64(64 - bits)
        slot[: np.int64(last) + 1] = -1
        for i in range(begin[p], begin[p + 1]):
            x = dealt[i]
            h = ((x * factor) << np.uint64(part_bits)) >> shift
            s = np.int64(slot[h])
            while s >= 0 and out[np.uint64(s)] != x:
                h = (h + one) & last
                s = np.int64(slot[h])
            row = rows[i]
            if s < 0:
                s = np.int64(count)
                slot[h] = s
                out[s] = x
                out_weights[s] = 0
                count += 1
            out_weights[np.uint64(s)] += weights[row]
            if want:
                store.target[row] = s
    return count


@njit(cache=True, nogil=True)
def find_wide(
    keys: Any,
    first: int,
    n: int,
    at: int,
    up: Any,
    jobs: Any,
    n_jobs: int,
    keep: Any,
    slot: Any,
    bits: int,
    target: Any,
) -> Any:
    """The same for keys of several words."""
    words = keys.shape[1]
    one = np.uint64(1)
    capacity = one << np.uint64(bits)
    last = capacity - one
    shift = np.uint64(64 - bits)
    for i in range(np.int64(capacity)):
        slot[i] = -1
    out = 0
    for i in range(n):
        for w in range(words):
            keys[at + out, w] = keys[first + i, w]
        for q in range(n_jobs):
            word = np.int64(jobs[q, 3])
            keys[at + out, word] ^= up[jobs[q, 0] + ((keys[first + i, word] >> jobs[q, 1]) & jobs[q, 2])]
        mixed = np.uint64(0)
        for w in range(words):
            keys[at + out, w] &= keep[w]
            mixed = (mixed ^ keys[at + out, w]) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(29)
        h = (mixed * np.uint64(0x9E3779B97F4A7C15)) >> shift
        while True:
            s = slot[h]
            if s < 0:
                slot[h] = out
                target[i] = out
                out += 1
                break
            same = True
            for w in range(words):
                if keys[at + s, w] != keys[at + out, w]:
                    same = False
                    break
            if same:
                target[i] = s
                break
            h = (h + one) & last
    return out


@njit(cache=True, nogil=True)
def add(source: Any, target: Any, out: Any) -> None:
    """Add up weights by class."""
    out[:] = 0
    for i in range(len(source)):
        out[np.uint64(target[i])] += source[i]


@njit(cache=True, nogil=True)
def merge_seen(source: Any, target: Any, out: Any) -> None:
    """Unite the sets of sensitive values by class; a set is a row of bits."""
    out[:] = np.uint64(0)
    for i in range(len(source)):
        for w in range(source.shape[1]):
            out[np.uint64(target[i]), w] |= source[i, w]


# Tables of nodes


@njit(cache=True, nogil=True)
def _make_room(store: Any, source: int) -> tuple[int, int, int]:
    """Keep the source alone, right behind the distinct tuples; returns its place, the tables and what they take."""
    size, n = store.length[0], store.length[source]
    if source == 0:
        store.rank[0] = 0
        return 0, 1, size
    begin = store.first[source]
    for i in range(n):
        for w in range(store.keys.shape[1]):
            store.keys[size + i, w] = store.keys[begin + i, w]
        store.weights[size + i] = store.weights[begin + i]
        for s in range(store.seen.shape[1]):
            store.seen[size + i, s] = store.seen[begin + i, s]
    for j in range(store.level.shape[1]):
        store.level[1, j] = store.level[source, j]
    store.first[1], store.length[1] = size, n
    store.rank[0], store.rank[1] = 1, 0
    return 1, 2, size + n


@njit(cache=True, nogil=True)
def roll_up(levels: Any, store: Any, source: int, node: Any, want: bool) -> Any:
    """Make the class table of `node` from a stored, more specific one; return its place in the store.

    With `want`, `store.target` tells the new class of each class of the source.
    """
    d = len(levels.heights)
    n = store.length[source]
    tables, used = store.fill[0], store.fill[1]
    if tables == len(store.first) or used + n + 1 > len(store.weights):
        source, tables, used = _make_room(store, source)
    keep = np.full(store.keys.shape[1], ~np.uint64(0), np.uint64)
    jobs = np.empty((d, 4), np.uint64)
    n_jobs: Any = np.int64(0)  # of one type from the start, or callees would be compiled twice
    for j in range(d):
        low, high = store.level[source, j], node[j]
        if low == high:
            continue
        if levels.sizes[j, high] == 1:
            keep[levels.word[j]] &= ~(levels.mask[j] << levels.shift[j])
        else:
            jobs[n_jobs, 0] = levels.up_at[j, low, high]
            jobs[n_jobs, 1] = levels.shift[j]
            jobs[n_jobs, 2] = levels.mask[j]
            jobs[n_jobs, 3] = levels.word[j]
            n_jobs += 1
    bits = 4
    while (1 << bits) < 2 * n:
        bits += 1
    begin = store.first[source]
    flat = store.keys.reshape(-1)
    weights, out_weights = store.weights[begin : begin + n], store.weights[used : used + n]
    if store.keys.shape[1] == 1 and n > LARGE:
        m = merge_large(
            flat[begin : begin + n], weights, flat[used : used + n], out_weights, levels.up, jobs, n_jobs, keep[0],
            store, want or store.seen.shape[1] > 0,
        )  # fmt: skip
    elif store.keys.shape[1] == 1:
        m = find_narrow(
            flat[begin : begin + n],
            flat[used : used + n],
            levels.up,
            jobs,
            n_jobs,
            keep[0],
            store.slot,
            bits,
            store.target,
        )
    else:
        m = find_wide(store.keys, begin, n, used, levels.up, jobs, n_jobs, keep, store.slot, bits, store.target)
    if store.keys.shape[1] > 1 or n <= LARGE:
        add(weights, store.target, out_weights[:m])
    if store.seen.shape[1]:
        merge_seen(store.seen[begin : begin + n], store.target, store.seen[used : used + m])
    place = tables
    store.first[place], store.length[place] = used, m
    for j in range(d):
        store.level[place, j] = node[j]
    r = tables  # the tables are ranked by size, so that the smallest source is found first
    while r > 0 and store.length[store.rank[r - 1]] > m:
        store.rank[r] = store.rank[r - 1]
        r -= 1
    store.rank[r] = place
    store.fill[0], store.fill[1] = tables + 1, used + m
    store.fill[2] += n
    return place


@njit(cache=True, nogil=True)
def find_source(store: Any, node: Any) -> Any:
    """The smallest stored table that is at least as specific as the node."""
    d = len(node)
    for r in range(store.fill[0]):
        t = store.rank[r]
        fits = True
        for j in range(d):
            if store.level[t, j] > node[j]:
                fits = False
                break
        if fits:
            return t
    return 0


@njit(cache=True, nogil=True)
def table_of(levels: Any, store: Any, node: Any, leafwise: bool) -> Any:
    """The node's class table: stored already, or rolled up, over one in between where that will serve others too."""
    d = len(node)
    if leafwise:  # the caller wants to know which distinct tuples fell into each class
        return roll_up(levels, store, 0, node, True)
    source = find_source(store, node)
    steps = 0
    for j in range(d):
        steps += node[j] - store.level[source, j]
    if steps == 0:
        return source
    if steps > 3 and store.length[source] > 1000:
        middle = np.empty(d, np.int64)
        for quarters in range(2, 4):  # half of the way, or three quarters if that would hardly merge anything
            bits = 0.0
            for j in range(d):
                middle[j] = ((4 - quarters) * store.level[source, j] + quarters * node[j]) // 4
                bits += levels.entropy[j, middle[j]]
            if bits < np.log2(store.length[source]):
                source = roll_up(levels, store, source, middle, False)
                break
    return roll_up(levels, store, source, node, False)


@njit(cache=True, nogil=True)
def mark_bad(store: Any, goal: Any, place: int) -> Any:
    """Mark the classes with too few records or too few different sensitive values; return their records."""
    begin, m = store.first[place], store.length[place]
    weights, bad = store.weights[begin : begin + m], store.bad[:m]
    for c in range(m):
        bad[c] = weights[c] < goal.k
    for s in range(len(goal.need)):
        for c in range(m):
            if not bad[c]:
                different = 0
                for w in range(goal.need_at[s], goal.need_at[s + 1]):
                    bits = store.seen[begin + c, w]
                    while bits and different < goal.need[s]:
                        bits &= bits - np.uint64(1)
                        different += 1
                bad[c] = different < goal.need[s]
    suppressed = 0
    for c in range(m):
        suppressed += weights[c] * bad[c]
    return suppressed


@njit(cache=True, nogil=True)
def evaluate(levels: Any, store: Any, losses: Any, goal: Any, place: int, node: Any, penalty: Any, found: Any) -> None:
    """Judge a class table with `store.bad` marked: what is suppressed, what is kept, what suppression adds to the loss.

    `found` gets: suppressed records, kept classes, all classes, sum of squared kept sizes, sum of sizes times
    max(size, k), and the sum over kept classes of size // k. `penalty[j]` gets column j's added loss, 0 for a column
    that is left out.
    """
    begin, m = store.first[place], store.length[place]
    weights, bad = store.weights[begin : begin + m], store.bad[:m]
    suppressed = kept = there = squares = floor = room = 0
    for c in range(m):
        w = weights[c]
        if w == 0:
            continue
        there += 1
        floor += w * max(w, goal.k)
        if bad[c]:
            suppressed += w
        else:
            kept += 1
            squares += w * w
            room += w // goal.k
    found[0], found[1], found[2], found[3], found[4], found[5] = suppressed, kept, there, squares, floor, room
    penalty[:] = 0.0
    if losses.leafwise and suppressed:
        _leaf_penalty(levels, store, losses, node, penalty)
    elif suppressed:
        for j in range(len(node)):
            if node[j] > levels.heights[j]:
                continue
            # whole records first: what is lost is the same to the last bit, in whatever order the classes come
            records = np.zeros(levels.sizes[j, node[j]], np.int64)
            keys = store.keys[begin : begin + m, levels.word[j]]
            shift, mask = levels.shift[j], levels.mask[j]
            for c in range(m):
                records[(keys[c] >> shift) & mask] += weights[c] * bad[c]
            lost = 0.0
            for code in range(len(records)):
                lost += records[code] * losses.table[losses.at[j, node[j]] + code]
            penalty[j] = suppressed * losses.worst[losses.worst_at[j]] - lost


@njit(cache=True, nogil=True)
def _leaf_penalty(levels: Any, store: Any, losses: Any, node: Any, penalty: Any) -> None:
    """Added loss where it depends on the original value: `store.target` knows each distinct tuple's class."""
    for i in range(store.length[0]):
        if not store.bad[store.target[i]]:
            continue
        w = store.weights[i]
        before = after = 0.0
        for j in range(len(node)):
            if node[j] > levels.heights[j]:
                continue
            value = np.int64((store.keys[i, levels.word[j]] >> levels.shift[j]) & levels.mask[j])
            loss = losses.table[losses.at[j, node[j]] + value]
            worst = losses.worst[losses.worst_at[j] + value]
            before += loss
            after += worst
            penalty[j] += w * (worst - loss)
        if losses.kind == 2:  # the square of the sum, not the sum: put the difference on the first column
            penalty[0] += w * (after * after - before * before - (after - before))


@njit(cache=True, nogil=True)
def values_seen(starts: Any, indices: Any, counts: Any, at: int, seen: Any) -> None:
    """Set the bits of the values that occur under each distinct tuple, from word `at` on."""
    for i in range(len(starts) - 1):
        for q in range(starts[i], starts[i + 1]):
            if counts[q] > 0:
                value = np.uint64(indices[q])
                seen[i, at + np.int64(value >> np.uint64(6))] |= np.uint64(1) << (value & np.uint64(63))


@njit(cache=True, nogil=True)
def merge_histogram(starts: Any, indices: Any, counts: Any, n_values: int, target: Any, m: int) -> Any:
    """Add the rows of a histogram up by class: starts, values and counts of the merged histogram."""
    n = len(starts) - 1
    begin = np.zeros(m + 1, np.int64)
    for i in range(n):
        begin[target[i] + 1] += 1
    for c in range(m):
        begin[c + 1] += begin[c]
    member = np.empty(n, np.int64)
    at = begin[:-1].copy()
    for i in range(n):
        member[at[target[i]]] = i
        at[target[i]] += 1
    total = np.zeros(n_values, np.int64)
    known = np.full(n_values, -1, np.int64)
    new_starts = np.zeros(m + 1, np.int32)
    new_indices = np.empty(len(indices), np.int32)
    new_counts = np.empty(len(indices), np.int64)
    out = 0
    for c in range(m):
        for p in range(begin[c], begin[c + 1]):
            i = member[p]
            for q in range(starts[i], starts[i + 1]):
                value = indices[q]
                if known[value] != c:
                    known[value] = c
                    total[value] = out
                    new_indices[out] = value
                    new_counts[out] = 0
                    out += 1
                new_counts[total[value]] += counts[q]
        new_starts[c + 1] = out
    return new_starts, new_indices[:out].copy(), new_counts[:out].copy()
