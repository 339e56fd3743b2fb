"""Rank swapping of numbers and ordered categories: the original method, and two that hide the swapping interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.methods.method import NUMBERS, Method, Shown, registered
from keepsense.methods.method_call import by_columns
from keepsense.methods.method_flowchart import Filling
from keepsense.methods.perturb.clusters import ONE, check_swap, to_cells
from keepsense.methods.perturb.rank_swapping_by_one_ranking import tell_ranks
from keepsense.methods.records import records_of
from keepsense.methods.suitability import DEPENDENCE_SUFFERS, ONLY_STRICT, UNKNOWN_NEARNESS, Fit, only
from keepsense.methods.task import group_size
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener, emit
from keepsense.recoding import Cells
from keepsense.secure_random import Random, generator
from keepsense.semantics.attribute import Attribute, Ordered

Rule = Literal["interval", "distribution", "buckets"]


def rank_swapping_of_numbers(
    counts: Counts,
    columns: Sequence[Ordered],
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
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
    Each column is swapped by itself; empty cells stay empty. O(rows log rows).

    >>> counts = Counts.of({"age": list(range(20, 60))})
    >>> cells = rank_swapping_of_numbers(counts, [Ordered.of(counts, "age")], percent=10, rng=1)
    >>> cells.info["k"], sorted(cells.apply(counts).column("age").tolist()) == list(range(40))
    (4, True)
    """
    from keepsense.methods.perturb import rank_swapping_kernels as kernels

    only_numbers(columns)
    if k is not None and percent is not None:
        raise BadInput("give either k, a number of records, or percent of them")
    if percent is None:
        k = group_size(models, k)
    else:
        if not 0 < percent < 100:
            raise BadInput(f"percent = {percent!r}: it must lie between 0 and 100")
        k = max(2, int(percent * counts.total / 100))
    check_swap(counts, columns, k)
    rng = generator(rng)
    kernel = {
        "interval": kernels.swap_window,
        "distribution": kernels.swap_shifted,
        "buckets": kernels.swap_buckets,
    }.get(rule)
    if kernel is None:
        raise BadInput(f"rule = {rule!r}: it must be 'interval', 'distribution' or 'buckets'")
    source = records_of(counts)
    released = []
    for done, attribute in enumerate(columns):
        codes = counts.column(attribute.name)[source]
        there = np.flatnonzero(~np.isnan(attribute.positions[codes]))  # an empty cell has no place in the order
        mixed = there[rng.permutation(len(there))]
        ranked = mixed[np.argsort(attribute.positions[codes[mixed]], kind="stable")]
        out = codes.copy()
        partners = kernel(rng, len(there), _within(attribute.name, int(k), len(there)))
        out[ranked] = codes[ranked[partners]]
        released.append(out)
        tell_ranks(listener, attribute, codes, source, ranked, partners)
        emit(listener, "column", done + 1, len(columns), column=attribute.name)
    info = {"method": f"rank swapping by {rule}", "k": int(k)}
    return to_cells(counts, columns, source, np.stack(released, axis=1), info)


def _within(name: str, k: int, cells: int) -> int:
    if k >= cells:
        raise BadInput(f"k = {k}: k must be smaller than the number of cells of {name!r} that are not empty, {cells}")
    return k


def only_numbers(columns: Sequence[Attribute]) -> None:
    """Refuse columns that are neither numbers nor ordered categories."""
    others = [column.name for column in columns if not isinstance(column, Ordered)]
    if others:
        raise BadInput(
            f"this method is for numbers and ordered categories; {others[0]!r} is another column: give it another "
            "role, or choose a method that takes every kind"
        )


METHOD = registered(
    Method(
        name="rank swapping of numbers",
        title="Rank swapping of numbers",
        function=rank_swapping_of_numbers,
        runner=by_columns,
        step=by_columns,
        family="swapping",
        place=5,
        short="numbers and ordered values, by rank",
        intent="Swap numbers or ordered values with others of nearly the same rank.",
        use=("counts, mean, variance and extremes of numbers must come out exactly",),
        avoid=("correlations and regressions matter: they suffer most from swapping",),
        inputs=("the columns to protect", "how many ranks a value may move"),
        guarantee="None beforehand; risk is measured afterwards.",
        cost="One sort a column.",
        paper="Moore 1996; Nin, Herranz and Torra 2008 (hidden intervals); Rodríguez-García 2017, Sec. 2.3.2.2.",
        example="The third and the seventh income change places.",
        truthful=False,
        unweighed="it changes each column by itself",
        gaps="apart",
        falls_short=ONLY_STRICT,
        fillings={
            "reference": Filling("ranking", "the next record in the order of the column"),
            "cluster": Filling("window", "the records within the allowed number of ranks"),
            "exchange": ONE,
        },
        fit=Fit(
            purposes={
                "single columns": (
                    8.0,
                    "every column keeps its values exactly: counts, mean, variance, extremes",
                ),
            },
            unfit=(UNKNOWN_NEARNESS, (only("numeric", "ordinal", "date"), "it swaps ordered values only")),
            cautions=(DEPENDENCE_SUFFERS,),
        ),
        shown=Shown(kinds=NUMBERS),
    )
)
