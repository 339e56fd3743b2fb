"""Count rows part by part: rows are divided by their leading codes, so that equal tuples are in one part.

Parts are in order. No part is larger than it need be, and each is counted separately, several at a time where there
are cores: memory grows with a part, not with the table.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import once
from keepsense.counts import Counts, Value
from keepsense.counts_out_of_core import Through, joined
from keepsense.engines.dictionary_encoding import Coded, Codes, counted, dense, found_among, narrow, packed

PART = 1 << 22
"""Rows of a part, about."""
_BLOCK = 1 << 20
"""Rows that are looked at together where nothing is sorted."""
_PREFIXES = 1 << 22
"""Different leading codes by which rows are divided, at most."""
_A_PART = 16
"""Leading codes for each part, at least: so that parts become about equally large."""
_HASHED = 1 << 22
"""Rows, about, that are looked at to tell about how many tuples there are."""

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Division:
    """The rows of each part; `sizes` are how many each has.

    Blocks of rows are sorted by their parts, each by itself: `order` holds the rows of the first block, part after
    part, then those of the next. `starts[b, p]` is where those of part p begin in block b.

    >>> divided = division([np.array([1, 0, 1, 2], np.uint8)], [3], 2)
    >>> divided.sizes, divided.rows(0).tolist(), divided.rows(1).tolist()
    ((3, 1), [0, 1, 2], [3])
    """

    sizes: tuple[int, ...]
    order: NDArray[Any]
    starts: NDArray[np.int64]

    def rows(self, number: int) -> NDArray[np.int64] | slice:
        """Places of the rows of a part, ascending; a slice where there is one only."""
        if len(self.sizes) == 1:
            return slice(None)
        begins, ends = self.starts[:, number].tolist(), self.starts[:, number + 1].tolist()
        runs = [self.order[begin:end] for begin, end in zip(begins, ends, strict=True)]
        return np.concatenate(runs).astype(np.int64)


def _whole(rows: int) -> Division:
    """All rows in one part."""
    return Division((rows,), np.zeros(0, np.uint32), np.zeros((0, 2), np.int64))


def division(columns: Sequence[Any], sizes: Sequence[int], most: int, threads: int = 1) -> Division:
    """Divide rows into parts of about `most`, by the codes of as many leading columns as that takes.

    >>> division([np.array([1, 1, 1], np.uint8)], [2], 2).sizes
    (3,)
    """
    rows = len(columns[0])
    wanted = -(-rows // most)
    if wanted <= 1:
        return _whole(rows)
    leading, space = 1, sizes[0]
    while leading < len(columns) and space < _A_PART * wanted and space * sizes[leading] <= _PREFIXES:
        space *= sizes[leading]
        leading += 1
    blocks = [slice(start, min(rows, start + _BLOCK)) for start in range(0, rows, _BLOCK)]
    prefix = partial(_prefix, columns[:leading], sizes)
    there = np.zeros(space, dtype=np.int64)
    for counts in in_turn(lambda block: np.bincount(prefix(block), minlength=space), blocks, threads):
        there += counts
    before = np.cumsum(there) - there
    _, number = np.unique(before // most, return_inverse=True)
    number = number.astype(np.uint16)
    parts = int(number[-1]) + 1
    order = np.empty(rows, dtype=np.uint32 if rows <= np.iinfo(np.uint32).max else np.uint64)

    def sort(block: slice) -> NDArray[np.int64]:
        part = number[prefix(block)]
        order[block] = np.argsort(part, kind="stable") + block.start
        return np.bincount(part, minlength=parts)

    inside = np.array(list(in_turn(sort, blocks, threads)))
    starts = np.concatenate(([0], np.cumsum(inside))).astype(np.int64)
    own = np.arange(len(blocks))[:, None] * parts + np.arange(parts + 1)
    return Division(tuple(inside.sum(axis=0).tolist()), order, starts[own])


def _prefix(columns: Sequence[Any], sizes: Sequence[int], block: slice) -> NDArray[np.int64]:
    key: NDArray[np.int64] = columns[0][block].astype(np.int64)
    for codes, size in zip(columns[1:], sizes[1:], strict=False):
        key *= size
        key += codes[block]
    return key


def in_turn(function: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """What a function makes of each item, in order, with so many at work at once and none far ahead.

    >>> list(in_turn(abs, [-2, 1], 2))
    [2, 1]
    """
    if threads < 2:
        yield from map(function, items)
        return
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Columns of a table as codes, to be counted again and again; `room` is what decisions on them may take, in bytes.

    >>> import pyarrow as pa
    >>> from keepsense.engines.dictionary_encoding import encoded
    >>> jobs, sexes = (encoded(pa.array(cells)) for cells in (["nurse", "clerk", "nurse"], ["f", "f", "m"]))
    >>> rows = CodedRows({"job": jobs, "sex": sexes}, {}, room=10**9)
    >>> [part.weights.tolist() for part in rows.parts([None, np.array([0, 0])])], rows.sizes()[1].tolist()
    ([[1, 2]], [3])
    """

    columns: Mapping[str, Coded]
    further: Mapping[str, Coded]
    room: int
    most: int = PART
    threads: int = 1

    @property
    def names(self) -> tuple[str, ...]:
        """The columns whose tuples are counted."""
        return tuple(self.columns)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.columns.values())).codes)

    def values(self, name: str) -> tuple[Value, ...]:
        """Dictionary of a column, or of one that is counted along."""
        return self._column(name).values

    def marginal(self, name: str) -> NDArray[np.int64]:
        """Rows that hold each value of such a column."""
        return self._column(name).rows()

    def _column(self, name: str) -> Coded:
        return self.columns[name] if name in self.columns else self.further[name]

    def parts(self, through: Through, further: Sequence[str] = ()) -> Iterator[Counts]:
        """Counts of the tuples at other codes, part by part: a tuple is in one part, and all come in order."""
        divided = self._divided(through)
        count = partial(self._part, through, tuple(further), divided)
        return in_turn(count, range(len(divided.sizes)), self.threads)

    def about(self, through: Through) -> int:
        """About how many different tuples there are at other codes: some of them, by their hash, are counted."""
        share = max(1, self.rows // _HASHED)
        pairs = zip(self.columns.values(), through, strict=True)
        columns = [(c.codes, _numbers(len(c), lookup, j)) for j, (c, lookup) in enumerate(pairs)]
        blocks = (slice(start, start + _BLOCK) for start in range(0, self.rows, _BLOCK))
        some = list(in_turn(partial(_hashes, columns, share), blocks, self.threads))
        return min(self.rows, share * len(once(np.concatenate(some)))) if some else 0

    def sizes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Numbers of rows that tuples have, and how many tuples have each."""
        through = [None] * len(self.columns)
        divided = self._divided(through)
        total = np.zeros(1, dtype=np.int64)
        for weights in in_turn(partial(self._weights, through, divided), range(len(divided.sizes)), self.threads):
            number = np.bincount(weights)
            longer, shorter = (number, total) if len(number) > len(total) else (total, number)
            longer[: len(shorter)] += shorter
            total = longer
        there = np.flatnonzero(total)
        return there, total[there]

    def pair(self, first: int, second: int, through: Through) -> NDArray[np.int64]:
        """Rows of every pair of codes of two columns, as a table."""
        found, sizes = [], []
        for at in (first, second):
            column = [*self.columns.values()][at]
            lookup = through[at]
            sizes.append(len(column) if lookup is None else int(lookup.max(initial=0)) + 1)
            found.append((column.codes, None if lookup is None else narrow(lookup, sizes[-1])))
        space = math.prod(sizes)
        total = np.zeros(space, dtype=np.int64)
        step = max(_BLOCK, 4 * space)

        def block(start: int) -> NDArray[np.int64]:
            key = _looked_up(*found[0], slice(start, start + step)).astype(np.int64)
            key *= sizes[1]
            key += _looked_up(*found[1], slice(start, start + step))
            return np.bincount(key, minlength=space)

        for rows in in_turn(block, range(0, self.rows, step), self.threads):
            total += rows
        return total.reshape(sizes)

    def marked(self, through: Through, some: NDArray[Any]) -> list[NDArray[np.int64]]:
        """By column, the rows of each value among those whose tuples, at other codes, are some given ones."""
        columns, sizes = [*self.columns.values()], self._sizes(through)
        lookups = self._lookups(through)
        listed = list(np.asarray(some, dtype=np.int64).T)
        totals = [np.zeros(len(column), dtype=np.int64) for column in columns]

        def block(start: int) -> list[NDArray[np.int64]]:
            rows = slice(start, start + self.most)
            found = [_looked_up(c.codes, lookup, rows) for c, lookup in zip(columns, lookups, strict=True)]
            hidden = found_among(found, listed, sizes)
            return [np.bincount(column.codes[rows][hidden], minlength=len(column)) for column in columns]

        for counts in in_turn(block, range(0, self.rows, self.most), self.threads):
            for total, more in zip(totals, counts, strict=True):
                total += more
        return totals

    # ---- one part ------------------------------------------------------------------------------------------------

    def _sizes(self, through: Through) -> list[int]:
        pairs = zip(self.columns.values(), through, strict=True)
        return [len(column) if lookup is None else int(lookup.max(initial=0)) + 1 for column, lookup in pairs]

    def _lookups(self, through: Through) -> list[Codes | None]:
        sizes = self._sizes(through)
        return [None if each is None else narrow(each, size) for each, size in zip(through, sizes, strict=True)]

    def _divided(self, through: Through) -> Division:
        """Rows divided by their codes; leading columns are looked up in blocks."""
        if self.rows <= self.most:
            return _whole(self.rows)
        lookups = self._lookups(through)
        leading = [
            _LookedUp(column.codes, lookup) for column, lookup in zip(self.columns.values(), lookups, strict=True)
        ]
        return division(leading, self._sizes(through), self.most, self.threads)

    def _gathered(self, through: Through, divided: Division, number: int) -> tuple[dict[str, Coded], Any]:
        rows = divided.rows(number)
        found = {}
        for (name, column), lookup in zip(self.columns.items(), self._lookups(through), strict=True):
            found[name] = column.recoded(_looked_up(column.codes, lookup, rows))
        return found, rows

    def _part(self, through: Through, further: tuple[str, ...], divided: Division, number: int) -> Counts:
        columns, rows = self._gathered(through, divided, number)
        along = {name: self.further[name].recoded(self.further[name].codes[rows]) for name in further}
        return counted(columns, along, {})

    def _weights(self, through: Through, divided: Division, number: int) -> NDArray[np.int64]:
        columns, _ = self._gathered(through, divided, number)
        keys = packed([column.codes for column in columns.values()], [len(column) for column in columns.values()]).keys
        keys.sort()
        starts = np.flatnonzero(np.concatenate((keys[:1] == keys[:1], keys[1:] != keys[:-1])))
        return np.diff(starts, append=len(keys))


@dataclass(frozen=True)
class _LookedUp:
    """A column at other codes, of which only blocks are ever made."""

    codes: Codes
    lookup: Codes | None

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Any) -> Codes:
        return _looked_up(self.codes, self.lookup, rows)


def _numbers(size: int, lookup: Codes | None, column: int) -> NDArray[np.uint64]:
    """For each code of a column a number that looks like drawn, so that tuples are told apart by their sums.

    The numbers are SplitMix64's (Steele, Lea and Flood 2014).
    """
    codes = np.arange(size) if lookup is None else lookup
    mixed = (codes.astype(np.uint64) + np.uint64(column << 40)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


def _hashes(columns: Sequence[tuple[Codes, NDArray[np.uint64]]], share: int, rows: slice) -> NDArray[np.uint64]:
    """Hashes of some rows' tuples: those of one tuple in `share`, whichever rows hold it."""
    mixed = np.zeros(len(columns[0][0][rows]), dtype=np.uint64)
    for codes, numbers in columns:
        mixed += numbers[codes[rows]]
    return mixed if share == 1 else mixed[mixed % np.uint64(share) == 0]


def _looked_up(codes: Codes, lookup: Codes | None, rows: Any) -> Codes:
    found: Codes = codes[rows] if lookup is None else lookup[codes[rows]]
    return found


def counted_in_parts(
    columns: Mapping[str, Coded], further: Mapping[str, Coded], most: int = PART, threads: int = 1
) -> Counts:
    """What `counted` gives, of many rows: no more than a few parts of them are looked at together.

    >>> import pyarrow as pa
    >>> from keepsense.engines.dictionary_encoding import encoded
    >>> counted_in_parts({"job": encoded(pa.array(["nurse", "clerk", "nurse"]))}, {}, most=1).weights.tolist()
    [1, 2]
    """
    few = dense(columns, further)
    if few is not None:
        return few
    rows = CodedRows(columns, further, 0, most, threads)
    parts = list(rows.parts([None] * len(columns), tuple(further)))
    return joined(parts)
