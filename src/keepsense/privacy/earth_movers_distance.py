"""Earth mover's distance between distributions of sensitive values, and ground distances between values.

`equal`, `ordered`, `tree`, `hierarchical` and `exact` return the distance of each class from the whole table, in closed
form where there is one. A `Ground` is the distance of two values, by which the mass of a class is moved: `Equal`,
`Ordered`, `Tree`, `OwnTree`, `Links` or `Semantic`. t-closeness (`keepsense.privacy.t_closeness`) uses both.
"""

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
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.risk.attribute_disclosure import numbers_of
from keepsense.semantics.distance import Distance
from keepsense.taxonomy.taxonomy import Concept, Taxonomy

# Distances of classes from the whole table (Rubner et al. 2000; Li et al. 2007)
#
# All take a histogram with one row a class and the counts of the reference, and return one number a class, 0 for an
# empty one. Closed forms cost no more than the histogram's entries; for any other ground distance bounds come first,
# and only classes between the bounds are solved exactly.

NOISE = 1e-9
"""Rounding noise allowed when a distance is compared with a threshold."""


def _shares(histogram: Histogram, reference: NDArray[np.int64]) -> tuple[NDArray[np.int32], Floats, Floats]:
    """Class of each entry, its share of the class, and the reference's shares."""
    row = histogram.rows.row_of()
    size = np.bincount(row, histogram.counts, len(histogram.rows))
    total = max(1, int(reference.sum()))
    return row, histogram.counts / np.maximum(size, 1)[row], reference / total


def _filled(histogram: Histogram) -> NDArray[np.bool_]:
    return np.bincount(histogram.rows.row_of(), histogram.counts, len(histogram.rows)) > 0


def equal(histogram: Histogram, reference: NDArray[np.int64]) -> Floats:
    """Distance with every two values one apart: the total variation (Li et al. 2007, Sec. 4.2).

    >>> h = Histogram(("flu", "cold"), Rows.from_pairs([0, 1, 1], [0, 0, 1], 2), np.array([2, 1, 1]))
    >>> equal(h, np.array([1, 1])).tolist()
    [0.5, 0.0]
    """
    row, share, target = _shares(histogram, reference)
    hit = target[histogram.rows.indices]
    classes = len(histogram.rows)
    unseen = 1.0 - np.bincount(row, hit, classes)
    moved = 0.5 * (np.bincount(row, np.abs(share - hit), classes) + np.maximum(unseen, 0.0))
    return np.where(_filled(histogram), moved, 0.0)


def ordered(
    histogram: Histogram,
    reference: NDArray[np.int64],
    positions: NDArray[np.float64],
    length: float | None = None,
) -> Floats:
    """Distance of values on a line: |x - y| over the whole length (Li et al. 2007, Sec. 4.1, with x, y ranks).

    Between two values that a class holds, its cumulated share is constant and the reference's grows, so the area
    between the two curves comes from cumulated sums and one search each: the cost is that of the entries, not of
    classes times values. The length is that between the outermost positions unless a longer one is given.

    >>> h = Histogram((3, 4, 5), Rows.from_pairs([0], [0], 1), np.array([4]))
    >>> ordered(h, np.array([1, 1, 1]), np.arange(3.0)).tolist()
    [0.5]
    """
    order = np.argsort(positions, kind="stable")
    at = positions[order].astype(np.float64)
    length = length or (float(at[-1] - at[0]) if len(at) else 0.0)
    classes = len(histogram.rows)
    if length == 0:
        return np.zeros(classes)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    row, share, target = _shares(histogram, reference)
    below = np.cumsum(target[order])  # reference's share up to and including each position
    width = np.diff(at, append=at[-1]) / length
    wide = np.concatenate(([0.0], np.cumsum(width)))
    area = np.concatenate(([0.0], np.cumsum(width * below)))
    place = rank[histogram.rows.indices]
    sort = np.lexsort((place, row))
    row, place, share = row[sort], place[sort], share[sort]
    # One stretch before a class's first value (nothing cumulated yet) and one from each value to the next.
    first = np.flatnonzero(np.diff(row, prepend=-1))
    running = np.cumsum(share)
    ahead = running[first] - share[first]
    level = running - np.repeat(ahead, np.diff(first, append=len(row)))
    stop = np.append(place[1:], len(at))
    stop[first[1:] - 1] = len(at)
    tail = _stretch(place, stop, np.minimum(level, 1.0), below, wide, area)
    head = _stretch(np.zeros(len(first), np.int64), place[first], np.zeros(len(first)), below, wide, area)
    work = np.bincount(row, tail, classes) + np.bincount(row[first], head, classes)
    return np.where(_filled(histogram), np.maximum(work, 0.0), 0.0)


