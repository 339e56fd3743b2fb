"""Steps of the methods for sets: groups around the farthest set, items raised, groups split."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from keepsense.errors import BadInput
from keepsense.explain.iteration import Cell, Iteration, grouped, standing
from keepsense.explain.watch import Ending, Watch
from keepsense.progress import Event

JOINED = "; "


class SetWatch(Watch):
    """Steps of a method for one column of sets.

    >>> SetWatch.promise
    ''
    """

    promise = ""

    def start(self) -> Iteration:
        """The sets as they are."""
        if self.lesson.baskets is None:
            raise BadInput("the method is for a column of sets, and the table has none; name it with --column")
        self.sets = self.lesson.baskets.sets
        self.table = self._cells(self.sets.sets())
        return self._step("The table before", {}, [""] * self.lesson.rows)

    def _cells(self, sets: Sequence[Sequence[Any]]) -> list[Cell]:
        return [(JOINED.join(sorted(str(item) for item in items)) or "(nothing)",) for items in sets]

    def _step(
        self,
        title: str,
        facts: Mapping[str, object],
        marks: Sequence[str],
        groups: Sequence[int] | None = None,
        score: float | None = None,
        safe: bool | None = None,
    ) -> Iteration:
        own = grouped(self.table) if groups is None else tuple(groups)
        column = self.sets.column
        return Iteration(title, standing(facts), tuple(self.table), own, self.k, column, score, safe, tuple(marks))

    def _ended(self, records: Sequence[Sequence[Any]], safe: bool | None) -> Ending:
        table = tuple(self._cells(records))
        groups = grouped(table)
        sizes = [groups.count(g) for g in groups]
        facts = standing({"groups": len(set(groups)), "smallest group": min(sizes)})
        final = Iteration("The released table", facts, table, groups, self.k, safe=safe)
        return final, (False,) * len(table), self.promise


class SetGroupsWatch(SetWatch):
    """MDAV on sets: each group is released as one synthetic set.

    >>> SetGroupsWatch.options
    {'distance': 'average'}
    """

    options: ClassVar[Mapping[str, Any]] = {"distance": "average"}
    promise = "Every set is released like at least k - 1 others; it holds things near to a person's, not theirs."

    def run(self, method: Callable[..., Any], settings: Mapping[str, Any], rng: np.random.Generator) -> Any:
        """Find the concepts behind the items, then group."""
        from keepsense.methods.aggregate.concepts import map_sets

        assert self.lesson.baskets is not None
        self.heard: list[Mapping[str, Any]] = []
        mapped = map_sets(self.sets, self.lesson.baskets.taxonomy, senses="first")
        return method(mapped, self.lesson.baskets.measure, self.k, **settings, rng=rng, listener=self.hear)

    def hear(self, event: Event) -> None:
        """Groups are told once it is known which rows are in them."""
        if event.name == "group":
            self.heard.append(event.details)

    def end(self, result: Any) -> Ending:
        """Tell each group, then what stands for it."""
        group = result.group.tolist()
        which = result.sets.distinct[2].tolist()
        apart = len(group)
        for g, details in enumerate(self.heard):
            rows = [row for row in range(len(group)) if group[row] == g]
            seed = details["seed"]
            first = next((row for row in rows if which[row] == seed), None)
            title = f"Fewer than {2 * self.k} sets are left: they are the last group"
            if first is not None:
                far = details["far_from"]
                title = f"Row {first + 1} is farthest from {far}: group it with the {len(rows) - 1} nearest"
            marks = [
                "farthest" if row == first else f"group {group[row] + 1}" if group[row] <= g else ""
                for row in range(len(group))
            ]
            self.iterations.append(
                self._step(
                    title,
                    {"rows": len(rows), "distance of the last one taken": details["distance"]},
                    marks,
                    [x if x <= g else apart + row for row, x in enumerate(group)],
                    details["distance"],
                )
            )
        centre = result.centroids.tolist()
        self.table = self._cells(result.records())
        marks = [
            f"group {g + 1}" + (", its centroid" if which[row] == centre[g] else "") for row, g in enumerate(group)
        ]
        facts = {"groups": len(result.partition), "items shown by a more general name": result.labelled}
        self.iterations.append(self._step("Release for each group one set close to all of it", facts, marks, group))
        return self._ended(result.records(), None)


class AprioriWatch(SetWatch):
    """k^m-anonymity: rare combinations of items are mended by raising items, everywhere alike.

    >>> AprioriWatch.options
    {'m': 2}
    """

    options: ClassVar[Mapping[str, Any]] = {"m": 2}
    promise = "Whoever knows up to m items of somebody finds at least k rows that hold them."

    def run(self, method: Callable[..., Any], settings: Mapping[str, Any], rng: np.random.Generator) -> Any:
        """Items need a hierarchy."""
        assert self.lesson.baskets is not None
        tree = self.lesson.baskets.hierarchy
        self.leaf = {value: i for i, value in enumerate(tree.leaves)}
        return method(self.sets, tree, k=self.k, **settings, listener=self.hear)

    def hear(self, event: Event) -> None:
        """A rare combination was mended."""
        if event.name != "mended":
            return
        details = event.details
        tree, node = details["tree"], details["node"].copy()
        rare = " and ".join(str(tree.labels[n]) for n in sorted(details["items"]))
        up = ", ".join(str(tree.labels[n]) for n in details["raised"] if n not in details["items"])
        kept = [str(tree.labels[n]) for n in details["raised"] if n in details["items"]]
        last = self.table
        items = [sorted({str(tree.labels[node[self.leaf[i]]]) for i in own}) for own in self.sets.sets()]
        self.table = self._cells(items)
        facts = {
            "rows that hold it": details["shared"],
            "cost": float(details["cost"]),
            "left as it is": ", ".join(kept) or None,
        }
        marks = ["" if a == b else "changed" for a, b in zip(last, self.table, strict=True)]
        self.iterations.append(
            self._step(f"{rare}: too few. Raise to {up}", facts, marks, score=float(details["cost"]))
        )

    def end(self, result: Any) -> Ending:
        """The sets as they are released."""
        return self._ended(result.records(), None)


class SplitWatch(SetWatch):
    """Top-down sets: everything begins as one group at the root, and groups are split where most detail is won.

    >>> SplitWatch.promise
    'Every set is released like at least k - 1 others.'
    """

    promise = "Every set is released like at least k - 1 others."

    def run(self, method: Callable[..., Any], settings: Mapping[str, Any], rng: np.random.Generator) -> Any:
        """Start with every set at the root."""
        assert self.lesson.baskets is not None
        tree = self.lesson.baskets.hierarchy
        top = str(tree.labels[-1][0])
        self.table = [(top,)] * self.lesson.rows
        self.group = [0] * self.lesson.rows
        self.iterations.append(
            self._step("Put all sets into one group, at the root", {}, [""] * self.lesson.rows, safe=True)
        )
        return method(self.sets, tree, k=self.k, listener=self.hear)

    def hear(self, event: Event) -> None:
        """A group was split at a node."""
        if event.name != "split":
            return
        details = event.details
        tree, node, rows = details["tree"], details["node"], details["rows"]
        touched = set(details["records"].tolist())
        for part in details["parts"]:
            number = max(self.group) + 1
            for r in part.records.tolist():
                self.group[r] = number
        self.table = [
            (JOINED.join(sorted({str(tree.labels[n]) for n in node[rows.starts[r] : rows.starts[r + 1]]})),)
            for r in range(self.lesson.rows)
        ]
        win = float(np.max(details["win"]))
        numbers = sorted(set(self.group))
        marks = [
            f"group {numbers.index(g) + 1}" + (", split" if r in touched else "") for r, g in enumerate(self.group)
        ]
        parts = " and ".join(str(len(p.records)) for p in details["parts"])
        facts = {"parts": f"{parts} rows", "stay as they were": details["stay"] or None, "won by an item": win}
        self.iterations.append(
            self._step(
                f"Open {tree.labels[details['chosen']]} for a group of {len(touched)}",
                facts,
                marks,
                [numbers.index(g) for g in self.group],
                win,
                True,
            )
        )

    def end(self, result: Any) -> Ending:
        """The sets as they are released."""
        final, hidden, told = self._ended(result.records(), None)
        sizes = [final.groups.count(g) for g in final.groups]
        return (
            Iteration(final.title, final.facts, final.table, final.groups, self.k, safe=min(sizes) >= self.k),
            hidden,
            told,
        )
