"""The hierarchies of a column of words that a project chooses from: few, readable, with every informative level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy as np

from keepsense.counts import Value
from keepsense.hierarchies.core import Hierarchy, signature
from keepsense.hierarchies.words.adjust import reduce_outliers
from keepsense.hierarchies.words.base import base_hierarchy
from keepsense.hierarchies.words.concepts import SenseOptions, senses_of
from keepsense.hierarchies.words.groups import group_siblings, group_values
from keepsense.hierarchies.words.readable import MOST_LISTED, plain, spelled
from keepsense.semantics.base import Distance

_RARE = 0.025
"""Share of the rows below which branches are grouped under their parents."""


def shortlist(
    values: Sequence[Value],
    distance: Distance,
    counts: Sequence[int] | None = None,
    *,
    name: str = "column",
    least: int | None = None,
    **meaning: Unpack[SenseOptions],
) -> list[Hierarchy]:
    """Hierarchies of a column from its distinct values and their rows; the one to take unasked comes first.

    In turn: the tree of subsumers with up to three siblings listed between its levels (four right below the top, where
    nothing else could be said); with four everywhere; the tree alone; the first by the other rule for parents; its
    rare branches grouped, as the papers do; the values clustered by distance.
    Values without a concept that at least `least` rows hold are listed among each other, the others stay by themselves.
    None of them lacks a level that groups values. `info["made"]` tells how each was made.

    >>> from keepsense.semantics import distance
    >>> from keepsense.taxonomy.embedded import wordnet
    >>> made = shortlist(["nurse", "midwife", "surgeon", "dentist", "pilot", "clerk"], distance("wu-palmer", wordnet()))
    >>> made[0].rows()[1], made[0].info["made"]
    (('midwife', 'nurse (any kind)', 'health professional', '*'), 'subsumers, up to 3 siblings listed')
    """
    taxonomy = distance.taxonomy
    senses = senses_of(values, taxonomy, counts=counts, name=name, **meaning)
    rows = [1] * len(values) if counts is None else list(counts)
    deepest, shared = (
        base_hierarchy(senses.values, taxonomy, senses=senses, parents=rule, name=name)
        for rule in ("deepest", "shared")
    )
    made = []

    def add(base: Hierarchy, how: str, most: int = 0, clustered: bool = False) -> None:
        nodes = plain(base, taxonomy)
        if most:
            group_siblings(nodes, distance, rows, most=most, below_top=MOST_LISTED, least=least)
        if clustered:
            nodes = group_values(nodes, distance, rows)
        hierarchy = spelled(nodes, taxonomy, name=name, info={"made": how})
        if hierarchy.height >= 1:
            made.append(hierarchy.with_info(unknown=senses.unknown) if senses.unknown else hierarchy)

    add(deepest, "subsumers, up to 3 siblings listed", 3)
    add(deepest, "subsumers, up to 4 siblings listed", 4)
    add(deepest, "subsumers")
    add(shared, "subsumers by shared parents, up to 3 siblings listed", 3)
    few = max(2, round(_RARE * int(np.sum(rows))))
    rare = reduce_outliers(deepest, rows, few) if counts is not None else deepest
    if rare is not deepest:
        add(rare, f"subsumers, branches below {few:,} rows under their parents", 3)
    add(deepest, "values clustered by distance", clustered=True)
    distinct: dict[object, Hierarchy] = {}
    for hierarchy in made:
        distinct.setdefault(signature(hierarchy), hierarchy)
    return list(distinct.values())
