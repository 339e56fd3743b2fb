"""Columns with a meaning: distinct values, how many rows hold each, and their distances.

Cost depends on distinct values, never on rows. `Nominal` takes distances from a taxonomy or a given matrix, `Ordered`
from numbers or ranks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints
from keepsense.counts import Counts, Value
from keepsense.errors import BadInput, Infeasible, UnknownConcept
from keepsense.semantics.distance import Distance
from keepsense.semantics.distance import distance as make_distance
from keepsense.taxonomy.mapper import map_values
from keepsense.taxonomy.sense_disambiguation import ALONE, DEFAULT
from keepsense.taxonomy.taxonomy import Concept, Taxonomy

MATRIX_CELLS = 1 << 25
"""Cells (8 bytes each) above which distances of all pairs of values are not held at once."""
_MOST_CELLS = 1 << 28


class Attribute(Protocol):
    """What a column must offer: the distances of one of its values to all of them, and of all pairs where they fit.

    >>> column: Attribute = Ordered.of(Counts.of({"age": [30, 50, 40]}), "age")
    >>> column.totals().tolist()
    [1.5, 1.5, 1.0]
    """

    @property
    def name(self) -> str:
        """The column."""

    @property
    def values(self) -> tuple[Value, ...]:
        """Its dictionary of distinct values."""

    @property
    def weights(self) -> NDArray[np.int64]:
        """Rows that hold each value."""

    @property
    def matrix(self) -> Floats:
        """Distances of all pairs of values (Eq. 4.20 on distinct values)."""

    def row(self, value: int) -> Floats:
        """Distances of one value to all values."""

    def order(self, value: int) -> Ints:
        """Positions of all values, the nearest to one value first (the preorder of Eq. 4.26)."""

    def totals(self) -> Floats:
        """Sum of each value's distances to all rows (what Eq. 4.18 and 5.1 rank by)."""


@dataclass(frozen=True, eq=False)
class Nominal:
    """A column of words. Make one with `Nominal.of`, or with `nominal` straight from a taxonomy.

    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet"), ("pug", "dog")])
    >>> column = Nominal.of(Counts.of({"pet": ["cat", "pug", "pug"]}), "pet", distance("wu-palmer", pets))
    >>> column.weights.tolist(), column.row(0).round(4).tolist()
    ([1, 2], [0.0, 0.6])
    """

    name: str
    values: tuple[Value, ...]
    weights: NDArray[np.int64]
    distance: Distance | None = None
    concepts: Ints | None = None
    given: Floats | None = None
    own_taxonomy: bool = False
    """Whether the taxonomy was cut down to what the column holds, so that it tells what is in the table."""
    by_company: bool = False
    """Whether what a word means was decided by the other words, so that it tells about other records."""

    @classmethod
    def of(
        cls,
        counts: Counts,
        name: str,
        distances: Distance | NDArray[np.floating],
        *,
        concepts: Mapping[Value, Concept] | None = None,
    ) -> Nominal:
        """A column of counts; `distances` is a distance or a symmetric matrix between its distinct values, in their
        order. `concepts` says which concept a value stands for where that is not the concept of that id or name.
        """
        values, weights = counts.values_of(name), counts.marginal(name)
        if isinstance(distances, Distance):
            return cls(name, values, weights, distances, _concepts(name, values, distances.taxonomy, concepts))
        matrix = np.array(distances, dtype=np.float64)
        if matrix.shape != (len(values), len(values)):
            raise BadInput(
                f"column {name!r} has {len(values)} distinct values; a distance matrix of {matrix.shape} does not fit"
            )
        if not np.isfinite(matrix).all() or (matrix < 0).any() or matrix.diagonal().any():
            raise BadInput(f"column {name!r}: distances must be finite, not negative, and 0 between equal values")
        if not np.allclose(matrix, matrix.T, rtol=0, atol=1e-9 * max(1.0, float(matrix.max(initial=0)))):
            raise BadInput(f"column {name!r}: the distance matrix is not symmetric")
        return cls(name, values, weights, given=matrix)

    @cached_property
    def matrix(self) -> Floats:
        """Distances of all pairs of values; refused where they would not fit into memory."""
        if self.given is not None:
            return self.given
        if len(self.values) ** 2 > _MOST_CELLS:
            raise Infeasible(
                f"column {self.name!r}: distances of all pairs of {len(self.values):,} values need "
                f"{8e-9 * len(self.values) ** 2:.1f} GB",
                relax=("generalize the column first", "take a sample of the rows"),
            )
        distance, concepts = self._bound()
        return distance.matrix(concepts)

    def row(self, value: int) -> Floats:
        """Distances of one value to all values."""
        if self.given is not None or len(self.values) ** 2 <= MATRIX_CELLS:
            distances: Floats = self.matrix[value]
            return distances
        distance, concepts = self._bound()
        row: Floats = distance.against_all(concepts[value : value + 1])[0][concepts]
        return row

    def order(self, value: int) -> Ints:
        """Positions of all values, the nearest to one value first."""
        return np.argsort(self.row(value), kind="stable").astype(np.int32)

    def totals(self) -> Floats:
        """Sum of each value's distances to all rows."""
        if self.given is not None or len(self.values) ** 2 <= MATRIX_CELLS:
            summed: Floats = self.matrix @ self.weights
            return summed
        distance, concepts = self._bound()
        total = np.zeros(len(self.values))
        for where, block in distance.blocks(concepts, concepts):
            total[where] = block @ self.weights
        return total

    def reweighted(self, counts: Counts) -> Nominal:
        """The same column as it stands in other counts (a release, say): values are looked up again."""
        if self.distance is None:
            at = [self.values.index(v) for v in counts.values_of(self.name)]
            return Nominal.of(counts, self.name, self.matrix[np.ix_(at, at)])
        known: dict[Value, Concept] = dict(zip(self.values, (int(c) for c in self._bound()[1]), strict=True))
        values = counts.values_of(self.name)
        return Nominal.of(counts, self.name, self.distance, concepts={v: known[v] for v in values if v in known})

    def spell(self, concepts: Sequence[int] | Ints) -> tuple[Value, ...]:
        """How concepts are written in a release: as this column writes them, else by id or by a name that leads back.

        A column that holds ids gets ids, a column that holds names gets names.
        """
        distance, own = self._bound()
        taxonomy = distance.taxonomy
        known: dict[int, Value] = {}
        for value, concept in zip(self.values, own.tolist(), strict=True):
            known.setdefault(concept, value)
        by_id = all(taxonomy.ids[c] == v for c, v in zip(own.tolist(), self.values, strict=True))
        return tuple(known[c] if c in known else _spelled(taxonomy, c, by_id) for c in (int(c) for c in concepts))

    def bound(self) -> tuple[Distance, Ints]:
        """The distance and the concept of each value; refused where only a matrix is known."""
        return self._bound()

    def _bound(self) -> tuple[Distance, Ints]:
        if self.distance is None or self.concepts is None:
            raise BadInput(f"column {self.name!r}: this needs a taxonomy; a distance matrix alone is not enough")
        return self.distance, self.concepts


