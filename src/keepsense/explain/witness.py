"""A privacy model that promises nothing and remembers what it was asked: so group-making algorithms can be watched."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Rows
from keepsense.counts import Counts, Histogram
from keepsense.explain.iteration import Cell
from keepsense.explain.lesson import Lesson
from keepsense.explain.watch import Watch
from keepsense.hierarchies import Hierarchy
from keepsense.methods.generalize.dimension import Dimension, dimensions
from keepsense.methods.generalize.semantic_mondrian import semantic_losses
from keepsense.privacy import Model
from keepsense.recoding import SUPPRESSED

_RECORDS = "(records)"
Asked = Callable[[list[list[int]]], None]


@dataclass(frozen=True, eq=False)
class Witness(Model):
    """Says yes to every group, and tells which distinct tuples each group would hold.

    >>> import numpy as np
    >>> seen = []
    >>> counts = numbered(Counts.of({"age": [31, 35, 31]}))
    >>> Witness(seen.append).satisfied(np.array([2, 1]), counts.histograms).tolist(), seen
    ([True, True], [[[0], [1]]])
    """

    asked: Asked
    name: ClassVar[str] = "witness"

    @property
    def columns(self) -> tuple[str, ...]:
        """It asks for the number of each tuple."""
        return (_RECORDS,)

    def satisfied(self, class_weights: NDArray[Any], histograms: Mapping[str, Histogram]) -> NDArray[np.bool_]:
        """Yes, always."""
        rows = histograms[_RECORDS].rows
        self.asked([[int(i) for i in rows[c]] for c in range(len(rows))])
        return np.ones(len(class_weights), dtype=np.bool_)

    def promise(self) -> dict[str, Any]:
        """Nothing."""
        return {"model": self.name}

    def describe(self) -> str:
        """It promises nothing."""
        return "Nothing is promised; what is asked is remembered."


def numbered(counts: Counts) -> Counts:
    """The counts with the number of each distinct tuple counted along.

    >>> numbered(Counts.of({"age": [31, 35]})).histograms["(records)"].values
    (0, 1)
    """
    every = np.arange(len(counts), dtype=np.int32)
    known = Histogram(tuple(every.tolist()), Rows.from_pairs(every, every, len(counts)), np.array(counts.weights))
    return replace(counts, histograms={**counts.histograms, _RECORDS: known})


def watch_groups(by: str) -> Callable[[Lesson, int], Watch]:
    """A watcher of multidimensional recoding; `by` says what makes a cut the best.

    >>> callable(watch_groups("widest"))
    True
    """
    return lambda lesson, k: _groups(lesson, k, by)


def _groups(lesson: Lesson, k: int, by: str) -> Watch:
    class Groups(Watch):
        """Cuts of groups in two, one after the other."""

        def __init__(self) -> None:
            super().__init__(lesson, k)
            self.cutting = _Cutting(lesson, by)
            everyone = list(range(len(lesson.counts)))
            self.parts: list[list[int]] = [everyone]
            self.models = [Witness(self.asked)]
            start = "Put everybody into one group"
            self.iterations.append(self.snapshot(start, {}, self.cutting.table(self.parts)))

        @property
        def counts(self) -> Counts:
            return numbered(lesson.counts)

        @property
        def target(self) -> str | None:
            return lesson.amount if by == "deviation" else lesson.category

        def asked(self, groups: list[list[int]]) -> None:
            """A round: neighbours in the list are the two parts of a group that is to be cut."""
            for left, right in zip(groups[0::2], groups[1::2], strict=False):
                if left and right:
                    self._cut(left, right)

        def _cut(self, left: list[int], right: list[int]) -> None:
            whole = next(part for part in self.parts if set(part) == {*left, *right})
            dimension = self.cutting.chosen(left, right)
            facts, score = self.cutting.facts(dimension, left, right)
            at = self.parts.index(whole)
            self.parts[at : at + 1] = [left, right]
            low, high = (self.cutting.span(dimension, part) for part in (left, right))
            size = self.cutting.rows(whole)
            text = f"Cut the group of {size} in {dimension.name}: {low} | {high}"
            table = self.cutting.table(self.parts)
            self.iterations.append(self.snapshot(text, facts, table, chosen=dimension.name, score=score))

    return Groups()


class _Cutting:
    """What a cut is worth, recomputed for people to read."""

    def __init__(self, lesson: Lesson, by: str) -> None:
        self.lesson, self.by, self.counts = lesson, by, lesson.counts

    @cached_property
    def dimensions(self) -> list[Dimension]:
        known = self.lesson.distances if self.by == "meaning" else {}
        losses = {name: semantic_losses(self.lesson.hierarchies[name], found) for name, found in known.items()}
        return dimensions(self.counts, self.lesson.hierarchies, self.lesson.numbers, losses=losses)

    def ranks(self, dimension: Dimension, part: list[int]) -> NDArray[Any]:
        return dimension.rank[self.counts.column(dimension.name)[part]]

    def rows(self, part: list[int]) -> int:
        return int(self.counts.weights[part].sum())

    def width(self, dimension: Dimension, part: list[int]) -> float:
        ranks = self.ranks(dimension, part)
        return float(dimension.width[ranks.max()] - dimension.width[ranks.min()])

    def span(self, dimension: Dimension, part: list[int]) -> str:
        ranks = self.ranks(dimension, part)
        return str(dimension.name_of(ranks.min(keepdims=True), ranks.max(keepdims=True))[0])

    def cost(self, dimension: Dimension, part: list[int]) -> float:
        ranks = self.ranks(dimension, part)
        lost = dimension.cost(ranks.min(keepdims=True), ranks.max(keepdims=True))
        return self.rows(part) * float(lost[0])

    def chosen(self, left: list[int], right: list[int]) -> Dimension:
        """The column along which the two parts lie apart; of several the one the algorithm prefers."""
        apart = [d for d in self.dimensions if self.ranks(d, left).max() < self.ranks(d, right).min()]
        if self.by == "widest":
            return max(apart, key=lambda d: self.width(d, [*left, *right]))
        if self.by == "meaning":
            return max(apart, key=lambda d: self.saved(d, left, right))
        return apart[0]

    def saved(self, dimension: Dimension, left: list[int], right: list[int]) -> float:
        whole = [*left, *right]
        parts = self.cost(dimension, left) + self.cost(dimension, right)
        return (self.cost(dimension, whole) - parts) / self.rows(whole)

    def facts(self, dimension: Dimension, left: list[int], right: list[int]) -> tuple[dict[str, object], float]:
        whole = [*left, *right]
        sizes = f"{self.rows(left)} and {self.rows(right)} rows"
        if self.by == "widest":
            widths = ", ".join(f"{d.name} {self.width(d, whole):.0%}" for d in self.dimensions)
            return {"width in this group": widths, "parts": sizes}, self.width(dimension, whole)
        if self.by == "meaning":
            saved = self.saved(dimension, left, right)
            return {"detail won back": saved, "parts": sizes}, saved
        if self.by == "information":
            gain = self.bits(whole) - (
                self.rows(left) * self.bits(left) + self.rows(right) * self.bits(right)
            ) / self.rows(whole)
            return {"information gain in bits": gain, "parts": sizes}, gain
        fall = (self.spread(whole) - self.spread(left) - self.spread(right)) / self.rows(whole)
        return {"fall of the squared deviations": fall, "parts": sizes}, fall

    def bits(self, part: list[int]) -> float:
        """Entropy of the category in a part."""
        assert self.lesson.category is not None
        share = self.counts.histograms[self.lesson.category].table()[part].sum(axis=0) / self.rows(part)
        share = share[share > 0]
        return float(-(share * np.log2(share)).sum())

    def spread(self, part: list[int]) -> float:
        """Squared deviations of the amount from its mean in a part, but for what all cuts have in common."""
        assert self.lesson.amount is not None
        return -float(self.counts.sums[self.lesson.amount][part].sum() ** 2) / self.rows(part)

    def table(self, parts: list[list[int]]) -> list[Cell]:
        """Every row as what its group spans."""
        labels: dict[int, Cell] = {}
        for part in parts:
            row = tuple(self.span(dimension, part) for dimension in self.dimensions)
            labels |= dict.fromkeys(part, row)
        return [labels[t] for t in self.lesson.tuple_of]


def common(lesson: Lesson, members: Sequence[int]) -> Cell:
    """What distinct tuples have in common: in each column the label at the lowest level they share.

    >>> from keepsense.explain.lesson import example
    >>> common(example(), [0, 2])
    ('below 40', 'apprenticeship')
    """
    row = []
    for j, name in enumerate(lesson.quasi_identifiers):
        tree = lesson.hierarchies[name]
        values = [lesson.counts.values[j][c] for c in lesson.counts.codes[list(members), j].tolist()]
        codes = tree.codes[tree.lookup(values)]
        level = next(i for i in range(tree.height + 1) if len(set(codes[:, i].tolist())) == 1)
        row.append(tree.labels[level][int(codes[0, level])])
    return tuple(row)


def watch_suppression(lesson: Lesson, k: int) -> Watch:
    """A watcher of local suppression, which is local recoding where every value has one level above it: nothing.

    >>> callable(watch_suppression)
    True
    """
    flat = {
        name: Hierarchy.of_rows([(value, SUPPRESSED) for value in dict.fromkeys(lesson.columns[name])], name=name)
        for name in lesson.quasi_identifiers
    }
    return watch_settling(replace(lesson, hierarchies=flat), k)


def watch_settling(lesson: Lesson, k: int) -> Watch:
    """A watcher of local recoding: which records find a group, and at which levels.

    >>> callable(watch_settling)
    True
    """

    class Settling(Watch):
        """Groups of records that are settled one after the other."""

        def __init__(self) -> None:
            super().__init__(lesson, k)
            self.settled: dict[int, tuple[int, ...]] = {}
            self.models = [Witness(self.asked)]

        @property
        def counts(self) -> Counts:
            return numbered(lesson.counts)

        def asked(self, groups: list[list[int]]) -> None:
            for group in groups:
                if int(lesson.counts.weights[group].sum()) >= k:
                    self._settle(group)

        def _settle(self, group: list[int]) -> None:
            joined = [t for t in group if t in self.settled]
            mates = {t for t, members in self.settled.items() if set(members) & set(group)}
            members = tuple(sorted({*group, *mates}))
            self.settled |= dict.fromkeys(members, members)
            rows = int(lesson.counts.weights[list(members)].sum())
            label = " / ".join(str(v) for v in common(lesson, members))
            verb = "Join a group" if joined else f"Settle a group of {rows}"
            waiting = sum(t not in self.settled for t in lesson.tuple_of)
            self.iterations.append(
                self.snapshot(f"{verb}: {label}", {"rows that still wait": waiting}, self._table(), safe=not waiting)
            )

        def _table(self) -> list[Cell]:
            plain = self.before.table
            made = {t: common(lesson, members) for t, members in self.settled.items()}
            return [made.get(t, plain[i]) for i, t in enumerate(lesson.tuple_of)]

    return Settling()
