"""Columns that are no quasi-identifiers, yet are released coarser: pay in bands, dates by their year."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from keepsense.counts import Value
from keepsense.errors import BadInput
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.intervals import spelled_range
from keepsense.project.project_file import Column
from keepsense.recoding import SUPPRESSED, Cut

_LARGEST_EXPONENT = 300
_BANDS = 10
"""About how many bands hold the middle nine tenths of the rows, where a width is proposed."""


def coarse_cut(
    name: str,
    column: Column,
    rows: Mapping[Value, int],
    hierarchy: Callable[[], Hierarchy],
    least: int,
) -> Cut:
    """What each value of a column becomes by its `width`, or by the `level` of its hierarchy.

    >>> cut = coarse_cut("pay", Column(role="sensitive", kind="numeric", width=500), {"310": 2, "1720.5": 3}, list, 2)
    >>> cut.outputs
    ('under 500', '1500 or more')
    """
    if column.width is not None:
        labels = bands(rows, column.width, least=least, name=name)
        return Cut(name, tuple(labels), tuple(labels.values()))
    tree, level = hierarchy(), column.level or 0
    if level >= tree.height:
        raise BadInput(
            f"column {name!r} is to be released at level {level} of its hierarchy, whose levels below the top are 1 "
            f"to {tree.height - 1}; choose one of them, or drop the column"
        )
    above = {row[0]: row[level] for row in tree.rows()}
    return Cut(name, tuple(rows), tuple(None if value is None else above[value] for value in rows), level)


def bands(rows: Mapping[Value, int], width: float, *, least: int = 1, name: str = "numbers") -> dict[Value, Value]:
    """The band of each number: bands start at multiples of the width, so that their ends tell nothing of the table.

    Neighbours are joined until each band holds at least `least` rows, so that nobody is alone in one, and the lowest
    and the highest are open. Where there are not enough rows for two bands, nothing is left to tell. Empty cells, also
    those that hold blanks, stay empty.

    >>> bands({12: 1, 23: 5, 27: 4, 38: 6, 95: 1}, 10, least=5)
    {12: 'under 30', 23: 'under 30', 27: 'under 30', 38: '30 or more', 95: '30 or more'}
    >>> bands({1.5: 3, 2.25: 3, 3.5: 3, None: 1}, 1, least=2)
    {1.5: 'under 2', 2.25: '2 to under 3', 3.5: '3 or more', None: None}
    """
    step = _exact(width)
    if step is None or step <= 0:
        raise BadInput(f"column {name!r}: the width of a band must be a positive number")
    place: dict[Value, int] = {}
    whole = step.denominator == 1
    held: dict[int, int] = {}
    for value, number in rows.items():
        if value is None or not str(value).strip():
            continue
        exact = _exact(value)
        if exact is None:
            raise BadInput(
                f"column {name!r} is to be released in bands of numbers, but holds a value that is no number; mend it, "
                "or release a level of its hierarchy instead"
            )
        whole = whole and exact.denominator == 1
        place[value] = math.floor(exact / step)
        held[place[value]] = held.get(place[value], 0) + number
    labels: dict[int, Value] = {}
    groups = _groups(held, least)
    for group in groups:
        lower = None if group is groups[0] else float(group[0] * step)
        upper = None if group is groups[-1] else float((group[-1] + 1) * step)
        alone = len(groups) == 1
        labels |= dict.fromkeys(group, SUPPRESSED if alone else spelled_range(lower, upper, whole=whole))
    return {value: labels[place[value]] if value in place else value for value in rows}


def fitting_width(rows: Mapping[Value, int], *, bands: int = _BANDS) -> float:
    """A round width (1, 2 or 5 times a power of ten) that divides the middle nine tenths of the rows into few bands.

    >>> fitting_width({pay: 1 for pay in range(1100, 9000, 7)})
    1000
    """
    numbers = sorted((float(exact), rows[value]) for value in rows if (exact := _exact(value)) is not None)
    if not numbers:
        raise BadInput("the column holds no numbers, so that no width of a band fits it")
    total, passed = sum(number for _, number in numbers), 0
    middle = []
    for number, weight in numbers:
        if passed + weight > total / 20 and passed < total * 19 / 20:
            middle.append(number)
        passed += weight
    spread = (middle[-1] - middle[0]) / bands
    if spread <= 0:
        return 1
    power = 10.0 ** math.floor(math.log10(spread))
    width = next(step * power for step in (1, 2, 5, 10) if step * power >= spread * (1 - 1e-9))
    return int(width) if width >= 1 else float(f"{width:.1g}")


def _groups(held: Mapping[int, int], least: int) -> list[list[int]]:
    """Bands in order, neighbours joined until each group holds enough rows."""
    groups: list[list[int]] = []
    rows = least
    for band in sorted(held):
        if rows >= least:
            groups.append([])
            rows = 0
        groups[-1].append(band)
        rows += held[band]
    if rows < least and len(groups) > 1:
        groups[-2:] = [groups[-2] + groups[-1]]
    return groups


def _exact(value: object) -> Fraction | None:
    """A number as it is spelled, so that 0.3 is three tenths; None for anything else."""
    if value is None or isinstance(value, bool):
        return None
    try:
        number = Decimal(str(value).strip())
    except InvalidOperation:
        return None
    if not number.is_finite() or abs(number.adjusted()) > _LARGEST_EXPONENT:
        return None
    return Fraction(number)
