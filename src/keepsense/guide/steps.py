"""Watchers: each turns what a category of algorithms tells while it works into steps people can follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from keepsense.counts import Value
from keepsense.guide.iteration import Cell, Iteration
from keepsense.guide.lesson import Lesson
from keepsense.guide.watch import Watch
from keepsense.guide.witness import watch_groups, watch_settling
from keepsense.progress import Event

_UNSEEN = "·"
"""What stands in a column that a search has not looked at yet."""
_NO_HELP = -100.0
"""Scores below are no bits: they put steps that do not help the smallest group after all others."""


class TableWatch(Watch):
    """Steps of table recoding by whole levels: Datafly and µ-Argus.

    >>> TableWatch.__name__
    'TableWatch'
    """

    score_name = "score"

    def hear(self, event: Event) -> None:
        """A step raises one column by one level."""
        if event.name != "step":
            return
        details = event.details
        column, levels = str(details["column"]), details["levels"]
        last = self.iterations[-1] if self.iterations else self.before
        facts = {"different values before": self._distinct(last), self.score_name: float(details["score"])}
        self.iterations.append(
            self.snapshot(
                f"Raise {column} to level {levels[column]}",
                facts,
                self.at_level(levels),
                chosen=column,
                score=float(details["score"]),
            )
        )

    def _distinct(self, last: Iteration) -> str:
        names = self.lesson.quasi_identifiers
        counted = (len({row[j] for row in last.table}) for j in range(len(names)))
        return ", ".join(f"{name} {n}" for name, n in zip(names, counted, strict=True))


class ArgusWatch(TableWatch):
    """Steps of µ-Argus: its score is the number of rows that would still lose cells.

    >>> ArgusWatch.score_name
    'rows that would lose cells before'
    """

    score_name = "rows that would lose cells before"


class BranchWatch(Watch):
    """Steps of table recoding by branches: bottom-up and top-down.

    >>> BranchWatch.__name__
    'BranchWatch'
    """

    def __init__(self, lesson: Lesson, k: int) -> None:
        super().__init__(lesson, k)
        self.down = False
        self.at: dict[str, dict[Value, int]] = {}

    def hear(self, event: Event) -> None:
        """A step merges the values of a branch (up), or opens one (down)."""
        details = event.details
        if event.name == "start":
            self.down = details["direction"] == "down"
            trees = {name: self.lesson.hierarchies[name] for name in self.lesson.quasi_identifiers}
            top = {name: tree.height if self.down else 0 for name, tree in trees.items()}
            self.at = {n: dict.fromkeys(self.lesson.columns[n], top[n]) for n in trees}
            if self.down:
                for name, at in self.at.items():
                    self.at[name] = {v: self._lowest(name, v, list(at), level) for v, level in at.items()}
                text = "Start with everything at its most general"
                self.iterations.append(self.snapshot(text, {}, self._table()))
        elif event.name == "step":
            column, label = str(details["column"]), details["candidate"]
            parts = self._open(column, label) if self.down else self._close(column, label)
            title = f"Open {label} in {column}: {parts}" if self.down else f"Merge {parts} in {column} into {label}"
            score: float | None = float(details["score"])
            facts: dict[str, object] = {"score": score}
            if score is not None and score <= _NO_HELP:
                score, facts = None, {"score": "no step helps the smallest group yet; this one loses least"}
            self.iterations.append(self.snapshot(title, facts, self._table(), chosen=column, score=score))

    def _table(self) -> list[Cell]:
        names = self.lesson.quasi_identifiers
        rows = zip(*(self.lesson.columns[name] for name in names), strict=True)
        return [tuple(self._label(n, v) for n, v in zip(names, row, strict=True)) for row in rows]

    def _label(self, name: str, value: Value, level: int | None = None) -> Value:
        tree = self.lesson.hierarchies[name]
        here = self.at[name][value] if level is None else level
        return tree.labels[here][int(tree.codes[int(tree.lookup([value])[0]), here])]

    def _under(self, name: str, label: Value) -> list[Value]:
        """Values of the column that stand at a label (down), or have it above them (up)."""
        if self.down:
            return [value for value in self.at[name] if self._label(name, value) == label]
        height = self.lesson.hierarchies[name].height
        return [
            value
            for value, here in self.at[name].items()
            if any(self._label(name, value, level) == label for level in range(here, height + 1))
        ]

    def _close(self, name: str, label: Value) -> str:
        members = self._under(name, label)
        height = self.lesson.hierarchies[name].height
        was = sorted({str(self._label(name, value)) for value in members})
        for value in members:
            low = self.at[name][value]
            self.at[name][value] = next(i for i in range(low, height + 1) if self._label(name, value, i) == label)
        return _listed(was)

    def _open(self, name: str, label: Value) -> str:
        members = self._under(name, label)
        for value in members:
            self.at[name][value] = self._below(name, value, members)
        return _listed(sorted({str(self._label(name, value)) for value in members}))

    def _below(self, name: str, value: Value, members: list[Value]) -> int:
        """The next level down that tells the value from others; levels that tell nothing apart are passed over."""
        level = self.at[name][value]
        while level > 0 and self._mates(name, value, members, level) == set(members):
            level -= 1
        return self._lowest(name, value, members, level)

    def _lowest(self, name: str, value: Value, members: list[Value], level: int) -> int:
        """The lowest level at which a value still stands together with the same others."""
        mates = self._mates(name, value, members, level)
        while level > 0 and self._mates(name, value, members, level - 1) == mates:
            level -= 1
        return level

    def _mates(self, name: str, value: Value, members: list[Value], level: int) -> set[Value]:
        return {v for v in members if self._label(name, v, level) == self._label(name, value, level)}


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


class LatticeWatch(Watch):
    """Checks of lattice recoding: a choice of levels, and whether it is safe.

    >>> LatticeWatch.__name__
    'LatticeWatch'
    """

    def hear(self, event: Event) -> None:
        """A node was judged, or chosen at the end."""
        details = event.details
        if event.name not in ("node", "chosen"):
            return
        names = self.lesson.quasi_identifiers
        node = details["node"]
        levels: dict[str, int] = dict(node) if isinstance(node, Mapping) else dict(zip(names, node, strict=True))
        looked = [name for name in names if name in levels]
        if not looked:
            return
        told = ", ".join(f"{name} at level {levels[name]}" for name in looked)
        table = [
            tuple(value if name in levels else _UNSEEN for name, value in zip(names, row, strict=True))
            for row in self.at_level(levels)
        ]
        if event.name == "chosen":
            title, safe = f"Choose {told}", True
        else:
            safe = bool(details["holds"])
            title = f"Check {told}"
        loss = details.get("loss")
        facts = {"loss": None if loss is None else float(loss)}
        score = None if loss is None else float(loss)
        if not self.iterations or self.iterations[-1].title != title:  # what was judged before is not judged again
            self.iterations.append(self.snapshot(title, facts, table, score=score, safe=safe))


Maker = Callable[[Lesson, int], Watch]

SHOWN: dict[str, Maker] = {
    "datafly": TableWatch,
    "mu-argus": ArgusWatch,
    "bottom-up": BranchWatch,
    "top-down": BranchWatch,
    "samarati": LatticeWatch,
    "incognito": LatticeWatch,
    "optimal": LatticeWatch,
    "mondrian": watch_groups("widest"),
    "infogain mondrian": watch_groups("information"),
    "lsd mondrian": watch_groups("deviation"),
    "semantic mondrian": watch_groups("meaning"),
    "local recoding": watch_settling,
}
"""Algorithms whose steps can be shown, and who watches them."""
