"""Bases of promises that compare a class with the whole table.

`OfColumn` is a promise about one sensitive column, also where other released columns are known; `AgainstWhole` compares
a class with the whole table; `Shifts` counts how much more often values occur in a class. `Concepts` adds up the values
of each subtree of a taxonomy or hierarchy: a class in which each cancer is twice as frequent as elsewhere shows that
its people probably have cancer, though no single value does.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Histogram, Value, encode, histogram
from keepsense.errors import BadInput
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.privacy.privacy_model import Flags, Model, Promise, Weights, histogram_of
from keepsense.taxonomy.taxonomy import Concept, Taxonomy

# Promises about one sensitive column, also where other released columns of a person are known
#
# With `beside = ["drug"]` a promise about diagnoses counts drugs as quasi-identifiers: it also holds among the people
# of each drug in a class, so that the drug cannot reveal the diagnosis.


class OfColumn(Model):
    """A promise about the values of one column in every class; and among those who share the columns `beside` it.

    >>> from keepsense.privacy.l_diversity import DistinctDiversity
    >>> DistinctDiversity(2, "diagnosis", beside=("drug",)).columns
    ('diagnosis', 'diagnosis beside drug')
    """

    if TYPE_CHECKING:  # parameters keep the order in which each class declares them
        column: str
        beside: tuple[str, ...]

    def __post_init__(self) -> None:
        if isinstance(self.beside, list):
            object.__setattr__(self, "beside", tuple(self.beside))
        super().__post_init__()
        if self.column in self.beside or len(set(self.beside)) < len(self.beside):
            raise BadInput(f"{self.name}: beside names other columns than {self.column!r}, each of them once")

    def on(self, column: str) -> Self:
        """The same promise about another sensitive column, or the one it is about where none was named."""
        named: Self = replace(self, column=column)  # type: ignore[type-var]
        return named

    @property
    def columns(self) -> tuple[str, ...]:
        """The column, and its values together with those beside it."""
        return (*super().columns, *self.together)

    @property
    def together(self) -> Mapping[str, tuple[str, ...]]:
        """The column and those beside it."""
        name = f"{self.column} beside {' and '.join(self.beside)}"
        return {name: (self.column, *self.beside)} if self.beside else {}

    @property
    def weaker(self) -> tuple[str, ...]:
        """What to promise where this much cannot be kept: less, or towards those who know less."""
        known = f"fewer columns beside {self.column!r}, or coarser ones (a `width` or `level` in their sections)"
        return (*super().weaker, *([known] if self.beside else []))

    @property
    def every_class(self) -> str:
        """Among whom the promise holds, in words."""
        shared = f", among those who share {' and '.join(self.beside)}," if self.beside else ""
        return f"every class{shared}"

    def promise(self) -> Promise:
        """The promise as plain data; columns beside only where there are some."""
        return {key: value for key, value in super().promise().items() if key != "beside" or value}

    @abstractmethod
    def judged(self, class_weights: Weights, values: Histogram) -> Flags:
        """Whether each class keeps the promise, as far as the values of the column alone tell."""

    def groups(self, class_weights: Weights, histograms: Mapping[str, Histogram]) -> Groups:
        """The values of the column within each group that the promise is about, and the class of each group."""
        classes = len(class_weights)
        for name in self.together:
            return divided(histogram_of(histograms, name, classes, self.name))
        values = histogram_of(histograms, self.column, classes, self.name)
        return class_weights, values, np.arange(classes, dtype=np.int64)

    def satisfied(self, class_weights: Weights, histograms: Mapping[str, Histogram]) -> Flags:
        """Whether each class keeps the promise, and where columns stand beside, all who share their values there."""
        weights, values, owner = self.groups(class_weights, histograms)
        broken = np.bincount(owner[~self.judged(weights, values)], minlength=len(class_weights))
        verdict: Flags = broken == 0
        return verdict


Groups = tuple[Weights, Histogram, NDArray[np.int64]]
"""Sizes of groups, the values in each of them, and to which class each belongs."""


def divided(tuples: Histogram) -> Groups:
    """Classes divided by all but the first part of the tuples that were counted in them.

    >>> from keepsense.arrays import Rows
    >>> seen = Histogram((("flu", "x"), ("hiv", "y")), Rows.from_pairs([0, 0], [0, 1], 1), np.array([2, 3]))
    >>> weights, values, owner = divided(seen)
    >>> weights.tolist(), values.table().tolist(), owner.tolist()
    ([2, 3], [[2, 0], [0, 3]], [0, 0])
    """
    parts: list[tuple[object, ...]] = [tuple(value) for value in tuples.values]  # type: ignore[arg-type]
    values, code = encode([part[0] for part in parts])
    known, shared = encode([part[1:] for part in parts])
    occurs = tuples.counts > 0
    at, counts = tuples.rows.indices[occurs], tuples.counts[occurs]
    key = tuples.rows.row_of()[occurs].astype(np.int64) * max(1, len(known)) + shared[at]
    groups, group = np.unique(key, return_inverse=True)
    weights = np.bincount(group, counts, len(groups)).astype(np.int64)
    return weights, histogram(values, code[at], group, counts, len(groups)), groups // max(1, len(known))


# Comparison of each class with the whole table

Reference = tuple[tuple[Value, int], ...] | None
"""Values of the whole table and how often they occur; None where the histograms that are judged are the whole."""


class AgainstWhole(OfColumn):
    """A promise that compares each class with the whole table.

    The whole table is the original one, suppressed records included: that is what everybody may know, and it keeps
    the promise monotonic. `reference` fixes it where only a part of the table is judged (`bind` fills it in).

    >>> from keepsense.counts import Counts
    >>> from keepsense.privacy.t_closeness import TCloseness
    >>> table = Counts.of({"job": ["nurse", "clerk"]}, histograms={"ill": ["flu", "cold"]})
    >>> TCloseness(0.2, "ill").bound(table.histograms).reference
    (('flu', 1), ('cold', 1))
    """

    if TYPE_CHECKING:  # parameters keep the order in which each class declares them
        reference: Reference

    def _whole(self, histogram: Histogram) -> tuple[Histogram, NDArray[np.int64]]:
        """The histogram over all values of the reference, and the reference's counts."""
        if self.reference is None:
            return histogram, histogram.total()
        place = {value: i for i, (value, _) in enumerate(self.reference)}
        if any(value not in place for value in histogram.values):
            raise BadInput(f"{self.name}: column {self.column!r} has values the reference table does not have")
        if histogram.values == tuple(place):
            return histogram, np.array([n for _, n in self.reference], dtype=np.int64)
        lookup = np.array([place[value] for value in histogram.values], dtype=np.int32)
        rows = replace(histogram.rows, indices=lookup[histogram.rows.indices])
        return Histogram(tuple(place), rows, histogram.counts), np.array([n for _, n in self.reference], dtype=np.int64)

    def bound(self, histograms: Mapping[str, Histogram]) -> Self:
        """The same model with these histograms' total as the whole table, unless one is fixed already."""
        if self.reference is not None or self.column not in histograms:
            return self
        whole = histograms[self.column]
        return self.compared_with(dict(zip(whole.values, whole.total().tolist(), strict=True)))

    def compared_with(self, whole: Mapping[Value, int]) -> Self:
        """The same model with the values of the whole table, and how often they occur, fixed.

        >>> from keepsense.privacy.t_closeness import TCloseness
        >>> TCloseness(0.2, "ill").compared_with({"flu": 3}).reference
        (('flu', 3),)
        """
        fixed: Any = {"reference": tuple(whole.items())}
        changed: Self = replace(self, **fixed)  # type: ignore[type-var]
        return changed


