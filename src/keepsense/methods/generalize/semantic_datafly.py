"""Semantic Datafly: raise the column whose next level loses least meaning (Ayala-Rivera et al. 2017, Sec. 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from keepsense.counts import Counts
from keepsense.errors import BadInput, did_you_mean
from keepsense.hierarchies import Hierarchy, score
from keepsense.methods.generalize._lattice.objective import LossTables
from keepsense.methods.generalize._lattice.requirement import requirement
from keepsense.methods.generalize.table import Anonymity, least_loss, promised, recode
from keepsense.privacy import Model
from keepsense.progress import Listener
from keepsense.recoding import Cuts
from keepsense.semantics import Distance
from keepsense.utility import level_losses


def semantic_tables(hierarchies: Mapping[str, Hierarchy], distances: Mapping[str, Distance]) -> LossTables:
    """What each leaf loses at each level: its distance to the ancestor there, from 0 to 1 (TransGSL, Eq. 1).

    Columns without a distance lose the share of leaves (for numbers, of the range) that the ancestor covers.

    >>> from keepsense.hierarchies import base_hierarchy
    >>> from keepsense.semantics import distance
    >>> from keepsense.taxonomy import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet")])
    >>> tree = base_hierarchy(["cat", "dog"], pets).named("pet")
    >>> [level.tolist() for level in semantic_tables({"pet": tree}, {"pet": distance("path", pets)}).tables["pet"]]
    [[0.0, 0.0], [0.5, 0.5]]
    """
    strange = [name for name in distances if name not in hierarchies]
    if strange:
        raise BadInput(
            f"a distance is given for column {strange[0]!r}, which has no hierarchy."
            f"{did_you_mean(strange[0], list(hierarchies))}"
        )
    tables = {}
    for name, hierarchy in hierarchies.items():
        measure = distances.get(name)
        if measure is None:
            tables[name] = list(level_losses("ncp", hierarchy).T)
        else:
            lost = score(hierarchy, measure).transitions
            tables[name] = [np.zeros(len(hierarchy.leaves)), *lost.T]
    return LossTables("semantic loss", tables, dict.fromkeys(tables, 1.0))


def semantic_datafly(
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy],
    k: int | None = None,
    *,
    distances: Mapping[str, Distance],
    models: Sequence[Model] = (),
    suppression: float | None = None,
    anonymity: Anonymity | None = None,
    listener: Listener | None = None,
) -> Cuts:
    """Datafly, but the column goes first whose values lose least meaning on the way to their next level.

    `distances` gives the semantic distance of each column of words, whose hierarchy must know its concepts. With
    `anonymity="at risk"` the meaning lost is set against the records that the step brings into safe classes. Otherwise
    as `datafly`. Use it when columns hold words and their meaning matters. Cost: Datafly's, and a distance matrix of
    leaves x ancestors a column.

    >>> from keepsense.hierarchies import base_hierarchy
    >>> from keepsense.semantics import distance
    >>> from keepsense.taxonomy import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet")])
    >>> trees = {"pet": base_hierarchy(["cat", "dog"], pets).named("pet")}
    >>> counts = Counts.of({"pet": ["cat", "dog", "dog"]})
    >>> semantic_datafly(counts, trees, k=2, distances={"pet": distance("path", pets)}, suppression=0).levels
    (1,)
    """
    asked = promised(models, k)
    few = None if suppression is not None else requirement(asked, 0.0, counts).k
    mine = {name: hierarchies[name] for name in counts.names if name in hierarchies}
    return recode(
        counts, hierarchies, asked, metric=least_loss(semantic_tables(mine, distances), anonymity=anonymity),
        suppression=suppression or 0.0, suppress_at_most=few, method="semantic Datafly", listener=listener,
    )  # fmt: skip