def _stretch(
    start: NDArray[np.int64], stop: NDArray[np.int64], level: Floats, below: Floats, wide: Floats, area: Floats
) -> Floats:
    """Area between a constant level and the reference's cumulated share from position `start` up to `stop`."""
    turn = np.clip(np.searchsorted(below, level), start, stop)
    under = level * (wide[turn] - wide[start]) - (area[turn] - area[start])
    over = (area[stop] - area[turn]) - level * (wide[stop] - wide[turn])
    return under + over


def tree(histogram: Histogram, reference: NDArray[np.int64], above: Rows, lengths: NDArray[np.float64]) -> Floats:
    """Distance along the links of a tree: each link carries the difference of the masses below it.

    `above[v]` lists, for value v, the nodes on its way up without the root; `lengths[n]` is the length of the link
    from node n to its parent. The cost is that of the entries times the height.

    >>> h = Histogram(("a", "b"), Rows.from_pairs([0], [0], 1), np.array([1]))
    >>> tree(h, np.array([1, 1]), Rows.from_pairs([0, 1], [0, 1], 2), np.array([0.5, 0.5])).tolist()
    [0.5]
    """
    row, share, target = _shares(histogram, reference)
    nodes = len(lengths)
    mass = np.bincount(above.indices, target[above.row_of()], nodes)
    entry = np.repeat(np.arange(len(row)), above.sizes[histogram.rows.indices])
    node = above.gather(histogram.rows.indices)
    key, where = np.unique(row[entry].astype(np.int64) * nodes + node, return_inverse=True)
    held = np.bincount(where, share[entry], len(key))
    on, of = key % max(1, nodes), key // max(1, nodes)
    moved = np.bincount(of, lengths[on] * (np.abs(held - mass[on]) - mass[on]), len(histogram.rows))
    return np.where(_filled(histogram), np.maximum(moved + float(lengths @ mass), 0.0), 0.0)


def hierarchical(histogram: Histogram, reference: NDArray[np.int64], codes: NDArray[np.int32]) -> Floats:
    """Distance of values in a hierarchy: level of their lowest common ancestor over the height (Li et al. 2007, 4.2).

    `codes[v, l]` is the ancestor of value v at level l. Links of length 1 / (2 height) give that distance, so the
    closed form of trees applies; it equals the mean over levels below the top of the equal distance at each level.

    >>> h = Histogram(("flu", "cold", "ulcer"), Rows.from_pairs([0], [0], 1), np.array([1]))
    >>> hierarchical(h, np.array([0, 1, 0]), np.array([[0, 0, 0], [1, 0, 0], [2, 1, 0]])).tolist()
    [0.5]
    """
    values, levels = codes.shape
    height = levels - 1
    if height == 0:
        return np.zeros(len(histogram.rows))
    spread = np.concatenate(([0], np.cumsum(codes[:, :height].max(axis=0) + 1)))
    nodes = codes[:, :height] + spread[:height]
    above = Rows.from_pairs(np.repeat(np.arange(values), height), nodes.ravel(), values)
    return tree(histogram, reference, above, np.full(int(spread[-1]), 0.5 / height))


def is_metric(matrix: NDArray[np.float64]) -> bool:
    """Whether a matrix of distances is symmetric, zero on its diagonal and keeps the triangle inequality.

    Large matrices (over 400 values) are not examined and count as no metric, which is always safe.

    >>> is_metric(np.array([[0.0, 1.0], [1.0, 0.0]]))
    True
    """
    n = len(matrix)
    if n > 400 or (np.diag(matrix) != 0).any() or not np.allclose(matrix, matrix.T, atol=NOISE):
        return False
    return all(bool((matrix[i][:, None] + matrix[i] >= matrix - NOISE).all()) for i in range(n))


def exact(
    histogram: Histogram, reference: NDArray[np.int64], matrix: NDArray[np.float64], metric: bool | None = None
) -> Floats:
    """Distance with any matrix of ground distances, by exact transport on the values that occur.

    Where the distances are a metric the mass both sides share stays where it is, which shrinks the problem.

    >>> h = Histogram(("a", "b"), Rows.from_pairs([0], [0], 1), np.array([1]))
    >>> exact(h, np.array([1, 1]), np.array([[0.0, 0.4], [0.4, 0.0]])).tolist()
    [0.2]
    """
    from keepsense.privacy.transport_kernels import transport_classes

    return transport_classes(*_compiled(histogram, reference, matrix, metric))


