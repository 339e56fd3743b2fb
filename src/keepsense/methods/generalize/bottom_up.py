"""Bottom-Up Generalization: from the original table up, one node at a time (Wang, Yu and Chakraborty 2004)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from keepsense.counts import Counts
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.datafly import METHOD as DATAFLY
from keepsense.methods.generalize.objective import Metric
from keepsense.methods.generalize.table_template import Anonymity, least_loss, recode, trade_off
from keepsense.methods.method import Method, registered
from keepsense.methods.method_call import by_hierarchies
from keepsense.methods.method_flowchart import Filling
from keepsense.methods.suitability import FOR_A_TARGET, Fit
from keepsense.methods.task import Importance, promised
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener
from keepsense.recoding import Cuts


def bottom_up(  # noqa: PLR0913
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy],
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    target: str | None = None,
    metric: Metric = "loss",
    anonymity: Anonymity | None = "smallest class",
    suppression: float = 0.0,
    importance: Importance | None = None,
    listener: Listener | None = None,
) -> Cuts:
    """Replace all children of a node by the node, the one of the best trade-off first, until the promise holds.

    `target` is a class column counted as a histogram: what a step loses is information about it, in bits a record.
    Without a target it is the loss by `metric`. Either counts by the column's `importance`. The loss is set against the
    records the smallest class gains; steps that gain none come after all others and are compared by their loss. On
    tables with many unique records that is nearly every step: `anonymity="at risk"` sets the loss against the records
    that come into safe classes instead. Nodes that hold one value of the table only are released as that value.

    Use it when the release is for classification and `top_down` stops too early; the result is a sub-tree cut, which
    applies to next month's file too. Cost: steps x columns x one pass over the classes.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")])
    >>> counts = Counts.of({"job": ["nurse", "surgeon", "clerk", "clerk"]}, histograms={"buys": ["y", "y", "n", "n"]})
    >>> bottom_up(counts, {"job": jobs}, k=2, target="buys").cuts[0].outputs
    ('medic', 'medic', 'clerk')
    """
    scoring = least_loss(metric, anonymity=anonymity) if target is None else trade_off(target, anonymity=anonymity)
    return recode(
        counts, hierarchies, promised(models, k), metric=scoring, direction="up", candidates="branches",
        suppression=suppression, method="Bottom-Up Generalization", importance=importance, listener=listener,
    )  # fmt: skip


METHOD = registered(
    Method(
        name="bottom-up",
        title="Bottom-Up Generalization",
        function=bottom_up,
        runner=by_hierarchies,
        family="table recoding",
        place=3,
        nine=True,
        short="merge branches, for classification",
        intent="Merge branches of the hierarchies, those first that cost least knowledge about a target column.",
        use=("the release is for classification, and top-down stops too early",),
        avoid=("there is no target column: Mondrian or the optimal search lose less",),
        inputs=(
            "columns, hierarchies and k",
            "a column the release is meant to predict, such as whether somebody fell ill",
        ),
        guarantee="k-anonymity, and further models if asked.",
        cost="Steps x columns x one pass over the groups.",
        paper="Wang, Yu and Chakraborty 2004; category after Ben Fredj et al. 2015.",
        example="Nurse and surgeon fall ill equally often: they become medic before farmer and teacher are touched.",
        truthful=True,
        classes="all",
        whole_values=True,
        fillings={
            **DATAFLY.fillings,
            "candidates": Filling("branches", "one branch of one hierarchy; other branches stay as they are"),
            "metric": Filling("trade_off", "what it loses about the target for each record the smallest group gains"),
            "suppression": Filling(
                "share", "Suppress the records that still break the promise, up to the share you allow"
            ),
        },
        fit=Fit(
            purposes={"classification": (7.0, "made for classification; merges what tells least about the target")},
            unfit=((lambda s: s.purpose != "classification", "it needs a category that the release is to predict"),),
            cautions=(FOR_A_TARGET,),
        ),
    )
)
