"""Counts of more distinct tuples than fit in memory: column totals are known, tuples are counted on demand.

Every value of every column is known with its rows, and so is every value of the columns counted along. The tuples
themselves are counted anew each time somebody asks, at coarser codes, in parts, or a few of them: whoever wants all at
once is refused, with what they would take. The rows stay with the engine that coded them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Rows
from keepsense.counts import Counts, Histogram, Value
from keepsense.errors import TooLarge
from keepsense.recoding import SUPPRESSED, Cuts

Through = Sequence[NDArray[Any] | None]
"""For each column the code that stands for each of its codes, or None where each stands for itself."""


class CodedTable(Protocol):
    """Rows as codes, held by an engine, that can be counted again and again.

    >>> from keepsense.engines.partitioned_count import CodedRows
    >>> table: CodedTable = CodedRows({}, {}, room=0)
    >>> table.names
    ()
    """

    @property
    def names(self) -> tuple[str, ...]:
        """The columns whose tuples are counted."""

    @property
    def rows(self) -> int:
        """How many rows there are."""

    @property
    def room(self) -> int:
        """Bytes that may be taken for what is decided on."""

    def values(self, name: str) -> tuple[Value, ...]:
        """Dictionary of a column, or of one that is counted along."""

    def marginal(self, name: str) -> NDArray[np.int64]:
        """Rows that hold each value of such a column."""

    def parts(self, through: Through, further: Sequence[str] = ()) -> Iterator[Counts]:
        """Counts of the tuples at other codes, part by part: a tuple is in one part, and all come in order."""

    def about(self, through: Through) -> int:
        """About how many different tuples there are at other codes."""

    def sizes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Numbers of rows that tuples have, and how many tuples have each."""

    def pair(self, first: int, second: int, through: Through) -> NDArray[np.int64]:
        """Rows of every pair of codes of two columns, as a table."""

    def marked(self, through: Through, some: NDArray[Any]) -> list[NDArray[np.int64]]:
        """By column, the rows of each value among those whose tuples, at other codes, are some given ones."""


class Sizes(NamedTuple):
    """How many tuples have how many rows.

    >>> Sizes(np.array([1, 5]), np.array([30, 2])).tuples
    32
    """

    rows: NDArray[np.int64]
    number: NDArray[np.int64]

    @property
    def tuples(self) -> int:
        """How many there are."""
        return int(self.number.sum())


class Became(NamedTuple):
    """What a recoding of whole values made of a column: its labels, the label of each value, and the rows it hides.

    >>> Became(("medic", "*"), np.array([0, 0]), np.array([0, 3])).hidden.tolist()
    [0, 3]
    """

    labels: tuple[Value, ...]
    label: NDArray[np.int64]
    hidden: NDArray[np.int64]


