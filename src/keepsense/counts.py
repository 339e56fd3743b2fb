"""The distinct tuples of a table as integer codes with weights: all that methods see of it, and never a row.

An engine makes `Counts` with one GROUP BY; `Counts.of` makes them from columns in memory.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Ints, Rows, frozen, used_codes
from keepsense.errors import BadInput, did_you_mean

Value = Hashable
"""A cell as it stands in the table: a string, a number, a date, or None where it is missing."""


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """How often each value of one more column occurs under each distinct tuple: additive, so it survives merging.

    >>> h = Histogram(("flu", "cold"), Rows.from_pairs([0, 0, 1], [0, 1, 1], 2), np.array([3, 1, 2]))
    >>> h.table().tolist()
    [[3, 1], [0, 2]]
    """

    values: tuple[Value, ...]
    rows: Rows
    counts: NDArray[np.int64]

    def table(self) -> NDArray[np.int64]:
        """Dense tuples x values table; for small value sets."""
        dense = np.zeros((len(self.rows), len(self.values)), dtype=np.int64)
        np.add.at(dense, (self.rows.row_of(), self.rows.indices), self.counts)
        return dense

    def total(self) -> NDArray[np.int64]:
        """Count of each value over all tuples."""
        return np.bincount(self.rows.indices, self.counts, len(self.values)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Counts:
    """Distinct tuples of some columns and how many rows hold each.

    `codes[i, j]` is the position of tuple i's value in `values[j]`; `weights[i]` is its number of rows. `histograms`
    count further columns (sensitive values, classes) under each tuple; `sums` add up numbers under each tuple.

    >>> counts = Counts.of({"sex": ["f", "m", "f"], "job": ["nurse", "clerk", "nurse"]})
    >>> counts.weights.tolist(), counts.total
    ([2, 1], 3)
    """

    names: tuple[str, ...]
    values: tuple[tuple[Value, ...], ...]
    codes: NDArray[np.int32]
    weights: NDArray[np.int64]
    histograms: Mapping[str, Histogram] = field(default_factory=dict)
    sums: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    _marginals: dict[str, NDArray[np.int64]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.codes.shape != (len(self.weights), len(self.names)) or len(self.values) != len(self.names):
            raise BadInput(f"counts: {self.codes.shape} codes do not fit {len(self.names)} columns")
        frozen(self.codes)
        frozen(self.weights)
        object.__setattr__(self, "histograms", MappingProxyType(dict(self.histograms)))
        object.__setattr__(self, "sums", MappingProxyType(dict(self.sums)))

    @classmethod
    def of(
        cls,
        columns: Mapping[str, Sequence[object]],
        *,
        histograms: Mapping[str, Sequence[object]] | None = None,
        sums: Mapping[str, Sequence[float]] | None = None,
        weights: Sequence[int] | None = None,
    ) -> Counts:
        """Count columns held in memory; values are numbered in order of first appearance, tuples likewise."""
        names = tuple(columns)
        coded = [_encoded(name, columns[name]) for name in names]
        values = tuple(v for v, _ in coded)
        n = len(coded[0][1]) if coded else 0
        further_columns = {name: _encoded(name, column) for name, column in (histograms or {}).items()}
        lengths = {name: len(codes) for name, (_, codes) in (*zip(names, coded, strict=True), *further_columns.items())}
        for name, length in (*lengths.items(), *((name, len(x)) for name, x in (sums or {}).items())):
            if length != n:
                raise BadInput(f"column {name!r} has {length} rows, the first column {n}")
        table = np.stack([c for _, c in coded], axis=1) if coded else np.empty((n, 0), np.int32)
        distinct, group = distinct_rows(table)
        w = np.ones(n, np.int64) if weights is None else _weights(weights, n)
        m = len(distinct)
        further = {name: histogram(*found, group, w, m) for name, found in further_columns.items()}
        return cls(
            names,
            values,
            distinct,
            np.bincount(group, w, m).astype(np.int64),
            further,
            {name: _added(group, np.asarray(x, np.float64) * w, m) for name, x in (sums or {}).items()},
        )

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def total(self) -> int:
        """Number of rows."""
        return int(self.weights.sum())

    def index(self, name: str) -> int:
        """Position of a column."""
        try:
            return self.names.index(name)
        except ValueError:
            raise BadInput(
                f"no column {name!r} among {', '.join(self.names)}.{did_you_mean(name, self.names)}"
            ) from None

    def column(self, name: str) -> Ints:
        """Codes of one column, one for each distinct tuple."""
        return self.codes[:, self.index(name)]

    def values_of(self, name: str) -> tuple[Value, ...]:
        """Dictionary of one column: the value each code stands for."""
        return self.values[self.index(name)]

    def marginal(self, name: str) -> NDArray[np.int64]:
        """Rows that hold each value of one column, aligned with its dictionary."""
        if name not in self._marginals:  # many ask for it
            rows = np.bincount(self.column(name), self.weights, len(self.values_of(name)))
            self._marginals[name] = rows.astype(np.int64)
        return self._marginals[name].copy()

    def rows_of(self, name: str) -> dict[Value, int]:
        """Rows that hold each value of one column, by value, in the order of its dictionary."""
        return dict(zip(self.values_of(name), self.marginal(name).tolist(), strict=True))

    def joint(self, first: str, second: str) -> Any:
        """Joint counts of two columns as a SciPy sparse matrix (values of the first x values of the second)."""
        from scipy.sparse import coo_array

        shape = (len(self.values_of(first)), len(self.values_of(second)))
        keys = self.column(first).astype(np.int64) * shape[1]
        keys += self.column(second)
        pairs, rows = added_up(keys, max(1, shape[0] * shape[1]), self.weights)
        return coo_array((rows, np.divmod(pairs, max(1, shape[1]))), shape=shape).tocsr()

    def project(self, names: Iterable[str]) -> Counts:
        """Counts of some of the columns only, sorted; histograms and sums are added up."""
        chosen = tuple(names)
        at = [self.index(name) for name in chosen]
        distinct, group = distinct_rows(self.codes[:, at])
        keys, _ = row_keys(distinct)
        if len(distinct) and not _ascends(keys):
            order = np.argsort(keys, kind="stable")
            distinct, group = distinct[order], np.argsort(order).astype(np.int32)[group]
        return self._merged(chosen, tuple(self.values[j] for j in at), distinct, group)

    def recoded(self, values: Sequence[tuple[Value, ...]], codes: NDArray[Any]) -> Counts:
        """Counts after every tuple got new codes (same columns, new dictionaries): equal tuples merge."""
        distinct, group = distinct_rows(np.ascontiguousarray(codes, dtype=np.int32))
        return self._merged(self.names, tuple(values), distinct, group)

    def some(self, at: NDArray[Any]) -> Counts:
        """Counts of some of the tuples alone; dictionaries hold only what these hold, in the order they had.

        >>> Counts.of({"job": ["nurse", "clerk", "baker"]}).some([0, 2]).values
        (('nurse', 'baker'),)
        """
        chosen = np.asarray(at, dtype=np.int64)
        values, codes = [], np.empty((len(chosen), len(self.names)), dtype=np.int32)
        for j, dictionary in enumerate(self.values):
            used, codes[:, j] = used_codes(self.codes[chosen, j])
            values.append(tuple(dictionary[code] for code in used.tolist()))
        place = np.full(len(self), -1, dtype=np.int64)
        place[chosen] = np.arange(len(chosen))
        further = {}
        for name, h in self.histograms.items():
            row = place[h.rows.row_of()]
            further[name] = histogram(
                h.values, h.rows.indices[row >= 0], row[row >= 0], h.counts[row >= 0], len(chosen)
            )
        sums = {name: numbers[chosen] for name, numbers in self.sums.items()}
        return Counts(self.names, tuple(values), codes, self.weights[chosen], further, sums)

    def _merged(
        self, names: tuple[str, ...], values: tuple[tuple[Value, ...], ...], distinct: Ints, group: Ints
    ) -> Counts:
        m = len(distinct)
        further = {
            name: histogram(h.values, h.rows.indices, group[h.rows.row_of()], h.counts, m)
            for name, h in self.histograms.items()
        }
        sums = {name: _added(group, x, m) for name, x in self.sums.items()}
        return Counts(names, values, distinct, np.bincount(group, self.weights, m).astype(np.int64), further, sums)


def _added(group: NDArray[Any], numbers: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    return np.bincount(group, numbers, size).astype(np.float64)


def _weights(weights: Sequence[int], n: int) -> NDArray[np.int64]:
    given = np.asarray(weights)
    if given.shape != (n,) or (n and given.dtype.kind not in "iu") or (given < 0).any():
        raise BadInput(f"weights: give a whole number of rows, 0 or more, for each of the {n:,} rows of the columns")
    return given.astype(np.int64)


def _encoded(name: str, column: Sequence[Any]) -> tuple[tuple[Value, ...], NDArray[np.int32]]:
    try:
        return encode(column)
    except TypeError as error:
        raise BadInput(f"column {name!r} holds cells that are no single values ({error})") from None


def encode(column: Sequence[Any]) -> tuple[tuple[Value, ...], NDArray[np.int32]]:
    """Number the distinct values of a column in order of first appearance; not-a-number is a missing value, None.

    >>> encode(["b", "a", "b"])[1].tolist()
    [0, 1, 0]
    >>> encode([0.5, float("nan"), float("nan")])
    ((0.5, None), array([0, 1, 1], dtype=int32))
    """
    place: dict[Any, int] = {}
    items = column.tolist() if isinstance(column, np.ndarray) else column
    codes = np.fromiter((place.setdefault(v, len(place)) for v in items), dtype=np.int32, count=len(items))
    if any(isinstance(v, float) and v != v for v in place):  # no two of them are equal, so each got a code of its own
        values, again = encode([None if isinstance(v, float) and v != v else v for v in place])
        return values, again[codes]
    return tuple(place), codes


def distinct_rows(table: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Distinct rows in order of first appearance, and for each row the position of its distinct one.

    >>> rows, group = distinct_rows(np.array([[1, 2], [0, 0], [1, 2]], dtype=np.int32))
    >>> rows.tolist(), group.tolist()
    ([[1, 2], [0, 0]], [0, 1, 0])
    """
    n, width = table.shape
    if width == 0:
        return np.empty((min(n, 1), 0), np.int32), np.zeros(n, np.int32)
    key, space = row_keys(table)
    if n and _ascends(key):  # as engines count them: all are different
        return np.ascontiguousarray(table), np.arange(n, dtype=np.int32)
    if n and (key[1:] >= key[:-1]).all():  # sorted, as a part of what engines count is
        new = np.append(True, key[1:] > key[:-1])
        return np.ascontiguousarray(table[new]), np.cumsum(new, dtype=np.int32) - np.int32(1)
    if space <= max(_ROOM, 2 * n):  # a place for every possible key is cheaper than sorting
        seen = np.full(space, n, dtype=np.int64)
        seen[key[::-1]] = np.arange(n - 1, -1, -1)  # the last to write is the first to appear
        used = np.flatnonzero(seen < n)
        first = seen[used]
        place = np.zeros(space, dtype=np.int32)
        order = np.argsort(first, kind="stable")
        place[used[order]] = np.arange(len(order), dtype=np.int32)
        return np.ascontiguousarray(table[first[order]]), place[key]
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return np.ascontiguousarray(table[first[order]]), rank[group]


