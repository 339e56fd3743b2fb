"""Empty cells for methods that draw a new value for every cell: they take part with a stand-in, and are empty again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from keepsense.counts import Counts, distinct_rows
from keepsense.errors import BadInput
from keepsense.random import Random, generator
from keepsense.recoding import Cells


def filled(counts: Counts, names: Sequence[str], rng: Random = None) -> Counts:
    """The same tuples, each empty cell of some columns with a value drawn as often as the column holds it.

    So gaps hardly change the mean and the spread of a column. Where there are none, the counts themselves.

    >>> filled(Counts.of({"age": [31, None]}), ["age"]).codes.tolist()
    [[0], [0]]
    """
    gappy = [name for name in names if None in counts.values_of(name)]
    if not gappy:
        return counts
    random = generator(rng)
    values, codes = list(counts.values), counts.codes.copy()
    for name in gappy:
        j = counts.names.index(name)
        empty = values[j].index(None)
        there = np.delete(np.arange(len(values[j])), empty)
        if not len(there):
            raise BadInput(f"column {name!r} is empty; drop it or give it another role")
        rows = counts.marginal(name)[there].astype(np.float64)
        gaps = np.flatnonzero(codes[:, j] == empty)
        codes[gaps, j] = random.choice(there, len(gaps), p=rows / rows.sum())
        codes[:, j] -= codes[:, j] > empty
        values[j] = tuple(values[j][i] for i in there.tolist())
    return replace(counts, values=tuple(values), codes=codes)


def emptied(counts: Counts, cells: Cells) -> Cells:
    """A recoding made for `filled` counts, with the cells empty again that are so in the counts.

    >>> counts = Counts.of({"age": [31, None]})
    >>> made = Cells(("age",), ((30, 33),), np.arange(2), np.array([[1], [0]]), np.ones(2))
    >>> emptied(counts, made).apply(counts).rows_of("age")
    {30: 0, 33: 1, None: 1}
    """
    values, codes = list(cells.values), cells.codes.copy()
    for j, name in enumerate(cells.names):
        if name not in counts.names or None not in counts.values_of(name):
            continue
        gaps = counts.column(name)[cells.source] == counts.values_of(name).index(None)
        values[j] = (*values[j], None)
        codes[gaps, j] = len(values[j]) - 1
    distinct, where = distinct_rows(np.column_stack([cells.source, codes]).astype(np.int32))
    if "groups" in cells.info or cells.suppressed is not None:  # they speak of the rows one by one
        return replace(cells, values=tuple(values), codes=codes)
    amount = np.bincount(where, cells.multiplicity, len(distinct)).astype(np.int64)
    return Cells(cells.names, tuple(values), distinct[:, 0].astype(np.int64), distinct[:, 1:], amount, info=cells.info)
