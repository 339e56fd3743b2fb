"""How near to the truth a release is, by one measure for all methods, so that those of different kinds can be compared.

A recipient reads a released value and must suppose a true one: any value that it may stand for, each in proportion to
how often the column has it. A swapped or moved value stands for itself, a generalized one for all below it, a range for
the numbers inside, a suppressed one for anything. The loss is how far, on average, what the recipient supposes lies
from the truth: numbers by their share of the column's range, words by their meaning, other values 0 if right and 1 if
wrong. Sets are compared item by item, each with the nearest of the other set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Counts, Value
from keepsense.recoding import SUPPRESSED, Cells, Cuts, Draws, Recoding
from keepsense.release.became import inputs_of
from keepsense.release.distances import covered, gaps_between, value_gaps
from keepsense.release.job import Job

_MOST_PAIRS = 1 << 24
"""Pairs of values of one column up to which all are compared."""


def distances(job: Job, rules: Sequence[Recoding]) -> dict[str, float]:
    """Mean distance of what a release lets suppose from the truth, by column; what cannot be measured is left out.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> job, rules = done.job, done.recodings
    >>> {name: round(far, 3) for name, far in distances(job, rules).items()}
    {'age': 0.069, 'job': 0.0}
    """
    found: dict[str, float] = {}
    for rule in rules:
        if isinstance(rule, Draws):
            found |= _drawn(job, rule)
            continue
        counts = inputs_of(job, rule)
        cells = rule.cells(counts) if isinstance(rule, Cuts) else rule
        for j, name in enumerate(cells.names):
            far = _of_sets if job.holds_sets(name) else _of_values
            lost = far(job, name, counts, cells, j)
            if lost is not None:
                found[name] = lost
    return found


def mean_distance(job: Job, rules: Sequence[Recoding]) -> float | None:
    """The same over all columns that people could be recognized by, or None where one of them cannot be measured.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> job, rules = done.job, done.recodings
    >>> round(mean_distance(job, rules), 3)
    0.034
    """
    found = distances(job, rules)
    names = job.every_quasi_identifier
    if not set(names) <= set(found):
        return None
    weights = np.array([job.column(name).weight for name in names])
    return float(np.average([found[name] for name in names], weights=weights))


def expected(far: Floats, stands_for: NDArray[np.bool_], weights: NDArray[Any]) -> Floats:
    """Distance between each true value and what a released one lets suppose; both by number, released ones first.

    >>> apart = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> expected(apart, np.array([[True, False], [True, True]]), np.array([3, 1])).tolist()
    [[0.0, 1.0], [0.25, 0.75]]
    """
    share = stands_for * weights[None, :].astype(np.float64)
    total = share.sum(axis=1, keepdims=True)
    even = stands_for / np.maximum(stands_for.sum(axis=1, keepdims=True), 1)
    chance = np.divide(share, total, out=even.astype(np.float64), where=total > 0)
    supposed: Floats = chance @ far
    return supposed


def _of_values(job: Job, name: str, counts: Counts, cells: Cells, j: int) -> float | None:
    originals, released = counts.values_of(name), cells.values[j]
    if max(len(originals), len(released)) * len(originals) > _MOST_PAIRS:
        return None
    gaps = value_gaps(job, name, released, originals)
    tree = job.hierarchies.get(name) if job.truthful else None
    if tree is not None:
        inside = covered(tree, released, originals)
        if job.column(name).kind in ("numeric", "ordinal", "date"):
            inside = inside | (gaps <= 0.0)
        known: NDArray[np.bool_] = np.asarray(inside.any(axis=1))
        between = gaps_between(job, name, originals, originals)
        gaps = np.where(known[:, None], expected(between, inside, counts.marginal(name)), gaps)
    moved = gaps[cells.codes[:, j], counts.column(name)[cells.source]]
    return float(cells.multiplicity @ moved) / float(cells.multiplicity.sum())


def _drawn(job: Job, rule: Draws) -> dict[str, float]:
    counts = job.own_counts
    originals = counts.values_of(rule.name)
    place = {value: i for i, value in enumerate(rule.inputs)}
    if not all(value in place for value in originals) or len(originals) * len(rule.outputs) > _MOST_PAIRS:
        return {}
    gaps = value_gaps(job, rule.name, rule.outputs, originals)
    chance = rule.probabilities[[place[value] for value in originals]]
    moved = np.einsum("xr,rx->x", chance, gaps)
    return {rule.name: float(np.average(moved, weights=counts.marginal(rule.name)))}


# ---- sets ------------------------------------------------------------------------------------------------------------


def _of_sets(job: Job, name: str, counts: Counts, cells: Cells, j: int) -> float | None:
    before, after = (job.items(name, values).sets() for values in (counts.values_of(name), cells.values[j]))
    rows = job.item_rows(name, counts.rows_of(name))
    originals = list(rows)
    released = list(dict.fromkeys(item for items in after for item in items))
    if max(len(originals), len(released)) * len(originals) > _MOST_PAIRS:
        return None
    far = _item_gaps(job, name, originals, released, rows)
    at = {item: i for i, item in enumerate(originals)}
    out = {item: i for i, item in enumerate(released)}
    total = 0.0
    known: dict[tuple[int, int], float] = {}
    pairs = zip(
        counts.column(name)[cells.source].tolist(), cells.codes[:, j].tolist(), cells.multiplicity.tolist(), strict=True
    )
    for was, now, times in pairs:
        if (was, now) not in known:
            own, theirs = [at[i] for i in before[was]], [out[i] for i in after[now]]
            if own and theirs:
                block = far[np.ix_(theirs, own)]
                known[was, now] = float((block.min(axis=0).mean() + block.min(axis=1).mean()) / 2)
            else:
                known[was, now] = 0.0 if own == theirs else 1.0
        total += times * known[was, now]
    return total / float(cells.multiplicity.sum())


def _item_gaps(job: Job, name: str, originals: list[Value], released: list[Value], rows: Mapping[Value, int]) -> Floats:
    """Distances of released items from original ones; general items are judged by what they stand for."""
    between = _meant(job, name, originals, originals, rows)
    far = _meant(job, name, released, originals, rows)
    tree = job.hierarchies.get(name) if job.truthful and name in job.quasi_identifiers else None
    inside = covered(tree, released, originals)
    weights = np.array([rows[item] for item in originals])
    known: NDArray[np.bool_] = np.asarray(inside.any(axis=1))
    found: Floats = np.where(known[:, None], expected(between, inside, weights), far)
    return found


def _meant(job: Job, name: str, some: list[Value], others: list[Value], rows: Mapping[Value, int]) -> Floats:
    """Semantic distances between items where both have a concept; else 0 for the same item and 1 for another."""
    far = np.array([[0.0 if a == b else 1.0 for b in others] for a in some]).reshape(len(some), len(others))
    if job.column(name).taxonomy is None:
        return far
    from keepsense.semantics import distance
    from keepsense.utility import value_distances

    taxonomy = job.taxonomy(name)
    concepts: dict[Value, Any] = dict(job.mapping(name, rows).concepts)
    for item in some:
        if item not in concepts and isinstance(item, str) and item != SUPPRESSED:
            code = taxonomy.get(item)
            if code is not None:
                concepts[item] = code
    mine, theirs = [i for i, v in enumerate(some) if v in concepts], [i for i, v in enumerate(others) if v in concepts]
    if mine and theirs:
        judge = distance(job.column(name).distance, taxonomy)
        left, right = [some[i] for i in mine], [others[i] for i in theirs]
        far[np.ix_(mine, theirs)] = value_distances(judge, left, right, concepts)
    return far
