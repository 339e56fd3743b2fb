"""Whether the released table has the same clusters as the original (Ayala-Rivera et al. 2017, Appendix B).

Both tables are clustered by Ward's method from distances between records, the number of clusters is the one the
Calinski-Harabasz criterion likes best, and the two partitions are compared by the Rand index and by normalized mutual
information. Everything works on distinct tuples with their numbers of records as weights, in forms that need only
distances: the result is that of the table with all its rows, which are never compared with one another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Counts, distinct_rows
from keepsense.errors import BadInput
from keepsense.utility.recoded_table import Generalized

MOST_TUPLES = 12_000
"""Distinct tuples beyond which clustering is refused: their matrix of distances would not fit into memory."""


@dataclass(frozen=True, eq=False)
class Dendrogram:
    """Merges of a hierarchical clustering, cheapest first: two items a merge (one of each cluster) and its cost.

    The cost is what the merge adds to the within-cluster sum of squares.

    >>> tree = ward(np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 5.0], [5.0, 5.0, 0.0]]), np.array([1, 1, 1]))
    >>> tree.merges[0].tolist(), float(tree.costs[0])
    ([0, 1], 0.5)
    """

    merges: NDArray[np.int64]
    costs: Floats
    weights: NDArray[np.int64]

    def partition(self, clusters: int) -> NDArray[np.int64]:
        """Cluster of each item when the cheapest merges are made until so many clusters are left."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        n = len(self.weights)
        if not 1 <= clusters <= n:
            raise BadInput(f"{n} items form between 1 and {n} clusters, not {clusters}")
        made = self.merges[: n - clusters]
        links = coo_array((np.ones(len(made)), (made[:, 0], made[:, 1])), shape=(n, n))
        return connected_components(links, directed=False)[1].astype(np.int64)  # type: ignore[no-any-return]

    def criterion(self, most: int = 20) -> Floats:
        """Calinski-Harabasz criterion for 2, 3, ... clusters, up to `most` or one less than there are items.

        Between-cluster over within-cluster sum of squares, each over its degrees of freedom (Calinski and Harabasz
        1974). The within-cluster sum is that of the merges made, so no coordinates are needed.
        """
        n, records = len(self.weights), int(self.weights.sum())
        upto = min(most, n - 1)
        number = np.arange(2, upto + 1)
        within = np.cumsum(self.costs)
        left = within[n - number - 1]
        between = within[-1] - left if len(within) else left
        with np.errstate(divide="ignore", invalid="ignore"):
            scores = (between / (number - 1)) / (left / (records - number))
        return np.where(np.isnan(scores), 0.0, scores)

    def best(self, most: int = 20) -> NDArray[np.int64]:
        """Partition with the best criterion; the fewest clusters among equals, one where nothing differs."""
        n = len(self.weights)
        if n == 1 or not self.costs.any():
            return np.zeros(n, dtype=np.int64)
        scores = self.criterion(most)
        return self.partition(2 + int(np.argmax(scores))) if len(scores) else np.arange(n)


def ward(distances: NDArray[np.float64], weights: NDArray[np.int64]) -> Dendrogram:
    """Ward's hierarchical clustering of weighted items from their distances.

    An item of weight w stands for w equal records. Joining clusters of weights a and b at distance d adds
    ab / (a + b) d² to the within-cluster sum of squares; later costs follow by the Lance-Williams recurrence, with
    weights for sizes. With nearest-neighbour chains the time is quadratic in the items, and so is the memory.

    >>> ward(np.array([[0.0, 2.0], [2.0, 0.0]]), np.array([3, 1])).costs.tolist()
    [3.0]
    """
    n = len(weights)
    if n == 0 or distances.shape != (n, n):
        raise BadInput(f"clustering {n} items needs a {n} x {n} matrix of distances")
    if not np.isfinite(distances).all() or (distances < 0).any() or (weights < 1).any():
        raise BadInput("clustering needs distances that are not negative and weights of at least 1")
    from keepsense.utility.utility_kernels import ward_merges

    size = weights.astype(np.float64)
    cost = distances.astype(np.float64) ** 2
    cost *= size[:, None] * size[None, :] / (size[:, None] + size[None, :])
    first, second, price = ward_merges(cost, weights.astype(np.int64))
    order = np.argsort(price, kind="stable")
    merges = np.stack([first[order], second[order]], axis=1) if n > 1 else np.empty((0, 2), dtype=np.int64)
    return Dendrogram(merges, np.maximum(price[order], 0.0), weights.astype(np.int64))


def contingency(first: NDArray[np.int64], second: NDArray[np.int64], weights: NDArray[np.int64]) -> NDArray[np.int64]:
    """Records in each pair of clusters of two partitions.

    >>> contingency(np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([2, 1, 3])).tolist()
    [[2, 1], [0, 3]]
    """
    table = np.zeros((int(first.max(initial=0)) + 1, int(second.max(initial=0)) + 1), dtype=np.int64)
    np.add.at(table, (first, second), weights)
    return table


