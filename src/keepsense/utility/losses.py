"""How much generalization took away, column by column, from the hierarchies alone.

All of these lie between 0 (nothing lost) and 1 (everything), except `precision`, which is the other way round, and
`height`, which counts steps. A suppressed record, or a suppressed cell, loses 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.hierarchies.build import MISSING
from keepsense.hierarchies.core import Hierarchy
from keepsense.hierarchies.kinds import KINDS
from keepsense.hierarchies.ranges.intervals import parse_interval
from keepsense.metrics import metric
from keepsense.recoding import SUPPRESSED, Cuts
from keepsense.utility.levels import level_losses
from keepsense.utility.pairs import (
    Generalized,
    Hierarchies,
    Pairs,
    column_pairs,
    cut_levels,
    hierarchy_of,
    released_levels,
)
from keepsense.utility.recoded import Recoded


def column_losses(
    counts: Counts,
    recoding: Generalized,
    hierarchies: Hierarchies,
    metric: str = "loss",
    *,
    ranges: Mapping[str, tuple[float, float]] | None = None,
) -> dict[str, float]:
    """Mean loss over records of each column, by `loss`, `precision`, `ncp` or `geniloss`.

    Numbers may be released as ranges that no hierarchy holds. By `loss` such a range could be any number of the column
    inside it; by `ncp` and `geniloss`, for columns without a hierarchy, its width counts,
    within `ranges` where these are given.

    >>> from keepsense.hierarchies import Hierarchy
    >>> rows = [("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")]
    >>> jobs = Hierarchy.of_rows(rows, name="job")
    >>> counts = Counts.of({"job": ["nurse", "surgeon", "clerk", "clerk"]})
    >>> column_losses(counts, Cuts((jobs.cut(1),)), {"job": jobs})
    {'job': 0.25}
    """
    fixed = cut_levels(recoding)
    losses = {}
    for name, column in column_pairs(counts, recoding).items():
        if metric in ("ncp", "geniloss") and _ranged(column, hierarchies.get(name)):
            lost = interval_shares(column, (ranges or {}).get(name))
        else:
            lost = _by_level(column, hierarchies, metric, fixed.get(name), (ranges or {}).get(name))
        losses[name] = float(column.weights @ lost) / max(1, int(column.weights.sum()))
    return losses


def _by_level(
    column: Pairs,
    hierarchies: Hierarchies,
    metric: str,
    level: int | None,
    within: tuple[float, float] | None,
) -> NDArray[np.float64]:
    hierarchy = hierarchy_of(hierarchies, column.name)
    try:
        levels = released_levels(column, hierarchy, level)
    except BadInput:
        ranges = _range_shares(column, hierarchy) if metric == "loss" else None
        if ranges is None:
            raise
        return ranges
    table = np.concatenate(
        [level_losses(metric, hierarchy, within=within), np.ones((len(hierarchy.leaves), 1))], axis=1
    )
    lost: NDArray[np.float64] = table[hierarchy.lookup(column.originals)[column.original], levels]
    return lost


def _ranged(column: Pairs, hierarchy: Hierarchy | None) -> bool:
    """Whether a column is measured by the ranges it is released as: numbers are, with a hierarchy or without one."""
    if hierarchy is None:
        return True
    kind = KINDS[hierarchy.kind]
    if not (kind.numbers or kind.words):
        return False
    plain = [value for value in column.originals if value is not None]
    released = [value for value in column.values if value not in (None, MISSING, SUPPRESSED)]
    return bool(plain) and all(parse_interval(value) is not None for value in (*plain, *released))


def interval_shares(column: Pairs, within: tuple[float, float] | None = None) -> NDArray[np.float64]:
    """Width of each pair's released interval over the width of the column's original values; 1 where suppressed.

    Parts of an interval that no original reaches do not count: it is cut to the column's range, or to the range
    `within` which it is to be measured. A missing cell that stays missing loses nothing.

    >>> from keepsense.recoding import Cut
    >>> rule = Cuts((Cut("age", (20, 30, 60), ("20-40", "20-40", "*")),))
    >>> interval_shares(column_pairs(Counts.of({"age": [20, 30, 60]}), rule)["age"]).tolist()
    [0.5, 0.5, 1.0]
    """
    numbers = [parse_interval(value) for value in column.originals if value is not None]
    if any(ends is None for ends in numbers):
        raise BadInput(f"the metric needs a hierarchy for column {column.name!r}, which does not hold numbers only")
    low = min((ends[0] for ends in numbers if ends), default=0.0)
    high = max((ends[1] for ends in numbers if ends), default=0.0)
    low, high = (low, high) if within is None else within
    span = high - low
    widths = np.zeros(len(column.values))
    for i, value in enumerate(column.values):
        if value in (None, MISSING):
            continue
        if value == SUPPRESSED:
            widths[i] = 1.0
            continue
        ends = parse_interval(value)
        if ends is None:
            raise BadInput(f"column {column.name!r}: a released value is no interval; give the column's hierarchy")
        if span > 0:
            widths[i] = max(0.0, min(ends[1], high) - max(ends[0], low)) / span
        else:  # too few people lie apart to say how wide it is
            widths[i] = float(within is not None and ends[1] > ends[0])
    return np.where(column.hidden, 1.0, widths[column.released])


def _range_shares(column: Pairs, hierarchy: Hierarchy) -> NDArray[np.float64] | None:
    """Share of the other leaves that each pair's released range of numbers could be; None where one is no range."""
    numbers = [parse_interval(leaf) for leaf in hierarchy.leaves]
    leaves = np.sort([ends[0] for ends in numbers if ends is not None])
    if not len(leaves):
        return None
    alone = (leaves[0], leaves[0])
    spans = [alone if label in (None, MISSING) else parse_interval(label, inside=True) for label in column.values]
    if any(span is None for span, label in zip(spans, column.values, strict=True) if label != SUPPRESSED):
        return None
    ends = np.array([span or (leaves[0], leaves[-1]) for span in spans])  # an open end takes all that lies there
    inside = np.searchsorted(leaves, ends[:, 1], "right") - np.searchsorted(leaves, ends[:, 0], "left")
    return np.where(column.hidden, 1.0, ((inside - 1) / max(1, len(leaves) - 1))[column.released])


