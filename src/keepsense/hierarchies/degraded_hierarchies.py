"""Hierarchies made worse on purpose, to test scores of hierarchies.

Ayala-Rivera et al. 2017 (Sec. 4.3) make a test bed of 100 hierarchies for each column: an ideal one, taken from the
taxonomy, and others perturbed by removing levels, aggregating nodes in different groups, and replacing ancestors by
other terms within a boundary of similarity. The paper gives no recipe; here each hierarchy of the test bed gets a
strength s between 0 and 1, so that the test bed spreads from the ideal to the poor: up to s/2 of the levels go, s/2 of
the labels of every level change their group, and s of the ancestors are replaced by concepts no farther than s times
the boundary. Each kind of perturbation can be had alone.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Ints
from keepsense.errors import BadInput
from keepsense.hierarchies.aika_adjustments import inner_concepts, keep_levels, replace_concepts
from keepsense.hierarchies.hierarchy import Hierarchy, assemble
from keepsense.hierarchies.word_concepts import Namer
from keepsense.semantics.distance import Distance

Perturbation = Literal["levels", "groups", "ancestors"]
PERTURBATIONS: tuple[Perturbation, ...] = ("levels", "groups", "ancestors")
_TRIES = 30


def drop_levels(hierarchy: Hierarchy, number: int, *, rng: np.random.Generator | int | None = None) -> Hierarchy:
    """Remove some levels at random; the leaves and the top stay.

    >>> drop_levels(Hierarchy.of_rows([("a", "b", "c", "*")]), 2, rng=1).rows()
    [('a', '*')]
    """
    draw = np.random.default_rng(rng)
    inner = np.arange(1, hierarchy.height)
    gone = draw.choice(inner, size=min(max(0, number), len(inner)), replace=False).tolist()
    return keep_levels(hierarchy, [level for level in range(1, hierarchy.height + 1) if level not in gone])


def regroup(hierarchy: Hierarchy, share: float, *, rng: np.random.Generator | int | None = None) -> Hierarchy:
    """Move a share of the labels of every level below the top to another parent, drawn at random.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("clerk", "office", "*"), ("pilot", "office", "*")])
    >>> regroup(jobs, 0.5, rng=3).labels[0]
    ('nurse', 'clerk', 'pilot')
    """
    if not 0 <= share <= 1:
        raise BadInput(f"{hierarchy.name}: the share of labels to regroup lies between 0 and 1, not {share!r}")
    draw = np.random.default_rng(rng)
    codes = hierarchy.codes.copy()
    for level in range(hierarchy.height - 1):
        up = hierarchy.parents[level].copy()
        choices = len(hierarchy.labels[level + 1])
        size = round(share * len(up))
        if choices > 1 and size:
            moved = draw.choice(len(up), size=size, replace=False)
            up[moved] = draw.integers(choices, size=size)
        codes[:, level + 1] = up[codes[:, level]]
    return assemble(
        hierarchy.name,
        codes,
        hierarchy.labels,
        kind=hierarchy.kind,
        concepts=hierarchy.concepts,
        info=hierarchy.info,
    )


class Neighbours:
    """Concepts of the whole taxonomy within a distance of another, found once for each ancestor.

    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet"), ("pet", "animal")])
    >>> near = Neighbours(distance("path", pets))
    >>> pets.labels(near(pets.code("pet"), 1))
    ['cat', 'dog', 'animal']
    """

    def __init__(self, distance: Distance) -> None:
        self.distance = distance
        self._order: dict[int, tuple[Ints, NDArray[np.float32]]] = {}

    def __call__(self, concept: int, boundary: float) -> Ints:
        """Concepts no farther than the boundary, nearest first, itself left out."""
        found = self._order.get(concept)
        if found is None:
            apart = self.distance.against_all(np.array([concept], dtype=np.int32), dtype=np.float32)[0]
            order = np.argsort(apart, kind="stable").astype(np.int32)
            order = order[order != concept]
            found = self._order[concept] = (order, apart[order])
        order, apart = found
        within: Ints = order[: int(np.searchsorted(apart, np.float32(boundary), side="right"))]
        return within


def replace_ancestors(
    hierarchy: Hierarchy,
    neighbours: Neighbours,
    namer: Namer,
    *,
    share: float,
    boundary: float,
    rng: np.random.Generator | int | None = None,
) -> Hierarchy:
    """Replace a share of the ancestors by any concept within a boundary, drawn at random; the top stays.

    >>> from keepsense.hierarchies.word_concepts import base_hierarchy
    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "pet"), ("pet", "animal"), ("beast", "animal")])
    >>> near = Neighbours(distance("path", pets))
    >>> namer = Namer(pets, {"cat": pets.code("cat")})
    >>> replace_ancestors(base_hierarchy(["cat"], pets), near, namer, share=1, boundary=2, rng=1).rows()
    [('cat', 'beast', 'animal')]
    """
    if not 0 <= share <= 1:
        raise BadInput(f"{hierarchy.name}: the share of ancestors to replace lies between 0 and 1, not {share!r}")
    draw = np.random.default_rng(rng)
    inner = inner_concepts(hierarchy)
    held = {c for level in hierarchy.concepts or () for c in level.tolist()}
    chosen = draw.choice(len(inner), size=round(share * len(inner)), replace=False).tolist() if inner else []
    new: dict[int, int] = {}
    for i in chosen:
        options = neighbours(inner[i], boundary)
        for _ in range(_TRIES if len(options) else 0):
            option = int(options[int(draw.integers(len(options)))])
            if option not in held:
                held.add(option)
                new[inner[i]] = option
                break
    return replace_concepts(hierarchy, new, namer) if new else hierarchy


def perturb(
    hierarchy: Hierarchy,
    neighbours: Neighbours,
    namer: Namer,
    *,
    strength: float,
    kinds: Collection[Perturbation] = PERTURBATIONS,
    boundary: float = 0.8,
    rng: np.random.Generator | int | None = None,
) -> Hierarchy:
    """Apply the perturbations together, as hard as the strength says (0 changes nothing).

    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "pet"), ("pet", "animal")])
    >>> cats = Hierarchy.of_rows([("cat", "pet", "animal")])
    >>> perturb(cats, Neighbours(distance("path", pets)), Namer(pets, {}), strength=0, rng=1) is cats
    True
    """
    if not 0 <= strength <= 1:
        raise BadInput(f"{hierarchy.name}: the strength of a perturbation lies between 0 and 1, not {strength!r}")
    strange = set(kinds) - set(PERTURBATIONS)
    if strange or not kinds:
        raise BadInput(f"{hierarchy.name}: perturbations are {', '.join(PERTURBATIONS)}; give at least one of them")
    draw = np.random.default_rng(rng)
    made = hierarchy
    if "levels" in kinds:
        made = drop_levels(made, round(strength * draw.random() * (made.height - 1) / 2), rng=draw)
    if "groups" in kinds and strength:
        made = regroup(made, strength / 2, rng=draw)
    if "ancestors" in kinds and strength:
        made = replace_ancestors(made, neighbours, namer, share=strength, boundary=strength * boundary, rng=draw)
    return made


def make_test_bed(
    ideal: Hierarchy,
    distance: Distance,
    *,
    wanted: int = 100,
    kinds: Collection[Perturbation] = PERTURBATIONS,
    boundary: float = 0.8,
    rng: np.random.Generator | int | None = None,
) -> list[Hierarchy]:
    """The ideal hierarchy and perturbed ones, of rising strength and different structure, `wanted` in all.

    >>> from keepsense.hierarchies.word_concepts import base_hierarchy
    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.embedded_taxonomies import wordnet
    >>> ideal = base_hierarchy(["nurse", "surgeon", "pilot"], wordnet())
    >>> len(make_test_bed(ideal, distance("wu-palmer", wordnet()), wanted=10, rng=1))
    10
    """
    if ideal.concepts is None:
        raise BadInput(f"{ideal.name}: a test bed starts from a hierarchy with concepts; fill them in first")
    draw = np.random.default_rng(rng)
    neighbours = Neighbours(distance)
    leaves = dict(zip(ideal.leaves, ideal.concepts[0].tolist(), strict=True))
    namer = Namer(distance.taxonomy, leaves)
    bed = [ideal]
    seen = {(ideal.labels, ideal.codes.tobytes())}
    misses = 0  # in a row; each makes the next try a little stronger
    while len(bed) < wanted and misses < _TRIES * wanted:
        strength = min(1.0, (len(bed) + misses) / max(1, wanted - 1))
        made = perturb(ideal, neighbours, namer, strength=strength, kinds=kinds, boundary=boundary, rng=draw)
        key = (made.labels, made.codes.tobytes())
        if key in seen:
            misses += 1
            continue
        misses = 0
        seen.add(key)
        bed.append(made.with_info(made=f"perturbed, strength {strength:.2f}", strength=strength))
    return bed
