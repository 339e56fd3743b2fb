"""Bands of numbers with round ends: how numbers are released as ranges, in every method.

An end is a round number of a fixed grid, never a person's value: widths are 1, 5, 10 or 20 times a power of 100, edges
are multiples of them, and the outermost bands are open. What few people hold at either end has no say in where the
bands lie, so an extreme person leaves no trace in them. Bands are rules: they hold for numbers never seen, too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Value
from keepsense.hierarchies.intervals import parse_interval, spelled_range
from keepsense.recoding import SUPPRESSED

_STEPS = (1, 5, 10, 20)
"""Widths that people use, each a whole number of the one before; the next is 100, where they begin again."""


@dataclass(frozen=True)
class Bands:
    """Neighbouring ranges over all numbers: under the first edge, from each edge to the next, the last edge or more.

    Where all numbers are `whole` both ends of a range belong to it (`20 to 29`), else the upper one does not (`20 to
    under 30`). `least` and `greatest` are set where nobody lies beyond, because all in that outer band hold one number.

    >>> ages = Bands((20.0, 30.0, 40.0), whole=True)
    >>> [ages.label(at, at) for at in range(4)], ages.label(1, 2), ages.label(0, 3)
    (['under 20', '20 to 29', '30 to 39', '40 or more'], '20 to 39', '*')
    >>> ages.place([19, 30, 117]).tolist()
    [0, 2, 3]
    """

    edges: tuple[float, ...]
    whole: bool = False
    least: float | None = None
    greatest: float | None = None

    def __len__(self) -> int:
        return len(self.edges) + 1

    def place(self, numbers: Sequence[float] | Floats) -> NDArray[np.int64]:
        """The band of each number, counted from the lowest."""
        return np.searchsorted(np.array(self.edges), np.asarray(numbers, np.float64), side="right").astype(np.int64)

    def label(self, first: int, last: int) -> str:
        """What the bands from the first to the last are called together."""
        low = self.edges[first - 1] if first else self.least
        high = self.edges[last] if last < len(self.edges) else None
        if high is None and self.greatest is not None:
            high = self.greatest + 1
        return SUPPRESSED if first == 0 and last == len(self.edges) else spelled_range(low, high, whole=self.whole)


def tail(rows: int) -> int:
    """How many records at either end of a column have no say in where its bands lie.

    A hundredth of them, but at least ten; fewer where there are less than 200.

    >>> tail(4), tail(50), tail(300), tail(30_000)
    (1, 2, 10, 300)
    """
    few = 2 if rows >= 10 else 1
    return max(few, min(max(10, rows // 100), rows // 20))


def usual_ends(known: Floats, run: NDArray[np.int64]) -> tuple[float, float]:
    """Between which numbers bands are divided: those of the records next to either tail.

    `known` are distinct numbers in order, `run` counts the records up to each. In a table of a few records nobody else
    holds what the last one holds: there it counts as lying no farther from the next than all others lie apart.

    >>> usual_ends(np.array([20.0, 24, 31, 38, 45, 52, 117]), np.arange(1, 8))
    (20.0, 80.0)
    """
    records = int(run[-1])
    few = tail(records)
    low, high = _quantile(known, run, few), _quantile(known, run, records - few + 1)
    if few > 1 or records < 4:
        return low, high
    first, last = _quantile(known, run, 2), _quantile(known, run, records - 1)
    return max(low, first - (last - first)), min(high, last + (last - first))


def round_bands(
    numbers: Sequence[float] | Floats, rows: Sequence[int] | Any = None, *, groups: int = 16
) -> list[Bands]:
    """Bands of a column of numbers, the finest first, each of the following made of whole bands of the one before.

    The finest are about as wide as makes `groups` of them over the middle four fifths of the records. Sparse bands are
    not divided. Empty where all numbers are alike.

    >>> [bands.edges for bands in round_bands([20, 24, 31, 38, 45, 52, 59])]
    [(25.0, 30.0, 35.0, 40.0, 50.0, 55.0), (30.0, 40.0, 50.0), (40.0,)]
    """
    known = np.asarray(numbers, np.float64)
    weight = np.ones(len(known), np.int64) if rows is None else np.asarray(rows, np.int64)
    order = np.argsort(known, kind="stable")
    known, run = known[order], np.cumsum(weight[order])
    if not len(known) or run[-1] == 0:
        return []
    few = tail(int(run[-1]))
    low, high = usual_ends(known, run)
    whole = bool((known == np.round(known)).all() and np.abs(known).max() < 2**53)
    if low >= high:
        return _around(known, run, low, whole)
    nine = min(high, _quantile(known, run, math.ceil(0.9 * run[-1])))
    middle = nine - max(low, _quantile(known, run, math.ceil(0.1 * run[-1])))
    finest = (middle or 0.8 * (high - low)) / (0.8 * groups)
    return _nested(known, run, (low, high), max(finest, 1.0) if whole else finest, few, whole)


def _nested(
    known: Floats, run: NDArray[np.int64], ends: tuple[float, float], finest: float, few: int, whole: bool
) -> list[Bands]:
    """Divide from coarse to fine, but no band that holds too few; the finest first, those that add nothing left out."""
    low, high = ends

    def rows_in(bottom: float, top: float) -> int:
        before, upto = np.searchsorted(known, [bottom, top], side="left")
        return int((run[upto - 1] if upto else 0) - (run[before - 1] if before else 0))

    edges: list[float] = []
    levels: list[list[float]] = []
    for width in _widths(high - low, finest):
        bounds = [-math.inf, *edges, math.inf]
        fresh = []
        for bottom, top in pairwise(bounds):
            if not edges or rows_in(bottom, top) >= 2 * few:
                fresh += [edge for edge in multiples(width, max(bottom, low), min(top, high)) if bottom < edge < top]
        if fresh:
            edges = sorted([*edges, *fresh])
            levels.append(edges)
    if not levels:  # no round number of these widths lies between the ends: take the first that does
        width = next(w for w in _finer(finest) if multiples(w, low, high))
        levels = [multiples(width, low, high)]
    if len(levels[0]) > 2:  # below the top, halves
        half = _quantile(known, run, math.ceil(run[-1] / 2))
        levels.insert(0, [min(levels[0], key=lambda edge: (abs(edge - half), edge))])
    return [_bands(known, run, level, whole) for level in reversed(levels)]


def _around(known: Floats, run: NDArray[np.int64], common: float, whole: bool) -> list[Bands]:
    """Where nearly all hold one number, it is told apart from what lies beyond by the round numbers beside it."""
    step = Decimal(1 if whole or not common else 10 ** math.floor(math.log10(abs(common))))
    below = math.floor(Decimal(common) / step) * step
    edges = [edge for edge in (float(below), float(below + step)) if known[0] < edge <= known[-1]]
    return [_bands(known, run, edges, whole)] if edges else []


def _bands(known: Floats, run: NDArray[np.int64], edges: Sequence[float], whole: bool) -> Bands:
    """Outer bands are closed where all in them hold the number next to the edge, so that 0 and 1 stay 0 and 1.

    But not around a single person: an end is nobody's own.
    """
    under, upto = np.searchsorted(known, [edges[0], edges[-1]], side="left").tolist()
    rows = int(run[under - 1]) if under else 0, int(run[-1] - (run[upto - 1] if upto else 0))
    below = whole and rows[0] > 1 and bool((known[:under] == edges[0] - 1).all())
    above = whole and rows[1] > 1 and bool((known[upto:] == edges[-1]).all())
    return Bands(tuple(edges), whole, edges[0] - 1 if below else None, edges[-1] if above else None)


def _quantile(known: Floats, run: NDArray[np.int64], record: int) -> float:
    """The number of the record in this place, counted from 1."""
    return float(known[int(np.searchsorted(run, max(1, record)))])


def _widths(span: float, finest: float) -> Iterator[Decimal]:
    """Widths from one that is not below the span to the last that is not below the finest."""
    power = math.floor(math.log10(max(span, finest)) / 2) + 1
    while True:
        for step in reversed(_STEPS):
            width = Decimal(step).scaleb(2 * power)
            if float(width) < finest * (1 - 1e-9):
                return
            yield width
        power -= 1


def _finer(finest: float) -> Iterator[Decimal]:
    power = math.floor(math.log10(finest) / 2) + 1
    while True:
        yield from (Decimal(step).scaleb(2 * power) for step in reversed(_STEPS))
        power -= 1


def multiples(width: Decimal, low: float, high: float) -> list[float]:
    """Multiples of a width above `low`, up to `high`.

    >>> multiples(Decimal(20), 17, 60)
    [20.0, 40.0, 60.0]
    """
    first, last = (math.floor(Decimal(repr(float(end))) / width) for end in (low, high))
    edges = [float(width * at) for at in range(first, last + 1)]
    return [edge for edge in edges if low < edge <= high]


def round_between(below: float, upto: float, *, whole: bool = False) -> float:
    """The roundest number above `below` and not above `upto`: a place to part two numbers that is neither of them.

    Whole numbers that follow each other leave no choice but the upper one.

    >>> round_between(31742.21, 31800.5), round_between(36, 37, whole=True), round_between(95_000, 9_412_377)
    (31800.0, 37, 5000000.0)
    """
    if whole and upto - below <= 1:
        return upto
    power = math.floor(math.log10(max(abs(below), abs(upto), upto - below))) + 1
    while True:
        for step in (5, 2, 1):
            width = Decimal(step).scaleb(power)
            edge = float(math.ceil(Decimal(repr(float(upto))) / width - 1) * width)
            if below < edge < upto:
                return edge
        power -= 1
        if power < -330:  # neighbours in the machine's arithmetic
            return upto


# The bands of a release as a rule for numbers that were not in the table

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
