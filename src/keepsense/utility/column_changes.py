"""How many values of a column were changed rather than generalized, and how far they moved; sets and items too."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Value
from keepsense.errors import KeepsenseError
from keepsense.hierarchies.intervals import parse_interval
from keepsense.metrics import metric
from keepsense.recoding import Recoding
from keepsense.utility.recoded_table import Recoded, joint_values
from keepsense.utility.value_distances import mutual_distances, released_distances

MOST_CELLS = 1 << 22
"""Most pairs of values of a column whose distances every run works out."""

Moves = dict[str, tuple[float, float | None]]
"""For each column the share of changed cells, and the mean distance where there are not too many values."""


def column_moves(recoded: Recoded, rule: Recoding) -> Moves:
    """What one recoding changed, column by column; for draws, what is to be expected of them.

    >>> from keepsense.counts import Counts
    >>> from keepsense.recoding import Cells
    >>> ages = Counts.of({"age": ["20", "30"]})
    >>> swap = Cells(("age",), ages.values, np.arange(2), np.array([[1], [0]]), np.ones(2, int))
    >>> column_moves(Recoded(ages, [swap], truthful=False), swap)
    {'age': (1.0, 1.0)}
    """
    moves: Moves = {}
    for column, weights in joint_values(recoded.counts, rule):
        total = float(weights.sum()) or 1.0
        before, after = (_objects(values) for values in (column.originals, column.values))
        changed = (before[column.original] != after[column.released]).astype(np.bool_)
        distance = None
        if len(column.originals) * len(column.values) <= MOST_CELLS:
            try:
                apart = released_distances(recoded.scale_of(column.name), column.values, column.originals)
                distance = float(weights @ apart[column.released, column.original]) / total
            except KeepsenseError:
                pass  # values that cannot be compared: what changed is known all the same
        moves[column.name] = (float(weights[changed].sum()) / total, distance)
    return moves


def _objects(values: Sequence[Value]) -> NDArray[np.object_]:
    """Values as an array of objects, one each: sets, which are tuples, must not become further dimensions."""
    objects = np.empty(len(values), dtype=np.object_)
    for i, value in enumerate(values):
        objects[i] = value
    return objects


def table_moves(recoded: Recoded) -> Moves:
    """What was changed in columns of single values; nothing where values were generalized.

    >>> from keepsense.counts import Counts
    >>> table_moves(Recoded(Counts.of({"age": ["20"]}), []))
    {}
    """
    return {} if recoded.truthful else _moves(recoded, [r for r in recoded.rules if r not in recoded.set_rules])


def set_moves(recoded: Recoded) -> Moves:
    """What was changed in set-valued columns.

    >>> from keepsense.counts import Counts
    >>> set_moves(Recoded(Counts.of({"age": ["20"]}), []))
    {}
    """
    return _moves(recoded, recoded.set_rules)


def _moves(recoded: Recoded, rules: Sequence[Recoding]) -> Moves:
    return {name: move for rule in rules for name, move in column_moves(recoded, rule).items()}


def _changed(moves: Moves) -> float | None:
    return float(np.mean([changed for changed, _ in moves.values()])) if moves else None


def _distance(moves: Moves) -> float | None:
    distances = [distance for _, distance in moves.values() if distance is not None]
    return float(np.mean(distances)) if distances and len(distances) == len(moves) else None


@metric("changed share", "cells changed", every_run=True, rank=7)
def _changed_share(recoded: Recoded) -> float | None:
    """Share of cells that hold another value than before.

    Computed: changed cells / cells, over all columns.
    """
    return _changed(recoded.once(table_moves))


@metric("mean distance", "distance moved", every_run=True, rank=8)
def _mean_distance(recoded: Recoded) -> float | None:
    """How far values moved on average: not at all, or as far as can be.

    Computed: mean over cells of the distance by meaning, or of numbers over their range.
    """
    return _distance(recoded.once(table_moves))


Moments = dict[str, tuple[float, float]]
"""For each column of words by how much its variance changed, as a share of what it was, and how far its mean moved."""


def word_moments(recoded: Recoded) -> Moments:
    """What changed values did to variance and mean of columns of words; the mean is the value nearest to all rows.

    >>> from keepsense.counts import Counts
    >>> word_moments(Recoded(Counts.of({"age": ["20"]}), []))
    {}
    """
    moments: Moments = {}
    rules = () if recoded.truthful else [rule for rule in recoded.rules if rule not in recoded.set_rules]
    for rule in rules:
        for column, weights in joint_values(recoded.counts, rule):
            scale, values = recoded.scale_of(column.name), [*column.originals, *column.values]
            if scale.distance is None or len(values) ** 2 > MOST_CELLS:
                continue
            n = len(column.originals)
            before = np.bincount(column.original, weights, len(values))
            after = np.bincount(n + column.released, weights, len(values))
            apart = mutual_distances(scale, values, column.originals)
            means = [int(np.argmin(apart @ rows + np.where(rows > 0, 0.0, np.inf))) for rows in (before, after)]
            was, now = (float(rows @ apart[mean] ** 2) for rows, mean in zip((before, after), means, strict=True))
            if was > 0:
                moments[column.name] = abs(now / was - 1.0), float(apart[means[0], means[1]])
    return moments


@metric("variance of words", "variance of words changed", span=(0.0, None), every_run=True, rank=9)
def _variance_of_words(recoded: Recoded) -> float | None:
    """By how much the variance of words changed, as a share of what it was.

    Computed: mean over columns of words of how far after / before is from 1, both mean squared distances to the mean.
    """
    moments = recoded.once(word_moments)
    return float(np.mean([changed for changed, _ in moments.values()])) if moments else None


@metric("mean of words", "mean of words moved", every_run=True, rank=10)
def _mean_of_words(recoded: Recoded) -> float | None:
    """How far the mean of words moved: not at all, or as far as can be.

    Computed: mean over columns of words of the distance between the means, the values nearest to all rows.
    """
    moments = recoded.once(word_moments)
    return float(np.mean([moved for _, moved in moments.values()])) if moments else None


@metric("changed share of sets", "sets changed", every_run=True, rank=-2)
def _changed_sets(recoded: Recoded) -> float | None:
    """Share of records whose set differs from the original.

    Computed: changed sets / sets, over all set-valued columns.
    """
    return _changed(recoded.once(set_moves))


@metric("mean distance of sets", "distance of sets", every_run=True, rank=-1)
def _distance_of_sets(recoded: Recoded) -> float | None:
    """Share of items not in common with the original set, on average.

    Computed: mean over sets of 1 - common items / items of either (Jaccard).
    """
    return _distance(recoded.once(set_moves))


# ---- for reports -----------------------------------------------------------------------------------------------------


@metric("meaning of sets", "meaning of {} lost", rank=60)
def _meaning_of_sets(recoded: Recoded) -> dict[str, float]:
    """Distance of the items released from the original ones, beyond what sets have from themselves.

    Computed: mean over records of the squared average distance, less that of the original (Batet et al. 2014, Eq.
    8).
    """
    return {sets.column: sets.loss for sets in recoded.sets if sets.loss is not None}


@metric("item error", "error of item counts, {}", span=(0.0, None), rank=61)
def _item_error(recoded: Recoded) -> dict[str, float]:
    """How wrong the number of records with an item is, on average.

    Computed: mean over items of difference of records after and before / records before.
    """
    return {sets.column: sets.item_error for sets in recoded.sets if sets.item_error is not None}


@metric("pair error", "error of counts of two items, {}", span=(0.0, None), rank=62)
def _pair_error(recoded: Recoded) -> dict[str, float]:
    """How wrong the number of records with two frequent items is, on average.

    Computed: mean over the most frequent pairs of items of difference of records after and before / records before.
    """
    return {sets.column: sets.pair_error for sets in recoded.sets if sets.pair_error is not None}


# Frequencies of the values of a column before and after


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
