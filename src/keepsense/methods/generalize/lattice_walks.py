"""Walks through the lattice: to the node of least loss, to a verdict on every node, and up, down or around from one."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from keepsense.methods.generalize import lattice_loops
from keepsense.methods.generalize.lattice_space import FAILS, HOLDS, UNKNOWN, Node
from keepsense.progress import Listener, emit

if TYPE_CHECKING:
    from keepsense.methods.generalize.lattice_template import LatticeSearch, Verdict


_ROWS_A_SLICE = 50_000_000
"""Rows that compiled loops may merge before Python looks whether somebody wants to stop."""


def find_best(
    search: LatticeSearch, deadline: float | None = None, listener: Listener | None = None
) -> tuple[Verdict | None, float]:
    """The best node found and the least loss any other node may have (infinite where all are judged or ruled out)."""
    nodes = search.nodes
    if not search.required.fast:
        _search_asking(search, deadline, listener)
    else:
        (_search_compiled if search.held else _search_anew)(search, deadline, listener)
    open_ = nodes.bound[nodes.order[nodes.place[0] :]]
    bound = float(open_[open_ < nodes.best[0]].min(initial=np.inf))
    best = int(nodes.place[1])
    return (None if best < 0 else _lowered(search, search.check(search.space.node(best)))), bound


def _lowered(search: LatticeSearch, best: Verdict) -> Verdict:
    """The same loss at lower levels: a column of one value loses nothing by being hidden, but should not be."""
    for column in range(len(best.node)):
        while best.node[column] > 0:
            lower = (*best.node[:column], best.node[column] - 1, *best.node[column + 1 :])
            if search.base(lower) < search.base(best.node):
                break  # it would have been found
            found = search.check(lower)
            if not found.holds or found.value > best.value:
                break
            best = found
    return best


def classified(search: LatticeSearch, listener: Listener | None = None) -> NDArray[np.int8]:
    """Verdict on every node, one axis a column: 1 and 2 hold (checked, tagged), 3 and 4 fail (checked, tagged)."""
    (_classify_compiled if search.required.fast and search.held else _classify_asking)(search, listener)
    found: NDArray[np.int8] = search.nodes.status.reshape([height + 1 for height in search.space.heights])
    return found


def _slice(search: LatticeSearch, watched: bool) -> int:
    if watched or search.plain:  # without the compiler a search asks after every slice whether it still goes without
        return 64
    return max(64, _ROWS_A_SLICE // len(search.space.counts))


def _search_compiled(search: LatticeSearch, deadline: float | None, listener: Listener | None) -> None:
    nodes, o = search.nodes, search.objective
    heard = listener is not None
    most = _slice(search, heard or deadline is not None)
    log = np.empty((most if heard else 0, 3), np.int64)
    values = np.empty(len(log))
    while True:
        made = search.loops.search(search.space.levels, search.store, o.losses, search.goal, nodes, o.column, o.scale,
                                   o.monotone, most, log, values)  # fmt: skip
        search.checks += made
        _tell(search, listener, log[:made], values)
        if made < most or (deadline is not None and time.monotonic() > deadline):
            return


def _search_anew(search: LatticeSearch, deadline: float | None, listener: Listener | None) -> None:
    """The same way where tuples are counted when a node asks for it: a check may take as long as a whole search."""
    log, values = np.empty((256, 3), np.int64), np.empty(256)
    while True:
        made = lattice_loops.walk(search.space.levels, search.goal, search.nodes, search.objective.kind,
                          search.objective.monotone, 1, search.check_of, (log, values))  # fmt: skip
        _tell(search, listener, log[:made], values)
        if not made or (deadline is not None and time.monotonic() > deadline):
            return


def _classify_compiled(search: LatticeSearch, listener: Listener | None) -> None:
    heard = listener is not None
    most = _slice(search, heard)
    log = np.empty((most if heard else 0, 3), np.int64)
    while True:
        made = search.loops.classify(search.space.levels, search.store, search.goal, search.nodes, most, log)
        search.checks += made
        _tell(search, listener, log[:made], None)
        if made < most:
            return


def _tell(
    search: LatticeSearch, listener: Listener | None, log: NDArray[np.int64], values: NDArray[np.float64] | None
) -> None:
    """Report the checks of one slice."""
    if listener is None:
        return
    total = search.space.size
    done = int(np.count_nonzero(search.nodes.status))
    for i, (v, classes, suppressed) in enumerate(log.tolist()):
        holds = suppressed <= search.goal.limit and suppressed < search.goal.total
        loss = None if values is None or not holds else float(values[i])
        emit(listener, "node", done, total, node=search.space.node(v), classes=classes, suppressed=suppressed,
             holds=holds, loss=loss)  # fmt: skip


def _search_asking(search: LatticeSearch, deadline: float | None, listener: Listener | None) -> None:
    """The search of the compiled loops, where models must be asked about every node."""
    nodes, monotone = search.nodes, search.required.monotone
    heights = search.space.levels.heights
    path, node = np.empty(int(heights.sum()) + 1, np.int64), np.empty_like(heights)
    while length := search.loops.next_path(nodes, search.space.levels, monotone, path, np.empty(len(path)), node):
        low, high, start = 0, length - 1, path[0]
        while low <= high:
            middle = (low + high + 1) // 2
            v = int(path[middle])
            if not nodes.bound[v] < nodes.best[0] and nodes.status[v] != UNKNOWN:
                low, high = (middle + 1, high) if nodes.status[v] >= FAILS else (low, middle - 1)
                continue
            verdict = _ask(search, v, listener)
            if verdict.holds and verdict.value < nodes.best[0]:
                nodes.best[0], nodes.place[1] = verdict.value, v
            low, high = (low, middle - 1) if nodes.bound[start] < nodes.best[0] else (middle + 1, high)
        if deadline is not None and time.monotonic() > deadline:
            return


def _classify_asking(search: LatticeSearch, listener: Listener | None) -> None:
    heights = search.space.levels.heights
    path = np.empty(int(heights.sum()) + 1, np.int64)
    climb, node = search.required.monotone, np.empty_like(heights)
    while length := search.loops.next_unknown(search.nodes, heights, climb, path, node):
        low, high = 0, length - 1
        while low <= high:
            middle = (low + high + 1) // 2
            holds = _ask(search, int(path[middle]), listener).holds
            low, high = (low, middle - 1) if holds else (middle + 1, high)


def _ask(search: LatticeSearch, v: int, listener: Listener | None) -> Verdict:
    """Judge one node and draw the conclusions that the models allow."""
    loops = search.loops
    nodes, o, heights = search.nodes, search.objective, search.space.levels.heights
    verdict, added, floor = search.judge(search.space.node(v))
    levels = np.array(verdict.node, dtype=np.int64)
    scratch = np.empty(search.space.size, np.int64)
    if floor[0] <= search.goal.limit:
        loops.raise_bounds(nodes, heights, levels, o.kind, o.monotone, added, search.goal, floor, scratch)
    if search.required.monotone:
        loops.tag(nodes, heights, levels, verdict.holds, scratch)
    elif floor[0] > search.goal.limit or floor[1] == 0:  # too many classes are too small, here and below
        loops.tag(nodes, heights, levels, False, scratch)
    else:
        nodes.status[v], nodes.bound[v] = (HOLDS if verdict.holds else FAILS), np.inf
    emit(listener, "node", int(np.count_nonzero(nodes.status)), search.space.size, node=verdict.node,
         classes=verdict.classes, suppressed=verdict.suppressed, holds=verdict.holds,
         loss=verdict.value if verdict.holds else None)  # fmt: skip
    return verdict


# Steps from node to node: down while it holds, and around for something better


def moved(node: Node, column: int, by: int) -> Node:
    """The node with one column's level changed."""
    return (*node[:column], node[column] + by, *node[column + 1 :])


