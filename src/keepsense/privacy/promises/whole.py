"""Promises that compare the sensitive values of a class with those of the whole table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Histogram, Value
from keepsense.errors import BadInput
from keepsense.privacy.promises.beside import OfColumn

Reference = tuple[tuple[Value, int], ...] | None
"""Values of the whole table and how often they occur; None where the histograms that are judged are the whole."""


class AgainstWhole(OfColumn):
    """A promise that compares each class with the whole table.

    The whole table is the original one, suppressed records included: that is what everybody may know, and it keeps
    the promise monotonic. `reference` fixes it where only a part of the table is judged (`bind` fills it in).

    >>> from keepsense.counts import Counts
    >>> from keepsense.privacy import TCloseness
    >>> table = Counts.of({"job": ["nurse", "clerk"]}, histograms={"ill": ["flu", "cold"]})
    >>> TCloseness(0.2, "ill").bound(table.histograms).reference
    (('flu', 1), ('cold', 1))
    """

    if TYPE_CHECKING:  # parameters keep the order in which each class declares them
        reference: Reference

    def _whole(self, histogram: Histogram) -> tuple[Histogram, NDArray[np.int64]]:
        """The histogram over all values of the reference, and the reference's counts."""
        if self.reference is None:
            return histogram, histogram.total()
        place = {value: i for i, (value, _) in enumerate(self.reference)}
        if any(value not in place for value in histogram.values):
            raise BadInput(f"{self.name}: column {self.column!r} has values the reference table does not have")
        if histogram.values == tuple(place):
            return histogram, np.array([n for _, n in self.reference], dtype=np.int64)
        lookup = np.array([place[value] for value in histogram.values], dtype=np.int32)
        rows = replace(histogram.rows, indices=lookup[histogram.rows.indices])
        return Histogram(tuple(place), rows, histogram.counts), np.array([n for _, n in self.reference], dtype=np.int64)

    def bound(self, histograms: Mapping[str, Histogram]) -> Self:
        """The same model with these histograms' total as the whole table, unless one is fixed already."""
        if self.reference is not None or self.column not in histograms:
            return self
        whole = histograms[self.column]
        return self.compared_with(dict(zip(whole.values, whole.total().tolist(), strict=True)))

    def compared_with(self, whole: Mapping[Value, int]) -> Self:
        """The same model with the values of the whole table, and how often they occur, fixed.

        >>> from keepsense.privacy import TCloseness
        >>> TCloseness(0.2, "ill").compared_with({"flu": 3}).reference
        (('flu', 3),)
        """
        fixed: Any = {"reference": tuple(whole.items())}
        changed: Self = replace(self, **fixed)  # type: ignore[type-var]
        return changed
