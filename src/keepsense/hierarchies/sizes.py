"""How wide the intervals of numeric, date, ordered and masked hierarchies are, as losses between 0 and 1."""

from __future__ import annotations

import datetime

import numpy as np

from keepsense.arrays import Floats
from keepsense.counts import Value
from keepsense.errors import BadHierarchy
from keepsense.hierarchies.core import Hierarchy
from keepsense.hierarchies.kinds import as_date


def interval_losses(hierarchy: Hierarchy) -> Floats:
    """Loss of each leaf (rows) at each level from 1 up (columns).

    Numbers and dates lose the span between the least and the greatest value of their group, over the span of the whole
    column; ordered values the same in ranks; masked strings, and missing values, the share of the other values that
    their group holds. A value alone in its group loses nothing, the top loses everything.

    >>> from keepsense.hierarchies.numeric import equal_frequency
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
        if hierarchy.kind == "masked" or span == 0:
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
    """Place of each leaf on its column's line: its number, day or rank; not a number where it is missing.

    >>> from keepsense.hierarchies.kinds import ordered
    >>> positions(ordered(["low", "medium", "high"])).tolist()
    [0.0, 1.0, 2.0]
    """
    if hierarchy.kind in ("ordered", "masked"):
        return np.arange(len(hierarchy.leaves), dtype=np.float64)
    return np.array([_place(hierarchy, value) for value in hierarchy.leaves], dtype=np.float64)


def _place(hierarchy: Hierarchy, value: Value) -> float:
    if value is None:
        return float("nan")
    if hierarchy.kind == "date":
        day = as_date(value)
        if day is not None:
            moment = value if isinstance(value, datetime.datetime) else datetime.datetime(day.year, day.month, day.day)
            return moment.toordinal() + (moment.hour * 60 + moment.minute) / 1440
    else:
        try:
            return float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            pass
    what = "date" if hierarchy.kind == "date" else "number"
    raise BadHierarchy(f"{hierarchy.name}: a leaf is no {what}; convert the leaves, or read the hierarchy as nominal")
