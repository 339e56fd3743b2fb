"""What a column's values can become: the nodes of its hierarchy, and the moves that lead from one cut to the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Value
from keepsense.hierarchies import Hierarchy
from keepsense.recoding import Cut

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
