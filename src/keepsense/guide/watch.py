"""A watcher keeps the steps of an algorithm at work; those for single categories are in `steps` and `witness`."""

from __future__ import annotations

from collections.abc import Mapping

from keepsense.counts import Counts, Value
from keepsense.guide.iteration import Cell, Iteration, grouped, standing
from keepsense.guide.lesson import Lesson
from keepsense.hierarchies import Hierarchy
from keepsense.privacy import Model
from keepsense.progress import Event


class Watch:
    """Hears an algorithm's events and keeps its steps.

    >>> from keepsense.guide.lesson import example
    >>> Watch(example(), 2).before.title
    'The table before'
    """

    def __init__(self, lesson: Lesson, k: int) -> None:
        self.lesson, self.k = lesson, k
        self.iterations: list[Iteration] = []
        self.models: list[Model] = []
        self.before = self.snapshot("The table before", {}, self.at_level({}))

    @property
    def counts(self) -> Counts:
        """What the algorithm is run on."""
        return self.lesson.counts

    def hear(self, event: Event) -> None:
        """Take note of an event."""

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
        table: list[Cell],
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


def _level(hierarchy: Hierarchy, level: int) -> dict[Value, Value]:
    return dict(zip(hierarchy.leaves, hierarchy.cut(level).outputs, strict=True))
