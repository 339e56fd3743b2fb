"""What a distance is, and which there are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints
from keepsense.errors import BadInput
from keepsense.registry import Registry
from keepsense.taxonomy.taxonomy import Concept, Taxonomy

Table = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Part:
    """Everything above some concepts, numbered so that parents come before children.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "animal"), ("dog", "animal"), ("oak", "animal")])
    >>> part = Part(pets, pets.codes(["cat", "dog"]))
    >>> len(part.nodes), part.path(pets.codes(["cat"])).tolist()
    (3, [[0, 2]])
    """

    taxonomy: Taxonomy
    columns: Ints

    @cached_property
    def nodes(self) -> Ints:
        """Concepts of the part, parents first."""
        t = self.taxonomy
        if len(self.columns) == len(t):
            return t.order
        inside = np.zeros(len(t), dtype=np.bool_)
        inside[t.closure(self.columns, t.parents)] = True
        inner: Ints = t.order[inside[t.order]]
        return inner

    @cached_property
    def place(self) -> Ints:
        """Position of each concept in `nodes`, or -1."""
        place = np.full(len(self.taxonomy), -1, dtype=np.int32)
        place[self.nodes] = np.arange(len(self.nodes), dtype=np.int32)
        return place

    @cached_property
    def graph(self) -> tuple[NDArray[Any], Ints]:
        """Parents of each node as (starts, positions); everything above a node is in the part."""
        parents = self.taxonomy.parents
        starts = np.zeros(len(self.nodes) + 1, dtype=np.int64)
        np.cumsum(parents.sizes[self.nodes], out=starts[1:])
        return starts, self.place[parents.gather(self.nodes)]

    @cached_property
    def targets(self) -> Ints:
        """Positions of the columns."""
        positions: Ints = self.place[self.columns]
        return positions

    @cached_property
    def _rank(self) -> Ints:
        """Rank of each node as a least common subsumer, from 0 within the part."""
        rank = np.empty(len(self.nodes), dtype=np.int32)
        order = np.argsort(self.taxonomy.specificity[self.nodes], kind="stable")
        rank[order] = np.arange(len(self.nodes), dtype=np.int32)
        return rank

    @cached_property
    def _by_rank(self) -> Ints:
        by_rank = np.empty(len(self.nodes), dtype=np.int32)
        by_rank[self._rank] = self.nodes
        return by_rank

    @cached_property
    def _above_columns(self) -> tuple[NDArray[Any], Ints]:
        from keepsense.semantics.sweep_kernels import climb

        starts, parents = self.graph
        row, above, _ = climb(starts, parents, self.targets)
        return row, above

    def _sources(self, concepts: Ints) -> tuple[NDArray[Any], Ints, Ints]:
        """Subsumers of the sources inside the part, with links up: those outside can be common to nothing here."""
        from keepsense.semantics.sweep_kernels import climb

        parents = self.taxonomy.parents
        row, above, up = climb(parents.starts, parents.indices, concepts)
        position = self.place[above]
        inside = position >= 0
        starts = np.zeros(len(row), dtype=np.int64)
        np.cumsum(np.add.reduceat(inside.astype(np.int64), row[:-1]), out=starts[1:])
        return starts, position[inside], up[inside]

    def path(self, concepts: Ints) -> NDArray[np.int32]:
        """Fewest is-a links between each concept and each column."""
        from keepsense.semantics.sweep_kernels import sweep_path

        row, above, up = self._sources(concepts)
        out = np.empty((len(concepts), len(self.columns)), dtype=np.int32)
        sweep_path(*self.graph, row, above, up, self.targets, out)
        return out

    def lcs(self, concepts: Ints) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Least common subsumer of each concept and column, and the links from both to it."""
        from keepsense.semantics.sweep_kernels import sweep_lcs

        row, above, up = self._sources(concepts)
        out = np.empty((2, len(concepts), len(self.columns)), dtype=np.int32)
        sweep_lcs(*self.graph, row, above, up, self._rank, self.targets, out)
        return self._by_rank[out[0]], out[1]

    def highest(self, concepts: Ints, weights: NDArray[Any]) -> NDArray[Any]:
        """Largest weight among common subsumers; weights (one a concept) must not fall from parent to child."""
        from keepsense.semantics.sweep_kernels import sweep_max

        row, above, _ = self._sources(concepts)
        out = np.empty((len(concepts), len(self.columns)), dtype=weights.dtype)
        sweep_max(*self.graph, row, above, weights[self.nodes], self.targets, out)
        return out

    def shared(self, concepts: Ints) -> NDArray[np.int32]:
        """Number of subsumers each concept and column share."""
        from keepsense.semantics.sweep_kernels import count_shared

        row, above, _ = self._sources(concepts)
        out = np.empty((len(concepts), len(self.columns)), dtype=np.int32)
        count_shared(len(self.nodes), row, above, *self._above_columns, out)
        return out


def subsumer_counts(taxonomy: Taxonomy, concepts: Ints) -> Ints:
    """Number of subsumers of each concept, itself included.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "animal")])
    >>> subsumer_counts(pets, pets.codes(["cat", "animal"])).tolist()
    [2, 1]
    """
    from keepsense.semantics.sweep_kernels import climb

    row, _, _ = climb(taxonomy.parents.starts, taxonomy.parents.indices, np.asarray(concepts, dtype=np.int32))
    sizes: Ints = np.diff(row).astype(np.int32)
    return sizes


# What every distance offers (a pair, a matrix, one concept against all), and the registry of distances

_BLOCK_CELLS = 1 << 21
Real = TypeVar("Real", np.float64, np.float32)


