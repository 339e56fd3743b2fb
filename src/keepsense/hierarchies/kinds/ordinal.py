"""Values in a stated order: neighbours are joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from keepsense.counts import Value
from keepsense.errors import BadInput
from keepsense.hierarchies.core import Hierarchy
from keepsense.hierarchies.kinds import KINDS, Kind, Values
from keepsense.recoding import SUPPRESSED


def ordered(
    values: Sequence[Value],
    *,
    fanout: int = 2,
    groups: Sequence[Mapping[str, Sequence[Value]]] | None = None,
    name: str = "ordered",
) -> Hierarchy:
    """Values in a stated order, neighbours joined: by `fanout` at each level, or by named groups level by level.

    Each level of `groups` maps a label to labels of the level below, which must be neighbours and all be named.

    >>> ordered(["low", "medium", "high", "top"]).rows()[0]
    ('low', 'low - medium', '*')
    >>> ordered(["low", "medium", "high"], groups=[{"not high": ["low", "medium"], "high": ["high"]}]).rows()[1]
    ('medium', 'not high', '*')
    """
    leaves = list(values)
    if not leaves or len(set(leaves)) != len(leaves):
        raise BadInput(f"{name}: the order must name each value once")
    columns: list[list[Value]] = [leaves]
    if groups is not None:
        for level, named in enumerate(groups, 1):
            columns.append(_grouped(columns[-1], named, level, name))
    else:
        if fanout < 2:
            raise BadInput(f"{name}: a fanout must be at least 2")
        step = fanout
        while step < len(leaves):
            ends = [(i - i % step, min(i - i % step + step, len(leaves)) - 1) for i in range(len(leaves))]
            columns.append([leaves[a] if a == b else f"{leaves[a]} - {leaves[b]}" for a, b in ends])
            step *= fanout
    columns.append([SUPPRESSED] * len(leaves))
    return Hierarchy.of_rows(list(zip(*columns, strict=True)), name=name, kind="ordinal")


def _grouped(below: Sequence[Value], named: Mapping[str, Sequence[Value]], level: int, name: str) -> list[Value]:
    group = {label: new for new, labels in named.items() for label in labels}
    if sum(map(len, named.values())) != len(group) or set(group) != set(below):
        raise BadInput(f"{name}: the groups of level {level} must hold each label of the level below once")
    column: list[Value] = [group[label] for label in below]
    changes = sum(1 for a, b in pairwise(column) if a != b)
    if changes + 1 != len(set(column)):
        raise BadInput(f"{name}: a group of level {level} joins values that are not neighbours in the order")
    return column


def _build(values: Values) -> Hierarchy:
    if values.order is None:
        raise BadInput(f"column {values.name!r} is ordinal; list its values in `order`, lowest first")
    return ordered(values.order, name=values.name)


def _candidates(values: Values) -> list[Hierarchy]:
    if values.order is None:
        raise BadInput(f"{values.name}: an ordinal column needs its order; give it in `orders`")
    strange = len(set(values.rows) - set(values.order))
    if strange:
        raise BadInput(f"{values.name}: {strange:,} values of the column are missing from its order")
    return [ordered(values.order, fanout=fanout, name=values.name) for fanout in (2, 3, 4)]


def _places(values: Sequence[Value], order: Sequence[Value] | None) -> list[float | None]:
    """Ranks in the order; values that are not in it have none."""
    rank = {value: float(i) for i, value in enumerate(values if order is None else order)}
    return [rank.get(value) for value in values]


KINDS.add(
    "ordinal",
    Kind(
        "ordinal",
        "words in an order",
        "grades, sizes, levels of education",
        build=_build,
        candidates=_candidates,
        places=_places,
        needs_order=True,
    ),
    outdated=("ordered",),
)
