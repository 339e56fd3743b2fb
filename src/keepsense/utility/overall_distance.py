"""One metric for all methods: how far a release is from the truth, so that methods of different kinds can be compared.

A recipient reads a released value and must suppose a true one: any value that it may stand for, each in proportion to
how often the column has it. A swapped or moved value stands for itself, a generalized one for all below it, a range for
the numbers inside, a suppressed one for anything. The loss is how far, on average, what the recipient supposes lies
from the truth: numbers by their share of the column's range, words by their meaning, other values 0 if right and 1 if
wrong. Sets are compared item by item, each with the nearest of the other set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Counts, Value
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.recoding import SUPPRESSED, Cells, Draws
from keepsense.utility.recoded_table import MOST_DISTANCES, Recoded, inputs_of
from keepsense.utility.value_distances import Scale, covered, mutual_distances, released_distances, value_distances


def distances_from_truth(recoded: Recoded) -> dict[str, float]:
    """Mean distance of what a release lets suppose from the truth, by column; what cannot be measured is left out.

    >>> from keepsense.hierarchies.hierarchy import Hierarchy
    >>> from keepsense.recoding import Cuts
    >>> rows = [("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")]
    >>> jobs = Hierarchy.of_rows(rows, name="job")
    >>> counts = Counts.of({"job": ["nurse", "nurse", "nurse", "surgeon", "clerk"]})
    >>> rule = Cuts((jobs.cut(1),))
    >>> distances_from_truth(Recoded(counts, [rule], scale_of=lambda name: Scale(name, hierarchy=jobs)))
    {'job': 0.3}
    """
    distances: dict[str, float] = {}
    for rule in recoded.rules:
        if isinstance(rule, Draws):
            distances |= _drawn(recoded, rule)
            continue
        counts = inputs_of(recoded.counts, rule)
        cells = rule.cells(counts)
        for name in cells.names:
            scale = recoded.scale_of(name)
            lost = (_of_values if scale.items is None else _of_sets)(scale, counts, cells)
            if lost is not None:
                distances[name] = lost
    return distances


def mean_distance_from_truth(recoded: Recoded, columns: Sequence[str]) -> float | None:
    """The same over these columns, by their importance; None where one of them cannot be measured.

    >>> mean_distance_from_truth(Recoded(Counts.of({"job": ["nurse"]}), []), ["job"]) is None
    True
    """
    distances = distances_from_truth(recoded)
    if not set(columns) <= set(distances):
        return None
    weights = np.array([recoded.importance.get(name, 1.0) for name in columns])
    return float(np.average([distances[name] for name in columns], weights=weights))


def expected(apart: Floats, stands_for: NDArray[np.bool_], weights: NDArray[np.int64]) -> Floats:
    """Distance between each true value and what a released one lets suppose; both by number, released ones first.

    >>> apart = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> expected(apart, np.array([[True, False], [True, True]]), np.array([3, 1])).tolist()
    [[0.0, 1.0], [0.25, 0.75]]
    """
    share = stands_for * weights[None, :].astype(np.float64)
    total = share.sum(axis=1, keepdims=True)
    even = stands_for / np.maximum(stands_for.sum(axis=1, keepdims=True), 1)
    chance = np.divide(share, total, out=even.astype(np.float64), where=total > 0)
    supposed: Floats = chance @ apart
    return supposed


def _of_values(scale: Scale, counts: Counts, cells: Cells) -> float | None:
    at = cells.names.index(scale.name)
    originals, released = counts.values_of(scale.name), cells.values[at]
    if max(len(originals), len(released)) * len(originals) > MOST_DISTANCES:
        return None
    apart = released_distances(scale, released, originals)
    if scale.hierarchy is not None:
        inside = covered(scale.hierarchy, released, originals)
        if KINDS[scale.kind].ordered:
            inside = inside | (apart <= 0.0)
        known: NDArray[np.bool_] = np.asarray(inside.any(axis=1))
        between = mutual_distances(scale, originals, originals)
        apart = np.where(known[:, None], expected(between, inside, counts.marginal(scale.name)), apart)
    moved = apart[cells.codes[:, at], counts.column(scale.name)[cells.source]]
    return float(cells.multiplicity @ moved) / float(cells.multiplicity.sum())


def _drawn(recoded: Recoded, rule: Draws) -> dict[str, float]:
    originals = recoded.counts.values_of(rule.name)
    place = {value: i for i, value in enumerate(rule.inputs)}
    if not all(value in place for value in originals) or len(originals) * len(rule.outputs) > MOST_DISTANCES:
        return {}
    apart = released_distances(recoded.scale_of(rule.name), rule.outputs, originals)
    chance = rule.probabilities[[place[value] for value in originals]]
    moved = np.einsum("xr,rx->x", chance, apart)
    return {rule.name: float(np.average(moved, weights=recoded.counts.marginal(rule.name)))}


# ---- sets ------------------------------------------------------------------------------------------------------------


def _of_sets(scale: Scale, counts: Counts, cells: Cells) -> float | None:
    at = cells.names.index(scale.name)
    divided = scale.items or (lambda values: [[value] for value in values])
    before, after = divided(counts.values_of(scale.name)), divided(cells.values[at])
    rows: dict[Value, int] = {}
    for items, weight in zip(before, counts.marginal(scale.name).tolist(), strict=True):
        for item in items:
            rows[item] = rows.get(item, 0) + weight
    originals = list(rows)
    released = list(dict.fromkeys(item for items in after for item in items))
    if max(len(originals), len(released)) * len(originals) > MOST_DISTANCES:
        return None
    apart = _item_distances(scale, originals, released, rows)
    place = {item: i for i, item in enumerate(originals)}
    new_place = {item: i for i, item in enumerate(released)}
    total = 0.0
    known: dict[tuple[int, int], float] = {}
    pairs = zip(counts.column(scale.name)[cells.source].tolist(), cells.codes[:, at].tolist(), strict=True)
    for (was, now), times in zip(pairs, cells.multiplicity.tolist(), strict=True):
        if (was, now) not in known:
            own, theirs = [place[item] for item in before[was]], [new_place[item] for item in after[now]]
            if own and theirs:
                block = apart[np.ix_(theirs, own)]
                known[was, now] = float((block.min(axis=0).mean() + block.min(axis=1).mean()) / 2)
            else:
                known[was, now] = 0.0 if own == theirs else 1.0
        total += times * known[was, now]
    return total / float(cells.multiplicity.sum())


def _item_distances(scale: Scale, originals: list[Value], released: list[Value], rows: Mapping[Value, int]) -> Floats:
    """Distances of released items from original ones; general items are judged by what they stand for."""
    between = _by_meaning(scale, originals, originals, rows)
    apart = _by_meaning(scale, released, originals, rows)
    inside = covered(scale.hierarchy, released, originals)
    weights = np.array([rows[item] for item in originals])
    known: NDArray[np.bool_] = np.asarray(inside.any(axis=1))
    return np.where(known[:, None], expected(between, inside, weights), apart)


def _by_meaning(scale: Scale, some: list[Value], others: list[Value], rows: Mapping[Value, int]) -> Floats:
    """Semantic distances between items where both have a concept; else 0 for the same item and 1 for another."""
    apart = np.array([[0.0 if a == b else 1.0 for b in others] for a in some]).reshape(len(some), len(others))
    if scale.distance is None:
        return apart
    taxonomy = scale.distance.taxonomy
    concepts = dict(scale.concepts(rows))
    for item in some:
        if item not in concepts and isinstance(item, str) and item != SUPPRESSED:
            code = taxonomy.get(item)
            if code is not None:
                concepts[item] = code
    mine, theirs = ([i for i, item in enumerate(items) if item in concepts] for items in (some, others))
    if mine and theirs:
        left, right = [some[i] for i in mine], [others[i] for i in theirs]
        apart[np.ix_(mine, theirs)] = value_distances(scale.distance, left, right, concepts)
    return apart