class Distance(ABC):
    """A semantic distance, bound to one taxonomy. Make one with `distance(name, taxonomy)`.

    `pair` computes from the definition with plain sets; `matrix`, `against_all` and `blocks` use compiled sweeps and
    give the same numbers.

    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> sports = from_edges([("swimming", "water sports"), ("windsurfing", "water sports"), ("water sports", "sports")])
    >>> feature = distance("feature", sports)
    >>> feature.pair("swimming", "windsurfing")
    0.5
    >>> feature.matrix(["swimming", "sports"]).tolist()
    [[0.0, 0.6666666666666666], [0.6666666666666666, 0.0]]
    """

    name: ClassVar[str]
    """Name in the registry, the command line and project files."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        self.taxonomy = taxonomy
        self._everything: Part | None = None

    @property
    @abstractmethod
    def maximum(self) -> float:
        """Largest value the distance can take in this taxonomy; 1 for a normalised one."""

    @abstractmethod
    def pair(self, first: Concept, second: Concept) -> float:
        """Distance of two concepts, straight from the definition."""

    @abstractmethod
    def _block(self, rows: Ints, part: Part) -> Floats:
        """Distances of the rows to the columns of a part."""

    def similarity(self, first: Concept, second: Concept) -> float:
        """Similarity as the distance's authors define it; for a normalised distance, 1 - distance."""
        return 1.0 - self.pair(first, second)

    def matrix(self, rows: Iterable[Concept], columns: Iterable[Concept] | None = None) -> Floats:
        """Distances of all rows to all columns (to the rows themselves where no columns are given)."""
        left = self.taxonomy.codes(rows)
        right = left if columns is None else self.taxonomy.codes(columns)
        out = np.empty((len(left), len(right)), dtype=np.float64)
        for where, block in self._blocks(left, Part(self.taxonomy, right)):
            out[where] = block
        return out

    @overload
    def against_all(self, concepts: Iterable[Concept]) -> Floats: ...
    @overload
    def against_all(self, concepts: Iterable[Concept], dtype: type[Real]) -> NDArray[Real]: ...
    def against_all(self, concepts: Iterable[Concept], dtype: type[np.floating] = np.float64) -> NDArray[np.floating]:
        """Distances of some concepts to every concept of the taxonomy; `dtype=np.float32` halves the memory."""
        rows = self.taxonomy.codes(concepts)
        out = np.empty((len(rows), len(self.taxonomy)), dtype=dtype)
        for where, block in self._blocks(rows, self._whole()):
            out[where] = block
        return out

    def blocks(
        self, rows: Iterable[Concept], columns: Iterable[Concept] | None = None
    ) -> Iterator[tuple[slice, Floats]]:
        """The matrix a few rows at a time (against every concept where no columns are given), for bounded memory."""
        part = self._whole() if columns is None else Part(self.taxonomy, self.taxonomy.codes(columns))
        yield from self._blocks(self.taxonomy.codes(rows), part)

    def normalised(self) -> Distance:
        """The same distance divided by its maximum, so that it lies between 0 and 1."""
        return self if self.maximum == 1.0 else Scaled(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.taxonomy.name!r})"

    def _blocks(self, rows: Ints, part: Part) -> Iterator[tuple[slice, Floats]]:
        step = max(16, _BLOCK_CELLS // max(1, len(part.columns)) // 16 * 16)
        for start in range(0, len(rows), step):
            where = slice(start, min(start + step, len(rows)))
            yield where, self._block(rows[where], part)

    def _whole(self) -> Part:
        if self._everything is None:
            self._everything = Part(self.taxonomy, np.arange(len(self.taxonomy), dtype=np.int32))
        return self._everything


class Scaled(Distance):
    """A distance divided by its maximum.

    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "animal"), ("dog", "animal")])
    >>> distance("path", pets).normalised().pair("cat", "dog")
    1.0
    """

    name = "scaled"

    def __init__(self, inner: Distance) -> None:
        super().__init__(inner.taxonomy)
        self.inner = inner
        self.name = f"{inner.name}, normalised"  # type: ignore[misc]
        self._top = inner.maximum or 1.0

    @property
    def maximum(self) -> float:
        """Always 1."""
        return 1.0

    def pair(self, first: Concept, second: Concept) -> float:
        """Distance of two concepts, between 0 and 1."""
        return self.inner.pair(first, second) / self._top

    def _block(self, rows: Ints, part: Part) -> Floats:
        return self.inner._block(rows, part) / self._top


DISTANCES: Registry[type[Distance]] = Registry(
    "distance", packages=("keepsense.semantics",), group="keepsense.distances"
)
"""All distances by name; a module of this folder, or another package, adds its own with `register`."""

Kind = TypeVar("Kind", bound=type[Distance])


def register(kind: Kind) -> Kind:
    """Enter a distance into the registry under its name, as a decorator.

    >>> from keepsense.semantics.distance import DISTANCES
    >>> DISTANCES["Wu Palmer"].name, len(DISTANCES)
    ('wu-palmer', 10)
    """
    return DISTANCES.add(kind.name, kind)  # type: ignore[return-value]


def distance(name: str, taxonomy: Taxonomy, **options: object) -> Distance:
    """Make a distance by name: `path`, `leacock-chodorow`, `wu-palmer`, `feature`, `lin` and others (`DISTANCES`).

    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "animal"), ("dog", "animal")])
    >>> distance("path", pets).pair("cat", "dog")
    2.0
    """
    make: Callable[..., Distance] = DISTANCES[name]
    if not isinstance(taxonomy, Taxonomy):
        raise BadInput(f"the distance {name!r} is bound to a taxonomy, not to a {type(taxonomy).__name__}")
    try:
        return make(taxonomy, **options)
    except (TypeError, ValueError) as error:
        raise BadInput(f"the distance {name!r} does not take these options ({error})") from None
