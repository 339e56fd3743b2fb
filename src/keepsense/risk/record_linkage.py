"""Record linkage: how often a released record is linked to its original by comparing meanings."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts, distinct_rows
from keepsense.errors import BadInput, KeepsenseError
from keepsense.metrics import SEED, Note, sampled_share
from keepsense.recoding import Cells, Cuts

Distances = Mapping[str, NDArray[np.float64]]
"""Distances by column: from each released value to each original one."""

MOST_PAIRS = 150_000_000
"""Most pairs of a released and an original combination that a report compares; beyond, it takes a sample."""
MOST_VALUES = 100_000
"""Most different values of a column that a report still compares."""
MOST_DISTANCES = 1 << 24
"""Most distances between values of one column that are written down."""
FEWEST_TRIED = 200
_TRUSTED = 0.001
"""Chance that a risk found on a sample lies above its bound."""


@dataclass(frozen=True)
class Linkage:
    """Outcome of a linkage attack: the expected share of records linked rightly, and how it comes about.

    `linked` is the share of records whose original is among the nearest ones at all; `group` the mean number of nearest
    originals. `tried` of all `records` were linked.

    >>> Linkage(risk=0.25, linked=1.0, group=4.0).risk
    0.25
    >>> [round(end, 3) for end in Linkage(0.25, 1.0, 4.0, tried=200, records=9000).estimates[0].interval]
    [0.195, 0.314]
    """

    risk: float
    linked: float
    group: float
    tried: int = 0
    records: int = 0

    @property
    def at_most(self) -> float:
        """The risk; where only some records were tried, what it exceeds in one case of a thousand at most.

        By Hoeffding's inequality, which asks nothing of how the chances are spread (Hoeffding 1963).

        >>> round(Linkage(0.25, 1.0, 4.0, tried=2000, records=9000).at_most, 3), Linkage(0.25, 1.0, 4.0).at_most
        (0.292, 0.25)
        """
        if self.tried >= self.records:
            return self.risk
        return min(1.0, self.risk + math.sqrt(math.log(1 / _TRUSTED) / (2 * self.tried)))

    @property
    def estimates(self) -> tuple[float, float]:
        """Risk and share linked; with 95% confidence intervals where only some of the records were tried."""
        if self.tried >= self.records:
            return self.risk, self.linked
        return sampled_share(self.risk, self.tried), sampled_share(self.linked, self.tried)


def record_linkage(counts: Counts, recoding: Cells | Cuts, distances: Distances, *, noise: float = 1e-9) -> Linkage:
    """Risk of an attacker who links each released record to the nearest original records.

    Let G be the original records at the least distance from a released one, the distance being the mean over columns.
    The record is linked rightly with chance 1 / |G| if its true original is in G, and never otherwise; the risk is the
    mean over released records (Domingo-Ferrer and Torra 2001; with semantic distances as in Ayala-Rivera et al. 2017
    and Martínez et al. 2012). `distances[column][i, j]` is the distance from value i of the released column's
    dictionary (`cells.values`) to value j of the original's (`counts.values_of(column)`); suppressed values stand at
    the root of their taxonomy. Every record counts, the suppressed ones too.

    The cost is at most distinct released tuples times distinct originals, compiled; originals that agree in their first
    columns are left together as soon as they cannot be among the nearest. Rows are never compared.

    >>> counts = Counts.of({"job": ["nurse", "surgeon", "clerk"]})
    >>> from keepsense.recoding import Cut
    >>> rule = Cuts((Cut("job", ("nurse", "surgeon", "clerk"), ("medic", "medic", "clerk")),))
    >>> far = {"job": np.array([[0.2, 0.2, 0.9], [0.8, 0.8, 0.0]])}
    >>> round(record_linkage(counts, rule, far).risk, 4)
    0.6667
    """
    from keepsense.risk.linkage_kernels import nearest_groups

    cells = recoding.cells(counts)
    tables, widths = [], []
    for j, name in enumerate(cells.names):
        table = distances.get(name)
        shape = (len(cells.values[j]), len(counts.values_of(name)))
        if table is None or table.shape != shape:
            raise BadInput(f"record linkage needs a {shape[0]} x {shape[1]} matrix of distances for column {name!r}")
        if not (table >= 0).all():
            raise BadInput(f"the distances of column {name!r} must not be negative or missing")
        tables.append(np.ascontiguousarray(table, dtype=np.float64).ravel())
        widths.append(shape[1])
    originals = np.ascontiguousarray(counts.codes[:, [counts.index(name) for name in cells.names]])
    offsets = np.concatenate(([0], np.cumsum([len(t) for t in tables])[:-1])).astype(np.int64)
    flat, width = np.concatenate(tables), np.array(widths, dtype=np.int64)
    own = np.zeros(len(cells.source))
    for j in range(len(cells.names)):
        own += flat[offsets[j] + cells.codes[:, j].astype(np.int64) * width[j] + originals[cells.source, j]]
    released, which = distinct_rows(cells.codes)
    reach = np.full(len(released), np.inf)
    np.minimum.at(reach, which, own)
    order = np.lexsort(originals.T[::-1])
    best, group = nearest_groups(released, reach, originals[order], counts.weights[order], flat, offsets, width, noise)
    hit = own <= best[which] + noise
    tried = int(cells.multiplicity.sum())
    weight = cells.multiplicity / max(1, tried)
    return Linkage(
        float(weight @ (hit / group[which])), float(weight @ hit), float(weight @ group[which]), tried, counts.total
    )


def linkage_before_and_after(
    counts: Counts, cells: Cells, distances: Callable[[Cells], Distances], notes: list[Note]
) -> dict[str, Linkage]:
    """Chance to link a record rightly by the distances of its values, in the original and in the release.

    Before, every original record is looked up among the originals; after, every released one. Where there are too many
    only some are, drawn at random, and `notes` tell so. `distances` gives those of a recoding, as above.

    >>> counts = Counts.of({"job": ["nurse", "surgeon"]})
    >>> same = lambda cells: {"job": np.array([[float(a != b) for b in counts.values[0]] for a in cells.values[0]])}
    >>> both = Cells(("job",), (("medic",),), np.arange(2), np.array([[0], [0]]), np.ones(2))
    >>> found = linkage_before_and_after(counts, both, same, [])
    >>> found["before"].risk, found["after"].risk
    (1.0, 0.5)
    """
    widest = max((len(values) for values in counts.values), default=0)
    if widest > MOST_VALUES:
        notes.append(
            Note("risk", f"Linkage was not measured: a column has more than {MOST_VALUES:,} different values.")
        )
        return {}
    unchanged = Cells(counts.names, counts.values, np.arange(len(counts)), counts.codes, counts.weights)
    results = {}
    for when, recoding in (("before", unchanged), ("after", cells)):
        some = some_records(recoding, max(FEWEST_TRIED, MOST_PAIRS // max(1, len(counts))), widest)
        try:
            results[when] = record_linkage(counts, some, distances(some))
        except KeepsenseError:
            continue
    least = min((linkage.tried for linkage in results.values()), default=counts.total)
    if least < counts.total:
        notes.append(
            Note("risk", f"Linkage was tried for {least:,} records drawn at random, because there are so many.")
        )
    return results


def some_records(cells: Cells, most: int, widest: int) -> Cells:
    """The recoding of at most so many records, drawn at random, with only the released values these have.

    `widest` is the most different values that an original column has: distances to all of them are written down.

    >>> cells = Cells(("job",), (("a", "b", "c"),), np.arange(3), np.array([[0], [1], [2]]), np.ones(3, np.int64))
    >>> some_records(cells, 2, 3).multiplicity.tolist(), some_records(cells, 3, 3) is cells
    ([1, 1], True)
    """
    distinct = len(distinct_rows(cells.codes)[0])
    room = max(1, MOST_DISTANCES // max(1, widest))
    if distinct <= most and max(map(len, cells.values)) <= room:
        return cells
    total = int(cells.multiplicity.sum())
    chosen = np.sort(np.random.default_rng(SEED).choice(total, min(most, room, total), replace=False))
    row, times = np.unique(np.searchsorted(np.cumsum(cells.multiplicity), chosen, side="right"), return_counts=True)
    codes, values = cells.codes[row].copy(), []
    for j in range(codes.shape[1]):
        used, codes[:, j] = np.unique(codes[:, j], return_inverse=True)
        values.append(tuple(cells.values[j][code] for code in used.tolist()))
    return Cells(cells.names, tuple(values), cells.source[row], codes, times)
