"""Preparation of a lattice search: levels numbered and packed, loss tables condensed, losses spread over all nodes.

Sums run in the order of the values, one after the other, so that they are the same to the last bit everywhere.
"""

from __future__ import annotations

from itertools import pairwise
from math import log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.methods.generalize.parts.packed import FAILS_TAGGED, UNKNOWN, Levels, Losses, Nodes

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def first_seen(keys: NDArray[Any]) -> tuple[Ints, Ints]:
    """Number keys in order of first appearance: the number of each, and where each number first appears.

    >>> numbers, first = first_seen(np.array([7, 3, 7, 9]))
    >>> numbers.tolist(), first.tolist()
    ([0, 1, 0, 2], [0, 1, 3])
    """
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    return number[inverse.ravel()], first[order]


def number_levels(raw: Any, raw_at: Ints, heights: Ints, codes: Any, sizes: Ints, up_at: Any) -> int:
    """Number the codes of each level without gaps, in order of first appearance among the column's values.

    Also lays out the lifting tables (`up_at`) and returns their total length.
    """
    total = 0
    for j, height in enumerate(heights.tolist()):
        mine = slice(raw_at[j], raw_at[j + 1])
        table, numbered = raw[mine].reshape(-1, height + 1), codes[mine].reshape(-1, height + 1)
        for level in range(height + 1):
            numbers, first = first_seen(table[:, level])
            numbered[:, level] = numbers
            sizes[j, level] = len(first)
            for high in range(level + 1, height + 1):
                up_at[j, level, high] = total
                total += len(first)
        sizes[j, height + 1] = 1
    return total


def lifting(codes: Any, raw_at: Ints, levels: Levels) -> None:
    """Fill the tables that turn a code of one level into a higher level's code, as a shifted difference to xor in."""
    for j, height in enumerate(levels.heights.tolist()):
        table = codes[raw_at[j] : raw_at[j + 1]].reshape(-1, height + 1).astype(np.uint64)
        for low in range(height):
            for high in range(low + 1, height + 1):
                start = levels.up_at[j, low, high]
                levels.up[start + table[:, low]] = (table[:, low] ^ table[:, high]) << levels.shift[j]


def pack(tuples: Any, weights: Ints, levels: Levels, keys: Any, marginal: Ints, marginal_at: Ints) -> None:
    """Pack the distinct tuples into keys; add up the marginal counts of every column on the way."""
    exact = weights.astype(np.float64)  # counts are far below 2^53
    for j in range(tuples.shape[1]):
        begin, end = marginal_at[j], marginal_at[j + 1]
        marginal[begin:end] = np.bincount(tuples[:, j], exact, end - begin)
        keys[:, levels.word[j]] |= (tuples[:, j].astype(np.uint64) & levels.mask[j]) << levels.shift[j]


def level_entropies(codes: Any, codes_at: Ints, marginal: Ints, marginal_at: Ints, levels: Levels) -> None:
    """Entropy in bits of each column at each level: how finely it splits the records."""
    total = int(marginal[marginal_at[0] : marginal_at[1]].sum())
    for j, height in enumerate(levels.heights.tolist()):
        table = codes[codes_at[j] : codes_at[j + 1]].reshape(-1, height + 1)
        mine = marginal[marginal_at[j] : marginal_at[j + 1]]
        for level in range(height + 1):
            bits = 0.0
            for records in np.bincount(table[:, level], mine, levels.sizes[j, level]).tolist():
                if records > 0:
                    bits -= records / total * log2(records / total)
            levels.entropy[j, level] = bits


def leaf_shares(under: Any, under_at: Ints, raw: Any, raw_at: Ints, heights: Ints, leaves: Ints) -> Floats:
    """Loss of every value at every level: other leaves under its ancestor over all other leaves."""
    shares = np.empty(len(raw))
    for j, height in enumerate(heights.tolist()):
        mine = slice(raw_at[j], raw_at[j + 1])
        table = raw[mine].reshape(-1, height + 1)
        shares[mine] = ((under[under_at[j, : height + 1] + table] - 1) / max(1, int(leaves[j]) - 1)).ravel()
    return shares


