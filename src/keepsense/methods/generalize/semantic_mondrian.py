"""Semantic Mondrian: cut where the joint loss in meaning of all columns falls most."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from keepsense.arrays import Floats
from keepsense.counts import Counts
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.dimension import Cutting, Dimension, Flags, Longs, Settle, dimensions
from keepsense.methods.generalize.joint_loss_gain import WonBack, tables_of
from keepsense.methods.generalize.mondrian import METHOD as MONDRIAN
from keepsense.methods.generalize.multidimensional_template import divide
from keepsense.methods.method import Drafted, Method, registered
from keepsense.methods.method_call import by_hierarchies
from keepsense.methods.method_flowchart import Filling
from keepsense.methods.suitability import CELLS, NO_WORDS, RANGES, Fit
from keepsense.methods.task import Importance, importances, promised
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener
from keepsense.recoding import Cells
from keepsense.semantics.distance import Distance
from keepsense.utility.generalization_losses import label_losses

_MANY = 200_000
"""Tuples above which groups stay as they were divided: looking for better ones would take minutes."""
_BLOCK = 512
"""Groups among which a better one is looked for."""
_PASSES = 12
"""How often better groups are looked for; each time groups are in the order of another column."""
_FEW = 0.005
"""Share of groups that take part below which it is not worth going on."""


def semantic_mondrian(  # noqa: PLR0913
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy],
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    distances: Mapping[str, Distance] | None = None,
    numbers: Sequence[str] = (),
    importance: Importance | None = None,
    cuts: Mapping[str, str] | None = None,
    exchange: bool = True,
    listener: Listener | None = None,
) -> Cells:
    """Divide the table where the meaning lost by releasing spans instead of values falls most.

    For each cut the loss of the group in all columns is compared with that of its two parts, so that a cut that parts
    other columns too (places and their postcodes) is made sooner: for words mostly the mean semantic distance between
    values and the common ancestor they would be released as (`distances`, for columns whose hierarchies know their
    concepts), otherwise the share of the hierarchy's leaves it covers; for numbers the width of the range. Losses of
    all columns have one scale and are squared, so that none is sacrificed for another
    (`keepsense.utility.generalization_losses`);
    `importance` says how much that of each column counts. `cuts` says at which columns the table and its parts are cut
    first, as in Median Mondrian. With `exchange`, records then move to other groups, or change places between two,
    where all lose less and the promise still holds (up to 200,000 distinct tuples); never across a cut that was given.

    Use it for words when the release is for general purposes. Cost: as median Mondrian, and the exchange a few seconds
    for ten thousand tuples.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")])
    >>> counts = Counts.of({"job": ["nurse", "surgeon", "clerk", "clerk"], "age": [30, 31, 32, 33]})
    >>> cells = semantic_mondrian(counts, {"job": jobs}, k=2)
    >>> sorted(cells.values[0])
    ['clerk', 'medic']
    """
    losses = {name: label_losses(hierarchies[name], d) for name, d in (distances or {}).items()}
    weights = importances(counts.names, importance).tolist()
    plain = dimensions(counts, hierarchies, numbers, losses=losses)
    return divide(
        counts,
        plain,
        promised(models, k),
        score=together(plain, weights),
        order="best",
        method="semantic Mondrian",
        scored="detail won back",
        settle=exchanged(plain, weights) if exchange and len(counts) <= _MANY else None,
        cuts=cuts,
        listener=listener,
    )


def together(space: Sequence[Dimension], importance: Sequence[float]) -> WonBack:
    """How much less all columns lose after each cut; where that is equal, the more even cut is better.

    >>> from keepsense.methods.generalize.dimension import numeric
    >>> from keepsense.privacy.k_anonymity import KAnonymity
    >>> counts = Counts.of({"age": [31, 32, 70, 71], "size": [9, 8, 4, 4]})
    >>> space = [numeric(name, values) for name, values in zip(counts.names, counts.values)]
    >>> sorted(divide(counts, space, [KAnonymity(2)], score=together(space, [1.0, 1.0]), order="best").values[1])
    ['8 or more', 'under 5']
    """
    return WonBack(tables_of(space, importance))


def exchanged(space: Sequence[Dimension], importance: Sequence[float]) -> Settle:
    """Move records to groups, or let two change places between them, as long as all columns together lose less.

    A division cuts with straight lines; who lies just beyond one is better off on the other side. Groups are looked at
    in blocks of those that lie near each other in one column, in the next column in the next pass.

    >>> from keepsense.methods.generalize.multidimensional_template import groups
    >>> from keepsense.methods.generalize.dimension import numeric
    >>> from keepsense.privacy.k_anonymity import KAnonymity
    >>> counts = Counts.of({"age": [31, 32, 70, 71], "size": [9, 8, 4, 4]})
    >>> space = [numeric(name, values) for name, values in zip(counts.names, counts.values)]
    >>> swapped = exchanged(space, [1.0, 1.0])
    >>> len(set(groups(counts, space, [KAnonymity(2)], score=together(space, [1.0, 1.0]), settle=swapped).tolist()))
    2
    """
    from keepsense.methods.generalize.division_kernels import exchanges

    tables = tables_of(space, importance)

    def settle(ranks: Longs, weights: Longs, final: Longs, least: int, good: Callable[[Longs], Flags]) -> None:
        number = int(final.max()) + 1
        if len(final) > _MANY or number < 2:
            return
        refused = np.zeros(len(final), dtype=np.bool_)
        for turn in range(_PASSES):
            lowest = np.full(number, np.iinfo(np.int64).max)
            np.minimum.at(lowest, final, ranks[:, turn % len(space)])
            moves = exchanges(ranks, weights, final, np.argsort(lowest, kind="stable"), _BLOCK, least, refused, tables)
            kept = good(final)
            for tuple_, other, left, entered in moves[~(kept[moves[:, 2]] & kept[moves[:, 3]])].tolist():
                final[tuple_], refused[tuple_] = left, True
                if other >= 0:
                    final[other] = entered
            if len(moves) < _FEW * number:
                return

    return settle


def kept(cutting: Cutting) -> Floats:
    """How much less is lost after each cut in its dimension; where that is equal, the more even cut is better.

    >>> from keepsense.methods.generalize.dimension import numeric
    >>> from keepsense.privacy.k_anonymity import KAnonymity
    >>> counts = Counts.of({"age": [31, 32, 33, 34, 70, 71]})
    >>> age = numeric("age", counts.values[0])
    >>> sorted(divide(counts, [age], [KAnonymity(2)], score=kept, order="best").values[0])
    ['70 or more', 'under 35']
    """
    cost = cutting.dimension.cost
    # only between two values of one group is there a cut to judge
    at = np.flatnonzero((cutting.group[1:] == cutting.group[:-1]) & (cutting.rank[1:] != cutting.rank[:-1]))
    group, left, total = cutting.group[at], cutting.left[at], cutting.total[at]
    parts = left * cost(cutting.low[group], cutting.rank[at])
    parts = parts + (total - left) * cost(cutting.rank[at + 1], cutting.high[group])
    balance = 1.0 - np.abs(2.0 * left / total - 1.0)
    found: Floats = np.full(len(cutting.rank), -np.inf)
    found[at] = (total * cost(cutting.low, cutting.high)[group] - parts) / total + 1e-6 * balance
    return found


METHOD = registered(
    Method(
        name="semantic mondrian",
        title="Semantic Mondrian",
        function=semantic_mondrian,
        runner=by_hierarchies,
        family="multidimensional recoding",
        place=4,
        short="cut where most meaning is won back",
        intent="Cut where releasing the two parts keeps most of the meaning that the whole group would lose.",
        use=("columns hold words, and the release is for general purposes",),
        avoid=("analysts need one level of detail a column", "one rule is to fit all of next month's file"),
        inputs=("columns and k", "hierarchies", "semantic distances where hierarchies know their concepts"),
        guarantee="k-anonymity, and further models if asked; nobody is suppressed.",
        cost="As Median Mondrian.",
        paper="Own method on the template of LeFevre et al. 2006.",
        example="Medics and farmers are parted before the young and the old, since person says so little about both.",
        truthful=True,
        quick=True,
        classes="all",
        to_the_top=True,
        alternative=2,
        fillings={
            **MONDRIAN.fillings,
            "order": Filling("best", "the one with the best cut"),
            "score": Filling("won_back", "where the meaning lost by releasing spans falls most"),
        },
        fit=Fit(
            points=4.0,
            reason="groups are cut where least meaning is lost",
            better=((lambda s: "nominal" in s.others, 1.0, "your columns hold words whose meaning is known"),),
            unfit=(*CELLS, NO_WORDS),
            cautions=(RANGES,),
        ),
        drafted=Drafted(
            "many columns would lose too much at one level each, so every class gets its own", range(6, sys.maxsize)
        ),
    )
)
