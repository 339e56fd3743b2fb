"""Distances by features in common: subsumers, names, parts, neighbours (Rodríguez-García 2017, Sec. 4.3.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints
from keepsense.errors import BadInput, Infeasible
from keepsense.semantics.distance import Distance, Part, register, subsumer_counts
from keepsense.taxonomy.taxonomy import Concept, Taxonomy

_MOST_NEIGHBOURS = 1 << 28


@register
class Feature(Distance):
    """Share of subsumers that two concepts do not have in common (Batet et al. 2014, Eq. 1). Between 0 and 1.

    Every path counts where a concept has several parents. The concepts themselves are among their subsumers. The root,
    which all concepts share, is one of them; with `root=False` it is not, as in the paper's example, whose trees have
    no common root: what lies in different branches is then 1 apart.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> sports = from_edges([("swimming", "water sports"), ("windsurfing", "water sports"), ("water sports", "sports")])
    >>> both = (Feature(sports, root=counted).pair("swimming", "windsurfing") for counted in (True, False))
    >>> [round(apart, 4) for apart in both]
    [0.5, 0.6667]
    """

    name = "feature"

    def __init__(self, taxonomy: Taxonomy, *, root: bool = True) -> None:
        super().__init__(taxonomy)
        self.root = root

    @property
    def maximum(self) -> float:
        """1, approached where two concepts share only the root."""
        return 1.0

    def pair(self, first: Concept, second: Concept) -> float:
        """(union - intersection) / union of the two sets of subsumers."""
        a, b = set(self.taxonomy.subsumers(first).tolist()), set(self.taxonomy.subsumers(second).tolist())
        if not self.root:
            a, b = a - {self.taxonomy.root}, b - {self.taxonomy.root}
        return (len(a | b) - len(a & b)) / max(1, len(a | b))

    @cached_property
    def _sizes(self) -> Ints:
        return subsumer_counts(self.taxonomy, np.arange(len(self.taxonomy), dtype=np.int32))

    def _block(self, rows: Ints, part: Part) -> Floats:
        shared = part.shared(rows)
        union = self._sizes[rows][:, None] + self._sizes[part.columns][None, :] - shared
        apart: Floats = (union - shared) / (union if self.root else np.maximum(union - 1, 1))
        return apart


@register
class LogFeature(Feature):
    """The feature distance in logarithmic form, log2(1 + share not in common) (Eq. 4.10). Between 0 and 1.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> sports = from_edges([("swimming", "water sports"), ("windsurfing", "water sports"), ("water sports", "sports")])
    >>> round(LogFeature(sports).pair("swimming", "windsurfing"), 4)
    0.585
    """

    name = "log-feature"

    def pair(self, first: Concept, second: Concept) -> float:
        """log2(1 + feature distance)."""
        return float(np.log2(1.0 + super().pair(first, second)))

    def _block(self, rows: Ints, part: Part) -> Floats:
        out: Floats = np.log2(1.0 + super()._block(rows, part))
        return out


class _Sets(Distance):
    """Common ground of the two distances that compare sets of features by Tversky's ratio."""

    def __init__(self, taxonomy: Taxonomy, *, gamma: float | None = None, symmetric: bool = True) -> None:
        super().__init__(taxonomy)
        if gamma is not None and not 0 <= gamma <= 1:
            raise BadInput(f"gamma must lie between 0 and 1, not {gamma}")
        self.gamma = gamma
        self.symmetric = symmetric

    @property
    def maximum(self) -> float:
        """1, where nothing is shared."""
        return 1.0

    def _gamma(self, first: NDArray[Any], second: NDArray[Any]) -> Floats:
        """Weight of what only the first concept has, from the two depths (Eq. 4.8)."""
        if self.gamma is not None:
            return np.full(np.broadcast_shapes(first.shape, second.shape), self.gamma)
        out: Floats = np.minimum(first, second) / (first + second)
        return out

    def _overlap(self, shared: Any, only_first: Any, only_second: Any, gamma: Any) -> tuple[Floats, NDArray[np.bool_]]:
        """Tversky's ratio and where it says something: not where neither concept has any feature."""
        known = (shared + only_first + only_second) > 0
        ratios = []
        for weight in (gamma, 1.0 - gamma) if self.symmetric else (gamma,):
            whole = shared + weight * only_first + (1.0 - weight) * only_second
            ratios.append(np.divide(shared, whole, out=np.zeros(np.shape(known)), where=whole > 0))
        return sum(ratios) / len(ratios), known


@register
class Tversky(_Sets):
    """Names two concepts do not share, Tversky's ratio model weighted by depth (Eq. 4.7 and 4.8). Between 0 and 1.

    Printed Eq. 4.7 multiplies the common features with the first difference; the model, and this class, add them.
    The ratio is not symmetric where depths differ; `symmetric` (the default) takes the mean of both directions.
    `gamma` fixes the weight instead. Useful where concepts share names: most pairs have none in common and lie at 1.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> names = {"car": ["car", "auto"], "tram": ["car"]}
    >>> cars = from_edges([("car", "thing"), ("tram", "thing")], names=names)
    >>> round(Tversky(cars).pair("car", "tram"), 4)
    0.3333
    """

    name = "tversky"

    def pair(self, first: Concept, second: Concept) -> float:
        """1 - ratio of shared names."""
        a, b = set(self.taxonomy.synonyms(first)), set(self.taxonomy.synonyms(second))
        depth = self.taxonomy.depth
        gamma = self._gamma(depth[[self.taxonomy.code(first)]], depth[[self.taxonomy.code(second)]])
        ratio, _ = self._overlap(np.array([len(a & b)]), np.array([len(a - b)]), np.array([len(b - a)]), gamma)
        return 1.0 - float(ratio[0])

    @cached_property
    def _features(self) -> Any:
        return _incidence(len(self.taxonomy), len(self.taxonomy.terms), self.taxonomy.names)

    def _block(self, rows: Ints, part: Part) -> Floats:
        gamma = self._gamma(self.taxonomy.depth[rows][:, None], self.taxonomy.depth[part.columns][None, :])
        return 1.0 - self._overlap(*_compare(self._features, rows, part.columns), gamma)[0]


