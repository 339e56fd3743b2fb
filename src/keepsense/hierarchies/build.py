"""The hierarchy of one column, built from what its values are: intervals, spans, masks, an order, or a taxonomy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from keepsense.counts import Value
from keepsense.errors import BadInput
from keepsense.hierarchies.core import Hierarchy

if TYPE_CHECKING:
    from keepsense.taxonomy.core import Taxonomy
    from keepsense.taxonomy.mapping import Mapping as Mapped

MISSING = "(missing)"
"""Label that missing cells keep up to the top."""

_CONSIDERED = 6
"""Candidates of a hierarchy that are remembered, the chosen one first, for the report."""


def build_hierarchy(
    rows: Mapping[Value, int],
    kind: str = "nominal",
    *,
    name: str = "column",
    order: Sequence[str] | None = None,
    taxonomy: Taxonomy | None = None,
    mapping: Mapped | None = None,
    distance: str = "wu-palmer",
    missing: Literal["category", "wildcard"] = "category",
) -> Hierarchy:
    """Build the hierarchy of a column from its values, each with the number of rows that hold it.

    Words take their meaning from the taxonomy, by `mapping` where it says which concept each means, and the best of
    many candidates is chosen by the distance; without a taxonomy nothing but the top is above them. Ordinal columns
    need their `order`. A missing cell (None) stays by itself up to the top, or stays empty where it fits any value.

    >>> build_hierarchy({"20": 2, "21": 3, "24": 2, "26": 2}, "numeric").rows()[0]
    ('20', '[20, 21]', '*')
    >>> build_hierarchy({"low": 5, "high": 2, None: 1}, "ordinal", order=["low", "high"]).rows()[-1]
    (None, '*')
    """
    present = {value: count for value, count in rows.items() if value is not None}
    if not present:
        raise BadInput(f"column {name!r} is empty; drop it or give it another role")
    if kind == "numeric":
        hierarchy = _numbers(name, present)
    elif kind == "date":
        from keepsense.hierarchies.kinds import dates

        hierarchy = dates(present, name=name)
    elif kind == "masked":
        from keepsense.hierarchies.kinds import masked

        hierarchy = masked(present, name=name)
    elif kind == "ordinal":
        if order is None:
            raise BadInput(f"column {name!r} is ordinal; list its values in `order`, lowest first")
        from keepsense.hierarchies.kinds import ordered

        hierarchy = ordered(order, name=name)
    elif taxonomy is None:
        hierarchy = Hierarchy.of_rows([(value, "*") for value in present], name=name)
    else:
        hierarchy = _words(name, present, taxonomy, mapping, distance)
    return with_missing(hierarchy, rows, missing)


def with_missing(
    hierarchy: Hierarchy, values: Mapping[Value, int], missing: Literal["category", "wildcard"] = "category"
) -> Hierarchy:
    """The hierarchy with a leaf for missing cells where there are some and it has none; a wildcard stays empty.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*")], name="job")
    >>> with_missing(jobs, {"nurse": 2, None: 1}).rows()[1]
    (None, '(missing)', '*')
    """
    if None not in values or None in hierarchy.leaves:
        return hierarchy
    rows = hierarchy.rows()
    label = None if missing == "wildcard" else MISSING
    leaf = (None, *[label] * (hierarchy.height - 1), rows[0][-1]) if hierarchy.height else (None,)
    larger = Hierarchy.of_rows([*rows, leaf], name=hierarchy.name, kind=hierarchy.kind)
    if hierarchy.concepts is None:
        return larger
    known = [dict(zip(*level, strict=True)) for level in zip(hierarchy.labels, hierarchy.concepts, strict=True)]
    concepts = tuple(
        np.array([concept_of.get(label, -1) for label in labels], dtype=np.int32)
        for concept_of, labels in zip(known, larger.labels, strict=True)
    )
    return replace(larger, concepts=concepts, info=hierarchy.info)


def _words(
    name: str, rows: Mapping[Value, int], taxonomy: Taxonomy, mapping: Mapped | None, distance: str
) -> Hierarchy:
    """The best of many candidates that the taxonomy gives, by their semantic loss."""
    from keepsense.hierarchies.choice import by_gsl, choose
    from keepsense.hierarchies.construct import candidates
    from keepsense.semantics import distance as make_distance
    from keepsense.taxonomy.mapping.mapper import map_values

    judge = make_distance(distance, taxonomy)
    made = candidates(
        list(rows),
        taxonomy,
        list(rows.values()),
        senses=map_values(rows, taxonomy, column=name) if mapping is None else mapping,
        distance=judge,
        unknown="list",
        name=name,
        rng=0,  # the same candidates each time, so that a release can be opened again, and reused next month
    )
    # values in no taxonomy stay by themselves up to the top and are not judged
    choice = choose({name: made}, by_gsl(judge, unknown="list"))
    best, at, scores = choice.hierarchies[name], choice.positions[name], choice.scores[name]
    ranking = [at, *(i for i in np.argsort(scores, kind="stable").tolist() if i != at)][:_CONSIDERED]
    considered = tuple((str(made[i].info.get("made", "")), float(scores[i])) for i in ranking)
    return best.with_info(considered=considered, candidates=len(made))


def _numbers(name: str, rows: Mapping[Value, int]) -> Hierarchy:
    """Intervals of about equally many rows; cells that are text keep their spelling as leaves."""
    from keepsense.hierarchies.numeric import equal_frequency

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
