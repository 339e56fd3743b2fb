"""The table and its hierarchies prepared for lattice search: levels numbered and packed, losses of all nodes.

Sums run in the order of the values, one after the other, so that they are the same to the last bit everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import log2
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts, Value
from keepsense.counts_out_of_core import LargeCounts
from keepsense.errors import BadInput
from keepsense.hierarchies.hierarchy import Hierarchy, MissingValues
from keepsense.methods.task import Importance, importances

# Arrays of a search: packed levels, losses, class tables and nodes
#
# A class table holds the classes of one node: packed keys (one bit field a column), weights, and for distinct
# l-diversity the sensitive values of each class, as bits. A level one above a column's top means that the column is
# left out.

LARGE = 1 << 16
"""Classes from which on a table is merged part by part."""

SUM, GEOMETRIC, SQUARES, DISCERNIBILITY, CLASS_SIZE = 0, 1, 2, 3, 4
"""Kinds of objective; see `Objective.kind`."""

UNKNOWN, HOLDS, HOLDS_TAGGED, FAILS, FAILS_TAGGED = 0, 1, 2, 3, 4
"""What is known of a node."""


class Nodes(NamedTuple):
    """What is known of every node: its loss without suppression, a lower bound of its loss, its status.

    `order` lists the nodes worth looking at by loss; `best` holds the best value so far and the entropy around which
    nodes began to hold; `place` the position in `order`, the best node (or -1), the number of checks and the position
    of the classification.
    """

    strides: Any
    base: Any
    bound: Any
    status: Any
    order: Any
    best: Any
    place: Any


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


class Store(NamedTuple):
    """Class tables side by side in one arena; table 0 is the table of distinct tuples.

    Table t takes `length[t]` places from `first[t]` on; `level[t]` is its node, `rank` orders the tables by length.
    `fill` counts tables, used places and merged classes; the rest are buffers of the roll-up.
    """

    keys: Any
    weights: Any
    seen: Any
    first: Any
    length: Any
    level: Any
    rank: Any
    fill: Any
    slot: Any
    target: Any
    bad: Any
    spare: Any
    rows: Any


class Goal(NamedTuple):
    """What is asked of a class: k records and `need[s]` different values of each sensitive column.

    The values of sensitive column s are bits of the words from `need_at[s]` on.
    """

    k: int
    limit: int
    total: int
    need: Any
    need_at: Any


# Levels and losses

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


# The space of a search, prepared once for a table

Node = tuple[int, ...]
"""A node of the lattice: one level for each column, in the order of the counts."""


@dataclass(frozen=True, eq=False)
class Space:
    """Everything lattice search needs to know about one table, whatever is asked of it.

    `raw[j][v, l]` is the hierarchy's code of value v of column j at level l, `flat` all of them in one row (column j
    from `codes_at[j]`, value by value), `codes` the same numbered without gaps. `keys` are the packed distinct tuples
    (none where there are more than are held), `marginal` the records of each value (column j from `marginal_at[j]`),
    `importance` how much each column's loss counts.
    """

    counts: Counts
    hierarchies: tuple[Hierarchy, ...]
    raw: tuple[NDArray[np.int32], ...]
    flat: NDArray[np.int32]
    codes: NDArray[np.int32]
    codes_at: NDArray[np.int64]
    levels: Any
    keys: NDArray[np.uint64]
    marginal: NDArray[np.int64]
    marginal_at: NDArray[np.int64]
    importance: NDArray[np.float64]

    @property
    def names(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return self.counts.names

    @cached_property
    def total(self) -> int:
        """Records in the table."""
        return self.counts.total

    @cached_property
    def heights(self) -> Node:
        """Top node of the lattice."""
        return tuple(self.levels.heights.tolist())

    @cached_property
    def size(self) -> int:
        """Nodes of the lattice; a plain integer, however large."""
        size = 1
        for height in self.heights:
            size *= height + 1
        return size

    @cached_property
    def strides(self) -> NDArray[np.int64]:
        """What one level of each column adds to a node's index (last column fastest)."""
        wide = [height + 1 for height in self.heights]
        return np.array([int(np.prod(wide[j + 1 :], dtype=np.int64)) for j in range(len(wide))], dtype=np.int64)

    def table(self, column: int) -> NDArray[np.int32]:
        """Numbers of a column's values at each of its levels."""
        mine = self.codes[self.codes_at[column] : self.codes_at[column + 1]]
        return mine.reshape(-1, self.heights[column] + 1)

    def labels(self, row: NDArray[Any], levels: NDArray[Any]) -> tuple[Value, ...]:
        """What the codes of a row are called at some levels, one a column."""
        found = zip(self.hierarchies, self.raw, row.tolist(), levels.tolist(), strict=True)
        return tuple(tree.labels[level][int(raw[code, level])] for tree, raw, code, level in found)

    def index(self, node: Node) -> int:
        """Index of a node."""
        return sum(level * stride for level, stride in zip(node, self.strides.tolist(), strict=True))

    def node(self, index: int) -> Node:
        """Node of an index."""
        found = []
        for stride in self.strides.tolist():
            level, index = divmod(index, stride)
            found.append(level)
        return tuple(found)


