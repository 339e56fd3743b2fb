"""Blocks of similar sets: MDAV on each, for columns with very many different sets.

A set stands where most of its items do: at every level of the taxonomy it goes down the branch that holds most of them.
Sets are put side by side by that, and cut between two subtrees (`keepsense.methods.blocks`). Only the groups are made
block by block; what is released of them is worked out as for the whole column, so that a term counts as used by all
people who use it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Rows
from keepsense.counts import Counts
from keepsense.methods.aggregate.item_distances import ItemDistances
from keepsense.methods.aggregate.mdav import Partition, mdav
from keepsense.methods.aggregate.set_distance import SetSpace
from keepsense.methods.blocks import Line, blocks_of, line_of_paths, paths_of
from keepsense.random import Random

Each = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]
"""What a function makes of each of some parts, wherever an engine runs it."""


def one_by_one(function: Callable[[Any], Any], parts: Sequence[Any]) -> list[Any]:
    """What a function makes of each part, here and one after another.

    >>> one_by_one(len, ["ab", "c"])
    [2, 1]
    """
    return [function(part) for part in parts]


_ITEMS = 3
"""Items of a set that tell where it stands; sets that agree in these stand in the order of their items."""


def partition_in_blocks(
    distance: str,
    items: ItemDistances,
    rows: Rows,
    weights: NDArray[np.int64],
    k: int,
    most: int,
    *,
    each: Each,
    rng: Random = None,
) -> tuple[Partition, int]:
    """Groups of at least k among distinct sets, made in blocks of at most so many; and how many blocks there are.

    Every block has at least 2k records, so every group has at least k, as `mdav` has it.

    >>> rows = Rows.from_pairs([0, 1, 2, 3, 4, 4, 5, 5], [0, 0, 1, 1, 0, 2, 1, 2], 6)
    >>> several = np.full(6, 2)
    >>> parts, blocks = partition_in_blocks("average", ItemDistances(None, opaque=3), rows, several, 2, 3,
    ...                                     each=one_by_one, rng=1)
    >>> blocks, parts.sizes.min(), parts.copies.sum()
    (2, np.int64(2), np.int64(12))
    """
    n = len(rows)
    counts = Counts(("set",), (tuple(range(n)),), np.arange(n, dtype=np.int32)[:, None], weights)
    blocks = blocks_of(counts, line_of_sets(items, rows), most, least=2 * k, rng=rng)
    items.worked_out()
    found = each(partial(_partition, distance, items, k), [(rows.taken(b.at), weights[b.at]) for b in blocks])
    groups: list[tuple[list[int], list[int]]] = []
    for block, part in zip(blocks, found, strict=True):
        groups += [(block.at[records].tolist(), copies.tolist()) for records, copies in part]
    return Partition.of(groups), len(blocks)


def _partition(distance: str, items: ItemDistances, k: int, part: tuple[Rows, NDArray[np.int64]]) -> Partition:
    rows, weights = part
    return mdav(SetSpace(distance, items, rows), weights, k)


def line_of_sets(items: ItemDistances, rows: Rows) -> Line:
    """Distinct sets side by side: those that are mostly about the same stand together.

    Items in no taxonomy are branches of their own.

    >>> rows = Rows.from_pairs([0, 0, 1, 2, 2, 2], [0, 1, 2, 0, 1, 3], 3)
    >>> line_of_sets(ItemDistances(None, opaque=4), rows).place.tolist()
    [0, 2, 1]
    """
    taxonomy = None if items.distance is None else items.distance.taxonomy
    known = [] if taxonomy is None else paths_of(taxonomy, items.concepts)
    paths = [*known, *((-1, item) for item in range(items.semantic, len(items)))]
    heavy: Counter[int] = Counter()
    for item, times in Counter(rows.indices.tolist()).items():
        heavy.update(dict.fromkeys(paths[item], times))
    return line_of_paths([_topics([paths[item] for item in rows[i].tolist()], heavy) for i in range(len(rows))])


def _topics(paths: list[tuple[int, ...]], heavy: Counter[int]) -> tuple[int, ...]:
    """The ways to the items of a set, one after another: at every fork first down the branch that holds most of them.

    Of branches that hold as many, the one with more in the whole column comes first.
    """
    ordered: list[tuple[int, ...]] = []

    def walk(some: list[tuple[int, ...]], depth: int) -> None:
        if len(ordered) >= _ITEMS:
            return
        if len(some) == 1:
            ordered.append(some[0])
            return
        here = [path for path in some if len(path) == depth]
        ordered.extend(here)
        below = sorted(path for path in some if len(path) > depth)
        branches = [list(branch) for _, branch in groupby(below, key=lambda path: path[depth])]
        branches.sort(key=lambda branch: (-len(branch), -heavy[branch[0][depth]], branch[0][depth]))
        for branch in branches:
            walk(branch, depth + 1)

    walk(paths, 0)
    return tuple(step for path in ordered[:_ITEMS] for step in path)
