"""Semantic rank swapping of several columns together: SRS-3, clusters of near tuples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from keepsense.counts import Counts
from keepsense.methods.perturb.clusters import Field, check_swap, to_cells
from keepsense.methods.perturb.swap import Random, run_clusters
from keepsense.progress import Listener
from keepsense.random import generator
from keepsense.recoding import Cells
from keepsense.semantics.attribute import Attribute


def swap_tuples(
    counts: Counts, attributes: Sequence[Attribute], k: int, *, rng: Random = None, listener: Listener | None = None
) -> Cells:
    """Swap columns inside clusters of near tuples (SRS-Algorithm 3, Rodríguez-García 2017, Sec. 5.4).

    Distances are averages over the columns (Eq. 5.5), so a cluster holds records alike in all of them; each value of
    the reference changes places with one drawn, column by column, among the still unswapped values of its cluster. Use
    it where columns depend on each other, such as diagnosis and treatment: it keeps their distance correlation better
    than swapping them one by one, and moves single values a little farther. A value that was already swapped as
    another's partner is not swapped again when its record becomes the reference: the printed algorithm does not say
    so, but a second swap would lose a value and repeat another. What stays as it was is counted as in
    `swap_by_clusters`. O(rows x tuples near a reference).

    >>> from keepsense.semantics.attribute import Ordered
    >>> counts = Counts.of({"age": [20, 21, 60, 61], "stay": [1, 2, 8, 9]})
    >>> cells = swap_tuples(counts, [Ordered.of(counts, "age"), Ordered.of(counts, "stay")], 2, rng=1)
    >>> sorted(cells.apply(counts).marginal("stay").tolist())
    [1, 1, 1, 1]
    """
    check_swap(counts, attributes, k)
    rng = generator(rng)
    codes = np.stack([counts.column(a.name) for a in attributes], axis=1)
    field = run_clusters(Field(attributes, codes, counts.weights), int(k), rng, listener)
    field.tell(listener, field.source(), np.arange(counts.total))
    in_place = {a.name: int(x) for a, x in zip(attributes, field.in_place, strict=True)}
    info = {"method": "semantic rank swapping of tuples", "k": int(k), "in_place": in_place}
    return to_cells(counts, attributes, field.source(), field.released(), info)
