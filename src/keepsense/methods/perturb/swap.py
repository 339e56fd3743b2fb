"""Semantic rank swapping of single columns: SRS-1 by one ranking, SRS-2 by dynamic clusters at opposite ends."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints
from keepsense.counts import Counts
from keepsense.methods.calling import by_columns
from keepsense.methods.fit import DEPENDENCE_SUFFERS, ONLY_STRICT, UNKNOWN_NEARNESS, Fit
from keepsense.methods.flowchart import Filling
from keepsense.methods.perturb.clusters import ClusterWalk, check_swap, to_cells
from keepsense.methods.perturb.words import NOT_PROMISED, ONE, SWAP_INPUTS
from keepsense.methods.records import deal, records_of
from keepsense.methods.registry import Method, registered
from keepsense.methods.task import group_size
from keepsense.privacy import Model
from keepsense.progress import Listener, emit, wants_steps
from keepsense.random import Random, generator
from keepsense.recoding import Cells
from keepsense.semantics.attribute import Attribute
from keepsense.semantics.order import most_distant_value


def rank_swapping_by_one_ranking(
    counts: Counts,
    columns: Sequence[Attribute],
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    rng: Random = None,
    listener: Listener | None = None,
) -> Cells:
    """Swap each column with one ranking of its rows (SRS-Algorithm 1, Rodríguez-García 2017, Sec. 5.3).

    Rows are ranked by distance from the column's most distant value; each, in turn, changes places with one drawn among
    the still unswapped of the next k. The columns are swapped one by one, so every column keeps its values and their
    counts, while the association between columns suffers. Words far apart can stand side by side in that one ranking:
    prefer `rank_swapping`, which loses less; this one is the plain adaptation the thesis starts from. Equal values
    stand side by side; values as far from the reference as others, and the rows of one value, are ranked in random
    order. O(distinct values squared + rows log rows).

    >>> from keepsense.semantics.attribute import Ordered
    >>> counts = Counts.of({"age": [20, 30, 40, 50, 60]})
    >>> cells = rank_swapping_by_one_ranking(counts, [Ordered.of(counts, "age")], k=2, rng=1)
    >>> sorted(cells.apply(counts).column("age").tolist())
    [0, 1, 2, 3, 4]
    """
    from keepsense.methods.perturb.kernels.values import swap_window

    k = group_size(models, k)
    check_swap(counts, columns, k)
    rng = generator(rng)
    source = records_of(counts)
    released = []
    for done, attribute in enumerate(columns):
        codes = counts.column(attribute.name)[source]
        reference = int(rng.choice(most_distant_value(attribute)))
        mixed, place = rng.permutation(len(codes)), rng.permutation(len(attribute.values))
        ranked = mixed[np.lexsort((place[codes[mixed]], attribute.row(reference)[codes[mixed]]))]
        out = codes.copy()
        partners = swap_window(rng, len(codes), int(k))
        out[ranked] = codes[ranked[partners]]
        released.append(out)
        tell_ranks(listener, attribute, codes, source, ranked, partners, reference)
        emit(listener, "column", done + 1, len(columns), column=attribute.name)
    info = {"method": "semantic rank swapping by one ranking", "k": int(k)}
    return to_cells(counts, columns, source, np.stack(released, axis=1), info)


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


def tell_ranks(
    listener: Listener | None,
    attribute: Attribute,
    codes: Ints,
    source: Ints,
    ranked: NDArray[np.int64],
    partners: NDArray[np.int64],
    reference: int | None = None,
) -> None:
    """Tell a listener that wants every step how a column was ranked, and which ranks change places."""
    if wants_steps(listener):
        held = codes[ranked]
        away = None if reference is None else attribute.row(reference)[held].tolist()
        start = None if reference is None else attribute.values[reference]
        moved = [float(attribute.row(int(a))[b]) for a, b in zip(held, held[partners], strict=True)]
        emit(listener, "ranked", column=attribute.name, source=source[ranked], start=start, away=away,
             partners=partners.tolist(), distances=moved)  # fmt: skip


def run_clusters(walk: ClusterWalk, k: int, rng: np.random.Generator, listener: Listener | None) -> ClusterWalk:
    """Swap a walk's records inside clusters of k around references at opposite ends, all attributes of each."""
    from keepsense.methods.perturb.kernels.cluster_walk import swap_step
    from keepsense.methods.perturb.kernels.many_steps import Views, swap_steps

    def step(ref: int, rows: Floats, orders: Ints, tol: float) -> int:
        return int(swap_step(rng, ref, k, tol, rows, orders, walk.state))

    def steps(ref: int, most: int, views: Views) -> int:
        return int(swap_steps(rng, ref, k, most, walk.state, views))

    walk.go(rng, step, steps, listener)
    return walk


METHOD = registered(
    Method(
        name="rank swapping by one ranking",
        title="Semantic rank swapping by one ranking (SRS-1)",
        function=rank_swapping_by_one_ranking,
        runner=by_columns,
        step=by_columns,
        family="swapping",
        place=1,
        aliases=("SRS-1", "SRS-Algorithm1", "SRS-Algorithm 1"),
        short="one ranking of all values",
        intent="Rank a column's words by distance from an extreme one, and swap inside a window of the ranking.",
        use=("you want the plain adaptation of rank swapping, for comparison",),
        avoid=("little distortion is wanted: words far apart can stand side by side in one ranking",),
        inputs=SWAP_INPUTS,
        guarantee=NOT_PROMISED,
        cost="A ranking, then one pass.",
        paper="Rodríguez-García 2017, SRS-Algorithm 1.",
        example="Ranked from farmer, the nurse and the pilot are equally far, and may change places.",
        truthful=False,
        blocks="single columns",
        unweighed="it changes each column by itself",
        falls_short=ONLY_STRICT,
        fillings={
            "reference": Filling("ranking", "the next record in one ranking from the most distant value"),
            "cluster": Filling("window", "the k records that follow it in the ranking"),
            "exchange": ONE,
        },
        fit=Fit(
            purposes={"single columns": (3.0, "every column keeps its values exactly")},
            unfit=(UNKNOWN_NEARNESS,),
            cautions=(DEPENDENCE_SUFFERS,),
        ),
    )
)
