"""The bands in which numbers were released as a rule: what becomes of numbers that nobody held then."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable

from keepsense.counts import Value
from keepsense.hierarchies.ranges.bands import spelled_range
from keepsense.hierarchies.ranges.intervals import parse_interval

_TO_UNDER = re.compile(r" to under |[\[(\])]")


def band_rule(labels: Iterable[Value]) -> Callable[[float], Value] | None:
    """What becomes of a number, as told by the bands in which others were released; None where there are none.

    A number of a band that is known takes its label. Bands that nobody held are not known one by one, so the gap
    between two known ones is one band, and what lies beyond the outermost ones is open.

    >>> age = band_rule(["under 20", "20 to 29", "60 to 69"])
    >>> age(3), age(25), age(45), age(95)
    ('under 20', '20 to 29', '30 to 59', '70 or more')
    >>> band_rule(["medic", "*"]) is None
    True
    """
    texts = [label for label in dict.fromkeys(labels) if label is not None]
    bands = sorted((ends, label) for label in texts if (ends := parse_interval(label, inside=True)) is not None)
    if not bands:
        return None
    closed = any(math.isfinite(high - low) for (low, high), _ in bands)
    whole = closed and all(_is_whole(label) for _, label in bands)
    after = [math.floor(high) + 1 if whole and high < math.inf else _edge(high) for (_, high), _ in bands]
    known = [(low, high, label) for (low, high), label in bands]
    gaps = [(end, _edge(low)) for end, ((low, _), _) in zip(after, bands[1:], strict=False)]
    lowest, highest = _edge(known[0][0]), after[-1]

    def rule(number: float) -> Value:
        for low, high, label in known:
            if low <= number <= high:
                return label
        if number < lowest:
            return spelled_range(None, lowest)
        if number >= highest:
            return spelled_range(highest, None)
        gap = next(((low, high) for low, high in gaps if low <= number < high), None)
        # between 29 and 30 lies nothing that a band of whole numbers speaks of
        return None if gap is None or (whole and number != math.floor(number)) else spelled_range(*gap, whole=whole)

    return rule


def _is_whole(label: Value) -> bool:
    """Whether both ends belong to a band, as those of whole numbers do."""
    ends = parse_interval(label) or (0.5, 0.5)
    return not _TO_UNDER.search(str(label)) and all(math.isinf(end) or end == math.floor(end) for end in ends)


def _edge(end: float) -> float:
    """The round number that an end was, where it was moved to the next number inside the band."""
    for beside in (math.nextafter(end, math.inf), math.nextafter(end, -math.inf)):
        if len(repr(beside)) < len(repr(end)):
            return beside
    return end
