"""The compiled loops of lattice search in one place; `parts.plain` has the same names."""

from __future__ import annotations

from keepsense.methods.generalize.kernels.pairs import pair_limits
from keepsense.methods.generalize.kernels.tables import (
    evaluate,
    mark_bad,
    merge_histogram,
    roll_up,
    table_of,
    values_seen,
)
from keepsense.methods.generalize.kernels.walk import (
    classify,
    next_path,
    next_unknown,
    raise_bounds,
    search,
    tag,
    value_of,
)

__all__ = [
    "classify",
    "evaluate",
    "mark_bad",
    "merge_histogram",
    "next_path",
    "next_unknown",
    "pair_limits",
    "raise_bounds",
    "roll_up",
    "search",
    "table_of",
    "tag",
    "value_of",
    "values_seen",
]
