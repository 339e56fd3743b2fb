"""The nearest-value attack: how many people a changed column still points at."""

from __future__ import annotations

import math

import numpy as np

from keepsense.arrays import Floats
from keepsense.counts import Value
from keepsense.recoding import Cells

_SAME = 1e-9


def found_by_nearest(rule: Cells, name: str, *, numbers: bool) -> float:
    """Expected share of records whose true value is the nearest to the released one, among all records as near.

    This is distance-based record linkage (Domingo-Ferrer and Torra 2001) on one column: with `numbers` by their
    difference, else only by equal values. Unchanged values give the mean of 1 / records that share a value. Cells that
    are no number, or empty, are never found.

    >>> from keepsense.counts import Counts
    >>> pay = Counts.of({"pay": [10, 20, 30]})
    >>> moved = Cells(("pay",), ((12, 24, 19),), np.arange(3), np.array([[0], [1], [2]]), np.ones(3)).bound(pay)
    >>> round(found_by_nearest(moved, "pay", numbers=True), 4)  # 12 and 24 are nearest to their own, 19 is not
    0.6667
    """
    counts = rule.inputs
    if counts is None or not counts.total:
        return 0.0
    released, column = rule.values[rule.names.index(name)], rule.codes[:, rule.names.index(name)]
    own = counts.column(name)[rule.source]
    if not numbers:
        rows = counts.rows_of(name)
        values = counts.values_of(name)
        hits = [
            1.0 / rows[values[o]] if values[o] is not None and str(values[o]) == str(released[r]) else 0.0
            for o, r in zip(own.tolist(), column.tolist(), strict=True)
        ]
        return float(np.dot(hits, rule.multiplicity) / counts.total)
    before, after = _numbers(counts.values_of(name)), _numbers(released)
    places, inverse = np.unique(before[np.isfinite(before)], return_inverse=True)
    if not len(places):
        return 0.0
    people = np.bincount(inverse, counts.marginal(name)[np.isfinite(before)], len(places))
    at, true = after[column], before[own]
    known = np.isfinite(at) & np.isfinite(true)
    at, true, share = at[known], true[known], rule.multiplicity[known]
    right = np.clip(np.searchsorted(places, at), 0, len(places) - 1)
    left = np.clip(right - 1, 0, len(places) - 1)
    reach = np.minimum(np.abs(places[left] - at), np.abs(places[right] - at))
    near_left = np.abs(places[left] - at) <= reach + _SAME
    near_right = (np.abs(places[right] - at) <= reach + _SAME) & (left != right)
    group = people[left] * near_left + people[right] * near_right
    return float((share * (np.abs(true - at) <= reach + _SAME) / group).sum() / counts.total)


def _numbers(values: tuple[Value, ...]) -> Floats:
    return np.array([_number(value) for value in values], dtype=np.float64)


def _number(value: Value) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return math.nan
