"""Steps of microaggregation: the row farthest out, the group around it, and the centre that stands for all of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.explain.iteration import Iteration
from keepsense.explain.record_watch import RecordWatch
from keepsense.explain.watch import Ending
from keepsense.methods.aggregate.records import own_order
from keepsense.progress import Event
from keepsense.recoding import Cells


class GroupWatch(RecordWatch):
    """MDAV and its adaptive form: groups of near records, released as their centre.

    >>> GroupWatch.promise
    'Every row is released like at least k - 1 others.'
    """

    promise = "Every row is released like at least k - 1 others."

    def __init__(self, lesson: Any, k: int) -> None:
        super().__init__(lesson, k)
        self.group: dict[int, int] = {}
        self.waiting: dict[int, list[int]] = {}
        for row, t in enumerate(lesson.tuple_of):
            self.waiting.setdefault(t, []).append(row)

    def run(self, method: Callable[..., Any], settings: Mapping[str, Any], rng: np.random.Generator) -> Any:
        """Microaggregation draws nothing."""
        return method(self.counts, self.attributes, self.k, **settings, listener=self.hear)

    @property
    def order(self) -> list[int]:
        """Distinct tuple of each record as the method numbers them."""
        found: list[int] = own_order(self.counts, [a.name for a in self.attributes]).tolist()
        return found

    def hear(self, event: Event) -> None:
        """A group was made, or a leftover joined one."""
        if event.name == "group":
            self._grouped(event.details)
        elif event.name == "joined":
            row = self._take(self.order[int(event.details["record"])], 1)
            group = int(event.details["group"])
            while row:
                self.group[row[0]] = group
                self._keep(
                    f"Row {row[0] + 1} is left over: it joins group {group + 1}, the nearest", row, event.details
                )
                row = self._take(self.order[int(event.details["record"])], 1)

    def _take(self, t: int, copies: int) -> list[int]:
        rows, self.waiting[t] = self.waiting[t][:copies], self.waiting[t][copies:]
        return rows

    def _grouped(self, details: Mapping[str, Any]) -> None:
        number = len(set(self.group.values()))
        rows: list[int] = []
        order, seed = self.order, details["seed"]
        for record, copies in zip(np.asarray(details["records"]).tolist(), details["copies"], strict=True):
            taken = self._take(order[record], int(copies))
            rows = taken + rows if record == seed else rows + taken
        self.group |= dict.fromkeys(rows, number)
        if seed is None:
            title = f"Fewer than {2 * self.k} rows are left: they are the last group"
        else:
            title = (
                f"Row {rows[0] + 1} is farthest from {details['far_from']}: group it with the {len(rows) - 1} nearest"
            )
        self._keep(title, rows, details)

    def _keep(self, title: str, rows: list[int], details: Mapping[str, Any]) -> None:
        seed = details.get("seed") is not None
        marks = []
        for row in range(self.lesson.rows):
            mark = "" if row not in self.group else f"group {self.group[row] + 1}"
            mark += ", farthest" if seed and row == rows[0] else ", new" if row in rows else ""
            marks.append(mark)
        score = details.get("distance")
        facts = {
            "rows": len(rows),
            "distance of the last one taken": score,
            "rows left": self.lesson.rows - len(self.group),
        }
        self.keep(title, facts, marks, groups=self._groups(), score=score)

    def _groups(self) -> list[int]:
        return [self.group.get(row, self.lesson.rows + row) for row in range(self.lesson.rows)]

    def end(self, result: Cells) -> Ending:
        """Every group is replaced by its centre."""
        final, hidden, told = super().end(result)
        self.table = list(final.table)
        groups = tuple(self._final_groups(final))
        centre = Iteration(
            "Replace every row by the centre of its group",
            (("groups", str(len(set(groups)))), ("squared error", f"{float(result.info['squared error']):.4g}")),
            final.table,
            groups,
            2,
            score=float(result.info["squared error"]),
            marks=tuple(f"group {sorted(set(groups)).index(g) + 1}" for g in groups),
        )
        self.iterations.append(centre)
        sizes = [groups.count(g) for g in groups]
        facts = (("groups", str(len(set(groups)))), ("smallest group", str(min(sizes))))
        return Iteration("The released table", facts, final.table, groups, 2, safe=min(sizes) >= self.k), hidden, told

    def _final_groups(self, final: Iteration) -> list[int]:
        return self._groups()


class CloseWatch(GroupWatch):
    """Microaggregation with t-closeness: groups are exchanged or merged until their sensitive values mirror the table.

    >>> CloseWatch.options
    {'t': 0.3, 'how': 'swap'}
    """

    options: ClassVar[Mapping[str, Any]] = {"t": 0.3, "how": "swap"}
    promise = "Every row is released like k - 1 others, and each group is as close to the whole table as t says."

    @property
    def sensitive(self) -> str:
        """The column that is to be protected: the sensitive one, else what is to be predicted."""
        found = self.lesson.sensitive or self.lesson.category or self.lesson.amount
        if found is None:
            raise BadInput("the method looks at a sensitive column; name it with --target")
        return found

    @property
    def counts(self) -> Counts:
        """The sensitive column is counted along, as a column."""
        own = {name: self.lesson.columns[name] for name in (*self.lesson.quasi_identifiers, self.sensitive)}
        return Counts.of(own)

    def run(self, method: Callable[..., Any], settings: Mapping[str, Any], rng: np.random.Generator) -> Any:
        """Which group a row joins depends on its sensitive value."""
        self.waiting = {}
        for row, t in enumerate(self.tuple_of):
            self.waiting.setdefault(t, []).append(row)
        counts, options = self.counts, dict(settings)
        close = float(options.pop("t"))
        columns = self.lesson.meant(counts, self.lesson.quasi_identifiers)
        return method(counts, columns, self.k, close, self.sensitive, **options, listener=self.hear)

    @property
    def tuple_of(self) -> list[int]:
        """Rows that differ in the sensitive value alone are different records here."""
        place: dict[Any, int] = {}
        names = (*self.lesson.quasi_identifiers, self.sensitive)
        rows = zip(*(self.lesson.columns[name] for name in names), strict=True)
        return [place.setdefault(row, len(place)) for row in rows]

    @property
    def order(self) -> list[int]:
        """The sensitive column breaks ties in the order, too."""
        names = [*(a.name for a in self.attributes), self.sensitive]
        found: list[int] = own_order(self.counts, names).tolist()
        return found

    def hear(self, event: Event) -> None:
        """Groups that are not close enough are merged with the nearest."""
        super().hear(event)
        if event.name == "merged":
            gone, into = int(event.details["group"]), int(event.details["into"])
            rows = [row for row, g in self.group.items() if g == gone]
            self.group |= dict.fromkeys(rows, into)
            self._keep(f"Group {gone + 1} is not close to the table: merge it with group {into + 1}", rows, {})


class RankingWatch(RecordWatch):
    """Individual ranking: each column sorted and grouped by itself.

    >>> RankingWatch.promise[:18]
    'Each column by its'
    """

    promise = "Each column by itself is shared by k rows; several together may still single people out."

    def run(self, method: Callable[..., Any], settings: Mapping[str, Any], rng: np.random.Generator) -> Any:
        """Sorting draws nothing."""
        return method(self.counts, self.attributes, self.k, listener=self.hear)

    def hear(self, event: Event) -> None:
        """A column was sorted, cut into groups of k neighbours, and replaced by their centres."""
        if event.name != "column":
            return
        details, column = event.details, str(event.details["column"])
        parts = details["partition"]
        by_tuple = np.lexsort((parts.group, parts.record))
        rows = self.rows(np.repeat(parts.record[by_tuple], parts.copies[by_tuple])).tolist()
        group = dict(zip(rows, np.repeat(parts.group[by_tuple], parts.copies[by_tuple]).tolist(), strict=True))
        every = range(self.lesson.rows)
        told = [f"group {group[row] + 1} of {column}" for row in every]
        groups = [group[row] for row in every]
        self.keep(
            f"Sort {column} and group {self.k} neighbours",
            {"groups": len(set(groups))},
            told,
            groups=groups,
            chosen=column,
        )
        centre = {g: details["values"][int(details["codes"][g])] for g in set(groups)}
        self.put(column, list(every), [centre[group[row]] for row in every])
        self.keep(f"Replace {column} by the centre of each group", {}, told, groups=groups, chosen=column)
