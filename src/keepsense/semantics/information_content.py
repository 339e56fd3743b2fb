"""Resnik, Lin and Jiang-Conrath distances, and their information content."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints
from keepsense.errors import BadInput, did_you_mean
from keepsense.semantics.distance import Distance, Part, register, subsumer_counts
from keepsense.taxonomy.taxonomy import Concept, Taxonomy


def corpus(taxonomy: Taxonomy, counts: Mapping[Concept, float] | NDArray[Any], *, smoothing: float = 1.0) -> Floats:
    """-log of the share of a corpus that falls under each concept (Eq. 4.11).

    `counts` are occurrences of the concepts themselves: an array, or a mapping of some of them. An occurrence counts
    for everything above it, once. `smoothing` is added to every concept first, so that none has probability 0.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "animal"), ("dog", "animal")])
    >>> corpus(pets, {"cat": 6}).round(3).tolist()
    [0.251, 0.0, 2.197]
    """
    if isinstance(counts, Mapping):
        own = np.zeros(len(taxonomy))
        np.add.at(own, taxonomy.codes(list(counts)), _numbers(list(counts.values())))
    else:
        own = _numbers(counts)
    if own.shape != (len(taxonomy),) or (own < 0).any() or not np.isfinite(own).all():
        raise BadInput(f"a corpus needs one non-negative count for each of the {len(taxonomy):,} concepts")
    if not 0 <= smoothing < np.inf:
        raise BadInput(f"smoothing cannot be negative or infinite: {smoothing}")
    below = own + smoothing + taxonomy.sums_below((own + smoothing)[:, None])[:, 0]
    if (below <= 0).any():
        raise BadInput("some concepts never occur in the corpus; give a smoothing above 0")
    content: Floats = -np.log(below / below[taxonomy.root])
    return content + 0.0


def seco(taxonomy: Taxonomy) -> Floats:
    """1 - log(hyponyms + 1) / log(all concepts) (Seco et al. 2004; Eq. 4.15). Between 0 (root) and 1 (leaves).

    Eq. 4.15 divides by the logarithm of the root's hyponyms, which makes the root's content slightly negative; counting
    all concepts, the root included, makes it 0.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> seco(from_edges([("cat", "animal"), ("dog", "animal")])).tolist()
    [1.0, 0.0, 1.0]
    """
    if len(taxonomy) == 1:
        return np.zeros(1)
    content: Floats = 1.0 - np.log(taxonomy.hyponym_counts + 1.0) / np.log(len(taxonomy))
    return content


def zhou(taxonomy: Taxonomy, k: float = 0.5) -> Floats:
    """Seco's content and relative depth, mixed with weight k (Zhou et al. 2008; Eq. 4.16). Between 0 and 1.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> zhou(from_edges([("cat", "animal"), ("dog", "animal")])).tolist()
    [1.0, 0.0, 1.0]
    """
    if not isinstance(k, int | float | np.number) or not 0 <= k <= 1:
        raise BadInput(f"the weight k of Zhou's information content must lie between 0 and 1, not {k}")
    if taxonomy.max_depth == 1:
        return np.zeros(len(taxonomy))
    relative = np.log(taxonomy.depth) / np.log(taxonomy.max_depth)
    content: Floats = k * seco(taxonomy) + (1.0 - k) * relative
    return content


def sanchez(taxonomy: Taxonomy) -> Floats:
    """-log((leaves / subsumers + 1) / (all leaves + 1)) (Sánchez et al. 2011; Eq. 4.17). The root has 0.

    A leaf has 0 leaves below it, so all leaves have the same, largest content.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> sanchez(from_edges([("cat", "animal"), ("dog", "animal")])).round(4).tolist()
    [1.0986, 0.0, 1.0986]
    """
    every = np.arange(len(taxonomy), dtype=np.int32)
    ratio = taxonomy.leaf_counts / subsumer_counts(taxonomy, every)
    content: Floats = -np.log((ratio + 1.0) / (float(taxonomy.leaf_counts[taxonomy.root]) + 1.0))
    return content + 0.0


_INTRINSIC: dict[str, Callable[[Taxonomy], Floats]] = {"seco": seco, "zhou": zhou, "sanchez": sanchez}


def information_content(taxonomy: Taxonomy, source: str | NDArray[Any]) -> Floats:
    """Information content by name (`seco`, `zhou`, `sanchez`) or as an array of one's own, checked.

    A concept may not be less informative than a parent of it: distances would be negative.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> information_content(from_edges([("cat", "animal")]), "seco").tolist()
    [1.0, 0.0]
    """
    if isinstance(source, str):
        if source not in _INTRINSIC:
            known = ", ".join(_INTRINSIC)
            raise BadInput(
                f"no information content is called {source!r}; there are: {known}.{did_you_mean(source, _INTRINSIC)}"
            )
        return _INTRINSIC[source](taxonomy)
    content = _numbers(source)
    if content.shape != (len(taxonomy),) or not np.isfinite(content).all() or (content < 0).any():
        raise BadInput(
            f"information content needs one finite, non-negative number a concept ({len(taxonomy):,} of them)"
        )
    child, parent = taxonomy.parents.row_of(), taxonomy.parents.indices
    falling = np.flatnonzero(content[child] < content[parent] - 1e-12)
    if len(falling):
        worst = int(child[falling[0]])
        raise BadInput(
            f"information content falls from a parent to {taxonomy.label(worst)!r}; it must never fall downwards"
        )
    return content


def _numbers(content: object) -> Floats:
    """An array of one's own, or NaN where it does not hold numbers: the checks that follow refuse that."""
    try:
        return np.array(content, dtype=np.float64)
    except (TypeError, ValueError):
        return np.array(np.nan)


# Resnik, Lin, Jiang-Conrath (Rodríguez-García 2017, Eq. 4.12-4.14): all use the most informative common subsumer


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

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
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

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
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

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
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