def nominal(
    counts: Counts,
    name: str,
    taxonomy: Taxonomy,
    distance: str = "wu-palmer",
    *,
    over: Literal["attribute", "domain"] = "attribute",
    concepts: Mapping[Value, Concept] | None = None,
    senses: str = DEFAULT,
    **options: object,
) -> Nominal:
    """A column of words measured in its own taxonomy, τ(Xᵃ) of Eq. 4.2, or in that of its whole domain (Sec. 6.2).

    `over="attribute"` restricts the taxonomy to what lies under the least common subsumer of the column's values, as
    rank swapping does; noise addition takes its replacements from the taxonomy as given, `over="domain"`. Values that
    `concepts` does not name are mapped as `keepsense.taxonomy.mapper.map_values` does, by the column's name and the
    other values (`senses`); under differential privacy give `senses="first"`, so that each word stands alone.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> life = from_edges([("cat", "pet"), ("dog", "pet"), ("pet", "animal"), ("oak", "plant"), ("plant", "life"),
    ...                    ("animal", "life")])
    >>> counts = Counts.of({"pet": ["cat", "dog"]})
    >>> nominal(counts, "pet", life).row(0)[1], round(nominal(counts, "pet", life, over="domain").row(0)[1], 4)
    (np.float64(0.5), np.float64(0.25))
    """
    if over not in ("attribute", "domain"):
        raise BadInput(f"column {name!r}: over must be 'attribute' or 'domain', not {over!r}")
    values, rows = counts.values_of(name), counts.marginal(name)
    meant = dict(concepts or {})
    open_values = {v: int(n) for v, n in zip(values, rows, strict=True) if v not in meant and isinstance(v, str)}
    mapping = map_values(open_values, taxonomy, senses=senses, column=name)
    undecided = sum(not word.chosen[0] for word in mapping.doubtful)
    if undecided:
        raise UnknownConcept(
            f"column {name!r}: {undecided} of its {len(values)} distinct values have several senses, none likely "
            f'enough to choose; say which is meant with concepts=..., or take the likeliest with senses="{ALONE}"'
        )
    meant |= mapping.concepts
    codes = _concepts(name, values, taxonomy, meant)
    ids: dict[Value, Concept] = dict(zip(values, (taxonomy.ids[c] for c in codes.tolist()), strict=True))
    part = taxonomy.taxonomy_of(codes[rows > 0].tolist()) if over == "attribute" else taxonomy
    column = Nominal.of(counts, name, make_distance(distance, part, **options), concepts=ids)
    decided = senses != ALONE and bool((mapping.candidates.sizes > 1).any())
    return replace(column, own_taxonomy=over == "attribute", by_company=decided)


