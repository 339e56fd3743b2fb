"""How wide the groups of hierarchies other than of words are, as losses between 0 and 1."""

from __future__ import annotations

import numpy as np

from keepsense.arrays import Floats
from keepsense.errors import BadHierarchy
from keepsense.hierarchies.core import Hierarchy
from keepsense.hierarchies.kinds import KINDS


def interval_losses(hierarchy: Hierarchy) -> Floats:
    """Loss of each leaf (rows) at each level from 1 up (columns).

    Numbers and dates lose the span between the least and the greatest value of their group, over the span of the whole
    column; ordinal values the same in ranks; codes, and missing values, the share of the other values that
    their group holds. A value alone in its group loses nothing, the top loses everything.

    >>> from keepsense.hierarchies import equal_frequency
    >>> interval_losses(equal_frequency([0, 10, 20, 100], groups=2))[0].tolist()
    [0.1, 1.0]
    """
    place = positions(hierarchy)
    n = len(place)
    known = np.isfinite(place)
    span = float(np.ptp(place[known])) if known.any() else 0.0
    out = np.zeros((n, hierarchy.height))
    for level in range(1, hierarchy.height + 1):
        codes = hierarchy.codes[:, level]
        size = len(hierarchy.labels[level])
        members = np.bincount(codes, minlength=size)
        shares = (members - 1) / max(1, n - 1)
        if span == 0:
            out[:, level - 1] = shares[codes]
            continue
        low, high = np.full(size, np.inf), np.full(size, -np.inf)
        np.minimum.at(low, codes[known], place[known])
        np.maximum.at(high, codes[known], place[known])
        wide = np.where(np.isfinite(low), high - low, 0.0) / span
        mixed = np.bincount(codes[~known], minlength=size) > 0
        out[:, level - 1] = np.where(mixed, np.maximum(shares, wide), wide)[codes]
    return out


def positions(hierarchy: Hierarchy) -> Floats:
    """Place of each leaf on its column's line: its number, day or rank; not a number where it is missing or has none.

    >>> from keepsense.hierarchies import ordered
    >>> positions(ordered(["low", "medium", "high"])).tolist()
    [0.0, 1.0, 2.0]
    """
    kind = KINDS[hierarchy.kind]
    if kind.places is None:
        return np.full(len(hierarchy.leaves), np.nan)
    places = kind.places(hierarchy.leaves, None)
    if any(place is None and leaf is not None for place, leaf in zip(places, hierarchy.leaves, strict=True)):
        raise BadHierarchy(
            f"{hierarchy.name}: a leaf is no {kind.value}; convert the leaves, or read the hierarchy as nominal"
        )
    return np.array([np.nan if place is None else place for place in places], dtype=np.float64)
