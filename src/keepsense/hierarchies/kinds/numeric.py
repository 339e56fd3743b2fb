"""Hierarchies of numbers: equal width, equal frequency, and agglomerative, each a sequence of nested intervals.

All three take the distinct values of a column; the last two also how many rows hold each. Level 1 has about `groups`
intervals, each further level joins `fanout` neighbours, and `*` stands at the top. A missing value (None) keeps its own
label below the top.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Value
from keepsense.errors import BadInput
from keepsense.hierarchies.core import Hierarchy, signature
from keepsense.hierarchies.kinds import KINDS, MISSING, Kind, Values
from keepsense.recoding import SUPPRESSED


def equal_width(
    values: Iterable[Value],
    *,
    groups: int = 16,
    fanout: int = 2,
    width: float | None = None,
    name: str = "numbers",
) -> Hierarchy:
    """Intervals of one width that start at multiples of it; the width is 1, 2 or 5 times a power of ten unless given.

    The plainest choice, and the easiest to explain: use it where readers expect round bounds. One pass over the values.

    >>> equal_width([17, 23, 28, 48, 90], groups=8).rows()[1]
    (23, '[20, 30)', '[20, 40)', '[0, 40)', '[0, 80)', '*')
    """
    leaves, numbers, _ = _numbers(values, name)
    _check_steps(name, groups, fanout)
    low, high = float(numbers.min()), float(numbers.max())
    size = _nice((high - low) / groups) if width is None else float(width)
    if not (math.isfinite(size) and size > 0) or (high - low) / size > 1e7:
        raise BadInput(
            f"{name}: the width of an interval must be a positive number that gives at most 10 million of them"
        )
    # Bounds are rounded before values are compared with them, so 0.3 does not fall below a bound of 0.1 + 0.2.
    digits = 12 - math.floor(math.log10(max(abs(low), abs(high), size)))
    first = math.floor(round(low / size, 9)) - 1
    edges = np.round(size * np.arange(first, math.floor(round(high / size, 9)) + 3), digits)
    group = first + np.searchsorted(edges, numbers, side="right") - 1
    columns = []
    step = 1
    while True:
        at = (group // step).tolist()
        wide = size * step
        labels = {g: f"[{_show(round(wide * g, digits))}, {_show(round(wide * (g + 1), digits))})" for g in set(at)}
        columns.append([labels[g] for g in at])
        if len(labels) <= fanout:
            return _stacked(leaves, columns, name)
        step *= fanout


def equal_frequency(
    values: Iterable[Value],
    counts: Sequence[int] | None = None,
    *,
    groups: int = 16,
    fanout: int = 2,
    name: str = "numbers",
) -> Hierarchy:
    """Intervals that hold about equally many rows, so that groups reach a size k together.

    Use it where numbers crowd (ages, incomes): equal widths would leave the tails alone. Values that many rows share
    are never torn, so groups can differ. Costs one sort.

    >>> equal_frequency([1, 2, 3, 50], [10, 10, 10, 10], groups=2).rows()
    [(1, '[1, 2]', '*'), (2, '[1, 2]', '*'), (3, '[3, 50]', '*'), (50, '[3, 50]', '*')]
    """
    leaves, numbers, weights = _numbers(values, name, counts)
    _check_steps(name, groups, fanout)
    order = np.argsort(numbers, kind="stable")
    # The share of rows below the middle of a value places it; coarser groups join finer ones, so levels nest.
    middle = (np.cumsum(weights[order]) - weights[order] / 2) / max(1, weights.sum())
    group = np.empty(len(numbers), dtype=np.int64)
    group[order] = np.minimum((middle * groups).astype(np.int64), groups - 1)
    columns = []
    while len(np.unique(group)) > 1:
        columns.append(_interval_labels(numbers, group))
        group = group // fanout
    return _stacked(leaves, columns, name)


def agglomerative(
    values: Iterable[Value],
    counts: Sequence[int] | None = None,
    *,
    groups: int = 16,
    fanout: int = 2,
    linkage: Literal["centroid", "ward"] = "centroid",
    name: str = "numbers",
) -> Hierarchy:
    """Intervals grown from the values: the two nearest neighbours join again and again (Campan et al. 2011).

    `centroid` joins the neighbours whose means lie nearest, `ward` those whose union adds least to the sum of squared
    errors, which gives groups of more even size. Follows the gaps in the data; costs n log n for n distinct values.

    >>> agglomerative([1, 2, 3, 50, 52], groups=2).rows()[3]
    (50, '[50, 52]', '*')
    """
    if linkage not in ("centroid", "ward"):
        raise BadInput(f"{name}: linkage must be centroid or ward, not {linkage!r}")
    leaves, numbers, rows = _numbers(values, name, counts)
    _check_steps(name, groups, fanout)
    weights = np.maximum(rows, 1).astype(np.float64)
    order = np.argsort(numbers, kind="stable")
    wanted = []
    size = groups
    while size > 1:
        wanted.append(size)
        size = max(1, math.ceil(size / fanout)) if size > fanout else 1
    cuts = _joined(numbers[order], weights[order], linkage, [w for w in wanted if w < len(numbers)])
    columns = []
    for at in cuts:
        group = np.empty(len(numbers), dtype=np.int64)
        group[order] = at
        columns.append(_interval_labels(numbers, group))
    return _stacked(leaves, columns, name)


def numeric_candidates(
    values: Iterable[Value],
    counts: Sequence[int] | None = None,
    *,
    groups: Sequence[int] = (32, 16, 8, 4),
    fanouts: Sequence[int] = (2, 3, 4),
    name: str = "numbers",
) -> list[Hierarchy]:
    """Candidates of a numeric column from all three constructions, different in structure.

    >>> len(numeric_candidates(range(17, 91), groups=(16, 8), fanouts=(2, 4)))
    12
    """
    known = list(values)
    made: dict[Any, Hierarchy] = {}
    for size in groups:
        for fanout in fanouts:
            for how, hierarchy in (
                ("equal width", equal_width(known, groups=size, fanout=fanout, name=name)),
                ("equal frequency", equal_frequency(known, counts, groups=size, fanout=fanout, name=name)),
                ("agglomerative", agglomerative(known, counts, groups=size, fanout=fanout, name=name)),
                (
                    "agglomerative (Ward)",
                    agglomerative(known, counts, groups=size, fanout=fanout, linkage="ward", name=name),
                ),
            ):
                made.setdefault(signature(hierarchy), hierarchy.with_info(made=f"{how}, {size} groups, by {fanout}"))
    return list(made.values())


def _joined(numbers: Floats, weights: Floats, linkage: str, wanted: Sequence[int]) -> list[NDArray[np.int64]]:
    """Join neighbours until few enough groups are left; the group of each number at each wanted size, finest first."""
    n = len(numbers)
    mean, weight, last = numbers.tolist(), weights.tolist(), list(range(n))
    before, after, age = [i - 1 for i in range(n)], [i + 1 for i in range(n)], [0] * n
    alive = [True] * n

    def cost(a: int, b: int) -> float:
        gap = mean[b] - mean[a]
        return float(gap if linkage == "centroid" else gap * gap * weight[a] * weight[b] / (weight[a] + weight[b]))

    heap = [(cost(i, i + 1), i, i + 1, 0, 0) for i in range(n - 1)]
    heapq.heapify(heap)
    left, found, targets = n, [], sorted(wanted, reverse=True)
    for target in targets:
        while left > target:
            _, a, b, age_a, age_b = heapq.heappop(heap)
            if not (alive[a] and alive[b] and age[a] == age_a and age[b] == age_b):
                continue
            total = weight[a] + weight[b]
            mean[a], weight[a], last[a] = (mean[a] * weight[a] + mean[b] * weight[b]) / total, total, last[b]
            alive[b], after[a] = False, after[b]
            age[a] += 1
            left -= 1
            if after[b] < n:
                before[after[b]] = a
                heapq.heappush(heap, (cost(a, after[a]), a, after[a], age[a], age[after[a]]))
            if before[a] >= 0:
                heapq.heappush(heap, (cost(before[a], a), before[a], a, age[before[a]], age[a]))
        starts = np.flatnonzero(np.array(alive))
        found.append(np.searchsorted(starts, np.arange(n), side="right") - 1)
    return found


def _numbers(
    values: Iterable[Value], name: str, counts: Sequence[int] | None = None
) -> tuple[list[Value], Floats, NDArray[np.int64]]:
    """Distinct values, a missing one last; the numbers among them; and how many rows hold each number."""
    given = [v.item() if isinstance(v, np.generic) else v for v in values]
    rows = np.ones(len(given), dtype=np.int64) if counts is None else np.asarray(counts, dtype=np.int64)
    if rows.shape != (len(given),) or (rows < 0).any():
        raise BadInput(f"{name}: {len(given):,} values need as many counts, none below zero")
    weight: dict[Value, int] = {}
    for value, count in zip(given, rows.tolist(), strict=True):
        weight[value] = weight.get(value, 0) + count
    present = [v for v in weight if v is not None]
    wrong = sum(1 for v in present if isinstance(v, bool) or not isinstance(v, int | float) or not math.isfinite(v))
    if wrong:
        raise BadInput(
            f"{name}: {wrong:,} of {len(weight):,} values are no finite numbers; convert the column, or build a "
            "hierarchy of another kind (missing values are written as None)"
        )
    if not present:
        raise BadInput(f"{name}: the column has no numbers to build a hierarchy from")
    leaves = present + [v for v in weight if v is None]
    return leaves, np.array(present, dtype=np.float64), np.array([weight[v] for v in present], dtype=np.int64)


def _check_steps(name: str, groups: int, fanout: int) -> None:
    if groups < 1 or fanout < 2:
        raise BadInput(f"{name}: a hierarchy needs at least 1 group and a fanout of at least 2")


def _interval_labels(numbers: Floats, group: NDArray[np.int64]) -> list[str]:
    lowest: dict[int, float] = {}
    highest: dict[int, float] = {}
    for g, x in zip(group.tolist(), numbers.tolist(), strict=True):
        lowest[g] = min(lowest.get(g, x), x)
        highest[g] = max(highest.get(g, x), x)
    label = {
        g: _show(low) if low == highest[g] else f"[{_show(low)}, {_show(highest[g])}]" for g, low in lowest.items()
    }
    return [label[g] for g in group.tolist()]


def _stacked(leaves: Sequence[Value], columns: Sequence[Sequence[str]], name: str) -> Hierarchy:
    """Levels above the leaves, those that join nothing left out, and one root above all."""
    missing = len(leaves) - (len(columns[0]) if columns else sum(1 for v in leaves if v is not None))
    kept = [[*column, *[MISSING] * missing] for column in columns if len(set(column)) < len(column)]
    kept = [a for a, b in pairwise([*kept, []]) if a != b]
    rows = list(zip(leaves, *kept, [SUPPRESSED] * len(leaves), strict=True))
    return Hierarchy.of_rows(rows, name=name, kind="numeric")


def _nice(width: float) -> float:
    """The least of 1, 2, 5 times a power of ten that is not below the width."""
    if width <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(width))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= width * (1 - 1e-9))


def _show(number: float) -> str:
    return f"{number:.12g}"


def _build(column: Values) -> Hierarchy:
    """Intervals of about equally many rows; cells that are text keep their spelling as leaves."""
    name, rows = column.name, column.rows
    numbers: dict[Value, float] = {}
    for value in rows:
        try:
            numbers[value] = float(str(value)) if not isinstance(value, int | float) else value
        except ValueError:
            raise BadInput(f"column {name!r} is numeric, but holds a value that is no number") from None
    weight: dict[float, int] = {}
    for value, number in numbers.items():
        weight[number] = weight.get(number, 0) + rows[value]
    whole = {n: int(n) if float(n).is_integer() else n for n in weight}
    built = equal_frequency([whole[n] for n in weight], list(weight.values()), name=name)
    above = {row[0]: row[1:] for row in built.rows()}
    return Hierarchy.of_rows([(value, *above[whole[n]]) for value, n in numbers.items()], name=name, kind="numeric")


def _places(values: Sequence[Value], order: Sequence[Value] | None) -> list[float | None]:
    return [_number(value) for value in values]


def _number(value: Value) -> float | None:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


KINDS.add(
    "numeric",
    Kind(
        "numeric",
        "numbers",
        "age, income",
        build=_build,
        candidates=lambda values: numeric_candidates(values.rows, list(values.rows.values()), name=values.name),
        places=_places,
        value="number",
        numbers=True,
    ),
)