_ROOM = 1 << 16
"""Possible keys up to which no sorting pays."""


def row_keys(table: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
    """One number for each row, the same for equal rows and larger for later ones, and how many there may be.

    >>> row_keys(np.array([[1, 2], [0, 0], [1, 1]]))[0].tolist()
    [5, 0, 4]
    """
    n, width = table.shape
    if not n or not width:
        return np.zeros(n, dtype=np.int64), 1
    parts = [slice(start, start + _BLOCK) for start in range(0, n, _BLOCK)]
    lows, highs = (
        np.array([[reduced(table[part, j]) for j in range(width)] for part in parts], dtype=np.int64)
        for reduced in (np.min, np.max)
    )
    low = lows.min(axis=0)
    spans = (highs.max(axis=0) - low + 1).tolist()
    if math.prod(spans) >= 1 << 62:
        return _ranked_keys(table, low.tolist(), spans)
    key = np.empty(n, dtype=np.int64)
    for part in parts:  # columns of few rows at a time stay in the cache
        block = key[part]
        np.subtract(table[part, 0], low[0], out=block)
        for j in range(1, width):
            block *= spans[j]
            block += table[part, j]
            block -= low[j]
    return key, math.prod(spans)


def _ranked_keys(table: NDArray[Any], low: Sequence[int], spans: Sequence[int]) -> tuple[NDArray[np.int64], int]:
    """The same where keys grow too large: ranks are as good as keys, and smaller."""
    key, space = np.zeros(len(table), dtype=np.int64), 1
    for j, span in enumerate(spans):
        if space > (2**62) // span:
            ranked, key = np.unique(key, return_inverse=True)
            key, space = key.astype(np.int64), len(ranked)
        key *= span
        key += table[:, j]
        key -= low[j]
        space *= span
    return key, space


def _ascends(key: NDArray[np.int64]) -> bool:
    """Whether every key is larger than the one before; the first few mostly tell."""
    few = key[:64]
    return bool((few[1:] > few[:-1]).all()) and bool((key[1:] > key[:-1]).all())


def added_up(keys: NDArray[np.int64], space: int, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """Different keys, all below `space`, in their order, and the sum of the numbers (0 or more) that stand by each.

    >>> [array.tolist() for array in added_up(np.array([7, 2, 7]), 8, np.array([1, 5, 2]))]
    [[2, 7], [5, 3]]
    """
    if space <= max(_ROOM, 2 * len(keys)):
        present = np.flatnonzero(np.bincount(keys, minlength=space))
        return present, np.bincount(keys, numbers, space)[present].astype(np.int64)
    bits = int(numbers.max(initial=0)).bit_length()
    if space > 1 << (62 - bits):
        order = np.argsort(keys)
        ordered, numbers = keys[order], numbers[order]
    else:  # sorted together in one number each: much faster than by an order
        together = (keys << bits) | numbers
        together.sort()
        ordered, numbers = together >> bits, together & ((1 << bits) - 1)
    starts = np.flatnonzero(np.concatenate((ordered[:1] == ordered[:1], ordered[1:] != ordered[:-1])))
    return ordered[starts], np.add.reduceat(numbers, starts) if len(starts) else numbers


def keys_among(keys: NDArray[np.int64], some: NDArray[np.int64], space: int) -> NDArray[np.bool_]:
    """Which keys, all below `space`, are among some others.

    >>> keys_among(np.array([7, 2, 1 << 40]), np.array([2, 1 << 40]), 1 << 41).tolist()
    [False, True, True]
    """
    there = np.zeros(len(keys), dtype=np.bool_)
    if not len(some):
        return there
    if space <= max(_ROOM, 4 * len(keys)):
        marked = np.zeros(space, dtype=np.bool_)
        marked[some] = True
        return marked[keys]
    ordered = np.unique(some)
    bits = max(16, (16 * len(ordered)).bit_length())
    marked = np.zeros(1 << bits, dtype=np.bool_)
    marked[_mixed(ordered, bits)] = True
    for start in range(0, len(keys), _BLOCK):
        block = keys[start : start + _BLOCK]
        maybe = np.flatnonzero(marked[_mixed(block, bits)])  # most are ruled out before anything is searched for
        at = np.minimum(np.searchsorted(ordered, block[maybe]), len(ordered) - 1)
        there[start + maybe] = ordered[at] == block[maybe]
    return there


_BLOCK = 1 << 15
"""Keys, or rows of codes, that are looked at together: so many stay in the cache."""


def _mixed(keys: NDArray[np.int64], bits: int) -> NDArray[np.int64]:
    """Numbers of some bits that keys which lie together share seldom."""
    spread = keys.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return (spread >> np.uint64(64 - bits)).view(np.int64)


def with_joined(counts: Counts, wide: Counts, joined: Mapping[str, Sequence[str]]) -> Counts:
    """Counts with histograms of tuples: of several columns together, which `wide` counts beside the same columns.

    >>> table = {"job": ["nurse"] * 3, "ill": ["flu", "flu", "cold"], "drug": ["x", "x", "y"]}
    >>> counts = with_joined(Counts.of({"job": table["job"]}), Counts.of(table), {"both": ("ill", "drug")})
    >>> counts.histograms["both"].values, counts.histograms["both"].counts.tolist()
    ((('flu', 'x'), ('cold', 'y')), [2, 1])
    """
    place = {values: i for i, values in enumerate(_tuples(counts, counts.names))}
    group = np.array([place[values] for values in _tuples(wide, counts.names)], dtype=np.int64)
    further = {}
    for name, columns in joined.items():
        values, codes = encode(_tuples(wide, columns))
        further[name] = histogram(values, codes, group, wide.weights, len(counts))
    return replace(counts, histograms={**counts.histograms, **further})


def _tuples(counts: Counts, names: Sequence[str]) -> list[tuple[Value, ...]]:
    """Values of some columns in every distinct tuple."""
    columns = [np.fromiter(counts.values_of(name), dtype=object)[counts.column(name)].tolist() for name in names]
    return list(zip(*columns, strict=True)) if columns else [()] * len(counts)


def histogram(
    values: tuple[Value, ...], codes: NDArray[Any], group: NDArray[Any], weights: NDArray[Any], size: int
) -> Histogram:
    """Add up weights by (group, code) into a histogram of `size` groups.

    >>> histogram(("flu", "cold"), np.array([0, 1, 0]), np.array([0, 0, 1]), np.array([3, 1, 2]), 2).table().tolist()
    [[3, 1], [2, 0]]
    """
    width = max(1, len(values))
    key = group.astype(np.int64) * width
    key += codes
    if size * width <= max(_ROOM, len(key)):
        distinct = np.flatnonzero(np.bincount(key, minlength=size * width))
        counts = np.bincount(key, weights, size * width)[distinct].astype(np.int64)
    elif len(key) and _ascends(key):
        distinct, counts = key, np.asarray(weights, dtype=np.int64)
    else:
        distinct, where = np.unique(key, return_inverse=True)
        counts = np.bincount(where, weights, len(distinct)).astype(np.int64)
    starts = np.zeros(size + 1, dtype=np.int32)
    np.cumsum(np.bincount(distinct // width, minlength=size), out=starts[1:])
    return Histogram(values, Rows(starts, (distinct % width).astype(np.int32)), counts)
