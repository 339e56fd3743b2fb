"""What became of one column, by how often each of its values occurs before and after."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Value
from keepsense.hierarchies.ranges.intervals import parse_interval


@dataclass(frozen=True)
class Change:
    """What became of one column.

    `distance` is half the sum of the differences of the values' shares: 0 where each value is as frequent as before,
    1 where no old value is left. `shift` is for columns of numbers: how far the distribution moved on average, as a
    share of the range (an interval counts as its middle). `information` is the share of the column's entropy that is
    left, at most all of it; a cell that is empty or suppressed tells nothing. `changed` is the share of changed cells,
    known only where the rows are in the same order.

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
    markers: str | Sequence[str] = "*",
    changed: float | None = None,
) -> Change:
    """Compare how often each value occurs before and after.

    >>> change("job", {"nurse": 2, "clerk": 2}, {"medic": 2, "clerk": 2}).distance
    0.5
    """
    was, now = _shares(before), _shares(after)
    apart = 0.5 * sum(abs(was.get(v, 0.0) - now.get(v, 0.0)) for v in {*was, *now})
    marks = {markers} if isinstance(markers, str) else set(markers)
    full = _told(before, marks)
    left = min(1.0, _told(after, marks) / full) if full else 1.0
    hidden = sum(rows for value, rows in after.items() if str(value) in marks)
    return Change(name, len(before), len(after), hidden, round(apart, 12), _shift(before, after, marks), left, changed)


def _told(rows: Mapping[Value, int], marks: Collection[str]) -> float:
    """Entropy of the cells that tell something, by their share of all."""
    telling = [number for value, number in rows.items() if value is not None and str(value) not in marks]
    return entropy(telling) * sum(telling) / (sum(rows.values()) or 1)


def _shares(marginal: Mapping[Value, int]) -> dict[str | None, float]:
    total = sum(marginal.values()) or 1
    shares: dict[str | None, float] = {}
    for value, rows in marginal.items():
        key = None if value is None else str(value)
        shares[key] = shares.get(key, 0.0) + rows / total
    return shares


def entropy(counts: Iterable[int]) -> float:
    """Entropy in bits of values that occur so often.

    >>> entropy([2, 2])
    1.0
    """
    rows = np.array([n for n in counts if n > 0], dtype=np.float64)
    shares = rows / rows.sum() if len(rows) else rows
    return float(-(shares * np.log2(shares)).sum()) + 0.0


def _shift(before: Mapping[Value, int], after: Mapping[Value, int], marks: Collection[str]) -> float | None:
    """Mean movement of a distribution of numbers (1-Wasserstein) over its range, or None where they are no numbers."""
    was = _middles({v: n for v, n in before.items() if v is not None})
    if was is None or not len(was[0]):
        return None
    ends = float(was[0].min()), float(was[0].max())
    now = _middles({v: n for v, n in after.items() if v is not None and str(v) not in marks}, ends)
    if now is None or not len(now[0]):
        return None
    span = ends[1] - ends[0]
    if span == 0:
        return None
    from scipy.stats import wasserstein_distance

    return float(wasserstein_distance(was[0], now[0], was[1], now[1])) / span


def _middles(
    marginal: Mapping[Value, int], whole: tuple[float, float] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Middles of ranges and the rows of each; an open range ends where the whole does."""
    middles, rows = [], []
    for value, count in marginal.items():
        ends = parse_interval(value)
        if ends is None:
            return None
        low, high = ends
        if whole is not None:
            low, high = (whole[0] if low == -np.inf else low), (whole[1] if high == np.inf else high)
        middles.append((low + high) / 2 if np.isfinite([low, high]).all() else (high if low == -np.inf else low))
        rows.append(float(count))
    return np.array(middles), np.array(rows)
