"""How spread out a column's meanings are, and how far a release moved them (Rodríguez-García 2017, Sec. 4.5, 7.3)."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints
from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.recoding import Cells
from keepsense.semantics.attribute import Attribute, Nominal, Ordered
from keepsense.semantics.base import Distance
from keepsense.semantics.mean import Mean, semantic_mean


def semantic_variance(
    column: Nominal, mean: Mean | None = None, *, over: Literal["attribute", "domain"] = "attribute"
) -> float:
    """Average of the squared distances to the semantic mean (Eq. 4.19); the mean is found first where not given.

    >>> from keepsense.semantics import distance
    >>> from keepsense.taxonomy import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet"), ("pug", "dog"), ("lab", "dog")])
    >>> column = Nominal.of(Counts.of({"pet": ["pug", "lab", "lab", "cat"]}), "pet", distance("wu-palmer", pets))
    >>> round(semantic_variance(column), 4)
    0.1178
    """
    centre = (semantic_mean(column, over=over) if mean is None else mean).concept
    if column.distance is None:
        away: Floats = column.row(centre)
    else:
        distance, concepts = column.bound()
        away = distance.against_all(np.array([centre]))[0][concepts]
    return float(column.weights @ away**2 / column.weights.sum())


def pair_distances(distance: Distance, first: Ints, second: Ints) -> Floats:
    """Distance of each first concept to its second, computed in blocks of distinct concepts.

    >>> from keepsense.semantics import distance
    >>> from keepsense.taxonomy import from_edges
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
