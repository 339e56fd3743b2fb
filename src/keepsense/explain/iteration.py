"""One step of an algorithm at work: a headline, what was found, and the table as it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from keepsense.counts import Value

Cell = tuple[Value, ...]


@dataclass(frozen=True)
class Iteration:
    """One step: a headline, what was found, the table so far (one tuple a row), and which group each row is in.

    `chosen` is the column the step is about, `score` what made it the best, `safe` whether the promise holds now.
    `marks` says in a few words what the step has to do with each row; without them the size of its group is shown.

    >>> Iteration("Raise age", (), (("20-29",),), (0,), k=2).sizes
    (1,)
    """

    title: str
    facts: tuple[tuple[str, str], ...]
    table: tuple[Cell, ...]
    groups: tuple[int, ...]
    k: int
    chosen: str | None = None
    score: float | None = None
    safe: bool | None = None
    marks: tuple[str, ...] = ()

    @property
    def sizes(self) -> tuple[int, ...]:
        """Rows in each row's group."""
        return tuple(self.groups.count(group) for group in self.groups)


def grouped(table: Sequence[Cell]) -> tuple[int, ...]:
    """Number of the group each row is in: rows alike in all columns.

    >>> grouped([("a",), ("b",), ("a",)])
    (0, 1, 0)
    """
    place: dict[Cell, int] = {}
    return tuple(place.setdefault(row, len(place)) for row in table)


def standing(facts: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Facts as text, leaving out what is not known.

    >>> standing({"groups": 3, "score": None})
    (('groups', '3'),)
    """
    told = []
    for name, value in facts.items():
        if value is not None:
            told.append((name, f"{value:.4g}" if isinstance(value, float) else str(value)))
    return tuple(told)
