"""Semantic rank swapping of tuples (SRS-3): several columns together, in clusters of near tuples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from keepsense.counts import Counts
from keepsense.methods.method import Method, registered
from keepsense.methods.method_call import by_columns
from keepsense.methods.method_flowchart import Filling
from keepsense.methods.perturb.clusters import (
    EXTREME,
    NOT_PROMISED,
    SWAP_INPUTS,
    ClusterWalk,
    check_swap,
    run_clusters,
    to_cells,
)
from keepsense.methods.suitability import ONLY_STRICT, UNKNOWN_NEARNESS, Fit
from keepsense.methods.task import Importance, group_size
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener
from keepsense.recoding import Cells
from keepsense.secure_random import Random, generator
from keepsense.semantics.attribute import Attribute


def rank_swapping_of_tuples(
    counts: Counts,
    columns: Sequence[Attribute],
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    rng: Random = None,
    importance: Importance | None = None,
    listener: Listener | None = None,
) -> Cells:
    """Swap columns inside clusters of near tuples (SRS-Algorithm 3, Rodríguez-García 2017, Sec. 5.4).

    Distances are averages over the columns (Eq. 5.5), by their `importance`, so a cluster holds records alike in all of
    them; each value of the reference changes places with one drawn, column by column, among the still unswapped values
    of its cluster. Use it where columns depend on each other, such as diagnosis and treatment: it keeps their distance
    correlation better than swapping them one by one, and moves single values a little farther. A value that was already
    swapped as another's partner is not swapped again when its record becomes the reference: the printed algorithm does
    not say so, but a second swap would lose a value and repeat another. What stays as it was is counted as in
    `swap_by_clusters`. O(rows x tuples near a reference).

    >>> from keepsense.semantics.attribute import Ordered
    >>> counts = Counts.of({"age": [20, 21, 60, 61], "stay": [1, 2, 8, 9]})
    >>> columns = [Ordered.of(counts, "age"), Ordered.of(counts, "stay")]
    >>> cells = rank_swapping_of_tuples(counts, columns, k=2, rng=1)
    >>> sorted(cells.apply(counts).marginal("stay").tolist())
    [1, 1, 1, 1]
    """
    k = group_size(models, k)
    check_swap(counts, columns, k)
    rng = generator(rng)
    codes = np.stack([counts.column(a.name) for a in columns], axis=1)
    walk = run_clusters(ClusterWalk(columns, codes, counts.weights, importance), int(k), rng, listener)
    walk.tell(listener, walk.source(), np.arange(counts.total))
    in_place = {a.name: int(x) for a, x in zip(columns, walk.in_place, strict=True)}
    info = {"method": "semantic rank swapping of tuples", "k": int(k), "in_place": in_place}
    return to_cells(counts, columns, walk.source(), walk.released(), info)


METHOD = registered(
    Method(
        name="rank swapping of tuples",
        title="Semantic rank swapping of tuples (SRS-3)",
        function=rank_swapping_of_tuples,
        runner=by_columns,
        step=by_columns,
        family="swapping",
        place=3,
        aliases=("SRS-3", "SRS-Algorithm3", "SRS-Algorithm 3"),
        short="among records near in all columns",
        intent="Swap words between records that are alike in all columns, so that columns still belong together.",
        use=("columns of words depend on each other, such as diagnosis and treatment",),
        inputs=SWAP_INPUTS,
        guarantee=NOT_PROMISED,
        cost="Rows x tuples near a reference.",
        paper="Rodríguez-García 2017, SRS-Algorithm 3.",
        example="A fracture with a cast swaps with a sprain with a bandage; casts stay with broken bones.",
        truthful=False,
        blocks="varying columns",
        falls_short=ONLY_STRICT,
        sets="together",
        fillings={
            "reference": EXTREME,
            "cluster": Filling("tuples", "its k nearest records over all columns"),
            "exchange": Filling(
                "one draw a column", "In each column let it change places with one of them not yet swapped there"
            ),
        },
        fit=Fit(
            purposes={
                "single columns": (6.0, "every column keeps its values exactly"),
                "correlations": (8.0, "values change places between records alike in all columns"),
            },
            unfit=(UNKNOWN_NEARNESS,),
        ),
    )
)
