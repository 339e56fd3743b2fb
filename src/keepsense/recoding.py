"""What a method decides, as data: the outputs of each distinct tuple, to be saved, inspected and applied.

Three forms, from the most general rule to the most particular:

- `Cuts`: every value of a column becomes one other value, everywhere (full-domain levels and sub-tree cuts); whole
  classes may be suppressed. Applies to next month's file too.
- `Cells`: every distinct tuple becomes one or several output tuples whose multiplicities add up to its weight (local
  recoding, swapping, noise, microaggregation). Applies to the very table it was made for; the classes that it
  generalizes to can be filled with the rows of another (`keepsense.release.again.refit`).
- `Draws`: every value is replaced by a random draw from its own distribution (PRAM, randomized response).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import repeat
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import frozen
from keepsense.counts import Counts, Value, distinct_rows, keys_among, row_keys
from keepsense.errors import BadInput

SUPPRESSED = "*"
"""What stands in a released cell whose value was suppressed."""


@dataclass(frozen=True, eq=False)
class Cut:
    """One column's rule: each input value and what it becomes; `level` where it is one level of a hierarchy.

    `concepts`, where they are known, are the ids of what the outputs mean in the column's taxonomy.

    >>> Cut("age", (31, 38), ("30 to 39", "30 to 39"), level=1).outputs[0]
    '30 to 39'
    """

    name: str
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    level: int | None = None
    concepts: Mapping[Value, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "concepts", MappingProxyType(dict(self.concepts)))
        if len(self.inputs) != len(self.outputs) or len(set(self.inputs)) != len(self.inputs):
            raise BadInput(f"the cut of column {self.name!r} must give each input value exactly one output")


@dataclass(frozen=True, eq=False)
class Cells:
    """For each distinct tuple of a `Counts` one or more outputs.

    Row r of the table says: `multiplicity[r]` rows of tuple `source[r]` become `codes[r]`, read in the dictionaries
    `values`. `suppressed[r]` marks records released as suppressed. `inputs`, set by `bound`, are the tuples themselves.
    `concepts`, where they are known, are the ids of what a column's outputs mean in its taxonomy.

    >>> import numpy as np
    >>> counts = Counts.of({"job": ["nurse", "nurse", "clerk"]})
    >>> cells = Cells(("job",), (("nurse", "clerk"),), np.array([0, 0, 1]), np.array([[0], [1], [0]]), np.ones(3))
    >>> cells.check(counts); cells.apply(counts).weights.tolist()
    [2, 1]
    """

    names: tuple[str, ...]
    values: tuple[tuple[Value, ...], ...]
    source: NDArray[np.int64]
    codes: NDArray[np.int32]
    multiplicity: NDArray[np.int64]
    suppressed: NDArray[np.bool_] | None = None
    info: Mapping[str, object] = field(default_factory=dict)
    inputs: Counts | None = None
    concepts: Mapping[str, Mapping[Value, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for key, kind in (("source", np.int64), ("codes", np.int32), ("multiplicity", np.int64)):
            object.__setattr__(self, key, _own(getattr(self, key), kind))
        if self.suppressed is not None:
            object.__setattr__(self, "suppressed", _own(self.suppressed, np.bool_))
        object.__setattr__(self, "info", MappingProxyType(dict(self.info)))

    def check(self, counts: Counts) -> None:
        """Refuse a recoding that loses, invents or repeats rows of the counts it is for."""
        inside = self.source.shape == self.multiplicity.shape == self.codes.shape[:1]
        if not inside or (len(self.source) and not 0 <= self.source.min() <= self.source.max() < len(counts)):
            raise BadInput("the recoding's multiplicities do not add up: it speaks of tuples that it is not for")
        dealt = np.bincount(self.source, self.multiplicity, len(counts)).astype(np.int64)
        if len(dealt) != len(counts) or (dealt != counts.weights).any() or (self.multiplicity < 1).any():
            raise BadInput("the recoding's multiplicities do not add up to the weights of the tuples it is for")

    def apply(self, counts: Counts) -> Counts:
        """Counts of the released columns (suppressed records included)."""
        distinct, group = distinct_rows(self.codes)
        weights = np.bincount(group, self.multiplicity, len(distinct)).astype(np.int64)
        return Counts(self.names, self.values, distinct, weights)

    def cells(self, counts: Counts) -> Cells:
        """Itself: the particular form of a recoding (see `Cuts.cells`)."""
        return self

    def bound(self, counts: Counts) -> Cells:
        """The same recoding together with the tuples it is for, so that an engine can apply it; checked first."""
        self.check(counts)
        whole = np.array_equal(self.multiplicity, counts.weights)  # as a rule: then one array does for both
        return replace(self, inputs=counts, multiplicity=counts.weights if whole else self.multiplicity)


def _own(array: Any, kind: Any) -> NDArray[Any]:
    """An array that nobody can change: itself where that is so already, else a copy."""
    if isinstance(array, np.ndarray) and array.dtype == kind and array.flags.owndata and not array.flags.writeable:
        return array
    return frozen(np.array(array, dtype=kind))


def _same(counts: Counts, others: Counts) -> bool:
    """Whether two counts are of the very same tuples."""
    return (
        counts.codes is others.codes
        and counts.weights is others.weights
        and counts.values is others.values
        and counts.names == others.names
    )


@dataclass(frozen=True, eq=False)
class Cuts:
    """Every value of each column becomes one other value; the classes in `suppress` (output tuples) are suppressed.

    >>> rule = Cuts((Cut("job", ("nurse", "clerk"), ("worker", "worker"), level=1),))
    >>> rule.apply(Counts.of({"job": ["nurse", "clerk"]})).weights.tolist()
    [2]
    """

    cuts: tuple[Cut, ...]
    suppress: frozenset[tuple[Value, ...]] = frozenset()
    info: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "info", MappingProxyType(dict(self.info)))

    @property
    def names(self) -> tuple[str, ...]:
        """Columns it recodes."""
        return tuple(cut.name for cut in self.cuts)

    @property
    def levels(self) -> tuple[int | None, ...]:
        """Level of each column, where the cut is one level of a hierarchy."""
        return tuple(cut.level for cut in self.cuts)

    def cells(self, counts: Counts) -> Cells:
        """The same recoding spelled out for the distinct tuples of one table; once, however many ask for it."""
        table, cells = _SPELLED.get(self, (None, None))
        if cells is None or table is None or not _same(table, counts):
            cells = self._spelled(counts)
            _SPELLED[self] = counts, cells
        return cells

    def _spelled(self, counts: Counts) -> Cells:
        codes = np.empty((len(counts), len(self.cuts)), dtype=np.int32)
        keys, space = np.zeros(len(counts), dtype=np.int64), 1
        dictionaries: list[dict[Value, int]] = []
        for j, cut in enumerate(self.cuts):
            rule = dict(zip(cut.inputs, cut.outputs, strict=True))
            outputs: dict[Value, int] = {}
            lookup = np.empty(len(counts.values_of(cut.name)), dtype=np.int32)
            missing = [v for v in counts.values_of(cut.name) if v not in rule]
            if missing:
                raise BadInput(
                    f"column {cut.name!r} has {len(missing)} value(s) the recoding does not know; "
                    "extend the hierarchy and make the recoding again"
                )
            for i, value in enumerate(counts.values_of(cut.name)):
                lookup[i] = outputs.setdefault(rule[value], len(outputs))
            column = lookup[counts.column(cut.name)]
            codes[:, j] = column
            dictionaries.append(outputs)
            space *= max(1, len(outputs))
            if self.suppress and space < 1 << 62:
                keys *= len(outputs)
                keys += column
        hidden = np.zeros(len(counts), dtype=np.bool_)
        if self.suppress and len(counts):
            some = self.suppressed_codes(dictionaries)
            if space < 1 << 62:
                theirs = np.zeros(len(some), dtype=np.int64)
                for column, outputs in zip(some.T, dictionaries, strict=True):
                    theirs = theirs * len(outputs) + column
                hidden = keys_among(keys, theirs, space)
            else:
                hidden = among(codes, some)
            marks = [outputs.setdefault(SUPPRESSED, len(outputs)) for outputs in dictionaries]
            codes[np.flatnonzero(hidden)] = marks
        for array in (codes, hidden):
            frozen(array)  # so that they are not copied
        return Cells(
            self.names,
            tuple(tuple(d) for d in dictionaries),
            np.arange(len(counts)),
            codes,
            counts.weights,
            hidden,
            self.info,
        )

    def suppressed_codes(self, places: Sequence[Mapping[Value, int]]) -> NDArray[np.int32]:
        """The suppressed classes as codes, one row each, by the places of a column's outputs; without unknown ones.

        >>> Cuts((Cut("job", ("nurse",), ("medic",)),), frozenset({("medic",), ("office",)})).suppressed_codes(
        ...     [{"medic": 0}]).tolist()
        [[0]]
        """
        columns = [
            np.fromiter(map(place.get, labels, repeat(-1)), np.int32, len(labels))[which]
            for place, (labels, which) in zip(places, self.hidden_labels, strict=True)
        ]
        codes = np.stack(columns, axis=1)
        return codes[(codes >= 0).all(axis=1)]

    @cached_property
    def hidden_labels(self) -> tuple[tuple[tuple[Value, ...], NDArray[np.int32]], ...]:
        """By column the different labels of the suppressed classes, and which of them each class has.

        >>> Cuts((Cut("job", ("nurse",), ("medic",)),), frozenset({("medic",)})).hidden_labels
        ((('medic',), array([0], dtype=int32)),)
        """
        classes = [labels for labels in self.suppress if len(labels) == len(self.cuts)]
        found = []
        for labels in zip(*classes, strict=True) if classes else [()] * len(self.cuts):
            place = {label: i for i, label in enumerate(dict.fromkeys(labels))}
            found.append((tuple(place), np.fromiter(map(place.__getitem__, labels), np.int32, len(labels))))
        return tuple(found)

    def apply(self, counts: Counts) -> Counts:
        """Counts of the released columns (suppressed records included)."""
        return self.cells(counts).apply(counts)


_SPELLED: WeakKeyDictionary[Cuts, tuple[Counts, Cells]] = WeakKeyDictionary()
"""For rules the counts that they were last spelled out for, and how."""


def among(rows: NDArray[np.int32], some: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which rows of codes are among some others.

    >>> among(np.array([[0, 1], [2, 3]], np.int32), np.array([[2, 3]], np.int32)).tolist()
    [False, True]
    """
    chosen = np.zeros(len(rows), dtype=np.bool_)
    if not len(rows) or not len(some):
        return chosen
    key, space = row_keys(np.concatenate([rows, some]))
    return keys_among(key[: len(rows)], key[len(rows) :], space)


