"""A lower bound for all columns from exact searches over some of them.

What a group of columns loses at the very least, searched by itself, it loses in any release of all columns too: fewer
columns need less generalization and suppress fewer records. Groups that share no column add up.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from keepsense.methods.generalize.parts.lattice_walking import find_best
from keepsense.methods.generalize.parts.packed import CLASS_SIZE, DISCERNIBILITY, GEOMETRIC, SQUARES
from keepsense.methods.generalize.parts.space import Space

if TYPE_CHECKING:
    from keepsense.methods.generalize.lattice import LatticeSearch


def blocks(space: Space, most: int) -> list[list[int]]:
    """Columns in groups whose lattices have up to `most` nodes, those that identify most together."""
    found: list[list[int]] = [[]]
    size = 1
    for column in np.argsort(-space.levels.entropy[:, 0], kind="stable").tolist():
        wide = space.heights[column] + 1
        if found[-1] and size * wide > most:
            found.append([])
            size = 1
        found[-1].append(column)
        size *= wide
    return found


def block_bound(search: LatticeSearch, most: int, deadline: float) -> float:
    """What no node's loss can be below, from groups of columns; 0 where the metric does not add up over columns.

    A search that is cut short by the deadline still counts with its own bound.
    """
    objective, space = search.objective, search.space
    if objective.kind in (DISCERNIBILITY, CLASS_SIZE) or not objective.monotone:
        return 0.0
    d, total = len(space.names), 0.0
    for block in blocks(space, most):
        if time.monotonic() > deadline:
            break
        part = search.part([space.names[j] for j in block])
        best, bound = find_best(part, deadline)
        least = bound if best is None else min(bound, best.value)
        if not np.isfinite(least):
            continue
        if objective.kind == GEOMETRIC:
            total += len(block) / d * float(np.log1p(least))
        elif objective.kind == SQUARES:
            total += float(space.importance[block].sum() / space.importance.sum()) ** 2 * least
        else:  # sums stay as they are, means count by their share of the columns
            total += least * objective.scale / part.objective.scale
    return objective.from_cost(total)
