"""Columns as terms of a model, the same for the original and for the release, so that models of both can be compared.

A number is one term, a range stands for its middle, what tells nothing for the mean. Each of the commonest values of
other columns is a term; what is released for it enters by the share of the values it may stand for, as a reader who
knows no more would have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Counts, Value
from keepsense.hierarchies.ranges.intervals import parse_interval
from keepsense.recoding import SUPPRESSED, Cells
from keepsense.utility.pairs import Hierarchies, column_pairs, leaf_sets

MOST_VALUES = 12
"""Most values of a column that are terms of their own; the others are told apart from them only."""
MOST_TERMS = 150
"""Most terms of a model, products of two included."""


@dataclass(frozen=True, eq=False)
class Terms:
    """What each value of a column before, and each value after, adds to the terms of the column.

    >>> jobs = word_terms("job", ("clerk", "nurse"), np.array([3, 1]), ("nurse", "*"))
    >>> jobs.names, jobs.before.tolist(), jobs.after.tolist()
    (('job = nurse',), [[0.0], [1.0]], [[1.0], [0.5]])
    """

    names: tuple[str, ...]
    before: Floats
    after: Floats
    number: bool = False


def number_terms(name: str, before: Sequence[Value], weights: NDArray[np.int64], after: Sequence[Value]) -> Terms:
    """A column of numbers, in standard deviations from its mean.

    >>> number_terms("age", (20, 40), np.array([1, 1]), ("20 to 40", 40, "*")).after.ravel().tolist()
    [0.0, 1.0, 0.0]
    """
    places = np.array([_middle(value, -np.inf, np.inf) for value in before])
    known = np.isfinite(places)
    if not known.any():
        return Terms((name,), np.zeros((len(before), 1)), np.zeros((len(after), 1)), number=True)
    low, high = float(places[known].min()), float(places[known].max())
    mean = float(np.average(places[known], weights=weights[known]))
    spread = float(np.average((places[known] - mean) ** 2, weights=weights[known])) ** 0.5 or 1.0
    columns = (places, np.array([_middle(value, low, high) for value in after]))
    first, second = ((np.where(np.isfinite(column), column, mean) - mean)[:, None] / spread for column in columns)
    return Terms((name,), first, second, number=True)


def _middle(value: Value, low: float, high: float) -> float:
    ends = None if value == SUPPRESSED else parse_interval(value)
    if ends is None:
        return np.nan
    return (ends[0] if np.isfinite(ends[0]) else min(low, ends[1])) / 2 + (
        ends[1] if np.isfinite(ends[1]) else max(high, ends[0])
    ) / 2


def word_terms(
    name: str,
    before: Sequence[Value],
    weights: NDArray[np.int64],
    after: Sequence[Value],
    shares: Floats | None = None,
) -> Terms:
    """The commonest values of a column but the first; `shares` says what each value after (a row) may be of before.

    Without shares a value after stands for the same one before, a suppressed one for all of them alike, and a label
    that was not there before for itself.

    >>> halves = np.array([[0.5, 0.5]])
    >>> word_terms("job", ("clerk", "nurse"), np.array([3, 1]), ("worker",), halves).after.tolist()
    [[0.5]]
    """
    values = [*before]
    if shares is None:
        texts = [_text(value) for value in values]
        new = [value for value in after if value != SUPPRESSED and _text(value) not in texts]
        values += new
        place = {_text(value): at for at, value in enumerate(values)}
        shares = np.zeros((len(after), len(values)))
        for at, value in enumerate(after):
            if value == SUPPRESSED and SUPPRESSED not in before:
                shares[at, : len(before)] = 1 / max(1, len(before))
            else:
                shares[at, place[_text(value)]] = 1.0
    common = np.argsort(-np.concatenate([weights, np.zeros(len(values) - len(before))]), kind="stable")
    chosen = common[1:MOST_VALUES]
    own = np.eye(len(values))[: len(before), chosen]
    return Terms(tuple(f"{name} = {values[at]}" for at in chosen.tolist()), own, shares[:, chosen])


def _text(value: Value) -> str | None:
    return None if value is None else str(value)


def recoded_terms(counts: Counts, cells: Cells, hierarchies: Hierarchies, numbers: frozenset[str]) -> dict[str, Terms]:
    """Terms of every column of a recoding: numbers by their middles, other values by what they may stand for.

    >>> ages = Counts.of({"age": [20, 40]})
    >>> same = Cells(("age",), ages.values, np.arange(2), ages.codes, ages.weights)
    >>> recoded_terms(ages, same, {}, frozenset({"age"}))["age"].before.ravel().tolist()
    [-1.0, 1.0]
    """
    terms = {}
    pairs = column_pairs(counts, cells)
    for name, after in zip(cells.names, cells.values, strict=True):
        before, weights = counts.values_of(name), counts.marginal(name)
        if name in numbers:
            terms[name] = number_terms(name, before, weights, after)
            continue
        shares = None
        if name in hierarchies:
            tree = hierarchies[name]
            sets = leaf_sets(pairs[name], tree)
            shares = (sets / np.maximum(1, sets.sum(axis=1))[:, None])[:, tree.lookup(before)]
        terms[name] = word_terms(name, before, weights, after, shares)
    return terms


def spread_hidden(rows: Floats, hidden: NDArray[np.bool_] | None, terms: Terms) -> Floats:
    """Terms of released rows where those that are suppressed as a whole stand for the mean of all values.

    >>> jobs = Terms(("job = nurse",), np.array([[0.0], [1.0]]), np.array([[1.0]]))
    >>> spread_hidden(np.array([[1.0], [1.0]]), np.array([False, True]), jobs).ravel().tolist()
    [1.0, 0.5]
    """
    if hidden is None or not hidden.any():
        return rows
    return np.where(hidden[:, None], 0.0 if terms.number else terms.before.mean(axis=0), rows)


def products(parts: Sequence[Floats], numbers: Sequence[bool], most: int = MOST_TERMS) -> Floats | None:
    """Squares of numbers and products of the terms of any two columns; None where there are more than so many terms.

    >>> products([np.array([[2.0]]), np.array([[3.0, 4.0]])], [True, False]).tolist()
    [[4.0, 6.0, 8.0]]
    """
    widths = [part.shape[1] for part in parts]
    pairs = list(combinations(range(len(parts)), 2))
    if sum(widths) + sum(numbers) + sum(widths[i] * widths[j] for i, j in pairs) > most:
        return None
    squares = [part**2 for part, number in zip(parts, numbers, strict=True) if number]
    rows = len(parts[0])
    crossed = [(parts[i][:, :, None] * parts[j][:, None, :]).reshape(rows, -1) for i, j in pairs]
    return np.concatenate([*squares, *crossed, np.zeros((rows, 0))], axis=1)
