"""What is known of every node at the start of a search: losses, bounds, and what columns and pairs rule out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from keepsense.errors import BadInput
from keepsense.methods.generalize.parts.levels import (
    counted_levels,
    exclude,
    meet,
    single_limits,
    spread,
    spread_squares,
)
from keepsense.methods.generalize.parts.objective import Objective
from keepsense.methods.generalize.parts.packed import CLASS_SIZE, DISCERNIBILITY, GEOMETRIC, Nodes
from keepsense.methods.generalize.parts.space import Space

if TYPE_CHECKING:
    from keepsense.methods.generalize.lattice import LatticeSearch

MOST_NODES = 10_000_000
"""Nodes of a lattice that is held in memory as a whole; larger ones need `anytime`."""

_PAIRS_UP_TO = 0.1
"""Share of suppressed records up to which counting pairs of columns pays."""


def open_nodes(search: LatticeSearch) -> Any:
    """Losses, bounds and statuses of all nodes; the open ones in order of their loss."""
    space, required = search.space, search.required
    if space.size > MOST_NODES:
        raise BadInput(
            f"one level for each column can be chosen in {space.size:,} ways, and up to {MOST_NODES:,} are searched "
            "for the best; use the method anytime, which searches as long as you let it"
        )
    base, bound = losses(search.objective, space)
    status = np.zeros(space.size, np.int8)
    state = np.array([np.inf, np.nan]), np.array([0, -1, 0, 0])
    nodes = Nodes(space.strides, base, bound, status, np.empty(0, np.int64), *state)
    left = space.size
    if required.k > 1 and required.limit <= _PAIRS_UP_TO * space.total:
        lowest, fine = limits(search)
        left = exclude(lowest, fine, space.levels.heights, nodes)
    if left == space.size:
        order = np.argsort(base, kind="stable")
    else:
        live = np.flatnonzero(status == 0)
        order = live[np.argsort(base[live], kind="stable")]
        search.begin(meet(nodes, space.levels.heights))
    return nodes._replace(order=order)


def limits(search: LatticeSearch) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Lowest level of each column by itself, and whether two levels of two columns can go together."""
    space, k, limit = search.space, search.required.k, search.required.limit
    counts = space.counts
    lowest = single_limits(space.codes, space.codes_at, space.marginal, space.marginal_at, space.levels, k, limit)
    # pairs with more cells are counted at a higher level, which rules out less but never too much
    start = counted_levels(space.levels.sizes, lowest, max(1 << 16, 4 * len(counts)))
    width = max(space.heights) + 1
    fine = np.ones((len(lowest), len(lowest), width, width), np.bool_)
    search.rule_out_pairs(start, fine)
    return lowest, fine


def losses(objective: Objective, space: Space) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Loss of every node without suppression, and a lower bound of its loss with suppression."""
    heights = space.levels.heights
    if objective.moments is not None:
        base = spread_squares(objective.moments, objective.column.shape[1], heights)
        base *= objective.scale
        return base, base.copy() if objective.monotone else np.zeros(space.size)
    if objective.kind == GEOMETRIC:
        out = []
        for column in (objective.column, objective.least):
            out.append(np.expm1(spread(np.log1p(column * objective.scale), heights) / len(heights)))
        return out[0], out[1]
    base = spread(objective.column * objective.scale, heights)
    if objective.kind in (DISCERNIBILITY, CLASS_SIZE):
        return base, np.zeros(space.size)
    if objective.monotone:
        return base, base.copy()
    return base, spread(objective.least * objective.scale, heights)
