"""Samarati's search: binary search on the height of the lattice for the lowest generalization that holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.lattice_space import Node, spread
from keepsense.methods.generalize.lattice_template import LatticeSearch, Verdict, infeasible, recoding
from keepsense.methods.generalize.lattice_walks import moved
from keepsense.methods.generalize.objective import Metric
from keepsense.methods.method import Method, registered
from keepsense.methods.method_call import by_hierarchies
from keepsense.methods.method_flowchart import Filling
from keepsense.methods.suitability import Fit
from keepsense.methods.task import Importance, promised
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener, emit, wants_steps
from keepsense.recoding import Cuts

_MANY = 256
"""Open nodes of one height from which on a node that fails is followed upwards, to rule out more than itself."""


def samarati(
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
    """Find a generalization of least height that keeps every promise (Samarati 2001).

    The height of a node is the sum of its levels. If a node holds, every height above its own has a node that holds, so
    the least height is found by bisection: at each height nodes are checked until one holds. What other heights have
    shown is tagged and not checked again. Where a height has very many open nodes, those of fewest classes are checked
    first, and from one that fails a path of small steps is climbed to the last node that fails: what lies below it
    need not be checked. Of the nodes of least height that hold (`info["minimal"]`) the one that
    `metric` prefers is chosen, in which the loss of each column counts by its `importance`. `suppression` is the share
    of records that may be suppressed.

    Use it where the number of steps is what counts and all steps of all columns are alike; `optimal` finds what loses
    least. Models that are not monotone under suppression are searched height by height from below.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")])
    >>> counts = Counts.of({"job": ["nurse", "surgeon", "nurse", "clerk"]})
    >>> samarati(counts, {"job": jobs}, k=3, suppression=0.25).levels
    (1,)
    """
    search = LatticeSearch(counts, hierarchies, promised(models, k), suppression=suppression, metric=metric,
                           importance=importance)  # fmt: skip
    emit(listener, "start", 0, search.space.size, algorithm="samarati", columns=search.space.names)
    by_height = _by_height(search)
    telling = _Telling(search, by_height, listener, search.nodes.status == 4)
    low, high = 0, len(by_height) - 1
    if not search.required.monotone:
        low = next((h for h in range(len(by_height)) if _any_holds(search, by_height[h], listener)), len(by_height))
    elif _any_holds(search, by_height[high], listener):
        while low < high:
            middle = (low + high) // 2
            telling.height(middle, low, high)
            low, high = (low, middle) if _any_holds(search, by_height[middle], listener) else (middle + 1, high)
    else:
        low = len(by_height)
    if low == len(by_height):
        raise infeasible(search, "samarati")
    telling.height(low, low, low)
    minimal = list(_holding(search, by_height[low], listener))
    best = min(minimal, key=lambda v: v.value)
    found = recoding(search, best.node, "samarati", height=low, minimal=tuple(v.node for v in minimal))
    emit(listener, "chosen", search.space.size, search.space.size, node=best.node, loss=best.value)
    return found


def _by_height(search: LatticeSearch) -> list[NDArray[np.int64]]:
    """Indices of the nodes of each height, those of least loss first."""
    space = search.space
    steps = np.broadcast_to(np.arange(space.levels.sizes.shape[1], dtype=np.float64), space.levels.sizes.shape)
    height = spread(steps, space.levels.heights)
    order = np.lexsort((search.nodes.base, height))
    cuts = np.searchsorted(height[order], np.arange(1, sum(space.heights) + 1))
    return np.split(order, cuts)


@dataclass(frozen=True)
class _Telling:
    """Tells which height is looked at, and which of its nodes need no check, for whoever wants every step."""

    search: LatticeSearch
    by_height: list[NDArray[np.int64]]
    listener: Listener | None
    at_the_start: NDArray[np.bool_]

    def height(self, height: int, low: int, high: int) -> None:
        if not wants_steps(self.listener):
            return
        status, nodes = self.search.nodes.status, self.by_height[height]
        known = {
            "safe": status == 2,
            "unsafe": (status == 4) & ~self.at_the_start,
            "ruled_out": self.at_the_start,
        }
        derived = {name: tuple(self.search.space.node(int(i)) for i in nodes if of[i]) for name, of in known.items()}
        emit(self.listener, "height", int(np.count_nonzero(status)), self.search.space.size, height=height,
             between=(low, high), **derived)  # fmt: skip


def _any_holds(search: LatticeSearch, indices: NDArray[np.int64], listener: Listener | None) -> bool:
    """Whether a node of one height holds; what is tagged is believed, the rest checked until one does."""
    status = search.nodes.status
    if search.required.monotone and ((status[indices] == 1) | (status[indices] == 2)).any():
        return True
    if search.required.monotone and np.count_nonzero(status[indices] == 0) > _MANY:
        indices = indices[np.argsort(_bits(search)[indices], kind="stable")]  # the coarsest first
    return next(_holding(search, indices, listener), None) is not None


def _holding(search: LatticeSearch, indices: NDArray[np.int64], listener: Listener | None) -> Iterator[Verdict]:
    """Those nodes of one height that hold, in their order."""
    status = search.nodes.status
    many = search.required.monotone and np.count_nonzero(status[indices] == 0) > _MANY
    for index in indices.tolist():
        if status[index] >= 3:
            continue
        verdict = _judged(search, index, listener)
        if verdict is not None:
            yield verdict
        elif many:
            _rule_out(search, search.space.node(index), listener)


def _bits(search: LatticeSearch) -> NDArray[np.float64]:
    """For every node the entropies of its columns together: the less, the fewer classes it may have."""
    levels = search.space.levels
    return spread(np.where(np.isfinite(levels.entropy), levels.entropy, 0.0), levels.heights)


def _rule_out(search: LatticeSearch, node: Node, listener: Listener | None) -> None:
    """Follow small steps up from a node that fails to the last one that fails, and tag all that lies below that."""
    entropy, tops = search.space.levels.entropy, search.space.heights
    path = [node]
    while node != tops:
        up = [j for j, top in enumerate(tops) if node[j] < top]
        step = min(up, key=lambda j: float(entropy[j, node[j]] - entropy[j, node[j] + 1]))
        node = moved(node, step, 1)
        path.append(node)
    low, high = 0, len(path)
    while high - low > 1:
        middle = (low + high) // 2
        index = search.space.index(path[middle])
        known = search.nodes.status[index]
        holds = known in (1, 2) if known else _judged(search, index, listener) is not None
        low, high = (low, middle) if holds else (middle, high)


def _judged(search: LatticeSearch, index: int, listener: Listener | None) -> Verdict | None:
    """The verdict on a node if it holds; nothing is checked where it is known to fail."""
    if search.nodes.status[index] >= 3:
        return None
    verdict = search.check(search.space.node(index))
    if search.required.monotone:
        search.tag(verdict)
    else:
        search.nodes.status[index] = 1 if verdict.holds else 3
    emit(listener, "node", int(np.count_nonzero(search.nodes.status)), search.space.size, node=verdict.node,
         classes=verdict.classes, suppressed=verdict.suppressed, holds=verdict.holds,
         loss=verdict.value if verdict.holds else None)  # fmt: skip
    return verdict if verdict.holds else None


METHOD = registered(
    Method(
        name="samarati",
        title="Samarati's algorithm",
        function=samarati,
        runner=by_hierarchies,
        family="lattice recoding",
        place=1,
        nine=True,
        short="the fewest steps up, by halving",
        intent="Find a safe choice of levels with as few steps up as possible, by halving the heights in question.",
        use=("steps of all hierarchies count alike", "you want a minimal generalization, quickly and explainably"),
        avoid=("columns differ in importance or in their number of levels: the optimal search weighs what is lost",),
        inputs=("columns, hierarchies and k", "the share of records that may be suppressed"),
        guarantee="k-anonymity, and further models if asked; no safe choice has fewer steps in all.",
        cost="A few checks at each of log2(height) heights.",
        paper="Samarati 2001; category after Ben Fredj et al. 2015.",
        example="Nothing is safe with 3 steps, something is with 4: age twice and education twice.",
        truthful=True,
        classes="all",
        whole_values=True,
        fillings={
            "lattice": Filling("height", "all columns together, sorted by their total number of steps"),
            "stop": Filling("lowest height", "Is the lowest height with a safe choice known?"),
            "order": Filling("binary search", "halve the heights in question, and try those of the middle one"),
            "tagging": Filling(
                "both ways", "coarser choices than a safe one are safe, finer ones than an unsafe one are not"
            ),
            "metric": Filling("height", "the safe choice of fewest steps that loses least"),
        },
        fit=Fit(points=2.0, reason="a safe choice of levels with the fewest steps"),
    )
)
