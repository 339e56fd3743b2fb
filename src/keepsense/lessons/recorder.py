"""The recorder of a lesson (`Story`): it listens to a method on a small table and keeps its steps.

Events are turned into steps by functions that say which events they understand: `generalization_steps` for groups and
levels, `microaggregation_steps` for groups of rows and for sets, `perturbation_steps` for swaps, noise and redrawn
values. The recorder does not know how a method decides; it writes down the events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Value
from keepsense.errors import InternalError
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.lessons.lesson import Lesson
from keepsense.progress import Event
from keepsense.recoding import Cells, Draws, Recoding

# Steps

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


# The recorder

Teller = Callable[["Story", Mapping[str, Any]], None]
TELLERS: dict[str, Teller] = {}
"""Who turns an event into steps, by the event's name; events that nobody tells of are progress only."""


def tells(*names: str) -> Callable[[Teller], Teller]:
    """Make a function the teller of some events.

    >>> @tells("nothing happens")
    ... def nothing(story, details):
    ...     story.show("Nothing happens", {})
    >>> TELLERS.pop("nothing happens") is nothing
    True
    """

    def register(teller: Teller) -> Teller:
        for name in names:
            if TELLERS.setdefault(name, teller) is not teller:
                raise InternalError(f"two functions want to tell of the event {name!r}")
        return teller

    return register


class Story:
    """The table so far, who is in which group, and the steps that were told.

    Methods speak of distinct tuples and of records; `tuple_of` says which tuple each row is.

    >>> from keepsense.lessons.lesson import example
    >>> story = Story(example(), ("age",), 2)
    >>> story(Event("node", details={"node": (1,), "holds": False}))
    >>> story.table[0], story.steps[0].title
    (('20 to 29',), 'Check age at level 1')
    """

    every_step: ClassVar[bool] = True

    def __init__(self, lesson: Lesson, names: Sequence[str], k: int) -> None:
        self.lesson, self.names, self.k = lesson, tuple(names), k
        columns = ([self.shown(name, value) for value in lesson.columns[name]] for name in names)
        self.original: tuple[Cell, ...] = tuple(zip(*columns, strict=True))
        self.table: list[Cell] = list(self.original)
        self.tuple_of = lesson.tuple_of(names)
        self.beside: tuple[str, ...] = ()
        self.steps: list[Step] = []
        self.group: dict[int, int] = {}
        self.heard: dict[str, Any] = {}

    def __call__(self, event: Event) -> None:
        """Hear of an event."""
        teller = TELLERS.get(event.name)
        if teller is not None:
            teller(self, event.details)

    # ---- rows and values -------------------------------------------------------------------------------------------

    def rows_of(self, tuples: Iterable[int]) -> list[int]:
        """Rows of some distinct tuples."""
        wanted = {int(t) for t in tuples}
        return [row for row, t in enumerate(self.tuple_of) if t in wanted]

    def rows(self, source: NDArray[Any]) -> list[int]:
        """The row each record is, from its distinct tuple: of equal rows the first goes to the first record."""
        waiting: dict[int, list[int]] = {}
        for row, t in enumerate(self.tuple_of):
            waiting.setdefault(t, []).append(row)
        return [waiting[t].pop(0) for t in np.asarray(source).tolist()]

    def shown(self, column: str, value: Value) -> Value:
        """A value as it is shown: sets by their items in order."""
        if not KINDS[self.lesson.column(column).kind].sets:
            return value
        items = self.lesson.meaning.items(column, [value]).sets()[0]
        return "; ".join(sorted(map(str, items))) or "(nothing)"

    def value(self, column: str, row: int) -> Value:
        """A value as it was before."""
        return self.original[row][self.names.index(column)]

    def column(self, column: str) -> list[Value]:
        """A column as it stands."""
        return [row[self.names.index(column)] for row in self.table]

    def put(self, column: str, rows: Iterable[int], values: Iterable[Value]) -> None:
        """Write values into a column of some rows."""
        j = self.names.index(column)
        for row, value in zip(rows, values, strict=True):
            self.table[row] = (*self.table[row][:j], value, *self.table[row][j + 1 :])

    # ---- steps -----------------------------------------------------------------------------------------------------

    def show(
        self,
        title: str,
        facts: Mapping[str, object],
        *,
        chosen: str | None = None,
        score: float | None = None,
        safe: bool | None = None,
    ) -> None:
        """Keep a step about groups: the table as it stands, with rows alike counted."""
        groups = alike(self.table)
        sizes = [groups.count(group) for group in set(groups)]
        alone = sum(size for size in sizes if size < self.k)
        counted = {"groups": len(sizes), "smallest group": min(sizes), f"rows in groups below {self.k}": alone}
        table, safe = tuple(self.table), alone == 0 if safe is None else safe
        self.steps.append(Step(title, as_text({**facts, **counted}), table, groups, self.k, chosen, score, safe))

    def remark(
        self,
        title: str,
        facts: Mapping[str, object],
        marks: Mapping[int, str] | Sequence[str],
        *,
        groups: Sequence[int] | None = None,
        chosen: str | None = None,
        score: float | None = None,
        safe: bool | None = None,
    ) -> None:
        """Keep a step about single rows: a remark on each; rows of one group are coloured alike."""
        rows = range(len(self.table))
        remarks = tuple(marks.get(row, "") for row in rows) if isinstance(marks, Mapping) else tuple(marks)
        apart = tuple(rows) if groups is None else tuple(groups)
        table = tuple(self.table)
        self.steps.append(Step(title, as_text(facts), table, apart, 2, chosen, score, safe, remarks))

    @property
    def groups(self) -> list[int]:
        """Group of each row; rows in none stand alone."""
        rows = len(self.table)
        return [self.group.get(row, rows + row) for row in range(rows)]


def dealt(story: Story, recoding: Recoding) -> tuple[list[Cell], list[bool]]:
    """What a recoding makes of each row, and which are suppressed.

    Records of equal rows are exchangeable: rows that the steps led to what one of them gets have it, the others take
    what is left.

    >>> from keepsense.lessons.lesson import example
    >>> from keepsense.recoding import Cuts
    >>> story = Story(example(), ("age",), 2)
    >>> table, hidden = dealt(story, Cuts((example().hierarchies["age"].cut(2),)))
    >>> table[0], any(hidden)
    (('under 40',), False)
    """
    if isinstance(recoding, Draws):
        raise InternalError("chances are not what became of rows")
    cells = recoding if isinstance(recoding, Cells) else recoding.cells(story.lesson.count(story.names))
    place = {name: cells.names.index(name) for name in story.names if name in cells.names}
    first = {t: row for row, t in reversed(list(enumerate(story.tuple_of)))}
    left: dict[int, list[tuple[Cell, bool]]] = {}
    for r, t in enumerate(cells.source.tolist()):
        row = list(story.original[first[t]])
        for name, j in place.items():
            row[story.names.index(name)] = story.shown(name, cells.values[j][cells.codes[r, j]])
        hidden = bool(cells.suppressed is not None and cells.suppressed[r])
        left.setdefault(t, []).extend([(tuple(row), hidden)] * int(cells.multiplicity[r]))
    outcome: dict[int, tuple[Cell, bool]] = {}
    for whatever in (False, True):
        for number, t in enumerate(story.tuple_of):
            fits = [i for i, (cell, _) in enumerate(left[t]) if whatever or cell == story.table[number]]
            if number not in outcome and fits:
                outcome[number] = left[t].pop(fits[0])
    pairs = [outcome[number] for number in range(len(story.tuple_of))]
    return [cell for cell, _ in pairs], [hidden for _, hidden in pairs]
