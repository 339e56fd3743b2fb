"""Local recoding: every class of records gets its own levels, so that each keeps as much detail as it can.

A full-domain solution releases every record at the same levels. Local recoding walks through the lattice from the least
loss to the greatest and accepts, at each node, every group of waiting records that already keeps the promise; the rest
waits for a coarser node. An accepted class is then released at the lowest levels its own members share, which
may be finer than the node's. On the Adult table with k = 5 this loses about a twelfth of what the best full-domain
node does.

It answers the iterated local recoding known from ARX (Prasser et al. 2014), with two differences: groups are accepted
in the order of their own loss, not of a node's mean, and classes are shrunk to what their members share.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts, Histogram, Value, histogram
from keepsense.errors import Infeasible
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.dimension import nominal
from keepsense.methods.generalize.lattice_space import Node, Space, prepare
from keepsense.methods.generalize.multidimensional_template import groups
from keepsense.methods.generalize.objective import Metric, value_losses
from keepsense.methods.generalize.requirement import Requirement, requirement
from keepsense.methods.generalize.semantic_mondrian import kept
from keepsense.methods.method import Method, Relation, registered
from keepsense.methods.method_call import by_hierarchies
from keepsense.methods.method_flowchart import loop
from keepsense.methods.suitability import CELLS, Fit, Situation
from keepsense.methods.task import Importance, promised
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener, emit, wants_steps
from keepsense.recoding import SUPPRESSED, Cells, Cuts

_ROUNDING = 1e-12
_MOST_VISITS = 100_000_000  # tuples looked at, over all nodes: some seconds, and the same on every machine


def local_recoding(  # noqa: PLR0913
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy],
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    metric: Metric = "loss",
    suppression: float = 0.0,
    start: Cuts | None = None,
    most_nodes: int = 50_000,
    seconds: float | None = None,
    importance: Importance | None = None,
    listener: Listener | None = None,
) -> Cells:
    """Recode every class at levels of its own, so that the promise holds and as little as possible is lost.

    `metric` adds up over cells (`loss`, `ncp`, `geniloss`, `precision`, `non-uniform entropy`, or tables of one's own,
    for instance semantic losses); the losses of a column count by its `importance`. With `start`, a full-domain
    solution, only the records it suppresses are recoded, and the rest is released as it says. The search ends early
    after `most_nodes` nodes or `seconds`; what then still waits is divided where least is lost, as Mondrian does, which
    tall hierarchies need. A last few records that no class can be made of are suppressed up to the limit, or join the
    class that loses least by taking them in.

    The result is deterministic. Cost: nodes visited x tuples still waiting, which falls quickly.

    >>> from keepsense.counts import Counts
    >>> from keepsense.hierarchies.hierarchy import Hierarchy
    >>> from keepsense.privacy.k_anonymity import KAnonymity
    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")])
    >>> counts = Counts.of({"job": ["nurse", "surgeon", "clerk", "clerk"]})
    >>> cells = local_recoding(counts, {"job": jobs}, [KAnonymity(2)])
    >>> [cells.values[0][c] for c in cells.codes[:, 0]]
    ['medic', 'medic', 'clerk']
    """
    space = prepare(counts, hierarchies, importance)
    asked = requirement(promised(models, k), suppression, counts)
    search = _Search(space, asked, *value_losses(metric, space))
    if start is not None:
        search.keep(start)
    deadline = None if seconds is None else time.monotonic() + seconds
    visited = search.run(most_nodes, deadline, listener)
    search.divide_the_rest(listener)
    search.place_the_rest(listener)
    return search.cells(visited)


@dataclass(eq=False)
class _Search:
    """Who waits, who is settled, and the flat tables the compiled loop reads."""

    space: Space
    asked: Requirement
    losses: list[NDArray[np.float64]]
    worst: list[NDArray[np.float64]]
    owner: NDArray[np.int64] = field(init=False)
    waiting: NDArray[np.int64] = field(init=False)
    size: int = field(init=False)
    classes: int = field(init=False, default=0)
    hidden: NDArray[np.bool_] = field(init=False)
    fixed: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        n = len(self.space.counts)
        self.owner = np.full(n, -1, dtype=np.int64)
        self.waiting = np.arange(n, dtype=np.int64)
        self.size = n
        self.hidden = np.zeros(n, dtype=np.bool_)
        self.fixed = np.empty((0, len(self.space.names)), dtype=np.int64)

    @cached_property
    def heights(self) -> NDArray[np.int64]:
        """Top level of each column."""
        return np.array(self.space.heights, dtype=np.int64)

    @cached_property
    def flat(self) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int64]]:
        """Codes and losses of all columns and levels in one row each, and where column j, level l begins."""
        codes, losses, begin = [], [], 0
        at = np.zeros((len(self.losses), int(self.heights.max()) + 1), dtype=np.int64)
        for j, (raw, table) in enumerate(zip(self.space.raw, self.losses, strict=True)):
            for level in range(raw.shape[1]):
                at[j, level] = begin
                codes.append(raw[:, level])
                losses.append(table[:, level])
                begin += len(raw)
        return np.concatenate(codes).astype(np.int32), np.concatenate(losses), at

    @cached_property
    def least(self) -> list[list[float]]:
        """Least loss of any value of each column at each level: a lower bound for every group."""
        return [table.min(axis=0).tolist() for table in self.losses]

    def keep(self, start: Cuts) -> None:
        """Take over the classes of a full-domain solution; only what it suppresses still waits."""
        cells = start.cells(self.space.counts)
        hidden = cells.suppressed if cells.suppressed is not None else np.zeros(len(self.owner), dtype=np.bool_)
        level = np.array([start.levels[start.names.index(name)] or 0 for name in self.space.names], dtype=np.int64)
        codes = np.stack(
            [raw[:, lv][c] for raw, lv, c in zip(self.space.raw, level, self.space.counts.codes.T, strict=True)], 1
        )
        _, group = np.unique(codes[~hidden], axis=0, return_inverse=True)
        self.owner[~hidden] = group
        self.classes = int(group.max(initial=-1)) + 1
        self.fixed = np.broadcast_to(level, (self.classes, len(level))).copy()
        self.waiting = np.flatnonzero(hidden)
        self.size = len(self.waiting)

    def run(self, most: int, deadline: float | None, listener: Listener | None) -> int:
        """Visit nodes in the order of the least loss a group can have there; a node comes again when groups wait."""
        bottom: Node = (0,) * len(self.heights)
        queue: list[tuple[float, int, Node, int | None]] = [(self._bound(bottom), 0, bottom, 0)]
        pushed, visited, everyone, left = 1, 0, len(self.owner), _MOST_VISITS
        while self.size and queue and visited < most and left > 0:
            if deadline is not None and time.monotonic() > deadline:
                break
            left -= self.size
            bound, _, node, grown = heapq.heappop(queue)
            if grown is not None:  # each node has one predecessor here, so it is pushed once
                for j in range(grown, len(node)):
                    if node[j] < self.heights[j]:
                        above = (*node[:j], node[j] + 1, *node[j + 1 :])
                        heapq.heappush(queue, (max(bound, self._bound(above)), pushed, above, j))
                        pushed += 1
            limit = max(bound, queue[0][0]) if queue else np.inf
            before = self.classes
            later = self._settle(node, limit + _ROUNDING)
            self._tell(listener, range(before, self.classes))
            visited += 1
            if later < np.inf:
                heapq.heappush(queue, (later, pushed, node, None))
                pushed += 1
            if listener is not None and visited % 256 == 0:
                emit(listener, "nodes", everyone - self.size, everyone, visited=visited, classes=self.classes)
        emit(listener, "settled", everyone - self.size, everyone, visited=visited, classes=self.classes)
        return visited

    def _tell(self, listener: Listener | None, classes: Iterable[int], name: str = "settle") -> None:
        """Tell of classes: who is in each, and what they are released as."""
        if wants_steps(listener):
            levels = self.levels()
            for c in classes:
                members = np.flatnonzero(self.owner == c)
                part = members, self.space.labels(self.space.counts.codes[members[0]], levels[c])
                emit(listener, name, int((self.owner >= 0).sum()), len(self.owner), part=part)

    def _bound(self, node: Node) -> float:
        return sum(self.least[j][level] for j, level in enumerate(node))

    @cached_property
    def _room(self) -> tuple[NDArray[Any], ...]:
        size = 1 << max(4, (2 * len(self.owner)).bit_length())
        return (
            np.empty(size, np.int64),
            np.empty(size, np.int64),
            np.empty(size, np.float64),
            np.empty(size, np.int64),
            np.empty(len(self.owner), np.int64),
        )

    def _settle(self, node: Node, limit: float) -> float:
        """Settle what can be settled at a node; returns the least loss of groups that must wait for their turn."""
        from keepsense.methods.generalize.grouping_kernels import group_at

        codes, losses, at = self.flat
        head, weight, loss, given, slot = self._room
        slots = 1 << max(4, (2 * self.size).bit_length())
        before = self.classes
        was = self.waiting[: self.size].copy() if self.asked.rest or self.asked.distinct else None
        self.size, self.classes, later = group_at(
            self.waiting, self.size, self.space.counts.codes, np.array(node, dtype=np.int64), codes, losses, at,
            self.space.counts.weights, self.asked.k, limit, self.owner, self.classes, head[:slots], weight, loss, given,
            slot,
        )  # fmt: skip
        if was is not None and self.classes > before:
            self._take_back(was, before)
        return float(later)

    def _take_back(self, was: NDArray[np.int64], before: int) -> None:
        """Let groups wait again that a model besides k refuses; at coarser nodes they may find company."""
        members = was[self.owner[was] >= before]
        good = self.satisfied(members, self.owner[members] - before, self.classes - before)
        number = np.cumsum(good) - 1 + before
        mine = self.owner[members] - before
        self.owner[members] = np.where(good[mine], number[mine], -1)
        self.classes = before + int(good.sum())
        self.waiting = was[self.owner[was] < 0]
        self.size = len(self.waiting)

    def satisfied(self, members: NDArray[np.int64], group: NDArray[np.int64], size: int) -> NDArray[np.bool_]:
        """Whether each of `size` groups keeps every promise."""
        counts = self.space.counts
        weights = np.bincount(group, counts.weights[members], size).astype(np.int64)
        good = weights >= self.asked.k
        needed = {name for model in self.asked.bound for name in model.columns}
        tables = {name: _merged(counts.histograms[name], members, group, size) for name in needed}
        for model in self.asked.bound:
            good = good & model.satisfied(weights, tables)
        return good

    def divide_the_rest(self, listener: Listener | None) -> None:
        """Make classes of those who still wait, if they are enough for one."""

        rest = self.waiting[: self.size]
        if int(self.space.counts.weights[rest].sum()) < self.asked.k:
            return
        alone = np.arange(len(rest))
        needed = {name for model in self.asked.bound for name in model.columns}
        tables = {name: _merged(self.space.counts.histograms[name], rest, alone, len(rest)) for name in needed}
        group = divided(self.space, self.losses, rest, self.asked.bound, tables)
        if group is not None:
            before = self.classes
            self.owner[rest] = before + group
            self.classes += int(group.max()) + 1
            self.size = 0
            self._tell(listener, range(before, self.classes))

    def place_the_rest(self, listener: Listener | None) -> None:
        """Suppress who still waits, up to the limit; beyond it they join the class that loses least by it."""
        rest = self.waiting[: self.size]
        if not len(rest):
            return
        weights = self.space.counts.weights
        if int(weights[rest].sum()) <= self.asked.limit:
            self.hidden[rest] = True
            return
        order = np.argsort(-weights[rest], kind="stable")
        allowed = self.asked.limit
        for t in rest[order]:
            if self._join(int(t)):
                self._tell(listener, [int(self.owner[t])], "join")
            else:
                if weights[t] > allowed:
                    raise Infeasible(
                        "local recoding cannot keep the promise for every record within the suppression limit",
                        relax=(
                            "allow more suppression",
                            "ask for a smaller k",
                            "add a coarser level to the hierarchies",
                        ),
                    )
                allowed -= int(weights[t])
                self.hidden[t] = True
        self.size = 0

    def _join(self, t: int) -> bool:
        """Put one tuple into the class whose total loss grows least, if the promise still holds there."""
        if self.classes == 0:
            return False
        levels = self.levels()
        first = np.full(self.classes, -1, dtype=np.int64)
        settled = np.flatnonzero(self.owner >= 0)
        first[self.owner[settled][::-1]] = settled[::-1]
        weights = self.space.counts.weights
        size = np.bincount(self.owner[settled], weights[settled], self.classes)
        lost, added = np.zeros(self.classes), np.zeros(self.classes)
        for j, (raw, table) in enumerate(zip(self.space.raw, self.losses, strict=True)):
            theirs, mine = self.space.counts.codes[first, j], int(self.space.counts.codes[t, j])
            level = levels[:, j].copy()
            for step in range(int(self.heights[j])):
                level[(level == step) & (raw[theirs, step] != raw[mine, step])] += 1
            lost += table[theirs, levels[:, j]]
            added += table[theirs, level]
        cost = (size + weights[t]) * added - size * lost
        for c in np.argsort(cost, kind="stable")[:32]:
            members = np.append(settled[self.owner[settled] == c], t)
            if self.satisfied(members, np.zeros(len(members), dtype=np.int64), 1)[0]:
                self.owner[t] = c
                if c < len(self.fixed):
                    self.fixed[c] = 0
                return True
        return False

    def levels(self) -> NDArray[np.int64]:
        """Levels each class is released at: the lowest its members share, or those a first solution gave it."""
        from keepsense.methods.generalize.grouping_kernels import lowest_levels

        codes, _, at = self.flat
        settled = np.flatnonzero(self.owner >= 0)
        out = np.zeros((self.classes, len(self.heights)), dtype=np.int64)
        columns = np.ascontiguousarray(self.space.counts.codes[settled])
        lowest_levels(self.owner[settled], columns, codes, at, self.heights, out)
        out[: len(self.fixed)] = np.maximum(out[: len(self.fixed)], self.fixed)
        return out

    def cells(self, visited: int) -> Cells:
        """The recoding: every tuple at its class's levels."""
        counts = self.space.counts
        levels = self.levels()[np.maximum(self.owner, 0)] if self.classes else np.zeros_like(counts.codes)
        codes = np.empty(counts.codes.shape, dtype=np.int32)
        dictionaries: list[tuple[Value, ...]] = []
        lost = 0.0
        for j, (hierarchy, raw, table) in enumerate(
            zip(self.space.hierarchies, self.space.raw, self.losses, strict=True)
        ):
            value, level = counts.codes[:, j], levels[:, j]
            begin = np.cumsum([0, *(len(labels) for labels in hierarchy.labels)])
            every = [label for labels in hierarchy.labels for label in labels] + [SUPPRESSED]
            node = np.where(self.hidden, len(every) - 1, begin[level] + raw[value, level])
            used, at = np.unique(node, return_inverse=True)
            place: dict[Value, int] = {}
            codes[:, j] = np.array([place.setdefault(every[u], len(place)) for u in used], dtype=np.int32)[at]
            dictionaries.append(tuple(place))
            lost += float(np.where(self.hidden, self.worst[j][value], table[value, level]) @ counts.weights)
        info = {
            "method": "local recoding",
            "classes": self.classes,
            "loss": lost / (float(self.space.importance.sum()) * counts.total),
            "suppressed": int(counts.weights[self.hidden].sum()),
            "nodes visited": visited,
        }
        n = len(counts)
        return Cells(counts.names, tuple(dictionaries), np.arange(n), codes, counts.weights, self.hidden, info).bound(
            counts
        )