# Ratios of shares: how much more, or less, often a value occurs in a class than in the whole table
#
# Values that floating point cannot separate from a bound are compared as fractions.

_NEAR = 1e-9
"""Ratios that differ from a bound by less are compared as fractions."""


@dataclass(frozen=True, eq=False)
class Shifts:
    """How often values occur: one entry for each class and value that occurs in it.

    `row` is the class, `code` the value, `count` the records of the class that have it, `size` all of the class;
    `whole` are the records of the table that have each value, `total` all of the table.

    >>> from keepsense.arrays import Rows
    >>> seen = Histogram(("flu", "cold"), Rows.from_pairs([0, 1, 1], [0, 0, 1], 2), np.array([2, 1, 1]))
    >>> shifts = shifts_of(seen, seen.total())
    >>> shifts.ratio.round(2).tolist(), shifts.within(np.array([1.3, 2.0])).tolist()
    ([1.33, 0.67, 2.0], [False, True, True])
    """

    row: NDArray[np.int32]
    code: NDArray[np.int32]
    count: NDArray[np.int64]
    size: NDArray[np.int64]
    whole: NDArray[np.int64]
    total: int
    classes: int

    @property
    def ratio(self) -> Floats:
        """Share in the class over share in the table, of each entry."""
        ratio: Floats = (self.count / self.size) / (self.whole[self.code] / self.total)
        return ratio

    def within(self, limit: Floats, *, strictly: bool = False) -> Flags:
        """Whether each entry's ratio is at most (or strictly: below) the limit of its value."""
        most = limit[self.code]
        difference = self.ratio - most
        good: Flags = difference < 0 if strictly else difference <= 0
        for i in np.flatnonzero(np.abs(difference) <= _NEAR * most):
            bound = written(most[i]) * int(self.size[i]) * int(self.whole[self.code[i]])
            times = int(self.count[i]) * self.total
            good[i] = times < bound if strictly else times <= bound
        return good

    def all_of(self, good: Flags) -> Flags:
        """Whether all entries of each class are good."""
        verdict: Flags = np.bincount(self.row[~good], minlength=self.classes) == 0
        return verdict

    def present(self) -> NDArray[np.int64]:
        """Different values in each class."""
        return np.bincount(self.row, minlength=self.classes).astype(np.int64)


