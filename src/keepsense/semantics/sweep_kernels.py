"""Compiled: sweeps over an is-a graph, from parents to children, for several source concepts at once.

All take a graph whose nodes are numbered so that parents come first (`Part` in `distance.py`). A sweep carries one
number from each node to its children, for `LANES` sources at a time so that the inner loop is a vector operation. The
cost of a source is the number of is-a links of the part, whatever the number of common subsumers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from keepsense.numba_cache import njit

LANES = 16
SHIFT = 31  # low bits that hold links below a subsumer, as many as an int32 can count; the rank takes the others


@njit(cache=True, nogil=True)
def _wider(array: Any) -> Any:
    """An array with room for twice as much."""
    wider = np.empty(2 * len(array), array.dtype)
    for i in range(len(array)):  # a slice would compile texts of errors, which takes seconds
        wider[i] = array[i]
    return wider


@njit(cache=True, nogil=True)
def climb(starts: Any, parents: Any, concepts: Any) -> Any:
    """Subsumers of each concept, itself first, with the fewest links up to each: (starts, subsumers, links)."""
    n = len(starts) - 1
    seen = np.full(n, -1, np.int32)
    row = np.zeros(len(concepts) + 1, np.int64)
    subsumers = np.empty(16 * len(concepts) + 64, np.int32)
    links = np.empty(len(subsumers), np.int32)
    size = 0
    for i in range(len(concepts)):
        begin = size
        if size == len(subsumers):
            subsumers, links = _wider(subsumers), _wider(links)
        seen[concepts[i]] = i
        subsumers[size] = concepts[i]
        links[size] = 0
        size += 1
        here = begin
        while here < size:
            node = subsumers[here]
            for k in range(starts[node], starts[node + 1]):
                above = parents[k]
                if seen[above] != i:
                    seen[above] = i
                    if size == len(subsumers):
                        subsumers, links = _wider(subsumers), _wider(links)
                    subsumers[size] = above
                    links[size] = links[here] + 1
                    size += 1
            here += 1
        row[i + 1] = size
    return row, subsumers[:size].copy(), links[:size].copy()


@njit(cache=True, nogil=True)
def sweep_max(starts: Any, parents: Any, row: Any, above: Any, weight: Any, columns: Any, out: Any) -> None:
    """`out[i, c]` = the largest weight among common subsumers of source i and column c.

    `above[row[i]:row[i+1]]` are source i's subsumers inside the part; weights never fall from parent to child.
    """
    n = len(starts) - 1
    best = np.empty((n, LANES), out.dtype)
    for first in range(0, len(row) - 1, LANES):
        lanes = min(LANES, len(row) - 1 - first)
        best[:] = 0
        for j in range(lanes):
            for k in range(row[first + j], row[first + j + 1]):
                best[above[k], j] = weight[above[k]]
        for node in range(n):
            for k in range(starts[node], starts[node + 1]):
                parent = parents[k]
                for j in range(LANES):
                    best[node, j] = max(best[node, j], best[parent, j])
        for c in range(len(columns)):
            for j in range(lanes):
                out[first + j, c] = best[columns[c], j]


@njit(cache=True, nogil=True)
def sweep_path(starts: Any, parents: Any, row: Any, above: Any, up: Any, columns: Any, out: Any) -> None:
    """`out[i, c]` = the fewest links between source i and column c through a common subsumer."""
    n = len(starts) - 1
    best = np.empty((n, LANES), np.int32)
    nowhere = np.int32(1 << 29)
    for first in range(0, len(row) - 1, LANES):
        lanes = min(LANES, len(row) - 1 - first)
        best[:] = nowhere
        for j in range(lanes):
            for k in range(row[first + j], row[first + j + 1]):
                best[above[k], j] = up[k]
        for node in range(n):
            for k in range(starts[node], starts[node + 1]):
                parent = parents[k]
                for j in range(LANES):
                    best[node, j] = min(best[node, j], best[parent, j] + np.int32(1))
        for c in range(len(columns)):
            for j in range(lanes):
                out[first + j, c] = best[columns[c], j]


@njit(cache=True, nogil=True)
def sweep_lcs(starts: Any, parents: Any, row: Any, above: Any, up: Any, rank: Any, columns: Any, out: Any) -> None:
    """Rank of the least common subsumer (the highest rank; `out[0]`) and the links from both concepts to it (`out[1]`).

    A node carries `rank * 2**SHIFT - links below`: the maximum over parents is the highest rank and, for one rank, the
    shortest way down to the node.
    """
    n = len(starts) - 1
    best = np.empty((n, LANES), np.int64)
    climbed = np.zeros(n, np.int32)
    nothing = np.int64(-1) << 62
    for first in range(0, len(row) - 1, LANES):
        lanes = min(LANES, len(row) - 1 - first)
        best[:] = nothing
        for j in range(lanes):
            for k in range(row[first + j], row[first + j + 1]):
                best[above[k], j] = np.int64(rank[above[k]]) << SHIFT
        for node in range(n):
            for k in range(starts[node], starts[node + 1]):
                parent = parents[k]
                for j in range(LANES):
                    best[node, j] = max(best[node, j], best[parent, j] - 1)
        for j in range(lanes):
            i = first + j
            for k in range(row[i], row[i + 1]):
                climbed[rank[above[k]]] = up[k]
            for c in range(len(columns)):
                value = best[columns[c], j]
                highest = (value + (np.int64(1) << SHIFT) - 1) >> SHIFT
                out[0, i, c] = highest
                out[1, i, c] = climbed[highest] + np.int32((highest << SHIFT) - value)


@njit(cache=True, nogil=True)
def count_shared(n: int, row: Any, above: Any, column_row: Any, column_above: Any, out: Any) -> None:
    """`out[i, c]` = number of subsumers that source i and column c share."""
    marked = np.zeros((n, LANES), np.uint8)
    shared = np.empty(LANES, np.int32)
    for first in range(0, len(row) - 1, LANES):
        lanes = min(LANES, len(row) - 1 - first)
        for j in range(lanes):
            for k in range(row[first + j], row[first + j + 1]):
                marked[above[k], j] = 1
        for c in range(len(column_row) - 1):
            shared[:] = 0
            for k in range(column_row[c], column_row[c + 1]):
                node = column_above[k]
                for j in range(LANES):
                    shared[j] += marked[node, j]
            for j in range(lanes):
                out[first + j, c] = shared[j]
        for j in range(lanes):
            for k in range(row[first + j], row[first + j + 1]):
                marked[above[k], j] = 0
