"""Intervals written as text in the cells of a column (`[70-80)`, `<=50K`, `10-14`, `65+`): read, ordered and joined.

Ends are compared as numbers and spelled as they were written, with their units. A joined interval is spelled as those
of numeric columns are: `70 to under 90`, `10 to 19`, `under 25`, `60 or more`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from keepsense.counts import Value

_NUMBER = r"[£$€]?\s*-?\d{1,3}(?:,\d{3})+(?:\.\d+)?\s*[kKmM%]?|[£$€]?\s*-?\d+(?:\.\d+)?\s*[kKmM%]?"
_UNIT = (
    r"(?:\s*(?:years?|yrs?|y|months?|mos?|weeks?|days?|hours?|hrs?|minutes?|mins?|old|of age|years old|kg|cm|usd|eur))*"
)
_UP_TO = (
    r"less than or equal to|no more than|at most|up to|under|below|less than|lower than|fewer than|before|<=|=<|≤|<"
)
_FROM = r"greater than or equal to|at least|over|above|more than|greater than|older than|>=|=>|≥|>"
_AND_MORE = r"\+|(?:\s*(?:and|or|&)\s+(?:over|above|more|older|up|higher|greater))|\s*plus"
_AND_LESS = r"\s*(?:and|or|&)\s+(?:under|below|less|younger|fewer|lower)"
_BETWEEN = re.compile(
    rf"([\[(\]]?)\s*({_NUMBER}){_UNIT}\s*(?:-|–|—|,|;|\.\.+|:|\bto\s+under\b|\bto\b|\band\b|_)\s*"
    rf"(<)?\s*({_NUMBER}){_UNIT}\s*([\])\[]?)",
    re.IGNORECASE,
)
_BOUNDED = re.compile(rf"(>=?)\s*({_NUMBER})\s*(?:and|,|&)?\s*(<=?)\s*({_NUMBER})", re.IGNORECASE)
_LOW_OPEN = re.compile(rf"({_UP_TO})\s*({_NUMBER}){_UNIT}|({_NUMBER}){_UNIT}(?:{_AND_LESS})", re.IGNORECASE)
_HIGH_OPEN = re.compile(rf"({_FROM})\s*({_NUMBER}){_UNIT}|({_NUMBER}){_UNIT}(?:{_AND_MORE}){_UNIT}", re.IGNORECASE)
_SINGLE = re.compile(rf"({_NUMBER}){_UNIT}", re.IGNORECASE)
_INCLUSIVE = frozenset({"less than or equal to", "no more than", "at most", "up to", "<=", "=<", "≤"})
_FROM_INCLUSIVE = frozenset({"greater than or equal to", "at least", ">=", "=>", "≥"})
_SCALE = {"k": 1e3, "m": 1e6}


class Written(NamedTuple):
    """An interval as it was written: its ends, whether they belong to it, and how they are spelled.

    >>> read_interval("[70-80)").high, read_interval("65+").spelled, read_interval("nurse")
    (80.0, ('65', ''), None)
    """

    low: float
    high: float
    with_low: bool
    with_high: bool
    spelled: tuple[str, str]

    @property
    def single(self) -> bool:
        """Whether it is a number and no interval."""
        return self.low == self.high


def read_interval(value: Value) -> Written | None:
    """The interval, or number, that a text writes; None where it writes neither.

    >>> [(i.low, i.high, i.with_high) for i in map(read_interval, ("<=50K", "10-14", "under 18", "[0-10)"))]
    [(-inf, 50000.0, True), (10.0, 14.0, True), (-inf, 18.0, False), (0.0, 10.0, False)]
    """
    text = str(value).strip()
    if len(text) > 60:
        return None
    if hit := _BOUNDED.fullmatch(text):  # >50K<=100K
        spelled = (_end(hit[2]), _end(hit[4]))
        return Written(_number(hit[2]), _number(hit[4]), "=" in hit[1], "=" in hit[3], spelled)
    if hit := _BETWEEN.fullmatch(text):
        low, high = _number(hit[2]), _number(hit[4])
        if low < 1000 <= high and hit[4].strip()[-1:].lower() in _SCALE and hit[2].strip()[-1:].isdigit():
            low *= _SCALE[hit[4].strip()[-1:].lower()]  # 20-30K
        without = hit[5] in (")", "[") or hit[3] is not None or "under" in text.lower()
        return (
            Written(low, high, hit[1] not in ("(", "]"), not without, (_end(hit[2]), _end(hit[4])))
            if low < high
            else None
        )
    if hit := _LOW_OPEN.fullmatch(text):
        end = hit[2] or hit[3]
        inclusive = hit[1] is None or hit[1].lower() in _INCLUSIVE
        return Written(-math.inf, _number(end), False, inclusive, ("", _end(end)))
    if hit := _HIGH_OPEN.fullmatch(text):
        end = hit[2] or hit[3]
        inclusive = hit[1] is None or hit[1].lower() in _FROM_INCLUSIVE
        return Written(_number(end), math.inf, inclusive, False, (_end(end), ""))
    if hit := _SINGLE.fullmatch(text):
        return Written(_number(hit[1]), _number(hit[1]), True, True, (_end(hit[1]), _end(hit[1])))
    return None


def written_order(values: Sequence[Value]) -> list[Value] | None:
    """The values in order, where all are intervals or numbers, some of them intervals, that do not overlap; else None.

    >>> written_order(["65+", "18-64", "<18"]), written_order(["1", "2", "3"]), written_order(["1-5", "3-9"])
    (['<18', '18-64', '65+'], None, None)
    """
    spans = [read_interval(value) for value in values]
    known = [(span, value) for span, value in zip(spans, values, strict=True) if span is not None]
    if len(known) < max(2, len(spans)) or all(span.single for span, _ in known):
        return None
    known.sort(key=lambda pair: (pair[0].low, pair[0].high))
    if any(second.low < first.high for (first, _), (second, _) in pairwise(known)):
        return None
    return [value for _, value in known]


def joined(first: Value, last: Value) -> str | None:
    """How the interval from the beginning of one to the end of another is spelled; None where that is everything.

    >>> joined("[70-80)", "[80-90)"), joined("10-14", "15-19"), joined("60-64", "65+"), joined("<18", "18-24")
    ('70 to under 90', '10 to 19', '60 or more', '24 or less')
    """
    low, high = read_interval(first), read_interval(last)
    if low is None or high is None or (math.isinf(low.low) and math.isinf(high.high)):
        return None
    begin, end = low.spelled[0], high.spelled[1]
    if math.isinf(low.low):
        return f"{end} or less" if high.with_high else f"under {end}"
    if math.isinf(high.high):
        return f"{begin} or more" if low.with_low else f"over {begin}"
    return f"{'' if low.with_low else 'over '}{begin} to {'' if high.with_high else 'under '}{end}"


def _number(text: str) -> float:
    bare = re.sub(r"[£$€,%\s]", "", text)
    scale = _SCALE.get(bare[-1:].lower(), 1.0)
    return float(bare.rstrip("kKmM")) * scale


def _end(text: str) -> str:
    return " ".join(text.split())
