"""The working table of a TR recoding, and what each possible next step would change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Counts, Histogram, Value, histogram
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.lattice_space import Space, prepare
from keepsense.methods.generalize.objective import Metric, value_losses
from keepsense.methods.generalize.requirement import Requirement
from keepsense.methods.task import Importance
from keepsense.privacy.privacy_model import Decision, decide, needed_columns
from keepsense.recoding import Cut, Cuts

# Columns: the nodes of a hierarchy, and the moves from one cut to the next

Longs = NDArray[np.int64]
Flags = NDArray[np.bool_]
Direction = Literal["up", "down"]
Candidates = Literal["levels", "branches"]


@dataclass(frozen=True, eq=False)
class Moves:
    """Every move a column could make next.

    `label[c]` names candidate c and `node[c]` tells it apart from others (a node, or a level); `of[v]` is the candidate
    value v takes part in (-1: none), and `after[v]` the node value v would stand at.
    """

    label: tuple[Value, ...]
    node: Longs
    of: Longs
    after: Longs


@dataclass(frozen=True, eq=False)
class Column:
    """The nodes a column's values can stand at: `level`, `code` and `parent` (-1: none) of each.

    `leaf` and `root` are the lowest and the highest node of each value.

    With `levels` as candidates a node is a label at a level, and all values move at once. With `branches` a node is a
    set of the column's values that some ancestor covers, standing at the lowest level where it does: levels at which
    no two values meet are passed over, because stopping there would change no class and lose detail for nothing.
    """

    name: str
    hierarchy: Hierarchy
    raw: NDArray[np.int32]
    kind: Candidates
    level: Longs
    code: Longs
    parent: Longs
    leaf: Longs
    root: Longs

    def start(self, direction: Direction) -> Longs:
        """Node of each value before the first move."""
        return (self.leaf if direction == "up" else self.root).copy()

    def label(self, node: int) -> Value:
        """What a node is called."""
        return self.hierarchy.labels[int(self.level[node])][int(self.code[node])]

    def moves(self, at: Longs, direction: Direction, closed: Flags) -> Moves:
        """The moves open from where the values stand; `closed[c]` marks nodes (or levels) not to be moved from."""
        return self._level(at, direction, closed) if self.kind == "levels" else self._branch(at, direction, closed)

    def _level(self, at: Longs, direction: Direction, closed: Flags) -> Moves:
        here = int(self.level[at[0]])
        target = here + 1 if direction == "up" else here - 1
        if closed[here] or not 0 <= target <= self.hierarchy.height:
            return Moves((), np.empty(0, np.int64), np.full(len(at), -1), at)
        first = int(np.searchsorted(self.level, target))
        after = first + self.raw[:, target].astype(np.int64)
        return Moves((self.name,), np.array([here]), np.zeros(len(at), np.int64), after)

    def _branch(self, at: Longs, direction: Direction, closed: Flags) -> Moves:
        n = len(self.level)
        inner = np.bincount(self.parent[self.parent >= 0], minlength=n) > 0
        if direction == "up":
            used = np.zeros(n, np.bool_)
            used[at] = True
            missing = np.zeros(n, np.bool_)  # some child of the node is not in the cut
            child = np.flatnonzero(self.parent >= 0)
            missing[self.parent[child[~used[child]]]] = True
            above = self.parent[at]
            ready = (above >= 0) & ~missing[above]
            goal, node = np.where(ready, above, at), above
        else:
            ready = inner[at] & ~closed[at]
            goal, node = self._below(at, ready), at
        chosen = np.unique(node[ready])
        of = np.where(ready, np.searchsorted(chosen, node), -1)
        return Moves(tuple(self.label(c) for c in chosen.tolist()), chosen, of, goal)

    def _below(self, at: Longs, ready: Flags) -> Longs:
        """The child of its node that each value is under."""
        found, walk = np.where(ready, -1, at), self.leaf.copy()
        while (found < 0).any():
            up = self.parent[walk]
            arrived = (found < 0) & (up == at)
            found[arrived] = walk[arrived]
            walk = np.where(found < 0, up, walk)
        return found

    def cut(self, at: Longs) -> Cut:
        """The rule that puts each value at its node, and every leaf the table does not hold where it fits."""
        levels = self.level[at]
        if self.kind == "levels":
            cut = self.hierarchy.cut(int(levels[0]))
            return Cut(self.name, cut.inputs, cut.outputs, cut.level)
        h = self.hierarchy
        chosen = np.full(len(h.leaves), -1, np.int64)
        taken = [np.zeros(len(labels), np.bool_) for labels in h.labels]  # at or above a node of the cut
        for node in np.unique(at).tolist():
            level, code = int(self.level[node]), int(self.code[node])
            under = h.codes[:, level] == code
            chosen[under] = level
            example = int(np.argmax(under))
            for higher in range(level, h.height + 1):
                taken[higher][h.codes[example, higher]] = True
        for level in range(h.height + 1):  # the others: as high as they meet no node of the cut
            free = (chosen < 0) & ~taken[level][h.codes[:, level]]
            beyond = taken[level + 1][h.codes[:, level + 1]] if level < h.height else np.ones(len(free), np.bool_)
            chosen[free & beyond] = level
        codes = h.codes[np.arange(len(chosen)), chosen].tolist()
        outputs = tuple(h.labels[lv][c] for lv, c in zip(chosen.tolist(), codes, strict=True))
        same = np.unique(chosen)
        return Cut(self.name, h.leaves, outputs, int(same[0]) if len(same) == 1 else None)


def column(name: str, hierarchy: Hierarchy, raw: NDArray[np.int32], kind: Candidates) -> Column:
    """Prepare a column; `raw[v, l]` is the code of value v's ancestor at level l."""
    n, width = raw.shape
    if kind == "levels":
        sizes = [len(labels) for labels in hierarchy.labels]
        level = np.repeat(np.arange(width), sizes)
        code = np.concatenate([np.arange(size) for size in sizes])
        begin = np.cumsum([0, *sizes])
        parent = np.full(len(level), -1, np.int64)
        for lower in range(width - 1):
            up = hierarchy.parents[lower]
            parent[begin[lower] : begin[lower + 1]] = np.where(up >= 0, begin[lower + 1] + up, -1)
        leaf, root = raw[:, 0].astype(np.int64), begin[width - 1] + raw[:, -1].astype(np.int64)
        return Column(name, hierarchy, raw, kind, level, code, parent, leaf, root)
    levels, codes, parents = [0] * n, raw[:, 0].tolist(), [-1] * n
    at = np.arange(n, dtype=np.int64)
    for step in range(1, width):
        order = np.lexsort((at, raw[:, step]))
        ancestor, nodes = raw[order, step], at[order]
        ends = np.append(np.flatnonzero(np.diff(ancestor)) + 1, n)
        begin_at = 0
        for end in ends.tolist():
            members = order[begin_at:end]
            below = np.unique(nodes[begin_at:end])
            if len(below) > 1:
                new = len(levels)
                levels.append(step)
                codes.append(int(ancestor[begin_at]))
                parents.append(-1)
                for child in below.tolist():
                    parents[child] = new
                at[members] = new
            begin_at = end
    return Column(
        name, hierarchy, raw, kind, np.array(levels), np.array(codes), np.array(parents), np.arange(n), at.copy()
    )


