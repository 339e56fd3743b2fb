"""How far two sensitive values are from each other when t-closeness moves mass between them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Rows
from keepsense.counts import Histogram, Value
from keepsense.errors import BadHierarchy, BadInput
from keepsense.hierarchies.core import Hierarchy
from keepsense.privacy.attacks.intervals import numbers_of
from keepsense.privacy.promises import emd
from keepsense.semantics import Distance
from keepsense.taxonomy import Concept, Taxonomy


class Ground(ABC):
    """A ground distance between sensitive values, from 0 to 1.

    >>> one_class = Histogram((3, 11, 5), Rows.from_pairs([0], [0], 1), np.array([4]))
    >>> [ground.within(one_class, np.array([1, 1, 1]), threshold=0.5).tolist() for ground in (Equal(), Ordered())]
    [[False], [True]]
    """

    name: ClassVar[str]

    @abstractmethod
    def distances(self, histogram: Histogram, reference: NDArray[np.int64]) -> Floats:
        """Earth mover's distance of each class to the reference."""

    def within(self, histogram: Histogram, reference: NDArray[np.int64], threshold: float) -> NDArray[np.bool_]:
        """Whether each class's distance is at most the threshold."""
        return self.distances(histogram, reference) <= threshold + emd.NOISE

    def promise(self) -> dict[str, str]:
        """How a promise names the distance."""
        return {"ground": self.name}

    def evidence(self) -> dict[str, object]:
        """Public data from which anyone can compute the same distances."""
        return {}


@dataclass(frozen=True)
class Equal(Ground):
    """Every two different values are one apart.

    >>> Equal().distances(Histogram(("a", "b"), Rows.from_pairs([0], [0], 1), np.array([1])), np.array([1, 1])).tolist()
    [0.5]
    """

    name: ClassVar[str] = "equal"

    def distances(self, histogram: Histogram, reference: NDArray[np.int64]) -> Floats:
        """Half the absolute differences."""
        return emd.equal(histogram, reference)


@dataclass(frozen=True)
class Ordered(Ground):
    """Values on a line, by rank or, with `by_number`, by their size; the ends are one apart.

    `order` lists all values that could occur from least to greatest; without it those that do occur are sorted, as
    numbers where all of them are.

    >>> h = Histogram((3, 11, 5), Rows.from_pairs([0], [0], 1), np.array([4]))
    >>> Ordered().distances(h, np.array([1, 1, 1])).tolist()
    [0.5]
    """

    order: tuple[Value, ...] | None = None
    by_number: bool = False
    name: ClassVar[str] = "ordered"

    def distances(self, histogram: Histogram, reference: NDArray[np.int64]) -> Floats:
        """Area between the cumulated shares."""
        length = None if self.order is None else float(len(self.order) - 1)
        return emd.ordered(histogram, reference, self._positions(histogram.values), length)

    def _positions(self, values: Sequence[Value]) -> Floats:
        if self.order is not None:
            rank = _positions_in(self.order, values, "the order of values")
            return rank.astype(np.float64)
        numbers = numbers_of(values)
        if self.by_number:
            if numbers is None:
                raise BadInput("t-closeness by number needs a sensitive column of numbers without missing values")
            return numbers
        keys: list[Any] = list(values) if numbers is None else numbers.tolist()
        try:
            order = sorted(range(len(keys)), key=keys.__getitem__)
        except TypeError:
            raise BadInput("the sensitive values cannot be sorted; give their order to t-closeness") from None
        ranks = np.empty(len(keys))
        ranks[order] = np.arange(len(keys), dtype=np.float64)
        return ranks

    def promise(self) -> dict[str, str]:
        """How a promise names the distance."""
        return {"ground": "numeric" if self.by_number else self.name}

    def evidence(self) -> dict[str, object]:
        """The order, where one was given."""
        return {} if self.order is None else {"order": list(self.order)}


