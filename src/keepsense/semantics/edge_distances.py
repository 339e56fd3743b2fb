"""Distances by is-a links: path, Leacock-Chodorow, Wu-Palmer (Rodríguez-García 2017, Sec. 4.3.1)."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from keepsense.arrays import Floats, Ints
from keepsense.errors import BadInput
from keepsense.semantics.distance import Distance, Part, register
from keepsense.taxonomy.taxonomy import Concept, Taxonomy


@register
class Path(Distance):
    """Fewest is-a links between two concepts through a common subsumer (Eq. 4.3). Not normalised.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> Path(from_edges([("cat", "animal"), ("dog", "animal")])).pair("cat", "dog")
    2.0
    """

    name = "path"

    @property
    def maximum(self) -> float:
        """Links between two deepest concepts that share only the root."""
        return 2.0 * (self.taxonomy.max_depth - 1)

    def pair(self, first: Concept, second: Concept) -> float:
        """Links on the shortest path."""
        return float(self.taxonomy.path_links(first, second))

    def similarity(self, first: Concept, second: Concept) -> float:
        """1 / (1 + links), the usual similarity by path."""
        return 1.0 / (1.0 + self.pair(first, second))

    def _block(self, rows: Ints, part: Part) -> Floats:
        return part.path(rows).astype(np.float64)


@register
class LeacockChodorow(Distance):
    """Logarithm of the nodes on the shortest path (Eq. 4.4; Ayala-Rivera et al. 2017, Eq. 10).

    The similarity is -log(nodes / 2D) with D the taxonomy's greatest depth in nodes; its largest value, that of a
    concept with itself, is log(2D). The distance is that maximum minus the similarity: log(nodes), 0 for equals.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "animal"), ("dog", "animal")])
    >>> round(LeacockChodorow(pets).pair("cat", "dog"), 4), round(LeacockChodorow(pets).similarity("cat", "cat"), 4)
    (1.0986, 1.3863)
    """

    name = "leacock-chodorow"

    @property
    def maximum(self) -> float:
        """Logarithm of the nodes between two deepest concepts that share only the root."""
        return math.log(2 * self.taxonomy.max_depth - 1)

    def pair(self, first: Concept, second: Concept) -> float:
        """Logarithm of the number of nodes on the shortest path."""
        return math.log(self.taxonomy.path_links(first, second) + 1)

    def similarity(self, first: Concept, second: Concept) -> float:
        """-log(nodes / 2D), as printed."""
        return math.log(2 * self.taxonomy.max_depth) - self.pair(first, second)

    def _block(self, rows: Ints, part: Part) -> Floats:
        # Logarithms of small integers are looked up: exact, and far faster than computed cell by cell.
        links = part.path(rows)
        return np.log(np.arange(1, int(links.max(initial=0)) + 2))[links]


@register
class WuPalmer(Distance):
    """How deep the least common subsumer lies, compared with the concepts themselves. Between 0 and 1.

    Two conventions are in use; they agree on trees, apart from the virtual root:

    - `path` (the default; Rodríguez-García 2017, Eq. 4.6): 2d / (2d + links from both concepts to the subsumer), with d
      the subsumer's depth in nodes from the root of this taxonomy, and the fewest links. Take `taxonomy.below(domain)`
      to measure within a domain.
    - `depth`: 2d / (depth of one + depth of the other), longest-path depths in nodes. With `virtual_root`, its default,
      one root is thought above the taxonomy's top, so every depth is one more. This is the convention behind Table 3
      of Ayala-Rivera et al. 2017, which the formula printed there (Eq. 9, in links) does not reproduce.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "animal"), ("dog", "animal")])
    >>> WuPalmer(pets).pair("cat", "dog")
    0.5
    >>> round(WuPalmer(pets, convention="depth").pair("cat", "dog"), 4)
    0.3333
    """

    name = "wu-palmer"

    def __init__(
        self,
        taxonomy: Taxonomy,
        *,
        convention: Literal["path", "depth"] = "path",
        virtual_root: bool | None = None,
    ) -> None:
        super().__init__(taxonomy)
        if convention not in ("path", "depth"):
            raise BadInput(f"Wu-Palmer has the conventions path and depth, not {convention!r}")
        self.convention = convention
        self.virtual_root = convention == "depth" if virtual_root is None else virtual_root
        self._depth = taxonomy.depth + np.int32(self.virtual_root)

    @property
    def maximum(self) -> float:
        """1, approached where the common subsumer is the root and both concepts lie deep."""
        return 1.0

    def pair(self, first: Concept, second: Concept) -> float:
        """1 - similarity, from the least common subsumer."""
        a, b = self.taxonomy.code(first), self.taxonomy.code(second)
        subsumer = self.taxonomy.lcs(a, b)
        twice = 2 * int(self._depth[subsumer])
        if self.convention == "depth":
            return 1.0 - twice / (int(self._depth[a]) + int(self._depth[b]))
        links = 0
        for concept in (a, b):
            above, up = self.taxonomy.up_distances(concept)
            links += int(up[np.searchsorted(above, subsumer)])
        return 1.0 - twice / (twice + links)

    def _block(self, rows: Ints, part: Part) -> Floats:
        if self.convention == "depth":
            twice: Floats = 2.0 * part.highest(rows, self._depth)
            whole = (self._depth[rows][:, None] + self._depth[part.columns][None, :]).astype(np.float64)
        else:
            subsumer, links = part.lcs(rows)
            twice = np.multiply(self._depth[subsumer], 2.0, dtype=np.float64)
            whole = twice + links
        np.divide(twice, whole, out=twice)
        return np.subtract(1.0, twice, out=twice)
