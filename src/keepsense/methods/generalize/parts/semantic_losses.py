"""Loss tables of meaning: how far a released value is from the original, by a semantic distance."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from keepsense.hierarchies import Hierarchy
from keepsense.methods.generalize.parts.objective import LossTables
from keepsense.semantics import Distance
from keepsense.utility import leaf_distances, level_losses


def semantic_tables(
    hierarchies: Mapping[str, Hierarchy], distances: Mapping[str, Distance], *, squared: bool = False
) -> LossTables:
    """The semantic loss (SemILoss) as a search objective, or with `squared` the semantic SSE.

    Ayala-Rivera et al. 2017, Eq. 11 and 12: the distance between original and released concept, averaged over records
    and columns; squared, the sum over records of the squared mean over columns. `distances` gives each column of words
    its distance, normalised by its maximum; a column without one (a number, say) is measured by its share of leaves. A
    suppressed value stands at the top of the hierarchy where that has a concept, else at the root of the taxonomy. A
    value in no taxonomy loses nothing by itself and everything among others (`keepsense.utility.leaf_distances`).

    >>> from keepsense.semantics import distance
    >>> from keepsense.taxonomy import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet"), ("pet", "animal")])
    >>> kinds = {"pet": Hierarchy.of_rows([("cat", "pet"), ("dog", "pet")])}
    >>> [level.tolist() for level in semantic_tables(kinds, {"pet": distance("path", pets)}).tables["pet"]]
    [[0.0, 0.0], [0.25, 0.25]]
    """
    tables, suppressed = {}, {}
    for name, hierarchy in hierarchies.items():
        if name not in distances:
            tables[name] = list(level_losses("geniloss", hierarchy).T)
            suppressed[name] = np.ones(len(hierarchy.leaves))
            continue
        tables[name], suppressed[name] = leaf_distances(hierarchy, distances[name])
    return LossTables(
        "semantic SSE" if squared else "semantic loss", tables, suppressed, "squares" if squared else "mean"
    )
