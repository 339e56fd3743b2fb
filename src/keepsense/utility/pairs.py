"""What every metric looks at: which original value became which released one, and at what level of its hierarchy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts, Value
from keepsense.errors import BadInput
from keepsense.hierarchies.core import Hierarchy
from keepsense.hierarchies.ranges.intervals import parse_interval
from keepsense.large_counts import Became, LargeCounts
from keepsense.recoding import SUPPRESSED, Cells, Cut, Cuts, Draws, Recoding

Generalized = Cells | Cuts
"""A recoding that says for each tuple what it becomes."""

_SMALL = 1 << 18

Hierarchies = Mapping[str, Hierarchy]
"""Hierarchies by column."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Distinct pairs of original and released value in one column, and how many records hold each.

    `original` and `released` are codes in the dictionaries of the counts and of the recoding; `hidden` marks pairs of
    records that are suppressed as a whole.

    >>> from keepsense.recoding import Cut
    >>> counts = Counts.of({"job": ["nurse", "nurse", "clerk"]})
    >>> found = pairs(counts, Cuts((Cut("job", ("nurse", "clerk"), ("medic", "clerk")),)).cells(counts), "job")
    >>> found.weights.tolist()
    [2, 1]
    """

    name: str
    originals: tuple[Value, ...]
    values: tuple[Value, ...]
    original: NDArray[np.int64]
    released: NDArray[np.int64]
    hidden: NDArray[np.bool_]
    weights: NDArray[np.int64]


def pairs(counts: Counts, cells: Cells, name: str) -> Pairs:
    """Count the pairs of one column; the cost is that of the recoding's rows.

    >>> counts = Counts.of({"job": ["nurse"]})
    >>> cells = Cells(("job",), (("*",),), np.array([0]), np.array([[0]]), np.array([1]), np.array([True]))
    >>> pairs(counts, cells, "job").hidden.tolist()
    [True]
    """
    at = cells.names.index(name)
    values, originals = cells.values[at], counts.values_of(name)
    hidden = np.zeros(len(cells.source), np.int64) if cells.suppressed is None else cells.suppressed.astype(np.int64)
    key = (hidden * len(originals) + counts.column(name)[cells.source]) * len(values) + cells.codes[:, at]
    if len(originals) * len(values) < _SMALL:  # adding up is faster than sorting while there is room
        dense = np.bincount(key, cells.multiplicity)
        distinct = np.flatnonzero(dense)
        weights = dense[distinct].astype(np.int64)
    else:
        distinct, where = np.unique(key, return_inverse=True)
        weights = np.bincount(where, cells.multiplicity, len(distinct)).astype(np.int64)
    rest = distinct // len(values)
    width = max(1, len(originals))
    return Pairs(
        name, originals, values, rest % width, distinct % len(values), (rest // width).astype(np.bool_), weights
    )


def column_pairs(counts: Counts, recoding: Generalized) -> dict[str, Pairs]:
    """Pairs of every recoded column.

    >>> from keepsense.recoding import Cut
    >>> counts = Counts.of({"job": ["nurse", "clerk"]})
    >>> list(column_pairs(counts, Cuts((Cut("job", ("nurse", "clerk"), ("*", "*")),))))
    ['job']
    """
    if isinstance(counts, LargeCounts) and isinstance(recoding, Cuts):
        return {name: _became_pairs(counts, name, column) for name, column in counts.became(recoding).items()}
    cells = recoding.cells(counts)
    table, columns = _COUNTED.get(cells, (None, {}))
    if table is not counts:
        columns = (
            {cut.name: _cut_pairs(counts, cells, cut) for cut in recoding.cuts}
            if isinstance(recoding, Cuts)
            else {name: pairs(counts, cells, name) for name in cells.names}
        )
        _COUNTED[cells] = counts, columns
    return dict(columns)


def _cut_pairs(counts: Counts, cells: Cells, cut: Cut) -> Pairs:
    """The same where every value became one other: only suppressed tuples are looked at one by one."""
    values, originals = cells.values[cells.names.index(cut.name)], counts.values_of(cut.name)
    place, rule = {value: i for i, value in enumerate(values)}, dict(zip(cut.inputs, cut.outputs, strict=True))
    became = np.array([place[rule[value]] for value in originals], dtype=np.int64)
    gone = np.empty(0, np.int64) if cells.suppressed is None else np.flatnonzero(cells.suppressed)
    hidden = np.bincount(counts.column(cut.name)[gone], counts.weights[gone], len(originals)).astype(np.int64)
    return _became_pairs(counts, cut.name, Became(values, became, hidden))


def _became_pairs(counts: Counts, name: str, column: Became) -> Pairs:
    """The same by value: its rows, and how many of them are hidden."""
    values, became, hidden = column
    shown, place = counts.marginal(name) - hidden, {value: i for i, value in enumerate(values)}
    left, lost = np.flatnonzero(shown), np.flatnonzero(hidden)
    return Pairs(
        name,
        counts.values_of(name),
        values,
        np.concatenate((left, lost)),
        np.concatenate((became[left], np.full(len(lost), place.get(SUPPRESSED, 0)))),
        np.arange(len(left) + len(lost)) >= len(left),
        np.concatenate((shown[left], hidden[lost])),
    )


_COUNTED: WeakKeyDictionary[Cells, tuple[Counts, dict[str, Pairs]]] = WeakKeyDictionary()
"""Pairs that were counted last, by the recoding they are of: several metrics look at the same ones."""


def joint_values(counts: Counts, rule: Recoding) -> list[tuple[Pairs, NDArray[np.float64]]]:
    """For each column its pairs of original and released value, and the records that have both (for draws: expected).

    >>> drawn = Draws("job", ("nurse", "clerk"), ("nurse", "clerk"), np.array([[0.5, 0.5], [0.0, 1.0]]))
    >>> column, records = joint_values(Counts.of({"job": ["nurse", "nurse", "clerk"]}), drawn)[0]
    >>> [column.values[code] for code in column.released], records.tolist()
    (['nurse', 'clerk', 'clerk'], [1.0, 1.0, 1.0])
    """
    if isinstance(rule, Draws):
        rows = dict(zip(counts.values_of(rule.name), counts.marginal(rule.name), strict=True))
        weights = np.array([float(rows.get(value, 0)) for value in rule.inputs])
        at, to = np.nonzero(rule.probabilities)
        expected = weights[at] * rule.probabilities[at, to]
        whole = np.round(expected).astype(np.int64)
        return [(Pairs(rule.name, rule.inputs, rule.outputs, at, to, np.zeros(len(at), np.bool_), whole), expected)]
    own = counts if isinstance(rule, Cuts) or rule.inputs is None else rule.inputs
    return [(column, column.weights.astype(np.float64)) for column in column_pairs(own, rule).values()]


def hierarchy_of(hierarchies: Hierarchies, name: str) -> Hierarchy:
    """The hierarchy of a column, or an error that names the column.

    >>> hierarchy_of({}, "job")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: the metric needs a hierarchy for column 'job'
    """
    if name not in hierarchies:
        raise BadInput(f"the metric needs a hierarchy for column {name!r}")
    return hierarchies[name]


def released_levels(column: Pairs, hierarchy: Hierarchy, level: int | None = None) -> NDArray[np.int64]:
    """Level at which each pair was released; one above the top for suppressed records and cells.

    `level` is the column's level where the whole column has one. Otherwise it is the lowest level at which the
    original's ancestor bears the released label.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "any"), ("clerk", "office", "any")])
    >>> counts = Counts.of({"job": ["nurse", "clerk"]})
    >>> from keepsense.recoding import Cut
    >>> rule = Cuts((Cut("job", ("nurse", "clerk"), ("medic", "*")),))
    >>> released_levels(column_pairs(counts, rule)["job"], jobs).tolist()
    [1, 3]
    """
    top = hierarchy.height + 1
    leaf = hierarchy.lookup(column.originals)[column.original]
    if level is not None:
        return np.where(column.hidden, top, level)
    levels = np.full(len(leaf), -1, dtype=np.int64)
    for step in range(top):
        place = {label: code for code, label in enumerate(hierarchy.labels[step])}
        wanted = np.array([place.get(value, -1) for value in column.values], dtype=np.int64)
        levels[(levels < 0) & (hierarchy.codes[leaf, step] == wanted[column.released])] = step
    marker = np.array([value == SUPPRESSED for value in column.values], dtype=np.bool_)
    levels[column.hidden | ((levels < 0) & marker[column.released])] = top
    strange = levels < 0
    if strange.any():
        raise BadInput(
            f"column {column.name!r}: {int(strange.sum())} released value(s) do not stand above their originals in the "
            "hierarchy; this metric is for generalized values"
        )
    return levels


def cut_levels(recoding: Generalized) -> dict[str, int | None]:
    """Level of each column where the recoding has one for the whole column.

    >>> from keepsense.recoding import Cut
    >>> cut_levels(Cuts((Cut("job", (), (), level=2),)))
    {'job': 2}
    """
    return {cut.name: cut.level for cut in recoding.cuts} if isinstance(recoding, Cuts) else {}


def leaf_sets(column: Pairs, hierarchy: Hierarchy, level: int | None = None) -> NDArray[np.bool_]:
    """For each released value the leaves of the hierarchy it may stand for (all of them for a suppressed one).

    A column of numbers may be released as ranges that are no label of its hierarchy: they stand for the numbers inside.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "any"), ("clerk", "office", "any")])
    >>> counts = Counts.of({"job": ["nurse", "clerk"]})
    >>> from keepsense.recoding import Cut
    >>> leaf_sets(column_pairs(counts, Cuts((Cut("job", ("nurse", "clerk"), ("medic", "*")),)))["job"], jobs).tolist()
    [[True, False], [True, True]]
    """
    sets = np.zeros((len(column.values), len(hierarchy.leaves)), dtype=np.bool_)
    if level is None:
        ranged = _ranges(column, hierarchy, sets)
        column = _without(column, ranged[column.released] & ~column.hidden)
    levels = released_levels(column, hierarchy, level)
    leaf = hierarchy.lookup(column.originals)[column.original]
    for value, step, example in zip(column.released.tolist(), levels.tolist(), leaf.tolist(), strict=True):
        if step > hierarchy.height:
            sets[value] = True
        else:
            sets[value] |= hierarchy.codes[:, step] == hierarchy.codes[example, step]
    return sets


def _ranges(column: Pairs, hierarchy: Hierarchy, sets: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which released values are ranges that the hierarchy does not have; their leaves are marked in `sets`."""
    known = {label for labels in hierarchy.labels for label in labels}
    ranged = np.zeros(len(column.values), dtype=np.bool_)
    if known.issuperset(column.values):
        return ranged
    leaves = [parse_interval(leaf) for leaf in hierarchy.leaves]
    at = np.array([np.nan if leaf is None else leaf[0] for leaf in leaves])
    for i, value in enumerate(column.values):
        ends = None if value in known else parse_interval(value, inside=True)
        if ends is not None:
            ranged[i] = True
            sets[i] = (at >= ends[0]) & (at <= ends[1])
    return ranged


def _without(column: Pairs, gone: NDArray[np.bool_]) -> Pairs:
    left = ~gone
    return replace(
        column,
        original=column.original[left],
        released=column.released[left],
        hidden=column.hidden[left],
        weights=column.weights[left],
    )
