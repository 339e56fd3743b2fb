"""What every distance offers: a pair, a matrix, one concept against all; and the registry that finds one by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints
from keepsense.errors import BadInput
from keepsense.registry import Registry
from keepsense.semantics.sweep import Part
from keepsense.taxonomy import Concept, Taxonomy

_BLOCK_CELLS = 1 << 21
Real = TypeVar("Real", np.float64, np.float32)


class Distance(ABC):
    """A semantic distance, bound to one taxonomy. Make one with `distance(name, taxonomy)`.

    `pair` computes from the definition with plain sets; `matrix`, `against_all` and `blocks` use compiled sweeps and
    give the same numbers.

    >>> from keepsense.semantics import distance
    >>> from keepsense.taxonomy import from_edges
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

    >>> from keepsense.semantics import distance
    >>> from keepsense.taxonomy import from_edges
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

    >>> from keepsense.semantics import DISTANCES
    >>> DISTANCES["Wu Palmer"].name, len(DISTANCES)
    ('wu-palmer', 10)
    """
    return DISTANCES.add(kind.name, kind)  # type: ignore[return-value]


def distance(name: str, taxonomy: Taxonomy, **options: object) -> Distance:
    """Make a distance by name: `path`, `leacock-chodorow`, `wu-palmer`, `feature`, `lin` and others (`DISTANCES`).

    >>> from keepsense.semantics import distance
    >>> from keepsense.taxonomy import from_edges
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