def descend(search: LatticeSearch, verdict: Verdict, deadline: float, steepest: bool = False) -> Verdict:
    """Lower columns while the node holds and gets better: the one that regains most first, or with `steepest` the best.

    What regains most without suppression is known beforehand, which spares checks; class sizes must be looked at.
    """
    better = True
    while better and time.monotonic() <= deadline:
        better = False
        now = verdict
        below = [moved(now.node, column, -1) for column, level in enumerate(now.node) if level]
        for node in sorted(below, key=search.base):
            found = search.check(node)
            if found.holds and found.value < verdict.value:
                verdict, better = found, True
                if not steepest:
                    break
    return verdict


def around(search: LatticeSearch, verdict: Verdict, deadline: float, steepest: bool = False) -> Iterator[Verdict]:
    """Better nodes near a good one: raise one or two columns, lower the others again; until nothing helps."""
    better = True
    while better:
        better = False
        columns = range(len(verdict.node))
        for pair in itertools.chain(((c,) for c in columns), itertools.combinations(columns, 2)):
            if time.monotonic() > deadline:
                return
            node = verdict.node
            if any(node[c] == search.space.heights[c] for c in pair):
                continue
            for column in pair:
                node = moved(node, column, 1)
            start = search.check(node)
            found = descend(search, start, deadline, steepest) if start.holds else start
            if found.holds and found.value < verdict.value:
                verdict, better = found, True
                yield verdict
                break


def wander(search: LatticeSearch, rng: np.random.Generator, deadline: float, patience: int = 50) -> Iterator[Verdict]:
    """Nodes reached from the top by lowering columns at random as long as that helps, then by the best steps.

    Ends when `patience` of them in a row were no better than the best before.
    """
    best, idle = np.inf, 0
    while idle < patience and time.monotonic() <= deadline:
        verdict = search.check(search.space.heights)
        for column in rng.permutation(np.repeat(np.arange(len(verdict.node)), verdict.node)).tolist():
            below = search.check(moved(verdict.node, column, -1))
            if below.holds and below.value < verdict.value:
                verdict = below
        for found in around(search, descend(search, verdict, deadline, True), deadline, True):
            verdict = found
        idle += 1
        if verdict.value < best:
            best, idle = verdict.value, 0
            yield verdict
