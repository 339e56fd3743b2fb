"""The four adjustments that turn a base hierarchy into candidates (Ayala-Rivera et al., AIKA, Sec. 3.2, step 3).

Each is a function from a hierarchy to a new one: `reduce_abstractness`, `reduce_outliers`, `remove_levels`, and
`diversify` (by facets). None of them changes the leaves, and all keep every level a coarsening of the one below.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints
from keepsense.counts import Value
from keepsense.errors import BadHierarchy, BadInput
from keepsense.hierarchies.hierarchy import UNKNOWN, Hierarchy, assemble
from keepsense.hierarchies.word_concepts import Namer
from keepsense.semantics.distance import Distance
from keepsense.taxonomy.taxonomy import Taxonomy

Rename = Literal["parent", "outlier", "root"]
RENAMES: tuple[Rename, ...] = ("parent", "outlier", "root")
_SLACK = 1e-12


def reduce_abstractness(hierarchy: Hierarchy) -> Hierarchy:
    """Cut the hierarchy at the lowest level where all branches meet: what lies above only repeats one group.

    >>> tall = Hierarchy.of_rows([("nurse", "medic", "person", "entity"), ("clerk", "office", "person", "entity")])
    >>> reduce_abstractness(tall).rows()[0]
    ('nurse', 'medic', 'person')
    """
    for level in range(1, hierarchy.height + 1):
        if len(hierarchy.labels[level]) == 1:
            return keep_levels(hierarchy, range(1, level + 1))
    return hierarchy


def remove_levels(hierarchy: Hierarchy, height: int) -> Hierarchy:
    """Take whole levels out until the hierarchy has the wanted height; the leaves and the top stay.

    Each time that level goes whose absence is least felt: the one between the two levels whose numbers of labels are
    most alike. A hierarchy that is low enough is returned as it is.

    >>> rows = [("a", "a1", "ab", "x", "*"), ("b", "b1", "ab", "x", "*"), ("c", "c1", "c2", "x", "*")]
    >>> remove_levels(Hierarchy.of_rows(rows), 2).rows()
    [('a', 'ab', '*'), ('b', 'ab', '*'), ('c', 'c2', '*')]
    """
    if height < 1:
        raise BadInput(f"{hierarchy.name}: a hierarchy has a height of at least 1, not {height}")
    kept = list(range(hierarchy.height + 1))
    sizes = [len(labels) for labels in hierarchy.labels]
    while len(kept) - 1 > height:
        step = [math.log(sizes[kept[i - 1]] / sizes[kept[i + 1]]) for i in range(1, len(kept) - 1)]
        del kept[1 + int(np.argmin(np.round(step, 12)))]
    return keep_levels(hierarchy, kept[1:])


def keep_levels(hierarchy: Hierarchy, levels: Sequence[int]) -> Hierarchy:
    """The leaves and only the given levels above them.

    >>> keep_levels(Hierarchy.of_rows([("a", "b", "c", "*")]), [2, 3]).rows()
    [('a', 'c', '*')]
    """
    chosen = [0, *levels]
    if any(a >= b for a, b in pairwise(chosen)):
        raise BadInput(f"{hierarchy.name}: levels to keep must be above 0 and ascending")
    for level in chosen:
        hierarchy.check_level(level)
    if len(chosen) == hierarchy.height + 1:
        return hierarchy
    concepts = None if hierarchy.concepts is None else tuple(hierarchy.concepts[i] for i in chosen)
    codes = np.ascontiguousarray(hierarchy.codes[:, chosen])
    labels = tuple(hierarchy.labels[i] for i in chosen)
    return Hierarchy(hierarchy.name, labels, codes, hierarchy.kind, concepts, hierarchy.info)


def reduce_outliers(
    hierarchy: Hierarchy,
    counts: Sequence[int] | NDArray[np.int64],
    k: int,
    *,
    under: Rename = "parent",
    distance: Distance | LeafLosses | None = None,
    boundary: float | None = None,
) -> Hierarchy:
    """Group branches that hold fewer than k rows, so that k is reached lower down.

    Level by level from the leaves up, the labels that hold at least one and fewer than k rows are outliers. Sisters
    among them whose rows add up to k become one group, named by `under`:

    - `parent`: the label of their parent. With a `distance`, outliers of different parents are grouped too, under the
      parent that holds most of their rows;
    - `outlier`: the outlier with most rows, promoted (needs a `distance`);
    - `root`: the top's label from this level on, which is to suppress them; all outliers of a level may join.

    Only where it is consistent: a leaf must not lose more by its new label than at the level above the group, nor more
    than `boundary` where one is given; a parent and the root above it always are. What cannot be grouped stays.

    >>> jobs = Hierarchy.of_rows([(j, j + "s", "worker", "*") for j in ("nurse", "pilot", "clerk")])
    >>> reduce_outliers(jobs, [9, 2, 1], k=3).labels[1]
    ('nurses', 'worker')
    """
    if under not in RENAMES:
        raise BadInput(f"{hierarchy.name}: outliers go under parent, outlier or root, not {under!r}")
    if under == "outlier" and distance is None:
        raise BadInput(f"{hierarchy.name}: promoting an outlier needs a distance, to see that it is consistent")
    weights = row_counts(hierarchy, counts)
    if k < 1:
        raise BadInput(f"{hierarchy.name}: k must be at least 1, not {k}")
    losses = LeafLosses(distance, hierarchy.concept_codes(0)) if isinstance(distance, Distance) else distance
    if losses is not None:
        losses.prepare(np.concatenate([hierarchy.concept_codes(level) for level in range(hierarchy.height + 1)]))
    work = _Work(hierarchy, weights, losses, boundary)
    for level in range(1, hierarchy.height):
        if under == "root":
            work.to_root(level, k)
        else:
            work.sisters(level, k, promote=under == "outlier")
            if under == "parent" and distance is not None and level + 2 <= hierarchy.height:
                work.cousins(level, k)
    return work.done() if work.changed else hierarchy


def row_counts(hierarchy: Hierarchy, counts: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Counts of rows for each leaf, checked."""
    weights = np.asarray(counts, dtype=np.int64)
    if weights.shape != (len(hierarchy.leaves),) or (weights < 0).any():
        raise BadInput(
            f"{hierarchy.name}: {len(hierarchy.leaves):,} leaves need as many counts of rows, none below zero"
        )
    return weights


