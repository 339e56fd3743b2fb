"""What sensitive values have in common: every concept above a value, and how often concepts occur in classes.

A class in which each cancer is twice as frequent as elsewhere tells that its people probably have cancer, though no
single value does. Promises over concepts add up the values of each subtree of a taxonomy or hierarchy, and bound what
a class tells of any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Histogram, Value, histogram
from keepsense.hierarchies.core import Hierarchy
from keepsense.taxonomy import Concept, Taxonomy

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

        >>> from keepsense.taxonomy import from_edges
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
