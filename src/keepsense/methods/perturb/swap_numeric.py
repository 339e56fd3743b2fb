"""Rank swapping of numbers and ordered categories: the original method and two that hide the swapping interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.methods.perturb.clusters import check_swap, to_cells
from keepsense.methods.perturb.records import records_of
from keepsense.methods.perturb.swap import Random, tell_ranks
from keepsense.progress import Listener, emit
from keepsense.random import generator
from keepsense.recoding import Cells
from keepsense.semantics.attribute import Ordered

Rule = Literal["interval", "distribution", "buckets"]


def swap_numbers(
    counts: Counts,
    attributes: Sequence[Ordered],
    k: int | None = None,
    *,
    percent: float | None = None,
    rule: Rule = "interval",
    rng: Random = None,
    listener: Listener | None = None,
) -> Cells:
    """Swap columns of numbers or ordered categories by rank (Moore 1996; Rodríguez-García 2017, Sec. 2.3.2.2).

    `interval`: in ascending order, each value changes places with one drawn among the still unswapped of the next k
    records, k given as such or as `percent` of the rows. The two others (Nin, Herranz and Torra 2008) let any pair
    change places, near ones likelier, so that nobody can be sure of the interval, at the price of larger moves:
    `distribution` shifts a rank by a normal number with mean and deviation k / 2 (drawn again while it falls outside or
    on a swapped record, then the nearest free rank); `buckets` cuts the ranks into k buckets and takes a record of
    another bucket, half as likely for every bucket it is farther away (of its own only when the others are used up).
    Each column is swapped by itself. O(rows log rows).

    >>> counts = Counts.of({"age": list(range(20, 60))})
    >>> cells = swap_numbers(counts, [Ordered.of(counts, "age")], percent=10, rng=1)
    >>> cells.info["k"], sorted(cells.apply(counts).column("age").tolist()) == list(range(40))
    (4, True)
    """
    from keepsense.methods.perturb.kernels import values as kernels

    if (k is None) == (percent is None):
        raise BadInput("give either k, a number of records, or percent of them")
    if percent is not None:
        if not 0 < percent < 100:
            raise BadInput(f"percent = {percent!r}: it must lie between 0 and 100")
        k = max(2, int(percent * counts.total / 100))
    assert k is not None
    check_swap(counts, attributes, k)
    rng = generator(rng)
    kernel = {
        "interval": kernels.swap_window,
        "distribution": kernels.swap_shifted,
        "buckets": kernels.swap_buckets,
    }.get(rule)
    if kernel is None:
        raise BadInput(f"rule = {rule!r}: it must be 'interval', 'distribution' or 'buckets'")
    source = records_of(counts)
    columns = []
    for done, attribute in enumerate(attributes):
        codes = counts.column(attribute.name)[source]
        mixed = rng.permutation(len(codes))
        ranked = mixed[np.argsort(attribute.positions[codes[mixed]], kind="stable")]
        out = codes.copy()
        partners = kernel(rng, len(codes), int(k))
        out[ranked] = codes[ranked[partners]]
        columns.append(out)
        tell_ranks(listener, attribute, codes, source, ranked, partners)
        emit(listener, "column", done + 1, len(attributes), column=attribute.name)
    info = {"method": f"rank swapping by {rule}", "k": int(k)}
    return to_cells(counts, attributes, source, np.stack(columns, axis=1), info)
