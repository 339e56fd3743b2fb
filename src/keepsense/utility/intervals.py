"""Numbers released as intervals, without a hierarchy: how wide each is compared with the column."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Value
from keepsense.errors import BadInput
from keepsense.recoding import SUPPRESSED
from keepsense.utility.basis import Pairs

_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
_FORM = re.compile(rf"\s*([\[(\]]?)\s*({_NUMBER})\s*(?:-|–|,|;|\.\.|to)\s*({_NUMBER})\s*([\])\[]?)\s*")


def parse_interval(label: Value) -> tuple[float, float] | None:
    """Ends of a released interval: `[20, 30)`, `20-30`, `20 to 30`, or a number itself; None for anything else.

    >>> parse_interval("[20, 30)"), parse_interval("-5--1"), parse_interval(7), parse_interval("medic")
    ((20.0, 30.0), (-5.0, -1.0), (7.0, 7.0), None)
    """
    if isinstance(label, int | float) and not isinstance(label, bool):
        return float(label), float(label)
    if not isinstance(label, str):
        return None
    try:
        return float(label), float(label)
    except ValueError:
        pass
    hit = _FORM.fullmatch(label)
    if hit is None:
        return None
    low, high = float(hit[2]), float(hit[3])
    return (low, high) if low <= high else None


def interval_shares(column: Pairs) -> NDArray[np.float64]:
    """Width of each pair's released interval over the width of the column's original values; 1 where suppressed.

    Parts of an interval that no original reaches do not count: it is cut to the column's range.

    >>> from keepsense.counts import Counts
    >>> from keepsense.recoding import Cut, Cuts
    >>> from keepsense.utility.basis import column_pairs
    >>> rule = Cuts((Cut("age", (20, 30, 60), ("20-40", "20-40", "*")),))
    >>> interval_shares(column_pairs(Counts.of({"age": [20, 30, 60]}), rule)["age"]).tolist()
    [0.5, 0.5, 1.0]
    """
    numbers = [parse_interval(value) for value in column.originals]
    if any(found is None for found in numbers):
        raise BadInput(f"the measure needs a hierarchy for column {column.name!r}, which does not hold numbers only")
    low = min(found[0] for found in numbers if found)
    high = max(found[1] for found in numbers if found)
    span = high - low
    widths = np.zeros(len(column.values))
    for i, value in enumerate(column.values):
        found = (low, high) if value == SUPPRESSED else parse_interval(value)
        if found is None:
            raise BadInput(f"column {column.name!r}: a released value is no interval; give the column's hierarchy")
        widths[i] = max(0.0, min(found[1], high) - max(found[0], low)) / span if span else 0.0
    return np.where(column.hidden, 1.0, widths[column.released])
