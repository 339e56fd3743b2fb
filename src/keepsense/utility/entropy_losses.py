"""Information lost in bits: value by value (non-uniform entropy), and for the joint distribution (KL divergence)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Counts, distinct_rows
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.metrics import metric
from keepsense.utility.recoded_table import (
    Generalized,
    Hierarchies,
    Recoded,
    column_pairs,
    cut_levels,
    hierarchy_of,
    leaf_sets,
    released_levels,
)

MOST_PAIRS = 150_000_000
"""Most pairs of a released and an original combination whose divergence a report works out."""


def non_uniform_entropy(
    counts: Counts, recoding: Generalized, hierarchies: Hierarchies, *, normalised: bool = False
) -> float:
    """Mean bits lost in a cell: how surprising the original is among the values its released one stands for.

    A value held by a records, released as one that stands for b records of the original table, loses log2(b / a) bits
    (Gionis and Tassa 2009); a suppressed one log2(n / a). `normalised` divides by what suppressing every record would
    lose, for a number between 0 and 1.

    >>> from keepsense.hierarchies.hierarchy import Hierarchy
    >>> from keepsense.recoding import Cuts
    >>> jobs = Hierarchy.of_rows([("nurse", "medic"), ("surgeon", "medic")], name="job")
    >>> non_uniform_entropy(Counts.of({"job": ["nurse", "surgeon"]}), Cuts((jobs.cut(1),)), {"job": jobs})
    1.0
    """
    fixed = cut_levels(recoding)
    lost = worst = 0.0
    columns = column_pairs(counts, recoding)
    for name, column in columns.items():
        hierarchy = hierarchy_of(hierarchies, name)
        at = hierarchy.lookup(column.originals)
        marginal = np.zeros(len(hierarchy.leaves), dtype=np.int64)
        marginal[at] = counts.marginal(name)
        hidden = np.log2(max(1, counts.total) / np.maximum(marginal, 1))
        table = np.concatenate([entropy_losses(hierarchy, marginal), hidden[:, None]], axis=1)
        leaf = at[column.original]
        lost += float(column.weights @ table[leaf, released_levels(column, hierarchy, fixed.get(name))])
        worst += float(column.weights @ hidden[leaf])
    if normalised:
        return lost / worst if worst else 0.0
    return lost / max(1, counts.total * len(columns))


def kl_divergence(counts: Counts, recoding: Generalized, hierarchies: Hierarchies) -> float:
    """Kullback-Leibler divergence of the original table from what a reader of the release can make of it, in bits.

    The reader spreads each released record evenly over the combinations of leaves it may stand for, a suppressed one
    over all of them, and adds up (Kifer and Gehrke 2006). The cost is at most distinct originals times classes,
    compiled.

    >>> from keepsense.hierarchies.hierarchy import Hierarchy
    >>> from keepsense.recoding import Cuts
    >>> jobs = Hierarchy.of_rows([("nurse", "medic"), ("surgeon", "medic")], name="job")
    >>> counts = Counts.of({"job": ["nurse", "nurse", "nurse", "surgeon"]})
    >>> round(kl_divergence(counts, Cuts((jobs.cut(1),)), {"job": jobs}), 4)
    0.1887
    """
    from keepsense.utility.utility_kernels import spread_mass

    cells = recoding.cells(counts)
    fixed = cut_levels(recoding)
    covers, widths, starts, leaves = [], [], [0], []
    for name, column in column_pairs(counts, recoding).items():
        hierarchy = hierarchy_of(hierarchies, name)
        sets = leaf_sets(column, hierarchy, fixed.get(name))
        widths.append(sets.sum(axis=1))
        seen = sets[:, hierarchy.lookup(column.originals)]
        covers.append(seen.ravel())
        starts.append(starts[-1] + seen.size)
        leaves.append(seen.shape[1])
    codes, group = distinct_rows(cells.codes)
    share = np.bincount(group, cells.multiplicity, len(codes)) / max(1, int(cells.multiplicity.sum()))
    for j, width in enumerate(widths):
        share = share / np.maximum(width, 1)[codes[:, j]]
    table = counts.project(cells.names)
    order = np.lexsort(table.codes.T[::-1])
    reconstructed = spread_mass(
        table.codes[order],
        codes,
        share,
        np.concatenate(covers),
        np.array(starts[:-1], dtype=np.int64),
        np.array(leaves, dtype=np.int64),
    )
    own = table.weights[order] / max(1, table.total)
    return float(own @ np.log2(own / reconstructed))


@metric("non-uniform entropy", "bits lost in a cell", span=(0.0, None), unit="bits", every_run=True, rank=6)
def _non_uniform_entropy(recoded: Recoded) -> float:
    """How much vaguer a value became on average.

    Computed: mean over cells of log2 of the records its released value stands for, over those that have the value
    (Gionis and Tassa 2009).
    """
    return non_uniform_entropy(*recoded.generalized, recoded.hierarchies)


@metric("divergence", "divergence, bits", span=(0.0, None), unit="bits", rank=40)
def _divergence(recoded: Recoded) -> float | None:
    """How far the table that a reader would reconstruct is from the original.

    Computed: Kullback-Leibler divergence, each released record spread evenly over what it may stand for (Kifer and
    Gehrke 2006).
    """
    counts, cells = recoded.cells
    if not recoded.truthful:
        return None
    if len(counts) * len(distinct_rows(cells.codes)[0]) > MOST_PAIRS:
        recoded.note("utility", "The divergence of the whole table was not measured: it has too many combinations.")
        return None
    return kl_divergence(counts, cells, recoded.hierarchies)


def entropy_losses(hierarchy: Hierarchy, marginal: NDArray[np.int64]) -> Floats:
    """Bits lost by each leaf at each level: how surprising the value is among those its ancestor stands for.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic"), ("surgeon", "medic")])
    >>> entropy_losses(jobs, np.array([1, 3])).round(3).tolist()
    [[0.0, 2.0], [0.0, 0.415]]
    """
    bits = np.zeros(hierarchy.codes.shape)
    mine = np.maximum(marginal, 1).astype(np.float64)
    for level in range(hierarchy.height + 1):
        codes = hierarchy.codes[:, level]
        group = np.bincount(codes, marginal, len(hierarchy.labels[level]))[codes]
        bits[:, level] = np.log2(np.maximum(group, 1) / mine)
    return np.where(marginal[:, None] > 0, bits, 0.0)
