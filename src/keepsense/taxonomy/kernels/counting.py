"""Compiled loops over a taxonomy's arrays. Each has an obvious reference in the tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def count_below(starts: Any, parents: Any, is_leaf: Any) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Concepts and leaves strictly below each concept, each counted once however many paths lead to it."""
    n = len(starts) - 1
    hyponyms = np.zeros(n, np.int32)
    leaves = np.zeros(n, np.int32)
    seen = np.full(n, -1, np.int32)
    stack = np.empty(n, np.int32)
    for concept in range(n):
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
                    hyponyms[above] += 1
                    if is_leaf[concept]:
                        leaves[above] += 1
                    stack[top] = above
                    top += 1
    return hyponyms, leaves
