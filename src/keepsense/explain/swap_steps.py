"""Steps of swapping: the order of the values, the cluster around each reference, and who changes places with whom."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from keepsense.explain.record_watch import RecordWatch
from keepsense.methods.perturb.records import records_of
from keepsense.progress import Event
from keepsense.semantics.attribute import Ordered

_KEPT = "Every column keeps its values, each as often as before; nothing is promised about single records."


class RankedWatch(RecordWatch):
    """Swapping by one order of the rows: SRS-1, and rank swapping of numbers.

    >>> RankedWatch.promise[:12]
    'Every column'
    """

    promise = _KEPT

    def hear(self, event: Event) -> None:
        """A column was ranked and swapped."""
        if event.name != "column":
            return
        column = str(event.details["column"])
        attribute = self.attribute(column)
        row_of = self.rows(records_of(self.counts))[event.details["ranked"]].tolist()
        reference = event.details.get("reference")
        ranks = {row: i for i, row in enumerate(row_of)}
        far = attribute.row(int(reference)) if reference is not None else None
        code = {value: i for i, value in enumerate(attribute.values)}

        def marks(extra: dict[int, str]) -> list[str]:
            told = []
            for row in range(self.lesson.rows):
                away = "" if far is None else f", {far[code[self.value(column, row)]]:.2f} away"
                told.append(f"rank {ranks[row] + 1}{away}{extra.get(row, '')}")
            return told

        start = attribute.values[int(reference)] if reference is not None else None
        title = f"Rank {column} from low to high"
        if start is not None:
            title = f"Rank {column} by distance from {start}, the value farthest from all others"
        self.keep(title, {"k": self.k}, marks({}), chosen=column)
        partners = event.details["partners"].tolist()
        for i, j in enumerate(partners):
            if i >= j:
                continue
            one, other = row_of[i], row_of[j]
            a, b = self.value(column, one), self.value(column, other)
            distance = float(attribute.row(code[a])[code[b]])
            self.put(column, [one, other], [b, a])
            self.keep(
                f"Ranks {i + 1} and {j + 1} of {column} change places: {a} and {b}",
                {"distance": distance},
                marks({one: ", swapped", other: ", swapped"}),
                groups=_pair(self.lesson.rows, [one, other]),
                chosen=column,
                score=distance,
            )
        alone = [row_of[i] for i, j in enumerate(partners) if i == j]
        if alone:
            told = dict.fromkeys(alone, ", stays")
            self.keep(
                f"Nobody is left for {len(alone)} row(s) of {column}: they stay as they are", {}, marks(told),
                chosen=column,
            )  # fmt: skip


def _pair(rows: int, together: list[int]) -> list[int]:
    """Groups in which some rows are one and all others stand alone."""
    return [together[0] if row in together else row for row in range(rows)]


class ClusterWatch(RecordWatch):
    """Swapping inside clusters around references at opposite ends: SRS-2 column by column, SRS-3 by tuples.

    >>> ClusterWatch.promise == RankedWatch.promise
    True
    """

    promise = _KEPT

    def __init__(self, lesson: Any, k: int) -> None:
        super().__init__(lesson, k)
        self.heard: list[tuple[int, NDArray[Any], NDArray[np.bool_]]] = []
        self.free: NDArray[np.bool_] | None = None

    def hear(self, event: Event) -> None:
        """A reference was swapped; at the end of a column, records can be told apart as rows."""
        field = event.details.get("field")
        if event.name == "reference" and field is not None:
            free = field.free()
            was = np.ones_like(free) if self.free is None else self.free
            record = int(event.details["record"])
            self.heard.append((record, field.cluster(record), was & ~free))
            self.free = free
        elif event.name == "dealt" and field is not None:
            column = event.details["column"]
            if column is None:
                self._tell([a.name for a in self.attributes], self.rows(field.source()))
            else:
                self._tell([str(column)], self._dealt(str(column), field, event.details["released"]))
            self.heard, self.free = [], None

    def _dealt(self, column: str, field: Any, released: NDArray[Any]) -> NDArray[np.int64]:
        """The row of each of the column's records: any whose value was, and became, the same."""
        source = records_of(self.counts)
        rows = self.rows(source)
        mine = defaultdict(list)
        pairs = zip(self.counts.column(column)[source].tolist(), released.tolist(), rows.tolist(), strict=True)
        for before, after, row in pairs:
            mine[before, after].append(row)
        theirs = zip(field.source().tolist(), field.released()[:, 0].tolist(), strict=True)
        return np.array([mine[pair].pop() for pair in theirs])

    def _tell(self, columns: list[str], rows: NDArray[np.int64]) -> None:
        done: set[int] = set()
        for number, (record, cluster, changed) in enumerate(self.heard):
            reference = int(rows[record])
            near = {int(rows[r]) for r in cluster}
            swapped: dict[int, str] = {}
            told, moves = [], []
            for j, column in enumerate(columns):
                who = [int(rows[r]) for r in np.flatnonzero(changed[:, j]) if r != record]
                if not changed[record, j]:
                    told.append(f"{column} was swapped before")
                elif not who:
                    told.append(f"{column} stays, all near are swapped")
                else:
                    partner = who[0]
                    a, b = (self.value(column, row) for row in (reference, partner))
                    attribute = self.attribute(column)
                    moves.append(float(attribute.row(attribute.values.index(a))[attribute.values.index(b)]))
                    self.put(column, [reference, partner], [b, a])
                    swapped[partner] = f"gets {a}" if len(columns) == 1 else "swapped"
                    told.append(
                        f"{a} and {b} change places" if len(columns) == 1 else f"{column} with row {partner + 1}"
                    )
            marks = []
            for row in range(self.lesson.rows):
                mark = "reference" if row == reference else "near" if row in near else ""
                mark += f", {swapped[row]}" if row in swapped else ""
                marks.append(mark or ("done" if row in done else ""))
            done |= {reference} | (set(swapped) if len(columns) == 1 else set())
            where = "the one farthest from all others" if number == 0 else "the one farthest from the last"
            self.keep(
                f"Reference row {reference + 1}: {'; '.join(told)}",
                {"reference": where, "nearest rows": len(near), "distance": float(np.mean(moves)) if moves else None},
                marks,
                groups=[reference if row in near | {reference} else row for row in range(self.lesson.rows)],
                chosen=columns[0] if len(columns) == 1 else None,
                score=float(np.mean(moves)) if moves else None,
            )


