"""Loss that is shared between columns on purpose: the same scale for words and numbers, and large losses count more.

Every column's loss runs from 0 (as it was) to 1 (hidden), whatever its distance or its number of values; for words it
is mostly the distance from what is released, and in part how many other values that could be. It is squared, so that a
column that lost much already is spared before one that lost little, and weighed by its importance and by how much the
column can tell at all, by the bits that its number of values takes, at most those of 64 values.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import log2

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Counts
from keepsense.hierarchies.core import Hierarchy
from keepsense.semantics import Distance
from keepsense.utility.losses import interval_shares
from keepsense.utility.meaning import leaf_distances
from keepsense.utility.pairs import Generalized, column_pairs, released_levels

_OF_MEANING = 0.6
"""Share of a word's loss that is the distance; the rest is how many other values it could be."""
_TOLD_APART = 64
"""Values of a column above which more of them do not make it tell more."""


@lru_cache(maxsize=512)  # every candidate of every column, tried in turn
def label_losses(hierarchy: Hierarchy, distance: Distance | None = None) -> list[Floats]:
    """What releasing a value as each label of each level loses, from 0 for the leaves to 1 for the top.

    >>> tree = Hierarchy.of_rows([("cat", "pet", "*"), ("dog", "pet", "*"), ("wolf", "wolf", "*")])
    >>> [level.tolist() for level in label_losses(tree)]
    [[0.0, 0.0, 0.0], [0.5, 0.0], [1.0]]
    """
    others = max(1, len(hierarchy.leaves) - 1)
    shares = [(count - 1) / others for count in hierarchy.leaf_counts]
    if distance is None:
        return shares
    levels, _ = leaf_distances(hierarchy, distance)
    means = [
        np.bincount(code, lost) / np.maximum(np.bincount(code), 1)
        for code, lost in zip(hierarchy.codes.T, levels, strict=True)
    ]
    most = float(means[-1].max()) or 1.0
    return [
        np.minimum(1.0, _OF_MEANING * mean / most + (1 - _OF_MEANING) * share)
        for mean, share in zip(means, shares, strict=True)
    ]


def importance_of(values: int, weight: float = 1.0) -> float:
    """How much a column's loss counts beside others: its weight, by the bits of its number of values.

    >>> importance_of(2), round(importance_of(16, weight=3.0), 2), importance_of(64) == importance_of(10_000)
    (1.0, 12.0, True)
    """
    return float(weight * log2(min(max(values, 2), _TOLD_APART)))


def shared_loss(
    counts: Counts,
    recoding: Generalized,
    hierarchies: Mapping[str, Hierarchy],
    distances: Mapping[str, Distance] | None = None,
    weights: Mapping[str, float] | None = None,
) -> float:
    """Mean over records of the columns' squared losses, by their importance; what hierarchies are chosen by.

    Columns that `hierarchies` leaves out are numbers, measured by the width they are released as.

    >>> rows = [("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")]
    >>> jobs = Hierarchy.of_rows(rows, name="job")
    >>> from keepsense.recoding import Cuts
    >>> counts = Counts.of({"job": ["nurse", "surgeon", "clerk", "clerk"]})
    >>> [shared_loss(counts, Cuts((jobs.cut(level),)), {"job": jobs}) for level in range(3)]
    [0.0, 0.125, 1.0]
    """
    total = whole = 0.0
    for name, column in column_pairs(counts, recoding).items():
        if name in hierarchies:
            tree = hierarchies[name]
            lost = _by_label(tree, (distances or {}).get(name))
            levels = released_levels(column, tree)
            shares = lost[tree.lookup(column.originals)[column.original], levels]
        else:
            shares = np.minimum(1.0, interval_shares(column))
        weight = importance_of(len(counts.values_of(name)), (weights or {}).get(name, 1.0))
        total += weight * float(column.weights @ shares**2) / max(1, int(column.weights.sum()))
        whole += weight
    return total / whole if whole else 0.0


def _by_label(tree: Hierarchy, distance: Distance | None) -> NDArray[np.float64]:
    """Loss of each leaf at each level, and of a suppressed one."""
    levels = [lost[code] for lost, code in zip(label_losses(tree, distance), tree.codes.T, strict=True)]
    return np.stack([*levels, np.ones(len(tree.leaves))], axis=1)
