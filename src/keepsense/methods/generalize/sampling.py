"""Sampling: release some records only, unchanged (Rodríguez-García 2017, Sec. 2.3.1)."""

from __future__ import annotations

import numpy as np

from keepsense.counts import Counts, Value
from keepsense.errors import BadInput
from keepsense.recoding import SUPPRESSED, Cells


def sampling(
    counts: Counts, *, share: float | None = None, size: int | None = None, rng: np.random.Generator | int | None = None
) -> Cells:
    """Draw records at random without replacement; the others are suppressed.

    Give either the `share` of the records to keep or their number (`size`). Whoever is sought may not be in the sample,
    so that a match proves less; but a record that is unique in the sample and known to be in it is as exposed as
    before, above all where columns hold numbers: sampling promises no model by itself. Every sample of the size is
    equally likely. Cost: one draw over the distinct tuples.

    >>> cells = sampling(Counts.of({"job": ["nurse", "nurse", "clerk", "clerk"]}), size=3, rng=1)
    >>> int(cells.multiplicity[~cells.suppressed].sum())
    3
    """
    if (share is None) == (size is None):
        raise BadInput("sampling: give either the share of records to keep or their number")
    total = counts.total
    if size is None:
        if not 0 < float(share or 0) <= 1:
            raise BadInput("sampling: the share of records to keep must be above 0 and at most 1")
        size = round(float(share or 0) * total)
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or not 1 <= size <= total:
        raise BadInput(f"sampling: the table has {total:,} rows; a sample must hold between 1 and all of them")
    drawn = np.random.default_rng(rng).multivariate_hypergeometric(counts.weights, int(size), method="marginals")
    left = counts.weights - drawn
    kept, gone = np.flatnonzero(drawn), np.flatnonzero(left)
    values: list[tuple[Value, ...]] = []
    stars = []
    for labels in counts.values:
        stars.append(labels.index(SUPPRESSED) if SUPPRESSED in labels else len(labels))
        values.append(labels if stars[-1] < len(labels) else (*labels, SUPPRESSED))
    blank = np.broadcast_to(np.array(stars, dtype=np.int32), (len(gone), len(stars)))
    return Cells(
        counts.names,
        tuple(values),
        np.concatenate((kept, gone)),
        np.concatenate((counts.codes[kept], blank)),
        np.concatenate((drawn[kept], left[gone])),
        np.repeat([False, True], [len(kept), len(gone)]),
        {"algorithm": "sampling", "kept": int(size), "suppressed": total - int(size)},
    ).bound(counts)
