"""Semantic distance covariance and correlation (sdCov, sdCor): how two columns depend on each other.

Rodríguez-García 2017, Sec. 4.6, after Székely, Rizzo and Bakirov 2007. With A and B the distance matrices of the two
columns' distinct values, double-centred with the values' counts as weights, and P the table of joint counts, the double
sum over all pairs of rows in Eq. 4.23 is the sum of the entries of P∘(APB): its cost depends on what is distinct.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Counts
from keepsense.semantics.attribute import Attribute, check_same_rows


@dataclass(frozen=True, slots=True)
class Dependence:
    """Distance covariance, variances and correlation of two columns.

    Semantic distances need not be of negative type, so the sum under the root of Eq. 4.23 can fall below zero; it is
    then taken as zero and `clipped` says so.

    >>> Dependence(0.2, 0.4, 0.1, False).correlation
    1.0
    """

    covariance: float
    first_variance: float
    second_variance: float
    clipped: bool

    @property
    def correlation(self) -> float:
        """Distance correlation (Eq. 4.24): 0 where either column does not vary."""
        scale = self.first_variance * self.second_variance
        return float(self.covariance / np.sqrt(scale)) if scale > 0 else 0.0


def centred(matrix: NDArray[np.float64], weights: NDArray[np.int64]) -> Floats:
    """Distances with weighted row and column means taken away and the grand mean put back (Eq. 4.21, 4.22).

    >>> import numpy as np
    >>> centred(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([1, 1])).tolist()
    [[-0.5, 0.5], [0.5, -0.5]]
    """
    share = weights / weights.sum()
    means = matrix @ share
    table: Floats = matrix - means[:, None]
    table -= means[None, :]
    table += float(share @ means)
    return table


def dependence(counts: Counts, first: Attribute, second: Attribute) -> Dependence:
    """Distance covariance (Eq. 4.23), variances (Eq. 4.25) and correlation (Eq. 4.24) of two columns.

    Use it before and after a perturbation to see how much of the association survived. It costs the two distance
    matrices and a few products with the sparse table of joint counts.

    >>> from keepsense.semantics.attribute import Ordered
    >>> counts = Counts.of({"age": [20, 30, 40, 50], "stay": [1, 2, 3, 4]})
    >>> round(dependence(counts, Ordered.of(counts, "age"), Ordered.of(counts, "stay")).correlation, 6)
    1.0
    """
    check_same_rows(counts, [first, second])
    a, b = centred(first.matrix, first.weights), centred(second.matrix, second.weights)
    return _dependence(counts, first, second, a, b)


def distance_correlation(counts: Counts, first: Attribute, second: Attribute) -> float:
    """Distance correlation of two columns (Eq. 4.24), between 0 and 1.

    >>> from keepsense.semantics.attribute import Ordered
    >>> counts = Counts.of({"age": [20, 20, 40, 40], "stay": [1, 2, 1, 2]})
    >>> round(distance_correlation(counts, Ordered.of(counts, "age"), Ordered.of(counts, "stay")), 6)
    0.0
    """
    return dependence(counts, first, second).correlation


def distance_variance(column: Attribute) -> float:
    """Distance variance of a column (Eq. 4.25): 0 only where all rows are equal.

    >>> from keepsense.semantics.attribute import Ordered
    >>> distance_variance(Ordered.of(Counts.of({"age": [20, 40]}), "age"))
    0.5
    """
    return _variance(centred(column.matrix, column.weights), column.weights)


def covariance_matrix(counts: Counts, columns: Sequence[Attribute]) -> tuple[Floats, bool]:
    """Distance variances on the diagonal, distance covariances beside it (Eq. 6.3), and whether it had to be mended.

    Two columns always give a positive semidefinite matrix. More may not: the nearest positive semidefinite one, in the
    sense of least squares, is returned then, and the second value is True.

    >>> from keepsense.semantics.attribute import Ordered
    >>> counts = Counts.of({"age": [20, 40], "stay": [1, 3]})
    >>> covariance_matrix(counts, [Ordered.of(counts, "age"), Ordered.of(counts, "stay")])[0].tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    check_same_rows(counts, columns)
    tables = [centred(column.matrix, column.weights) for column in columns]
    table = np.zeros((len(columns), len(columns)))
    for i, first in enumerate(columns):
        table[i, i] = _variance(tables[i], first.weights)
        for j in range(i):
            table[i, j] = table[j, i] = _dependence(counts, first, columns[j], tables[i], tables[j]).covariance
    return nearest_semidefinite(table)


def nearest_semidefinite(table: Floats) -> tuple[Floats, bool]:
    """The nearest positive semidefinite matrix (negative eigenvalues set to zero), and whether it differs.

    >>> import numpy as np
    >>> nearest_semidefinite(np.array([[1.0, 2.0], [2.0, 1.0]]))[0].round(4).tolist()
    [[1.5, 1.5], [1.5, 1.5]]
    """
    values, vectors = np.linalg.eigh((table + table.T) / 2)
    if values[0] >= -1e-12 * max(1.0, float(values[-1])):
        return table, False
    mended: Floats = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return (mended + mended.T) / 2, True


def _variance(table: Floats, weights: NDArray[np.int64]) -> float:
    share = weights / weights.sum()
    return float(np.sqrt(share @ table**2 @ share))


def _dependence(counts: Counts, first: Attribute, second: Attribute, a: Floats, b: Floats) -> Dependence:
    joint = counts.joint(first.name, second.name) / float(counts.total)
    # joint' A joint, then the entrywise product with B: the sparse table makes both products cheap.
    between = joint.T @ (joint.T @ a).T
    total = float(np.sum(between * b))
    return Dependence(
        float(np.sqrt(max(0.0, total))), _variance(a, first.weights), _variance(b, second.weights), total < -1e-12
    )
