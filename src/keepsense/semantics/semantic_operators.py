"""Mean, variance and order of words.

Rodríguez-García 2017: the mean is the concept least distant from all rows (Sec. 4.4), the variance the average squared
distance to it (Sec. 4.5), the order the closeness to a reference (Sec. 4.7 and 5). The correlation of two columns of
words (sdCor, Sec. 4.6) is in `keepsense.semantics.distance_correlation`, the RMSE of a release (Sec. 7.3) in
`keepsense.utility.semantic_loss`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints
from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.semantics.attribute import Attribute, Nominal

# Mean (Rodríguez-García 2017, Sec. 4.4)

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
    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
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


# Variance (Sec. 4.5)


def semantic_variance(
    column: Nominal, mean: Mean | None = None, *, over: Literal["attribute", "domain"] = "attribute"
) -> float:
    """Average of the squared distances to the semantic mean (Eq. 4.19); the mean is found first where not given.

    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet"), ("pug", "dog"), ("lab", "dog")])
    >>> column = Nominal.of(Counts.of({"pet": ["pug", "lab", "lab", "cat"]}), "pet", distance("wu-palmer", pets))
    >>> round(semantic_variance(column), 4)
    0.1178
    """
    centre = (semantic_mean(column, over=over) if mean is None else mean).concept
    if column.distance is None:
        away: Floats = column.row(centre)
    else:
        distance, concepts = column.bound()
        away = distance.against_all(np.array([centre]))[0][concepts]
    return float(column.weights @ away**2 / column.weights.sum())


# Order: closeness to a reference, and what lies farthest (Sec. 4.7, 5)


def closeness_ranks(column: Attribute, reference: int) -> NDArray[np.int64]:
    """Rank of each value by closeness to a reference value, from 0; equally close values share a rank (Eq. 4.26).

    >>> from keepsense.semantics.attribute import Ordered
    >>> closeness_ranks(Ordered.of(Counts.of({"age": [40, 30, 50, 20]}), "age"), 0).tolist()
    [0, 1, 1, 2]
    """
    row = column.row(reference)
    order = column.order(reference)
    steps = np.diff(row[order], prepend=row[order[0]]) > _TIE * max(1.0, float(row.max()))
    ranks = np.empty(len(row), dtype=np.int64)
    ranks[order] = np.cumsum(steps)
    return ranks


def most_distant_value(column: Attribute) -> tuple[int, ...]:
    """Values with the greatest sum of distances to all rows (Eq. 5.1); more than one where they tie.

    >>> from keepsense.semantics.attribute import Ordered
    >>> most_distant_value(Ordered.of(Counts.of({"age": [40, 41, 90]}), "age"))
    (2,)
    """
    return _greatest(np.where(column.weights > 0, column.totals(), -1.0))


def most_distant_from(column: Attribute, reference: int) -> tuple[int, ...]:
    """Values farthest from a reference value (Eq. 5.3); more than one where they tie.

    >>> from keepsense.semantics.attribute import Ordered
    >>> most_distant_from(Ordered.of(Counts.of({"age": [40, 30, 50, 20, 60]}), "age"), 0)
    (3, 4)
    """
    return _greatest(np.where(column.weights > 0, column.row(reference), -1.0))


def tuple_distances(counts: Counts, columns: Sequence[Attribute], reference: int) -> Floats:
    """Distance of one distinct tuple to all: the average over the attributes (Eq. 5.5).

    >>> from keepsense.semantics.attribute import Ordered
    >>> counts = Counts.of({"age": [20, 30, 40], "stay": [1, 1, 3]})
    >>> tuple_distances(counts, [Ordered.of(counts, "age"), Ordered.of(counts, "stay")], 0).tolist()
    [0.0, 0.25, 1.0]
    """
    total = np.zeros(len(counts))
    for column in columns:
        codes = counts.column(column.name)
        total += column.row(int(codes[reference]))[codes]
    return total / len(columns)


def most_distant_tuple(counts: Counts, columns: Sequence[Attribute], reference: int | None = None) -> tuple[int, ...]:
    """Distinct tuples farthest from all rows (Eq. 5.6) or from one tuple (Eq. 5.8); more than one where they tie.

    The sum over all rows splits into the attributes' own sums, so it costs no more than they do.

    >>> from keepsense.semantics.attribute import Ordered
    >>> counts = Counts.of({"age": [20, 30, 40], "stay": [1, 1, 3]})
    >>> columns = [Ordered.of(counts, "age"), Ordered.of(counts, "stay")]
    >>> most_distant_tuple(counts, columns), most_distant_tuple(counts, columns, 2)
    ((2,), (0,))
    """
    if reference is not None:
        return _greatest(tuple_distances(counts, columns, reference))
    return _greatest(tuple_totals(counts, columns) / len(columns))


def tuple_totals(counts: Counts, columns: Sequence[Attribute]) -> Floats:
    """Sum of each distinct tuple's distances to all rows, times the number of attributes.

    >>> from keepsense.semantics.attribute import Ordered
    >>> counts = Counts.of({"age": [20, 40, 40]})
    >>> tuple_totals(counts, [Ordered.of(counts, "age")]).tolist()
    [2.0, 1.0]
    """
    total = np.zeros(len(counts))
    for column in columns:
        total += column.totals()[counts.column(column.name)]
    return total


def _greatest(scores: Floats) -> tuple[int, ...]:
    top = float(scores.max())
    return tuple(int(i) for i in np.flatnonzero(scores >= top - _TIE * max(1.0, top)))
