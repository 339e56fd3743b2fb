"""What a released label covers, as two ends that can be computed with: bands of numbers, spans of the calendar."""

from __future__ import annotations

import calendar
import datetime
import math
import re

from keepsense.counts import Value
from keepsense.hierarchies.ranges.intervals import parse_interval

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
