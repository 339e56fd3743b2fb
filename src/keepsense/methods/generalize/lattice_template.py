"""The LR template of lattice search: nodes, class tables by roll-up, predictive tagging, and the recoding.

The lattice has one node for every choice of one level for each quasi-identifier. Samarati's binary search, Incognito
and the optimal search walk it in different orders; what they share is here: a node is judged by its class table, a
class table is rolled up from the smallest available one that is more specific (never from rows), and nodes above and
below that follow from a verdict are tagged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Rows
from keepsense.counts import Counts, Histogram, Value
from keepsense.errors import BadInput, Infeasible
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize import lattice_loops
from keepsense.methods.generalize.lattice_loops import Check
from keepsense.methods.generalize.lattice_space import (
    CLASS_SIZE,
    DISCERNIBILITY,
    GEOMETRIC,
    LARGE,
    Goal,
    Node,
    Nodes,
    Space,
    Store,
    counted_levels,
    exclude,
    meet,
    prepare,
    single_limits,
    spread,
    spread_squares,
)
from keepsense.methods.generalize.objective import Metric, Objective, objective
from keepsense.methods.generalize.requirement import Requirement, requirement
from keepsense.methods.task import Importance
from keepsense.privacy.privacy_model import Model, decide, needed_columns
from keepsense.recoding import Cuts

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

    >>> from keepsense.hierarchies.hierarchy import Hierarchy
    >>> from keepsense.privacy.k_anonymity import KAnonymity
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
        return lattice_loops.suits(len(self.space.counts), self.space.size)

    @property
    def loops(self) -> ModuleType:
        """The loops that do the work; which ones changes nothing but the time it takes."""
        if self.plain:
            return lattice_loops
        from keepsense.methods.generalize import lattice_kernels

        return lattice_kernels

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
            value = lattice_loops.value_of(o.kind, o.scale, self.goal.total, o.column, base, node, penalty, found)
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


# The start of a search: losses, bounds, and nodes that columns and pairs rule out

MOST_NODES = 10_000_000
"""Nodes of a lattice that is held in memory as a whole; larger ones need `anytime`."""

_PAIRS_UP_TO = 0.1
"""Share of suppressed records up to which counting pairs of columns pays."""


def open_nodes(search: LatticeSearch) -> Any:
    """Losses, bounds and statuses of all nodes; the open ones in order of their loss."""
    space, required = search.space, search.required
    if space.size > MOST_NODES:
        raise BadInput(
            f"one level for each column can be chosen in {space.size:,} ways, and up to {MOST_NODES:,} are searched "
            "for the best; use the method anytime, which searches as long as you let it"
        )
    base, bound = losses(search.objective, space)
    status = np.zeros(space.size, np.int8)
    state = np.array([np.inf, np.nan]), np.array([0, -1, 0, 0])
    nodes = Nodes(space.strides, base, bound, status, np.empty(0, np.int64), *state)
    left = space.size
    if required.k > 1 and required.limit <= _PAIRS_UP_TO * space.total:
        lowest, fine = limits(search)
        left = exclude(lowest, fine, space.levels.heights, nodes)
    if left == space.size:
        order = np.argsort(base, kind="stable")
    else:
        live = np.flatnonzero(status == 0)
        order = live[np.argsort(base[live], kind="stable")]
        search.begin(meet(nodes, space.levels.heights))
    return nodes._replace(order=order)


def limits(search: LatticeSearch) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Lowest level of each column by itself, and whether two levels of two columns can go together."""
    space, k, limit = search.space, search.required.k, search.required.limit
    counts = space.counts
    lowest = single_limits(space.codes, space.codes_at, space.marginal, space.marginal_at, space.levels, k, limit)
    # pairs with more cells are counted at a higher level, which rules out less but never too much
    start = counted_levels(space.levels.sizes, lowest, max(1 << 16, 4 * len(counts)))
    width = max(space.heights) + 1
    fine = np.ones((len(lowest), len(lowest), width, width), np.bool_)
    search.rule_out_pairs(start, fine)
    return lowest, fine