class PermutedWatch(RecordWatch):
    """Strict swapping: groups of k near rows, then a permutation inside each.

    >>> PermutedWatch.options
    {'together': False}
    """

    options: ClassVar[Mapping[str, Any]] = {"together": False}
    promise = "No value can be linked to a row with a chance above 1/k: every permutation of a group is equally likely."

    def hear(self, event: Event) -> None:
        """A column, or all together, was cut into groups and permuted."""
        if event.name != "permuted":
            return
        name = event.details["column"]
        columns = [a.name for a in self.attributes] if name is None else [str(name)]
        what = "the rows" if name is None else f"the values of {name}"
        rows = self.rows(event.details["source"]).tolist()
        group = event.details["group"].tolist()
        member = dict(zip(rows, group, strict=True))
        apart = len(rows) + max(group) + 1
        for g in range(max(group) + 1):
            mine = sorted(row for row in rows if member[row] == g)
            held = ", ".join(" / ".join(str(self.value(c, row)) for c in columns) for row in mine)
            self.keep(
                f"Group {g + 1} of {what}: {held}",
                {"rows": len(mine), "spread": self._spread(columns, mine)},
                [f"group {member[r] + 1}" if member[r] <= g else "" for r in range(len(rows))],
                groups=[member[r] if member[r] <= g else apart + r for r in range(len(rows))],
                chosen=None if name is None else columns[0],
                score=self._spread(columns, mine),
            )
        released = event.details["released"].reshape(len(rows), -1)
        for j, column in enumerate(columns):
            values = self.attribute(column).values
            self.put(column, rows, [values[int(c)] for c in released[:, j]])
        self.keep(
            f"Permute {what} inside each group",
            {"chance that a value belongs to a given row": f"at most 1/{min(group.count(g) for g in group)}"},
            [f"group {member[r] + 1}" for r in range(len(rows))],
            groups=[member[r] for r in range(len(rows))],
            chosen=None if name is None else columns[0],
        )

    def _spread(self, columns: list[str], rows: list[int]) -> float:
        """Greatest distance between two rows of a group, over the columns on average."""
        worst = 0.0
        for one in rows:
            for other in rows:
                worst = max(worst, float(np.mean([self._between(c, one, other) for c in columns])))
        return worst

    def _between(self, column: str, one: int, other: int) -> float:
        attribute = self.attribute(column)
        a, b = (attribute.values.index(self.value(column, row)) for row in (one, other))
        return float(attribute.row(a)[b])


class NumberSwapWatch(RankedWatch):
    """Rank swapping of numbers.

    >>> NumberSwapWatch.options
    {'rule': 'interval'}
    """

    kind = Ordered
    options: ClassVar[Mapping[str, Any]] = {"rule": "interval"}
