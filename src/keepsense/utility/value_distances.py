"""Distances of released values from original ones, column by column, for linkage and for metrics of meaning.

Words are compared in their taxonomy, numbers, dates and ordered words by how far apart they stand, sets by the items
they share. A released range, or a released label that covers an original, is judged by what it covers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Counts, Value
from keepsense.errors import BadHierarchy, BadInput
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.intervals import parse_interval
from keepsense.recoding import SUPPRESSED, Cells
from keepsense.semantics.distance import Distance
from keepsense.taxonomy.taxonomy import Concept, Taxonomy

# Concepts of labels, and their distances


def value_concepts(hierarchy: Hierarchy, taxonomy: Taxonomy) -> dict[Value, int]:
    """Concept of every label of a hierarchy; a label without one is taken for the least common subsumer of its leaves.

    A suppressed value (`*`) is the hierarchy's own top where that has a concept, else the root of the taxonomy. Leaves
    without a concept are left out.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
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

    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
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

    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
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


# Released values and original ones


@dataclass(frozen=True, eq=False)
class Scale:
    """How values of one column are compared, by its kind.

    `hierarchy` is where released labels come from, if the column was generalized; `order` lists the values of an
    ordinal column. Words with a semantic `distance` have concepts: those of the hierarchy, else those that `concepts`
    tells for words and the rows that hold them (None: those of the column). `items` divides cells of a set-valued
    column into their items.

    >>> released_distances(Scale("age", "numeric"), ["20-22"], ["20", "25", "27"]).round(3).tolist()
    [[0.0, 0.429, 0.714]]
    """

    name: str
    kind: str = "nominal"
    hierarchy: Hierarchy | None = None
    order: tuple[Value, ...] | None = None
    distance: Distance | None = None
    concepts: Callable[[Mapping[Value, int] | None], Mapping[Value, Concept]] = lambda rows: {}
    items: Callable[[Sequence[Value]], Sequence[Sequence[Value]]] | None = None


def released_distances(scale: Scale, released: Sequence[Value], originals: Sequence[Value]) -> Floats:
    """Distances, 0 to 1, from released values (rows) to original ones (columns).

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "any"), ("clerk", "office", "any")])
    >>> released_distances(Scale("job", hierarchy=jobs), ["medic", "clerk"], ["nurse", "clerk"]).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    if scale.items is not None:
        return _jaccard(scale.items(released), scale.items(originals))
    covers = covered(scale.hierarchy, released, originals)
    if KINDS[scale.kind].ordered:
        place = _places(scale, originals)
        at = np.array([place.get(value, np.nan) for value in originals])
        ends = _ends(place, released, covers, at, numbers=KINDS[scale.kind].numbers)
        apart = np.maximum(ends[:, :1] - at[None, :], at[None, :] - ends[:, 1:]).clip(0.0) / _width(at)
        return np.where(covers, 0.0, np.where(np.isnan(apart), 1.0, np.minimum(apart, 1.0)))
    apart = np.where(covers, 0.0, 1.0)
    _fill_in_meaning(scale, released, originals, apart)
    return apart


def mutual_distances(scale: Scale, values: Sequence[Value], originals: Sequence[Value]) -> Floats:
    """Distances of values from each other, on the scale of the originals; a range counts as its middle.

    >>> mutual_distances(Scale("age", "numeric"), ["20-22", "27"], ["20", "25", "27"]).round(3).tolist()
    [[0.0, 0.857], [0.857, 0.0]]
    """
    if scale.items is not None:
        sets = scale.items(values)
        return _symmetric(_jaccard(sets, sets))
    if KINDS[scale.kind].ordered:
        place = _places(scale, originals)
        at = np.array([place.get(value, np.nan) for value in originals])
        covers = covered(scale.hierarchy, values, originals)
        middle = _ends(place, values, covers, at, numbers=KINDS[scale.kind].numbers).mean(axis=1)
        apart = np.abs(middle[:, None] - middle[None, :]) / _width(at)
        return _symmetric(np.where(np.isnan(apart), 1.0, np.minimum(apart, 1.0)))
    apart = np.ones((len(values), len(values)))
    _fill_in_meaning(scale, values, values, apart)
    return _symmetric(apart)


def column_distances(scale_of: Callable[[str], Scale], counts: Counts, cells: Cells) -> dict[str, Floats]:
    """For each column of a recoding the distances from its released values to the original ones.

    >>> jobs = Counts.of({"job": ["nurse", "clerk"]})
    >>> same = Cells(jobs.names, jobs.values, np.arange(2), jobs.codes, jobs.weights)
    >>> column_distances(Scale, jobs, same)["job"].tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    return {
        name: released_distances(scale_of(name), cells.values[j], counts.values_of(name))
        for j, name in enumerate(cells.names)
    }


