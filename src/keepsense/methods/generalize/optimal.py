"""Optimal full-domain generalization: the node of least loss, proven, with or without suppressed records.

The search keeps a lower bound of the loss of every node. Without suppression the loss of a node is known beforehand,
and pairs of columns alone rule most nodes out; with suppression the records a node suppresses are also suppressed at
every more specific node, so that its extra loss is a lower bound for all of them. From the open node of least loss a
path climbs through open nodes, and a binary search along it (the idea of Flash, Kohlmayer et al. 2012) checks the node
that rules out most.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from keepsense.counts import Counts
from keepsense.errors import BadInput, Infeasible
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.coarse_lattice import lattice_search
from keepsense.methods.generalize.lattice_template import LatticeSearch, infeasible, recoding
from keepsense.methods.generalize.lattice_walks import classified, find_best
from keepsense.methods.generalize.objective import Metric
from keepsense.methods.method import Drafted, Method, registered
from keepsense.methods.method_call import by_hierarchies
from keepsense.methods.method_flowchart import Filling
from keepsense.methods.suitability import LATER_FILES, Fit
from keepsense.methods.task import Importance, promised
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener, emit
from keepsense.recoding import Cuts


def optimal(  # noqa: PLR0913
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy],
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    metric: Metric = "loss",
    suppression: float = 0.0,
    classify: bool = False,
    time_limit: float | None = None,
    levels: Mapping[str, int] | None = None,
    importance: Importance | None = None,
    listener: Listener | None = None,
) -> Cuts:
    """Find the full-domain generalization of least loss that keeps every promise.

    `models` (or just `k`) say what is promised, `suppression` which share of the records may be suppressed to keep it,
    `metric` what is to be least: a name from `METRICS` or `LossTables` of one's own, `importance` how much the loss of
    each column counts. With `classify` every node is judged (`info["status"]`: 1 and 2 hold, checked or tagged; 3 and 4
    fail). With a `time_limit` in seconds the best node so far is returned, with `info["bound"]`, below which no node's
    loss can be. With `levels` of your own, one for each column, nothing is searched: they are checked, and taken.

    Use it when one level a column, everywhere, is wanted and the lattice has up to some million nodes. It costs some
    hundred class tables, each made from a smaller one. Rows are looked at only where there are more distinct tuples
    than memory may hold: then they are counted at coarser codes, a few times, and the same node is found.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")])
    >>> counts = Counts.of({"job": ["nurse", "surgeon", "nurse", "clerk"]})
    >>> found = optimal(counts, {"job": jobs}, k=3, suppression=0.25)
    >>> found.levels, found.info["suppressed"], found.info["loss"]
    ((1,), 1, 0.625)
    """
    search = lattice_search(counts, hierarchies, promised(models, k), suppression=suppression, metric=metric,
                            importance=importance)  # fmt: skip
    deadline = None if time_limit is None else time.monotonic() + time_limit
    emit(listener, "start", 0, search.space.size, algorithm="optimal", columns=search.space.names)
    if levels is not None:
        return _checked(search, levels, listener)
    best, bound = find_best(search, deadline, listener)
    if best is None and np.isfinite(bound):
        raise Infeasible(
            f"no generalization was found to hold within {time_limit} seconds; give more time",
            relax=("a longer time limit",),
        )
    if best is None:
        raise infeasible(search, "optimal")
    info: dict[str, Any] = {"optimal": best.value <= bound, "bound": min(bound, best.value)}
    if classify:
        info["status"] = classified(search, listener)
    found = recoding(search, best.node, "optimal", **info)
    emit(listener, "chosen", search.space.size, search.space.size, node=found.info["node"], loss=found.info["loss"])
    return found


def _checked(search: LatticeSearch, levels: Mapping[str, int], listener: Listener | None) -> Cuts:
    """The recoding of levels that somebody chose, if it keeps the promise."""
    names, tops = search.space.names, search.space.heights
    unknown = [name for name in levels if name not in names]
    wrong = [name for name, top in zip(names, tops, strict=True) if not 0 <= levels.get(name, -1) <= top]
    if unknown or wrong:
        column = (unknown + wrong)[0]
        may = "which is no quasi-identifier" if unknown else f"from 0 to {dict(zip(names, tops, strict=True))[column]}"
        raise BadInput(
            f"levels must name a level for each of {', '.join(names)}, and nothing else; look at {column!r}, {may}"
        )
    node = tuple(int(levels[name]) for name in names)
    verdict = search.check(node)
    if not verdict.holds:
        raise Infeasible(
            f"the chosen levels leave {verdict.suppressed:,} of {search.space.total:,} records in classes that break "
            f"the promise, and {search.required.limit:,} may be suppressed",
            relax=("leave the levels to the search", "allow more suppression", "choose higher levels"),
        )
    found = recoding(search, node, "optimal")
    emit(listener, "chosen", search.space.size, search.space.size, node=found.info["node"], loss=found.info["loss"])
    return found


METHOD = registered(
    Method(
        name="optimal",
        title="Optimal search",
        function=optimal,
        runner=by_hierarchies,
        family="lattice recoding",
        place=4,
        short="the proven least loss at one level a column",
        intent="Find the choice of one level for each column that loses least, and prove that none loses less.",
        use=(
            "all values of a column shall have one level of detail",
            "the same rule is to fit next month's file",
            "you must be able to say that less could not be lost",
        ),
        avoid=("many columns with many levels: beyond some million choices set a time limit",),
        inputs=("columns, hierarchies and k", "what is to be least", "the share of records that may be suppressed"),
        guarantee="k-anonymity, and any further model; no choice of levels loses less.",
        cost="Some hundred groupings for a lattice of ten thousand choices: a fraction of a second.",
        paper="Own search, with the path idea of Kohlmayer et al. 2012 (Flash).",
        example="Of 12,960 choices for nine columns of census data the best is found after a few hundred checks.",
        truthful=True,
        classes="all",
        whole_values=True,
        coarser=True,
        time_limit="time_limit",
        alternative=1,
        fillings={
            "lattice": Filling("loss", "all columns together, sorted by what each loses at least"),
            "stop": Filling("bound", "Can no choice still open lose less than the best one found?"),
            "order": Filling("paths", "climb from the cheapest open one, and try the middle of that path"),
            "tagging": Filling("bounds", "safe upwards, unsafe downwards, and what finer ones must lose at least"),
            "metric": Filling("loss", "the safe choice that loses least, by the metric you name"),
        },
        fit=Fit(
            points=4.5,
            reason="no choice of one level for each column loses less, and that is proven",
            better=(LATER_FILES,),
            unfit=((lambda s: s.columns > 15, "there are too many choices of levels to search them all"),),
        ),
        drafted=Drafted("one level a column, at least loss, proven", range(1, 6)),
    )
)