def shifts_of(histogram: Histogram, whole: NDArray[np.int64], sizes: NDArray[np.int64] | None = None) -> Shifts:
    """The values that occur in each class; `sizes` of classes where values are counted more than once.

    >>> from keepsense.arrays import Rows
    >>> seen = Histogram(("flu", "cold"), Rows.from_pairs([0, 0], [0, 1], 1), np.array([2, 0]))
    >>> shifts_of(seen, np.array([2, 2])).ratio.tolist()
    [2.0]
    """
    row, classes = histogram.rows.row_of(), len(histogram.rows)
    if sizes is None:
        sizes, total = np.bincount(row, histogram.counts, classes).astype(np.int64), int(whole.sum())
    else:
        total = int(whole.max(initial=0))
    occurs = histogram.counts > 0
    row = row[occurs]
    return Shifts(row, histogram.rows.indices[occurs], histogram.counts[occurs], sizes[row], whole, total, classes)


def written(number: float) -> Fraction:
    """A number as it is written: 2.3 is 23 tenths.

    >>> written(2.3)
    Fraction(23, 10)
    """
    return Fraction(repr(float(number)))


# Concepts above sensitive values, and how often they occur in classes

Above = Mapping[Value, tuple[str, ...]]
"""Names of the concepts above values, in no order; a value that is not there stands for itself alone."""


