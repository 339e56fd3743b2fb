"""Datafly: generalize the column with most different values, then suppress the few records left over (Sweeney 2002)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from keepsense.counts import Counts
from keepsense.hierarchies import Hierarchy
from keepsense.methods.generalize._lattice.requirement import requirement
from keepsense.methods.generalize.table import Metric, distinct_values, promised, recode
from keepsense.privacy import Model
from keepsense.progress import Listener
from keepsense.recoding import Cuts


def datafly(
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy],
    k: int | None = None,
    *,
    models: Sequence[Model] = (),
    suppression: float | None = None,
    metric: Metric = distinct_values,
    method: str = "Datafly",
    listener: Listener | None = None,
) -> Cuts:
    """Raise the column with most different values by one level until at most k records stand alone; suppress those.

    `suppression` replaces the rule of at most k records by a share of the table (0: none). With `models` beyond k the
    records that stand alone are those in classes that break any of them. `metric` and `method` serve variants. Of
    columns with equally many values the first goes first.

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
        method=method, listener=listener,
    )  # fmt: skip
