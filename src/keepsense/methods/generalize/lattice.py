"""LR recoding, the template of lattice search: nodes, class tables by roll-up, predictive tagging, and the release.

The lattice has one node for every choice of one level for each quasi-identifier. Samarati's binary search, Incognito
and the optimal search walk it in different orders; what they share is here: a node is judged by its class table, a
class table is rolled up from the smallest one at hand that is more specific (never from rows), and what a node tells
about those above and below it is tagged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Rows
from keepsense.counts import Counts, Histogram
from keepsense.hierarchies import Hierarchy
from keepsense.methods.generalize.parts import plain
from keepsense.methods.generalize.parts.objective import METRICS, LossTables, Metric, Objective, objective
from keepsense.methods.generalize.parts.packed import LARGE, Goal, Store
from keepsense.methods.generalize.parts.requirement import Requirement, requirement
from keepsense.methods.generalize.parts.semantic_losses import semantic_tables
from keepsense.methods.generalize.parts.space import Node, Space, prepare
from keepsense.methods.importance import Importance
from keepsense.privacy import Model, decide, needed_columns

__all__ = [
    "MEMORY",
    "METRICS",
    "LatticeSearch",
    "LossTables",
    "Metric",
    "Node",
    "Verdict",
    "semantic_tables",
]

MEMORY = 400 * 2**20
"""Bytes that stored class tables may take."""


@dataclass(frozen=True)
class Verdict:
    """What checking a node showed: whether it holds, what it suppresses, its classes and its loss.

    `classes` counts the classes that stay; `value` is the metric, infinite where the node does not hold.

    >>> Verdict((0, 1), True, 3, 40, 0.25).holds
    True
    """

    node: Node
    holds: bool
    suppressed: int
    classes: int
    value: float


class LatticeSearch:
    """One search: the prepared table, what is asked, the metric, and the class tables made so far.

    >>> from keepsense.hierarchies import Hierarchy
    >>> from keepsense.privacy import KAnonymity
    >>> counts = Counts.of({"job": ["nurse", "nurse", "surgeon", "clerk"]})
    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")])
    >>> search = LatticeSearch(counts, {"job": jobs}, [KAnonymity(2)], suppression=0.25)
    >>> search.check((1,))
    Verdict(node=(1,), holds=True, suppressed=1, classes=1, value=0.625)
    """

    def __init__(
        self,
        counts: Counts,
        hierarchies: Mapping[str, Hierarchy],
        models: Sequence[Model],
        *,
        suppression: float = 0.0,
        metric: Metric = "loss",
        importance: Importance | None = None,
        memory: int = MEMORY,
    ) -> None:
        self.hierarchies, self.suppression, self.metric = hierarchies, suppression, metric
        self.space: Space = prepare(counts, hierarchies, importance)
        self.required: Requirement = requirement(models, suppression, counts)
        self.objective: Objective = objective(metric, self.space)
        self.memory = memory
        self.checks = 0
        self.place = 0

    def part(self, names: Sequence[str]) -> LatticeSearch:
        """The same search over some of the columns only."""
        return LatticeSearch(
            self.space.counts.project(names),
            self.hierarchies,
            self.required.bound,
            suppression=self.suppression,
            metric=self.metric,
            importance={name: float(self.space.importance[self.space.names.index(name)]) for name in names},
            memory=self.memory,
        )

    @property
    def plain(self) -> bool:
        """Whether the search is small, so that nothing need be compiled or loaded for it."""
        return plain.suits(len(self.space.counts), self.space.size)

    @property
    def loops(self) -> ModuleType:
        """The loops that do the work; which ones changes nothing but the time it takes."""
        if self.plain:
            return plain
        from keepsense.methods.generalize.kernels import loops

        return loops

    @cached_property
    def goal(self) -> Any:
        """What compiled loops ask of a class."""
        required = self.required
        need = np.array([least for _, least in required.distinct], dtype=np.int64)
        words = [_words(self.space.counts.histograms[column]) for column, _ in required.distinct]
        return Goal(required.k, required.limit, self.space.total, need, np.cumsum([0, *words]))

    @cached_property
    def store(self) -> Any:
        """Arena of class tables; the first one holds the distinct tuples."""
        space = self.space
        n, words = space.keys.shape
        d = len(space.names)
        bits = int(self.goal.need_at[-1])
        wanted = 6 * n if self.required.limit == 0 else 64 * n  # without suppression few tables are made
        rows = max(4 * n, min(wanted, self.memory // (8 * words + 8 + 8 * bits)))
        keys = np.empty((rows, words), np.uint64)
        keys[:n] = space.keys
        weights = np.empty(rows, np.int64)
        weights[:n] = space.counts.weights
        seen = np.empty((rows, bits), np.uint64)
        seen[:n] = 0
        for (column, _), at in zip(self.required.distinct, self.goal.need_at.tolist(), strict=False):
            h = space.counts.histograms[column]
            self.loops.values_seen(h.rows.starts, h.rows.indices, h.counts, at, seen)
        tables = 1 << 12
        first, length, rank = np.zeros(tables, np.int64), np.zeros(tables, np.int64), np.zeros(tables, np.int64)
        length[0] = n
        level = np.zeros((tables, d), np.int64)
        fill = np.array([1, n, 0], dtype=np.int64)
        slot = np.empty(1 << max(4, (2 * n - 1).bit_length()), np.int32)
        large = n if n > LARGE else 0
        buffers = (slot, np.empty(n, np.int32), np.empty(n, np.bool_), np.empty((2, large), np.uint64),
                   np.empty(large, np.int32))  # fmt: skip
        return Store(keys, weights, seen, first, length, level, rank, fill, *buffers)

    # ---- checking one node ---------------------------------------------------------------------------------------

    def check(self, node: Node) -> Verdict:
        """Judge one node; a level one above a column's top leaves the column out (`value` is then infinite)."""
        return self.judge(node)[0]

    def judge(self, node: Node) -> tuple[Verdict, float, NDArray[np.int64]]:
        """Judge one node; also what suppression surely adds to the loss here and below, and the class figures."""
        loops = self.loops
        self.checks += 1
        space, store, goal, losses = self.space, self.store, self.goal, self.objective.losses
        levels = np.array(node, dtype=np.int64)
        place = loops.table_of(space.levels, store, levels, losses.leafwise or bool(self.required.rest))
        self.place = place
        loops.mark_bad(store, goal, place)
        penalty, found = np.zeros(len(node)), np.zeros(6, np.int64)
        loops.evaluate(space.levels, store, losses, goal, place, levels, penalty, found)
        holds = found[0] <= goal.limit and found[1] > 0
        whole = all(map(int.__le__, node, space.heights))
        added = self.objective.price(levels, penalty)
        floor = found
        if holds and self.required.rest:
            holds, kept = self._ask(place)
            found = np.zeros(6, np.int64)
            store.bad[: len(kept)] = ~kept
            loops.evaluate(space.levels, store, losses, goal, place, levels, penalty, found)
        value = np.inf
        if holds and whole:
            value = self._value(levels, penalty, found)
        return Verdict(tuple(node), bool(holds), int(found[0]), int(found[1]), float(value)), added, floor

    def base(self, node: Node) -> float:
        """The metric of a node if nothing were suppressed (for class sizes: the loss, which guides the search)."""
        return self.objective.base(np.array(node, dtype=np.int64))

    def _ask(self, place: int) -> tuple[bool, NDArray[np.bool_]]:
        """Ask the models that compiled loops do not know."""
        begin, m = int(self.store.first[place]), int(self.store.length[place])
        weights = self.store.weights[begin : begin + m]
        decision = decide(self.required.bound, weights, self.histograms(m), self.required.limit)
        return decision.holds, decision.kept

    def histograms(self, m: int) -> dict[str, Histogram]:
        """Histograms of the classes of the table rolled up last from the distinct tuples."""
        found = {}
        for name in needed_columns(self.required.bound):
            h = self.space.counts.histograms[name]
            starts, indices, counts = self.loops.merge_histogram(
                h.rows.starts, h.rows.indices, h.counts, len(h.values), self.store.target, m
            )
            found[name] = Histogram(h.values, Rows(starts, indices), counts)
        return found

    def _value(self, node: NDArray[np.int64], penalty: NDArray[np.float64], found: NDArray[np.int64]) -> float:
        o = self.objective
        return float(
            self.loops.value_of(o.kind, o.scale, self.goal.total, o.column, o.base(node), node, penalty, found)
        )

    # ---- what is known of the nodes ------------------------------------------------------------------------------

    @cached_property
    def nodes(self) -> Any:
        """State of every node: loss without suppression, lower bound of the loss, status, order by loss."""
        from keepsense.methods.generalize.parts.lattice_nodes import open_nodes

        return open_nodes(self)

    def tag(self, verdict: Verdict) -> None:
        """Tag what a verdict tells about the nodes above and below (only where the models are monotone)."""
        scratch = np.empty(self.space.size, np.int64)
        self.loops.tag(self.nodes, self.space.levels.heights, np.array(verdict.node), verdict.holds, scratch)


def _words(histogram: Histogram) -> int:
    """64-bit words that hold one bit for each value."""
    return -(-len(histogram.values) // 64)
