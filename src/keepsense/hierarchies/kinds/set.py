"""Several items in one cell: the hierarchy is that of the items."""

from __future__ import annotations

from keepsense.hierarchies.kinds import KINDS, Kind
from keepsense.hierarchies.kinds.nominal import of_words

KINDS.add(
    "set",
    Kind("set", "several items in one cell", "baskets, tags", build=of_words, words=True, sets=True),
)
