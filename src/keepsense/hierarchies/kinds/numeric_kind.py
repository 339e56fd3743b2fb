"""Numbers: hierarchies of nested ranges: round bands, equal width, equal frequency, and agglomerative.

All take the distinct values of a column and how many rows hold each. Level 1 has about `groups` ranges, and `*` stands
at the top; of the last three each further level joins `fanout` neighbours. Ends are round numbers and the outermost
ranges are open, so that no end is a person's value (see `keepsense.hierarchies.round_bands`). A missing value (None)
keeps its own label below the top.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Value
from keepsense.errors import BadInput
from keepsense.hierarchies.column_kinds import KINDS, MISSING, Kind, Rule, Values
from keepsense.hierarchies.hierarchy import Hierarchy, signature
from keepsense.hierarchies.intervals import number_span, parse_interval
from keepsense.hierarchies.round_bands import Bands, band_rule, multiples, round_bands, round_between, tail, usual_ends
from keepsense.recoding import SUPPRESSED


def banded(
    values: Iterable[Value], counts: Sequence[int] | None = None, *, groups: int = 16, name: str = "numbers"
) -> Hierarchy:
    """Bands that people use: 5, 10, 20 years, round money; finer where rows crowd, open at both ends.

    What numeric columns get where nobody says otherwise. Costs one sort.

    >>> banded([20, 24, 31, 38, 45, 52, 59]).rows()[2]
    (31, '30 to 34', '30 to 39', 'under 40', '*')
    """
    leaves, numbers, rows = _numbers(values, name, counts)
    _check_steps(name, groups, 2)
    return _stacked(leaves, [_labels(numbers, bands) for bands in round_bands(numbers, rows, groups=groups)], name)


def equal_width(
    values: Iterable[Value],
    *,
    groups: int = 16,
    fanout: int = 2,
    width: float | None = None,
    name: str = "numbers",
) -> Hierarchy:
    """Ranges of one width that start at multiples of it; the width is 1, 2 or 5 times a power of ten unless given.

    The plainest choice, and the easiest to explain. One pass over the values.

    >>> equal_width([17, 23, 28, 62, 90], groups=8).rows()[1]
    (23, '20 to 29', '20 to 39', 'under 40', 'under 80', '*')
    """
    leaves, numbers, _ = _numbers(values, name)
    _check_steps(name, groups, fanout)
    ordered = np.sort(numbers)
    few = tail(len(ordered))
    low, high = float(ordered[few - 1]), float(ordered[-few])
    if width is None:  # the width is public where it is given, and so are its multiples
        low, high = usual_ends(ordered, np.arange(1, len(ordered) + 1))
    size = _nice((high - low) / groups) if width is None else float(width)
    if not (math.isfinite(size) and size > 0) or (high - low) / size > 1e7:
        raise BadInput(f"{name}: the width of a range must be a positive number that gives at most 10 million of them")
    whole = _whole(numbers) and size.is_integer()
    columns = []
    step = Decimal(repr(size))
    while edges := multiples(step, low, high):
        columns.append(_labels(numbers, Bands(tuple(edges), whole)))
        if len(edges) == 1:
            break
        step *= fanout
    return _stacked(leaves, columns, name)


def equal_frequency(
    values: Iterable[Value],
    counts: Sequence[int] | None = None,
    *,
    groups: int = 16,
    fanout: int = 2,
    name: str = "numbers",
) -> Hierarchy:
    """Ranges that hold about equally many rows, so that groups reach a size k together.

    Use it where numbers crowd (ages, incomes) and widths need not be alike. Values that many rows share are never torn,
    so groups can differ; a range ends at the roundest number between two groups. Costs one sort.

    >>> equal_frequency([1, 2, 3, 50], [10, 10, 10, 10], groups=2).rows()
    [(1, 'under 3', '*'), (2, 'under 3', '*'), (3, '3 or more', '*'), (50, '3 or more', '*')]
    """
    leaves, numbers, rows = _numbers(values, name, counts)
    _check_steps(name, groups, fanout)
    middle, weights = _without_tails(numbers, rows)
    # The share of rows below the middle of a value places it; coarser groups join finer ones, so levels nest.
    below = (np.cumsum(weights) - weights / 2) / max(1, weights.sum())
    group = np.minimum((below * groups).astype(np.int64), groups - 1)
    columns = []
    while len(np.unique(group)) > 1:
        columns.append(_parted_labels(numbers, middle, group))
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
    """Ranges grown from the values: the two nearest neighbours join again and again (Campan et al. 2011).

    `centroid` joins the neighbours whose means lie nearest, `ward` those whose union adds least to the sum of squared
    errors, which gives groups of more even size. Follows the gaps in the data; costs n log n for n distinct values.

    >>> agglomerative([1, 2, 3, 50, 52], groups=2).rows()[3]
    (50, '40 or more', '*')
    """
    if linkage not in ("centroid", "ward"):
        raise BadInput(f"{name}: linkage must be centroid or ward, not {linkage!r}")
    leaves, numbers, rows = _numbers(values, name, counts)
    _check_steps(name, groups, fanout)
    middle, weights = _without_tails(numbers, np.maximum(rows, 1))
    wanted = []
    size = groups
    while size > 1:
        wanted.append(size)
        size = max(1, math.ceil(size / fanout)) if size > fanout else 1
    cuts = _joined(middle, weights.astype(np.float64), linkage, [w for w in wanted if w < len(middle)])
    return _stacked(leaves, [_parted_labels(numbers, middle, group) for group in cuts], name)


def numeric_candidates(
    values: Iterable[Value],
    counts: Sequence[int] | None = None,
    *,
    groups: Sequence[int] = (32, 16, 8, 4),
    fanouts: Sequence[int] = (2, 3, 4),
    name: str = "numbers",
) -> list[Hierarchy]:
    """Candidates of a numeric column from all constructions, different in structure.

    >>> numeric_candidates(range(17, 91), groups=(16, 8), fanouts=(2, 4))[0].info["made"]
    'round bands, 16 groups'
    """
    known = list(values)
    made: dict[Any, Hierarchy] = {}
    for size in groups:
        plain = banded(known, counts, groups=size, name=name)
        made.setdefault(signature(plain), plain.with_info(made=f"round bands, {size} groups"))
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


def _whole(numbers: Floats) -> bool:
    return bool((numbers == np.round(numbers)).all())


def _labels(numbers: Floats, bands: Bands) -> list[str]:
    places = bands.place(numbers).tolist()
    label = {at: bands.label(at, at) for at in set(places)}
    return [label[at] for at in places]


def _without_tails(numbers: Floats, rows: NDArray[np.int64]) -> tuple[Floats, NDArray[np.int64]]:
    """The distinct numbers in order and their rows, as if the few at either end held the number next to them.

    So groups part nowhere beyond it: how extreme somebody is has no say in where a range ends.
    """
    order = np.argsort(numbers, kind="stable")
    low, high = usual_ends(numbers[order], np.cumsum(rows[order]))
    middle, place = np.unique(np.clip(numbers, low, max(low, high)), return_inverse=True)
    weights = np.zeros(len(middle), dtype=np.int64)
    np.add.at(weights, place, rows)
    return middle, weights


def _parted_labels(numbers: Floats, middle: Floats, group: NDArray[np.int64]) -> list[str]:
    """Labels where the numbers of the middle are grouped, each from one round number between two groups to the next."""
    change = np.flatnonzero(np.diff(group))
    whole = _whole(numbers)
    pairs = zip(middle[change].tolist(), middle[change + 1].tolist(), strict=True)
    return _labels(numbers, Bands(tuple(round_between(a, b, whole=whole) for a, b in pairs), whole))


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


def _build(column: Values) -> Hierarchy:
    """Round bands; cells that are text keep their spelling as leaves."""
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
    built = banded([whole[n] for n in weight], list(weight.values()), name=name)
    above = {row[0]: row[1:] for row in built.rows()}
    return Hierarchy.of_rows([(value, *above[whole[n]]) for value, n in numbers.items()], name=name, kind="numeric")


def _places(values: Sequence[Value], order: Sequence[Value] | None) -> list[float | None]:
    return [_number(value) for value in values]


def _number(value: Value) -> float | None:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def _band_rule(released: Mapping[Value, Value]) -> Rule | None:
    find = band_rule(released.values())
    return None if find is None else lambda value: None if (number := _number(value)) is None else find(number)


def _covers(labels: Sequence[Value], values: Sequence[Value]) -> NDArray[np.bool_]:
    """Which band each number lies in; a number that stands for itself is its own band."""
    numbers = np.array([np.nan if (number := _number(value)) is None else number for value in values])
    ends = [parse_interval(label, inside=True) or (np.nan, np.nan) for label in labels]
    low, high = np.array(ends, dtype=np.float64).reshape(-1, 2).T
    inside: NDArray[np.bool_] = (low[:, None] <= numbers) & (numbers <= high[:, None])
    return inside


KINDS.add(
    "numeric",
    Kind(
        "numeric",
        "numbers",
        "age, income",
        build=_build,
        candidates=lambda values: numeric_candidates(values.rows, list(values.rows.values()), name=values.name),
        places=_places,
        span=number_span,
        rule=lambda released, order: _band_rule(released),
        covers=_covers,
        value="number",
        numbers=True,
    ),
)
