"""A watcher keeps the steps of a method at work; those for single families are in `steps`, `witness` and `*_steps`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from keepsense.counts import Counts, Value
from keepsense.errors import BadInput, did_you_mean
from keepsense.explain.iteration import Cell, Iteration, grouped, standing
from keepsense.explain.lesson import Lesson
from keepsense.hierarchies import Hierarchy
from keepsense.privacy import KAnonymity, Model
from keepsense.progress import Event

Ending = tuple[Iteration, tuple[bool, ...], str]
"""The released table, which rows are suppressed, and what the release promises, in a sentence."""


class Watch:
    """Runs a method on a small table, hears its events and keeps its steps.

    `options` are the settings besides k that may be changed, with what they are by default.

    >>> from keepsense.explain.lesson import example
    >>> Watch(example(), 2).before.title
    'The table before'
    """

    options: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, lesson: Lesson, k: int) -> None:
        self.lesson, self.k = lesson, k
        self.iterations: list[Iteration] = []
        self.models: list[Model] = []
        self.before = self.start()

    def start(self) -> Iteration:
        """The table before."""
        return self.snapshot("The table before", {}, self.at_level({}))

    @property
    def counts(self) -> Counts:
        """What the method is run on."""
        return self.lesson.counts

    @property
    def target(self) -> str | None:
        """The column that the release is to predict."""
        return self.lesson.category

    def hear(self, event: Event) -> None:
        """Take note of an event."""

    # ---- running ---------------------------------------------------------------------------------------------------

    def set(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The settings, those given in place of what they are by default; unknown ones are refused."""
        for name in given:
            if name not in self.options:
                known = ", ".join(self.options) or "none besides k"
                hint = did_you_mean(name, list(self.options))
                raise BadInput(f"the steps have no setting {name!r}; there are: {known}.{hint}")
        return {**self.options, **given}

    def run(self, method: Callable[..., Any], settings: Mapping[str, Any], rng: np.random.Generator) -> Any:
        """Call the method itself with what it takes of what there is."""
        takes = inspect.signature(method).parameters
        offered = {
            "models": [KAnonymity(self.k), *self.models],
            "numbers": self.lesson.numbers,
            "listener": self.hear,
            "target": self.target,
            "distances": self.lesson.distances,
            "rng": rng,
            **settings,
        }
        given = {name: value for name, value in offered.items() if name in takes and value is not None}
        return method(self.counts, self.lesson.hierarchies, **given)

    def end(self, result: Any) -> Ending:
        """The table as it is released."""
        final, hidden = released(self.lesson, result, self.k)
        if final.safe:
            return final, hidden, f"Every group that is released has at least {self.k} rows."
        if all(hidden):
            return final, hidden, "Every row had to be suppressed."
        return final, hidden, "The release is not k-anonymous over all columns together."

    # ---- tables ----------------------------------------------------------------------------------------------------

    def at_level(self, levels: Mapping[str, int]) -> list[Cell]:
        """The table with each column at a level; what is not named stays as it is."""
        rules = {name: _level(self.lesson.hierarchies[name], level) for name, level in levels.items() if level}
        names = self.lesson.quasi_identifiers
        rows = zip(*(self.lesson.columns[name] for name in names), strict=True)
        return [tuple(rules[n][v] if n in rules else v for n, v in zip(names, row, strict=True)) for row in rows]

    def snapshot(
        self,
        title: str,
        facts: Mapping[str, object],
        table: Sequence[Cell],
        *,
        chosen: str | None = None,
        score: float | None = None,
        safe: bool | None = None,
    ) -> Iteration:
        """The table as it stands, with its groups counted."""
        groups = grouped(table)
        sizes = [groups.count(g) for g in set(groups)]
        alone = sum(size for size in sizes if size < self.k)
        told = {**facts, "groups": len(sizes), "smallest group": min(sizes), f"rows in groups below {self.k}": alone}
        return Iteration(
            title, standing(told), tuple(table), groups, self.k, chosen, score, alone == 0 if safe is None else safe
        )


def released(lesson: Lesson, recoding: Any, k: int) -> tuple[Iteration, tuple[bool, ...]]:
    """The table as a generalization releases it, and which rows are suppressed.

    >>> from keepsense.explain.lesson import example
    >>> from keepsense.recoding import Cuts
    >>> levels = {"age": 2, "education": 2}
    >>> rule = Cuts(tuple(example().hierarchies[name].cut(level) for name, level in levels.items()))
    >>> table, hidden = released(example(), rule, 2)
    >>> table.table[0], table.safe, any(hidden)
    (('below 40', '*'), True, False)
    """
    cells = recoding.cells(lesson.counts)
    by_tuple: dict[int, tuple[Cell, bool]] = {}
    for r, source in enumerate(cells.source.tolist()):
        row = tuple(cells.values[j][c] for j, c in enumerate(cells.codes[r].tolist()))
        by_tuple[source] = row, bool(cells.suppressed is not None and cells.suppressed[r])
    table = [by_tuple[t][0] for t in lesson.tuple_of]
    hidden = tuple(by_tuple[t][1] for t in lesson.tuple_of)
    groups = grouped(table)
    kept = [groups.count(g) for g, gone in zip(groups, hidden, strict=True) if not gone]
    facts = [("groups", str(len({g for g, gone in zip(groups, hidden, strict=True) if not gone})))]
    facts.append(("smallest group", str(min(kept)) if kept else "none"))
    facts.append(("suppressed", str(sum(hidden))))
    safe = bool(kept) and min(kept) >= k
    return Iteration("The released table", tuple(facts), tuple(table), groups, k, safe=safe), hidden


def _level(hierarchy: Hierarchy, level: int) -> dict[Value, Value]:
    return dict(zip(hierarchy.leaves, hierarchy.cut(level).outputs, strict=True))