# The table

_GLANCE, _TRIED = 1024, 8
"""Smallest classes that are looked at before the others of them, and one by one before all classes are made anew."""


@dataclass(frozen=True, eq=False)
class Classes:
    """Rows of the working table put together: the class of each row, a row of each class, records, whether good."""

    owner: Longs
    first: Longs
    weights: Longs
    good: Flags

    @cached_property
    def smallest(self) -> int:
        """Records in the smallest class."""
        return int(self.weights.min())

    @cached_property
    def small(self) -> Longs:
        """A row of each class that is as small as the smallest."""
        rows: Longs = self.first[self.weights == self.smallest]
        return rows


class State:
    """Where every value of every column stands, the classes that makes, and which of them keep the promise.

    The working rows are the distinct tuples on the way down and the classes themselves on the way up, where classes
    only ever merge.
    """

    def __init__(
        self,
        counts: Counts,
        hierarchies: Mapping[str, Hierarchy],
        required: Requirement,
        direction: Direction,
        candidates: Candidates,
        importance: Importance | None = None,
    ) -> None:
        self.space: Space = prepare(counts, hierarchies, importance)
        self.required = required
        self.direction = direction
        self.columns: list[Column] = [
            column(name, hierarchy, raw, candidates)
            for name, hierarchy, raw in zip(self.space.names, self.space.hierarchies, self.space.raw, strict=True)
        ]
        self.at = [one.start(direction) for one in self.columns]
        self.closed = [np.zeros(len(one.level) + one.hierarchy.height + 1, np.bool_) for one in self.columns]
        self.tuples = np.arange(len(counts))  # working row of each distinct tuple
        self.source = np.arange(len(counts))  # a distinct tuple of each working row
        self.rows = self._placed(self.source)
        self.weights: Longs = np.array(counts.weights)
        self.classes = self._settle()

    @property
    def counts(self) -> Counts:
        """The table."""
        return self.space.counts

    def _placed(self, tuples: Longs) -> NDArray[np.int32]:
        codes = self.counts.codes[tuples]
        return np.stack([at[codes[:, j]] for j, at in enumerate(self.at)], axis=1).astype(np.int32)

    def recoding(self) -> Cuts:
        """The recoding that makes the table as it stands."""
        return Cuts(tuple(one.cut(at) for one, at in zip(self.columns, self.at, strict=True)))

    # ---- classes -------------------------------------------------------------------------------------------------

    @cached_property
    def _room(self) -> Longs:
        return np.empty(1 << max(4, (2 * len(self.counts)).bit_length()), np.int64)

    def grouped(self, changed: int = -1, fresh: Longs | None = None) -> Classes:
        """The classes as they are, or as they would be if the rows held `fresh` in one column."""
        owner, first = self.numbered(self.rows, changed, fresh)
        weights = np.bincount(owner, self.weights, len(first)).astype(np.int64)
        return Classes(owner, first, weights, self._good(owner, weights))

    def numbered(self, rows: NDArray[np.int32], changed: int = -1, fresh: Longs | None = None) -> tuple[Longs, Longs]:
        """The number of each row's class among some rows, and the first row of each class."""
        from keepsense.methods.generalize.grouping_kernels import group

        n = len(rows)
        owner, first = np.empty(n, np.int64), np.empty(n, np.int64)
        room = self._room[: 1 << max(4, (2 * n).bit_length())]
        size = group(rows, changed, np.empty(0, np.int64) if fresh is None else fresh, room, owner, first)
        return owner, first[:size]

    def _good(self, owner: Longs, weights: Longs) -> Flags:
        good: Flags = weights >= self.required.k
        if not (self.required.rest or self.required.distinct):
            return good
        tables = self.histograms(owner[self.tuples], len(weights))
        for model in self.required.bound:
            good = good & model.satisfied(weights, tables)
        return good

    def histograms(self, owner: Longs, size: int) -> dict[str, Histogram]:
        """Histograms of classes, of all columns the models ask for; `owner` is the class of each distinct tuple."""
        found = {}
        for name in needed_columns(self.required.bound):
            h = self.counts.histograms[name]
            at = owner[h.rows.row_of()]
            found[name] = histogram(h.values, h.rows.indices, at, h.counts, size)
        return found

    def _settle(self) -> Classes:
        found = self.grouped()
        if self.direction == "up" and len(found.first) < len(self.rows):
            self.rows, self.source = self.rows[found.first], self.source[found.first]
            self.weights, self.tuples = found.weights, found.owner[self.tuples]
            whole = np.arange(len(self.rows))
            found = Classes(whole, whole, found.weights, found.good)
        return found

    def decide(self, limit: int) -> Decision:
        """Whether the table may be released as it stands with at most `limit` records suppressed."""
        found = self.classes
        tables = self.histograms(found.owner[self.tuples], len(found.weights))
        return decide(self.required.bound, found.weights, tables, limit)

    # ---- steps ---------------------------------------------------------------------------------------------------

    def steps(self) -> list[Step]:
        """The moves open in each column; columns without any are left out."""
        every = enumerate(zip(self.columns, self.at, self.closed, strict=True))
        found = [Step(self, j, one.moves(at, self.direction, closed)) for j, (one, at, closed) in every]
        return [step for step in found if step.moves.label]

    def take(self, step: Step, candidate: int) -> None:
        """Make one move."""
        moving, j = step.moves.of == candidate, step.index
        touched = np.zeros(len(self.columns[j].level), np.bool_)
        touched[self.at[j][moving]] = True
        self.at[j] = np.where(moving, step.moves.after, self.at[j])
        changed = np.flatnonzero(touched[self.rows[:, j]])
        self.rows[changed, j] = self.at[j][self.counts.codes[self.source[changed], j]]
        whole = self.direction != "up" or len(changed) == len(self.rows)
        self.classes = self._settle() if whole else self._merged(changed)

    def _merged(self, changed: Longs) -> Classes:
        """The classes after a move on the way up: only rows that it changed can have become equal, to one another."""
        owner, first = self.numbered(self.rows[changed])
        if len(first) == len(changed):
            return self.classes
        kept = np.ones(len(self.rows), np.bool_)
        kept[changed] = False
        kept[changed[first]] = True
        place = np.cumsum(kept) - 1
        place[changed] = place[changed[first]][owner]
        self.weights[changed[first]] = np.bincount(owner, self.weights[changed], len(first)).astype(np.int64)
        self.rows, self.source, self.weights = self.rows[kept], self.source[kept], self.weights[kept]
        self.tuples = place[self.tuples]
        whole = np.arange(len(self.rows))
        return Classes(whole, whole, self.weights, self._good(whole, self.weights))

    @property
    def smallest(self) -> int:
        """Records in the smallest class."""
        return self.classes.smallest

    @property
    def at_risk(self) -> int:
        """Records in classes that break the promise."""
        return int(self.classes.weights[~self.classes.good].sum())

    def losses(self, metric: Metric) -> list[Floats]:
        """By column: what each value loses at each level."""
        return value_losses(metric, self.space)[0]

    def levels(self) -> dict[str, int | tuple[int, int]]:
        """For traces: the level of each column, or the lowest and highest level in its cut."""
        found: dict[str, int | tuple[int, int]] = {}
        for one, at in zip(self.columns, self.at, strict=True):
            low, high = int(one.level[at].min()), int(one.level[at].max())
            found[one.name] = low if low == high else (low, high)
        return found


