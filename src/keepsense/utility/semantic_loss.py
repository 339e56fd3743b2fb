"""Semantic loss: distances between original and released values."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints
from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.metrics import metric
from keepsense.recoding import Cells
from keepsense.semantics.attribute import Attribute, Nominal, Ordered
from keepsense.semantics.distance import Distance
from keepsense.utility.recoded_table import MOST_DISTANCES, Generalized, Pairs, Recoded, column_pairs, some_columns
from keepsense.utility.value_distances import column_distances

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


def pair_distances(distance: Distance, first: Ints, second: Ints) -> Floats:
    """Distance of each first concept to its second, computed in blocks of distinct concepts.

    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet")])
    >>> pair_distances(distance("path", pets), pets.codes(["cat", "pet"]), pets.codes(["dog", "dog"])).tolist()
    [2.0, 1.0]
    """
    rows, at_row = np.unique(first, return_inverse=True)
    columns, at_column = np.unique(second, return_inverse=True)
    distances = np.empty(len(first))
    by_row = np.argsort(at_row, kind="stable")
    sorted_rows = at_row[by_row]
    for where, block in distance.blocks(rows.astype(np.int32), columns.astype(np.int32)):
        low, high = np.searchsorted(sorted_rows, [where.start, where.stop])
        mine = by_row[low:high]
        distances[mine] = block[at_row[mine] - where.start, at_column[mine]]
    return distances


def released_distances(counts: Counts, cells: Cells, column: Attribute) -> tuple[Floats, NDArray[np.int64]]:
    """How far each released value lies from the original one, and how many rows moved so: one entry per allocation.

    >>> import numpy as np
    >>> counts = Counts.of({"age": [20, 40]})
    >>> cells = Cells(("age",), ((20, 30, 40),), np.array([0, 1]), np.array([[1], [2]]), np.array([1, 1]))
    >>> released_distances(counts, cells, Ordered.of(counts, "age"))[0].tolist()
    [0.5, 0.0]
    """
    at = cells.names.index(column.name)
    before = counts.column(column.name)[cells.source]
    labels = cells.values[at]
    after = cells.codes[:, at]
    if isinstance(column, Ordered):
        place = {v: i for i, v in enumerate(column.levels or ())}
        numbers = np.array([place[v] if column.levels else float(v) for v in labels])  # type: ignore[arg-type]
        return np.abs(column.positions[before] - numbers[after]) / column.span, cells.multiplicity
    if not isinstance(column, Nominal):
        raise BadInput(f"column {column.name!r}: no distances are known between original and released values")
    if column.distance is None:
        place = {v: i for i, v in enumerate(column.values)}
        back = np.array([place[v] for v in labels], dtype=np.int64)
        return column.matrix[before, back[after]], cells.multiplicity
    distance, concepts = column.bound()
    known = {v: int(c) for v, c in zip(column.values, concepts, strict=True)}
    codes = np.array([known[v] if v in known else distance.taxonomy.code(str(v)) for v in labels], dtype=np.int32)
    return pair_distances(distance, concepts[before], codes[after]), cells.multiplicity


def rmse(counts: Counts, cells: Cells, column: Attribute) -> float:
    """Root mean square distance between the original and the released values of a column (Sec. 7.3, metric 3).

    >>> import numpy as np
    >>> counts = Counts.of({"age": [20, 40]})
    >>> cells = Cells(("age",), ((20, 30, 40),), np.array([0, 1]), np.array([[1], [2]]), np.array([1, 1]))
    >>> round(rmse(counts, cells, Ordered.of(counts, "age")), 4)
    0.3536
    """
    away, rows = released_distances(counts, cells, column)
    return float(np.sqrt(rows @ away**2 / max(1, int(rows.sum()))))
