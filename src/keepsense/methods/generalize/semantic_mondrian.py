"""Semantic Mondrian: cut where least meaning is lost afterwards."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from keepsense.arrays import Floats
from keepsense.counts import Counts
from keepsense.hierarchies import Hierarchy
from keepsense.methods.calling import by_hierarchies
from keepsense.methods.fit import CELLS, CLASSES, NO_WORDS, RANGES, Fit
from keepsense.methods.flowchart import Filling
from keepsense.methods.generalize.mondrian import METHOD as MONDRIAN
from keepsense.methods.generalize.multidim import Cutting, divide
from keepsense.methods.generalize.parts.dimension import Dimension, dimensions
from keepsense.methods.importance import Importance, importances
from keepsense.methods.registry import Drafted, Method, registered
from keepsense.methods.task import promised
from keepsense.privacy import Model
from keepsense.progress import Listener
from keepsense.recoding import Cells
from keepsense.semantics import Distance
from keepsense.utility.shared import importance_of, label_losses


def semantic_mondrian(
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy],
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    distances: Mapping[str, Distance] | None = None,
    numbers: Sequence[str] = (),
    importance: Importance | None = None,
    listener: Listener | None = None,
) -> Cells:
    """Divide the table where the meaning lost by releasing spans instead of values falls most.

    For each cut the loss of the group is compared with that of its two parts in that dimension: for words mostly the
    mean semantic distance between values and the common ancestor they would be released as (`distances`, for columns
    whose hierarchies know their concepts), otherwise the share of the hierarchy's leaves it covers; for numbers the
    width of the range. Losses of all columns have one scale and are squared, so that none is sacrificed for another
    (`keepsense.utility.shared`); `importance` says how much that of each column counts.

    Use it for words when the release is for general purposes. Cost: as median Mondrian.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")])
    >>> counts = Counts.of({"job": ["nurse", "surgeon", "clerk", "clerk"], "age": [30, 31, 32, 33]})
    >>> cells = semantic_mondrian(counts, {"job": jobs}, k=2)
    >>> sorted(cells.values[0])
    ['clerk', 'medic']
    """
    losses = {name: label_losses(hierarchies[name], d) for name, d in (distances or {}).items()}
    weights = importances(counts.names, importance).tolist()
    plain = dimensions(counts, hierarchies, numbers, losses=losses)
    space = [_shared(dimension, weight) for dimension, weight in zip(plain, weights, strict=True)]
    return divide(
        counts,
        space,
        promised(models, k),
        score=kept,
        order="best",
        method="semantic Mondrian",
        scored="detail won back",
        listener=listener,
    )


def _shared(dimension: Dimension, importance: float) -> Dimension:
    """The dimension with losses on the scale that all columns share."""
    weight, plain = importance_of(len(dimension.width), importance), dimension.cost
    return replace(dimension, cost=lambda low, high: weight * np.square(plain(low, high)))


def kept(cutting: Cutting) -> Floats:
    """How much less is lost after each cut in its dimension; where that is equal, the more even cut is better.

    >>> from keepsense.methods.generalize.parts.dimension import numeric
    >>> from keepsense.privacy import KAnonymity
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
        promises=CLASSES,
        to_the_top=True,
        alternative=2,
        fillings={
            **MONDRIAN.fillings,
            "order": Filling("best", "the one with the best cut"),
            "score": Filling("kept", "where the meaning lost by releasing spans falls most"),
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