@dataclass(frozen=True, eq=False)
class Concepts:
    """The concepts above each sensitive value; `found` gives them, be it only when they are first asked for.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")])
    >>> Concepts.of_hierarchy(jobs).above["nurse"]
    ('medic', '*')
    """

    found: Above | Callable[[], Above]
    _known: dict[tuple[Value, ...], list[tuple[int, ...]]] = field(default_factory=dict, repr=False)

    @cached_property
    def above(self) -> Above:
        """Concepts above each value."""
        return self.found() if callable(self.found) else self.found

    @classmethod
    def of_hierarchy(cls, hierarchy: Hierarchy) -> Concepts:
        """The labels above each value of a generalization hierarchy; a label is a concept of its level."""
        rows = hierarchy.rows()
        return cls({row[0]: tuple(dict.fromkeys(str(label) for label in row[1:] if label != row[0])) for row in rows})

    @classmethod
    def of_taxonomy(cls, taxonomy: Taxonomy, concepts: Mapping[Value, Concept]) -> Concepts:
        """The concept of each value and all above it.

        >>> from keepsense.taxonomy.taxonomy_builder import from_edges
        >>> ill = from_edges([("flu", "lung"), ("cold", "lung"), ("lung", "ill"), ("ulcer", "ill")])
        >>> sorted(Concepts.of_taxonomy(ill, {"Flu": "flu"}).above["Flu"])
        ['flu', 'ill', 'lung']
        """
        return cls(
            {
                value: tuple(taxonomy.id(int(code)) for code in taxonomy.subsumers(concept))
                for value, concept in concepts.items()
            }
        )

    def counted(self, values: Histogram, whole: NDArray[np.int64]) -> Counted:
        """How often each concept, and each value by itself, occurs in classes and in the whole table.

        Concepts that all of the table has, or all who are not missing, tell nothing and are left out; those with the
        same values are one. A missing cell stands for itself.

        >>> from keepsense.arrays import Rows
        >>> seen = Histogram(("flu", "cold", "ulcer"), Rows.from_pairs([0, 0], [0, 2], 1), np.array([1, 2]))
        >>> lung = Concepts({"flu": ("lung",), "cold": ("lung",)}).counted(seen, np.array([1, 1, 2]))
        >>> lung.whole.tolist(), lung.subtree.tolist(), lung.histogram.table().tolist()
        ([1, 1, 2, 2], [False, False, False, True], [[1, 0, 2, 1]])
        """
        groups = self._groups(values.values)
        numbers = np.array([whole[list(group)].sum() for group in groups], dtype=np.int64)
        known = np.array([value is not None for value in values.values], np.bool_) & (whole > 0)
        everything = [
            i >= len(values.values) and known[list(group)].sum() == known.sum() for i, group in enumerate(groups)
        ]
        chosen = [i for i in range(len(groups)) if numbers[i] < whole.sum() and not everything[i]]
        of_value: list[list[int]] = [[] for _ in values.values]
        for number, i in enumerate(chosen):
            for code in groups[i]:
                of_value[code].append(number)
        repeats = np.array([len(numbers) for numbers in of_value], dtype=np.int64)
        first = np.concatenate([[0], np.cumsum(repeats)])
        concept = np.array([number for numbers in of_value for number in numbers], dtype=np.int64)
        row, coded = values.rows.row_of(), values.rows.indices
        times = repeats[coded]
        entry = np.repeat(first[coded] - np.concatenate([[0], np.cumsum(times)[:-1]]), times) + np.arange(times.sum())
        names = tuple(range(len(chosen)))
        in_classes = histogram(
            names, concept[entry], np.repeat(row, times), np.repeat(values.counts, times), len(values.rows)
        )
        subtree = np.array([(whole[list(groups[i])] > 0).sum() > 1 for i in chosen], dtype=np.bool_)
        return Counted(in_classes, numbers[chosen], subtree)

    def _groups(self, values: tuple[Value, ...]) -> list[tuple[int, ...]]:
        """Codes of the values below each concept: every value by itself first, then subtrees of several."""
        if values not in self._known:
            members: dict[str, list[int]] = {}
            for code, value in enumerate(values):
                for name in () if value is None else self.above.get(value, ()):
                    members.setdefault(name, []).append(code)
            subtrees = dict.fromkeys(tuple(codes) for codes in members.values() if len(codes) > 1)
            self._known[values] = [*((code,) for code in range(len(values))), *subtrees]
        return self._known[values]

    def evidence(self) -> dict[str, object]:
        """The concepts above each value, for the verifier."""
        return {"chains": {str(value): sorted(names) for value, names in self.above.items() if value is not None}}


@dataclass(frozen=True, eq=False)
class Counted:
    """Concepts counted: in each class, in the whole table, and which of them stand for several values.

    >>> from keepsense.arrays import Rows
    >>> nothing = Histogram((), Rows.from_pairs([], [], 1), np.array([], np.int64))
    >>> Counted(nothing, np.array([], np.int64), np.array([], np.bool_)).whole.tolist()
    []
    """

    histogram: Histogram
    whole: NDArray[np.int64]
    subtree: NDArray[np.bool_]
