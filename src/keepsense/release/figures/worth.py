"""Utility of a release of any tool: metrics for two tables, row by row where their order is the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from keepsense.counts import Counts, Value, distinct_rows
from keepsense.engines.protocol import Engine, Table
from keepsense.errors import KeepsenseError
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.intervals import parse_interval
from keepsense.metrics import METRICS, SEED, Figure, figures
from keepsense.recoding import SUPPRESSED, Cells
from keepsense.release.figures.asked import covered
from keepsense.utility.recoded_table import MOST_DISTANCES, Recoded
from keepsense.utility.regressions import SCORED, Terms, number_terms, propensity_score, word_terms

Trees = Mapping[str, Hierarchy]


def count_together(running: Engine, before: Table, after: Table, names: Sequence[str]) -> Counts:
    """Both tables counted side by side, row by row: columns of the original, then those of the release.

    >>> from keepsense.engines.protocol import started
    >>> with started(None) as running:
    ...     tables = [running.read({"job": names}) for names in (["nurse", "clerk"], ["medic", "clerk"])]
    ...     both = count_together(running, *tables, ["job"])
    >>> len(both), sorted(both.values[1])
    (2, ['clerk', 'medic'])
    """
    import pyarrow as pa

    frames = [running.frame(table) for table in (before, after)]
    columns = [frame[name] for frame in frames for name in names]
    places = [str(at) for at in range(len(columns))]  # both have the same names
    return running.count(running.read(pa.table(dict(zip(places, columns, strict=True)))), places)


def paired(together: Counts, names: Sequence[str], marks: Sequence[str]) -> tuple[Counts, Cells]:
    """What became of each combination of the original; a cell that is empty only afterwards is suppressed.

    >>> counts, cells = paired(Counts.of({"0": ["nurse", "clerk"], "1": ["medic", "x"]}), ["job"], ["x"])
    >>> counts.names, cells.values, cells.suppressed.tolist()
    (('job',), (('medic', '*'),), [False, True])
    """
    width = len(names)
    distinct, group = distinct_rows(together.codes[:, :width])
    weights = np.bincount(group, together.weights, len(distinct)).astype(np.int64)
    counts = Counts(tuple(names), together.values[:width], distinct, weights)
    codes, values = together.codes[:, width:].copy(), []
    for j, column in enumerate(together.values[width:]):
        hides = None not in counts.values_of(names[j])
        shown = [SUPPRESSED if value in marks or (value is None and hides) else value for value in column]
        places = {value: at for at, value in enumerate(dict.fromkeys(shown))}
        codes[:, j] = np.array([places[value] for value in shown], dtype=codes.dtype)[codes[:, j]]
        values.append(tuple(places))
    gone = np.array(
        [all(values[j][code] == SUPPRESSED for j, code in enumerate(row)) for row in codes.tolist()], dtype=np.bool_
    )
    return counts, Cells(counts.names, tuple(values), group.astype(np.int64), codes, together.weights, gone)


def utility_of_rows(together: Counts, names: Sequence[str], marks: Sequence[str], trees: Trees) -> list[Figure]:
    """Every metric of utility that applies to two tables with their rows in the same order.

    >>> both = Counts.of({"0": [20, 30], "1": ["20 to 30", "20 to 30"]})
    >>> {each.name: each.text for each in utility_of_rows(both, ["age"], ["*"], {})}["squared error, age"]
    '100%'
    """
    counts, cells = paired(together, names, marks)
    numbers = frozenset(
        name
        for name, released in zip(cells.names, cells.values, strict=True)
        if of_numbers(counts.values_of(name), released)
    )
    truthful = all(_true(counts, cells, name, trees.get(name)) for name in cells.names)
    return figures("utility", Recoded(counts, [cells], trees, truthful=truthful, numbers=numbers))


def _true(counts: Counts, cells: Cells, name: str, tree: Hierarchy | None) -> bool:
    """Whether what is released of a column is true of every original."""
    at = cells.names.index(name)
    values = counts.values_of(name)
    if len(cells.values[at]) * len(values) > MOST_DISTANCES:
        return False
    fits = covered(cells.values[at], values, tree)
    return bool(fits[cells.codes[:, at], counts.column(name)[cells.source]].all())


def of_numbers(values: Sequence[Value], released: Sequence[Value]) -> bool:
    """Whether a column holds numbers, and the release numbers or ranges.

    >>> of_numbers([20, None], ["20 to 30", "*"]), of_numbers(["nurse"], ["medic"])
    (True, False)
    """
    known = [parse_interval(value) for value in values if value is not None]
    shown = [parse_interval(value) for value in released if value not in (None, SUPPRESSED)]
    return bool(known) and all(ends and ends[0] == ends[1] for ends in known) and None not in shown


def utility_of_tables(before: Counts, after: Counts, trees: Trees) -> list[Figure]:
    """Metrics that need no rows in the same order: whether a model tells the tables apart.

    >>> old, new = Counts.of({"job": ["a"] * 10 + ["b"] * 30}), Counts.of({"job": ["a"] * 20 + ["b"] * 20})
    >>> [(each.name, each.text) for each in utility_of_tables(old, new, {})]
    [('propensity', '0.0167'), ('propensity, ratio', '10.7')]
    """
    if not before.total or not after.total:
        return []
    old, new = (_some(counts) for counts in (before, after))
    try:
        scores = propensity_score(old, new, {name: _terms(old, new, name, trees.get(name)) for name in before.names})
    except KeepsenseError:
        return []
    return [Figure(METRICS["propensity"], scores.pmse), Figure(METRICS["propensity, ratio"], scores.ratio)]


def _some(counts: Counts) -> Counts:
    """At most so many combinations as scores are worked out for, the frequent ones likelier."""
    if len(counts) <= SCORED:
        return Counts(counts.names, counts.values, counts.codes, counts.weights)
    share = counts.weights / counts.weights.sum()
    chosen = np.sort(np.random.default_rng(SEED).choice(len(counts), SCORED, replace=False, p=share))
    return Counts(counts.names, counts.values, counts.codes[chosen], counts.weights[chosen])


def _terms(before: Counts, after: Counts, name: str, tree: Hierarchy | None) -> Terms:
    """A column as terms: labels by what they may stand for, where every one stands for something."""
    values, weights, released = before.values_of(name), before.marginal(name), after.values_of(name)
    if of_numbers(values, released):
        return number_terms(name, values, weights, released)
    if len(values) * len(released) > MOST_DISTANCES:
        return word_terms(name, (), np.zeros(0, np.int64), ())
    fits = covered(released, values, tree)
    used = after.marginal(name) > 0
    shares = fits / np.maximum(1, fits.sum(axis=1))[:, None] if fits[used].any(axis=1).all() else None
    return word_terms(name, values, weights, released, shares)
