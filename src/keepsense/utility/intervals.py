"""Numbers released as intervals: how they are spelled."""

from __future__ import annotations

import re

from keepsense.counts import Value

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
