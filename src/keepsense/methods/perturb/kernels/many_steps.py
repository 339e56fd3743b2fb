"""Many steps of swapping inside clusters, or of building groups, in one call: what is seen from a value is looked up.

The reference is the same walk step by step, as listeners that want every step get it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from keepsense.compiled import njit
from keepsense.methods.perturb.kernels.cluster_walk import group_step, swap_step


class Views(NamedTuple):
    """What is seen from values: the distances to all values of the attribute, and these values nearest first.

    What value v of attribute j sees begins at `begin[j] + v * sizes[j]` of both tables; the order begins with -1 while
    nobody has looked from there. `rows` and `orders` hold the view of the present reference, one row an attribute, and
    `tie` is the share of the greatest distance by which two may differ and still be equal.
    """

    far: Any
    near: Any
    begin: Any
    sizes: Any
    rows: Any
    orders: Any
    tie: float


@njit(cache=True, nogil=True)
def _look(ref: Any, state: Any, views: Any) -> Any:
    """Copy what is seen from a record's values, and return what counts as equal; -1 where one was never looked from."""
    t = state.owner[ref]
    m = len(views.sizes)
    for j in range(m):
        if views.near[views.begin[j] + state.codes[t, j] * views.sizes[j]] < 0:
            return -1.0
    for j in range(m):
        size = views.sizes[j]
        at = views.begin[j] + state.codes[t, j] * size
        views.rows[j, :size] = views.far[at : at + size]
        views.orders[j, :size] = views.near[at : at + size]
    greatest = np.max(views.rows)
    return views.tie * greatest if greatest > 1.0 else views.tie


@njit(cache=True, nogil=True)
def swap_steps(rng: Any, ref: Any, k: Any, most: Any, state: Any, views: Any) -> Any:
    """Swap from reference to reference, until one sees from a new value, or the number of steps can be told."""
    while ref >= 0:
        tol = _look(ref, state, views)
        if tol < 0:
            break
        ref = swap_step(rng, ref, k, tol, views.rows, views.orders, state)
        if state.tally[1] % most == 0:
            break
    return ref


@njit(cache=True, nogil=True)
def group_steps(rng: Any, ref: Any, k: Any, most: Any, state: Any, views: Any, group: Any) -> Any:
    """Build groups of k, the last of up to 2k - 1, until one sees from a new value, or steps can be told."""
    while ref >= 0:
        tol = _look(ref, state, views)
        if tol < 0:
            break
        size = k if state.tally[0] >= 2 * k else state.tally[0]
        ref = group_step(rng, ref, size, tol, views.rows, views.orders, state, group)
        if state.tally[1] % most == 0:
            break
    return ref
