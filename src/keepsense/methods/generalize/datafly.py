"""Datafly: generalize the column with most different values, then suppress the few records left over (Sweeney 2002).

The choice of the column is `distinct_values` in `keepsense.methods.generalize.table_template`, which also holds the
loop; of columns with equally many values the first is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from keepsense.counts import Counts
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.requirement import requirement
from keepsense.methods.generalize.table_template import Scoring, distinct_values, recode
from keepsense.methods.method import Method, Shown, registered
from keepsense.methods.method_call import by_hierarchies
from keepsense.methods.method_flowchart import Filling
from keepsense.methods.suitability import Fit
from keepsense.methods.task import Importance, promised
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener
from keepsense.recoding import Cuts


def datafly(  # noqa: PLR0913
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy],
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    suppression: float | None = None,
    metric: Scoring = distinct_values,
    method: str = "Datafly",
    scored: str = "different values before",
    importance: Importance | None = None,
    listener: Listener | None = None,
) -> Cuts:
    """Raise the column with most different values by one level until at most k records stand alone; suppress those.

    `suppression` replaces the rule of at most k records by a share of the table (0: none). With `models` beyond k the
    records that stand alone are those in classes that break any of them. `metric`, `method` and `scored` serve
    variants. Of columns with equally many values the first goes first; one of twice the `importance` goes as if it had
    half as many.

    Use it for a quick, easily explained result that applies to next month's file too; it generalizes more than an
    optimal search may, because a column once raised stays so. Cost: one pass over the classes a level.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")])
    >>> counts = Counts.of({"job": ["nurse", "nurse", "surgeon", "clerk"]})
    >>> found = datafly(counts, {"job": jobs}, k=2)
    >>> found.levels, found.info["suppressed"]
    ((0,), 2)
    >>> datafly(counts, {"job": jobs}, k=2, suppression=0.25).levels
    (1,)
    """
    asked = promised(models, k)
    few = None if suppression is not None else requirement(asked, 0.0, counts).k
    return recode(
        counts, hierarchies, asked, metric=metric, suppression=suppression or 0.0, suppress_at_most=few,
        method=method, scored=scored, importance=importance, listener=listener,
    )  # fmt: skip


METHOD = registered(
    Method(
        name="datafly",
        title="Datafly",
        function=datafly,
        runner=by_hierarchies,
        family="table recoding",
        place=1,
        nine=True,
        short="raise the column with most different values",
        intent="Raise the column with most different values by one level, until few records stand alone.",
        use=("you want a quick first result that is easily explained", "the same rule is to fit next month's file"),
        avoid=("detail matters: it generalizes more than needed, since a column once raised stays so",),
        inputs=("columns, hierarchies and k",),
        guarantee="k-anonymity, and further models if asked; at most k records, or a share you allow, are suppressed.",
        cost="One pass over the groups for each level raised: milliseconds.",
        paper="Sweeney 2002; flowchart after Ben Fredj et al. 2015 (Fig. 3a and 6).",
        example="Age has 8 values and education 5, so age is raised first, to ranges of ten years.",
        truthful=True,
        classes="all",
        whole_values=True,
        alternative=5,
        fillings={
            "direction": Filling("up", "the table as it is; steps go to coarser values"),
            "candidates": Filling("levels", "one column, all its values at once, to the next level"),
            "metric": Filling("distinct_values", "the number of different values in the column, most first"),
            "suppression": Filling("at most k", "Suppress the records that still stand alone: at most k"),
            "stop": Filling(None, "Do all groups keep the promise, but for records that may be suppressed?"),
        },
        fit=Fit(points=1.5, reason="quick, and every step can be explained"),
        shown=Shown(settings={"suppression": None}),
    )
)
