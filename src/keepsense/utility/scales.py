"""How far released values lie from original ones, column by column: what linkage and metrics of meaning ask for.

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
from keepsense.hierarchies import Hierarchy
from keepsense.hierarchies.kinds import KINDS
from keepsense.hierarchies.ranges.intervals import parse_interval
from keepsense.recoding import SUPPRESSED, Cells
from keepsense.semantics import Distance
from keepsense.taxonomy import Concept
from keepsense.utility.meaning import listed_members, value_concepts, value_distances


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

    >>> from keepsense.semantics import distance
    >>> from keepsense.taxonomy import from_edges
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
