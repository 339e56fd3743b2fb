"""Loss, NCP, GenILoss, precision, certainty.

How much detail generalization took from each column, from the hierarchies alone. All of these lie between 0 (nothing
lost) and 1 (everything), except `precision`, which is the other way round, and `height`, which counts steps. A
suppressed record, or a suppressed cell, loses 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import log2

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Counts
from keepsense.errors import BadInput, did_you_mean
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.hierarchies.group_widths import interval_losses
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.hierarchy_builder import MISSING
from keepsense.hierarchies.intervals import parse_interval
from keepsense.metrics import metric
from keepsense.recoding import SUPPRESSED, Cuts
from keepsense.semantics.distance import Distance
from keepsense.utility.entropy_losses import entropy_losses
from keepsense.utility.recoded_table import (
    Generalized,
    Hierarchies,
    Pairs,
    Recoded,
    column_pairs,
    cut_levels,
    hierarchy_of,
    released_levels,
)
from keepsense.utility.value_distances import leaf_distances

# Loss tables: a row for each leaf of a hierarchy, a column for each level, from the leaf itself to the top


def level_losses(
    metric: str,
    hierarchy: Hierarchy,
    marginal: NDArray[np.int64] | None = None,
    *,
    within: tuple[float, float] | None = None,
) -> Floats:
    """Loss of each leaf at each level by `loss`, `precision`, `ncp`, `geniloss` or `non-uniform entropy`.

    `marginal` counts the records of each leaf; only the entropy needs it (its unit is bits, the others' a share from 0
    to 1). A suppressed value loses 1, for the entropy what the top would lose. Widths are measured `within` a range
    where it is given, else within that of the leaves.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")])
    >>> level_losses("loss", jobs).tolist()
    [[0.0, 0.5, 1.0], [0.0, 0.5, 1.0], [0.0, 0.0, 1.0]]
    """
    if metric == "non-uniform entropy":
        if marginal is None:
            raise BadInput("non-uniform entropy needs the number of records of each leaf")
        return entropy_losses(hierarchy, marginal)
    rule = _TABLES.get(metric)
    if rule is None:
        known = [*_TABLES, "non-uniform entropy"]
        raise BadInput(f"no metric {metric!r} by level; there are: {', '.join(known)}.{did_you_mean(metric, known)}")
    spans = _spans(hierarchy, within) if within is not None and metric in ("ncp", "geniloss") else None
    return rule(hierarchy) if spans is None else spans


def _leaves(hierarchy: Hierarchy) -> Floats:
    """Leaves under each leaf's ancestor at each level."""
    counts = hierarchy.leaf_counts
    return np.stack([counts[level][hierarchy.codes[:, level]] for level in range(hierarchy.height + 1)], axis=1).astype(
        np.float64
    )


def _loss_by_level(hierarchy: Hierarchy) -> Floats:
    """Other leaves the released value could be, over all others (Iyengar 2002)."""
    return (_leaves(hierarchy) - 1) / max(1, len(hierarchy.leaves) - 1)


def _precision_by_level(hierarchy: Hierarchy) -> Floats:
    """Level over height (Sweeney 2002)."""
    steps = np.arange(hierarchy.height + 1) / max(1, hierarchy.height)
    return np.broadcast_to(steps, hierarchy.codes.shape).copy()


def _spans(hierarchy: Hierarchy, within: tuple[float, float] | None = None) -> Floats | None:
    """Width of the interval over that of the column, for hierarchies of numbers, dates and ordered values."""
    if not KINDS[hierarchy.kind].ordered:
        return None
    return np.concatenate([np.zeros((len(hierarchy.leaves), 1)), interval_losses(hierarchy, within)], axis=1)


def _ncp(hierarchy: Hierarchy) -> Floats:
    """Normalized certainty penalty (Xu et al. 2006): interval widths, or leaves over all leaves once there are two."""
    spans = _spans(hierarchy)
    under = _leaves(hierarchy)
    return np.where(under > 1, under / len(hierarchy.leaves), 0.0) if spans is None else spans


def _geniloss(hierarchy: Hierarchy) -> Floats:
    """Generalized information loss: interval widths, or other leaves over all others (Ayala-Rivera et al. 2014)."""
    spans = _spans(hierarchy)
    return _loss_by_level(hierarchy) if spans is None else spans


