"""Figures that compare two columns, or the classes of a table, by counts alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts, Histogram, Value
from keepsense.utility.intervals import parse_interval

SEED = 20_260_101
"""Of random choices about figures (which records are tried, say): they have nothing to do with those of a release."""


@dataclass(frozen=True)
class Note:
    """A remark on how something was measured: about "risk", "utility" or what goes "together".

    >>> Note("risk", "on a sample").about
    'risk'
    """

    about: str
    text: str


@dataclass(frozen=True)
class Change:
    """What became of one column.

    `distance` is half the sum of the differences of the values' shares: 0 where each value is as frequent as before,
    1 where no old value is left. `shift` is for columns of numbers: how far the distribution moved on average, as a
    share of the range (an interval counts as its middle). `information` is the share of the column's entropy that is
    left. `changed` is the share of changed cells, known only where the rows are in the same order.

    >>> Change("age", 80, 5, 0, 1.0, None, 0.4).column
    'age'
    """

    column: str
    values_before: int
    values_after: int
    suppressed: int
    distance: float
    shift: float | None
    information: float
    changed: float | None = None


def change(
    name: str,
    before: Mapping[Value, int],
    after: Mapping[Value, int],
    marker: str = "*",
    changed: float | None = None,
) -> Change:
    """Compare how often each value occurs before and after.

    >>> change("job", {"nurse": 2, "clerk": 2}, {"medic": 2, "clerk": 2}).distance
    0.5
    """
    was, now = _shares(before), _shares(after)
    apart = 0.5 * sum(abs(was.get(v, 0.0) - now.get(v, 0.0)) for v in {*was, *now})
    full = entropy(before.values())
    left = entropy(after.values()) / full if full else 1.0
    hidden = sum(rows for value, rows in after.items() if str(value) == marker)
    return Change(name, len(before), len(after), hidden, round(apart, 12), _shift(before, after, marker), left, changed)


def _shares(marginal: Mapping[Value, int]) -> dict[str | None, float]:
    total = sum(marginal.values()) or 1
    found: dict[str | None, float] = {}
    for value, rows in marginal.items():
        key = None if value is None else str(value)
        found[key] = found.get(key, 0.0) + rows / total
    return found


def entropy(counts: Iterable[int]) -> float:
    """Entropy in bits of values that occur so often.

    >>> entropy([2, 2])
    1.0
    """
    rows = np.array([n for n in counts if n > 0], dtype=np.float64)
    shares = rows / rows.sum() if len(rows) else rows
    return float(-(shares * np.log2(shares)).sum()) + 0.0


def _shift(before: Mapping[Value, int], after: Mapping[Value, int], marker: str) -> float | None:
    """Mean movement of a distribution of numbers (1-Wasserstein) over its range, or None where they are no numbers."""
    was = _middles({v: n for v, n in before.items() if v is not None})
    now = _middles({v: n for v, n in after.items() if v is not None and str(v) != marker})
    if was is None or now is None or not len(was[0]) or not len(now[0]):
        return None
    span = float(was[0].max() - was[0].min())
    if span == 0:
        return None
    from scipy.stats import wasserstein_distance

    return float(wasserstein_distance(was[0], now[0], was[1], now[1])) / span


def _middles(marginal: Mapping[Value, int]) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    middles, rows = [], []
    for value, count in marginal.items():
        found = parse_interval(value)
        if found is None:
            return None
        middles.append((found[0] + found[1]) / 2)
        rows.append(float(count))
    return np.array(middles), np.array(rows)


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


def within_classes(found: Histogram, kept: NDArray[np.bool_], reference: Mapping[Value, int]) -> Within:
    """Figures of the classes that are kept; `reference` counts the values of the whole column.

    The cost is that of the values that occur in each class.

    >>> from keepsense.counts import Counts
    >>> counts = Counts.of({"job": ["a", "a", "b", "b"]}, histograms={"ill": ["flu", "cold", "flu", "flu"]})
    >>> found = within_classes(counts.histograms["ill"], np.ones(2, np.bool_), {"flu": 3, "cold": 1})
    >>> found.distinct.tolist(), found.t.tolist()
    ([2, 1], [0.25, 0.25])
    """
    size = len(found.rows)
    row, code = found.rows.row_of(), found.rows.indices
    share = found.counts / np.maximum(np.bincount(row, found.counts, size), 1)[row]
    total = sum(reference.values()) or 1
    whole = np.array([reference.get(value, 0) / total for value in found.values])
    largest = np.zeros(size)
    np.maximum.at(largest, row, share)
    logs = np.log(share, out=np.zeros_like(share), where=share > 0)
    return Within(
        np.bincount(row, found.counts > 0, size).astype(np.int64)[kept],
        largest[kept],
        np.exp(np.bincount(row, -share * logs, size))[kept],
        # both shares sum to 1, so the parts above the whole add up to half of all differences
        np.bincount(row, np.maximum(share - whole[code], 0.0), size).astype(np.float64)[kept],
    )


@dataclass(frozen=True)
class Association:
    """How strongly two columns hang together before and after, by whichever measure.

    >>> Association("job", "sex", 0.5, 0.25).before
    0.5
    """

    first: str
    second: str
    before: float
    after: float


def association(counts: Counts) -> float:
    """Cramér's V of two columns, corrected for the bias of small samples (Bergsma 2013): 0 none, 1 full.

    >>> round(association(Counts.of({"a": ["x", "y"] * 50, "b": ["p", "q"] * 50})), 3)
    1.0
    """
    first, second = counts.names
    table: Any = counts.joint(first, second).tocoo()
    n = float(table.sum())
    rows, columns = (np.asarray(table.sum(axis=axis)).ravel() for axis in (1, 0))
    r, c = int((rows > 0).sum()), int((columns > 0).sum())
    if r < 2 or c < 2 or n < 2:
        return 0.0
    i, j = table.coords
    squared = float((table.data.astype(np.float64) ** 2 / (rows[i] * columns[j])).sum()) - 1.0
    corrected = max(0.0, squared - (r - 1) * (c - 1) / (n - 1))
    smaller = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1
    return float(min(1.0, np.sqrt(corrected / smaller))) if smaller > 0 else 0.0