def covered(tree: Hierarchy | None, released: Sequence[Value], originals: Sequence[Value]) -> NDArray[np.bool_]:
    """Which original values each released one may stand for: itself, those below it, all where it is suppressed.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "any"), ("clerk", "office", "any")])
    >>> covered(jobs, ["medic", "*", "clerk"], ["nurse", "clerk"]).tolist()
    [[True, False], [True, True], [False, True]]
    """
    place: dict[Value, list[int]] = {}
    for i, value in enumerate(released):
        place.setdefault(value, []).append(i)
    covers = np.zeros((len(released), len(originals)), dtype=np.bool_)
    for j, value in enumerate(originals):
        for i in place.get(value, ()):
            covers[i, j] = True
    if tree is not None:
        leaf = {value: i for i, value in enumerate(tree.leaves)}
        at = np.array([leaf.get(value, -1) for value in originals])
        for level in range(1, tree.height + 1):
            codes = np.where(at >= 0, tree.codes[at, level], -1)
            for code, label in enumerate(tree.labels[level]):
                for i in place.get(label, ()):
                    covers[i] |= codes == code
    for i in place.get(SUPPRESSED, ()):
        covers[i] = True
    return covers


def _places(scale: Scale, originals: Sequence[Value]) -> dict[Value, float]:
    """Where each value stands: a number at itself, a date at its day, an ordered word at its rank."""
    known = list(dict.fromkeys([*originals, *(scale.hierarchy.leaves if scale.hierarchy is not None else ())]))
    kind = KINDS[scale.kind]
    if kind.places is not None and not kind.numbers:
        listed = list(scale.order or known)
        places = zip(listed, kind.places(listed, scale.order), strict=True)
        return {value: place for value, place in places if place is not None}
    numbers = {value: parse_interval(value) for value in known}
    return {value: ends[0] for value, ends in numbers.items() if ends is not None and ends[0] == ends[1]}


def _ends(
    place: Mapping[Value, float], released: Sequence[Value], covers: NDArray[np.bool_], at: Floats, *, numbers: bool
) -> Floats:
    """Lowest and highest place each released value may stand for."""
    ends = np.full((len(released), 2), np.nan)
    for i, label in enumerate(released):
        if label in place:
            ends[i] = place[label]
            continue
        span = parse_interval(label) if numbers else None
        if span is None:
            inside = at[covers[i] & ~np.isnan(at)]
            span = (float(inside.min()), float(inside.max())) if len(inside) else None
        if span is not None:
            ends[i] = span
    there = at[~np.isnan(at)]
    if len(there):  # an open range ends where the values do
        ends[ends == -np.inf], ends[ends == np.inf] = there.min(), there.max()
    return ends


def _width(at: Floats) -> float:
    there = at[~np.isnan(at)]
    return float(there.max() - there.min()) or 1.0 if len(there) else 1.0


def _fill_in_meaning(scale: Scale, released: Sequence[Value], originals: Sequence[Value], apart: Floats) -> None:
    """Put semantic distances where both values have a concept; others stay as far as they were."""
    if scale.distance is None:
        return
    concepts = concepts_of(scale, [*released, *originals])
    rows = [i for i, value in enumerate(released) if value in concepts]
    columns = [j for j, value in enumerate(originals) if value in concepts]
    if rows and columns:
        some, others = [released[i] for i in rows], [originals[j] for j in columns]
        listed = {} if scale.hierarchy is None else listed_members(scale.hierarchy)
        listed = {label: members for label, members in listed.items() if label in concepts}
        concepts = concepts | concepts_of(scale, [v for members in listed.values() for v in members])
        apart[np.ix_(rows, columns)] = value_distances(scale.distance, some, others, concepts, listed)


def concepts_of(scale: Scale, values: Sequence[Value]) -> dict[Value, int]:
    """Concept of each value that has one: as the hierarchy knows it, else as the column is mapped.

    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet")])
    >>> known = concepts_of(Scale("pet", distance=distance("path", pets)), ["cat", "robot", "*"])
    >>> {value: pets.label(code) for value, code in known.items()}
    {'cat': 'cat', '*': 'pet'}
    """
    if scale.distance is None:
        return {}
    taxonomy = scale.distance.taxonomy
    if scale.hierarchy is not None:
        known = value_concepts(scale.hierarchy, taxonomy)
        return {value: known[value] for value in dict.fromkeys(values) if value in known}
    mapped = {value: taxonomy.code(concept) for value, concept in scale.concepts(None).items()}
    for value in dict.fromkeys(values):
        if value not in mapped and isinstance(value, str):
            code = taxonomy.root if value == SUPPRESSED else taxonomy.get(value)
            if code is not None:
                mapped[value] = code
    return mapped


def _jaccard(some: Sequence[Sequence[Value]], others: Sequence[Sequence[Value]]) -> Floats:
    """Jaccard distances: 1 less the share of items that two sets have in common."""
    from scipy.sparse import coo_array

    place: dict[Value, int] = {}
    tables = []
    for sets in (some, others):
        rows = [i for i, items in enumerate(sets) for _ in items]
        columns = [place.setdefault(item, len(place)) for items in sets for item in items]
        tables.append((np.ones(len(rows)), (rows, columns), len(sets)))
    first, second = (coo_array((w, at), shape=(n, max(1, len(place)))).tocsr() for w, at, n in tables)
    common = (first @ second.T).toarray()
    either = first.sum(axis=1)[:, None] + second.sum(axis=1)[None, :] - common
    apart: Floats = 1.0 - np.divide(common, either, out=np.ones_like(common), where=either > 0)
    return apart


def _symmetric(apart: Floats) -> Floats:
    even: Floats = (apart + apart.T) / 2
    np.fill_diagonal(even, 0.0)
    return even
