"""How far values lie from one another by what they mean: concepts of a hierarchy's labels, and their distances."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Value
from keepsense.errors import BadHierarchy, BadInput
from keepsense.hierarchies.core import Hierarchy
from keepsense.recoding import SUPPRESSED
from keepsense.semantics import Distance
from keepsense.taxonomy import Concept, Taxonomy


def value_concepts(hierarchy: Hierarchy, taxonomy: Taxonomy) -> dict[Value, int]:
    """Concept of every label of a hierarchy; a label without one is taken for the least common subsumer of its leaves.

    A suppressed value (`*`) is the hierarchy's own top where that has a concept, else the root of the taxonomy. Leaves
    without a concept are left out.

    >>> from keepsense.taxonomy import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet"), ("pet", "animal")])
    >>> found = value_concepts(Hierarchy.of_rows([("cat", "house", "*"), ("dog", "house", "*")]), pets)
    >>> {label: pets.label(code) for label, code in found.items()}
    {'cat': 'cat', 'dog': 'dog', 'house': 'pet', '*': 'animal'}
    """
    leaf = hierarchy.concept_codes(0)
    if hierarchy.concepts is None:
        named = [taxonomy.get(value) if isinstance(value, str) else None for value in hierarchy.leaves]
        leaf = np.array([-1 if code is None else code for code in named], dtype=np.int32)
    concepts: dict[Value, int] = {v: int(c) for v, c in zip(hierarchy.leaves, leaf, strict=True) if c >= 0}
    for level in range(1, hierarchy.height + 1):
        known = hierarchy.concept_codes(level)
        for code, label in enumerate(hierarchy.labels[level]):
            if label in concepts or (label == SUPPRESSED and known[code] < 0):
                continue
            below = leaf[(hierarchy.codes[:, level] == code) & (leaf >= 0)].tolist()
            if known[code] >= 0:
                concepts[label] = int(known[code])
            elif below:
                concepts[label] = taxonomy.lcs(*below)
    concepts.setdefault(SUPPRESSED, taxonomy.root)
    return concepts


def listed_members(hierarchy: Hierarchy) -> dict[Value, list[Value]]:
    """Labels that list what they stand for (`midwife or nurse`), and their leaves; such a label has no concept.

    >>> tree = Hierarchy.of_rows([("midwife", "midwife or nurse", "*"), ("nurse", "midwife or nurse", "*")])
    >>> listed_members(tree)
    {'midwife or nurse': ['midwife', 'nurse']}
    """
    members: dict[Value, list[Value]] = {}
    for level in range(1, hierarchy.height):
        known = hierarchy.concept_codes(level)
        for code, label in enumerate(hierarchy.labels[level]):
            if isinstance(label, str) and " or " in label and known[code] < 0 and label not in members:
                inside = np.flatnonzero(hierarchy.codes[:, level] == code).tolist()
                if len(inside) > 1:
                    members[label] = [hierarchy.leaves[i] for i in inside]
    return members


def value_distances(
    distance: Distance,
    released: Sequence[Value],
    originals: Sequence[Value],
    concepts: Mapping[Value, Concept] | None = None,
    listed: Mapping[Value, Sequence[Value]] | None = None,
) -> Floats:
    """Matrix of distances from released to original values, from 0 to 1 (divided by the distance's maximum).

    `concepts` gives the concept of each value (see `value_concepts`); without it values are concepts themselves. A
    suppressed value stands at the root unless `concepts` says otherwise. A label that lists what it stands for
    (`listed`, see `listed_members`) is as far away as its members are on average.

    >>> from keepsense.semantics import distance
    >>> from keepsense.taxonomy import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet")])
    >>> value_distances(distance("path", pets), ["*", "cat"], ["cat", "dog"]).tolist()
    [[0.5, 0.5], [0.0, 1.0]]
    """
    columns = _codes(distance.taxonomy, originals, concepts)

    def far(values: Sequence[Value]) -> Floats:
        rows = _codes(distance.taxonomy, values, concepts)
        return distance.matrix(rows, columns) / (distance.maximum or 1.0)

    return _listed_distances(far, released, originals, concepts, listed)


def _listed_distances(
    far: Callable[[Sequence[Value]], Floats],
    released: Sequence[Value],
    originals: Sequence[Value],
    concepts: Mapping[Value, Concept] | None,
    listed: Mapping[Value, Sequence[Value]] | None,
) -> Floats:
    """As `value_distances`, where `far` tells how far the concepts of some values lie from those of the originals."""
    places: dict[Value, list[int]] = {}
    for place, value in enumerate(originals):
        places.setdefault(value, []).append(place)

    def apart(values: Sequence[Value]) -> Floats:
        found = far(values)
        for row, value in enumerate(values):
            found[row, places.get(value, [])] = 0.0
        return found

    found = apart(released)
    for i, label in enumerate(released):
        inside = [v for v in (listed or {}).get(label, ()) if concepts is None or v in concepts]
        if inside:
            found[i] = apart(inside).mean(axis=0)
    return found


def leaf_distances(hierarchy: Hierarchy, distance: Distance) -> tuple[list[Floats], Floats]:
    """How far each leaf of a hierarchy lies from its label at each level, and from being suppressed, from 0 to 1.

    A leaf in no taxonomy (a stranger, or a missing cell) loses nothing while its label stands for it alone, and
    everything when it is thrown together with others. A label that lists what it stands for is as far away as its
    members are on average, where strangers are as far as can be from all but themselves. A hierarchy none of whose
    leaves has a concept is refused.

    >>> from keepsense.semantics import distance
    >>> from keepsense.taxonomy import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet"), ("pet", "animal")])
    >>> tree = Hierarchy.of_rows([("cat", "pet", "*"), ("dog", "pet", "*"), ("robot", "robot", "*")])
    >>> levels, suppressed = leaf_distances(tree, distance("path", pets))
    >>> [level.tolist() for level in levels], suppressed.tolist()
    ([[0.0, 0.0, 0.0], [0.25, 0.25, 0.0], [0.5, 0.5, 1.0]], [0.5, 0.5, 1.0])
    """
    concepts, listed = value_concepts(hierarchy, distance.taxonomy), listed_members(hierarchy)
    leaves = hierarchy.leaves
    known = np.array([value in concepts for value in leaves], dtype=np.bool_)
    if not known.any():
        raise BadHierarchy(f"{hierarchy.name}: the hierarchy's leaves have no concepts; map its values first")
    mine = np.flatnonzero(known)
    words = [leaves[i] for i in mine.tolist()]
    far = _measured_once(distance, [*concepts, SUPPRESSED], words, concepts)

    def towards(labels: Sequence[Value], code: NDArray[np.int32]) -> Floats:
        """Distance of each leaf from the label of its code."""
        there = np.array([label in concepts for label in labels], dtype=np.bool_)
        alone = np.bincount(code, minlength=len(labels)) == 1
        distances = np.where(alone[code], 0.0, 1.0)
        place = np.cumsum(there) - 1
        both = mine[there[code[mine]]]
        known_labels = [v for v, good in zip(labels, there, strict=True) if good]
        table = _listed_distances(far, known_labels, words, concepts, listed)
        distances[both] = table[place[code[both]], np.searchsorted(mine, both)]
        # of a list, strangers are members like others: at 0 from themselves, as far as can be from the rest
        size = np.bincount(code, minlength=len(labels))
        strange = np.bincount(code[~known], minlength=len(labels))
        for at in (i for i, label in enumerate(labels) if label in listed and strange[i]):
            inside = code == at
            near = distances[inside & known] * (size[at] - strange[at])
            distances[inside & known] = (near + strange[at]) / size[at]
            distances[inside & ~known] = 1.0 - 1.0 / size[at]
        return distances

    levels = [np.zeros(len(leaves))]
    levels += [towards(hierarchy.labels[at], hierarchy.codes[:, at]) for at in range(1, hierarchy.height + 1)]
    hidden = np.ones(len(leaves))
    hidden[mine] = _listed_distances(far, [SUPPRESSED], words, concepts, None)[0]
    return levels, hidden


def _measured_once(
    distance: Distance, values: Sequence[Value], words: Sequence[Value], concepts: Mapping[Value, int]
) -> Callable[[Sequence[Value]], Floats]:
    """How far the concepts of any of the values lie from those of the words, measured once for all of them."""
    codes = _codes(distance.taxonomy, values, concepts)
    each, row = np.unique(codes, return_inverse=True)
    table = distance.matrix(each, _codes(distance.taxonomy, words, concepts)) / (distance.maximum or 1.0)
    place = dict(zip(values, row.tolist(), strict=True))
    return lambda some: np.asarray(table[[place[value] for value in some]], dtype=np.float64)


def _codes(taxonomy: Taxonomy, values: Sequence[Value], concepts: Mapping[Value, Concept] | None) -> NDArray[np.int32]:
    codes = []
    missing = 0
    for value in values:
        if concepts is not None and value in concepts:
            codes.append(taxonomy.code(concepts[value]))
        elif value == SUPPRESSED:
            codes.append(taxonomy.root)
        elif concepts is None and isinstance(value, str):
            codes.append(taxonomy.code(value))
        else:
            missing += 1
    if missing:
        raise BadInput(f"{missing} of {len(values)} values have no concept in {taxonomy.name}; give their concepts")
    return np.array(codes, dtype=np.int32)