def loss(
    counts: Counts,
    recoding: Generalized,
    hierarchies: Hierarchies,
    *,
    mean: str = "arithmetic",
    weights: Mapping[str, float] | None = None,
) -> float:
    """Share of the other values that a released value could be, averaged over records and then over columns.

    For a record it is (leaves under the released value - 1) / (leaves of the hierarchy - 1) (Iyengar 2002). Columns are
    averaged arithmetically or geometrically; the latter takes the mean of 1 + loss and subtracts 1 again, because a
    column that loses nothing would otherwise hide all others. `weights` says how much columns matter.

    >>> from keepsense.hierarchies import Hierarchy
    >>> rows = [("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")]
    >>> jobs = Hierarchy.of_rows(rows, name="job")
    >>> loss(Counts.of({"job": ["nurse", "clerk"]}), Cuts((jobs.cut(1),)), {"job": jobs})
    0.25
    """
    return mean_of(column_losses(counts, recoding, hierarchies, "loss"), mean=mean, weights=weights)


def ncp(
    counts: Counts,
    recoding: Generalized,
    hierarchies: Hierarchies,
    *,
    mean: str = "arithmetic",
    weights: Mapping[str, float] | None = None,
) -> float:
    """Normalized certainty penalty (Xu et al. 2006): interval over domain, or leaves over all leaves.

    >>> from keepsense.recoding import Cut
    >>> ncp(Counts.of({"age": [20, 25, 60]}), Cuts((Cut("age", (20, 25, 60), ("[20, 30)", "[20, 30)", 60)),)), {})
    0.16666666666666666
    """
    return mean_of(column_losses(counts, recoding, hierarchies, "ncp"), mean=mean, weights=weights)


def gen_iloss(
    counts: Counts,
    recoding: Generalized,
    hierarchies: Hierarchies,
    *,
    mean: str = "arithmetic",
    weights: Mapping[str, float] | None = None,
) -> float:
    """Generalized information loss (GenILoss): like `loss`, with interval widths for numbers, dates and orders.

    >>> from keepsense.recoding import Cut
    >>> gen_iloss(Counts.of({"age": [20, 60]}), Cuts((Cut("age", (20, 60), ("20-60", "20-60")),)), {})
    1.0
    """
    return mean_of(column_losses(counts, recoding, hierarchies, "geniloss"), mean=mean, weights=weights)


def precision(counts: Counts, recoding: Generalized, hierarchies: Hierarchies) -> float:
    """One minus the mean of level over height, over all cells (Sweeney 2002): 1 is the original table.

    >>> from keepsense.hierarchies import Hierarchy
    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("clerk", "office", "*")], name="job")
    >>> precision(Counts.of({"job": ["nurse", "clerk"]}), Cuts((jobs.cut(1),)), {"job": jobs})
    0.5
    """
    return 1.0 - mean_of(column_losses(counts, recoding, hierarchies, "precision"))


