"""Special uniques (SUDA2): records that few columns single out, the columns that do so, and the same by meaning.

A record that is unique by sex and age stands out more than one that is unique only by all its columns. SUDA (Elliot,
Manning and Ford 2002; SUDA2: Manning, Haglin and Keane 2008) finds for every record its *minimal sample uniques*: sets
of columns whose values no other record has, though others have those of every part of the set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Counts, Value, distinct_rows
from keepsense.errors import BadInput
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.recoding import SUPPRESSED

MOST_SETS = 5_000
"""Most sets of columns that are looked at: larger sets are left out where there are more."""
MOST_CELLS = 50_000_000
"""Most tuples times sets of one size that are in memory at a time."""
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class SpecialUniques:
    """The minimal sample uniques of a table, by its distinct tuples.

    `scores` are the SUDA scores (0 where a tuple has several records), `sets` how many minimal uniques each has,
    `smallest` the columns of the smallest of them (0 where there is none). `contributions` says for each column which
    share of all scores comes from minimal uniques that it is part of; `disclosure` spreads the chance that a unique
    match is right over the records, in proportion to their scores (DIS-SUDA), where a sampling fraction is given.
    `most` is the size up to which sets of columns were looked at, `largest` the score of a record that every single
    column sets apart: none is higher.

    >>> table = Counts.of({"sex": ["f", "f", "m"], "job": ["nurse", "clerk", "nurse"]})
    >>> found = special_uniques(table)
    >>> found.scores.tolist(), found.smallest.tolist(), found.contributions
    ([1.0, 1.0, 1.0], [2, 1, 1], {'sex': 0.6666666666666666, 'job': 0.6666666666666666})
    """

    scores: Floats
    sets: NDArray[np.int64]
    smallest: NDArray[np.int64]
    contributions: Mapping[str, float]
    most: int
    largest: float = 1.0
    disclosure: Floats | None = None

    @property
    def records(self) -> int:
        """Records with a minimal unique."""
        return int((self.sets > 0).sum())


def special_uniques(
    counts: Counts, *, most: int | None = None, sampling_fraction: float | None = None
) -> SpecialUniques:
    """Find all minimal sample uniques of up to `most` columns, with SUDA scores (Manning, Haglin and Keane 2008).

    A minimal unique of i of m columns scores the product of m - j for j from i to the largest size looked at, which is
    how many larger sets of columns it makes unique (Elliot et al. 2002); a record scores the sum. Cells that are
    missing or suppressed tell nothing: no set that holds one is unique. Cost: a sort of the tuples for every set of
    columns; 30,000 tuples of 8 columns take seconds.

    >>> table = Counts.of({"sex": ["f", "f", "m"], "job": ["nurse", "clerk", "nurse"], "town": ["a", "b", "b"]})
    >>> special_uniques(table).scores.tolist()
    [3.0, 3.0, 3.0]
    """
    columns = len(counts.names)
    size = _most(columns, most, len(counts))
    weights = [score(i, columns, size) for i in range(1, size + 1)]
    n = len(counts)
    scores, sets, smallest = np.zeros(n), np.zeros(n, np.int64), np.zeros(n, np.int64)
    parts = np.zeros(columns)
    for chosen, minimal in minimal_uniques(counts, size):
        worth = weights[len(chosen) - 1]
        scores[minimal] += worth
        sets[minimal] += 1
        smallest[minimal & (smallest == 0)] = len(chosen)
        parts[list(chosen)] += worth * int(minimal.sum())
    total = float(scores.sum())
    shares = (parts / total if total else parts).tolist()
    contributions = dict(zip(counts.names, shares, strict=True))
    disclosure = None if sampling_fraction is None else _spread(counts, scores, sampling_fraction)
    return SpecialUniques(scores, sets, smallest, contributions, size, columns * weights[0], disclosure)


def score(size: int, columns: int, most: int) -> float:
    """SUDA score of a minimal unique of so many of the columns, where sets of up to `most` are looked at.

    >>> [score(size, 4, 3) for size in (1, 2, 3)]
    [6.0, 2.0, 1.0]
    """
    return float(prod(columns - j for j in range(size, min(most, columns - 1) + 1)))


def minimal_uniques(counts: Counts, most: int) -> Iterator[tuple[tuple[int, ...], Flags]]:
    """Sets of up to `most` columns, smallest first, with the tuples of which each is a minimal unique.

    >>> table = Counts.of({"sex": ["f", "f", "m"], "job": ["nurse", "clerk", "nurse"]})
    >>> [(chosen, minimal.tolist()) for chosen, minimal in minimal_uniques(table, 2)]
    [((0,), [False, False, True]), ((1,), [False, True, False]), ((0, 1), [True, False, False])]
    """
    alone = counts.weights == 1
    told = ~_hidden(counts)
    nobody = np.zeros(len(counts), np.bool_)
    before: dict[tuple[int, ...], tuple[NDArray[np.int32], Flags]] = {(): (np.zeros(len(counts), np.int32), nobody)}
    for size in range(1, min(most, len(counts.names)) + 1):
        now = {}
        for chosen in combinations(range(len(counts.names)), size):
            last = chosen[-1]
            # groups by all but the last column, divided by it
            key = before[chosen[:-1]][0].astype(np.int64) * (len(counts.values[last]) + 1) + counts.codes[:, last]
            group = np.unique(key, return_inverse=True)[1].astype(np.int32)
            records = np.bincount(group, counts.weights)
            unique = alone & (records[group] == 1) & told[:, list(chosen)].all(axis=1)
            now[chosen] = (group, unique)
            minimal = unique.copy()
            for part in combinations(chosen, size - 1):
                minimal &= ~before[part][1]
            if minimal.any():
                yield chosen, minimal
        before = now


def special_uniques_by_meaning(
    counts: Counts, hierarchies: Mapping[str, Hierarchy], *, most: int | None = None
) -> tuple[Floats, NDArray[np.int64]]:
    """SUDA scores by meaning: the mean over levels of generalization, and how far up each tuple is still alone.

    A record that nobody shares a value with is one thing; one that is alone even within a *concept* (the only medic,
    not just the only midwife) stands out to whoever knows roughly what it is. All columns are generalized together,
    step by step, and the scores of each step below the top are averaged; columns without a hierarchy stay as they
    are. The second result is the number of steps after which a tuple is still set apart: 0 where only its exact values
    do, -1 where nothing does.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")])
    >>> table = Counts.of({"job": ["nurse", "surgeon", "clerk"]})
    >>> scores, steps = special_uniques_by_meaning(table, {"job": jobs})
    >>> scores.tolist(), steps.tolist()
    ([0.5, 0.5, 1.0], [0, 0, 1])
    """
    heights = [hierarchies[name].height for name in counts.names if name in hierarchies]
    levels = max(1, max(heights, default=1))
    scores, steps = np.zeros(len(counts)), np.full(len(counts), -1)
    if not (counts.weights == 1).any():
        return scores, steps  # nobody is alone, whatever the labels of a release are
    for level in range(levels):
        values, codes = _generalized(counts, hierarchies, level)
        recoded = counts.recoded(values, codes)
        found = special_uniques(recoded, most=most)
        group = distinct_rows(codes)[1]
        scores += found.scores[group]
        steps[found.sets[group] > 0] = level
    return scores / levels, steps


def _generalized(
    counts: Counts, hierarchies: Mapping[str, Hierarchy], level: int
) -> tuple[list[tuple[Value, ...]], NDArray[np.int32]]:
    """Dictionaries and codes of every column at a level; a top that all share tells nothing."""
    values: list[tuple[Value, ...]] = []
    columns = []
    for j, name in enumerate(counts.names):
        tree = hierarchies.get(name)
        if tree is None:
            values.append(counts.values[j])
            columns.append(counts.codes[:, j])
            continue
        at = min(level, tree.height)
        labels = tree.labels[at]
        values.append((SUPPRESSED,) if len(labels) == 1 and at else tuple(labels))
        columns.append(tree.codes[tree.lookup(counts.values[j]), at][counts.codes[:, j]])
    return values, np.stack(columns, axis=1).astype(np.int32)


def _hidden(counts: Counts) -> Flags:
    """Which cells tell nothing."""
    flags = np.zeros(counts.codes.shape, np.bool_)
    for j, values in enumerate(counts.values):
        nothing = np.array([value is None or value in (SUPPRESSED, (SUPPRESSED,)) for value in values], np.bool_)
        flags[:, j] = nothing[counts.codes[:, j]]
    return flags


def _most(columns: int, most: int | None, tuples: int) -> int:
    if most is not None and most < 1:
        raise BadInput(f"minimal uniques have at least one column, not {most}")
    size = columns if most is None else min(most, columns)
    if most is None:
        while size > 1 and (
            sum(comb(columns, i) for i in range(1, size + 1)) > MOST_SETS
            or max(comb(columns, i) for i in range(1, size + 1)) * tuples > MOST_CELLS
        ):
            size -= 1
    return max(1, size)


def _spread(counts: Counts, scores: Floats, fraction: float) -> Floats:
    """Chance that a unique match is right (Skinner and Elliot 2002), over the uniques in proportion to their scores."""
    if not 0 < fraction <= 1:
        raise BadInput(f"the sampling fraction is a number above 0 and up to 1, not {fraction}")
    uniques, pairs = int((counts.weights == 1).sum()), int((counts.weights == 2).sum())
    if not uniques or not scores.sum():
        return np.zeros(len(scores))
    right = uniques * fraction / (uniques * fraction + 2 * pairs * (1 - fraction))
    spread: Floats = np.minimum(1.0, scores * right * uniques / scores.sum())
    return spread
