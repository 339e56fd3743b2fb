"""The record that stands for a group of sets: the one least distant from all of them (Batet et al. 2014, Eq. 7)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Rows
from keepsense.methods.aggregate.item_distances import ItemDistances
from keepsense.methods.aggregate.mdav import Partition
from keepsense.methods.aggregate.set_distance import KINDS, SetSpace, check_kind

_LONG = 4_000
"""Items from which on a record is compared by spreading it over the vocabulary, not pair by pair."""


def centroids(
    kind: str, items: ItemDistances, rows: Rows, partition: Partition, *, usual_size: bool = False
) -> NDArray[np.int64]:
    """Centroid record of each group: the least sum of distances to all records of the group, itself included.

    The sum runs over all records, as the equation is printed; the average of a record to itself is not 0, and small
    sets are nearer to all others. With `usual_size` only records of the size that comes nearest to the group's mean
    size are looked at. Of equally good records the first is taken. Costs all pairs of items within each group.

    >>> parts = Partition(np.array([0, 0, 0]), np.array([0, 1, 2]), np.array([1, 1, 1]))
    >>> sets = Rows.from_pairs([0, 1, 1, 2], [0, 0, 1, 1], 3)
    >>> centroids("minimum", ItemDistances(None, opaque=2), sets, parts).tolist()
    [1]
    """
    from keepsense.methods.aggregate.kernels.groups import group_centroids

    number = KINDS.index(check_kind(kind))
    found = np.full(len(partition), -1, dtype=np.int64)
    bounds = np.searchsorted(partition.group, np.arange(len(partition) + 1))
    sizes = rows.sizes
    fit = _of_usual_size(sizes[partition.record], partition, bounds, usual_size)
    long = np.zeros(len(partition), dtype=np.bool_)
    long[partition.group[sizes[partition.record] > _LONG]] = True
    place = np.arange(items.semantic, dtype=np.int64)
    at = (items.semantic, rows.starts, rows.indices)

    def choose(block: NDArray[np.float64], first: int, last: int) -> None:
        span = bounds[first : last + 1]
        some = slice(int(span[0]), int(span[-1]))
        group_centroids(
            number,
            block,
            place,
            *at,
            span - span[0],
            partition.record[some],
            partition.copies[some],
            fit[some],
            SetSpace.noise,
            found[first:last],
        )

    if not long.any() and (items.whole or not items.semantic):
        for block, _ in items.blocks(place) if items.semantic else [(np.empty((0, 0)), place)]:
            choose(block, 0, len(partition))
        return found
    for g, (records, copies) in enumerate(partition):
        own = np.unique(rows.gather(records.astype(np.int32)))
        own = own[own < items.semantic]
        pieces = items.blocks(own)
        if long[g] or len(own) > items.room:
            space = SetSpace(kind, items, rows)
            space.keep(records)
            space.start(copies)
            mine = fit[bounds[g] : bounds[g + 1]]
            found[g] = records[space.centroid(np.where(mine, copies, 0))]
        elif len(own):
            block, where = next(pieces)
            place[own] = where
            choose(block, g, g + 1)
        else:
            choose(np.empty((0, 0)), g, g + 1)
    return found


def _of_usual_size(
    sizes: NDArray[np.int32], partition: Partition, bounds: NDArray[np.int64], usual_size: bool
) -> NDArray[np.bool_]:
    """Which records may stand for their group: all, or those whose size is nearest to the mean of the group."""
    if not usual_size or not len(sizes):
        return np.ones(len(sizes), dtype=np.bool_)
    rows = np.add.reduceat(partition.copies, bounds[:-1])
    mean = np.add.reduceat(sizes * partition.copies, bounds[:-1]) / rows
    off = np.abs(sizes - mean[partition.group])
    return np.asarray(off <= np.minimum.reduceat(off, bounds[:-1])[partition.group] + 1e-9, dtype=np.bool_)
