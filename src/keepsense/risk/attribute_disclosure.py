"""What classes and intervals disclose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Counts, Histogram, Value
from keepsense.errors import BadInput
from keepsense.recoding import SUPPRESSED, Cells

UNDONE = 0.5
"""Most of what hiding a column gains that another one may undo: beyond half of it, the other tells more than not."""

# Classes: what is known of a further column once the class of a person is known


@dataclass(frozen=True)
class Sensitive:
    """What classes tell about one sensitive column: fewest different values, l by entropy, and greatest distance t.

    >>> Sensitive("disease", 2, 1.8, 0.4).distinct
    2
    """

    column: str
    distinct: int
    entropy: float
    t: float
    t_hierarchical: float | None = None
    """t by the distances of a hierarchy, where there is one for the column."""
    fitting: tuple[int, float, float] | None = None
    """The first three where hidden cells of quasi-identifiers fit any value; None where no cell is hidden."""


@dataclass(frozen=True, eq=False)
class Within:
    """What each class tells about a further column: how many different values, the largest share of one, l and t.

    `entropy` is l by entropy: as mixed as so many equally frequent values. `t` is the distance from the whole column
    (with equal distances: half the sum of the differences of shares). Arrays have one entry for each class.

    >>> import numpy as np
    >>> Within(np.array([2]), np.array([0.5]), np.array([2.0]), np.array([0.0])).classes
    1
    """

    distinct: NDArray[np.int64]
    largest: NDArray[np.float64]
    entropy: NDArray[np.float64]
    t: NDArray[np.float64]

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.distinct)


def within_classes(histogram: Histogram, shown: NDArray[np.bool_], reference: Mapping[Value, int]) -> Within:
    """Figures of the classes that are kept; `reference` counts the values of the whole column.

    The cost is that of the values that occur in each class.

    >>> from keepsense.counts import Counts
    >>> counts = Counts.of({"job": ["a", "a", "b", "b"]}, histograms={"ill": ["flu", "cold", "flu", "flu"]})
    >>> found = within_classes(counts.histograms["ill"], np.ones(2, np.bool_), {"flu": 3, "cold": 1})
    >>> found.distinct.tolist(), found.t.tolist()
    ([2, 1], [0.25, 0.25])
    """
    size = len(histogram.rows)
    row, code = histogram.rows.row_of(), histogram.rows.indices
    share = histogram.counts / np.maximum(np.bincount(row, histogram.counts, size), 1)[row]
    total = sum(reference.values()) or 1
    whole = np.array([reference.get(value, 0) / total for value in histogram.values])
    largest = np.zeros(size)
    np.maximum.at(largest, row, share)
    logs = np.log(share, out=np.zeros_like(share), where=share > 0)
    return Within(
        np.bincount(row, histogram.counts > 0, size).astype(np.int64)[shown],
        largest[shown],
        np.exp(np.bincount(row, -share * logs, size))[shown],
        # both shares sum to 1, so the parts above the whole add up to half of all differences
        np.bincount(row, np.maximum(share - whole[code], 0.0), size).astype(np.float64)[shown],
    )


def disclosed(column: str, histogram: Histogram, shown: NDArray[np.bool_], reference: Mapping[Value, int]) -> Sensitive:
    """The worst of these figures over the classes that are kept: l, l by entropy, and t by equal distances.

    >>> from keepsense.counts import Counts
    >>> counts = Counts.of({"job": ["a", "a", "b", "b"]}, histograms={"ill": ["flu", "cold", "flu", "flu"]})
    >>> worst = disclosed("ill", counts.histograms["ill"], np.ones(2, np.bool_), {"flu": 3, "cold": 1})
    >>> worst.distinct, worst.entropy, worst.t
    (1, 1.0, 0.25)
    """
    classes = within_classes(histogram, shown, reference)
    return Sensitive(
        column,
        int(classes.distinct.min(initial=len(histogram.values))),
        float(classes.entropy.min()) if classes.classes else 0.0,
        float(classes.t.max(initial=0.0)),
    )


# Intervals: how often a released number is near the true one

WIDTHS = tuple(step / 100 for step in range(1, 11))
"""Widths over which the risk is averaged, as Mateo-Sanz et al. (2004) do: one to ten percent."""

NumberPairs = tuple[Floats, Floats, NDArray[np.int64]]
"""Original numbers, the released ones, and how many records each pair stands for."""


def number_pairs(counts: Counts, cells: Cells, names: Iterable[str]) -> dict[str, NumberPairs]:
    """Original and released numbers of those columns that are released as numbers; nothing is known of empty cells.

    >>> ages = Counts.of({"age": [30, 40]})
    >>> noisy = Cells(("age",), ((33, 41),), np.arange(2), np.array([[0], [1]]), np.ones(2, np.int64))
    >>> [part.tolist() for part in number_pairs(ages, noisy, ["age"])["age"]]
    [[30.0, 40.0], [33.0, 41.0], [1, 1]]
    """
    pairs = {}
    for name in names:
        at = cells.names.index(name)
        before, after = _numbers(counts.values_of(name)), _numbers(cells.values[at])
        if before is not None and after is not None:
            pairs[name] = (before[counts.column(name)[cells.source]], after[cells.codes[:, at]], cells.multiplicity)
    return pairs


def _numbers(values: Sequence[Value]) -> Floats | None:
    """The numbers of a column, none for cells that tell nothing; None where others are no numbers, as ranges are."""
    told = np.array([value is not None and value != SUPPRESSED for value in values], np.bool_)
    known = numbers_of([value for value, tells in zip(values, told.tolist(), strict=True) if tells])
    if known is None:
        return None
    numbers = np.full(len(values), np.nan)
    numbers[told] = known
    return numbers


def interval_disclosure(
    original: Floats,
    released: Floats,
    weights: NDArray[np.int64] | None = None,
    *,
    by: Literal["rank", "deviation"] = "rank",
    width: float = 0.0,
) -> float:
    """Share of records whose true number lies within a small interval around the released one (Mateo-Sanz et al. 2004).

    By `rank` the interval holds so many percent of the original numbers below and above the released one; by
    `deviation` it reaches so many standard deviations of the original to both sides, as in sdcMicro. `width` is that
    share; without it the mean over one to ten percent is taken. `weights` say how many records each pair stands for.
    1 means that every number is told as it was, up to so little.

    >>> pay = np.arange(100.0)
    >>> interval_disclosure(pay, pay), interval_disclosure(pay, pay[::-1].copy(), width=0.05)
    (1.0, 0.06)
    """
    if by not in ("rank", "deviation"):
        raise BadInput(f"an interval is one by rank or by deviation, not by {by!r}")
    if len(original) != len(released) or not 0 <= width <= 1:
        raise BadInput("interval disclosure compares as many released numbers as original ones, width from 0 to 1")
    times = np.ones(len(original), np.int64) if weights is None else np.asarray(weights)
    there = np.isfinite(original) & np.isfinite(released) & (times > 0)
    before, after, times = original[there], released[there], times[there]
    if not len(before):
        return 0.0
    widths = WIDTHS if width == 0 else (width,)
    return float(np.mean([_within(before, after, times, by, each) for each in widths]))


def _within(before: Floats, after: Floats, times: NDArray[np.int64], by: str, width: float) -> float:
    total = int(times.sum())
    if by == "deviation":
        mean = float(before @ times) / total
        reach = width * float(np.sqrt(((before - mean) ** 2) @ times / total))
        low, high = after - reach, after + reach
    else:
        order = np.argsort(before, kind="stable")
        ordered, cumulated = before[order], np.cumsum(times[order])
        # numbers below and up to the released one, then so many further on
        below = np.concatenate([[0], cumulated])[np.searchsorted(ordered, after, "left")]
        up_to = np.concatenate([[0], cumulated])[np.searchsorted(ordered, after, "right")]
        step = int(np.floor(width * total + 1e-9))
        # the n-th smallest number: where so many have been counted
        low = ordered[np.searchsorted(cumulated, np.maximum(below - step, 0), "right").clip(0, len(ordered) - 1)]
        high = ordered[np.searchsorted(cumulated, np.minimum(up_to + step, total), "left").clip(0, len(ordered) - 1)]
        # beyond the ends of the original there is nothing but the released number itself
        low = np.where(below - step >= total, after, np.minimum(low, after))
        high = np.where(up_to + step <= 0, after, np.maximum(high, after))
    inside = (before >= low) & (before <= high)
    return float(times[inside].sum()) / total


def numbers_of(values: Sequence[Value]) -> Floats | None:
    """The values as numbers, or None where one of them is none.

    >>> numbers_of(["3", 4.5]).tolist(), numbers_of(["three"])
    ([3.0, 4.5], None)
    """
    try:
        numbers = np.array([float(value) for value in values])  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return numbers if np.isfinite(numbers).all() else None
