"""The table and its hierarchies, prepared once for lattice search: levels numbered, tuples packed into keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts, Value
from keepsense.errors import BadInput
from keepsense.hierarchies.core import Hierarchy, MissingValues
from keepsense.large_counts import LargeCounts
from keepsense.methods.generalize.parts.levels import level_entropies, lifting, number_levels, pack
from keepsense.methods.generalize.parts.packed import Levels
from keepsense.methods.importance import Importance, importances

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
