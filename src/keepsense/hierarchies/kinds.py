"""Hierarchies of dates, of masked strings such as postcodes, and of values in a stated order."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

from keepsense.counts import Value
from keepsense.errors import BadInput
from keepsense.hierarchies.core import Hierarchy
from keepsense.hierarchies.numeric import MISSING
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


def masked(
    values: Iterable[Value],
    *,
    keep: str = "start",
    mask: str = "*",
    steps: Sequence[int] | None = None,
    name: str = "codes",
) -> Hierarchy:
    """Strings such as postcodes with ever more characters masked, from the end (`keep="start"`) or from the start.

    `steps` says how many characters each level masks; by default one more at each. Strings of different lengths are
    masked as if the short ones went on. The top masks everything.

    >>> masked(["81667", "81675", "01069"], steps=[2, 4]).rows()[0]
    ('81667', '816**', '8****', '*')
    """
    leaves = list(dict.fromkeys(values))
    if not leaves:
        raise BadInput(f"{name}: the column has no values to mask")
    if len(mask) != 1 or keep not in ("start", "end"):
        raise BadInput(f"{name}: the mask must be one character, and keep must be start or end")
    texts = [None if value is None else str(value) for value in leaves]
    longest = max((len(text) for text in texts if text is not None), default=0)
    hidden = list(range(1, longest)) if steps is None else list(steps)
    if any(not 0 < step < max(longest, 2) for step in hidden) or sorted(set(hidden)) != hidden:
        raise BadInput(f"{name}: steps must grow from at least 1 to at most {longest - 1} masked characters")
    rows = []
    for value, text in zip(leaves, texts, strict=True):
        labels = [MISSING if text is None else _masked(text, longest, step, keep, mask) for step in hidden]
        rows.append((value, *labels, SUPPRESSED))
    return Hierarchy.of_rows(rows, name=name, kind="masked")


def ordered(
    values: Sequence[Value],
    *,
    fanout: int = 2,
    groups: Sequence[Mapping[str, Sequence[Value]]] | None = None,
    name: str = "ordered",
) -> Hierarchy:
    """Values in a stated order, neighbours joined: by `fanout` at each level, or by named groups level by level.

    Each level of `groups` maps a label to labels of the level below, which must be neighbours and all be named.

    >>> ordered(["low", "medium", "high", "top"]).rows()[0]
    ('low', 'low - medium', '*')
    >>> ordered(["low", "medium", "high"], groups=[{"not high": ["low", "medium"], "high": ["high"]}]).rows()[1]
    ('medium', 'not high', '*')
    """
    leaves = list(values)
    if not leaves or len(set(leaves)) != len(leaves):
        raise BadInput(f"{name}: the order must name each value once")
    columns: list[list[Value]] = [leaves]
    if groups is not None:
        for level, named in enumerate(groups, 1):
            columns.append(_grouped(columns[-1], named, level, name))
    else:
        if fanout < 2:
            raise BadInput(f"{name}: a fanout must be at least 2")
        step = fanout
        while step < len(leaves):
            ends = [(i - i % step, min(i - i % step + step, len(leaves)) - 1) for i in range(len(leaves))]
            columns.append([leaves[a] if a == b else f"{leaves[a]} - {leaves[b]}" for a, b in ends])
            step *= fanout
    columns.append([SUPPRESSED] * len(leaves))
    return Hierarchy.of_rows(list(zip(*columns, strict=True)), name=name, kind="ordered")


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


def _masked(text: str, length: int, step: int, keep: str, mask: str) -> str:
    left = length - step
    hidden = mask * (length - min(left, len(text)))
    return text[:left] + hidden if keep == "start" else hidden + text[max(0, len(text) - left) :]


def _grouped(below: Sequence[Value], named: Mapping[str, Sequence[Value]], level: int, name: str) -> list[Value]:
    group = {label: new for new, labels in named.items() for label in labels}
    if sum(map(len, named.values())) != len(group) or set(group) != set(below):
        raise BadInput(f"{name}: the groups of level {level} must hold each label of the level below once")
    column: list[Value] = [group[label] for label in below]
    changes = sum(1 for a, b in pairwise(column) if a != b)
    if changes + 1 != len(set(column)):
        raise BadInput(f"{name}: a group of level {level} joins values that are not neighbours in the order")
    return column