def losses(objective: Objective, space: Space) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Loss of every node without suppression, and a lower bound of its loss with suppression."""
    heights = space.levels.heights
    if objective.moments is not None:
        base = spread_squares(objective.moments, objective.column.shape[1], heights)
        base *= objective.scale
        return base, base.copy() if objective.monotone else np.zeros(space.size)
    if objective.kind == GEOMETRIC:
        out = []
        for column in (objective.column, objective.least):
            out.append(np.expm1(spread(np.log1p(column * objective.scale), heights) / len(heights)))
        return out[0], out[1]
    base = spread(objective.column * objective.scale, heights)
    if objective.kind in (DISCERNIBILITY, CLASS_SIZE):
        return base, np.zeros(space.size)
    if objective.monotone:
        return base, base.copy()
    return base, spread(objective.least * objective.scale, heights)


# The recoding of a node, and the error where no node holds, which says what to relax


def recoding(search: LatticeSearch, node: Node, algorithm: str, **info: Any) -> Cuts:
    """The recoding of a node: one level for each column, and the classes it suppresses."""
    space = search.space
    verdict = search.check(node)
    suppress: frozenset[tuple[Value, ...]] = frozenset()
    if verdict.suppressed:
        suppress = frozenset(_labels(space, node, search.suppressed_keys()))
    cuts = tuple(
        replace(hierarchy.cut(level), name=name)
        for name, hierarchy, level in zip(space.names, space.hierarchies, node, strict=True)
    )
    told = {
        "algorithm": algorithm,
        "node": node,
        "metric": search.objective.name,
        "loss": verdict.value if np.isfinite(verdict.value) else None,
        "classes": verdict.classes,
        "suppressed": verdict.suppressed,
        "lattice": {"nodes": space.size, "checked": search.checks, "merged": search.merged},
    }
    return Cuts(cuts, suppress, {**told, **info})


def _labels(space: Space, node: Node, keys: NDArray[np.uint64]) -> list[tuple[Value, ...]]:
    """Released labels of packed classes."""
    columns: list[list[Value]] = []
    levels = space.levels
    for j, level in enumerate(node):
        code = (keys[:, levels.word[j]] >> levels.shift[j]) & levels.mask[j]
        labels = space.hierarchies[j].labels[level]
        mine = space.codes[space.codes_at[j] : space.codes_at[j + 1]].reshape(-1, space.heights[j] + 1)[:, level]
        label_of = np.empty(int(levels.sizes[j, level]), np.int64)
        label_of[mine] = space.raw[j][:, level]
        columns.append([labels[c] for c in label_of[code.astype(np.int64)].tolist()])
    return list(zip(*columns, strict=True))


def infeasible(search: LatticeSearch, algorithm: str) -> Infeasible:
    """The error where no node holds: the most general node as best attempt, and what to relax."""
    space, required = search.space, search.required
    verdict = search.check(space.heights)
    sizes = np.sort(search.class_sizes())
    m = len(sizes)
    least = int(sizes[min(int(np.searchsorted(np.cumsum(sizes), required.limit, side="right")), m - 1)])
    relax = []
    if verdict.classes and verdict.suppressed > required.limit:
        share = np.ceil(verdict.suppressed / space.total * 1000) / 10
        relax.append(f"allow {share:.1f}% of the records to be suppressed")
    if least < required.k:
        relax.append(f"k of at most {least:,}")
    asked = [model.name for model in required.rest]
    for model in required.models:
        if model.columns or model.name in asked:
            relax += model.weaker
    for name, tops, height in zip(space.names, space.levels.sizes.tolist(), space.heights, strict=True):
        if tops[height] > 1:
            relax.append(f"one top value for the hierarchy of {name!r} (it has {tops[height]})")
    best = recoding(search, space.heights, algorithm, holds=False)
    if not verdict.classes:  # all would be suppressed; rather show what would be released
        best = replace(best, suppress=frozenset(), info={**best.info, "suppressed": 0, "classes": m})
    several = "quasi-identifiers" if len(space.names) > 1 else "quasi-identifier"
    why = f"breaks {' and '.join(asked)}"
    if verdict.suppressed > required.limit or not verdict.classes:
        why = (
            f"leaves {verdict.suppressed:,} of {space.total:,} records in classes that break it, and "
            f"{required.limit:,} may be suppressed"
        )
    return Infeasible(
        f"no generalization of the {len(space.names)} {several} keeps the promise: even the most general one {why}. "
        f"Relax one of: {'; '.join(relax)}",
        best=best,
        relax=relax,
    )
