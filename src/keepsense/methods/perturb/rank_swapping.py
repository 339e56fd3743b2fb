"""Rank swapping of a table of all kinds: words and sets inside clusters of near values, numbers by rank."""

from __future__ import annotations

from collections.abc import Sequence

from keepsense.counts import Counts
from keepsense.methods.calling import by_columns
from keepsense.methods.fit import DEPENDENCE_SUFFERS, ONLY_STRICT, PROMISES_NOTHING, UNKNOWN_NEARNESS, Fit
from keepsense.methods.flowchart import Filling
from keepsense.methods.perturb.clusters import check_swap
from keepsense.methods.perturb.swap import swap_by_clusters
from keepsense.methods.perturb.swap_numbers import rank_swapping_of_numbers
from keepsense.methods.perturb.words import EXTREME, NOT_PROMISED, ONE, SWAP_INPUTS
from keepsense.methods.records import joined
from keepsense.methods.registry import Method, Relation, registered
from keepsense.methods.task import group_size
from keepsense.privacy import Model
from keepsense.progress import Listener
from keepsense.random import Random, generator
from keepsense.recoding import Cells
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
