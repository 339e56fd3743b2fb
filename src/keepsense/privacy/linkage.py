"""Record linkage: how often a released record leads back to its original when meaning is compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts, distinct_rows
from keepsense.errors import BadInput
from keepsense.recoding import Cells, Cuts


@dataclass(frozen=True)
class Linkage:
    """Outcome of a linkage attack: the expected share of records linked rightly, and how it comes about.

    `linked` is the share of records whose original is among the nearest ones at all; `group` the mean number of nearest
    originals.

    >>> Linkage(risk=0.25, linked=1.0, group=4.0).risk
    0.25
    """

    risk: float
    linked: float
    group: float


def record_linkage(
    counts: Counts, recoding: Cells | Cuts, distances: Mapping[str, NDArray[np.float64]], *, noise: float = 1e-9
) -> Linkage:
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
    from keepsense.privacy._kernels import nearest_groups

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
    weight = cells.multiplicity / max(1, int(cells.multiplicity.sum()))
    return Linkage(float(weight @ (hit / group[which])), float(weight @ hit), float(weight @ group[which]))