@dataclass(frozen=True, eq=False)
class Ordered:
    """A column of numbers or of ordered categories: distance is the difference of positions, divided by `span`.

    >>> ages = Ordered.of(Counts.of({"age": [30, 50, 40]}), "age")
    >>> ages.row(0).tolist(), ages.order(2).tolist()
    ([0.0, 1.0, 0.5], [2, 0, 1])
    """

    name: str
    values: tuple[Value, ...]
    weights: NDArray[np.int64]
    positions: Floats
    span: float
    levels: tuple[Value, ...] | None = None

    @classmethod
    def of(
        cls,
        counts: Counts,
        name: str,
        *,
        levels: Sequence[Value] | None = None,
        span: float | None = None,
        gaps: bool = False,
    ) -> Ordered:
        """A column of counts: numbers, or with `levels` (lowest first) ordered categories.

        With `gaps` a missing value may be among them; its position is no number (NaN), and nothing is near it.
        """
        values = counts.values_of(name)
        absent = np.array([gaps and v is None for v in values], dtype=np.bool_)
        if levels is not None:
            place: dict[Value, float] = {v: float(i) for i, v in enumerate(levels)}
            if absent.any():
                place.setdefault(None, np.nan)
            unknown = sum(v not in place for v in values)
            if unknown or len(set(levels)) != len(levels):
                what = f"{unknown} value(s) not among the levels" if unknown else "a level given twice"
                raise BadInput(f"column {name!r}: {what}; list every level once, lowest first")
            positions = np.array([place[v] for v in values], dtype=np.float64)
            wide = float(len(levels) - 1)
        else:
            try:
                positions = np.array([np.nan if v is None else float(v) for v in values])  # type: ignore[arg-type]
            except (TypeError, ValueError):
                raise BadInput(
                    f"column {name!r} holds values that are not numbers; give levels=... for ordered categories, or a "
                    "distance for words"
                ) from None
            there = positions[~absent]
            if not np.isfinite(there).all():
                raise BadInput(f"column {name!r} has missing or infinite numbers; exclude or fill those rows first")
            wide = float(there.max() - there.min()) if len(there) else 0.0
        return cls(
            name,
            values,
            counts.marginal(name),
            positions,
            (wide if span is None else float(span)) or 1.0,
            None if levels is None else tuple(levels),
        )

    def reweighted(self, counts: Counts) -> Ordered:
        """The same column as it stands in other counts (a release, say), on the same scale."""
        return Ordered.of(counts, self.name, levels=self.levels, span=self.span)

    @cached_property
    def _sorted(self) -> Ints:
        return np.argsort(self.positions, kind="stable").astype(np.int32)

    @cached_property
    def matrix(self) -> Floats:
        """Distances of all pairs of values."""
        if len(self.values) ** 2 > _MOST_CELLS:
            raise Infeasible(
                f"column {self.name!r}: distances of all pairs of {len(self.values):,} values do not fit into memory",
                relax=("round the numbers first", "take a sample of the rows"),
            )
        x = self.positions
        table: Floats = np.abs(x[:, None] - x[None, :]) / self.span
        return table

    def row(self, value: int) -> Floats:
        """Distances of one value to all values."""
        distances: Floats = np.abs(self.positions - self.positions[value]) / self.span
        return distances

    def order(self, value: int) -> Ints:
        """Positions of all values, the nearest to one value first."""
        return np.argsort(self.row(value), kind="stable").astype(np.int32)

    def totals(self) -> Floats:
        """Sum of each value's distances to all rows, in one pass over the sorted values."""
        at = self._sorted
        x, w = self.positions[at], self.weights[at].astype(np.float64)
        below, mass = np.cumsum(w), np.cumsum(w * x)
        total = np.empty(len(x))
        total[at] = x * below - mass + (mass[-1] - mass) - x * (below[-1] - below)
        return total / self.span


def check_same_rows(counts: Counts, attributes: Sequence[Attribute]) -> None:
    """Refuse attributes that do not belong to the counts they are used with.

    >>> counts = Counts.of({"age": [30, 50]})
    >>> check_same_rows(counts, [Ordered.of(counts, "age")])
    """
    for attribute in attributes:
        if counts.values_of(attribute.name) != attribute.values:
            raise BadInput(f"column {attribute.name!r} was made for another table; make it again from these counts")


def _concepts(
    name: str, values: tuple[Value, ...], taxonomy: Taxonomy, mapping: Mapping[Value, Concept] | None
) -> Ints:
    codes = np.full(len(values), -1, dtype=np.int32)
    for i, value in enumerate(values):
        if mapping is not None and value in mapping:
            codes[i] = taxonomy.code(mapping[value])
        elif isinstance(value, str):
            code = taxonomy.get(value)
            codes[i] = -1 if code is None else code
    missing = int((codes < 0).sum())
    if missing:
        raise UnknownConcept(
            f"column {name!r}: {missing} of its {len(values)} distinct values are no concept of {taxonomy.name!r}; map "
            "them with concepts=..., or exclude those rows"
        )
    return codes


def _spelled(taxonomy: Taxonomy, concept: int, by_id: bool) -> str:
    if by_id:
        return taxonomy.ids[concept]
    label = taxonomy.label(concept)
    if taxonomy.get(label) == concept:
        return label
    senses = taxonomy.senses_of(label).tolist()
    numbered = f"{label}#{senses.index(concept) + 1}" if concept in senses else ""
    return numbered if numbered and taxonomy.get(numbered) == concept else taxonomy.ids[concept]
