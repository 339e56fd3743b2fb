"""How values generalize: leaves x levels as integer codes, each level a coarsening of the one below."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Ints, frozen
from keepsense.counts import Value
from keepsense.errors import BadHierarchy
from keepsense.recoding import Cut

Kind = Literal["nominal", "numeric", "date", "masked", "ordered"]


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A generalization hierarchy of one column.

    `codes[i, l]` is the code of leaf i's ancestor at level l; level 0 is the leaf itself, the last level the top.
    `labels[l][c]` is the label of code c at level l. `concepts[l][c]`, where known, is its concept in a taxonomy (-1
    where not). Levels are rectangular: every leaf has an ancestor at every level.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")])
    >>> jobs.height, jobs.labels[1], jobs.codes[:, 1].tolist()
    (2, ('medic', 'office'), [0, 0, 1])
    """

    name: str
    labels: tuple[tuple[Value, ...], ...]
    codes: NDArray[np.int32]
    kind: Kind = "nominal"
    concepts: tuple[NDArray[np.int32], ...] | None = None

    def __post_init__(self) -> None:
        frozen(self.codes)

    @classmethod
    def of_rows(cls, rows: Iterable[Sequence[Value]], *, name: str = "hierarchy", kind: Kind = "nominal") -> Hierarchy:
        """Build from rows of labels, leaf first (the form of ARX's hierarchy files); all rows have one length."""
        table = [tuple(row) for row in rows]
        if not table or not table[0]:
            raise BadHierarchy(f"{name}: the hierarchy is empty; it needs at least one leaf")
        width = len(table[0])
        for i, row in enumerate(table):
            if len(row) != width:
                raise BadHierarchy(f"{name}: row {i + 1} has {len(row)} levels, the first row {width}")
        codes = np.empty((len(table), width), dtype=np.int32)
        labels = []
        for level in range(width):
            place: dict[Value, int] = {}
            codes[:, level] = [place.setdefault(row[level], len(place)) for row in table]
            labels.append(tuple(place))
        if len(labels[0]) != len(table):
            raise BadHierarchy(f"{name}: {len(table) - len(labels[0])} leaf value(s) occur more than once")
        for level in range(1, width):
            pairs = np.unique(codes[:, level - 1 : level + 1], axis=0)
            if len(pairs) != len(labels[level - 1]):
                torn = labels[level - 1][int(pairs[1:][pairs[1:, 0] == pairs[:-1, 0]][0, 0])]
                raise BadHierarchy(f"{name}: {torn!r} at level {level - 1} has several parents at level {level}")
        return cls(name, tuple(labels), codes, kind)

    @property
    def leaves(self) -> tuple[Value, ...]:
        """Original values, in the order of `codes`."""
        return self.labels[0]

    @property
    def height(self) -> int:
        """Number of generalization steps: levels above the leaves."""
        return int(self.codes.shape[1]) - 1

    @cached_property
    def leaf_counts(self) -> tuple[Ints, ...]:
        """Leaves under each label of each level."""
        return tuple(
            np.bincount(self.codes[:, level], minlength=len(self.labels[level])).astype(np.int32)
            for level in range(self.height + 1)
        )

    def lookup(self, values: Sequence[Value]) -> Ints:
        """Leaf positions of a column's values; refuses, by name, values the hierarchy does not hold."""
        place = {value: i for i, value in enumerate(self.leaves)}
        missing = [value for value in values if value not in place]
        if missing:
            raise BadHierarchy(
                f"{self.name}: the hierarchy misses {len(missing)} value(s) of the column, for instance {missing[0]!r}"
            )
        return np.array([place[value] for value in values], dtype=np.int32)

    def cut(self, level: int) -> Cut:
        """Recoding rule that releases every value at one level."""
        if not 0 <= level <= self.height:
            raise BadHierarchy(f"{self.name}: level {level} does not exist; levels run from 0 to {self.height}")
        return Cut(self.name, self.leaves, tuple(self.labels[level][c] for c in self.codes[:, level]), level)
