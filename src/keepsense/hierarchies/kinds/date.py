"""Dates: hierarchies of calendar spans."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

from keepsense.counts import Value
from keepsense.errors import BadInput
from keepsense.hierarchies.core import Hierarchy
from keepsense.hierarchies.kinds import KINDS, MISSING, Kind, Values
from keepsense.recoding import SUPPRESSED

_SPANS: Mapping[str, Callable[[datetime.date], str]] = {
    "day": lambda d: d.strftime("%Y-%m-%d"),
    "week": lambda d: "{}-W{:02d}".format(*d.isocalendar()[:2]),
    "month": lambda d: f"{d.year:04d}-{d.month:02d}",
    "quarter": lambda d: f"{d.year:04d}-Q{(d.month + 2) // 3}",
    "year": lambda d: f"{d.year:04d}",
    "decade": lambda d: f"{d.year // 10 * 10}s",
    "century": lambda d: f"{d.year // 100 * 100}s (century)",
}
# A week can straddle two months, so nothing but the top may follow it.
_NESTS = {
    "day": {"week", "month", "quarter", "year", "decade", "century"},
    "week": set(),
    "month": {"quarter", "year", "decade", "century"},
    "quarter": {"year", "decade", "century"},
    "year": {"decade", "century"},
    "decade": {"century"},
    "century": set(),
}
_CHOICES = (
    ("month", "year", "decade"),
    ("month", "quarter", "year"),
    ("quarter", "year", "decade"),
    ("year", "decade"),
    ("month", "year"),
    ("week",),
    ("year",),
    ("decade",),
)


def dates(
    values: Iterable[Value], *, spans: Sequence[str] = ("month", "year", "decade"), name: str = "dates"
) -> Hierarchy:
    """Dates by calendar spans: day, week, month, quarter, year, decade, century, each a whole number of the one before.

    Values are dates, times, or text in ISO form; a missing one (None) keeps its own label below the top.

    >>> dates(["2019-03-01", "2021-12-24"]).rows()[0]
    ('2019-03-01', '2019-03', '2019', '2010s', '*')
    """
    for span in spans:
        if span not in _SPANS:
            raise BadInput(f"{name}: no calendar span {span!r}; there are {', '.join(_SPANS)}")
    for finer, coarser in pairwise(spans):
        if coarser not in _NESTS[finer]:
            raise BadInput(f"{name}: a {finer} does not lie within one {coarser}; order the spans from fine to coarse")
    rows = []
    wrong = 0
    for value in dict.fromkeys(values):
        day = as_date(value)
        if day is None and value is not None:
            wrong += 1
            continue
        labels = [MISSING] * len(spans) if day is None else [_SPANS[span](day) for span in spans]
        rows.append((value, *labels, SUPPRESSED))
    if wrong:
        raise BadInput(f"{name}: {wrong:,} values are no dates; write them as year-month-day")
    return Hierarchy.of_rows(rows, name=name, kind="date")


def as_date(value: Value) -> datetime.date | None:
    """The day a value stands for: a date, a time, or text in ISO form; None where it is none.

    >>> as_date("2020-02-29T10:00")
    datetime.date(2020, 2, 29)
    """
    if isinstance(value, datetime.datetime):
        return value.date()
    if isinstance(value, datetime.date):
        return value
    try:
        return datetime.datetime.fromisoformat(value).date() if isinstance(value, str) else None
    except ValueError:
        return None


def _candidates(values: Values) -> list[Hierarchy]:
    return [dates(values.rows, spans=spans, name=values.name) for spans in _CHOICES]


def _places(values: Sequence[Value], order: Sequence[Value] | None) -> list[float | None]:
    """Days since the year 1, and the part of the day that has passed."""
    days = [(value, as_date(value)) for value in values]
    return [None if day is None else day.toordinal() + _part_of_day(value) for value, day in days]


def _part_of_day(value: Value) -> float:
    return (value.hour * 60 + value.minute) / 1440 if isinstance(value, datetime.datetime) else 0.0


KINDS.add(
    "date",
    Kind(
        "date",
        "dates such as 2026-01-31",
        "birthdays, admissions",
        build=lambda values: dates(values.rows, name=values.name),
        candidates=_candidates,
        places=_places,
        value="date",
    ),
)
