"""Several items in one cell: the hierarchy is that of the items."""

from __future__ import annotations

from keepsense.hierarchies.column_kinds import KINDS, Kind
from keepsense.hierarchies.kinds.nominal_kind import of_words

KINDS.add(
    "set",
    Kind("set", "several items in one cell", "baskets, tags", build=of_words, words=True, sets=True),
)
