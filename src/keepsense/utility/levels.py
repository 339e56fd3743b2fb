"""What releasing a value at a level of its hierarchy loses, as tables: the common ground of several metrics.

A table has a row for each leaf of the hierarchy and a column for each level, from the leaf itself to the top.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.errors import BadInput, did_you_mean
from keepsense.hierarchies.core import Hierarchy
from keepsense.hierarchies.kinds import KINDS
from keepsense.hierarchies.sizes import interval_losses


def level_losses(
    metric: str,
    hierarchy: Hierarchy,
    marginal: NDArray[np.int64] | None = None,
    *,
    within: tuple[float, float] | None = None,
) -> Floats:
    """Loss of each leaf at each level by `loss`, `precision`, `ncp`, `geniloss` or `non-uniform entropy`.

    `marginal` counts the records of each leaf; only the entropy needs it (its unit is bits, the others' a share from 0
    to 1). A suppressed value loses 1, for the entropy what the top would lose. Widths are measured `within` a range
    where it is given, else within that of the leaves.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")])
    >>> level_losses("loss", jobs).tolist()
    [[0.0, 0.5, 1.0], [0.0, 0.5, 1.0], [0.0, 0.0, 1.0]]
    """
    if metric == "non-uniform entropy":
        if marginal is None:
            raise BadInput("non-uniform entropy needs the number of records of each leaf")
        return entropy_losses(hierarchy, marginal)
    rule = _TABLES.get(metric)
    if rule is None:
        known = [*_TABLES, "non-uniform entropy"]
        raise BadInput(f"no metric {metric!r} by level; there are: {', '.join(known)}.{did_you_mean(metric, known)}")
    spans = _spans(hierarchy, within) if within is not None and metric in ("ncp", "geniloss") else None
    return rule(hierarchy) if spans is None else spans


def _leaves(hierarchy: Hierarchy) -> Floats:
    """Leaves under each leaf's ancestor at each level."""
    counts = hierarchy.leaf_counts
    return np.stack([counts[level][hierarchy.codes[:, level]] for level in range(hierarchy.height + 1)], axis=1).astype(
        np.float64
    )


def _loss(hierarchy: Hierarchy) -> Floats:
    """Other leaves the released value could be, over all others (Iyengar 2002)."""
    return (_leaves(hierarchy) - 1) / max(1, len(hierarchy.leaves) - 1)


def _precision(hierarchy: Hierarchy) -> Floats:
    """Level over height (Sweeney 2002)."""
    steps = np.arange(hierarchy.height + 1) / max(1, hierarchy.height)
    return np.broadcast_to(steps, hierarchy.codes.shape).copy()


def _spans(hierarchy: Hierarchy, within: tuple[float, float] | None = None) -> Floats | None:
    """Width of the interval over that of the column, for hierarchies of numbers, dates and ordered values."""
    if not KINDS[hierarchy.kind].ordered:
        return None
    return np.concatenate([np.zeros((len(hierarchy.leaves), 1)), interval_losses(hierarchy, within)], axis=1)


def _ncp(hierarchy: Hierarchy) -> Floats:
    """Normalized certainty penalty (Xu et al. 2006): interval widths, or leaves over all leaves once there are two."""
    spans = _spans(hierarchy)
    under = _leaves(hierarchy)
    return np.where(under > 1, under / len(hierarchy.leaves), 0.0) if spans is None else spans


def _geniloss(hierarchy: Hierarchy) -> Floats:
    """Generalized information loss: interval widths, or other leaves over all others (Ayala-Rivera et al. 2014)."""
    spans = _spans(hierarchy)
    return _loss(hierarchy) if spans is None else spans


def entropy_losses(hierarchy: Hierarchy, marginal: NDArray[np.int64]) -> Floats:
    """Bits lost by each leaf at each level: how surprising the value is among those its ancestor stands for.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic"), ("surgeon", "medic")])
    >>> entropy_losses(jobs, np.array([1, 3])).round(3).tolist()
    [[0.0, 2.0], [0.0, 0.415]]
    """
    bits = np.zeros(hierarchy.codes.shape)
    mine = np.maximum(marginal, 1).astype(np.float64)
    for level in range(hierarchy.height + 1):
        codes = hierarchy.codes[:, level]
        group = np.bincount(codes, marginal, len(hierarchy.labels[level]))[codes]
        bits[:, level] = np.log2(np.maximum(group, 1) / mine)
    return np.where(marginal[:, None] > 0, bits, 0.0)


_TABLES: dict[str, Callable[[Hierarchy], Floats]] = {
    "loss": _loss,
    "precision": _precision,
    "ncp": _ncp,
    "geniloss": _geniloss,
}