class LargeCounts(Counts):
    """Counts that are not held: the same figures as `Counts`, but codes and weights of all tuples are refused.

    >>> from keepsense.engines.protocol import engine
    >>> with engine("duckdb") as duck:
    ...     table = duck.read({"sex": ["f", "m", "f"], "job": ["nurse", "clerk", "nurse"]})
    ...     counts = duck.recounted(table, ["sex", "job"])
    >>> len(counts), counts.total, counts.rows_of("job"), counts.sizes.rows.tolist()
    (2, 3, {'clerk': 1, 'nurse': 2}, [1, 2])
    >>> counts.codes
    Traceback (most recent call last):
    ...
    keepsense.errors.TooLarge: 2 different combinations of 2 columns are more than memory may hold at once
    """

    def __init__(self, table: CodedTable, further: Iterable[str] = (), refusal: str = "") -> None:
        names = table.names
        own = {
            "table": table,
            "names": names,
            "values": tuple(table.values(name) for name in names),
            "histograms": MappingProxyType({name: _whole(table, name) for name in further}),
            "sums": MappingProxyType({}),
            "_marginals": {name: table.marginal(name) for name in names},
            "_refusal": refusal,
            "_drawn": dict[bytes, Counts](),
            "_last": WeakKeyDictionary[Cuts, dict[str, Became]](),
        }
        vars(self).update(own)

    table: CodedTable
    _refusal: str
    _drawn: dict[bytes, Counts]
    _last: WeakKeyDictionary[Cuts, dict[str, Became]]

    def __len__(self) -> int:
        return self.sizes.tuples

    @property
    def total(self) -> int:
        """Number of rows."""
        return self.table.rows

    @cached_property
    def sizes(self) -> Sizes:
        """How many tuples have how many rows."""
        return Sizes(*self.table.sizes())

    def refused(self) -> TooLarge:
        """The error for whoever needs all tuples at once."""
        several = f"{len(self):,} different combinations of {len(self.names)} columns"
        return TooLarge(self._refusal or f"{several} are more than memory may hold at once")

    @property
    def codes(self) -> Any:
        """Refused: they do not fit."""
        raise self.refused()

    @property
    def weights(self) -> Any:
        """Refused: they do not fit."""
        raise self.refused()

    def project(self, names: Iterable[str]) -> Counts:
        """Refused: a part of the columns is counted by the engine, from the rows."""
        raise self.refused()

    # ---- what is counted anew ------------------------------------------------------------------------------------

    def coarser(self, through: Through, further: Sequence[str] = ()) -> Iterator[Counts]:
        """Counts with the codes of each column replaced by others of its codes, part by part.

        The dictionaries stay as they are: a coarser tuple is spelled by one value for each group of values.

        >>> from keepsense.engines.protocol import engine
        >>> with engine("duckdb") as duck:
        ...     counts = duck.recounted(duck.read({"sex": ["f", "m", "f"], "job": ["a", "a", "b"]}), ["sex", "job"])
        ...     [part.weights.tolist() for part in counts.coarser([np.array([0, 0]), None])]
        [[2, 1]]
        """
        return self.table.parts(through, further)

    def drawn(self, at: NDArray[Any]) -> Counts:
        """Counts of the tuples at some places, which ascend, in their order; dictionaries are those of all.

        >>> from keepsense.engines.protocol import engine
        >>> with engine("duckdb") as duck:
        ...     duck.recounted(duck.read({"job": ["a", "b", "b"]}), ["job"]).drawn(np.array([1])).weights.tolist()
        [2]
        """
        places = np.asarray(at, dtype=np.int64)
        key = places.tobytes()
        if key not in self._drawn:
            chosen, first = list[Counts](), 0
            for part in self.table.parts([None] * len(self.names), tuple(self.histograms)):
                inside = places[(places >= first) & (places < first + len(part))] - first
                first += len(part)
                chosen.append(_some(part, inside))
            self._drawn[key] = joined(chosen)
        return self._drawn[key]

    def became(self, rule: Cuts) -> dict[str, Became]:
        """What a recoding made of every column that it is about, all columns of the counts.

        >>> from keepsense.engines.protocol import engine
        >>> from keepsense.recoding import Cut
        >>> rule = Cuts((Cut("job", ("a", "b"), ("x", "y")),), frozenset({("x",)}))
        >>> with engine("duckdb") as duck:
        ...     duck.recounted(duck.read({"job": ["a", "b", "b"]}), ["job"]).became(rule)["job"].hidden.tolist()
        [1, 0]
        """
        known = self._last.get(rule)
        if known is not None:
            return known
        if set(rule.names) != set(self.names):
            raise self.refused()
        labels, through = self._labels(rule)
        hidden = [np.zeros(len(values), dtype=np.int64) for values in self.values]
        if rule.suppress:
            listed = rule.suppressed_codes([labels[name] for name in rule.names])
            places = [rule.names.index(name) for name in self.names]
            hidden = self.table.marked([through[name] for name in self.names], listed[:, places])
            for name in self.names:
                labels[name].setdefault(SUPPRESSED, len(labels[name]))
        self._last[rule] = {
            name: Became(tuple(labels[name]), through[name], rows)
            for name, rows in zip(self.names, hidden, strict=True)
        }
        return self._last[rule]

    def _labels(self, rule: Cuts) -> tuple[dict[str, dict[Value, int]], dict[str, NDArray[np.int64]]]:
        """By column: its labels with their numbers, and the number of each value's label."""
        labels, through = {}, {}
        for cut in rule.cuts:
            outputs, place = dict(zip(cut.inputs, cut.outputs, strict=True)), dict[Value, int]()
            numbers = [place.setdefault(outputs[value], len(place)) for value in self.values_of(cut.name)]
            labels[cut.name], through[cut.name] = place, np.array(numbers, dtype=np.int64)
        return labels, through

    def released(self, rule: Cuts) -> tuple[NDArray[np.int64], int]:
        """Sizes of the classes that a recoding releases, and how many records it suppresses."""
        through = [first_alike(self._labels(rule)[1][name]) for name in self.names]
        sizes, suppressed = list[NDArray[np.int64]](), 0
        for part in self.table.parts(through):
            cells = rule.cells(part)
            hidden = np.zeros(len(part), np.bool_) if cells.suppressed is None else cells.suppressed
            sizes.append(part.weights[~hidden])
            suppressed += int(part.weights[hidden].sum())
        return np.concatenate(sizes), suppressed


def first_alike(groups: NDArray[Any]) -> NDArray[np.int64]:
    """For each code the first one of its group.

    >>> first_alike(np.array([7, 3, 7, 3])).tolist()
    [0, 1, 0, 1]
    """
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    return first[inverse.ravel()]


def _whole(table: CodedTable, name: str) -> Histogram:
    """The values of a column in the whole table, as if it were one class."""
    numbers = table.marginal(name)
    rows = Rows(np.array([0, len(numbers)], np.int32), np.arange(len(numbers), dtype=np.int32))
    return Histogram(table.values(name), rows, numbers)


def _some(counts: Counts, at: NDArray[np.int64]) -> Counts:
    """Tuples at some places, with all dictionaries."""
    further = {}
    for name, h in counts.histograms.items():
        each = Rows(h.rows.starts, np.arange(len(h.counts), dtype=np.int32)).gather(at.astype(np.int32))
        starts = np.concatenate(([0], np.cumsum(h.rows.sizes[at]))).astype(np.int32)
        further[name] = Histogram(h.values, Rows(starts, h.rows.indices[each]), h.counts[each])
    return Counts(counts.names, counts.values, counts.codes[at], counts.weights[at], further)


def joined(parts: Sequence[Counts]) -> Counts:
    """Parts of one table's counts, one after the other.

    >>> jobs = [Counts(("job",), (("clerk", "nurse"),), np.array([[code]], np.int32), np.array([2])) for code in (0, 1)]
    >>> joined(jobs).rows_of("job")
    {'clerk': 2, 'nurse': 2}
    """
    first = parts[0]
    if len(parts) == 1:
        return first
    histograms = {}
    for name in first.histograms:
        every = [part.histograms[name] for part in parts]
        starts = np.concatenate(([0], np.cumsum(np.concatenate([each.rows.sizes for each in every]))))
        indices = np.concatenate([each.rows.indices for each in every])
        numbers = np.concatenate([each.counts for each in every])
        histograms[name] = Histogram(every[0].values, Rows(starts.astype(np.int32), indices), numbers)
    codes, weights = (np.concatenate([getattr(part, which) for part in parts]) for which in ("codes", "weights"))
    return Counts(first.names, first.values, codes, weights, histograms)
