"""The semantic mean of a column: the concept least distant from all its rows (Rodríguez-García 2017, Sec. 4.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from keepsense.arrays import Floats, Ints
from keepsense.errors import BadInput
from keepsense.semantics.attribute import Nominal

_TIE = 1e-9


@dataclass(frozen=True, slots=True)
class Mean:
    """A semantic mean: the chosen concept, its label, every concept that is as good, and the sum of distances.

    >>> Mean(3, "dog", (3, 5), 1.5).is_unique
    False
    """

    concept: int
    label: str
    ties: tuple[int, ...]
    total: float

    @property
    def is_unique(self) -> bool:
        """Whether no other concept is as near to all rows."""
        return len(self.ties) == 1


def semantic_mean(column: Nominal, *, over: Literal["attribute", "domain"] = "attribute") -> Mean:
    """Concept with the least sum of distances to all rows (Eq. 4.18).

    Candidates are all concepts under the least common subsumer of the values (`over="attribute"`, τ(Xᵃ)) or the whole
    taxonomy of the distance (`over="domain"`, τ(D(Xᵃ)) of Sec. 6.2), whether they occur in the column or not. Where
    several are equally near, all are in `ties` and the one with the lowest code is taken. A column known only by a
    distance matrix has its own values as candidates, and codes are positions in its dictionary. One pass of all
    concepts against the distinct values: O(distinct values x concepts).

    >>> from keepsense.counts import Counts
    >>> from keepsense.semantics import distance
    >>> from keepsense.taxonomy import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet"), ("pug", "dog"), ("lab", "dog")])
    >>> column = Nominal.of(Counts.of({"pet": ["pug", "lab", "lab", "cat"]}), "pet", distance("wu-palmer", pets))
    >>> semantic_mean(column).label
    'lab'
    """
    if over not in ("attribute", "domain"):
        raise BadInput(f"column {column.name!r}: over must be 'attribute' or 'domain', not {over!r}")
    used = np.flatnonzero(column.weights)
    if not len(used):
        raise BadInput(f"column {column.name!r} has no rows; a mean needs at least one")
    if column.distance is None:
        totals = column.totals()
        chosen, ties = _least(totals, used.astype(np.int32))
        return Mean(chosen, str(column.values[chosen]), ties, float(totals[chosen]))
    distance, concepts = column.bound()
    taxonomy = distance.taxonomy
    if over == "attribute":
        candidates = taxonomy.descendants(taxonomy.lcs(*(int(c) for c in concepts[used])))
    else:
        candidates = np.arange(len(taxonomy), dtype=np.int32)
    totals = np.zeros(len(taxonomy))
    weights = column.weights[used].astype(np.float64)
    for where, block in distance.blocks(concepts[used]):
        totals += weights[where] @ block
    chosen, ties = _least(totals, candidates)
    return Mean(chosen, taxonomy.label(chosen), ties, float(totals[chosen]))


def _least(totals: Floats, candidates: Ints) -> tuple[int, tuple[int, ...]]:
    """First of the candidates with the least total, and all of them; equal up to rounding counts as equal."""
    among = totals[candidates]
    least = float(among.min())
    ties = candidates[among <= least + _TIE * max(1.0, least)]
    return int(ties[0]), tuple(int(c) for c in ties)