def prepare(counts: Counts, hierarchies: Mapping[str, Hierarchy], importance: Importance | None = None) -> Space:
    """Check the input and number and pack everything; refuses what cannot be searched, by column name."""
    chosen, raw = _checked(counts, hierarchies)
    d = len(chosen)
    heights = np.array([table.shape[1] - 1 for table in raw], dtype=np.int64)
    n_values = np.array([table.shape[0] for table in raw], dtype=np.int64)
    codes_at = np.zeros(d + 1, np.int64)
    np.cumsum(n_values * (heights + 1), out=codes_at[1:])
    marginal_at = np.zeros(d + 1, np.int64)
    np.cumsum(n_values, out=marginal_at[1:])
    flat = np.concatenate([table.ravel() for table in raw])
    codes = np.empty_like(flat)
    wide = int(heights.max()) + 2
    sizes = np.ones((d, wide), np.int64)
    up_at = np.zeros((d, wide, wide), np.uint64)
    length = number_levels(flat, codes_at, heights, codes, sizes, up_at)
    word, shift, mask = _fields(sizes[:, 0].tolist())
    levels = Levels(heights, sizes, word, shift, mask, np.zeros(length + 1, np.uint64), up_at, np.zeros(sizes.shape))
    lifting(codes, codes_at, levels)
    held = not isinstance(counts, LargeCounts)
    keys = np.zeros((len(counts) if held else 0, int(word[-1]) + 1), np.uint64)
    marginal = np.zeros(marginal_at[-1], np.int64)
    if held:
        pack(counts.codes, counts.weights, levels, keys, marginal, marginal_at)
    else:
        marginal[:] = np.concatenate([counts.marginal(name) for name in counts.names])
    level_entropies(codes, codes_at, marginal, marginal_at, levels)
    loss_counts = importances(counts.names, importance)
    return Space(counts, chosen, raw, flat, codes, codes_at, levels, keys, marginal, marginal_at, loss_counts)


def _checked(
    counts: Counts, hierarchies: Mapping[str, Hierarchy]
) -> tuple[tuple[Hierarchy, ...], tuple[NDArray[np.int32], ...]]:
    if not counts.names:
        raise BadInput("no quasi-identifier is given; name the columns by which people could be recognized")
    if not counts.total and not len(counts):
        raise BadInput("the table has no rows; there is nothing to anonymize")
    chosen, raw = [], []
    for name, values in zip(counts.names, counts.values, strict=True):
        hierarchy = hierarchies.get(name)
        if hierarchy is None:
            raise BadInput(
                f"quasi-identifier {name!r} has no hierarchy; give it one, or leave the column out of the counts"
            )
        try:
            leaf = hierarchy.lookup(values)
        except MissingValues as error:
            raise MissingValues(
                f"the hierarchy of column {name!r} misses {len(error.values)} of its {len(values)} values; add them to "
                "the hierarchy (the error's `values` lists them)",
                error.values,
            ) from None
        chosen.append(hierarchy)
        raw.append(hierarchy.codes[leaf])
    return tuple(chosen), tuple(raw)


def _fields(sizes: list[int]) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint64]]:
    """Word, shift and mask of each column's bit field."""
    word, shift, mask = [], [], []
    at, used = 0, 0
    for size in sizes:
        bits = (size - 1).bit_length()
        if used + bits > 64:
            at, used = at + 1, 0
        word.append(at)
        shift.append(min(used, 63))
        mask.append((1 << bits) - 1)
        used += bits
    return np.array(word, np.int64), np.array(shift, np.uint64), np.array(mask, np.uint64)
