"""Steps from node to node: up until a node holds, down while it holds, and around for something better."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from keepsense.methods.generalize.parts.space import Node

if TYPE_CHECKING:
    from keepsense.methods.generalize.lattice import LatticeSearch, Verdict


def moved(node: Node, column: int, by: int) -> Node:
    """The node with one column's level changed."""
    return (*node[:column], node[column] + by, *node[column + 1 :])


def climb(search: LatticeSearch, node: Node) -> Verdict:
    """A node above the given one that holds: columns rise in the order of entropy spared for loss, up to the first.

    The order is fixed beforehand, so that a binary search finds the end; the most general node must hold.
    """
    path, entropy = [node], search.space.levels.entropy
    while node != search.space.heights:
        scores = []
        here = search.base(node)
        for column, height in enumerate(search.space.heights):
            if node[column] < height:
                dearer = search.base(moved(node, column, 1)) - here
                spared = entropy[column, node[column]] - entropy[column, node[column] + 1]
                scores.append(((spared + 1e-9) / (dearer + 1e-9), column))
        node = moved(node, max(scores)[1], 1)
        path.append(node)
    low, high = 0, len(path) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if search.check(path[middle]).holds else (middle + 1, high)
    return search.check(path[low])


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
