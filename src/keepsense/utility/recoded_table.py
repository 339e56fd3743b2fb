"""A recoded table, as metrics look at it: which value became which, how often, and at which level of its hierarchy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Rows
from keepsense.counts import Counts, Histogram, Value, distinct_rows
from keepsense.counts_out_of_core import Became, LargeCounts
from keepsense.errors import BadInput
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.intervals import parse_interval
from keepsense.metrics import Note
from keepsense.recoding import SUPPRESSED, Cells, Cut, Cuts, Draws, Recoding
from keepsense.utility.set_losses import SetFigures
from keepsense.utility.value_distances import Scale

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


# Recodings of the tuples that a table holds


def whole_table(rules: Sequence[Recoding], columns: Sequence[str]) -> list[Cuts | Cells]:
    """The recodings that say for all these columns at once what they become.

    >>> from keepsense.recoding import Cut
    >>> [rule.names for rule in whole_table([Cuts((Cut("job", (), ()),)), Cuts((Cut("age", (), ()),))], ["age"])]
    [('age',)]
    """
    return [rule for rule in rules if isinstance(rule, Cuts | Cells) and set(rule.names) == set(columns)]


def inputs_of(counts: Counts, rule: Cuts | Cells) -> Counts:
    """The counts a recoding is for: its own, or else those of the table.

    >>> jobs = Counts.of({"job": ["nurse"]})
    >>> inputs_of(jobs, Cuts(())) is jobs
    True
    """
    return counts if isinstance(rule, Cuts) or rule.inputs is None else rule.inputs


def aligned(counts: Counts, rule: Cuts | Cells) -> Cells:
    """A recoding spelled out for the tuples of a table's counts, in whatever order it has them itself.

    Refuses a recoding that is for another table.

    >>> jobs, other = (Counts.of({"job": names}) for names in (["nurse", "clerk"], ["clerk", "nurse"]))
    >>> rule = Cells(("job",), (("medic", "office"),), np.array([1, 0]), np.array([[0], [1]]), np.array([1, 1]),
    ...              inputs=other)
    >>> aligned(jobs, rule).apply(jobs).rows_of("job")
    {'medic': 1, 'office': 1}
    """
    if isinstance(rule, Cuts):
        return rule.cells(counts)
    own = rule.inputs
    if own is None or own is counts or own.codes is counts.codes:
        return rule
    foreign = BadInput("the recoding is for another table than the source of the project file")
    if set(own.names) != set(counts.names) or len(own) != len(counts):
        raise foreign
    columns = []
    for name in counts.names:
        place = {value: i for i, value in enumerate(counts.values_of(name))}
        codes = np.array([place.get(value, -1) for value in own.values_of(name)], dtype=np.int32)
        columns.append(codes[own.column(name)])
    distinct, group = distinct_rows(np.concatenate([counts.codes, np.stack(columns, axis=1)]))
    at = group[len(counts) :]
    if len(distinct) != len(counts) or (counts.weights[at] != own.weights).any():
        raise foreign
    return replace(rule, source=at[rule.source].astype(np.int64), inputs=counts)


def some_columns(cells: Cells, names: Sequence[str]) -> Cells:
    """The recoding of some columns.

    >>> people = Counts.of({"job": ["nurse"], "sex": ["f"]})
    >>> same = Cells(people.names, people.values, np.arange(1), people.codes, people.weights)
    >>> some_columns(same, ["sex"]).values
    (('f',),)
    """
    at = [cells.names.index(name) for name in names]
    values = tuple(cells.values[j] for j in at)
    return replace(cells, names=tuple(names), values=values, codes=cells.codes[:, at], inputs=None)


def shown(counts: Counts, cells: Cells) -> Counts:
    """Counts of the release without its suppressed records, unless all are suppressed.

    >>> jobs = Counts.of({"job": ["nurse", "clerk"]})
    >>> labels, hidden = (("nurse", "*"),), np.array([False, True])
    >>> shown(jobs, Cells(("job",), labels, np.arange(2), np.array([[0], [1]]), np.ones(2), hidden)).total
    1
    """
    if cells.suppressed is None or cells.suppressed.all():
        return cells.apply(counts)
    left = ~cells.suppressed
    part = Cells(cells.names, cells.values, cells.source[left], cells.codes[left], cells.multiplicity[left])
    return part.apply(counts)


def some_tuples(counts: Counts, cells: Cells, most: int, rng: np.random.Generator) -> tuple[Counts, Cells]:
    """Counts and recoding of so many combinations, drawn at random, the frequent ones likelier.

    >>> jobs = Counts.of({"job": ["nurse", "clerk", "clerk"]})
    >>> same = Cells(jobs.names, jobs.values, np.arange(2), jobs.codes, jobs.weights)
    >>> some, cells = some_tuples(jobs, same, 1, np.random.default_rng(0))
    >>> len(some), len(cells.source)
    (1, 1)
    """
    share = counts.weights / counts.weights.sum()
    chosen = np.sort(rng.choice(len(counts), min(most, int((share > 0).sum())), replace=False, p=share))
    histograms = {}
    for name, whole in counts.histograms.items():
        each = Rows(whole.rows.starts, np.arange(len(whole.counts), dtype=np.int32)).gather(chosen.astype(np.int32))
        starts = np.concatenate(([0], np.cumsum(whole.rows.sizes[chosen]))).astype(np.int32)
        histograms[name] = Histogram(whole.values, Rows(starts, whole.rows.indices[each]), whole.counts[each])
    place = np.full(len(counts), -1)
    place[chosen] = np.arange(len(chosen))
    left = place[cells.source] >= 0
    hidden = None if cells.suppressed is None else cells.suppressed[left]
    return (
        Counts(counts.names, counts.values, counts.codes[chosen], counts.weights[chosen], histograms),
        Cells(
            cells.names, cells.values, place[cells.source[left]], cells.codes[left], cells.multiplicity[left], hidden
        ),
    )


# The recoded table

T = TypeVar("T")

MOST_DISTANCES = 1 << 24
"""Most distances between values of one column that a report writes down."""


@dataclass(frozen=True, eq=False)
class Recoded:
    """Counts of a table's columns of single values, the recodings of these, and what their values mean.

    Of the `rules`, `set_rules` recode set-valued columns, after the others; `sets` are figures of those columns.
    `truthful` says that values were generalized, along `hierarchies`, and not changed. `numbers` names the columns of
    numbers, `ranges` within which widths of some are measured, `importance` says how much columns matter, `scale_of`
    how the values of a column are compared. `released` counts the release with its sets, `drawn` is one outcome of
    recodings that draw. `target` is a histogram of the counts that a classifier predicts. What a metric samples or
    leaves out it tells in `notes`.

    >>> from keepsense.metrics import by_name, figures
    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("clerk", "office", "*")], name="job")
    >>> counts = Counts.of({"job": ["nurse", "clerk", "clerk"]})
    >>> found = by_name(figures("utility", Recoded(counts, [Cuts((jobs.cut(2),))], {"job": jobs}), every_run=True))
    >>> found["loss"], found["average class size"]
    (1.0, 3.0)
    """

    counts: Counts
    rules: Sequence[Recoding]
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    set_rules: Sequence[Recoding] = ()
    truthful: bool = True
    numbers: frozenset[str] = frozenset()
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    importance: Mapping[str, float] = field(default_factory=dict)
    scale_of: Callable[[str], Scale] = Scale
    released: Counts | None = None
    drawn: Cells | None = None
    sets: Sequence[SetFigures] = ()
    target: str | None = None
    notes: list[Note] = field(default_factory=list)
    _shared: dict[Callable[[Recoded], object], object] = field(default_factory=dict, repr=False)

    def once(self, compute: Callable[[Recoded], T]) -> T:
        """What a function finds, worked out once for all metrics that need it."""
        if compute not in self._shared:
            self._shared[compute] = compute(self)
        return cast(T, self._shared[compute])

    @property
    def generalized(self) -> tuple[Counts, Cuts | Cells]:
        """The one recoding that generalizes all columns, and the counts it is for; refused where there is none."""
        rules = whole_table(self.rules, self.counts.names) if self.truthful else []
        if not rules:
            raise BadInput("the metric is for tables whose values were generalized, all columns at once")
        return inputs_of(self.counts, rules[-1]), rules[-1]

    @property
    def cells(self) -> tuple[Counts, Cells]:
        """What became of each combination of values, drawn where chance decides; refused where it cannot be told."""
        rules = whole_table(self.rules, self.counts.names)
        if len(rules) == 1 and self.truthful:
            return self.counts, aligned(self.counts, rules[0])
        if len(rules) == 1:
            counts = inputs_of(self.counts, rules[0])
            return counts, rules[0].cells(counts)
        if self.drawn is None:
            raise BadInput("no single recoding says what became of all columns")
        return self.counts, self.drawn

    def note(self, about: str, text: str) -> None:
        """Tell how something was measured, once."""
        if (remark := Note(about, text)) not in self.notes:
            self.notes.append(remark)
