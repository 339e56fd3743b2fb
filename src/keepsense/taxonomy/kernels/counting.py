"""Compiled loops over a taxonomy's arrays. Each has an obvious reference in the tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def count_below(starts: Any, parents: Any, is_leaf: Any, order: Any) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Concepts and leaves strictly below each concept, each counted once however many paths lead to it.

    `order` has parents before children. What lies below a concept with one parent has the same ancestors as that
    parent, and climbs with it: only concepts with several parents climb by themselves, so a tree takes linear time.
    """
    n = len(starts) - 1
    hyponyms = np.zeros(n, np.int32)
    leaves = np.zeros(n, np.int32)
    climbing = np.zeros(n, np.int32)  # concepts that reach what is above this one only through it
    climbing_leaves = np.zeros(n, np.int32)
    seen = np.full(n, -1, np.int32)
    stack = np.empty(n, np.int32)
    for place in range(n - 1, -1, -1):
        concept = order[place]
        together = climbing[concept] + 1
        together_leaves = climbing_leaves[concept] + (1 if is_leaf[concept] else 0)
        if starts[concept + 1] - starts[concept] == 1:
            above = parents[starts[concept]]
            hyponyms[above] += together
            leaves[above] += together_leaves
            climbing[above] += together
            climbing_leaves[above] += together_leaves
            continue
        seen[concept] = concept
        stack[0] = concept
        top = 1
        while top:
            top -= 1
            here = stack[top]
            for i in range(starts[here], starts[here + 1]):
                above = parents[i]
                if seen[above] != concept:
                    seen[above] = concept
                    hyponyms[above] += together
                    leaves[above] += together_leaves
                    stack[top] = above
                    top += 1
    return hyponyms, leaves
