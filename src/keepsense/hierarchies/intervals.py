"""Ranges of numbers and dates as text: read from cells and labels, ordered, joined and written.

`parse_interval`, `number_span` and `date_span` read what was released; `read_interval` reads cells of a column as
people write them (`[70-80)`, `<=50K`, `10-14`, `65+`), with their units; `spelled_range` writes the one form that
numeric columns are released in: `70 to under 90`, `10 to 19`, `under 25`, `60 or more`.
"""

from __future__ import annotations

import calendar
import datetime
import math
import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from keepsense.counts import Value
from keepsense.recoding import SUPPRESSED

# Released intervals of numbers, in the form of `keepsense.hierarchies.round_bands` and in others

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


# Both ends of a released label: bands of numbers, spans of the calendar

End = float | datetime.date | None
"""A number, a day, or None where a span is open."""

_YEARS = re.compile(r"(\d{4})s(?: \((century)\))?|(\d{4}) to (\d{4})|(\d{4})")
_MONTHS = re.compile(r"(\d{4})(?:-(\d{2})| Q([1-4]))")
_WEEK = re.compile(r"(\d{4})-W(\d{2})")
_OPEN = re.compile(r"before (\d{4})|(\d{4}) or later")


def number_span(label: Value) -> tuple[End, End] | None:
    """Both ends of a band of numbers, None where it is open; a number is both its ends; None for anything else.

    >>> number_span("20 to 29"), number_span("60 or more"), number_span(31), number_span("*")
    ((20.0, 29.0), (60.0, None), (31.0, 31.0), None)
    """
    ends = parse_interval(label)
    if ends is None or any(map(math.isnan, ends)):
        return None
    low, high = ends
    return (None if math.isinf(low) else low, None if math.isinf(high) else high)


def date_span(label: Value) -> tuple[End, End] | None:
    """First and last day of a span of the calendar, None where it is open; None for anything else.

    >>> date_span("2008-09"), date_span("before 1940")
    ((datetime.date(2008, 9, 1), datetime.date(2008, 9, 30)), (None, datetime.date(1939, 12, 31)))
    >>> [str(date_span(label)[1]) for label in ("2008-02-29", "2008-W01", "2008 Q3", "2008", "2000s", "2000 to 2039")]
    ['2008-02-29', '2008-01-06', '2008-09-30', '2008-12-31', '2009-12-31', '2039-12-31']
    """
    if isinstance(label, datetime.date):
        return label, label
    if not isinstance(label, str):
        return None
    text = label.strip()
    try:
        return _calendar(text)
    except (ValueError, OverflowError):  # a month 13, a year 0, a week that ends after the year 9999
        return None


def _calendar(text: str) -> tuple[End, End] | None:
    if hit := _YEARS.fullmatch(text):
        first = int(hit[1] or hit[3] or hit[5])
        last = int(hit[4]) if hit[4] else first + (0 if hit[5] else 99 if hit[2] else 9)
        return datetime.date(first, 1, 1), datetime.date(last, 12, 31)
    if hit := _MONTHS.fullmatch(text):
        year, month, months = int(hit[1]), int(hit[2] or 3 * int(hit[3] or 1) - 2), 1 if hit[2] else 3
        end = month + months - 1
        last_day = calendar.monthrange(year, end)[1]
        return datetime.date(year, month, 1), datetime.date(year, end, last_day)
    if hit := _WEEK.fullmatch(text):
        monday = datetime.date.fromisocalendar(int(hit[1]), int(hit[2]), 1)
        return monday, monday + datetime.timedelta(days=6)
    if hit := _OPEN.fullmatch(text):
        if hit[1]:
            return None, datetime.date(int(hit[1]) - 1, 12, 31)
        return datetime.date(int(hit[2]), 1, 1), None
    day = datetime.datetime.fromisoformat(text).date()
    return day, day


# Intervals in the cells of a column

_WRITTEN_NUMBER = r"[£$€]?\s*-?\d{1,3}(?:,\d{3})+(?:\.\d+)?\s*[kKmM%]?|[£$€]?\s*-?\d+(?:\.\d+)?\s*[kKmM%]?"
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
    rf"([\[(\]]?)\s*({_WRITTEN_NUMBER}){_UNIT}\s*(?:-|–|—|,|;|\.\.+|:|\bto\s+under\b|\bto\b|\band\b|_)\s*"
    rf"(<)?\s*({_WRITTEN_NUMBER}){_UNIT}\s*([\])\[]?)",
    re.IGNORECASE,
)
_BOUNDED = re.compile(rf"(>=?)\s*({_WRITTEN_NUMBER})\s*(?:and|,|&)?\s*(<=?)\s*({_WRITTEN_NUMBER})", re.IGNORECASE)
_LOW_OPEN = re.compile(
    rf"({_UP_TO})\s*({_WRITTEN_NUMBER}){_UNIT}|({_WRITTEN_NUMBER}){_UNIT}(?:{_AND_LESS})", re.IGNORECASE
)
_HIGH_OPEN = re.compile(
    rf"({_FROM})\s*({_WRITTEN_NUMBER}){_UNIT}|({_WRITTEN_NUMBER}){_UNIT}(?:{_AND_MORE}){_UNIT}", re.IGNORECASE
)
_SINGLE = re.compile(rf"({_WRITTEN_NUMBER}){_UNIT}", re.IGNORECASE)
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


def spelled_range(low: float | None, high: float | None, *, whole: bool = False) -> str:
    """The one spelling of a range from `low` to below `high`; an end that is None is open.

    >>> spelled_range(20, 30, whole=True), spelled_range(0.5, 1), spelled_range(None, 20), spelled_range(60, None)
    ('20 to 29', '0.5 to under 1', 'under 20', '60 or more')
    >>> spelled_range(3, 4, whole=True), spelled_range(None, None)
    ('3', '*')

    None begins with a minus sign, which a spreadsheet would take for a formula:

    >>> spelled_range(-4, -2), spelled_range(-4, None)
    ('from -4 to under -2', 'at least -4')
    """
    if low is None:
        return SUPPRESSED if high is None else f"under {spelled(high)}"
    if high is None:
        return f"{spelled(low)} or more" if low >= 0 else f"at least {spelled(low)}"
    if whole and high - low == 1:
        return spelled(low)
    upper = f"to {spelled(high - 1)}" if whole else f"to under {spelled(high)}"
    return f"{'from ' if low < 0 else ''}{spelled(low)} {upper}"


def spelled(number: float) -> str:
    """A number in full: every digit it has, no exponent.

    >>> spelled(31742.21), spelled(9e6), spelled(-0.0), spelled(1e-7)
    ('31742.21', '9000000', '0', '0.0000001')
    """
    text = f"{Decimal(repr(float(number))):f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text