@dataclass(frozen=True, eq=False)
class Draws:
    """Every value of one column is replaced by a draw from its row of a transition matrix.

    `probabilities[i, j]` is the chance that `inputs[i]` is released as `outputs[j]`.

    >>> import numpy as np
    >>> Draws("sex", ("f", "m"), ("f", "m"), np.array([[0.9, 0.1], [0.1, 0.9]])).probabilities.sum()
    np.float64(2.0)
    """

    name: str
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    probabilities: NDArray[np.float64]
    info: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        p = self.probabilities
        if p.shape != (len(self.inputs), len(self.outputs)) or (p < 0).any() or not np.allclose(p.sum(1), 1, atol=1e-9):
            raise BadInput(
                f"the transition matrix of column {self.name!r} must have rows of probabilities that sum to 1"
            )
        object.__setattr__(self, "info", MappingProxyType(dict(self.info)))

    @property
    def names(self) -> tuple[str, ...]:
        """The one column it recodes."""
        return (self.name,)


Recoding = Cuts | Cells | Draws
"""Any of the three forms."""


def suppressed_tuples(
    released: Counts, marker: object = SUPPRESSED, *, columns: Iterable[str] | None = None
) -> NDArray[np.bool_]:
    """Tuples suppressed in every column; none where the whole table reads so (a table generalized to the top).

    A suppressed set is a list that holds the marker and nothing else. With `columns` only these are looked at.

    >>> suppressed_tuples(Counts.of({"job": ["nurse", "*"], "likes": [("tea",), ("*",)]})).tolist()
    [False, True]
    """
    gone = np.ones(len(released), dtype=np.bool_)
    for name in released.names if columns is None else columns:
        hidden = np.array([value in (marker, (marker,)) for value in released.values_of(name)], dtype=np.bool_)
        gone &= hidden[released.column(name)]
    return np.zeros_like(gone) if bool(gone.all()) else gone