def bounds(
    histogram: Histogram, reference: NDArray[np.int64], matrix: NDArray[np.float64], metric: bool | None = None
) -> tuple[Floats, Floats]:
    """Bounds below and above the exact distance, far cheaper than transport.

    Below: each value ships to its nearest takers as if it were alone. Above: one after the other does, and takers fill
    up. Both are tried from either side, and the better bound is taken.

    >>> h = Histogram(("a", "b"), Rows.from_pairs([0], [0], 1), np.array([1]))
    >>> [x.tolist() for x in bounds(h, np.array([1, 1]), np.array([[0.0, 0.4], [0.4, 0.0]]))]
    [[0.2], [0.2]]
    """
    from keepsense.privacy.transport_kernels import bound_classes

    return bound_classes(*_compiled(histogram, reference, matrix, metric))


def _compiled(
    histogram: Histogram, reference: NDArray[np.int64], matrix: NDArray[np.float64], metric: bool | None
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], Floats, bool]:
    """What the compiled loops take."""
    stay = is_metric(matrix) if metric is None else metric
    plain = reference.astype(np.int64), np.ascontiguousarray(matrix)
    return histogram.rows.starts, histogram.rows.indices, histogram.counts, *plain, stay


def within(
    histogram: Histogram,
    reference: NDArray[np.int64],
    matrix: NDArray[np.float64],
    threshold: float,
    metric: bool | None = None,
) -> NDArray[np.bool_]:
    """Whether each class's exact distance is at most the threshold; most classes are decided by bounds alone.

    >>> h = Histogram(("a", "b"), Rows.from_pairs([0], [0], 1), np.array([1]))
    >>> within(h, np.array([1, 1]), np.array([[0.0, 0.4], [0.4, 0.0]]), 0.2).tolist()
    [True]
    """
    stay = is_metric(matrix) if metric is None else metric
    limit = threshold + NOISE
    # Total variation times the longest distance: the crudest bound above, and free.
    verdict = equal(histogram, reference) * float(matrix.max(initial=0.0)) <= limit
    open_ = np.flatnonzero(~verdict)
    if len(open_):
        low, high = bounds(_part(histogram, open_), reference, matrix, stay)
        verdict[open_] = high <= limit
        open_ = open_[(low <= limit) & (high > limit)]
    if len(open_):
        verdict[open_] = exact(_part(histogram, open_), reference, matrix, stay) <= limit
    return verdict


def _part(histogram: Histogram, classes: NDArray[np.intp]) -> Histogram:
    chosen = classes.astype(np.int32)
    sizes = histogram.rows.sizes[chosen]
    rows = Rows(histogram.rows.starts, np.arange(len(histogram.rows.indices), dtype=np.int32))
    entries = rows.gather(chosen)
    starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int32)
    return Histogram(histogram.values, Rows(starts, histogram.rows.indices[entries]), histogram.counts[entries])


# Ground distances


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
        return self.distances(histogram, reference) <= threshold + NOISE

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
        return equal(histogram, reference)


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
        return ordered(histogram, reference, self._positions(histogram.values), length)

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
        return hierarchical(histogram, reference, self.hierarchy.codes[self.hierarchy.lookup(histogram.values)])

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

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
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
        return tree(histogram, reference, above, np.full(len(self.taxonomy), length))

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
        if m.shape != (len(self.values), len(self.values)) or not ((m >= 0) & (m <= 1 + NOISE)).all():
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
        return is_metric(self.matrix)

    def _matrix(self, values: Sequence[Value]) -> Floats:
        at = _positions_in(self.values, values, "the matrix of distances")
        return self.matrix[np.ix_(at, at)]

    def distances(self, histogram: Histogram, reference: NDArray[np.int64]) -> Floats:
        """Exact transport for every class."""
        return exact(histogram, reference, self._matrix(histogram.values), self.metric)

    def within(self, histogram: Histogram, reference: NDArray[np.int64], threshold: float) -> NDArray[np.bool_]:
        """Bounds first, exact transport for what they leave open."""
        return within(histogram, reference, self._matrix(histogram.values), threshold, self.metric)

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