class Step:
    """All moves of one column, and what each of them would change; nothing is computed before it is asked for."""

    def __init__(self, state: State, index: int, moves: Moves) -> None:
        self.state, self.index, self.moves = state, index, moves

    @property
    def column(self) -> str:
        """Name of the column."""
        return self.state.columns[self.index].name

    def __len__(self) -> int:
        return len(self.moves.label)

    @property
    def importance(self) -> float:
        """How much the column's loss counts."""
        return float(self.state.space.importance[self.index])

    def _summed(self, of: Longs, numbers: NDArray[np.generic]) -> Floats:
        return np.bincount(of + 1, numbers, len(self) + 1)[1:].astype(np.float64)

    @cached_property
    def _marginal(self) -> Longs:
        at = self.state.space.marginal_at
        return self.state.space.marginal[at[self.index] : at[self.index + 1]]

    @cached_property
    def records(self) -> Floats:
        """Records each move changes."""
        return self._summed(self.moves.of, self._marginal)

    @cached_property
    def distinct(self) -> Floats:
        """Different values that each move brings together on the way up, or takes apart on the way down."""
        here = self.state.at[self.index] if self.state.direction == "up" else self.moves.after
        held = self._marginal > 0
        pairs = np.unique(np.stack((self.moves.of[held], here[held])), axis=1)
        return self._summed(pairs[0], np.ones(pairs.shape[1]))

    def lost(self, losses: Sequence[Floats]) -> Floats:
        """Loss each move adds (up) or takes back (down), over all records, as a share of the table's cells."""
        one, before = self.state.columns[self.index], self.state.at[self.index]
        every, table = np.arange(len(before)), losses[self.index]
        change = table[every, one.level[self.moves.after]] - table[every, one.level[before]]
        sign = 1.0 if self.state.direction == "up" else -1.0
        total = self.state.space.total * len(self.state.columns)
        return sign * self._summed(self.moves.of, change * self._marginal) / total

    def information(self, tables: Sequence[Floats]) -> Floats:
        """Bits about a target that a record of each move loses (up) or gains (down), on average.

        `tables[j]` counts the target's values under each value of column j.
        """
        mine, of = tables[self.index], self.moves.of
        below = self.state.at[self.index] if self.state.direction == "up" else self.moves.after
        nodes, node = np.unique(below, return_inverse=True)
        parts = np.zeros((len(nodes), mine.shape[1]))
        np.add.at(parts, node, mine)
        candidate = np.full(len(nodes), -1)
        candidate[node] = of
        wholes = np.zeros((len(self) + 1, mine.shape[1]))
        np.add.at(wholes, candidate + 1, parts)
        gained = _bits(wholes)[1:] - self._summed(candidate, _bits(parts))
        return np.maximum(0.0, gained) / np.maximum(1.0, self.records)

    def mixed(self, tables: Sequence[Floats]) -> Flags:
        """Whether records of more than one class of a target are involved in each move."""
        mine = tables[self.index]
        classes = np.zeros((len(self) + 1, mine.shape[1]))
        np.add.at(classes, self.moves.of + 1, mine)
        involved: Flags = (classes[1:] > 0).sum(axis=1) > 1
        return involved

    # ---- anonymity -----------------------------------------------------------------------------------------------

    @cached_property
    def _after(self) -> tuple[Longs, Longs, Classes]:
        """Candidate of each class before and after all moves of the column, and the classes after."""
        value = self.state.counts.codes[self.state.source, self.index]
        of = self.moves.of[value]
        after = self.state.grouped(self.index, self.moves.after[value])
        return of[self.state.classes.first], of[after.first], after

    @cached_property
    def at_risk(self) -> Floats:
        """Records in classes that would break the promise after each move."""
        of_old, of_new, after = self._after
        old = self.state.classes
        before = self._summed(of_old[~old.good], old.weights[~old.good])
        return self.state.at_risk - before + self._summed(of_new[~after.good], after.weights[~after.good])

    @property
    def _all_stay_small(self) -> bool:
        """Whether some smallest class stays as it is whatever is moved: classes only grow on the way up."""
        state = self.state
        if state.direction != "up":
            return False
        small, values = state.classes.small, state.counts.codes[:, self.index]
        for part in (small[:_GLANCE], small[_GLANCE:]):  # mostly the first of them tell already
            of = self.moves.of[values[state.source[part]]]
            if len(of) and (of[0] < 0 or (of != of[0]).any()):
                return True
        return any(self._stays_alone(int(row)) for row in small[:_TRIED])

    def _stays_alone(self, row: int) -> bool:
        """Whether no other class becomes equal to one of them."""
        from keepsense.methods.generalize.grouping_kernels import alone

        moved = np.arange(len(self.state.columns[self.index].level))
        moved[self.state.at[self.index]] = self.moves.after
        return bool(alone(self.state.rows, row, self.index, moved))

    @cached_property
    def smallest(self) -> Longs:
        """Records in the smallest class after each move."""
        if self._all_stay_small:
            return np.full(len(self), self.state.smallest)
        of_old, of_new, after = self._after
        large = np.iinfo(np.int64).max
        old, new = (np.full(len(self) + 1, large) for _ in range(2))
        np.minimum.at(old, of_old + 1, self.state.classes.weights)
        np.minimum.at(new, of_new + 1, after.weights)
        order = np.argsort(old, kind="stable")
        elsewhere = np.full(len(self) + 1, old[order[0]])
        elsewhere[order[0]] = old[order[1]]
        found: Longs = np.minimum(elsewhere, new)[1:]
        return found


def _bits(tables: Floats) -> Floats:
    """Records times the entropy of their target values."""
    total = tables.sum(axis=1)
    logs = np.log2(np.where(tables > 0, tables, 1.0))
    found: Floats = total * np.log2(np.maximum(total, 1.0)) - (tables * logs).sum(axis=1)
    return found


def target_tables(space: Space, target: str) -> list[Floats]:
    """By column: how often each value of the target occurs under each value of the column."""
    h = space.counts.histograms[target]
    row = h.rows.row_of()
    found = []
    for j, values in enumerate(space.counts.values):
        table = np.zeros((len(values), len(h.values)))
        np.add.at(table, (space.counts.codes[row, j], h.rows.indices), h.counts)
        found.append(table)
    return found


Score = Callable[[Step], Floats]
"""How good each move of a column is, the higher the better."""