def rand_index(table: NDArray[np.int64]) -> float:
    """Share of the pairs of records on which two partitions agree (Ayala-Rivera et al. 2017, Eq. 13; Rand 1971).

    >>> rand_index(np.array([[2, 0], [0, 2]])), rand_index(np.array([[1, 1], [1, 1]]))
    (1.0, 0.3333333333333333)
    """
    n = int(table.sum())
    if n < 2:
        return 1.0
    cells, rows, columns = (
        int((part.astype(object) * (part - 1)).sum()) for part in (table, table.sum(axis=1), table.sum(axis=0))
    )
    everything = n * (n - 1)
    return (everything - rows - columns + 2 * cells) / everything


def normalised_mutual_information(table: NDArray[np.int64]) -> float:
    """Twice the mutual information over the sum of the entropies of two partitions (Eq. 14a to 14c).

    Two partitions of one cluster each are the same: 1.

    >>> normalised_mutual_information(np.array([[2, 0], [0, 2]])), normalised_mutual_information(np.array([[4]]))
    (1.0, 1.0)
    """
    share = table / table.sum()
    rows, columns = share.sum(axis=1), share.sum(axis=0)
    there = share > 0
    outer = (rows[:, None] * columns[None, :])[there]
    mutual = float((share[there] * np.log(share[there] / outer)).sum())
    entropy = sum(float(-(p[p > 0] * np.log(p[p > 0])).sum()) for p in (rows, columns))
    return min(1.0, max(0.0, 2 * mutual / entropy)) if entropy > 0 else 1.0


def record_distances(codes: NDArray[np.int32], matrices: list[NDArray[np.float64]]) -> Floats:
    """Distances between distinct tuples: the mean over columns of the distances between their values.

    >>> record_distances(np.array([[0, 0], [1, 0]]), [np.array([[0.0, 0.6], [0.6, 0.0]]), np.zeros((1, 1))]).tolist()
    [[0.0, 0.3], [0.3, 0.0]]
    """
    if len(codes) > MOST_TUPLES:
        raise BadInput(
            f"{len(codes):,} distinct tuples are too many to cluster, the limit is {MOST_TUPLES:,}; take a sample of "
            "the records first (`sample`), or fewer columns"
        )
    distances = np.zeros((len(codes), len(codes)))
    for j, matrix in enumerate(matrices):
        distances += matrix[np.ix_(codes[:, j], codes[:, j])]
    return distances / max(1, len(matrices))


@dataclass(frozen=True)
class ClusterComparison:
    """How alike the clusters of the original and of the released table are; 1 is the same partition.

    >>> ClusterComparison(0.9, 0.8, 3, 2).rand
    0.9
    """

    rand: float
    nmi: float
    clusters_before: int
    clusters_after: int


def compare_clusters(
    counts: Counts,
    recoding: Generalized,
    before: Mapping[str, NDArray[np.float64]],
    after: Mapping[str, NDArray[np.float64]],
    *,
    most: int = 20,
    sample: int | None = None,
    rng: np.random.Generator | int | None = None,
) -> ClusterComparison:
    """Cluster the original and the released records and compare the partitions.

    `before[column]` holds distances between original values, `after[column]` between released ones, in the order of the
    dictionaries (`counts.values_of`, `cells.values`); a suppressed value stands at the root (`value_distances` makes
    both). The criterion is tried for up to `most` clusters. `sample` takes so many records at random first.

    >>> from keepsense.recoding import Cut, Cuts
    >>> counts = Counts.of({"pet": ["cat", "lynx", "dog", "wolf"]})
    >>> far = np.array([[0, 0.1, 1, 1], [0.1, 0, 1, 1], [1, 1, 0, 0.1], [1, 1, 0.1, 0]])
    >>> rule = Cuts((Cut("pet", ("cat", "lynx", "dog", "wolf"), ("feline", "feline", "dog", "wolf")),))
    >>> compare_clusters(counts, rule, {"pet": far}, {"pet": far[1:, 1:]}).rand
    1.0
    """
    cells = recoding.cells(counts)
    if not cells.names:
        raise BadInput("the recoding changes no column, so there is nothing to compare")
    weights = cells.multiplicity
    if sample is not None and sample < int(weights.sum()):
        draw = np.random.default_rng(rng)
        weights = draw.multivariate_hypergeometric(weights, sample, method="marginals")
    drawn = np.flatnonzero(weights)
    old = np.ascontiguousarray(counts.codes[cells.source[drawn]][:, [counts.index(name) for name in cells.names]])
    new = np.ascontiguousarray(cells.codes[drawn])
    labels = []
    for codes, matrices, dictionaries, what in (
        (old, before, [counts.values_of(name) for name in cells.names], "original"),
        (new, after, cells.values, "released"),
    ):
        chosen = []
        for name, values in zip(cells.names, dictionaries, strict=True):
            matrix = matrices.get(name)
            if matrix is None or matrix.shape != (len(values), len(values)):
                raise BadInput(
                    f"clustering needs a {len(values)} x {len(values)} matrix of distances between the {what} values "
                    f"of column {name!r}"
                )
            chosen.append(matrix)
        distinct, group = distinct_rows(codes)
        size = np.bincount(group, weights[drawn], len(distinct)).astype(np.int64)
        labels.append(ward(record_distances(distinct, chosen), size).best(most)[group])
    table = contingency(labels[0], labels[1], weights[drawn])
    return ClusterComparison(
        rand_index(table), normalised_mutual_information(table), int(labels[0].max()) + 1, int(labels[1].max()) + 1
    )
