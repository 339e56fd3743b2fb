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
from keepsense.methods.generalize.parts.plain import Check
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

    held = True
    """Whether all tuples are at hand."""

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
        bits = int(self.goal.need_at[-1])
        wanted = 6 * n if self.required.limit == 0 else 64 * n  # without suppression few tables are made
        rows = max(4 * n, min(wanted, self.memory // (8 * words + 8 + 8 * bits)))
        keys = np.empty((rows, words), np.uint64)
        keys[:n] = space.keys
        weights = np.empty(rows, np.int64)
        weights[:n] = space.counts.weights
        seen = np.empty((rows, bits), np.uint64)
        self.mark_seen(space.counts, seen[:n])
        return new_store(keys, weights, seen, n, np.zeros(len(space.names), np.int64))

    def mark_seen(self, counts: Counts, seen: NDArray[np.uint64]) -> None:
        """Set the bits of the sensitive values that occur under each tuple."""
        seen[:] = 0
        for (column, _), at in zip(self.required.distinct, self.goal.need_at.tolist(), strict=False):
            h = counts.histograms[column]
            self.loops.values_seen(h.rows.starts, h.rows.indices, h.counts, at, seen)

    # ---- checking one node ---------------------------------------------------------------------------------------

    def check(self, node: Node) -> Verdict:
        """Judge one node; a level one above a column's top leaves the column out (`value` is then infinite)."""
        return self.judge(node)[0]

    def judge(self, node: Node) -> tuple[Verdict, float, NDArray[np.int64]]:
        """Judge one node; also what suppression surely adds to the loss here and below, and the class figures."""
        space, goal = self.space, self.goal
        levels = np.array(node, dtype=np.int64)
        penalty, found = self.figures(levels)
        holds = found[0] <= goal.limit and found[1] > 0
        whole = all(map(int.__le__, node, space.heights))
        added = self.objective.price(levels, penalty)
        floor = found
        if holds and self.required.rest:
            holds, kept = self._ask(self.place)
            found = np.zeros(6, np.int64)
            self.store.bad[: len(kept)] = ~kept
            self._evaluate(levels, penalty, found)
        value = np.inf
        if holds and whole:
            value = self._value(levels, penalty, found)
        return Verdict(tuple(node), bool(holds), int(found[0]), int(found[1]), float(value)), added, floor

    def check_of(self, node: NDArray[np.int64], base: float) -> Check:
        """What a walk wants to know of a node, given what it loses if nothing is suppressed."""
        penalty, found = self.figures(node)
        value = np.inf
        if found[0] <= self.goal.limit and found[0] < self.goal.total:
            o = self.objective
            value = plain.value_of(o.kind, o.scale, self.goal.total, o.column, base, node, penalty, found)
        return Check(int(found[0]), int(found[2]), value, found)

    def figures(self, node: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Make the class table of a node: what suppression adds to the loss of each column, and what was counted.

        What is counted is that of `evaluate`; `place` is where the table is.
        """
        self.checks += 1
        whole = self.objective.losses.leafwise or bool(self.required.rest)
        self.place = self.loops.table_of(self.space.levels, self.store, node, whole)
        self.loops.mark_bad(self.store, self.goal, self.place)
        penalty, found = np.zeros(len(node)), np.zeros(6, np.int64)
        self._evaluate(node, penalty, found)
        return penalty, found

    def _evaluate(self, node: NDArray[np.int64], penalty: NDArray[np.float64], found: NDArray[np.int64]) -> None:
        losses = self.objective.losses
        self.loops.evaluate(self.space.levels, self.store, losses, self.goal, self.place, node, penalty, found)

    @property
    def merged(self) -> int:
        """Classes that were looked at to make others of them."""
        return int(self.store.fill[2])

    def class_sizes(self) -> NDArray[np.int64]:
        """Records of each class of the node that was judged last."""
        begin, m = int(self.store.first[self.place]), int(self.store.length[self.place])
        sizes: NDArray[np.int64] = self.store.weights[begin : begin + m]
        return sizes

    def suppressed_keys(self) -> NDArray[np.uint64]:
        """Keys of the classes that the node which was judged last suppresses."""
        begin, m = int(self.store.first[self.place]), int(self.store.length[self.place])
        bad = self.store.bad[:m] & (self.store.weights[begin : begin + m] > 0)
        found: NDArray[np.uint64] = self.store.keys[begin : begin + m][bad]
        return found

    def base(self, node: Node) -> float:
        """The metric of a node if nothing were suppressed (for class sizes: the loss, which guides the search)."""
        return self.objective.base(np.array(node, dtype=np.int64))

    def _ask(self, place: int) -> tuple[bool, NDArray[np.bool_]]:
        """Ask the models that compiled loops do not know."""
        begin, m = int(self.store.first[place]), int(self.store.length[place])
        weights = self.store.weights[begin : begin + m]
        decision = decide(self.required.bound, weights, self.histograms(m), self.required.limit)
        return decision.holds, decision.kept

    @property
    def counted(self) -> Mapping[str, Histogram]:
        """Histograms of the tuples from which class tables are rolled up."""
        return self.space.counts.histograms

    def histograms(self, m: int) -> dict[str, Histogram]:
        """Histograms of the classes of the table rolled up last from the distinct tuples."""
        found = {}
        for name in needed_columns(self.required.bound):
            h = self.counted[name]
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

    # ---- before anything is checked ------------------------------------------------------------------------------

    def rule_out_pairs(self, start: NDArray[np.int64], fine: NDArray[np.bool_]) -> None:
        """Say in `fine` which two levels of two columns can go together; pairs are counted at their levels in `start`.

        Levels below those get the verdict of the ones that are counted.
        """
        space, counts, required = self.space, self.space.counts, self.required
        self.loops.pair_limits(
            counts.codes, counts.weights, space.codes, space.codes_at, space.levels, start, required.k, required.limit,
            fine,
        )  # fmt: skip

    def begin(self, low: NDArray[np.int64]) -> None:
        """Make the class table from which all others can be made: that of the lowest levels which are left."""
        if low.any():
            self.loops.roll_up(self.space.levels, self.store, 0, low, False)

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


def new_store(keys: Any, weights: Any, seen: Any, n: int, level: NDArray[np.int64]) -> Store:
    """A store whose first `n` places are taken by the tuples of one level a column; the buffers are made for them."""
    tables = 1 << 12
    first, length, rank = np.zeros(tables, np.int64), np.zeros(tables, np.int64), np.zeros(tables, np.int64)
    length[0] = n
    levels = np.zeros((tables, len(level)), np.int64)
    levels[0] = level
    fill = np.array([1, n, 0], dtype=np.int64)
    slot = np.empty(1 << max(4, (2 * n - 1).bit_length()), np.int32)
    large = n if n > LARGE else 0
    buffers = (slot, np.empty(n, np.int32), np.empty(n, np.bool_), np.empty((2, large), np.uint64),
               np.empty(large, np.int32))  # fmt: skip
    return Store(keys, weights, seen, first, length, levels, rank, fill, *buffers)


def _words(histogram: Histogram) -> int:
    """64-bit words that hold one bit for each value."""
    return -(-len(histogram.values) // 64)
