"""Widths of groups in hierarchies of numbers, dates and ordered values, as losses between 0 and 1."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from keepsense.arrays import Floats
from keepsense.counts import Value
from keepsense.errors import BadHierarchy
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.intervals import parse_interval


def interval_losses(hierarchy: Hierarchy, within: tuple[float, float] | None = None) -> Floats:
    """Loss of each leaf (rows) at each level from 1 up (columns).

    Numbers lose the width of the range they are called by, as far as the column reaches, over the span of the whole
    column. Where a label is no range, and for dates, it is the span between the least and the greatest value of the
    group; for ordinal values the same in ranks; codes, and missing values, the share of the other values that
    their group holds. A value alone in its group loses nothing, the top loses everything. With `within` the column
    reaches from there to there, whatever values it has.

    >>> from keepsense.hierarchies.kinds.numeric_kind import equal_frequency, equal_width
    >>> interval_losses(equal_frequency([0, 10, 20, 100], groups=2))[0].tolist()
    [0.15, 1.0]
    >>> interval_losses(equal_width([20, 24, 30, 40], width=10))[:, 0].tolist()
    [0.5, 0.5, 0.45, 0.0]
    """
    place = positions(hierarchy) if within is None else np.clip(positions(hierarchy), *within)
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
        if KINDS[hierarchy.kind].numbers:
            _as_labelled(hierarchy.labels[level], low, high, (float(place[known].min()), float(place[known].max())))
        wide = np.where(np.isfinite(low), high - low, 0.0) / span
        mixed = np.bincount(codes[~known], minlength=size) > 0
        out[:, level - 1] = np.where(mixed, np.maximum(shares, wide), wide)[codes]
    return out


def _as_labelled(labels: Sequence[Value], low: Floats, high: Floats, whole: tuple[float, float]) -> None:
    """Put the ends that labels tell in the place of those that the values have, cut to the whole column."""
    for code, label in enumerate(labels):
        ends = parse_interval(label)
        if ends is not None and np.isfinite(low[code]):
            low[code], high[code] = max(ends[0], whole[0]), min(ends[1], whole[1])


@lru_cache(maxsize=64)
def positions(hierarchy: Hierarchy) -> Floats:
    """Place of each leaf on its column's line: its number, day or rank; not a number where it is missing or has none.

    Asked for again and again by whoever compares recodings: what comes back is not to be written into.

    >>> from keepsense.hierarchies.kinds.ordinal_kind import ordered
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
    found = np.array([np.nan if place is None else place for place in places], dtype=np.float64)
    found.flags.writeable = False
    return found