_TABLES: dict[str, Callable[[Hierarchy], Floats]] = {
    "loss": _loss_by_level,
    "precision": _precision_by_level,
    "ncp": _ncp,
    "geniloss": _geniloss,
}


# Metrics of the columns of a table


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

    >>> from keepsense.hierarchies.hierarchy import Hierarchy
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

    >>> from keepsense.hierarchies.hierarchy import Hierarchy
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

    >>> from keepsense.hierarchies.hierarchy import Hierarchy
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

    >>> from keepsense.hierarchies.hierarchy import Hierarchy
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

    >>> from keepsense.hierarchies.hierarchy import Hierarchy
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


# The joint loss of columns: one scale for words and numbers, and large losses count more
#
# Every column's loss runs from 0 (as it was) to 1 (hidden). It is squared, so that a column that lost much is spared,
# and weighted by its importance and by the bits that its number of values takes, at most those of 64 values.

_OF_MEANING = 0.6
"""Share of a word's loss that is the distance; the rest is how many other values it could be."""
_TOLD_APART = 64
"""Values of a column above which more of them do not make it tell more."""


@lru_cache(maxsize=512)  # every candidate of every column, tried in turn
def label_losses(hierarchy: Hierarchy, distance: Distance | None = None) -> list[Floats]:
    """What releasing a value as each label of each level loses, from 0 for the leaves to 1 for the top.

    >>> tree = Hierarchy.of_rows([("cat", "pet", "*"), ("dog", "pet", "*"), ("wolf", "wolf", "*")])
    >>> [level.tolist() for level in label_losses(tree)]
    [[0.0, 0.0, 0.0], [0.5, 0.0], [1.0]]
    """
    others = max(1, len(hierarchy.leaves) - 1)
    shares = [(count - 1) / others for count in hierarchy.leaf_counts]
    if distance is None:
        return shares
    levels, _ = leaf_distances(hierarchy, distance)
    means = [
        np.bincount(code, lost) / np.maximum(np.bincount(code), 1)
        for code, lost in zip(hierarchy.codes.T, levels, strict=True)
    ]
    most = float(means[-1].max()) or 1.0
    return [
        np.minimum(1.0, _OF_MEANING * mean / most + (1 - _OF_MEANING) * share)
        for mean, share in zip(means, shares, strict=True)
    ]


def importance_of(values: int, weight: float = 1.0) -> float:
    """How much a column's loss counts beside others: its weight, by the bits of its number of values.

    >>> importance_of(2), round(importance_of(16, weight=3.0), 2), importance_of(64) == importance_of(10_000)
    (1.0, 12.0, True)
    """
    return float(weight * log2(min(max(values, 2), _TOLD_APART)))


def shared_loss(
    counts: Counts,
    recoding: Generalized,
    hierarchies: Mapping[str, Hierarchy],
    distances: Mapping[str, Distance] | None = None,
    weights: Mapping[str, float] | None = None,
) -> float:
    """Mean over records of the columns' squared losses, by their importance.

    Columns that `hierarchies` leaves out are numbers, measured by the width they are released as.

    >>> rows = [("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")]
    >>> jobs = Hierarchy.of_rows(rows, name="job")
    >>> from keepsense.recoding import Cuts
    >>> counts = Counts.of({"job": ["nurse", "surgeon", "clerk", "clerk"]})
    >>> [shared_loss(counts, Cuts((jobs.cut(level),)), {"job": jobs}) for level in range(3)]
    [0.0, 0.125, 1.0]
    """
    total = whole = 0.0
    for name, column in column_pairs(counts, recoding).items():
        if name in hierarchies:
            tree = hierarchies[name]
            lost = _by_label(tree, (distances or {}).get(name))
            levels = released_levels(column, tree)
            shares = lost[tree.lookup(column.originals)[column.original], levels]
        else:
            shares = np.minimum(1.0, interval_shares(column))
        weight = importance_of(len(counts.values_of(name)), (weights or {}).get(name, 1.0))
        total += weight * float(column.weights @ shares**2) / max(1, int(column.weights.sum()))
        whole += weight
    return total / whole if whole else 0.0


def _by_label(tree: Hierarchy, distance: Distance | None) -> NDArray[np.float64]:
    """Loss of each leaf at each level, and of a suppressed one."""
    levels = [lost[code] for lost, code in zip(label_losses(tree, distance), tree.codes.T, strict=True)]
    return np.stack([*levels, np.ones(len(tree.leaves))], axis=1)
