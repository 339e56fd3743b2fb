"""How far released values lie from original ones, column by column: what linkage and measures of meaning ask for.

Words are compared in their taxonomy, numbers, dates and ordered words by how far apart they stand, sets by the items
they share. A released range, or a released label that covers an original, is judged by what it covers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Counts, Value
from keepsense.hierarchies import Hierarchy
from keepsense.recoding import SUPPRESSED, Cells
from keepsense.release.job import Job
from keepsense.utility.intervals import parse_interval

_ORDERED = ("numeric", "ordinal", "date")


def released_gaps(job: Job, counts: Counts, cells: Cells) -> dict[str, Floats]:
    """For each column the distances, 0 to 1, from its released values (rows) to its original ones (columns).

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> job, rules = done.job, done.recodings
    >>> released_gaps(job, job.own_counts, rules[0].cells(job.own_counts))["job"].tolist()
    [[0.0, 1.0, 1.0, 1.0], [1.0, 0.0, 1.0, 1.0], [1.0, 1.0, 0.0, 1.0], [1.0, 1.0, 1.0, 0.0]]
    """
    return {name: value_gaps(job, name, cells.values[j], counts.values_of(name)) for j, name in enumerate(cells.names)}


def value_gaps(job: Job, name: str, released: Sequence[Value], originals: Sequence[Value]) -> Floats:
    """Distances from released to original values of one column.

    >>> from keepsense.release.example import example_job
    >>> value_gaps(example_job(), "age", ["20-22"], ["20", "25", "27"]).round(3).tolist()
    [[0.0, 0.429, 0.714]]
    """
    column = job.column(name)
    if job.holds_sets(name):
        return _apart(job.items(name, released).sets(), job.items(name, originals).sets())
    tree = job.hierarchies.get(name) if job.truthful else None
    covers = covered(tree, released, originals)
    if column.kind in _ORDERED:
        place = _places(job, name, originals, tree)
        at = np.array([place.get(value, np.nan) for value in originals])
        ends = _ends(place, released, covers, at, numbers=column.kind == "numeric")
        width = _width(at)
        far = np.maximum(ends[:, :1] - at[None, :], at[None, :] - ends[:, 1:]).clip(0.0) / width
        known = np.where(np.isnan(far), 1.0, np.minimum(far, 1.0))
        return np.where(covers, 0.0, known)
    far = np.where(covers, 0.0, 1.0)
    if column.taxonomy is not None:
        _fill_in_meaning(job, name, tree, released, originals, far)
    return far


def gaps_between(job: Job, name: str, values: Sequence[Value], originals: Sequence[Value]) -> Floats:
    """Distances of released values from each other, on the scale of the originals; a range counts as its middle.

    >>> from keepsense.release.example import example_job
    >>> gaps_between(example_job(), "age", ["20-22", "27"], ["20", "25", "27"]).round(3).tolist()
    [[0.0, 0.857], [0.857, 0.0]]
    """
    column = job.column(name)
    if job.holds_sets(name):
        sets = job.items(name, values).sets()
        return _symmetric(_apart(sets, sets))
    tree = job.hierarchies.get(name) if job.truthful else None
    if column.kind in _ORDERED:
        place = _places(job, name, originals, tree)
        at = np.array([place.get(value, np.nan) for value in originals])
        covers = covered(tree, values, originals)
        middle = _ends(place, values, covers, at, numbers=column.kind == "numeric").mean(axis=1)
        far = np.abs(middle[:, None] - middle[None, :]) / _width(at)
        return _symmetric(np.where(np.isnan(far), 1.0, np.minimum(far, 1.0)))
    far = np.ones((len(values), len(values)))
    if column.taxonomy is not None:
        _fill_in_meaning(job, name, tree, values, values, far)
    return _symmetric(far)


def covered(tree: Hierarchy | None, released: Sequence[Value], originals: Sequence[Value]) -> NDArray[np.bool_]:
    """Which original values each released one may stand for: itself, those below it, all where it is suppressed.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "any"), ("clerk", "office", "any")])
    >>> covered(jobs, ["medic", "*", "clerk"], ["nurse", "clerk"]).tolist()
    [[True, False], [True, True], [False, True]]
    """
    place: dict[Value, list[int]] = {}
    for i, value in enumerate(released):
        place.setdefault(value, []).append(i)
    found = np.zeros((len(released), len(originals)), dtype=np.bool_)
    for j, value in enumerate(originals):
        for i in place.get(value, ()):
            found[i, j] = True
    if tree is not None:
        leaf = {value: i for i, value in enumerate(tree.leaves)}
        at = np.array([leaf.get(value, -1) for value in originals])
        for level in range(1, tree.height + 1):
            codes = np.where(at >= 0, tree.codes[at, level], -1)
            for code, label in enumerate(tree.labels[level]):
                for i in place.get(label, ()):
                    found[i] |= codes == code
    for i in place.get(SUPPRESSED, ()):
        found[i] = True
    return found


def _places(job: Job, name: str, originals: Sequence[Value], tree: Hierarchy | None) -> dict[Value, float]:
    """Where each value stands: a number at itself, a date at its day, an ordered word at its rank."""
    column = job.column(name)
    known = list(dict.fromkeys([*originals, *(tree.leaves if tree is not None else ())]))
    if column.kind == "ordinal" and column.order is not None:
        return {value: float(i) for i, value in enumerate(column.order)}
    if column.kind == "date":
        from keepsense.hierarchies.kinds import as_date

        days = {value: as_date(value) for value in known}
        return {value: float(day.toordinal()) for value, day in days.items() if day is not None}
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
        found = parse_interval(label) if numbers else None
        if found is None:
            inside = at[covers[i] & ~np.isnan(at)]
            found = (float(inside.min()), float(inside.max())) if len(inside) else None
        if found is not None:
            ends[i] = found
    return ends


def _width(at: Floats) -> float:
    there = at[~np.isnan(at)]
    return float(there.max() - there.min()) or 1.0 if len(there) else 1.0


def _fill_in_meaning(
    job: Job,
    name: str,
    tree: Hierarchy | None,
    released: Sequence[Value],
    originals: Sequence[Value],
    far: Floats,
) -> None:
    """Put semantic distances where both values have a concept; others stay as far as they were."""
    from keepsense.semantics import distance
    from keepsense.utility import value_distances

    concepts = concepts_of(job, name, tree, [*released, *originals])
    rows = [i for i, value in enumerate(released) if value in concepts]
    columns = [j for j, value in enumerate(originals) if value in concepts]
    if not rows or not columns:
        return
    judge = distance(job.column(name).distance, job.taxonomy(name))
    some, others = [released[i] for i in rows], [originals[j] for j in columns]
    far[np.ix_(rows, columns)] = value_distances(judge, some, others, concepts)


def concepts_of(job: Job, name: str, tree: Hierarchy | None, values: Sequence[Value]) -> dict[Value, int]:
    """Concept of each value that has one: as the hierarchy knows it, else as the column is mapped.

    >>> from keepsense.release.example import example_job
    >>> jobs = {"job": {"role": "quasi-identifier", "taxonomy": "wordnet", "domain": "person"}}
    >>> job = example_job(columns=jobs, unlisted="drop")
    >>> found = concepts_of(job, "job", None, ["nurse", "no such word"])
    >>> [job.taxonomy("job").label(found["nurse"]), "no such word" in found]
    ['nurse', False]
    """
    from keepsense.utility import value_concepts

    taxonomy = job.taxonomy(name)
    if tree is not None:
        known = value_concepts(tree, taxonomy)
        return {value: known[value] for value in dict.fromkeys(values) if value in known}
    found = job.mapping(name, job.own_counts.rows_of(name))
    mapped = {value: taxonomy.code(concept) for value, concept in found.concepts.items()}
    for value in dict.fromkeys(values):
        if value not in mapped and isinstance(value, str):
            code = taxonomy.root if value == SUPPRESSED else taxonomy.get(value)
            if code is not None:
                mapped[value] = code
    return mapped


def _apart(some: Sequence[Sequence[Value]], others: Sequence[Sequence[Value]]) -> Floats:
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
    far: Floats = 1.0 - np.divide(common, either, out=np.ones_like(common), where=either > 0)
    return far


def _symmetric(far: Floats) -> Floats:
    even: Floats = (far + far.T) / 2
    np.fill_diagonal(even, 0.0)
    return even
