"""How much meaning was lost: distances between what was there and what is released."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.hierarchies.kinds import KINDS
from keepsense.metrics import metric
from keepsense.recoding import Cells
from keepsense.utility.alignment import some_columns
from keepsense.utility.pairs import Generalized, Pairs, column_pairs
from keepsense.utility.recoded import MOST_DISTANCES, Recoded
from keepsense.utility.scales import column_distances

Matrices = Mapping[str, NDArray[np.float64]]
"""Distances by column: a row for each released value (`cells.values`), a column for each original one."""


def semantic_loss(counts: Counts, recoding: Generalized, distances: Matrices) -> float:
    """Mean semantic distance between original and released value, over records and columns (SemILoss).

    Ayala-Rivera et al. 2017, Eq. 11. `distances[column]` comes from `value_distances(distance, cells.values[j],
    counts.values_of(column))`. The cost is that of the distinct pairs of values in each column.

    >>> from keepsense.recoding import Cut, Cuts
    >>> rule = Cuts((Cut("pet", ("cat", "dog"), ("pet", "pet")),))
    >>> semantic_loss(Counts.of({"pet": ["cat", "cat", "dog"]}), rule, {"pet": np.array([[0.3, 0.6]])})
    0.39999999999999997
    """
    columns = column_pairs(counts, recoding)
    if not columns:
        raise BadInput("the recoding changes no column, so there is nothing to measure")
    lost = [
        float(column.weights @ _matrix(column, distances)[column.released, column.original])
        / max(1, int(column.weights.sum()))
        for column in columns.values()
    ]
    return float(np.mean(lost))


def semantic_sse(counts: Counts, recoding: Generalized, distances: Matrices) -> float:
    """Sum over records of the squared mean distance over columns (Semantic SSE, Ayala-Rivera et al. 2017, Eq. 12).

    >>> from keepsense.recoding import Cut, Cuts
    >>> rule = Cuts((Cut("pet", ("cat", "dog"), ("pet", "pet")),))
    >>> semantic_sse(Counts.of({"pet": ["cat", "cat", "dog"]}), rule, {"pet": np.array([[0.5, 1.0]])})
    1.5
    """
    cells = recoding.cells(counts)
    if not cells.names:
        raise BadInput("the recoding changes no column, so there is nothing to measure")
    columns = column_pairs(counts, recoding)
    distance = np.zeros(len(cells.source))
    for j, name in enumerate(cells.names):
        distance += _matrix(columns[name], distances)[cells.codes[:, j], counts.column(name)[cells.source]]
    distance /= len(cells.names)
    return float(cells.multiplicity @ distance**2)


def root_mean_square_error(counts: Counts, recoding: Generalized, distances: Matrices) -> dict[str, float]:
    """Root mean square distance between original and released value of each column (Rodríguez-García 2017, Sec. 7.3).

    >>> from keepsense.recoding import Cut, Cuts
    >>> rule = Cuts((Cut("pet", ("cat", "dog"), ("dog", "cat")),))
    >>> root_mean_square_error(Counts.of({"pet": ["cat", "dog"]}), rule, {"pet": np.array([[0.5, 0.0], [0.0, 0.5]])})
    {'pet': 0.5}
    """
    errors = {}
    for name, column in column_pairs(counts, recoding).items():
        distance = _matrix(column, distances)[column.released, column.original]
        errors[name] = float(np.sqrt(column.weights @ distance**2 / max(1, int(column.weights.sum()))))
    return errors


def _matrix(column: Pairs, distances: Matrices) -> NDArray[np.float64]:
    shape = (len(column.values), len(column.originals))
    matrix = distances.get(column.name)
    if matrix is None or matrix.shape != shape:
        raise BadInput(f"the metric needs a {shape[0]} x {shape[1]} matrix of distances for column {column.name!r}")
    return matrix


# ---- for reports -----------------------------------------------------------------------------------------------------


def _words(recoded: Recoded) -> tuple[Counts, Cells, Matrices] | None:
    """The columns of words that have a meaning, and their distances; None where there are none, or too many words."""
    counts, cells = recoded.cells
    scales = {name: recoded.scale_of(name) for name in cells.names}
    single = {name: scale for name, scale in scales.items() if not KINDS[scale.kind].sets}
    names = [name for name, scale in single.items() if scale.distance is not None and KINDS[scale.kind].words]
    words = some_columns(cells, names)
    if not names or max(map(len, words.values)) * max(len(counts.values_of(n)) for n in names) > MOST_DISTANCES:
        return None
    return counts, words, column_distances(scales.__getitem__, counts, words)


@metric("semantic loss", "meaning lost", rank=20)
def _semantic_loss(recoded: Recoded) -> float | None:
    """Mean semantic distance from original to released word.

    Computed: mean over records and columns of the distance (Ayala-Rivera et al. 2017, Eq. 11).
    """
    words = recoded.once(_words)
    return None if words is None else semantic_loss(*words)


@metric("semantic sum of squared errors", "semantic sum of squared errors", span=(0.0, None), unit="squares", rank=21)
def _semantic_sse(recoded: Recoded) -> float | None:
    """How far all records together moved in meaning, large movements counting more.

    Computed: sum over records of the squared mean distance over columns (Ayala-Rivera et al. 2017, Eq. 12).
    """
    words = recoded.once(_words)
    return None if words is None else semantic_sse(*words)


@metric("root mean square distance", "distance of {}", rank=22)
def _root_mean_square_distance(recoded: Recoded) -> dict[str, float] | None:
    """Typical distance from original to released word, large ones counting more.

    Computed: root of the mean over records of the squared distance (Rodríguez-García 2017, Sec. 7.3).
    """
    words = recoded.once(_words)
    return None if words is None else root_mean_square_error(*words)
