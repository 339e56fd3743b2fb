"""Compiled: how many concepts lie below each concept. The tests have a plain reference."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.numba_cache import njit


@njit(cache=True, nogil=True)
def sum_below(starts: Any, parents: Any, order: Any, numbers: Any, most: int) -> tuple[NDArray[Any], int]:
    """Columns of `numbers` summed over what is strictly below each concept, each counted once whatever leads to it.

    `order` has parents before children. What lies below a concept with one parent has the same ancestors as that
    parent, and climbs with it: only concepts with several parents climb by themselves, so a tree takes linear time.
    The second result says how many links these climbed; beyond `most` nothing is summed any more.
    """
    n, columns = numbers.shape
    below = np.zeros((n, columns), numbers.dtype)
    climbing = np.zeros((n, columns), numbers.dtype)  # of concepts that reach what is above this one only through it
    together = np.zeros(columns, numbers.dtype)
    seen = np.full(n, -1, np.int32)
    stack = np.empty(n, np.int32)
    climbed = 0
    for place in range(n - 1, -1, -1):
        concept = order[place]
        for j in range(columns):
            together[j] = climbing[concept, j] + numbers[concept, j]
        if starts[concept + 1] - starts[concept] == 1:
            above = parents[starts[concept]]
            for j in range(columns):
                below[above, j] += together[j]
                climbing[above, j] += together[j]
            continue
        seen[concept] = concept
        stack[0] = concept
        top = 1
        while top:
            top -= 1
            here = stack[top]
            climbed += starts[here + 1] - starts[here]
            for i in range(starts[here], starts[here + 1]):
                above = parents[i]
                if seen[above] != concept:
                    seen[above] = concept
                    for j in range(columns):
                        below[above, j] += together[j]
                    stack[top] = above
                    top += 1
        if climbed > most:
            break
    return below, climbed
