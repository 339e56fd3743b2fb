"""Which is-a links to give up so that no cycle is left: for sources whose links are not their authors' word."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def closing_links(n: int, child: NDArray[Any], parent: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark the links that close a cycle when links are laid one by one in the given order.

    The earlier a link, the safer it is; the same links in the same order always give the same answer. Only links inside
    strongly connected parts are looked at, so a graph with few cycles costs little more than reading it. Among those a
    topological order is kept up as links come in (Pearce and Kelly 2006), so that each link is checked against the
    concepts between its two ends only.

    >>> import numpy as np
    >>> closing_links(3, np.array([0, 1, 2]), np.array([1, 2, 0])).tolist()
    [False, False, True]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    drop = np.zeros(len(child), dtype=np.bool_)
    if not len(child):
        return drop
    graph = coo_array((np.ones(len(child), dtype=np.int8), (child, parent)), shape=(n, n))
    _, part = connected_components(graph.tocsr(), directed=True, connection="strong")
    inside = np.flatnonzero(part[child] == part[parent])
    order = _Order(np.unique(np.concatenate([child[inside], parent[inside]])).tolist())
    for i in inside.tolist():
        drop[i] = not order.lay(int(child[i]), int(parent[i]))
    return drop


class _Order:
    """Concepts in an order in which each comes before its parents, kept as links are laid."""

    def __init__(self, concepts: list[int]) -> None:
        # Lower codes tend to be parents: starting with them last leaves less to mend.
        self._rank = {c: i for i, c in enumerate(reversed(concepts))}
        self._above: dict[int, list[int]] = {c: [] for c in concepts}
        self._below: dict[int, list[int]] = {c: [] for c in concepts}

    def lay(self, child: int, parent: int) -> bool:
        """Lay a link; False, and nothing changed, where it would close a cycle."""
        rank = self._rank
        if child == parent:
            return False
        if rank[parent] < rank[child]:
            low, high = rank[parent], rank[child]
            upward = self._reach(parent, self._above, low, high, child)
            if child in upward:
                return False
            downward = self._reach(child, self._below, low, high, parent)
            moved = [*sorted(downward, key=rank.__getitem__), *sorted(upward, key=rank.__getitem__)]
            for concept, place in zip(moved, sorted(rank[c] for c in moved), strict=True):
                rank[concept] = place
        self._above[child].append(parent)
        self._below[parent].append(child)
        return True

    def _reach(self, start: int, along: dict[int, list[int]], low: int, high: int, goal: int) -> set[int]:
        """Everything reachable within the given ranks, or as much as it takes to find the goal."""
        waiting, seen = [start], {start}
        while waiting and goal not in seen:
            for step in along[waiting.pop()]:
                if step not in seen and low <= self._rank[step] <= high:
                    seen.add(step)
                    waiting.append(step)
        return seen
