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
from keepsense.recoding import Cuts
from keepsense.utility.basis import (
    Generalized,
    Hierarchies,
    Pairs,
    column_pairs,
    cut_levels,
    hierarchy_of,
    released_levels,
)
from keepsense.utility.intervals import interval_shares
from keepsense.utility.levels import level_losses


def column_losses(
    counts: Counts, recoding: Generalized, hierarchies: Hierarchies, measure: str = "loss"
) -> dict[str, float]:
    """Mean loss over records of each column, by `loss`, `precision`, `ncp` or `geniloss`.

    A column of numbers without a hierarchy is measured by the intervals it is released as, for `ncp` and `geniloss`.

    >>> from keepsense.hierarchies import Hierarchy
    >>> rows = [("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")]
    >>> jobs = Hierarchy.of_rows(rows, name="job")
    >>> counts = Counts.of({"job": ["nurse", "surgeon", "clerk", "clerk"]})
    >>> column_losses(counts, Cuts((jobs.cut(1),)), {"job": jobs})
    {'job': 0.25}
    """
    fixed = cut_levels(recoding)
    found = {}
    for name, column in column_pairs(counts, recoding).items():
        if name not in hierarchies and measure in ("ncp", "geniloss"):
            lost = interval_shares(column)
        else:
            lost = _by_level(column, hierarchies, measure, fixed.get(name))
        found[name] = float(column.weights @ lost) / max(1, int(column.weights.sum()))
    return found


def _by_level(column: Pairs, hierarchies: Hierarchies, measure: str, level: int | None) -> NDArray[np.float64]:
    hierarchy = hierarchy_of(hierarchies, column.name)
    levels = released_levels(column, hierarchy, level)
    table = np.concatenate([level_losses(measure, hierarchy), np.ones((len(hierarchy.leaves), 1))], axis=1)
    lost: NDArray[np.float64] = table[hierarchy.lookup(column.originals)[column.original], levels]
    return lost


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
