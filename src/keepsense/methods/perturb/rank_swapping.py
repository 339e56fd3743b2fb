"""Semantic rank swapping of a table (SRS-2): words and sets inside clusters of near values, numbers by rank."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from keepsense.counts import Counts
from keepsense.methods.method import Method, Relation, registered
from keepsense.methods.method_call import by_columns
from keepsense.methods.method_flowchart import Filling
from keepsense.methods.perturb.clusters import (
    EXTREME,
    NOT_PROMISED,
    ONE,
    SWAP_INPUTS,
    ClusterWalk,
    check_swap,
    run_clusters,
    to_cells,
)
from keepsense.methods.perturb.rank_swapping_of_numbers import rank_swapping_of_numbers
from keepsense.methods.records import deal, joined, records_of
from keepsense.methods.suitability import DEPENDENCE_SUFFERS, ONLY_STRICT, PROMISES_NOTHING, UNKNOWN_NEARNESS, Fit
from keepsense.methods.task import group_size
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener, wants_steps
from keepsense.recoding import Cells
from keepsense.secure_random import Random, generator
from keepsense.semantics.attribute import Attribute, Ordered


def rank_swapping(
    counts: Counts,
    columns: Sequence[Attribute],
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    rng: Random = None,
    listener: Listener | None = None,
) -> Cells:
    """Swap each column among its nearest values; a table of mixed columns (Rodríguez-García 2017, Sec. 8.3).

    Words and sets change places inside clusters of k near values (SRS-2, `swap_by_clusters`), numbers and ordered
    categories with one of the next k ranks (`rank_swapping_of_numbers`). Every column keeps its values and their
    counts; how columns depend on each other suffers, see `rank_swapping_of_tuples`. Nothing is promised about single
    records, see `strict_rank_swapping`; of the `models` only k is taken, unless it is given.

    >>> import numpy as np
    >>> from keepsense.semantics.attribute import Nominal
    >>> counts = Counts.of({"job": ["nurse", "clerk", "nurse", "cook"], "age": [30, 40, 50, 60]})
    >>> columns = [Nominal.of(counts, "job", 1.0 - np.eye(3)), Ordered.of(counts, "age")]
    >>> cells = rank_swapping(counts, columns, k=2, rng=1)
    >>> cells.names, sorted(cells.apply(counts).marginal("job").tolist())
    (('job', 'age'), [1, 1, 2])
    """
    k = group_size(models, k)
    check_swap(counts, columns, k)
    rng = generator(rng)
    numbers = [column for column in columns if isinstance(column, Ordered)]
    others = [column for column in columns if not isinstance(column, Ordered)]
    parts = [swap_by_clusters(counts, others, k, rng=rng, listener=listener)] if others else []
    if numbers:
        parts.append(rank_swapping_of_numbers(counts, numbers, k=k, rng=rng, listener=listener))
    return joined(counts, columns, parts, rng)


METHOD = registered(
    Method(
        name="rank swapping",
        title="Semantic rank swapping by clusters (SRS-2)",
        function=rank_swapping,
        runner=by_columns,
        step=by_columns,
        family="swapping",
        place=2,
        aliases=("SRS-2", "SRS-Algorithm2", "SRS-Algorithm 2"),
        short="each column among its nearest values",
        intent="Swap each column's words with those that mean nearly the same.",
        use=("statistics on single columns of words must come out exactly", "columns hardly depend on each other"),
        avoid=("columns depend on each other: swap tuples",),
        inputs=SWAP_INPUTS,
        guarantee=NOT_PROMISED,
        cost="Distances between distinct values, then one pass.",
        paper="Rodríguez-García 2017, SRS-Algorithm 2.",
        example="Nurse changes places with midwife, not with pilot.",
        truthful=False,
        blocks="single columns",
        unweighed="it changes each column by itself",
        falls_short=ONLY_STRICT,
        sets="together",
        fillings={
            "reference": EXTREME,
            "cluster": Filling("column", "its k nearest records in this column"),
            "exchange": ONE,
        },
        combines=(Relation("swapping", "rules can forbid impossible pairs, such as a man and a pregnancy"),),
        fit=Fit(
            purposes={
                "single columns": (
                    8.0,
                    "every column keeps its values exactly; words change places with words of near meaning",
                ),
                "correlations": (1.0, "single columns stay exact, but how they depend on each other suffers"),
            },
            unfit=(UNKNOWN_NEARNESS,),
            cautions=(DEPENDENCE_SUFFERS, PROMISES_NOTHING),
            start=lambda s: {"k": s.k},
        ),
    )
)


def swap_by_clusters(
    counts: Counts, attributes: Sequence[Attribute], k: int, *, rng: Random = None, listener: Listener | None = None
) -> Cells:
    """Swap each column inside clusters of near values (SRS-Algorithm 2, Rodríguez-García 2017, Sec. 5.3).

    Starting with the most distant value, a row changes places with one drawn among the still unswapped of its k nearest
    rows; the next reference is the unswapped row farthest from the last. Use it for columns whose association does not
    matter, or is weak; it moves values less than any other swap here. A row whose whole cluster is already swapped
    stays as it is, and rows of equal value change nothing by changing places: `info["in_place"]` and
    `info["unchanged"]` count both. For a promise use `strict_rank_swapping`. Rows as near as the k-th are taken into a
    cluster at random. O(distinct values squared) memory up to some thousand values, else one row at a time.

    >>> from keepsense.semantics.attribute import Ordered
    >>> counts = Counts.of({"age": [20, 21, 60, 61]})
    >>> cells = swap_by_clusters(counts, [Ordered.of(counts, "age")], 2, rng=1)
    >>> cells.multiplicity.sum(), sorted(cells.apply(counts).column("age").tolist())
    (np.int64(4), [0, 1, 2, 3])
    """
    check_swap(counts, attributes, k)
    rng = generator(rng)
    source = records_of(counts)
    columns, in_place = [], {}
    for attribute in attributes:
        alone = np.arange(len(attribute.values), dtype=np.int32)[:, None]
        walk = run_clusters(ClusterWalk([attribute], alone, attribute.weights), int(k), rng, listener)
        codes = counts.column(attribute.name)[source]
        dealt = np.empty(len(codes), dtype=np.int64) if wants_steps(listener) else None
        columns.append(deal(codes, walk.source(), walk.released()[:, 0], rng, dealt))
        if dealt is not None:
            walk.tell(listener, source, dealt)
        in_place[attribute.name] = int(walk.in_place[0])
    info = {"method": "semantic rank swapping by clusters", "k": int(k), "in_place": in_place}
    return to_cells(counts, attributes, source, np.stack(columns, axis=1), info)
