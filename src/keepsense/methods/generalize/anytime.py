"""Anytime search: a good generalization from a lattice too large to search, with a bound on how far from optimal it is.

Nodes are never listed. Good nodes are found by stepping down from the top, around the best one, and at random. What
bounds all nodes are groups of columns small enough for an exact search: they lose in every release at least what they
lose by themselves.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from keepsense.counts import Counts
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.lattice_space import CLASS_SIZE, DISCERNIBILITY, GEOMETRIC, SQUARES, Space
from keepsense.methods.generalize.lattice_template import LatticeSearch, Verdict, infeasible, recoding
from keepsense.methods.generalize.lattice_walks import around, descend, find_best, wander
from keepsense.methods.generalize.objective import Metric
from keepsense.methods.method import Method, registered
from keepsense.methods.method_call import by_hierarchies
from keepsense.methods.method_flowchart import Filling
from keepsense.methods.suitability import LATER_FILES, Fit
from keepsense.methods.task import Importance, promised
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener, emit
from keepsense.recoding import Cuts
from keepsense.secure_random import generator

# A lower bound for all columns, from exact searches over some of them: in any release a group of columns loses at least
# what it loses when it is searched alone


def blocks(space: Space, most: int) -> list[list[int]]:
    """Columns in groups whose lattices have up to `most` nodes, those that identify most together."""
    found: list[list[int]] = [[]]
    size = 1
    for column in np.argsort(-space.levels.entropy[:, 0], kind="stable").tolist():
        wide = space.heights[column] + 1
        if found[-1] and size * wide > most:
            found.append([])
            size = 1
        found[-1].append(column)
        size *= wide
    return found


def block_bound(search: LatticeSearch, most: int, deadline: float) -> float:
    """What no node's loss can be below, from groups of columns; 0 where the metric does not add up over columns.

    A search that is cut short by the deadline still counts with its own bound.
    """
    objective, space = search.objective, search.space
    if objective.kind in (DISCERNIBILITY, CLASS_SIZE) or not objective.monotone:
        return 0.0
    d, total = len(space.names), 0.0
    for block in blocks(space, most):
        if time.monotonic() > deadline:
            break
        part = search.part([space.names[j] for j in block])
        best, bound = find_best(part, deadline)
        least = bound if best is None else min(bound, best.value)
        if not np.isfinite(least):
            continue
        if objective.kind == GEOMETRIC:
            total += len(block) / d * float(np.log1p(least))
        elif objective.kind == SQUARES:
            total += float(space.importance[block].sum() / space.importance.sum()) ** 2 * least
        else:  # sums stay as they are, means count by their share of the columns
            total += least * objective.scale / part.objective.scale
    return objective.from_cost(total)


# The search


def anytime(  # noqa: PLR0913
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy],
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    metric: Metric = "loss",
    suppression: float = 0.0,
    time_limit: float = 60.0,
    rng: np.random.Generator | int | None = None,
    importance: Importance | None = None,
    listener: Listener | None = None,
) -> Cuts:
    """Find a good full-domain generalization of very many columns within `time_limit` seconds.

    The result says how good it is: no node's loss is below `info["bound"]`; `info["gap"]` is the share of the loss that
    a better node might spare, and `info["optimal"]` whether none can. The models must be monotone, as for `incognito`.
    Class sizes have no useful bound; for them, and where the bound stands still, nodes are also reached at random
    (`rng`). `importance` says how much the loss of each column counts. Progress is told by "better" and "bound" events.

    Use it for lattices of more than some million nodes (25 columns of four levels have 10^15); for smaller ones
    `optimal` is faster. It runs until the time is over, the optimum is proven, or nothing helps any more; a step that
    has begun is finished, so that very large tables may take a little longer.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")])
    >>> counts = Counts.of({"job": ["nurse", "surgeon", "nurse", "clerk"]})
    >>> found = anytime(counts, {"job": jobs}, k=3, suppression=0.25, time_limit=60)
    >>> found.levels, found.info["optimal"]
    ((1,), True)
    """
    begin = time.monotonic()
    search = LatticeSearch(counts, hierarchies, promised(models, k), suppression=suppression, metric=metric,
                           importance=importance)  # fmt: skip
    search.required.refuse_unless_monotone("anytime()")
    emit(listener, "start", 0, time_limit, algorithm="anytime", columns=search.space.names, nodes=search.space.size)
    best = search.check(search.space.heights)
    if not best.holds:
        raise infeasible(search, "anytime")
    run = _Run(search, best, begin, time_limit, listener)
    run.through(generator(rng))
    found, bound = run.best, run.bound
    gap = 0.0 if run.proven else 1 - bound / found.value
    cuts = recoding(search, found.node, "anytime", bound=bound, gap=gap, optimal=run.proven)
    emit(listener, "chosen", time_limit, time_limit, node=found.node, loss=found.value, bound=bound)
    return cuts


@dataclass(eq=False)
class _Run:
    """The best node so far and what no node can be below, on the way to the deadline."""

    search: LatticeSearch
    best: Verdict
    begin: float
    time_limit: float
    listener: Listener | None
    bound: float = 0.0

    @property
    def proven(self) -> bool:
        """Whether no node can be better."""
        return self.bound >= self.best.value * (1 - 1e-12)

    def through(self, rng: np.random.Generator) -> None:
        """All phases; each has its share of the time, and what it does not need is left to the next."""
        search = self.search
        steepest = search.objective.kind in (DISCERNIBILITY, CLASS_SIZE)  # costs of columns do not bound class sizes
        self.raise_to(search.objective.least_value(search.required.k, search.space.total))
        self.take([descend(search, self.best, self.at(0.1), steepest)])
        self.search_or_bound(20_000, self.at(0.2))
        if not self.proven:
            top = search.check(search.space.heights)
            self.take([descend(search, top, self.at(0.5), steepest=True)])
            self.take(around(search, self.best, self.at(0.6), steepest))
            self.search_or_bound(300_000, self.at(0.9))
        if not self.proven:
            self.take(wander(search, rng, self.at(1.0)))

    def search_or_bound(self, most: int, deadline: float) -> None:
        """Search a lattice of at most so many nodes as `optimal` does; bound a larger one by groups of its columns."""
        if self.search.space.size > most:
            self.raise_to(block_bound(self.search, most, deadline))
            return
        best, bound = find_best(self.search, deadline)
        self.take([] if best is None else [best])
        self.raise_to(bound)

    def at(self, share: float) -> float:
        """The moment at which a share of the time is over."""
        return self.begin + share * self.time_limit

    def take(self, found: Iterable[Verdict]) -> None:
        """Keep what is better than the best so far."""
        for verdict in found:
            if verdict.holds and verdict.value < self.best.value:
                self.best = verdict
                self.tell("better")

    def raise_to(self, bound: float) -> None:
        """Keep a higher bound; it never exceeds the best value, which some node has."""
        if bound > self.bound:
            self.bound = min(bound, self.best.value)
            self.tell("bound")

    def tell(self, what: str) -> None:
        """Report how far it is."""
        done = min(time.monotonic() - self.begin, self.time_limit)
        emit(self.listener, what, done, self.time_limit, node=self.best.node, loss=self.best.value, bound=self.bound)


METHOD = registered(
    Method(
        name="anytime",
        title="Anytime search",
        function=anytime,
        runner=by_hierarchies,
        family="lattice recoding",
        place=5,
        short="a good choice where there are too many to search",
        intent="Find a good choice of levels among more than could be looked at, and say how far from best it may be.",
        use=("twenty columns or more, or very tall hierarchies", "an answer is wanted within a given time"),
        avoid=("the optimal search ends in time: it proves what this one only bounds",),
        inputs=("columns, hierarchies and k", "a time limit", "the share of records that may be suppressed"),
        guarantee="k-anonymity, and any further model; a reported bound says how much less could be lost at best.",
        cost="The time you give it.",
        paper="Own search on the template of lattice recoding.",
        example="25 columns have more than a million million choices; after a minute the best one found is released.",
        truthful=True,
        classes="all",
        climbs=True,
        whole_values=True,
        time_limit="time_limit",
        fillings={
            "lattice": Filling("implicit", "never listed"),
            "stop": Filling("time", "Is the time up, or can nothing be better?"),
            "order": Filling("descent", "go down from a safe one, where most is won back"),
            "tagging": Filling("none", "what failed is not remembered; groups of columns bound what any choice loses"),
            "metric": Filling("loss", "the best safe choice found"),
        },
        fit=Fit(
            points=3.9,
            reason="a good choice of levels in the time you give, with a bound on what could be better",
            better=(LATER_FILES,),
            unfit=(
                (
                    lambda s: s.columns <= 15,
                    "all choices of levels can be searched, so the best one can be proven",
                ),
            ),
        ),
    )
)
