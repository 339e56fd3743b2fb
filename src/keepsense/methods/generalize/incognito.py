"""Incognito: every full-domain generalization that holds, found over subsets of the columns (LeFevre et al. 2005)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.lattice_space import Node
from keepsense.methods.generalize.lattice_template import MOST_NODES, LatticeSearch, infeasible, recoding
from keepsense.methods.generalize.lattice_walks import find_best
from keepsense.methods.generalize.objective import Metric
from keepsense.methods.method import Method, registered
from keepsense.methods.method_call import by_hierarchies
from keepsense.methods.method_flowchart import Filling
from keepsense.methods.suitability import MANY_SUBSETS, Fit
from keepsense.methods.task import Importance, promised
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener, emit
from keepsense.recoding import Cuts


def incognito(
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy],
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    metric: Metric = "loss",
    suppression: float = 0.0,
    importance: Importance | None = None,
    listener: Listener | None = None,
) -> Cuts:
    """Find all generalizations that keep every promise, and choose one by `metric` (LeFevre et al. 2005).

    Subsets of the columns are searched from the smallest to the largest. A node of a subset can hold only if it holds
    for every smaller subset (what two columns alone give away, more columns give away too), and holds if a less general
    node does; only what neither decides is checked, on class tables rolled up from one another. The result carries
    every node that holds (`info["anonymous"]`) and those of them below which none holds (`info["minimal"]`).
    `importance` says how much the loss of each column counts in the choice.

    With `semantic_tables` as metric it is the semantic Incognito: among all safe generalizations the one that changes
    the meaning least. Use `optimal` where the best node is enough: it needs fewer checks. The models must be monotone
    (k-anonymity, l-diversity and t-closeness are; with suppressed records only those that count records or values).

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")])
    >>> counts = Counts.of({"job": ["nurse", "surgeon", "nurse", "clerk", "clerk"]})
    >>> found = incognito(counts, {"job": jobs}, k=2)
    >>> found.levels, found.info["anonymous"], found.info["minimal"]
    ((1,), ((1,), (2,)), ((1,),))
    """
    search = LatticeSearch(counts, hierarchies, promised(models, k), suppression=suppression, metric=metric,
                           importance=importance)  # fmt: skip
    search.required.refuse_unless_monotone("Incognito")
    emit(listener, "start", 0, search.space.size, algorithm="incognito", columns=search.space.names)
    holds = _swept(search, listener)
    nodes = search.nodes
    nodes.status[:] = np.where(holds, 2, 4)
    nodes.bound[~holds] = np.inf
    best, _ = find_best(search)
    if best is None:
        raise infeasible(search, "incognito")
    anonymous = tuple(search.space.node(int(v)) for v in np.flatnonzero(holds))
    found = recoding(search, best.node, "incognito", anonymous=anonymous, minimal=_minimal(anonymous))
    emit(listener, "chosen", search.space.size, search.space.size, node=best.node, loss=best.value)
    return found


def _swept(search: LatticeSearch, listener: Listener | None) -> NDArray[np.bool_]:
    """Whether each node of the whole lattice holds, after all lattices of fewer columns."""
    from keepsense.methods.generalize.lattice_kernels import rank_nodes, sweep

    space = search.space
    wide = [height + 2 for height in space.heights]
    size = int(np.prod(wide, dtype=object))
    if size > MOST_NODES:
        raise BadInput(
            f"the lattices of all subsets of the columns have {size:,} nodes; up to {MOST_NODES:,} are searched: use "
            "optimal() or anytime()"
        )
    strides = np.array([int(np.prod(wide[j + 1 :], dtype=np.int64)) for j in range(len(wide))], dtype=np.int64)
    rank = np.empty(size, np.int64)
    rank_nodes(space.levels.heights, strides, rank)
    order = np.argsort(rank, kind="stable")
    status, place = np.zeros(size, np.int8), np.zeros(1, np.int64)
    most = (64 if listener is not None else 1 << 40) if search.required.fast else 0
    log = np.empty((64 if most == 64 else 0, 3), np.int64)
    while True:
        made = sweep(space.levels, search.store, search.goal, strides, order, status, place, most, log)
        if most == 0:
            if made < 0:
                break
            verdict = search.check(_node(int(made), strides))
            status[made] = 1 if verdict.holds else 3
            log = np.array([[made, verdict.classes, verdict.suppressed]])
        else:
            search.checks += made
        if listener is not None:
            for v, classes, suppressed in log[: made if most else 1].tolist():
                node = _node(v, strides)
                kept = {space.names[j]: level for j, level in enumerate(node) if level <= space.heights[j]}
                emit(listener, "node", int(place[0]), size, node=kept, classes=classes, suppressed=suppressed,
                     holds=bool(status[v] == 1))  # fmt: skip
        if most and made < most:
            break
    whole = status.reshape(wide)[tuple(slice(0, height + 1) for height in space.heights)]
    holds: NDArray[np.bool_] = (whole == 1) | (whole == 2)
    return np.ascontiguousarray(holds).ravel()


def _node(index: int, strides: NDArray[np.int64]) -> Node:
    found = []
    for stride in strides.tolist():
        level, index = divmod(index, stride)
        found.append(level)
    return tuple(found)


def _minimal(anonymous: tuple[Node, ...]) -> tuple[Node, ...]:
    """Nodes with no other below them."""
    known = set(anonymous)
    return tuple(
        node
        for node in anonymous
        if not any(level and (*node[:j], level - 1, *node[j + 1 :]) in known for j, level in enumerate(node))
    )


METHOD = registered(
    Method(
        name="incognito",
        title="Incognito",
        function=incognito,
        runner=by_hierarchies,
        family="lattice recoding",
        place=2,
        nine=True,
        short="all safe choices, from few columns to all",
        intent="Find every safe choice of levels, first for single columns, then for pairs, up to all columns.",
        use=("you want to see all safe choices and discuss them",),
        avoid=("you only want the best one: the optimal search needs fewer checks",),
        inputs=("columns, hierarchies and k", "the share of records that may be suppressed"),
        guarantee="k-anonymity, and further models that more generalization never breaks; all safe choices are found.",
        cost="Grows with the number of subsets of columns; fine up to about ten columns.",
        paper="LeFevre, DeWitt and Ramakrishnan 2005; category after Ben Fredj et al. 2015.",
        example="Age in years is unsafe alone, so no choice with age in years is even tried.",
        truthful=True,
        classes="all",
        climbs=True,
        whole_values=True,
        fillings={
            "lattice": Filling("subsets", "of single columns first, then of pairs, up to all columns"),
            "stop": Filling("all judged", "Is every choice judged?"),
            "order": Filling("breadth first", "the least general one that fewer columns did not rule out"),
            "tagging": Filling("up", "coarser choices than a safe one are safe; unsafe for few columns is so for more"),
            "metric": Filling("loss", "the safe choice that loses least"),
        },
        fit=Fit(points=2.5, reason="it lists all safe choices of levels, to be discussed", unfit=(MANY_SUBSETS,)),
    )
)
