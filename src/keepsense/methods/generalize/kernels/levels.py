"""Compiled preparation: levels numbered and packed, loss tables condensed. Each has a reference in the tests."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit


class Levels(NamedTuple):
    """Packed form of the hierarchies: code counts, bit fields, tables that lift a code to a higher level, entropies.

    `entropy[j, l]` says, in bits, how finely column j splits the records at level l.
    """

    heights: Any
    sizes: Any
    word: Any
    shift: Any
    mask: Any
    up: Any
    up_at: Any
    entropy: Any


class Losses(NamedTuple):
    """Tables of a separable measure: loss of a code (or, if `leafwise`, of an original value) at each level."""

    kind: int
    leafwise: bool
    table: Any
    at: Any
    worst: Any
    worst_at: Any


@njit(cache=True, nogil=True)
def number_levels(raw: Any, raw_at: Any, n_values: Any, heights: Any, codes: Any, sizes: Any, up_at: Any) -> Any:
    """Number the codes of each level without gaps, in order of first appearance among the column's values.

    Also lays out the lifting tables (`up_at`) and returns their total length.
    """
    total = 0
    for j in range(len(heights)):
        width = heights[j] + 1
        for level in range(width):
            largest = 0
            for v in range(n_values[j]):
                largest = max(largest, raw[raw_at[j] + v * width + level])
            place = np.full(largest + 1, -1, np.int32)
            count = 0
            for v in range(n_values[j]):
                i = raw_at[j] + v * width + level
                code = raw[i]
                if place[code] < 0:
                    place[code] = count
                    count += 1
                codes[i] = place[code]
            sizes[j, level] = count
            for high in range(level + 1, width):
                up_at[j, level, high] = total
                total += count
        sizes[j, width] = 1
    return total


@njit(cache=True, nogil=True)
def lifting(codes: Any, raw_at: Any, n_values: Any, levels: Any) -> None:
    """Fill the tables that turn a code of one level into a higher level's code, as a shifted difference to xor in."""
    for j in range(len(levels.heights)):
        width = levels.heights[j] + 1
        for low in range(width - 1):
            for high in range(low + 1, width):
                start = levels.up_at[j, low, high]
                for v in range(n_values[j]):
                    a = np.uint64(codes[raw_at[j] + v * width + low])
                    b = np.uint64(codes[raw_at[j] + v * width + high])
                    levels.up[start + a] = (a ^ b) << levels.shift[j]


@njit(cache=True, nogil=True)
def condense(
    value_table: Any, worst: Any, codes: Any, raw_at: Any, marginal_at: Any, marginal: Any, leafwise: bool, losses: Any,
    sums: Any,
) -> Any:  # fmt: skip
    """Turn a loss table of values into one of codes, if the loss depends on the released code alone.

    `sums[0]` and `sums[1]` get, by column and level, the loss of all records and the least they can lose (suppressed
    or not). Returns whether the table is leafwise and whether it grows with the level up to the suppressed loss.
    """
    monotone = True
    for j in range(len(raw_at) - 1):
        n = marginal_at[j + 1] - marginal_at[j]
        width = (raw_at[j + 1] - raw_at[j]) // max(n, 1)
        for v in range(n):
            highest = worst[losses.worst_at[j] + v]
            if highest != worst[losses.worst_at[j]]:
                leafwise = True
            for level in range(width):
                i = raw_at[j] + v * width + level
                losses.table[losses.at[j, level] + codes[i]] = value_table[i]
                sums[0, j, level] += marginal[marginal_at[j] + v] * value_table[i]
                sums[1, j, level] += marginal[marginal_at[j] + v] * min(value_table[i], highest)
                above = value_table[i + 1] if level < width - 1 else highest
                if value_table[i] > above + 1e-12 * abs(above) or value_table[i] > highest + 1e-12 * abs(highest):
                    monotone = False
        for v in range(n):
            for level in range(width):
                i = raw_at[j] + v * width + level
                if losses.table[losses.at[j, level] + codes[i]] != value_table[i]:
                    leafwise = True
    if leafwise:
        for j in range(len(raw_at) - 1):
            n = marginal_at[j + 1] - marginal_at[j]
            width = (raw_at[j + 1] - raw_at[j]) // max(n, 1)
            for v in range(n):
                for level in range(width):
                    losses.table[losses.at[j, level] + v] = value_table[raw_at[j] + v * width + level]
    return leafwise, monotone


@njit(cache=True, nogil=True)
def pack(tuples: Any, weights: Any, levels: Any, keys: Any, marginal: Any, marginal_at: Any) -> None:
    """Pack the distinct tuples into keys; add up the marginal counts of every column on the way."""
    n, d = tuples.shape
    for i in range(n):
        w = weights[i]
        for j in range(d):
            marginal[marginal_at[j] + np.uint64(tuples[i, j])] += w
    for word in range(keys.shape[1]):
        mine = np.zeros(d, np.uint64)
        for j in range(d):
            if levels.word[j] == word:
                mine[j] = levels.mask[j]
        for i in range(n):
            key = np.uint64(0)
            for j in range(d):
                key |= (np.uint64(tuples[i, j]) & mine[j]) << levels.shift[j]
            keys[i, word] = key


@njit(cache=True, nogil=True)
def leaf_shares(under: Any, under_at: Any, raw: Any, raw_at: Any, heights: Any, leaves: Any, out: Any) -> None:
    """Loss of every value at every level: other leaves under its ancestor over all other leaves."""
    for j in range(len(heights)):
        width = heights[j] + 1
        most = max(1, leaves[j] - 1)
        for level in range(width):
            start = under_at[j, level]
            for i in range(raw_at[j] + level, raw_at[j + 1], width):
                out[i] = (under[start + raw[i]] - 1) / most


@njit(cache=True, nogil=True)
def level_entropies(codes: Any, codes_at: Any, marginal: Any, marginal_at: Any, levels: Any) -> None:
    """Entropy in bits of each column at each level: how finely it splits the records."""
    total = 0
    for v in range(marginal_at[0], marginal_at[1]):
        total += marginal[v]
    for j in range(len(levels.heights)):
        width = levels.heights[j] + 1
        for level in range(width):
            count = np.zeros(levels.sizes[j, level], np.int64)
            for v in range(marginal_at[j + 1] - marginal_at[j]):
                count[codes[codes_at[j] + v * width + level]] += marginal[marginal_at[j] + v]
            for c in range(len(count)):
                if count[c] > 0:
                    levels.entropy[j, level] -= count[c] / total * np.log2(count[c] / total)
