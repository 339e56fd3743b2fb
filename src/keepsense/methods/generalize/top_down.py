"""Top-Down Specialization: from the most general table down, as long as it is safe (Fung, Wang and Yu 2005)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from keepsense.counts import Counts
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.bottom_up import METHOD as BOTTOM_UP
from keepsense.methods.generalize.objective import Metric
from keepsense.methods.generalize.table_template import Anonymity, least_loss, recode, several_classes, trade_off
from keepsense.methods.method import Method, registered
from keepsense.methods.method_call import by_hierarchies
from keepsense.methods.method_flowchart import Filling
from keepsense.methods.suitability import FOR_A_TARGET, Fit
from keepsense.methods.task import Importance, promised
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener
from keepsense.recoding import Cuts


def top_down(  # noqa: PLR0913
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy],
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    target: str | None = None,
    metric: Metric = "loss",
    beneficial: bool = True,
    anonymity: Anonymity | None = "smallest class",
    suppression: float = 0.0,
    importance: Importance | None = None,
    listener: Listener | None = None,
) -> Cuts:
    """Start with every column at its top and specialize, one node at a time, the one of the best trade-off.

    `target` is a class column counted as a histogram: a specialization is worth its information gain over the
    target, divided by what the smallest class shrinks plus 1. Without a target it is worth the loss it takes back
    (`metric`). Either counts by the column's `importance`. Only specializations that keep the promise are made, and
    with `beneficial` only those of nodes whose records belong to more than one class of the target (Fung et al.
    2005, Sec. 3; one that gains nothing by itself counts too, since those below it may gain); set it to False to go
    on with all that are safe. Numbers are cut where their hierarchy says, not where the gain is highest. Nodes that
    hold one value of the table only are released as that value.

    Use it when the release is for classification; the result is a sub-tree cut, which applies to next month's file too.
    Cost: specializations x columns that can still be specialized x one pass over the distinct tuples.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")])
    >>> counts = Counts.of({"job": ["nurse", "surgeon", "clerk", "clerk"]}, histograms={"buys": ["y", "y", "n", "n"]})
    >>> top_down(counts, {"job": jobs}, k=2, target="buys").cuts[0].outputs
    ('medic', 'medic', 'clerk')
    """
    scoring = least_loss(metric, anonymity=anonymity) if target is None else trade_off(target, anonymity=anonymity)
    return recode(
        counts, hierarchies, promised(models, k), metric=scoring, direction="down", candidates="branches",
        suppression=suppression, beneficial=several_classes(target) if beneficial and target is not None else None,
        method="Top-Down Specialization",
        importance=importance, listener=listener,
    )  # fmt: skip


METHOD = registered(
    Method(
        name="top-down",
        title="Top-Down Specialization",
        function=top_down,
        runner=by_hierarchies,
        family="table recoding",
        place=4,
        nine=True,
        short="open up branches, for classification",
        intent="Begin with everything at its most general; open up the branches that tell most about a target column.",
        use=("the release is for classification: predicting a column such as whether somebody falls ill",),
        avoid=("there is no target column", "analysts need detail that says nothing about the target: it stays hidden"),
        inputs=BOTTOM_UP.inputs,
        guarantee="k-anonymity, and further models if asked: it holds at the start and after every step.",
        cost="Steps x columns x one pass over the distinct records.",
        paper="Fung, Wang and Yu 2005; flowchart after Ben Fredj et al. 2015 (Fig. 3b).",
        example="Any age becomes under 40 and 40 or more, because illness differs most between these two.",
        truthful=True,
        classes="all",
        whole_values=True,
        fillings={
            **BOTTOM_UP.fillings,
            "direction": Filling("down", "every column at its most general value; steps go to finer values"),
            "metric": Filling(
                "trade_off", "what it tells about the target, set against how much the smallest group shrinks"
            ),
            "stop": Filling(
                None, "Is there no step left that keeps the promise and takes apart several classes of the target?"
            ),
        },
        fit=Fit(
            purposes={
                "classification": (
                    8.0,
                    "made for classification, with one rule for all records that fits later files too",
                )
            },
            unfit=((lambda s: s.purpose != "classification", "it needs a category that the release is to predict"),),
            cautions=(FOR_A_TARGET,),
        ),
    )
)
