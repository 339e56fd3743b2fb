"""Numbers released as intervals: how they are spelled, today (`hierarchies.bands`) and elsewhere."""

from __future__ import annotations

import math
import re
from decimal import Decimal

from keepsense.counts import Value

_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
_FORM = re.compile(
    rf"\s*(?:from )?([\[(\]]?)\s*({_NUMBER})\s*(?:-|–|,|;|\.\.|to( under)?)\s*({_NUMBER})\s*([\])\[]?)\s*"
)
_BELOW = re.compile(rf"\s*(under|<|<=)\s*({_NUMBER})\s*|\s*({_NUMBER}) or less\s*")
_ABOVE = re.compile(rf"\s*(over|>|>=|at least)\s*({_NUMBER})\s*|\s*({_NUMBER})(?: or more|\+)\s*")


def parse_interval(label: Value, *, inside: bool = False) -> tuple[float, float] | None:
    """Ends of a released interval, infinite where it is open, or a number itself twice; None for anything else.

    Ranges are spelled `20 to 29`, `20 to under 30`, `under 20` and `60 or more`; `[20, 30)`, `20-30`, `>=60` and the
    like are understood, too. With `inside` an end that does not belong to the interval is moved to the next number.

    >>> parse_interval("20 to 29"), parse_interval("under 20"), parse_interval("60 or more"), parse_interval("medic")
    ((20.0, 29.0), (-inf, 20.0), (60.0, inf), None)
    >>> parse_interval("[20, 30)"), parse_interval("-5--1"), parse_interval(7)
    ((20.0, 30.0), (-5.0, -1.0), (7.0, 7.0))
    >>> parse_interval(Decimal("7.50"))
    (7.5, 7.5)
    >>> parse_interval("from -4 to -2"), parse_interval("at least -4")
    ((-4.0, -2.0), (-4.0, inf))
    >>> parse_interval("20 to under 30", inside=True)
    (20.0, 29.999999999999996)
    """
    if isinstance(label, int | float | Decimal) and not isinstance(label, bool):
        return float(label), float(label)
    if not isinstance(label, str):
        return None
    text = label.removeprefix("'")  # what keeps a spreadsheet from taking a leading minus for a formula
    try:
        return float(text), float(text)
    except ValueError:
        pass
    parsed = _parsed(text)
    if parsed is None:
        return None
    low, high, without_low, without_high = parsed
    if low > high:
        return None
    if inside:
        low = math.nextafter(low, math.inf) if without_low else low
        high = math.nextafter(high, -math.inf) if without_high else high
    return low, high


def _parsed(text: str) -> tuple[float, float, bool, bool] | None:
    """Both ends, and whether the interval is without its lower and upper one."""
    if hit := _FORM.fullmatch(text):
        return float(hit[2]), float(hit[4]), hit[1] in ("(", "]"), hit[5] in (")", "[") or hit[3] is not None
    if hit := _BELOW.fullmatch(text):
        return -math.inf, float(hit[2] or hit[3]), False, hit[1] in ("under", "<")
    if hit := _ABOVE.fullmatch(text):
        return float(hit[2] or hit[3]), math.inf, hit[1] in ("over", ">"), False
    return None