@dataclass(frozen=True, eq=False)
class Tree(Ground):
    """Values in a generalization hierarchy: level of the lowest common ancestor over the height.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")])
    >>> h = Histogram(("nurse", "surgeon"), Rows.from_pairs([0], [0], 1), np.array([1]))
    >>> Tree(jobs).distances(h, np.array([0, 1])).tolist()
    [0.5]
    """

    hierarchy: Hierarchy
    name: ClassVar[str] = "hierarchical"

    def __post_init__(self) -> None:
        if len(self.hierarchy.labels[-1]) != 1:
            raise BadHierarchy(
                f"{self.hierarchy.name}: t-closeness needs a hierarchy with one top, this one has several"
            )

    def distances(self, histogram: Histogram, reference: NDArray[np.int64]) -> Floats:
        """Closed form on the tree."""
        return emd.hierarchical(histogram, reference, self.hierarchy.codes[self.hierarchy.lookup(histogram.values)])

    def evidence(self) -> dict[str, object]:
        """The hierarchy, a row a leaf."""
        labels, codes = self.hierarchy.labels, self.hierarchy.codes
        return {"rows": [[labels[level][c] for level, c in enumerate(row)] for row in codes.tolist()]}


@dataclass(frozen=True, eq=False)
class OwnTree(Ground):
    """The same by the hierarchy of the column itself, which a project file names beside it; made when it is asked for.

    >>> OwnTree().promise()
    {'ground': 'hierarchical'}
    """

    make: Callable[[], Tree] | None = None
    name: ClassVar[str] = Tree.name

    @cached_property
    def tree(self) -> Tree:
        """The distance by the hierarchy; refused where nobody said how values generalize."""
        if self.make is None:
            raise BadInput(
                "t-closeness by a hierarchy needs one: give the sensitive column a hierarchy in the project file, or "
                "`Tree(hierarchy)` as the ground distance in Python"
            )
        return self.make()

    def distances(self, histogram: Histogram, reference: NDArray[np.int64]) -> Floats:
        """Closed form on the tree."""
        return self.tree.distances(histogram, reference)

    def evidence(self) -> dict[str, object]:
        """The hierarchy, a row a leaf."""
        return self.tree.evidence()


@dataclass(frozen=True, eq=False)
class Links(Ground):
    """Values in a taxonomy that is a tree: links between them over twice the height; closed form.

    `concepts` names the concept of each value; without it the values are concepts themselves.

    >>> from keepsense.taxonomy import from_edges
    >>> pets = from_edges([("cat", "animal"), ("dog", "animal")])
    >>> h = Histogram(("cat", "dog"), Rows.from_pairs([0], [0], 1), np.array([1]))
    >>> Links(pets).distances(h, np.array([0, 1])).tolist()
    [1.0]
    """

    taxonomy: Taxonomy
    concepts: Mapping[Value, Concept] | None = None
    name: ClassVar[str] = "links"

    def __post_init__(self) -> None:
        if (self.taxonomy.parents.sizes > 1).any():
            raise BadInput(
                f"{self.taxonomy.name} has concepts with several parents, so links have no closed form; "
                "use a semantic distance instead"
            )

    def distances(self, histogram: Histogram, reference: NDArray[np.int64]) -> Floats:
        """Closed form on the tree."""
        above = self._above(histogram.values)
        length = 0.5 / max(1, self.taxonomy.max_depth - 1)
        return emd.tree(histogram, reference, above, np.full(len(self.taxonomy), length))

    def _above(self, values: Sequence[Value]) -> Rows:
        rows, nodes = [], []
        for i, value in enumerate(values):
            node = self.taxonomy.code(_concept(value, self.concepts))
            while node != self.taxonomy.root:
                rows.append(i)
                nodes.append(node)
                node = int(self.taxonomy.parents[node][0])
        return Rows.from_pairs(rows, nodes, len(values))

    def evidence(self) -> dict[str, object]:
        """Chains of concept ids from each value up to the root; only with `concepts` given."""
        if self.concepts is None:
            return {}
        above = self._above(list(self.concepts))
        chains = [[self.taxonomy.id(int(c)) for c in above[i]] for i in range(len(above))]
        return {
            "chains": dict(zip(map(str, self.concepts), chains, strict=True)),
            "height": self.taxonomy.max_depth - 1,
        }