class LeafLosses:
    """Distances from a column's leaf concepts to others, asked for once and kept; unknown concepts cost nothing.

    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet")])
    >>> LeafLosses(distance("path", pets), pets.codes(["cat", "dog"]))(pets.code("pet")).tolist()
    [1.0, 1.0]
    """

    def __init__(self, distance: Distance, leaves: Ints) -> None:
        self.distance = distance
        self._leaves = leaves
        self._known = leaves >= 0
        self._found: dict[int, Floats] = {}

    def __call__(self, concept: int) -> Floats:
        """Loss of every leaf if it were generalized to a concept."""
        if concept not in self._found:
            self.prepare(np.array([concept], dtype=np.int32))
        return self._found[concept]

    def prepare(self, concepts: Ints) -> None:
        """Work out several concepts at once."""
        fresh = [c for c in np.unique(concepts).tolist() if c not in self._found]
        for concept in fresh:
            self._found[concept] = np.zeros(len(self._leaves))
        wanted = np.array([c for c in fresh if c >= 0], dtype=np.int32)
        if len(wanted) and self._known.any():
            matrix = self.distance.matrix(self._leaves[self._known], wanted)
            for i, concept in enumerate(wanted.tolist()):
                self._found[concept][self._known] = matrix[:, i]


class _Work:
    """A hierarchy while outliers are grouped: codes change, tables of labels grow."""

    def __init__(
        self, hierarchy: Hierarchy, weights: NDArray[np.int64], losses: LeafLosses | None, boundary: float | None
    ) -> None:
        self.hierarchy = hierarchy
        self.weights = weights
        self.codes = hierarchy.codes.copy()
        self.labels: list[list[Value]] = [list(row) for row in hierarchy.labels]
        self.concepts: list[list[int]] = [hierarchy.concept_codes(i).tolist() for i in range(hierarchy.height + 1)]
        self.losses = losses
        self.boundary = boundary
        self.changed = False

    def outliers(self, level: int, k: int) -> Ints:
        """Codes of the labels with too few rows."""
        sizes = np.bincount(self.codes[:, level], self.weights, len(self.labels[level]))
        return np.flatnonzero((sizes > 0) & (sizes < k)).astype(np.int32)

    def consistent(self, rows: NDArray[np.bool_], concept: int, allowed: Floats) -> bool:
        """Whether none of the rows loses more by a concept than is allowed."""
        if concept < 0 or self.losses is None:
            return False
        lost = self.losses(concept)[rows]
        bound = np.minimum(allowed[rows], np.inf if self.boundary is None else self.boundary)
        return bool((lost <= bound + _SLACK).all())

    def losses_at(self, level: int) -> Floats:
        """Loss of every leaf at a level as it stands now."""
        if self.losses is None:
            return np.zeros(len(self.codes))
        codes = self.codes[:, level]
        used, at = np.unique(codes, return_inverse=True)
        table = np.stack([self.losses(self.concepts[level][code]) for code in used.tolist()])
        found: Floats = table[at, np.arange(len(codes))]
        return found

    def sisters(self, level: int, k: int, *, promote: bool) -> None:
        """Group outliers under one parent."""
        few = self.outliers(level, k)
        mine = np.isin(self.codes[:, level], few)
        allowed = (
            self.losses_at(level + 1) if promote and mine.any() else np.zeros(0)
        )  # grouping below leaves it as it is
        for parent in np.unique(self.codes[mine, level + 1]).tolist():
            rows = mine & (self.codes[:, level + 1] == parent)
            label, concept = self.labels[level + 1][parent], self.concepts[level + 1][parent]
            if promote:
                sizes = np.bincount(self.codes[rows, level], self.weights[rows], len(self.labels[level]))
                best = int(np.argmax(sizes))
                label, concept = self.labels[level][best], self.concepts[level][best]
                for code in np.unique(self.codes[rows, level]).tolist():
                    member = self.codes[:, level] == code
                    if code != best and not self.consistent(member, concept, allowed):
                        rows &= ~member
            self.group(rows, level, k, label, concept, parent)

    def cousins(self, level: int, k: int) -> None:
        """Group outliers of different parents under the parent that holds most of their rows."""
        few = self.outliers(level, k)
        mine = np.isin(self.codes[:, level], few)
        allowed = self.losses_at(level + 2)
        for grand in np.unique(self.codes[mine, level + 2]).tolist():
            rows = mine & (self.codes[:, level + 2] == grand)
            sizes = np.bincount(self.codes[rows, level + 1], self.weights[rows], len(self.labels[level + 1]))
            parent = int(np.argmax(sizes))
            concept = self.concepts[level + 1][parent]
            for code in np.unique(self.codes[rows & (self.codes[:, level + 1] != parent), level]).tolist():
                member = self.codes[:, level] == code
                if not self.consistent(member, concept, allowed):
                    rows &= ~member
            for home in np.unique(self.codes[rows, level + 1]).tolist():
                # Those who move out must not leave too few behind.
                left = self.weights[(self.codes[:, level + 1] == home) & ~rows].sum()
                if home != parent and 0 < left < k:
                    rows &= self.codes[:, level + 1] != home
            self.group(rows, level, k, self.labels[level + 1][parent], concept, parent)

    def to_root(self, level: int, k: int) -> None:
        """Group all outliers of a level under the root, up to the top."""
        rows = np.isin(self.codes[:, level], self.outliers(level, k))
        top = self.hierarchy.height
        label, concept = self.labels[top][self.codes[0, top]], self.concepts[top][self.codes[0, top]]
        joined = rows.copy()
        if label in self.labels[level]:
            joined |= self.codes[:, level] == self.labels[level].index(label)
        if not rows.any() or self.weights[joined].sum() < k or len(np.unique(self.codes[:, top])) > 1:
            return
        for here in range(level, top):
            self.codes[rows, here] = self.code(here, label, concept)
        self.changed = True

    def group(self, rows: NDArray[np.bool_], level: int, k: int, label: Value, concept: int, parent: int) -> None:
        """Make the rows one group of a level, if there are enough of them and they are not one already."""
        if self.weights[rows].sum() < k or len(np.unique(self.codes[rows, level])) < 2:
            return
        code = self.code(level, label, concept)
        holds = (self.codes[:, level] == code) & ~rows
        if holds.any() and (self.codes[holds, level + 1] != parent).any():
            return  # the label stands elsewhere on this level; joining it would tear a branch
        self.codes[rows, level] = code
        self.codes[rows, level + 1] = parent
        self.changed = True

    def code(self, level: int, label: Value, concept: int) -> int:
        """Code of a label on a level, made where it is new."""
        if label in self.labels[level]:
            return self.labels[level].index(label)
        self.labels[level].append(label)
        self.concepts[level].append(concept)
        return len(self.labels[level]) - 1

    def done(self) -> Hierarchy:
        """The hierarchy after all grouping."""
        h = self.hierarchy
        known = None if h.concepts is None else [np.array(c, dtype=np.int32) for c in self.concepts]
        made = assemble(h.name, self.codes, self.labels, kind=h.kind, concepts=known, info=h.info)
        for level in range(made.height):
            if (made.parents[level][made.codes[:, level]] != made.codes[:, level + 1]).any():
                raise BadHierarchy(f"{h.name}: grouping outliers tore level {level}")
        return made


# Facets: ancestors replaced by sister terms or meronyms that are near enough (AIKA, Sec. 3.2, 3d)

SISTER = "sister"
INSTANCE = "instance"


def related(concept: int, taxonomy: Taxonomy, relations: Sequence[str] | None = None) -> list[int]:
    """Concepts that may stand for another: its sisters and what the taxonomy's other relations link it to.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
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

    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.embedded_taxonomies import wordnet
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

    >>> from keepsense.hierarchies.word_concepts import base_hierarchy
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
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

    >>> from keepsense.hierarchies.word_concepts import base_hierarchy
    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
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

    >>> from keepsense.hierarchies.word_concepts import base_hierarchy
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
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
