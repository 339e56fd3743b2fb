"""Recodings spelled out for the combinations of values that a table holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from keepsense.arrays import Rows
from keepsense.counts import Counts, Histogram, distinct_rows
from keepsense.errors import BadInput
from keepsense.recoding import Cells, Cuts, Recoding


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
