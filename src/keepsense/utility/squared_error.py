"""Squared errors of columns and of records, and ambiguity of records, as ARX measures them.

Each value stands at a place: numbers, dates and ranks where they are, words where their hierarchy has them when its
groups are written one after the other. What is released reaches from one place to another, a suppressed cell over the
whole column, and the error is the distance from the original to the farther of its ends: the worst a reader can do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Counts, Value
from keepsense.errors import BadInput
from keepsense.hierarchies.group_widths import positions
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.intervals import parse_interval
from keepsense.metrics import metric
from keepsense.recoding import SUPPRESSED
from keepsense.utility.recoded_table import (
    MOST_DISTANCES,
    Generalized,
    Hierarchies,
    Pairs,
    Recoded,
    column_pairs,
    cut_levels,
    hierarchy_of,
    leaf_sets,
)


@dataclass(frozen=True, eq=False)
class Reach:
    """Where the cells of one column stand, and from where to where what is released for them reaches.

    `place` is of each original, `low` and `high` are ends of released values, `whole` those of the column. A place that
    is not a number is that of a missing cell.

    >>> ages = Reach(np.array([20.0, 30.0]), np.array([20.0]), np.array([39.0]), (20.0, 30.0))
    >>> ages.of(np.array([0, 1]), np.array([0, 0]), np.array([False, True])).farthest.tolist()
    [19.0, 10.0]
    """

    place: Floats
    low: Floats
    high: Floats
    whole: tuple[float, float]

    def of(self, original: NDArray[np.integer], released: NDArray[np.integer], hidden: NDArray[np.bool_]) -> Reach:
        """The same for pairs of an original and a released code; hidden ones reach over the whole column."""
        least, most = self.whole
        low, high = np.where(hidden, least, self.low[released]), np.where(hidden, most, self.high[released])
        return Reach(self.place[original], low, high, self.whole)

    @property
    def farthest(self) -> Floats:
        """Distance of each original from the farther end of what is released for it; 0 where it is missing."""
        return np.nan_to_num(np.maximum(np.abs(self.place - self.low), np.abs(self.place - self.high)))


def _ends(places: Floats) -> tuple[float, float]:
    known = places[np.isfinite(places)]
    return (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)


def _number(value: Value) -> float:
    ends = parse_interval(value)
    return ends[0] if ends is not None and ends[0] == ends[1] else np.nan


def _reach_of_numbers(column: Pairs) -> Reach | None:
    """Numbers and the ranges they are released as; a label that is no range reaches as far as the numbers it is for."""
    place = np.array([_number(value) for value in column.originals])
    if not np.isfinite(place).any():
        return None
    least, most = _ends(place[column.original])
    low, high = np.full(len(column.values), least), np.full(len(column.values), most)
    for code, value in enumerate(column.values):
        ends = None if value == SUPPRESSED else parse_interval(value)
        if ends is not None:
            low[code] = ends[0] if np.isfinite(ends[0]) else min(least, ends[1])
            high[code] = ends[1] if np.isfinite(ends[1]) else max(most, ends[0])
        elif value != SUPPRESSED:
            own = place[column.original[(column.released == code) & ~column.hidden]]
            if np.isfinite(own).any():
                low[code], high[code] = _ends(own)
    return Reach(place, low, high, (least, most))


def _reach_of_words(column: Pairs, tree: Hierarchy, level: int | None) -> Reach:
    """Words by their order in the hierarchy, those of a group together; dates and ranks where they are."""
    place = positions(tree)
    if not np.isfinite(place).any():
        order = np.lexsort(tuple(tree.codes[:, step] for step in range(tree.height + 1)))
        place = np.empty(len(order))
        place[order] = np.arange(len(order))
    sets = leaf_sets(column, tree, level) & np.isfinite(place)
    low = np.where(sets, place, np.inf).min(axis=1, initial=np.inf)
    high = np.where(sets, place, -np.inf).max(axis=1, initial=-np.inf)
    least, most = _ends(place)
    own = place[tree.lookup(column.originals)]
    low, high = np.where(np.isfinite(low), low, least), np.where(np.isfinite(high), high, most)
    return Reach(own, low, high, (least, most))


def _reaches(
    counts: Counts, recoding: Generalized, hierarchies: Hierarchies, numbers: frozenset[str]
) -> dict[str, tuple[Pairs, Reach]]:
    """Every column whose values have places: numbers, and others that have a hierarchy."""
    fixed = cut_levels(recoding)
    reaches = {}
    for name, column in column_pairs(counts, recoding).items():
        reach = _reach_of_numbers(column) if name in numbers else None
        if reach is None and name in hierarchies:
            reach = _reach_of_words(column, hierarchies[name], fixed.get(name))
        if reach is not None:
            reaches[name] = column, reach
    return reaches


def squared_errors(
    counts: Counts, recoding: Generalized, hierarchies: Hierarchies, numbers: frozenset[str] = frozenset()
) -> dict[str, float]:
    """Squared error of each column, as a share of that of a column in which every cell is suppressed.

    ARX's attribute-level squared error: the squared distance of each cell from the farther end of what is released for
    it, at most the squared distance from the farther end of its column, added up, over the sum of the latter (0 where
    nothing is lost, 1 where everything is suppressed; ARX shows 1 less it). `numbers` names the columns of numbers;
    other columns need a hierarchy, and those without one are left out. Missing cells do not count.

    >>> from keepsense.recoding import Cut, Cuts
    >>> ages = Counts.of({"age": [20, 22, 30, 40]})
    >>> rule = Cuts((Cut("age", (20, 22, 30, 40), ("20 to 22", "20 to 22", 30, 40)),))
    >>> squared_errors(ages, rule, {}, frozenset({"age"}))  # (4 + 4 + 0 + 0) / (400 + 324 + 100 + 400)
    {'age': 0.006535947712418301}
    """
    errors = {}
    for name, (column, reach) in _reaches(counts, recoding, hierarchies, numbers).items():
        pairs = reach.of(column.original, column.released, column.hidden)
        least, most = _ends(pairs.place)
        worst = np.nan_to_num(np.maximum(np.abs(pairs.place - least), np.abs(pairs.place - most)))
        whole = float(column.weights @ worst**2)
        errors[name] = float(column.weights @ np.minimum(pairs.farthest, worst) ** 2) / whole if whole else 0.0
    return errors


def record_squared_error(
    counts: Counts, recoding: Generalized, hierarchies: Hierarchies, numbers: frozenset[str] = frozenset()
) -> float:
    """How far records lie from what is released of them, as a share of the farthest that they could lie.

    ARX's record-level squared error: the Euclidean distance of each record from the farthest corner of what is
    released for it, every column over its standard deviation, added up, over the same sum for the farthest corner of
    all that the columns hold before or after. Columns are those of `squared_errors`.

    >>> from keepsense.recoding import Cut, Cuts
    >>> people = Counts.of({"age": [20, 20, 40, 40], "height": [1, 2, 1, 2]})
    >>> ages = Cut("age", (20, 40), ("20 to 40", "20 to 40"))
    >>> rule = Cuts((ages, Cut("height", (1, 2), (1, 2))))
    >>> round(record_squared_error(people, rule, {}, frozenset({"age", "height"})), 4)  # 2 / √(2² + 2²)
    0.7071
    """
    cells = recoding.cells(counts)
    hidden = np.zeros(len(cells.source), np.bool_) if cells.suppressed is None else cells.suppressed
    near, far = np.zeros(len(cells.source)), np.zeros(len(cells.source))
    reaches = _reaches(counts, recoding, hierarchies, numbers)
    if not reaches:
        raise BadInput("the squared error of records needs a column of numbers or one with a hierarchy")
    for name, (_, reach) in reaches.items():
        rows = reach.of(counts.column(name)[cells.source], cells.codes[:, cells.names.index(name)], hidden)
        known = np.isfinite(rows.place)
        mean = float(np.average(rows.place[known], weights=cells.multiplicity[known])) if known.any() else 0.0
        squares = np.where(known, rows.place - mean, 0.0) ** 2
        variance = float(squares @ cells.multiplicity) / max(1, int(cells.multiplicity[known].sum()))
        if not variance:
            continue
        least, most = _ends(np.concatenate([rows.place[known], rows.low[known], rows.high[known]]))
        worst = np.nan_to_num(np.maximum(np.abs(rows.place - least), np.abs(rows.place - most)))
        near += rows.farthest**2 / variance
        far += worst**2 / variance
    whole = float(cells.multiplicity @ np.sqrt(far))
    return float(cells.multiplicity @ np.sqrt(near)) / whole if whole else 0.0


def sum_of_squares_lost(counts: Counts, recoding: Generalized, numbers: frozenset[str]) -> float:
    """SSE / SST: squared distances of numbers from the middle of what is released, over those from the mean.

    Over all columns of numbers, each over its variance, so that none counts more because its numbers are large
    (Domingo-Ferrer and Mateo-Sanz 2002, Sec. 3); a suppressed cell stands for the mean. 0 where nothing is lost, 1
    where all is; noise may do worse. ARX takes the sum below the line over the released values instead.

    >>> from keepsense.recoding import Cut, Cuts
    >>> ages = Counts.of({"age": [20, 22, 30, 40]})
    >>> rule = Cuts((Cut("age", (20, 22, 30, 40), ("20 to 22", "20 to 22", 30, 40)),))
    >>> sum_of_squares_lost(ages, rule, frozenset({"age"}))  # (1 + 1) / (64 + 36 + 4 + 144)
    0.008064516129032258
    """
    shares = []
    for column, reach in _reaches(counts, recoding, {}, numbers).values():
        pairs = reach.of(column.original, column.released, column.hidden)
        known = np.isfinite(pairs.place)
        weights, place = column.weights[known], pairs.place[known]
        mean = float(np.average(place, weights=weights))
        around = float(weights @ (place - mean) ** 2)
        gone = np.array([value == SUPPRESSED for value in column.values])[column.released] | column.hidden
        middle = np.where(gone, mean, (pairs.low + pairs.high) / 2)[known]
        if around:
            shares.append(float(weights @ (place - middle) ** 2) / around)
    if not shares:
        raise BadInput("the sum of squares lost needs a column of numbers that differ")
    return float(np.mean(shares))


def ambiguity(counts: Counts, recoding: Generalized, hierarchies: Hierarchies, *, normalised: bool = False) -> float:
    """Mean number of different original records that a released one may stand for.

    The product over columns of the values that a label may stand for, a suppressed cell for all of its hierarchy, mean
    over records (Goldberger and Tassa 2010, "Efficient anonymizations with enhanced utility"). `normalised` gives the
    share that ARX shows 1 less of: (mean - 1) / (product of all columns' values - 1).

    >>> from keepsense.hierarchies.hierarchy import Hierarchy
    >>> from keepsense.recoding import Cuts
    >>> rows = [("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")]
    >>> jobs = Hierarchy.of_rows(rows, name="job")
    >>> counts = Counts.of({"job": ["nurse", "surgeon", "clerk", "clerk"]})
    >>> ambiguity(counts, Cuts((jobs.cut(1),)), {"job": jobs})  # (2 + 2 + 1 + 1) / 4
    1.5
    >>> ambiguity(counts, Cuts((jobs.cut(1),)), {"job": jobs}, normalised=True)  # 0.5 / 2
    0.25
    """
    cells = recoding.cells(counts)
    fixed = cut_levels(recoding)
    product, most = np.ones(len(cells.source)), 1.0
    for name, column in column_pairs(counts, recoding).items():
        tree = hierarchy_of(hierarchies, name)
        leaves = np.maximum(1, leaf_sets(column, tree, fixed.get(name)).sum(axis=1)).astype(np.float64)
        own = leaves[cells.codes[:, cells.names.index(name)]]
        product *= own if cells.suppressed is None else np.where(cells.suppressed, len(tree.leaves), own)
        most *= len(tree.leaves)
    mean = float(product @ cells.multiplicity) / max(1, counts.total)
    return mean if not normalised else (mean - 1) / (most - 1) if most > 1 else 0.0


# ---- for reports -----------------------------------------------------------------------------------------------------


def _small(recoded: Recoded) -> bool:
    """Whether the values that labels may stand for can be written down; told where not."""
    cells = recoded.cells[1]
    leaves = [len(recoded.hierarchies[name].leaves) if name in recoded.hierarchies else 1 for name in cells.names]
    if all(len(values) * most <= MOST_DISTANCES for values, most in zip(cells.values, leaves, strict=True)):
        return True
    recoded.note("utility", "Squared errors and ambiguity were not measured: a column has very many released values.")
    return False


@metric("squared error", "squared error of {}", rank=24)
def _squared_error(recoded: Recoded) -> Mapping[str, float]:
    """How far values lie from the farther end of what is released for them, squared.

    Computed: sum of squared distances to the farther end / sum of those to the farther end of the column (ARX's
    attribute-level squared error).
    """
    if not recoded.once(_small):
        return {}
    return squared_errors(*recoded.cells, recoded.hierarchies, recoded.numbers)


@metric("squared error of records", "squared error of records", rank=25)
def _record_squared_error(recoded: Recoded) -> float | None:
    """How far records lie from the farthest corner of what is released of them.

    Computed: sum of distances over all columns, each over its standard deviation / the farthest possible (ARX's
    record-level squared error).
    """
    if not recoded.once(_small):
        return None
    return record_squared_error(*recoded.cells, recoded.hierarchies, recoded.numbers)


@metric("sum of squares lost", "variance of numbers lost", span=(0.0, None), rank=26)
def _sum_of_squares_lost(recoded: Recoded) -> float:
    """How much of the variance of numbers is gone when a range stands for its middle.

    Computed: mean over columns of sum of (number - middle)² / sum of (number - mean)² (SSE / SST, Domingo-Ferrer and
    Mateo-Sanz 2002).
    """
    return sum_of_squares_lost(*recoded.cells, recoded.numbers)


@metric("ambiguity", "originals a record may stand for, in bits", span=(0.0, None), unit="bits", rank=27)
def _ambiguity(recoded: Recoded) -> float | None:
    """How many different original records a released one may stand for, as a power of two.

    Computed: log2 of the mean over records of the product of values behind each label (Goldberger and Tassa 2010).
    """
    counts, rule = recoded.generalized
    return float(np.log2(ambiguity(counts, rule, recoded.hierarchies))) if recoded.once(_small) else None
