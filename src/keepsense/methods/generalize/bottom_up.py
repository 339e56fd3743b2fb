"""Bottom-Up Generalization: from the original table up, one node at a time (Wang, Yu and Chakraborty 2004)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from keepsense.counts import Counts
from keepsense.hierarchies import Hierarchy
from keepsense.methods.generalize._lattice.objective import Measure
from keepsense.methods.generalize.table import Anonymity, least_loss, promised, recode, trade_off
from keepsense.privacy import Model
from keepsense.progress import Listener
from keepsense.recoding import Cuts


def bottom_up(
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy],
    k: int | None = None,
    *,
    models: Sequence[Model] = (),
    target: str | None = None,
    measure: Measure = "loss",
    anonymity: Anonymity | None = "smallest class",
    suppression: float = 0.0,
    listener: Listener | None = None,
) -> Cuts:
    """Replace all children of a node by the node, the one of the best trade-off first, until the promise holds.

    `target` is a class column counted as a histogram: what a step loses is information about it, in bits a record.
    Without a target it is the loss by `measure`. The loss is set against the records the smallest class gains; steps
    that gain none come after all others and are compared by their loss. On tables with many unique records that is
    nearly every step: `anonymity="at risk"` sets the loss against the records that come into safe classes instead.
    Nodes that hold one value of the table only are released as that value.

    Use it when the release is for classification and `top_down` stops too early; the result is a sub-tree cut, which
    applies to next month's file too. Cost: steps x columns x one pass over the classes.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")])
    >>> counts = Counts.of({"job": ["nurse", "surgeon", "clerk", "clerk"]}, histograms={"buys": ["y", "y", "n", "n"]})
    >>> bottom_up(counts, {"job": jobs}, k=2, target="buys").cuts[0].outputs
    ('medic', 'medic', 'clerk')
    """
    metric = least_loss(measure, anonymity=anonymity) if target is None else trade_off(target, anonymity=anonymity)
    return recode(
        counts, hierarchies, promised(models, k), metric=metric, direction="up", candidates="branches",
        suppression=suppression, method="Bottom-Up Generalization", listener=listener,
    )  # fmt: skip