def condense(
    value_table: Floats, codes: Any, raw_at: Ints, marginal: Ints, leafwise: bool, losses: Losses, sums: Floats
) -> tuple[bool, bool]:
    """Turn a loss table of values into one of codes, if the loss depends on the released code alone.

    `sums[0]` and `sums[1]` get, by column and level, the loss of all records and the least they can lose (suppressed
    or not). Returns whether the table is leafwise and whether it grows with the level up to the suppressed loss.
    """
    monotone = True
    columns = []
    for j, (begin, end) in enumerate(pairwise(raw_at.tolist())):
        values = slice(losses.worst_at[j], losses.worst_at[j + 1])
        highest = losses.worst[values][:, None]
        lost = value_table[begin:end].reshape(len(highest), -1)
        at = losses.at[j, : lost.shape[1]] + codes[begin:end].reshape(lost.shape)
        columns.append((lost, losses.at[j, : lost.shape[1]]))
        records = marginal[values][:, None]
        if not len(highest):
            continue
        sums[0, j, : lost.shape[1]] = np.cumsum(records * lost, axis=0)[-1]
        sums[1, j, : lost.shape[1]] = np.cumsum(records * np.minimum(lost, highest), axis=0)[-1]
        above = np.concatenate([lost[:, 1:], highest], axis=1)
        grows = (lost <= above + 1e-12 * np.abs(above)) & (lost <= highest + 1e-12 * np.abs(highest))
        monotone = monotone and bool(grows.all())
        losses.table[at] = lost
        leafwise = leafwise or bool((highest != highest[0]).any() or (losses.table[at] != lost).any())
    if leafwise:
        for lost, at in columns:
            losses.table[at + np.arange(len(lost))[:, None]] = lost
    return leafwise, monotone


# ---- all nodes at once -----------------------------------------------------------------------------------------------


def spread(column: Floats, heights: Ints) -> Floats:
    """Sum over columns of `column[j, level]` for every node.

    >>> spread(np.array([[0.0, 1.0], [0.0, 10.0]]), np.array([1, 1])).tolist()
    [0.0, 10.0, 1.0, 11.0]
    """
    total = np.zeros(1)
    for j in range(len(heights) - 1, -1, -1):
        total = (total[None, :] + column[j, : heights[j] + 1, None]).ravel()
    return total


def spread_squares(moments: Floats, wide: int, heights: Ints) -> Floats:
    """Sum over pairs of columns of their moments, for every node."""
    d = len(heights)
    total = np.zeros([height + 1 for height in heights.tolist()])
    for i in range(d):
        rows = slice(i * wide, i * wide + int(heights[i]) + 1)
        total += _along(np.diagonal(moments)[rows], (i,), d)
        for j in range(i):
            total += 2.0 * _along(moments[rows, j * wide : j * wide + int(heights[j]) + 1].T, (j, i), d)
    return total.ravel()


def _along(table: NDArray[Any], axes: tuple[int, ...], d: int) -> NDArray[Any]:
    """A table of some columns' levels, as an array over all of them."""
    shape = [1] * d
    for axis, size in zip(axes, table.shape, strict=True):
        shape[axis] = size
    return table.reshape(shape)


def exclude(lowest: Ints, fine: NDArray[np.bool_], heights: Ints, nodes: Nodes) -> int:
    """Tag as failing every node that a column or a pair of columns rules out; return how many are left."""
    good = np.ones((), np.bool_)
    for j, height in enumerate(heights.tolist()):
        good = good[..., None] & (np.arange(height + 1) >= lowest[j])
        for i in range(j):
            good &= _along(fine[i, j, : heights[i] + 1, : height + 1], (i, j), j + 1)
    bad = np.flatnonzero(~good.ravel())
    nodes.status[bad] = FAILS_TAGGED
    nodes.bound[bad] = np.inf
    return len(nodes.status) - len(bad)


def meet(nodes: Nodes, heights: Ints) -> Ints:
    """The most general node that lies below every open node."""
    is_open = (nodes.status == UNKNOWN).reshape(heights + 1)
    low = heights.copy()
    for j in range(len(heights)):
        levels = np.flatnonzero(is_open.any(axis=tuple(i for i in range(len(heights)) if i != j)))
        if len(levels):
            low[j] = levels[0]
    return low


def single_limits(
    codes: Any, codes_at: Ints, marginal: Ints, marginal_at: Ints, levels: Levels, k: int, limit: int
) -> Ints:
    """Lowest level of each column at which the column alone would need no more than `limit` records suppressed."""
    lowest = np.zeros(len(levels.heights), np.int64)
    for j, height in enumerate(levels.heights.tolist()):
        table = codes[codes_at[j] : codes_at[j + 1]].reshape(-1, height + 1)
        for level in range(height + 1):
            count = np.bincount(table[:, level], marginal[marginal_at[j] : marginal_at[j + 1]])
            lowest[j] = level
            if count[count < k].sum() <= limit:
                break
    return lowest


def counted_levels(sizes: Ints, lowest: Ints, cells: int) -> Ints:
    """Level at which each column is counted, so that no pair has too many cells."""
    start = lowest.copy()
    order = np.argsort(-sizes[:, 0], kind="stable").tolist()
    for i in range(1, len(order)):
        while True:
            a, b = order[0], order[i]
            for column in order[:i]:
                if sizes[column, start[column]] > sizes[a, start[a]]:
                    a = column
            if sizes[a, start[a]] * sizes[b, start[b]] <= cells:
                break
            start[b if sizes[a, start[a]] < sizes[b, start[b]] else a] += 1
    return start
