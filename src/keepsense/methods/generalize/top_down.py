"""Top-Down Specialization: from the most general table down, as long as it is safe (Fung, Wang and Yu 2005)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from keepsense.counts import Counts
from keepsense.hierarchies import Hierarchy
from keepsense.methods.generalize._lattice.objective import Measure
from keepsense.methods.generalize.table import Anonymity, least_loss, promised, recode, trade_off
from keepsense.privacy import Model
from keepsense.progress import Listener
from keepsense.recoding import Cuts


def top_down(
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy],
    k: int | None = None,
    *,
    models: Sequence[Model] = (),
    target: str | None = None,
    measure: Measure = "loss",
    beneficial: bool = True,
    anonymity: Anonymity | None = "smallest class",
    suppression: float = 0.0,
    listener: Listener | None = None,
) -> Cuts:
    """Start with every column at its top and specialize, one node at a time, the one of the best trade-off.

    `target` is a class column counted as a histogram: a specialization is worth its information gain over the target,
    divided by what the smallest class shrinks plus 1. Without a target it is worth the loss it takes back (`measure`).
    Only specializations that keep the promise are made, and with `beneficial` only those that tell something about the
    target; set it to False to go on with all that are safe. Numbers are cut where their hierarchy says, not where the
    gain is highest. Nodes that hold one value of the table only are released as that value.

    Use it when the release is for classification; the result is a sub-tree cut, which applies to next month's file too.
    Cost: specializations x columns that can still be specialized x one pass over the distinct tuples.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")])
    >>> counts = Counts.of({"job": ["nurse", "surgeon", "clerk", "clerk"]}, histograms={"buys": ["y", "y", "n", "n"]})
    >>> top_down(counts, {"job": jobs}, k=2, target="buys").cuts[0].outputs
    ('medic', 'medic', 'clerk')
    """
    metric = least_loss(measure, anonymity=anonymity) if target is None else trade_off(target, anonymity=anonymity)
    return recode(
        counts, hierarchies, promised(models, k), metric=metric, direction="down", candidates="branches",
        suppression=suppression, beneficial=beneficial and target is not None, method="Top-Down Specialization",
        listener=listener,
    )  # fmt: skip