def height(recoding: Cuts) -> int:
    """Sum of the columns' levels (Samarati 2001); only for recodings with one level a column.

    >>> from keepsense.recoding import Cut
    >>> height(Cuts((Cut("sex", (), (), level=1), Cut("age", (), (), level=3))))
    4
    """
    levels = recoding.levels if isinstance(recoding, Cuts) else (None,)
    if any(level is None for level in levels):
        raise BadInput("the height is defined for recodings with one level a column only; use loss or precision")
    return sum(level for level in levels if level is not None)


def mean_of(
    losses: Mapping[str, float], *, mean: str = "arithmetic", weights: Mapping[str, float] | None = None
) -> float:
    """Mean over columns, arithmetic or geometric (of 1 + loss, less 1), weighted if asked.

    >>> round(mean_of({"a": 0.0, "b": 0.5}, mean="geometric"), 6)
    0.224745
    """
    if not losses:
        raise BadInput("the recoding changes no column, so there is nothing to measure")
    names: Sequence[str] = list(losses)
    unknown = [name for name in weights or () if name not in losses]
    if unknown:
        raise BadInput(f"a weight is given for column {unknown[0]!r}, which is not recoded")
    importance = np.array([1.0 if weights is None else float(weights.get(name, 0.0)) for name in names])
    if (importance < 0).any() or importance.sum() == 0:
        raise BadInput("the weights of columns must not be negative and must not all be 0")
    values = np.array([losses[name] for name in names])
    if mean == "arithmetic":
        return float(importance @ values / importance.sum())
    if mean == "geometric":
        return float(np.expm1(importance @ np.log1p(values) / importance.sum()))
    raise BadInput(f"columns are averaged with an 'arithmetic' or a 'geometric' mean, not {mean!r}")


# ---- for every run ---------------------------------------------------------------------------------------------------


def certainty_penalties(recoded: Recoded) -> dict[str, float]:
    """Share of each column's certainty that is gone: 0 where it is as it was, 1 where it is hidden.

    Numbers are measured by the widths they are released as, which no hierarchy need hold.

    >>> from keepsense.hierarchies import Hierarchy
    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("clerk", "office", "*")], name="job")
    >>> rule = Cuts((jobs.cut(2),))
    >>> certainty_penalties(Recoded(Counts.of({"job": ["nurse", "clerk"]}), [rule], {"job": jobs}))
    {'job': 1.0}
    """
    counts, rule = recoded.generalized
    trees = {name: tree for name, tree in recoded.hierarchies.items() if name not in recoded.numbers}
    return column_losses(counts, rule, trees, "ncp", ranges=recoded.ranges)


@metric("certainty penalty", "certainty lost", every_run=True, rank=1)
def certainty_penalty(recoded: Recoded) -> float | None:
    """Share of certainty lost: none where every value is kept, all where all are hidden.

    Computed: mean over cells of interval over range, or of values it could be over all values (NCP, Xu et al.
    2006).

    >>> from keepsense.hierarchies import Hierarchy
    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("clerk", "office", "*")], name="job")
    >>> certainty_penalty(Recoded(Counts.of({"job": ["nurse", "clerk"]}), [Cuts((jobs.cut(1),))], {"job": jobs}))
    0.0
    """
    losses = recoded.once(certainty_penalties)
    weights = {name: recoded.importance.get(name, 1.0) for name in losses}
    whole = sum(weights.values())
    return sum(weights[name] * share for name, share in losses.items()) / whole if whole else None


@metric("loss", "detail lost", every_run=True, rank=2)
def _loss(recoded: Recoded) -> float:
    """Share of a column's other values that a released one could be.

    Computed: mean over cells of (values it could be - 1) / (all values - 1) (Iyengar 2002).
    """
    counts, rule = recoded.generalized
    weights = {name: recoded.importance.get(name, 1.0) for name in rule.names}
    return loss(counts, rule, recoded.hierarchies, weights=weights)


@metric("precision", "precision kept", span=(1.0, 0.0), every_run=True, rank=3)
def _precision(recoded: Recoded) -> float:
    """Share of the hierarchies' levels that are kept.

    Computed: 1 - mean over cells of level over height (Sweeney 2002).
    """
    return precision(*recoded.generalized, recoded.hierarchies)
