"""Dates: hierarchies of calendar spans, and dates of birth in bands of age."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Value
from keepsense.errors import BadInput
from keepsense.hierarchies.column_kinds import KINDS, MISSING, Kind, Rule, Values
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.intervals import date_span
from keepsense.hierarchies.kinds.numeric_kind import banded
from keepsense.hierarchies.round_bands import usual_ends
from keepsense.recoding import SUPPRESSED

_SPANS: Mapping[str, Callable[[datetime.date], str]] = {
    "day": lambda d: d.strftime("%Y-%m-%d"),
    "week": lambda d: "{}-W{:02d}".format(*d.isocalendar()[:2]),
    "month": lambda d: f"{d.year:04d}-{d.month:02d}",
    "quarter": lambda d: f"{d.year:04d} Q{(d.month + 2) // 3}",
    "year": lambda d: f"{d.year:04d}",
    "decade": lambda d: f"{d.year // 10 * 10}s",
    "20 years": lambda d: f"{d.year // 20 * 20} to {d.year // 20 * 20 + 19}",
    "40 years": lambda d: f"{d.year // 40 * 40} to {d.year // 40 * 40 + 39}",
    "century": lambda d: f"{d.year // 100 * 100}s (century)",
}
_MONTH = re.compile(r"(1[89]|2[01])\d\d-(0[1-9]|1[0-2])")
_USUAL = ("month", "year", "decade")
# A week can straddle two months, so nothing but the top may follow it.
_NESTS = {
    "day": {"week", "month", "quarter", "year", "decade", "20 years", "40 years", "century"},
    "week": set(),
    "month": {"quarter", "year", "decade", "20 years", "40 years", "century"},
    "quarter": {"year", "decade", "20 years", "40 years", "century"},
    "year": {"decade", "20 years", "40 years", "century"},
    "decade": {"20 years", "40 years", "century"},
    "20 years": {"40 years", "century"},
    "40 years": set(),
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
    values: Iterable[Value],
    counts: Sequence[int] | None = None,
    *,
    spans: Sequence[str] | None = None,
    name: str = "dates",
) -> Hierarchy:
    """Dates by calendar spans: day, week, month, quarter, year, decade, 20 and 40 years, century.

    Each is a whole number of the one before: by default month, year and decade, and 20 and 40 years where dates lie so
    far apart, as those of birth do. Values are dates, times, or text in ISO form; a missing one (None) keeps its own
    label below the top. The few records that lie before or after the years or decades of nearly all others are told as
    that alone (`before 1940`). A span of 20 or 40 years that reaches beyond these decades is open (`2000 or later`).

    >>> dates(["2019-03-01", "2021-12-24"]).rows()[0]
    ('2019-03-01', '2019-03', '2019', '2010s', '*')
    >>> dates(["1909-04-13", "2019-03-01"], [1, 500]).rows()[0]
    ('1909-04-13', 'before 2010', 'before 2010', 'before 2010', '*')
    """
    days, weight = _days(values, counts, name)
    spans = _usual_spans(days, weight) if spans is None else spans
    for span in spans:
        if span not in _SPANS:
            raise BadInput(f"{name}: no calendar span {span!r}; there are {', '.join(_SPANS)}")
    for finer, coarser in pairwise(spans):
        if coarser not in _NESTS[finer]:
            raise BadInput(f"{name}: a {finer} does not lie within one {coarser}; order the spans from fine to coarse")
    first, end = _usual_years(days, weight, spans)
    opening = {span: _opening(_SPELLED[span], _usual_years(days, weight, _USUAL)[1]) for span in _SPELLED}
    rows = []
    for value, day in days.items():
        if day is None:
            labels = [MISSING] * len(spans)
        elif day.year < first:
            labels = [f"before {first}"] * len(spans)
        elif day.year >= end:
            labels = [f"{opening.get(span, end)} or later" for span in spans]
        else:
            labels = [
                f"{opening[span]} or later" if day.year >= opening.get(span, end) else _SPANS[span](day)
                for span in spans
            ]
        rows.append((value, *labels, SUPPRESSED))
    return Hierarchy.of_rows(rows, name=name, kind="date")


def age_bands(
    values: Iterable[Value], counts: Sequence[int] | None = None, *, on: datetime.date | str, name: str = "dates"
) -> Hierarchy:
    """Dates of birth as bands of the age in years on a day that everybody may know, such as that of the survey.

    >>> age_bands(["1950-05-01", "1961-07-02", "1972-01-01", "1984-12-31"], on="2026-01-01").rows()[1]
    ('1961-07-02', '60 or more', '*')
    """
    day = as_date(on)
    if day is None:
        raise BadInput(f"{name}: ages are told on a day; write it as year-month-day")
    born, weight = _days(values, counts, name)
    ages = {
        value: None if birth is None else day.year - birth.year - ((day.month, day.day) < (birth.month, birth.day))
        for value, birth in born.items()
    }
    if any(age is not None and age < 0 for age in ages.values()):
        raise BadInput(f"{name}: somebody is born after the day on which ages are told; take a later one")
    tree = banded(list(ages.values()), [weight[value] for value in ages], name=name)
    above = {row[0]: row[1:] for row in tree.rows()}
    return Hierarchy.of_rows([(value, *above[age]) for value, age in ages.items()], name=name, kind="date")


def _days(
    values: Iterable[Value], counts: Sequence[int] | None, name: str
) -> tuple[dict[Value, datetime.date | None], dict[Value, int]]:
    """The day of each distinct value, and the rows that hold it."""
    listed = list(values)
    if counts is not None and len(counts) != len(listed):
        raise BadInput(f"{name}: {len(listed):,} values need as many counts")
    weight: dict[Value, int] = {}
    for value, rows in zip(listed, [1] * len(listed) if counts is None else counts, strict=True):
        weight[value] = weight.get(value, 0) + rows
    days = {value: as_date(value) for value in weight}
    wrong = sum(1 for value, day in days.items() if day is None and value is not None)
    if wrong:
        raise BadInput(f"{name}: {wrong:,} values are no dates; write them as year-month-day")
    return days, weight


def _usual_spans(days: Mapping[Value, datetime.date | None], weight: Mapping[Value, int]) -> tuple[str, ...]:
    """Month, year, decade, and longer ones where nearly all dates lie so far apart that decades are many."""
    first, end = _usual_years(days, weight, _USUAL)
    return (*_USUAL, *(span for span in ("20 years", "40 years") if end - first >= 2 * _LONG[span]))


_LONG = {"40 years": 40, "20 years": 20, "century": 10, "decade": 10}
"""Years that the outermost spans are whole numbers of, the longest first."""


_SPELLED = {"20 years": 20, "40 years": 40}
"""Years of the spans that are spelled by their ends."""


def _opening(years: int, end: int) -> int:
    """The year from which on a span of so many years is open, where decades are told up to before `end`.

    No label reaches into years that nobody's date has come to: not `2000 to 2039` where dates end in the 2010s.
    """
    start = (end - 1) // years * years
    return start if start + years > end else end


def _usual_years(
    days: Mapping[Value, datetime.date | None], weight: Mapping[Value, int], spans: Sequence[str]
) -> tuple[int, int]:
    """The first year that is told, and the first after the last: whole decades where decades are told."""
    years = sorted((day.year, weight[value]) for value, day in days.items() if day is not None)
    if not years or "week" in spans:  # a week can lie in two years
        return datetime.MINYEAR, datetime.MAXYEAR + 1
    step = next((years for span, years in _LONG.items() if span in spans), 1)
    known, rows = (np.array(side) for side in zip(*years, strict=True))
    first, last = usual_ends(known.astype(np.float64), np.cumsum(rows))
    return int(first) // step * step, (int(max(first, last)) // step + 1) * step


def as_date(value: Value) -> datetime.date | None:
    """The day a value stands for: a date, a time, or text in ISO form (of a month the first); None where it is none.

    >>> as_date("2020-02-29T10:00"), as_date("2020-02")
    (datetime.date(2020, 2, 29), datetime.date(2020, 2, 1))
    """
    if isinstance(value, datetime.datetime):
        return value.date()
    if isinstance(value, datetime.date):
        return value
    if not isinstance(value, str):
        return None
    try:
        return datetime.datetime.fromisoformat(f"{value}-01" if _MONTH.fullmatch(value) else value).date()
    except ValueError:
        return None


def calendar_rule(released: Mapping[Value, Value]) -> Callable[[datetime.date], str] | None:
    """The rule by which dates were released, as told by what became of some; None where it is none of the calendar.

    >>> rule = calendar_rule({"2019-03-01": "2019", "1909-04-13": "before 1940"})
    >>> rule(datetime.date(2026, 1, 31)), rule(datetime.date(1912, 1, 1))
    ('2026', 'before 1940')
    """
    outer = [label for label in dict.fromkeys(map(str, released.values())) if _OUTER.fullmatch(label)]
    inner = {day: label for value, label in released.items() if (day := as_date(value)) and str(label) not in outer}
    for told in _SPANS.values():
        if inner and all(told(day) == label for day, label in inner.items()):
            return lambda day, told=told: next((label for label in outer if _beyond(day, label)), told(day))  # type: ignore[misc]
    return None


def _day_rule(released: Mapping[Value, Value]) -> Rule | None:
    calendar = calendar_rule(released)
    return None if calendar is None else lambda value: None if (day := as_date(value)) is None else calendar(day)


_OUTER = re.compile(r"before (\d+)|(\d+) or later")


def _beyond(day: datetime.date, label: str) -> bool:
    hit = _OUTER.fullmatch(label)
    assert hit is not None
    return day.year < int(hit[1]) if hit[1] else day.year >= int(hit[2])


def _candidates(values: Values) -> list[Hierarchy]:
    return [dates(values.rows, list(values.rows.values()), spans=spans, name=values.name) for spans in _CHOICES]


def _places(values: Sequence[Value], order: Sequence[Value] | None) -> list[float | None]:
    """Days since the year 1, and the part of the day that has passed."""
    days = [(value, as_date(value)) for value in values]
    return [None if day is None else day.toordinal() + _part_of_day(value) for value, day in days]


def _part_of_day(value: Value) -> float:
    return (value.hour * 60 + value.minute) / 1440 if isinstance(value, datetime.datetime) else 0.0


def _covers(labels: Sequence[Value], values: Sequence[Value]) -> NDArray[np.bool_]:
    """Which span of the calendar each day lies in."""
    days = np.array([np.nan if (day := as_date(value)) is None else day.toordinal() for value in values])
    low, high = np.full(len(labels), np.nan), np.full(len(labels), np.nan)
    for i, label in enumerate(labels):
        if (ends := date_span(label)) is not None:
            first, last = ends
            low[i] = first.toordinal() if isinstance(first, datetime.date) else -np.inf
            high[i] = last.toordinal() if isinstance(last, datetime.date) else np.inf
    inside: NDArray[np.bool_] = (low[:, None] <= days) & (days <= high[:, None])
    return inside


KINDS.add(
    "date",
    Kind(
        "date",
        "dates such as 2026-01-31",
        "birthdays, admissions",
        build=lambda values: dates(values.rows, list(values.rows.values()), name=values.name),
        candidates=_candidates,
        places=_places,
        span=date_span,
        rule=lambda released, order: _day_rule(released),
        covers=_covers,
        value="date",
    ),
)
