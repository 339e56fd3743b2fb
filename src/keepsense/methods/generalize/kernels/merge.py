"""Compiled merging of classes: new keys, found by hashing, and what is added up under them."""

from __future__ import annotations

from typing import Any

import numpy as np

from keepsense.compiled import njit


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
