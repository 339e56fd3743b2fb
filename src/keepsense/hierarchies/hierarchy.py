"""The hierarchy of a column: leaves x levels as integer codes, each level a coarsening of the one below."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Ints, frozen
from keepsense.counts import Value
from keepsense.errors import BadHierarchy, did_you_mean
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.recoding import Cut

UNKNOWN = -1
"""What stands in `Hierarchy.concepts` where a label's concept is not known."""


class MissingValues(BadHierarchy):
    """A column holds values that a hierarchy or a taxonomy does not; `values` lists them all, the message counts them.

    >>> error = MissingValues("job: 2 values are missing", ["nurse", "clerk"])
    >>> error.values
    ('nurse', 'clerk')
    """

    def __init__(self, message: str, values: Iterable[Value]) -> None:
        super().__init__(message)
        self.values = tuple(values)


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A generalization hierarchy of one column.

    `codes[i, l]` is the code of leaf i's ancestor at level l; level 0 is the leaf itself, the last level the top.
    `labels[l][c]` is the label of code c at level l. `concepts[l][c]`, where known, is its concept in a taxonomy (-1
    where not). Levels are rectangular: every leaf has an ancestor at every level. `info` carries what a file or a
    constructor wants to remember (the form of a CSV file, how a candidate was made). `kind` is one of `KINDS`.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")])
    >>> jobs.height, jobs.labels[1], jobs.codes[:, 1].tolist()
    (2, ('medic', 'office'), [0, 0, 1])
    """

    name: str
    labels: tuple[tuple[Value, ...], ...]
    codes: NDArray[np.int32]
    kind: str = "nominal"
    concepts: tuple[NDArray[np.int32], ...] | None = None
    info: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", KINDS.name_of(self.kind))
        frozen(self.codes)
        for level in self.concepts or ():
            frozen(level)
        object.__setattr__(self, "info", MappingProxyType(dict(self.info)))

    @classmethod
    def of_rows(
        cls,
        rows: Iterable[Sequence[Value]],
        *,
        name: str = "hierarchy",
        kind: str = "nominal",
        info: Mapping[str, object] | None = None,
    ) -> Hierarchy:
        """Build from rows of labels, leaf first (the form of ARX's hierarchy files); all rows have one length."""
        table = [tuple(row) for row in rows]
        if not table or not table[0]:
            raise BadHierarchy(f"{name}: the hierarchy is empty; it needs at least one leaf")
        width = len(table[0])
        for i, row in enumerate(table):
            if len(row) != width:
                raise BadHierarchy(f"{name}: row {i + 1} has {len(row)} levels, the first row {width}")
        codes = np.empty((len(table), width), dtype=np.int32)
        labels = []
        for level in range(width):
            place: dict[Value, int] = {}
            codes[:, level] = [place.setdefault(row[level], len(place)) for row in table]
            labels.append(tuple(place))
        if len(labels[0]) != len(table):
            raise BadHierarchy(f"{name}: {len(table) - len(labels[0])} leaf value(s) occur more than once")
        for level in range(1, width):
            pairs = np.unique(codes[:, level - 1 : level + 1], axis=0)
            if len(pairs) != len(labels[level - 1]):
                torn = labels[level - 1][int(pairs[1:][pairs[1:, 0] == pairs[:-1, 0]][0, 0])]
                what = "a leaf" if level == 1 else repr(torn)
                raise BadHierarchy(f"{name}: {what} at level {level - 1} has several parents at level {level}")
        return cls(name, tuple(labels), codes, kind, info=dict(info or {}))

    # ---- size and names ------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"Hierarchy({self.name!r}: {self.kind}, {len(self.leaves):,} leaves, height {self.height})"

    @property
    def leaves(self) -> tuple[Value, ...]:
        """Original values, in the order of `codes`."""
        return self.labels[0]

    @property
    def height(self) -> int:
        """Number of generalization steps: levels above the leaves."""
        return int(self.codes.shape[1]) - 1

    @cached_property
    def leaf_counts(self) -> tuple[Ints, ...]:
        """Leaves under each label of each level."""
        return tuple(
            np.bincount(self.codes[:, level], minlength=len(self.labels[level])).astype(np.int32)
            for level in range(self.height + 1)
        )

    @cached_property
    def parents(self) -> tuple[Ints, ...]:
        """For each level but the top: the code, one level up, of each label's parent."""
        found = []
        for level in range(self.height):
            up = np.full(len(self.labels[level]), UNKNOWN, dtype=np.int32)
            up[self.codes[:, level]] = self.codes[:, level + 1]
            found.append(up)
        return tuple(found)

    def rows(self) -> list[tuple[Value, ...]]:
        """Labels of each leaf from itself to the top: what `of_rows` takes."""
        columns = [[labels[c] for c in codes] for labels, codes in zip(self.labels, self.codes.T.tolist(), strict=True)]
        return list(zip(*columns, strict=True))

    # ---- finding -------------------------------------------------------------------------------------------------

    @cached_property
    def _place(self) -> dict[Value, int]:
        return {value: i for i, value in enumerate(self.leaves)}

    def lookup(self, values: Sequence[Value]) -> Ints:
        """Leaf positions of a column's values; refuses, counted, values the hierarchy does not hold."""
        missing = [value for value in values if value not in self._place]
        if missing:
            raise MissingValues(
                f"{self.name}: the hierarchy misses {len(missing)} value(s) of the column; add them to the hierarchy "
                "(the error's `values` lists them)",
                missing,
            )
        return np.array([self._place[value] for value in values], dtype=np.int32)

    def code(self, level: int, label: Value) -> int:
        """Code of a label at a level; refuses, with a hint, a label or level that does not exist."""
        self.check_level(level)
        try:
            return self.labels[level].index(label)
        except ValueError:
            hint = did_you_mean(str(label), [str(x) for x in self.labels[level]]) if level else ""
            shown = repr(label) if level else "that value"
            raise BadHierarchy(f"{self.name}: level {level} has no label {shown}.{hint}") from None

    def check_level(self, level: int) -> None:
        """Refuse a level that does not exist."""
        if not 0 <= level <= self.height:
            raise BadHierarchy(f"{self.name}: level {level} does not exist; levels run from 0 to {self.height}")

    def cut(self, level: int) -> Cut:
        """Recoding rule that releases every value at one level."""
        self.check_level(level)
        return Cut(self.name, self.leaves, tuple(self.labels[level][c] for c in self.codes[:, level]), level)

    # ---- copies --------------------------------------------------------------------------------------------------

    def named(self, name: str) -> Hierarchy:
        """The same hierarchy under another name (that of its column)."""
        return replace(self, name=name)

    def of_kind(self, kind: str | None) -> Hierarchy:
        """The same hierarchy as one of another kind, for files that do not tell theirs; None changes nothing."""
        return self if kind is None else replace(self, kind=kind)

    def with_info(self, **info: object) -> Hierarchy:
        """The same hierarchy, remembering something more."""
        return replace(self, info={**self.info, **info})

    def concept_codes(self, level: int) -> Ints:
        """Concepts of the labels of a level, -1 where not known."""
        if self.concepts is None:
            return np.full(len(self.labels[level]), UNKNOWN, dtype=np.int32)
        return self.concepts[level]


def assemble(
    name: str,
    codes: NDArray[Any],
    labels: Sequence[Sequence[Value]],
    *,
    kind: str = "nominal",
    concepts: Sequence[NDArray[np.int32]] | None = None,
    info: Mapping[str, object] | None = None,
) -> Hierarchy:
    """Make a hierarchy from codes into tables of labels that may hold unused entries.

    Codes are renumbered in the order of the leaves. The caller promises that each level coarsens the one below;
    `keepsense.hierarchies.hierarchy_checks.check` tells whether it does.

    >>> import numpy as np
    >>> assemble("job", np.array([[0, 7], [1, 7]]), [["nurse", "clerk"], ["-"] * 7 + ["*"]]).labels
    (('nurse', 'clerk'), ('*',))
    """
    n, width = codes.shape
    fresh = np.empty((n, width), dtype=np.int32)
    kept_labels: list[tuple[Value, ...]] = []
    kept_concepts: list[Ints] = []
    for level in range(width):
        used, first, inverse = np.unique(codes[:, level], return_index=True, return_inverse=True)
        order = np.argsort(first, kind="stable")
        rank = np.empty(len(order), dtype=np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        fresh[:, level] = rank[inverse]
        kept = used[order]
        table = labels[level]
        kept_labels.append(tuple(table[c] for c in kept.tolist()))
        if concepts is not None:
            kept_concepts.append(np.ascontiguousarray(concepts[level][kept], dtype=np.int32))
    return Hierarchy(
        name, tuple(kept_labels), fresh, kind, tuple(kept_concepts) if concepts is not None else None, dict(info or {})
    )


def signature(hierarchy: Hierarchy) -> frozenset[tuple[int, Value, Value]]:
    """What makes two hierarchies equal: the same nodes linked alike, whatever the order of leaves and branches.

    >>> a = Hierarchy.of_rows([("nurse", "*"), ("clerk", "*")])
    >>> b = Hierarchy.of_rows([("clerk", "*"), ("nurse", "*")])
    >>> signature(a) == signature(b)
    True
    """
    links = []
    for level, up in enumerate(hierarchy.parents):
        above = hierarchy.labels[level + 1]
        links += [(level, label, above[p]) for label, p in zip(hierarchy.labels[level], up.tolist(), strict=True)]
    return frozenset(links) if links else frozenset((0, label, None) for label in hierarchy.leaves)