def _merged(table: Histogram, members: NDArray[np.int64], group: NDArray[np.int64], size: int) -> Histogram:
    """The histogram of each group: those of its members added up."""
    row = np.repeat(group, table.rows.sizes[members])
    where = np.concatenate([np.arange(table.rows.starts[t], table.rows.starts[t + 1]) for t in members])
    return histogram(table.values, table.rows.indices[where], row, table.counts[where], size)


def _many_columns(situation: Situation) -> bool:
    """There are many choices of levels to walk through."""
    return situation.columns >= 6


METHOD = registered(
    Method(
        name="local recoding",
        title="Local recoding",
        function=local_recoding,
        runner=by_hierarchies,
        family="generalization",
        place=4,
        aliases=("local",),
        replaces=("cell greedy",),
        short="every group at levels of its own",
        intent="Release every group of people at the finest levels that this group alone needs.",
        use=("you want the least loss of all generalizations here", "readers can live with mixed levels of detail"),
        avoid=(
            "analysts need one level of detail a column",
            "one rule is to fit all of next month's file: who is in no class is grouped anew",
        ),
        inputs=("columns, hierarchies and the promise", "the share of records that may be suppressed"),
        guarantee="k-anonymity, and any further model, for every group.",
        cost="Choices of levels visited x records still waiting, which falls quickly.",
        paper="Own method, in answer to the iterated local recoding of Prasser et al. 2014.",
        example="Common jobs are released as they are; the only bishop becomes a clergyman.",
        truthful=True,
        classes="all",
        to_the_top=True,
        time_limit="seconds",
        alternative=4,
        steps=loop(
            "The table, the columns, a hierarchy for each, and the promise",
            "Does nobody wait any more?",
            "The anonymized table: each group at levels of its own",
            prepare="Let all records wait, and sort the choices of levels by what they lose",
            candidates="Take the choice of levels that loses least among those not yet used",
            choose="Group the waiting records at these levels",
            apply="Settle each group that keeps the promise, at the finest levels its members share",
            settle="Put records that found no group where they do least harm, or suppress them if allowed",
        ),
        combines=(Relation("optimal", "start from the best single choice, and recode only whom it would suppress"),),
        fit=Fit(
            points=6.0,
            reason="every group keeps as much detail as it can: the least loss of all generalizations here",
            better=((_many_columns, -2.0, ""),),
            unfit=CELLS,
            cautions=(
                (
                    _many_columns,
                    "With so many columns it takes long; seconds = 60 makes it stop with the best it has found.",
                ),
            ),
        ),
    )
)


# Records left when the search ends early are divided as semantic Mondrian does


def divided(
    space: Space,
    losses: Sequence[NDArray[np.float64]],
    rest: NDArray[np.int64],
    models: Sequence[Model],
    histograms: Mapping[str, Histogram],
) -> NDArray[np.int64] | None:
    """Groups of the waiting tuples, cut where least is lost; None where they cannot even be one class together."""
    whole = space.counts
    part = Counts(
        whole.names, whole.values, np.ascontiguousarray(whole.codes[rest]), whole.weights[rest], dict(histograms)
    )
    dimensions = []
    for name, values, hierarchy, raw, table in zip(
        whole.names, whole.values, space.hierarchies, space.raw, losses, strict=True
    ):
        by_node = []
        for level, labels in enumerate(hierarchy.labels):
            code = raw[:, level]
            there = np.maximum(np.bincount(code, minlength=len(labels)), 1)
            by_node.append(np.bincount(code, table[:, level], len(labels)) / there)
        dimensions.append(nominal(name, values, hierarchy, by_node))
    try:
        return groups(part, dimensions, models, score=kept, order="best")
    except Infeasible:
        return None
