"""One step of a method at work: a headline, what was found, and the table as it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from keepsense.counts import Value

_NOTHING = 1e-6
"""Scores up to this say nothing; they only break ties."""

Cell = tuple[Value, ...]
"""One row of a table: its values in the columns that are protected."""


@dataclass(frozen=True)
class Step:
    """One step: a headline, what was found, the table so far (one tuple a row), and which group each row is in.

    `chosen` is the column the step is about, `score` what made it the best, `safe` whether the promise holds now.
    `marks` says in a few words what the step has to do with each row; without them the size of its group is shown.

    >>> Step("Raise age", (), (("20 to 29",),), (0,), k=2).sizes
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


def alike(table: Sequence[Cell]) -> tuple[int, ...]:
    """Number of the group each row is in: rows alike in all columns.

    >>> alike([("a",), ("b",), ("a",)])
    (0, 1, 0)
    """
    number: dict[Cell, int] = {}
    return tuple(number.setdefault(row, len(number)) for row in table)


def as_text(facts: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Facts as text, leaving out what is not known; numbers by column as a list.

    >>> as_text({"groups": 3, "score": None, "widths": {"age": 0.25, "job": 1.0}})
    (('groups', '3'), ('widths', 'age 0.25, job 1'))
    """
    return tuple((name, _text(value)) for name, value in facts.items() if value is not None)


def _text(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_text(number)}" for name, number in value.items())
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) > _NOTHING else "0"
    return str(value)
