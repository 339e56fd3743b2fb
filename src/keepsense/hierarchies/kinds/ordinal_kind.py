"""Ordered values, in a stated order or that of a known scale: hierarchies that join neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from keepsense.counts import Value
from keepsense.errors import BadInput
from keepsense.hierarchies.column_kinds import KINDS, Kind, Rule, Values
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.intervals import joined
from keepsense.hierarchies.ordinal_scales import is_beside, order_of
from keepsense.recoding import SUPPRESSED

_SMALL = 3
"""Values of a part that are joined all at once."""


def ordered(
    values: Sequence[Value],
    *,
    fanout: int = 2,
    groups: Sequence[Mapping[str, Sequence[Value]]] | None = None,
    parts: Sequence[int] = (),
    beside: Sequence[Value] = (),
    name: str = "ordered",
) -> Hierarchy:
    """Values in a stated order, neighbours joined: by `fanout` at each level, or by named groups level by level.

    Each level of `groups` maps a label to labels of the level below, which must be neighbours and all be named. `parts`
    numbers the natural parts of the order (quarters of a year): neighbours of one part are joined before parts are.
    Values `beside` the order, such as `unknown`, stay by themselves up to the top. Joined intervals that are written as
    text are spelled as one.

    >>> ordered(["low", "medium", "high", "top"]).rows()[0]
    ('low', 'low to medium', '*')
    >>> ordered(["0-9", "10-19", "20-29", "30+"], beside=["?"]).rows()[::3]
    [('0-9', '0 to 19', '*'), ('30+', '20 or more', '*')]
    >>> ordered(["low", "medium", "high"], groups=[{"not high": ["low", "medium"], "high": ["high"]}]).rows()[1]
    ('medium', 'not high', '*')
    """
    leaves = list(values)
    if not leaves or len({*leaves, *beside}) != len(leaves) + len(beside):
        raise BadInput(f"{name}: the order must name each value once")
    columns: list[list[Value]] = [leaves]
    if groups is not None:
        for level, named in enumerate(groups, 1):
            columns.append(_grouped(columns[-1], named, level, name))
    else:
        if fanout < 2:
            raise BadInput(f"{name}: a fanout must be at least 2")
        columns += [_labels(leaves, group) for group in _joined_groups(len(leaves), fanout, parts)]
    rows = [(*row, SUPPRESSED) for row in zip(*columns, strict=True)]
    rows += [(value, *[str(value)] * (len(columns) - 1), SUPPRESSED) for value in beside]
    return Hierarchy.of_rows(rows, name=name, kind="ordinal")


def _joined_groups(size: int, fanout: int, parts: Sequence[int]) -> list[list[int]]:
    """Groups of neighbours level by level, as a number for each value: within parts first, then of whole parts."""
    levels: list[list[int]] = []
    now = list(range(size))
    inside = list(parts) if parts and len(set(parts)) > 1 else []
    while inside:
        # the values of each part, in order; small parts wait for the level at which whole parts are
        members = {part: sorted({now[i] for i in range(size) if inside[i] == part}) for part in dict.fromkeys(inside)}
        if all(len(groups) <= _SMALL for groups in members.values()):
            place = {part: at for at, part in enumerate(members)}
            whole = [place[part] for part in inside]
            levels += [whole] if whole != now else []
            now = whole
            break
        fewer = {
            (part, group): (part, at // fanout if len(groups) > _SMALL else at)
            for part, groups in members.items()
            for at, group in enumerate(groups)
        }
        now = _numbered([fewer[inside[i], now[i]] for i in range(size)])
        levels.append(now)
    while max(now) >= fanout:
        now = [group // fanout for group in now]
        levels.append(now)
    return levels


def _numbered(groups: Sequence[tuple[int, int]]) -> list[int]:
    place = {group: at for at, group in enumerate(dict.fromkeys(groups))}
    return [place[group] for group in groups]


def _labels(leaves: Sequence[Value], groups: Sequence[int]) -> list[Value]:
    """What each group is called: its only value, the interval it makes, or from its first to its last."""
    ends = {group: (groups.index(group), len(groups) - 1 - groups[::-1].index(group)) for group in set(groups)}
    names: dict[int, Value] = {}
    for group, (first, last) in ends.items():
        low, high = leaves[first], leaves[last]
        names[group] = low if first == last else joined(low, high) or f"{low} to {high}"
    return [names[group] for group in groups]


def _grouped(below: Sequence[Value], named: Mapping[str, Sequence[Value]], level: int, name: str) -> list[Value]:
    group = {label: new for new, labels in named.items() for label in labels}
    if sum(map(len, named.values())) != len(group) or set(group) != set(below):
        raise BadInput(f"{name}: the groups of level {level} must hold each label of the level below once")
    column: list[Value] = [group[label] for label in below]
    changes = sum(1 for a, b in pairwise(column) if a != b)
    if changes + 1 != len(set(column)):
        raise BadInput(f"{name}: a group of level {level} joins values that are not neighbours in the order")
    return column


def _stated(values: Values) -> tuple[Sequence[Value], Sequence[int], Sequence[Value]]:
    """The order of a column, as stated or that of a known scale, its natural parts, and what stands beside it."""
    if values.order is None:
        known = order_of(values.rows, values.name)
        if known is None:
            raise BadInput(
                f"column {values.name!r} is ordinal and needs its order; list its values in `order`, lowest first"
            )
        return known.values, known.parts, known.beside
    known = order_of(values.order, values.name)
    parts = known.parts if known is not None and list(known.values) == list(values.order) else ()
    strange = [value for value in values.rows if value not in set(values.order)]
    without = sum(not is_beside(value) for value in strange)
    if without:
        raise BadInput(
            f"{values.name}: {without:,} values of the column are missing from its order; add them to `order`, in the "
            "project file or in `orders`"
        )
    return values.order, parts, strange


def _build(values: Values) -> Hierarchy:
    order, parts, beside = _stated(values)
    return ordered(order, parts=parts, beside=beside, name=values.name)


def _candidates(values: Values) -> list[Hierarchy]:
    order, parts, beside = _stated(values)
    made = [ordered(order, fanout=fanout, beside=beside, name=values.name) for fanout in (2, 3, 4)]
    return [ordered(order, parts=parts, beside=beside, name=values.name), *made] if parts else made


def _places(values: Sequence[Value], order: Sequence[Value] | None) -> list[float | None]:
    """Ranks in the order; values that are not in it have none."""
    rank = {value: float(i) for i, value in enumerate(values if order is None else order)}
    return [rank.get(value) for value in values]


def _between(released: Mapping[Value, Value], order: Sequence[Value] | None) -> Rule | None:
    """A value between two that were released alike is released so, too: labels stand for neighbours."""
    if order is None:
        return None
    rank = {value: i for i, value in enumerate(order)}
    ends: dict[Value, list[int]] = {}
    for value, label in released.items():
        if value in rank:
            ends.setdefault(label, []).append(rank[value])

    def rule(value: Value) -> Value | None:
        at = rank.get(value)
        spans = ends.items() if at is not None else ()
        return next((label for label, ranks in spans if min(ranks) < at < max(ranks)), None)  # type: ignore[operator]

    return rule


KINDS.add(
    "ordinal",
    Kind(
        "ordinal",
        "words in an order",
        "grades, sizes, levels of education",
        build=_build,
        candidates=_candidates,
        places=_places,
        rule=_between,
        needs_order=True,
    ),
    outdated=("ordered",),
)
