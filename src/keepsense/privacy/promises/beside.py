"""Promises about one sensitive column, also towards those who know other released columns of a person.

Several sensitive columns of a release may tell each other: where flu goes with drug x and HIV with drug y, a class that
holds both diagnoses tells them apart by the drug. With `beside = ["drug"]` a promise about diagnoses counts drugs as
quasi-identifiers: it holds within every class, and there among the people of each drug.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Histogram, encode, histogram
from keepsense.errors import BadInput
from keepsense.privacy.base import Flags, Model, Promise, Weights, histogram_of


class OfColumn(Model):
    """A promise about the values of one column in every class; and among those who share the columns `beside` it.

    >>> from keepsense.privacy import DistinctDiversity
    >>> DistinctDiversity(2, "diagnosis", beside=("drug",)).columns
    ('diagnosis', 'diagnosis beside drug')
    """

    if TYPE_CHECKING:  # parameters keep the order in which each class declares them
        column: str
        beside: tuple[str, ...]

    def __post_init__(self) -> None:
        if isinstance(self.beside, list):
            object.__setattr__(self, "beside", tuple(self.beside))
        super().__post_init__()
        if self.column in self.beside or len(set(self.beside)) < len(self.beside):
            raise BadInput(f"{self.name}: beside names other columns than {self.column!r}, each of them once")

    def on(self, column: str) -> Self:
        """The same promise about another sensitive column, or the one it is about where none was named."""
        named: Self = replace(self, column=column)  # type: ignore[type-var]
        return named

    @property
    def columns(self) -> tuple[str, ...]:
        """The column, and its values together with those beside it."""
        return (*super().columns, *self.together)

    @property
    def together(self) -> Mapping[str, tuple[str, ...]]:
        """The column and those beside it."""
        name = f"{self.column} beside {' and '.join(self.beside)}"
        return {name: (self.column, *self.beside)} if self.beside else {}

    @property
    def weaker(self) -> tuple[str, ...]:
        """What to promise where this much cannot be kept: less, or towards those who know less."""
        known = f"fewer columns beside {self.column!r}, or coarser ones (a `width` or `level` in their sections)"
        return (*super().weaker, *([known] if self.beside else []))

    @property
    def every_class(self) -> str:
        """Among whom the promise holds, in words."""
        shared = f", among those who share {' and '.join(self.beside)}," if self.beside else ""
        return f"every class{shared}"

    def promise(self) -> Promise:
        """The promise as plain data; columns beside only where there are some."""
        return {key: value for key, value in super().promise().items() if key != "beside" or value}

    @abstractmethod
    def judged(self, class_weights: Weights, values: Histogram) -> Flags:
        """Whether each class keeps the promise, as far as the values of the column alone tell."""

    def groups(self, class_weights: Weights, histograms: Mapping[str, Histogram]) -> Groups:
        """The values of the column within each group that the promise is about, and the class of each group."""
        classes = len(class_weights)
        for name in self.together:
            return divided(histogram_of(histograms, name, classes, self.name))
        values = histogram_of(histograms, self.column, classes, self.name)
        return class_weights, values, np.arange(classes, dtype=np.int64)

    def satisfied(self, class_weights: Weights, histograms: Mapping[str, Histogram]) -> Flags:
        """Whether each class keeps the promise, and where columns stand beside, all who share their values there."""
        weights, values, owner = self.groups(class_weights, histograms)
        broken = np.bincount(owner[~self.judged(weights, values)], minlength=len(class_weights))
        verdict: Flags = broken == 0
        return verdict


Groups = tuple[Weights, Histogram, NDArray[np.int64]]
"""Sizes of groups, the values in each of them, and to which class each belongs."""


def divided(tuples: Histogram) -> Groups:
    """Classes divided by all but the first part of the tuples that were counted in them.

    >>> from keepsense.arrays import Rows
    >>> seen = Histogram((("flu", "x"), ("hiv", "y")), Rows.from_pairs([0, 0], [0, 1], 1), np.array([2, 3]))
    >>> weights, values, owner = divided(seen)
    >>> weights.tolist(), values.table().tolist(), owner.tolist()
    ([2, 3], [[2, 0], [0, 3]], [0, 0])
    """
    parts: list[tuple[object, ...]] = [tuple(value) for value in tuples.values]  # type: ignore[arg-type]
    values, code = encode([part[0] for part in parts])
    known, shared = encode([part[1:] for part in parts])
    occurs = tuples.counts > 0
    at, counts = tuples.rows.indices[occurs], tuples.counts[occurs]
    key = tuples.rows.row_of()[occurs].astype(np.int64) * max(1, len(known)) + shared[at]
    groups, group = np.unique(key, return_inverse=True)
    weights = np.bincount(group, counts, len(groups)).astype(np.int64)
    return weights, histogram(values, code[at], group, counts, len(groups)), groups // max(1, len(known))
