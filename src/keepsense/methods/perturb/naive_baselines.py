"""Baselines without meaning that the thesis compares with: free swaps and naive distortions (Sec. 7.4, 7.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Ints
from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.methods.records import cells_of, records_of
from keepsense.recoding import Cells
from keepsense.secure_random import Random, generator


def swap_freely(counts: Counts, names: Sequence[str], *, rng: Random = None) -> Cells:
    """Unconstrained data swapping: each column is permuted at random over all rows.

    Columns keep their values and counts; everything between columns is lost, and words move any distance. The baseline
    of Fig. 7-1 to 7-3 for rank swapping.

    >>> counts = Counts.of({"x": ["a", "a", "b"]})
    >>> swap_freely(counts, ["x"], rng=1).apply(counts).marginal("x").tolist()
    [2, 1]
    """
    rng = generator(rng)
    source = records_of(counts)
    columns = [rng.permutation(counts.column(name)[source]) for name in _checked(counts, names)]
    return _cells(counts, names, source, columns, "unconstrained swapping")


def distort_naively(counts: Counts, names: Sequence[str], *, rng: Random = None) -> Cells:
    """Naive distortion: each value becomes another value of its column, all others being equally likely (Sec. 7.5).

    >>> counts = Counts.of({"x": ["a", "a", "b"]})
    >>> cells = distort_naively(counts, ["x"], rng=1)
    >>> cells.info["unchanged"]
    {'x': 0}
    """
    rng = generator(rng)
    source = records_of(counts)
    columns = []
    for name in _checked(counts, names):
        used = np.flatnonzero(counts.marginal(name))
        place = np.empty(len(counts.values_of(name)), dtype=np.int64)
        place[used] = np.arange(len(used))
        step = rng.integers(1, len(used), len(source))
        columns.append(used[(place[counts.column(name)[source]] + step) % len(used)])
    return _cells(counts, names, source, columns, "naive distortion")


def distort_by_frequency(counts: Counts, names: Sequence[str], *, rng: Random = None) -> Cells:
    """Probabilistic distortion: each value is redrawn with the frequencies of its column (Sec. 7.5).

    >>> counts = Counts.of({"x": ["a", "a", "b"]})
    >>> distort_by_frequency(counts, ["x"], rng=1).multiplicity.sum()
    np.int64(3)
    """
    rng = generator(rng)
    source = records_of(counts)
    columns = []
    for name in _checked(counts, names):
        share = counts.marginal(name) / counts.total
        columns.append(rng.choice(len(share), len(source), p=share))
    return _cells(counts, names, source, columns, "distortion by frequency")


def _checked(counts: Counts, names: Sequence[str]) -> Sequence[str]:
    if not names:
        raise BadInput("no column was given; name at least one")
    for name in names:
        if int((counts.marginal(name) > 0).sum()) < 2:
            raise BadInput(f"column {name!r} holds one value only; there is nothing to exchange")
    return names


def _cells(counts: Counts, names: Sequence[str], source: Ints, columns: Sequence[NDArray[Any]], method: str) -> Cells:
    kept = {name: int((counts.column(name)[source] == out).sum()) for name, out in zip(names, columns, strict=True)}
    info = {"method": method, "unchanged": kept}
    return cells_of(names, [counts.values_of(name) for name in names], source, columns, info)
