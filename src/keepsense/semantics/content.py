"""Distances from information content: Resnik, Lin, Jiang-Conrath (Rodríguez-García 2017, Eq. 4.12-4.14).

All take the common subsumer of highest information content. `ic` is `seco` (the default), `zhou`, `sanchez`, or an
array such as `keepsense.semantics.corpus` gives.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints
from keepsense.semantics.base import Distance, register
from keepsense.semantics.information import information_content
from keepsense.semantics.sweep import Part
from keepsense.taxonomy import Concept, Taxonomy


class _Content(Distance):
    """Common ground: each concept's information content, and that of the most informative common subsumer."""

    def __init__(self, taxonomy: Taxonomy, *, ic: str | NDArray[Any] = "seco") -> None:
        super().__init__(taxonomy)
        self.ic = information_content(taxonomy, ic)

    @property
    def maximum(self) -> float:
        """1."""
        return 1.0

    def _common(self, first: Concept, second: Concept) -> float:
        return float(self.ic[self.taxonomy.common_subsumers([first, second])].max())


@register
class Resnik(_Content):
    """1 - IC(common subsumer) / greatest IC, and 0 for a concept with itself (Eq. 4.12). Between 0 and 1.

    >>> from keepsense.taxonomy import from_edges
    >>> pets = from_edges([("cat", "animal"), ("dog", "animal")])
    >>> Resnik(pets).pair("cat", "dog"), Resnik(pets).pair("cat", "cat")
    (1.0, 0.0)
    """

    name = "resnik"

    @property
    def _top(self) -> float:
        return float(self.ic.max()) or 1.0

    def pair(self, first: Concept, second: Concept) -> float:
        """1 - IC of the common subsumer over the greatest IC."""
        if self.taxonomy.code(first) == self.taxonomy.code(second):
            return 0.0
        return max(0.0, 1.0 - self._common(first, second) / self._top)

    def similarity(self, first: Concept, second: Concept) -> float:
        """IC of the common subsumer, as printed."""
        return self._common(first, second)

    def _block(self, rows: Ints, part: Part) -> Floats:
        out: Floats = 1.0 - part.highest(rows, self.ic) / self._top
        out[rows[:, None] == part.columns[None, :]] = 0.0
        return out


@register
class Lin(_Content):
    """1 - 2 IC(common subsumer) / (IC of one + IC of the other) (Eq. 4.13). Between 0 and 1.

    Two concepts without information (the root and the like) lie at 0 from themselves and at 1 from each other.

    >>> from keepsense.taxonomy import from_edges
    >>> pets = from_edges([("cat", "animal"), ("dog", "animal"), ("tom", "cat")])
    >>> round(Lin(pets).pair("tom", "cat"), 4)
    0.3333
    """

    name = "lin"

    def pair(self, first: Concept, second: Concept) -> float:
        """1 - twice the shared information over the information of both."""
        a, b = self.taxonomy.code(first), self.taxonomy.code(second)
        whole = float(self.ic[a] + self.ic[b])
        if a == b or whole == 0.0:
            return float(a != b)
        return max(0.0, 1.0 - 2.0 * self._common(a, b) / whole)

    def _block(self, rows: Ints, part: Part) -> Floats:
        shared = 2.0 * part.highest(rows, self.ic)
        whole = self.ic[rows][:, None] + self.ic[part.columns][None, :]
        same = rows[:, None] == part.columns[None, :]
        out: Floats = 1.0 - np.divide(shared, whole, out=np.zeros_like(whole), where=whole > 0)
        np.maximum(out, 0.0, out=out)  # a content of one's own may fall downwards by a rounding error
        out[same] = 0.0
        return out


@register
class JiangConrath(_Content):
    """IC of one + IC of the other - 2 IC(common subsumer) (Eq. 4.14). Not normalised.

    >>> from keepsense.taxonomy import from_edges
    >>> pets = from_edges([("cat", "animal"), ("dog", "animal")])
    >>> JiangConrath(pets).pair("cat", "dog")
    2.0
    """

    name = "jiang-conrath"

    @property
    def maximum(self) -> float:
        """Twice the greatest IC."""
        return 2.0 * float(self.ic.max())

    def pair(self, first: Concept, second: Concept) -> float:
        """Information the two do not share."""
        a, b = self.taxonomy.code(first), self.taxonomy.code(second)
        return max(0.0, float(self.ic[a] + self.ic[b]) - 2.0 * self._common(a, b))

    def _block(self, rows: Ints, part: Part) -> Floats:
        whole = self.ic[rows][:, None] + self.ic[part.columns][None, :]
        out: Floats = np.maximum(0.0, whole - 2.0 * part.highest(rows, self.ic))
        return out
