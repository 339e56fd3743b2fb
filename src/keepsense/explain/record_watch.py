"""Watching methods that work on records: which row each record is, what columns mean, and the table so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from keepsense.errors import BadInput
from keepsense.explain.iteration import Cell, Iteration, standing
from keepsense.explain.watch import Ending, Watch
from keepsense.recoding import Cells
from keepsense.semantics.attribute import Nominal, Ordered


class RecordWatch(Watch):
    """Steps of a method that gives every record values of its own: swapping, noise, microaggregation.

    Methods work on records, equal ones being interchangeable; rows are told apart here, so that each can be followed.

    >>> from keepsense.explain.lesson import example
    >>> RecordWatch(example(), 2).rows(np.array([0, 1])).tolist()
    [0, 1]
    """

    kind: type[Nominal] | type[Ordered] | None = None
    """Kind of column the method is for; None: any whose meaning or order is known."""
    concepts: ClassVar[bool] = False
    """Whether every word must be a concept of a taxonomy, because new words are drawn from it."""
    promise = "Nothing is promised about single records: measure the risk before you release."

    def start(self) -> Iteration:
        """The table before; groups do not matter yet."""
        self.table = self.at_level({})
        return self.step("The table before", {}, [""] * self.lesson.rows)

    # ---- running ---------------------------------------------------------------------------------------------------

    def run(self, method: Callable[..., Any], settings: Mapping[str, Any], rng: np.random.Generator) -> Any:
        """Call the method with the columns it is for."""
        return method(self.counts, self.attributes, self.k, **settings, rng=rng, listener=self.hear)

    @cached_property
    def attributes(self) -> list[Any]:
        """The columns the method is for, with their meaning or order."""
        names = self.lesson.quasi_identifiers
        if self.kind is not None:
            names = tuple(name for name in names if (name in self.lesson.along) == (self.kind is Ordered))
        if not names:
            what = "words with a meaning" if self.kind is Nominal else "numbers or an order"
            raise BadInput(f"the method is for columns of {what}, and the table has none; name others with --column")
        return self.lesson.meant(self.counts, names, concepts=self.concepts)

    def attribute(self, name: str) -> Any:
        """One of the columns."""
        return next(a for a in self.attributes if a.name == name)

    # ---- rows ------------------------------------------------------------------------------------------------------

    @property
    def tuple_of(self) -> list[int]:
        """Distinct tuple of each row, as the method counts them."""
        return self.lesson.tuple_of

    def rows(self, source: NDArray[Any]) -> NDArray[np.int64]:
        """The row each record is, from its distinct tuple: of equal rows the first goes to the first record."""
        found = np.empty(len(source), dtype=np.int64)
        of_tuple = np.argsort(self.tuple_of, kind="stable")
        starts = np.searchsorted(np.sort(self.tuple_of), np.arange(max(self.tuple_of) + 1))
        taken: dict[int, int] = {}
        for i, t in enumerate(np.asarray(source).tolist()):
            found[i] = of_tuple[starts[t] + taken.get(t, 0)]
            taken[t] = taken.get(t, 0) + 1
        return found

    def put(self, column: str, rows: Sequence[int] | NDArray[Any], values: Sequence[Any]) -> None:
        """Write values into a column of the table so far."""
        j = self.lesson.quasi_identifiers.index(column)
        for row, value in zip(np.asarray(rows).tolist(), values, strict=True):
            old = self.table[row]
            self.table[row] = (*old[:j], value, *old[j + 1 :])

    def value(self, column: str, row: int) -> Any:
        """A value as it was before."""
        return self.lesson.columns[column][row]

    # ---- steps -----------------------------------------------------------------------------------------------------

    def step(
        self,
        title: str,
        facts: Mapping[str, object],
        marks: Sequence[str],
        *,
        groups: Sequence[int] | None = None,
        chosen: str | None = None,
        score: float | None = None,
    ) -> Iteration:
        """The table as it stands, with a remark on each row; rows of one group are coloured alike."""
        apart = tuple(range(len(self.table))) if groups is None else tuple(groups)
        table: tuple[Cell, ...] = tuple(self.table)
        return Iteration(title, standing(facts), table, apart, 2, chosen, score, None, tuple(marks))

    def keep(self, *args: Any, **options: Any) -> None:
        """Keep a step."""
        self.iterations.append(self.step(*args, **options))

    def end(self, result: Cells) -> Ending:
        """The table as it is released; what equal rows get is dealt to them as the steps have shown."""
        table = dealt(self, result)
        same = [i for i, row in enumerate(table) if row == self.before.table[i]]
        facts = standing({"rows as they were": len(same)})
        marks = tuple("as it was" if i in same else "changed" for i in range(len(table)))
        apart = tuple(range(len(table)))
        final = Iteration("The released table", facts, tuple(table), apart, 2, safe=None, marks=marks)
        return final, (False,) * len(table), self.promise


def dealt(watch: RecordWatch, cells: Cells) -> list[Cell]:
    """A recoding by records as a table: rows that the steps led to what they get keep it, the others take what is left.

    >>> from keepsense.explain.lesson import example
    >>> watch = RecordWatch(example(), 2)
    >>> c = watch.counts
    >>> same = Cells(c.names, c.values, np.arange(len(c)), c.codes, c.weights)
    >>> dealt(watch, same) == list(watch.before.table)
    True
    """
    names = watch.lesson.quasi_identifiers
    place = {name: cells.names.index(name) for name in names if name in cells.names}
    left: dict[int, list[Cell]] = {}
    firsts = {t: i for i, t in reversed(list(enumerate(watch.tuple_of)))}
    for r, source in enumerate(cells.source.tolist()):
        before = watch.before.table[firsts[source]]
        row = tuple(
            cells.values[place[n]][cells.codes[r, place[n]]] if n in place else before[j] for j, n in enumerate(names)
        )
        left.setdefault(source, []).extend([row] * int(cells.multiplicity[r]))
    table: list[Cell | None] = [None] * watch.lesson.rows
    for again in (False, True):
        for i, t in enumerate(watch.tuple_of):
            if table[i] is None and (again or watch.table[i] in left[t]):
                table[i] = left[t].pop(0 if again else left[t].index(watch.table[i]))
    return [row for row in table if row is not None]
