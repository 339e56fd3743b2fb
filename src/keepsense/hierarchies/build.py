"""The hierarchy of one column, built from what its values are: intervals, spans, masks, an order, or a taxonomy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from keepsense.counts import Value
from keepsense.errors import BadInput
from keepsense.hierarchies.core import Hierarchy
from keepsense.hierarchies.kinds import KINDS, Values

if TYPE_CHECKING:
    from keepsense.taxonomy.core import Taxonomy
    from keepsense.taxonomy.mapping import Mapping as Mapped

MISSING = "(missing)"
"""Label that missing cells keep up to the top."""


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
    hierarchy = KINDS[kind].build(Values(name, present, order, taxonomy, mapping, distance))
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