@dataclass(frozen=True, eq=False)
class Semantic(Ground):
    """Any distances between values, as a matrix from 0 to 1: bounds first, exact transport where they do not decide.

    >>> near = Semantic(("flu", "cold", "ulcer"), np.array([[0, 0.1, 1], [0.1, 0, 1], [1, 1, 0]]))
    >>> h = Histogram(("flu", "cold"), Rows.from_pairs([0], [0], 1), np.array([1]))
    >>> near.distances(h, np.array([0, 1])).tolist()
    [0.1]
    """

    values: tuple[Value, ...]
    matrix: Floats
    label: str = "semantic distance"
    name: ClassVar[str] = "semantic"

    def __post_init__(self) -> None:
        m = self.matrix
        if m.shape != (len(self.values), len(self.values)) or not ((m >= 0) & (m <= 1 + emd.NOISE)).all():
            raise BadInput("a ground distance needs a square matrix of distances from 0 to 1, a row and column a value")
        if np.diag(m).any():
            raise BadInput("a ground distance must be 0 between a value and itself")

    @classmethod
    def of(
        cls, distance: Distance, values: Sequence[Value], concepts: Mapping[Value, Concept] | None = None
    ) -> Semantic:
        """From a semantic distance of concepts, divided by its maximum."""
        codes = distance.taxonomy.codes([_concept(value, concepts) for value in values])
        matrix = distance.matrix(codes) / (distance.maximum or 1.0)
        np.fill_diagonal(matrix, 0.0)
        return cls(tuple(values), np.clip(matrix, 0.0, 1.0), distance.name)

    @cached_property
    def metric(self) -> bool:
        """Whether the triangle inequality holds, so that shared mass may stay where it is."""
        return emd.is_metric(self.matrix)

    def _matrix(self, values: Sequence[Value]) -> Floats:
        at = _positions_in(self.values, values, "the matrix of distances")
        return self.matrix[np.ix_(at, at)]

    def distances(self, histogram: Histogram, reference: NDArray[np.int64]) -> Floats:
        """Exact transport for every class."""
        return emd.exact(histogram, reference, self._matrix(histogram.values), self.metric)

    def within(self, histogram: Histogram, reference: NDArray[np.int64], threshold: float) -> NDArray[np.bool_]:
        """Bounds first, exact transport for what they leave open."""
        return emd.within(histogram, reference, self._matrix(histogram.values), threshold, self.metric)

    def promise(self) -> dict[str, str]:
        """How a promise names the distance, and that of meaning."""
        return {"ground": self.name, "distance": self.label}

    def evidence(self) -> dict[str, object]:
        """Values and matrix."""
        return {"values": list(self.values), "matrix": self.matrix.tolist()}


def ground(kind: str | Ground | Hierarchy) -> Ground:
    """A ground distance from its name (`equal`, `ordered`, `numeric`, `hierarchical`), or from a hierarchy.

    >>> ground("ordered")
    Ordered(order=None, by_number=False)
    """
    if isinstance(kind, Ground):
        return kind
    if isinstance(kind, Hierarchy):
        return Tree(kind)
    if isinstance(kind, str) and kind in BY_NAME:
        return BY_NAME[kind]
    raise BadInput(
        f"t-closeness: {kind!r} is no ground distance; use equal, ordered, numeric or hierarchical, or give a "
        "hierarchy or `Semantic`"
    )


BY_NAME: Mapping[str, Ground] = {
    "equal": Equal(),
    "ordered": Ordered(),
    "numeric": Ordered(by_number=True),
    OwnTree.name: OwnTree(),
}
"""Ground distances that project files name."""


def _concept(value: Value, concepts: Mapping[Value, Concept] | None) -> Concept:
    if concepts is None:
        if not isinstance(value, str | int):
            raise BadInput("a sensitive value is no name of a concept; give the concept of each value")
        return value
    if value not in concepts:
        raise BadInput("a sensitive value has no concept; give the concept of each value")
    return concepts[value]


def _positions_in(listed: Sequence[Value], values: Sequence[Value], what: str) -> NDArray[np.int64]:
    place = {value: i for i, value in enumerate(listed)}
    missing = sum(value not in place for value in values)
    if missing:
        raise BadInput(f"{what} lacks {missing} of the column's {len(values)} sensitive values")
    return np.array([place[value] for value in values], dtype=np.int64)