@register
class RodriguezEgenhofer(_Sets):
    """Weighted sum of shared names, distinguishing features and neighbours (Eq. 4.9). Between 0 and 1.

    Distinguishing features are the relations besides is-a (parts, members, substances); neighbours are concepts at
    most `radius` is-a links away, the concept itself included. Each is compared by Tversky's ratio. Where neither
    concept has any feature of one kind, that kind is left out and the other weights are scaled up.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "animal"), ("dog", "animal")])
    >>> round(RodriguezEgenhofer(pets, weights=(0, 0, 1)).pair("cat", "dog"), 4)
    0.5
    """

    name = "rodriguez-egenhofer"

    def __init__(
        self,
        taxonomy: Taxonomy,
        *,
        weights: Sequence[float] = (1 / 3, 1 / 3, 1 / 3),
        radius: int = 1,
        gamma: float | None = None,
        symmetric: bool = True,
    ) -> None:
        super().__init__(taxonomy, gamma=gamma, symmetric=symmetric)
        if len(weights) != 3 or not np.isfinite(weights).all() or min(weights) < 0 or sum(weights) <= 0:
            raise BadInput("weights must be three numbers for names, features and neighbours, none negative, not all 0")
        if not isinstance(radius, int | np.integer) or radius < 0:
            raise BadInput(f"the radius of a neighbourhood is a number of links; it cannot be negative: {radius!r}")
        self.weights = tuple(w / sum(weights) for w in weights)
        self.radius = radius

    def pair(self, first: Concept, second: Concept) -> float:
        """1 - weighted sum of the three ratios, from plain sets."""
        t = self.taxonomy
        a, b = t.code(first), t.code(second)
        gamma = self._gamma(t.depth[[a]], t.depth[[b]])
        total = weight = 0.0
        kinds: tuple[Callable[[int], Iterable[Any]], ...] = (t.synonyms, self._linked, self._near)
        for share, features in zip(self.weights, kinds, strict=True):
            left, right = set(features(a)), set(features(b))
            sizes = (left & right, left - right, right - left)
            shared, mine, theirs = (np.array([len(s)]) for s in sizes)
            ratio, known = self._overlap(shared, mine, theirs, gamma)
            if known[0]:
                total += share * float(ratio[0])
                weight += share
        return 1.0 - total / weight if weight else float(a != b)

    def _linked(self, concept: int) -> list[tuple[str, int]]:
        return [(kind, int(c)) for kind, rows in self.taxonomy.relations.items() for c in rows[concept]]

    def _near(self, concept: int) -> list[int]:
        near = {concept}
        for _ in range(min(self.radius, len(self.taxonomy))):
            wider = near | {int(n) for c in near for n in (*self.taxonomy.parents[c], *self.taxonomy.children[c])}
            if wider == near:
                break
            near = wider
        return sorted(near)

    @cached_property
    def _tables(self) -> list[Any]:
        from scipy.sparse import eye_array, hstack

        t, n = self.taxonomy, len(self.taxonomy)
        kinds = [_incidence(n, n, rows) for rows in t.relations.values()] or [_incidence(n, n, None)]
        step = eye_array(n, format="csr") + _incidence(n, n, t.parents) + _incidence(n, n, t.children)
        near = eye_array(n, format="csr")
        for _ in range(min(self.radius, n)):
            if float((near @ np.diff(step.indptr)).sum()) > _MOST_NEIGHBOURS:
                raise Infeasible(
                    f"{t.name}: neighbourhoods of radius {self.radius} hold too many of its {n:,} concepts to compare",
                    relax=("a smaller radius", "taxonomy.below(a domain)"),
                )
            wider = (near @ step).sign()
            if wider.nnz == near.nnz:
                break
            near = wider
        return [_incidence(n, len(t.terms), t.names), hstack(kinds, format="csr"), near.tocsr()]

    def _block(self, rows: Ints, part: Part) -> Floats:
        gamma = self._gamma(self.taxonomy.depth[rows][:, None], self.taxonomy.depth[part.columns][None, :])
        total, weight = np.zeros(gamma.shape), np.zeros(gamma.shape)
        for share, table in zip(self.weights, self._tables, strict=True):
            ratio, known = self._overlap(*_compare(table, rows, part.columns), gamma)
            total += share * ratio * known
            weight += share * known
        apart = (rows[:, None] != part.columns[None, :]).astype(np.float64)
        similar: Floats = np.divide(total, weight, out=1.0 - apart, where=weight > 0)
        return 1.0 - similar


def _incidence(n: int, width: int, rows: Any) -> Any:
    """Concepts x features as a sparse 0/1 matrix."""
    from scipy.sparse import csr_array

    if rows is None:
        return csr_array((n, width), dtype=np.float64)
    parts = (np.ones(len(rows.indices)), rows.indices.copy(), rows.starts.copy())
    table = csr_array(parts, shape=(n, width))
    table.sum_duplicates()
    return table.sign()


def _compare(table: Any, rows: Ints, columns: Ints) -> tuple[Floats, Floats, Floats]:
    """Features shared, only of the row, only of the column."""
    left, right = table[rows], table[columns]
    shared: Floats = (left @ right.T).toarray()
    return shared, np.asarray(left.sum(axis=1))[:, None] - shared, np.asarray(right.sum(axis=1))[None, :] - shared
