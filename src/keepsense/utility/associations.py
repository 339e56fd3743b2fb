"""Associations between columns before and after, by equality of values and by their meaning."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from keepsense.counts import Counts
from keepsense.errors import KeepsenseError
from keepsense.recoding import SUPPRESSED, Cells
from keepsense.semantics.attribute import Nominal
from keepsense.semantics.distance_correlation import distance_correlation
from keepsense.utility.recoded_table import Recoded, pairs
from keepsense.utility.value_distances import mutual_distances

PAIRED_VALUES = 4_000
"""Most different values of a column whose distance correlation with others is measured."""
PAIRED_COLUMNS = 6
PAIRED_WORK = 400_000_000
"""Most multiplications that the distance correlation of one pair of columns may take."""


@dataclass(frozen=True)
class Association:
    """How strongly two columns hang together before and after, by whichever measure.

    >>> Association("job", "sex", 0.5, 0.25).before
    0.5
    """

    first: str
    second: str
    before: float
    after: float


def association(counts: Counts, pair: tuple[str, str] | None = None) -> float:
    """Cramér's V of two columns, corrected for the bias of small samples (Bergsma 2013): 0 none, 1 full.

    The columns are those of the counts unless they are named.

    >>> round(association(Counts.of({"a": ["x", "y"] * 50, "b": ["p", "q"] * 50})), 3)
    1.0
    """
    first, second = counts.names if pair is None else pair
    table = counts.joint(first, second).tocoo()
    n = float(table.sum())
    rows, columns = (np.asarray(table.sum(axis=axis)).ravel() for axis in (1, 0))
    r, c = int((rows > 0).sum()), int((columns > 0).sum())
    if r < 2 or c < 2 or n < 2:
        return 0.0
    i, j = table.coords
    squared = float((table.data.astype(np.float64) ** 2 / (rows[i] * columns[j])).sum()) - 1.0
    corrected = max(0.0, squared - (r - 1) * (c - 1) / (n - 1))
    smaller = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1
    return float(min(1.0, np.sqrt(corrected / smaller))) if smaller > 0 else 0.0


def one_label_each(counts: Counts, cells: Cells) -> bool:
    """Whether values have one label everywhere: where every class has labels of its own, these go together anyway.

    >>> jobs = Counts.of({"job": ["nurse", "nurse"]})
    >>> one_label_each(jobs, Cells(("job",), (("medic", "nurse"),), np.zeros(2), np.array([[0], [1]]), np.ones(2)))
    False
    """
    shown = replace(cells, suppressed=None, inputs=None)
    for name in cells.names:
        column = pairs(counts, shown, name)
        labels = np.array([label != SUPPRESSED for label in column.values])[column.released]
        if (np.bincount(column.original[labels]) > 1).any():
            return False
    return True


def associations(before: Counts, after: Counts) -> tuple[Association, ...]:
    """Cramér's V of the first columns, pair by pair.

    >>> jobs = Counts.of({"job": ["nurse", "clerk"] * 20, "sex": ["f", "m"] * 20})
    >>> [round(figure, 2) for figure in (associations(jobs, jobs)[0].before, associations(jobs, jobs)[0].after)]
    [1.0, 1.0]
    """
    return tuple(
        Association(first, second, *(association(counts, (first, second)) for counts in (before, after)))
        for first, second in combinations(after.names[:PAIRED_COLUMNS], 2)
    )


def dependence(recoded: Recoded, before: Counts, after: Counts) -> tuple[Association, ...]:
    """Distance correlations of the first columns, pair by pair (Rodríguez-García 2017, Eq. 4.24).

    >>> people = Counts.of({"job": ["nurse", "clerk", "clerk"], "sex": ["f", "m", "m"]})
    >>> round(dependence(Recoded(people, []), people, people)[0].before, 2)
    1.0
    """
    columns: dict[str, tuple[Nominal, Nominal]] = {}
    many = []
    for name in after.names[:PAIRED_COLUMNS]:
        originals, released = before.values_of(name), after.values_of(name)
        if max(len(originals), len(released)) > PAIRED_VALUES:
            many.append(name)
            continue
        try:
            scale = recoded.scale_of(name)
            columns[name] = (
                Nominal.of(before, name, mutual_distances(scale, originals, originals)),
                Nominal.of(after, name, mutual_distances(scale, released, originals)),
            )
        except KeepsenseError:
            continue
    if many:
        text = f"Distance correlation left out {', '.join(many)}: over {PAIRED_VALUES:,} different values."
        recoded.note("together", text)
    correlations, skipped = [], 0
    for first, second in combinations(columns, 2):
        if _work(columns[first], columns[second], before) > PAIRED_WORK:
            skipped += 1
            continue
        was, now = (
            distance_correlation(counts, columns[first][i], columns[second][i])
            for i, counts in enumerate((before, after))
        )
        correlations.append(Association(first, second, was, now))
    if skipped:
        recoded.note("together", f"{skipped} pairs of columns were left out: they have too many combinations.")
    return tuple(correlations)


def _work(first: tuple[Nominal, Nominal], second: tuple[Nominal, Nominal], counts: Counts) -> int:
    """Multiplications of a sparse table of joint counts with a table of distances, about."""
    widest = [max(len(attribute.values) for attribute in column) for column in (first, second)]
    return min(len(counts), widest[0] * widest[1]) * max(widest)
