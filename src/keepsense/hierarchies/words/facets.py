"""Other perspectives on a domain: ancestors replaced by related terms (Ayala-Rivera et al., AIKA, Sec. 3.2, 3d).

An ancestor may be replaced by a facet: a sister term (a concept that shares a parent with it) or a meronym (a part, a
member, a substance of it, as far as the taxonomy knows them), if the facet is no farther from it than a boundary.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from keepsense.errors import BadInput
from keepsense.hierarchies.core import UNKNOWN, Hierarchy, assemble
from keepsense.hierarchies.words.concepts import Namer
from keepsense.semantics.base import Distance
from keepsense.taxonomy.core import Taxonomy

SISTER = "sister"
INSTANCE = "instance"


def related(concept: int, taxonomy: Taxonomy, relations: Sequence[str] | None = None) -> list[int]:
    """Concepts that may stand for another: its sisters and what the taxonomy's other relations link it to.

    >>> from keepsense.taxonomy import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet")], relations={"part": [("cat", "dog")]})
    >>> related(pets.code("cat"), pets) == [pets.code("dog")]
    True
    """
    wanted = [SISTER, *sorted(set(taxonomy.relations) - {INSTANCE})] if relations is None else list(relations)
    found: dict[int, None] = {}
    instances = taxonomy.relations.get(INSTANCE)
    for relation in wanted:
        if relation == SISTER:
            for parent in taxonomy.parents[concept].tolist():
                found.update(dict.fromkeys(taxonomy.children[parent].tolist()))
        else:
            found.update(dict.fromkeys(taxonomy.related(concept, relation).tolist()))
    found.pop(concept, None)
    # A single person or place ("Averroes") is no perspective on a domain.
    return [c for c in found if instances is None or not len(instances[c])]


class Facets:
    """Facets of the ancestors of one column, each list worked out once.

    >>> from keepsense.semantics import distance
    >>> from keepsense.taxonomy.embedded import wordnet
    >>> nouns = wordnet()
    >>> facets = Facets(distance("wu-palmer", nouns), boundary=0.1)
    >>> nouns.labels(facets(nouns.code("surgeon"))[:2])
    ['abortionist', 'allergist']
    """

    def __init__(self, distance: Distance, *, boundary: float = 0.2, relations: Sequence[str] | None = None) -> None:
        if not boundary >= 0:
            raise BadInput(f"the boundary of facets is a distance, not {boundary!r}; give a number of at least 0")
        self.distance = distance
        self.boundary = boundary
        self.relations = relations
        self._found: dict[int, list[int]] = {}

    def __call__(self, concept: int) -> list[int]:
        """Concepts within the boundary, the nearest first."""
        if concept not in self._found:
            self.prepare([concept])
        return self._found[concept]

    def prepare(self, concepts: Iterable[int]) -> None:
        """Work out the facets of several concepts at once, with one distance matrix."""
        open_ = [c for c in dict.fromkeys(concepts) if c not in self._found and c >= 0]
        options = {c: related(c, self.distance.taxonomy, self.relations) for c in open_}
        columns = np.unique(np.array([o for found in options.values() for o in found], dtype=np.int32))
        if not len(columns):
            self._found.update((c, []) for c in open_)
            return
        matrix = self.distance.matrix(np.array(open_, dtype=np.int32), columns)
        for concept, row in zip(open_, matrix, strict=True):
            mine = np.array(options[concept], dtype=np.int32)
            apart = row[np.searchsorted(columns, mine)]
            order = np.argsort(apart, kind="stable")
            self._found[concept] = mine[order][: int((apart <= self.boundary).sum())].tolist()


def replace_concepts(hierarchy: Hierarchy, new: Mapping[int, int], namer: Namer) -> Hierarchy:
    """The hierarchy with some ancestors' concepts, and their labels, replaced at every level they stand on.

    A concept that the hierarchy already holds is never put in a second place.

    >>> from keepsense.hierarchies.words.base import base_hierarchy
    >>> from keepsense.taxonomy import from_edges
    >>> pets = from_edges([("cat", "pet"), ("pet", "animal"), ("beast", "animal")])
    >>> cats = base_hierarchy(["cat"], pets)
    >>> replace_concepts(cats, {pets.code("pet"): pets.code("beast")}, Namer(pets, {"cat": pets.code("cat")})).rows()
    [('cat', 'beast', 'animal')]
    """
    if hierarchy.concepts is None:
        raise BadInput(f"{hierarchy.name}: the hierarchy has no concepts to replace; fill them in first")
    held = {c for level in hierarchy.concepts for c in level.tolist()}
    usable = {old: put for old, put in new.items() if put not in held and old != UNKNOWN}
    usable = {old: put for i, (old, put) in enumerate(usable.items()) if put not in list(usable.values())[:i]}
    leaves = set(hierarchy.concepts[0].tolist())
    labels, concepts = [hierarchy.labels[0]], [hierarchy.concepts[0]]
    for level in range(1, hierarchy.height + 1):
        names, codes = list(hierarchy.labels[level]), hierarchy.concepts[level].copy()
        for i, concept in enumerate(codes.tolist()):
            padding = concept in leaves and hierarchy.leaf_counts[level][i] == 1
            if concept in usable and not padding:
                codes[i] = usable[concept]
                names[i] = namer(usable[concept])
        labels.append(tuple(names))
        concepts.append(codes)
    return assemble(
        hierarchy.name, hierarchy.codes, labels, kind=hierarchy.kind, concepts=concepts, info=hierarchy.info
    )


def diversify(
    hierarchy: Hierarchy,
    facets: Facets,
    namer: Namer,
    *,
    share: float = 0.25,
    rng: np.random.Generator | int | None = None,
) -> Hierarchy:
    """Replace a random share of the ancestors that have facets by one of them each; the top stays.

    >>> from keepsense.hierarchies.words.base import base_hierarchy
    >>> from keepsense.semantics import distance
    >>> from keepsense.taxonomy import from_edges
    >>> pets = from_edges([("cat", "pet"), ("pet", "animal"), ("beast", "animal")])
    >>> namer = Namer(pets, {"cat": pets.code("cat")})
    >>> facets = Facets(distance("path", pets), boundary=2)
    >>> diversify(base_hierarchy(["cat"], pets), facets, namer, share=1, rng=1).rows()
    [('cat', 'beast', 'animal')]
    """
    if not 0 <= share <= 1:
        raise BadInput(f"{hierarchy.name}: the share of ancestors to replace lies between 0 and 1, not {share!r}")
    draw = np.random.default_rng(rng)
    ancestors = inner_concepts(hierarchy)
    facets.prepare(ancestors)
    held = {c for level in hierarchy.concepts or () for c in level.tolist()}
    options = {c: [f for f in facets(c) if f not in held] for c in ancestors}
    open_to = [c for c in ancestors if options[c]]
    if not open_to:
        return hierarchy
    size = min(len(open_to), max(1, round(share * len(open_to)))) if share else 0
    chosen = draw.choice(len(open_to), size=size, replace=False).tolist()
    new = {open_to[i]: options[open_to[i]][int(draw.integers(len(options[open_to[i]])))] for i in chosen}
    return replace_concepts(hierarchy, new, namer)


def inner_concepts(hierarchy: Hierarchy) -> list[int]:
    """Concepts of the labels strictly between the leaves and the top, repeated leaves left out, in a stable order.

    >>> from keepsense.hierarchies.words.base import base_hierarchy
    >>> from keepsense.taxonomy import from_edges
    >>> pets = from_edges([("cat", "pet"), ("pet", "animal")])
    >>> inner_concepts(base_hierarchy(["cat"], pets)) == [pets.code("pet")]
    True
    """
    found: dict[int, None] = {}
    if hierarchy.concepts is None:
        return []
    top = set(hierarchy.concepts[-1].tolist())
    leaf = dict(zip(hierarchy.leaves, hierarchy.concepts[0].tolist(), strict=True))
    for level in range(1, hierarchy.height):
        for label, concept, leaves in zip(
            hierarchy.labels[level],
            hierarchy.concepts[level].tolist(),
            hierarchy.leaf_counts[level].tolist(),
            strict=True,
        ):
            padding = leaves == 1 and leaf.get(label) == concept
            if concept >= 0 and concept not in top and not padding:
                found[concept] = None
    return list(found)
