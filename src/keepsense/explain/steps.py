"""Watchers: each turns what a category of algorithms tells while it works into steps people can follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from keepsense.counts import Value
from keepsense.explain.group_steps import CloseWatch, GroupWatch, RankingWatch
from keepsense.explain.iteration import Cell, Iteration
from keepsense.explain.lesson import Lesson
from keepsense.explain.noise_steps import (
    CorrelatedWatch,
    DrawnWatch,
    MeaningWatch,
    MovedWatch,
    NumberNoiseWatch,
    ResponseWatch,
)
from keepsense.explain.set_steps import AprioriWatch, SetGroupsWatch, SplitWatch
from keepsense.explain.swap_steps import ClusterWatch, NumberSwapWatch, PermutedWatch, RankedWatch
from keepsense.explain.watch import Watch
from keepsense.explain.witness import common, watch_groups, watch_settling, watch_suppression
from keepsense.progress import Event

_UNSEEN = "·"
"""What stands in a column that a search has not looked at yet."""
_NO_HELP = -100.0
"""Scores below are no bits: they put steps that do not help the smallest group after all others."""


class TableWatch(Watch):
    """Steps of table recoding by whole levels: Datafly and µ-Argus.

    >>> from keepsense.explain.trace import explain
    >>> explain("datafly").iterations[0].title
    'Raise age to level 1'
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


class MeaningTableWatch(TableWatch):
    """Steps of semantic Datafly: its score is the meaning that the step loses, less being better.

    >>> MeaningTableWatch.score_name
    'score (minus the meaning lost)'
    """

    score_name = "score (minus the meaning lost)"


class ArgusWatch(TableWatch):
    """Steps of µ-Argus: its score is the number of rows that would still lose cells.

    >>> ArgusWatch.score_name
    'rows that would lose cells before'
    """

    score_name = "rows that would lose cells before"


class BranchWatch(Watch):
    """Steps of table recoding by branches: bottom-up and top-down.

    >>> from keepsense.explain.trace import explain
    >>> explain("bottom-up").iterations[0].title
    'Merge 23 and 27 in age into 20-29'
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

    >>> from keepsense.explain.trace import explain
    >>> explain("incognito").iterations[0].title
    'Check age at level 0'
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


class AnytimeWatch(LatticeWatch):
    """Finds of the anytime search: better choices of levels, and what no choice can be below.

    >>> AnytimeWatch.options
    {'time_limit': 300.0}
    """

    # small tables are done at once; on a machine that never ran it, compiling takes some of the time
    options: ClassVar[Mapping[str, Any]] = {"time_limit": 300.0}

    def hear(self, event: Event) -> None:
        """A better node, or a higher bound, was found."""
        if event.name == "chosen":
            super().hear(event)
        if event.name not in ("better", "bound"):
            return
        levels = dict(zip(self.lesson.quasi_identifiers, event.details["node"], strict=True))
        loss, bound = float(event.details["loss"]), float(event.details["bound"])
        told = ", ".join(f"{name} at level {level}" for name, level in levels.items())
        title = f"Found something better: {told}"
        if event.name == "bound":
            title = f"No choice of levels can lose less than {bound:.4g}"
        facts = {"loss of the best so far": loss, "no choice loses less than": bound}
        self.iterations.append(self.snapshot(title, facts, self.at_level(levels), score=loss, safe=True))


class GreedyWatch(Watch):
    """Steps of greedy cell recoding: groups as they are grown, then what joins and moves.

    >>> from keepsense.explain.trace import explain
    >>> explain("cell greedy").iterations[0].title
    'Grow a group of 2: below 40 / apprenticeship'
    """

    def __init__(self, lesson: Lesson, k: int) -> None:
        super().__init__(lesson, k)
        self.grown = 0
        self.owner: list[int] = [-1] * len(lesson.counts)

    def hear(self, event: Event) -> None:
        """Classes were grown, two were merged, or members moved."""
        if event.name == "block":
            final = event.details["owner"].tolist()
            for number in range(self.grown, int(event.details["classes"])):
                self.owner = [o if o <= number else -1 for o in final]
                members = [t for t, o in enumerate(self.owner) if o == number]
                rows = int(self.lesson.counts.weights[members].sum())
                self._keep(f"Grow a group of {rows}: {self._label(members)}")
            self.grown = int(event.details["classes"])
        elif event.name == "merge":
            merged = [t for t, o in enumerate(self.owner) if o == event.details["merged"]] or [
                t for t, o in enumerate(event.details["owner"].tolist()) if self.owner[t] == -1 and o >= 0
            ]
            self.owner = event.details["owner"].tolist()
            into = [t for t, o in enumerate(self.owner) if o == event.details["into"]]
            self._keep(f"Too small: {self._label(merged)} joins the group that loses least: {self._label(into)}")
        elif event.name == "round" and event.details["changed"]:
            self.owner = event.details["owner"].tolist()
            self._keep(f"Improve: {event.details['changed']} change(s) that lower the loss")

    def _label(self, members: list[int]) -> str:
        return " / ".join(str(value) for value in common(self.lesson, members))

    def _keep(self, title: str) -> None:
        groups: dict[int, list[int]] = {}
        for t, o in enumerate(self.owner):
            groups.setdefault(o, []).append(t)
        made = {t: common(self.lesson, members) for o, members in groups.items() if o >= 0 for t in members}
        plain = self.before.table
        table = [made.get(t, plain[i]) for i, t in enumerate(self.lesson.tuple_of)]
        waiting = sum(self.owner[t] < 0 for t in self.lesson.tuple_of)
        self.iterations.append(self.snapshot(title, {"rows that still wait": waiting}, table))


Maker = Callable[[Lesson, int], Watch]

SHOWN: dict[str, Maker] = {
    "datafly": TableWatch,
    "semantic datafly": MeaningTableWatch,
    "mu-argus": ArgusWatch,
    "bottom-up": BranchWatch,
    "top-down": BranchWatch,
    "samarati": LatticeWatch,
    "incognito": LatticeWatch,
    "semantic incognito": LatticeWatch,
    "optimal": LatticeWatch,
    "anytime": AnytimeWatch,
    "mondrian": watch_groups("widest"),
    "infogain mondrian": watch_groups("information"),
    "lsd mondrian": watch_groups("deviation"),
    "semantic mondrian": watch_groups("meaning"),
    "local recoding": watch_settling,
    "cell greedy": GreedyWatch,
    "local suppression": watch_suppression,
    "rank swapping by one ranking": RankedWatch,
    "rank swapping": ClusterWatch,
    "rank swapping of tuples": ClusterWatch,
    "strict rank swapping": PermutedWatch,
    "rank swapping of numbers": NumberSwapWatch,
    "noise": MovedWatch,
    "correlated noise": CorrelatedWatch,
    "noise on numbers": NumberNoiseWatch,
    "post-randomization": DrawnWatch,
    "randomized response": ResponseWatch,
    "semantic exponential mechanism": MeaningWatch,
    "microaggregation of records": GroupWatch,
    "adaptive microaggregation": GroupWatch,
    "t-close microaggregation": CloseWatch,
    "individual ranking": RankingWatch,
    "microaggregation of sets": SetGroupsWatch,
    "apriori sets": AprioriWatch,
    "top-down sets": SplitWatch,
}
"""Methods whose steps can be shown, and who watches them."""
