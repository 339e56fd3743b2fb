"""Semantic rank swapping by one ranking (SRS-1): the rows of a column are ranked once, and near ranks swapped."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Ints
from keepsense.counts import Counts
from keepsense.methods.method import Method, registered
from keepsense.methods.method_call import by_columns
from keepsense.methods.method_flowchart import Filling
from keepsense.methods.perturb.clusters import NOT_PROMISED, ONE, SWAP_INPUTS, check_swap, to_cells
from keepsense.methods.records import records_of
from keepsense.methods.suitability import DEPENDENCE_SUFFERS, ONLY_STRICT, UNKNOWN_NEARNESS, Fit
from keepsense.methods.task import group_size
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener, emit, wants_steps
from keepsense.recoding import Cells
from keepsense.secure_random import Random, generator
from keepsense.semantics.attribute import Attribute
from keepsense.semantics.semantic_operators import most_distant_value


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
    from keepsense.methods.perturb.rank_swapping_kernels import swap_window

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
