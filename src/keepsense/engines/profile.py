"""What a table looks like from the outside: how many values each column has, how many are missing or frequent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from keepsense.counts import Value

MOST_VALUES = 2_000
"""Most distinct values of a column that are looked at one by one."""


@dataclass(frozen=True, eq=False)
class Profile:
    """One column in numbers, with its most frequent values for those who look closer.

    `missing` counts empty cells and cells of blanks only, `single` the values that only one row holds. `values` holds
    the most frequent values and their rows; it is all of them where `complete`. `type` is the engine's word for what
    the cells are, to be shown, not compared.

    >>> from keepsense.engines import engine
    >>> with engine() as running:
    ...     (jobs,) = running.profiles(running.read({"job": ["nurse", "nurse", "clerk", None]}))
    >>> jobs.rows, jobs.missing, jobs.distinct, jobs.single, dict(jobs.values)
    (4, 1, 2, 1, {'nurse': 2, 'clerk': 1})
    """

    name: str
    type: str
    rows: int
    missing: int
    distinct: int
    single: int
    values: Mapping[Value, int] = field(default_factory=dict)
    holds_lists: bool = False
    blank: bool = False
    """Whether some of the missing cells hold blanks."""

    @property
    def complete(self) -> bool:
        """Whether `values` holds every value."""
        return len(self.values) == self.distinct

    @property
    def filled(self) -> int:
        """Rows that hold a value."""
        return self.rows - self.missing

    @property
    def uniqueness(self) -> float:
        """Distinct values over rows that hold one: 1 where every row has its own."""
        return self.distinct / self.filled if self.filled else 0.0
