"""Columns as integer codes with sorted dictionaries, and counts of such codes.

Codes are packed into one 64-bit key a row, sorted once; columns that need more bits are packed onto the ranks of those
before. An engine makes the codes; all else here is arrays. No string is compared twice.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Ints, Rows, used_codes
from keepsense.counts import Counts, Histogram, Value, keys_among
from keepsense.errors import BadInput

# Arrow arrays from Python's and NumPy's and back, without pandas
#
# Where pandas is installed, Arrow imports it before it converts a list or an array, which takes longer than reading a
# small table. Texts and numbers go through their buffers instead.

_NUMBERS = {
    "int8": np.int8,
    "int16": np.int16,
    "int32": np.int32,
    "int64": np.int64,
    "uint8": np.uint8,
    "uint16": np.uint16,
    "uint32": np.uint32,
    "uint64": np.uint64,
    "float": np.float32,
    "double": np.float64,
}
"""Types whose cells lie in Arrow's buffers as in NumPy's."""
_OFFSETS: dict[str, Any] = {"string": np.int32, "large_string": np.int64}


def array(values: Sequence[Any] | NDArray[Any], kind: Any = None) -> Any:
    """What `pyarrow.array` makes of values, of a type if one is given.

    >>> array(["nurse", None, "clérk"]).to_pylist(), str(array([3, 1]).type), array(np.array([2.5])).to_pylist()
    (['nurse', None, 'clérk'], 'int64', [2.5])
    """
    import pyarrow as pa

    if not isinstance(values, np.ndarray):
        values = values if isinstance(values, list) else list(values)
        if not values:
            return pa.nulls(0, pa.null() if kind is None else kind)
        cells = set(map(type, values))
        if cells <= {str, type(None)} and str in cells and (kind is None or str(kind) in _OFFSETS):
            return _texts(values, pa.string() if kind is None else kind)
        if cells != {int} or (kind is not None and str(kind) != "int64") or _beyond(values):
            return pa.array(values, kind)
        values = np.array(values, np.int64)
    own = pa.from_numpy_dtype(values.dtype) if values.dtype.kind in "iuf" else None
    if own is None or values.ndim != 1 or str(own) not in _NUMBERS or (kind is not None and kind != own):
        return pa.array(values, kind)
    return pa.Array.from_buffers(own, len(values), [None, pa.py_buffer(np.ascontiguousarray(values))])


def _beyond(values: list[int]) -> bool:
    return min(values) < -(2**63) or max(values) >= 2**63


def _texts(values: list[str | None], kind: Any) -> Any:
    """Texts and gaps, through their bytes; what is no Unicode, or too long, is left to Arrow, which says so."""
    import pyarrow as pa

    try:
        cells = [b"" if value is None else value.encode() for value in values]
    except UnicodeEncodeError:
        return pa.array(values, kind)
    ends = np.zeros(len(cells) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, cells), np.int64, len(cells)), out=ends[1:])
    offsets = _OFFSETS[str(kind)]
    if ends[-1] > np.iinfo(offsets).max:
        return pa.array(values, kind)
    there = None
    if None in values:
        there = pa.py_buffer(np.packbits([value is not None for value in values], bitorder="little"))
    buffers = [there, pa.py_buffer(ends.astype(offsets)), pa.py_buffer(b"".join(cells))]
    return pa.Array.from_buffers(kind, len(values), buffers)


def numbers(cells: Any) -> NDArray[Any]:
    """What `to_numpy` gives for an Arrow array.

    >>> import pyarrow as pa
    >>> numbers(pa.array([1, 2, 3], pa.int16())[1:]).tolist(), numbers(pa.array([1.5, None])).tolist()
    ([2, 3], [1.5, nan])
    """
    dtype = _NUMBERS.get(str(cells.type))
    if dtype is None or cells.null_count or not len(cells):
        return np.asarray(cells.to_numpy(zero_copy_only=False))
    return np.frombuffer(cells.buffers()[1], dtype)[cells.offset : cells.offset + len(cells)]


def unified(chunks: Any) -> Any:
    """Dictionary-encoded chunks with one dictionary for all; those of a column of no type have no values to unify.

    >>> import pyarrow as pa
    >>> unified(pa.chunked_array([pa.nulls(1), pa.nulls(2)]).dictionary_encode()).null_count
    3
    """
    import pyarrow as pa

    return chunks if pa.types.is_null(chunks.type.value_type) else chunks.unify_dictionaries()


# Codes and dictionaries

Codes = NDArray[Any]
"""Codes in the smallest type of whole numbers that holds them."""

_MOST_BITS = 62
_BLOCK = 1 << 15
"""Rows whose keys are made together: so many stay in the cache."""
_TOGETHER = 1 << 21
"""Rows that wait before they become codes, or whose tuples are looked at together."""
_MANY_TEXTS = 20_000
"""Different texts in a part of a column from which on Arrow sorts and looks them up."""
_PLACES = 1 << 22
_TIMES = 8
"""Up to so many possible tuples, and fewer than an eighth of the rows, there is a place for each."""


@dataclass(frozen=True, eq=False)
class Coded:
    """A column: `codes` are positions in a dictionary, an Arrow array whose values all occur, sorted, missing last.

    >>> import pyarrow as pa
    >>> Coded(pa.array(["clerk", "nurse"]), np.array([1, 0, 1], np.uint8)).values
    ('clerk', 'nurse')
    """

    dictionary: Any
    codes: Codes

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """The dictionary in Python."""
        return tuple(self.dictionary.to_pylist())

    def __len__(self) -> int:
        return len(self.dictionary)

    def rows(self) -> NDArray[np.int64]:
        """Rows that hold each value."""
        return np.bincount(self.codes, minlength=len(self.dictionary))

    def recoded(self, codes: Codes) -> Coded:
        """Other rows in the same dictionary, of which some values may not occur; it is spelled out once for all."""
        made = Coded(self.dictionary, codes)
        vars(made)["values"] = self.values
        return made

    def taken(self, rows: Any) -> Coded:
        """The column of some rows, in their order; values that none of them holds are left out."""
        return tight(self.dictionary, self.codes[rows])

    def arrow(self) -> Any:
        """The column as an Arrow dictionary array."""
        import pyarrow as pa

        if not self.dictionary.null_count:
            return pa.DictionaryArray.from_arrays(array(self.codes), self.dictionary)
        last = len(self.dictionary) - 1  # Arrow knows missing cells, not missing values of a dictionary
        return pa.DictionaryArray.from_arrays(pa.array(self.codes, mask=self.codes == last), self.dictionary[:last])


def narrow(codes: Codes, size: int) -> Codes:
    """Codes of a dictionary of some size in the smallest type that holds them.

    >>> narrow(np.array([0, 3]), 4).dtype
    dtype('uint8')
    """
    kind = next(kind for kind in (np.uint8, np.uint16, np.uint32) if size <= np.iinfo(kind).max)
    return codes.astype(kind, copy=False)


def tight(dictionary: Any, codes: Codes) -> Coded:
    """A column whose dictionary holds only what occurs, in the order it has.

    >>> import pyarrow as pa
    >>> tight(pa.array(["baker", "clerk", "nurse"]), np.array([2, 0])).values
    ('baker', 'nurse')
    """
    used = np.flatnonzero(np.bincount(codes, minlength=len(dictionary)))
    if len(used) == len(dictionary):
        return Coded(dictionary, narrow(codes, len(dictionary)))
    place = np.zeros(len(dictionary), dtype=np.int64)
    place[used] = np.arange(len(used))
    return Coded(dictionary.take(array(used)), narrow(narrow(place, len(used))[codes], len(used)))


def encoded(column: Any) -> Coded:
    """A column of Arrow arrays as codes; equal cells get one code, however many chunks they come in.

    >>> import pyarrow as pa
    >>> coded = encoded(pa.chunked_array([["nurse", None], ["clerk"]]))
    >>> coded.values, coded.codes.tolist()
    (('clerk', 'nurse', None), [1, 2, 0])
    """
    import pyarrow as pa

    chunks = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    if not pa.types.is_dictionary(chunks.type):
        chunks = chunks.dictionary_encode()
    chunks = unified(chunks)
    if not chunks.num_chunks:
        return Coded(pa.array([], chunks.type.value_type), np.empty(0, np.uint8))
    dictionary = chunks.chunk(chunks.num_chunks - 1).dictionary
    missing, values = chunks.null_count > 0, dictionary.to_pylist()
    order = sorted(range(len(values)), key=lambda i: sorting_key(values[i]))
    place = np.empty(len(values) + 1, dtype=np.int64)
    place[order], place[len(values)] = np.arange(len(values)), len(values)
    place = narrow(place, len(values) + 1)
    codes = np.empty(len(chunks), dtype=place.dtype)
    start = 0
    for chunk in chunks.chunks:
        raw = chunk.indices.fill_null(len(values)) if chunk.null_count else chunk.indices
        codes[start : start + len(chunk)] = place[numbers(raw)]
        start += len(chunk)
    ordered = dictionary.take(array(order, pa.int64()))
    if missing:
        ordered = pa.concat_arrays([ordered, pa.nulls(1, ordered.type)])
    return tight(ordered, codes)


class Gathering:
    """A column that arrives in parts and becomes codes at once, so that its cells are never held as they came.

    >>> import pyarrow as pa
    >>> gathering = Gathering(pa.string())
    >>> for cells in (["nurse", None], ["clerk", "nurse"]): gathering.add(pa.array(cells))
    >>> coded = gathering.coded()
    >>> coded.values, coded.codes.tolist()
    (('clerk', 'nurse', None), [1, 2, 0, 1])
    """

    def __init__(self, kind: Any) -> None:
        import pyarrow as pa

        self._kind, self._place, self._codes = kind, dict[Any, int](), list[Codes]()
        self._dictionaries, self._waiting, self._rows = [pa.nulls(0, kind)], list[Any](), 0
        self._texts: Any = None

    def add(self, cells: Any) -> None:
        """Take the next cells, an Arrow array, as they are or dictionary-encoded."""
        import pyarrow as pa

        self._waiting.append(cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode())
        self._rows += len(cells)
        if self._rows >= _TOGETHER:
            self._settle()

    def _settle(self) -> None:
        """Make codes of the cells that wait, in the order in which values were first met; 0 is what is missing."""
        import pyarrow as pa

        if not self._waiting:
            return
        chunks = unified(pa.chunked_array(self._waiting))
        dictionary = chunks.chunk(chunks.num_chunks - 1).dictionary
        if self._texts is None and pa.types.is_string(self._kind) and len(dictionary) >= _MANY_TEXTS:
            self._texts = pa.concat_arrays(self._dictionaries)
        place = self._places(dictionary) if self._texts is None else self._places_of_texts(dictionary)
        for chunk in chunks.chunks:
            raw = chunk.indices.fill_null(len(dictionary)) if chunk.null_count else chunk.indices
            self._codes.append(place[numbers(raw)])
        self._waiting, self._rows = [], 0

    def _places(self, dictionary: Any) -> Codes:
        """The code of each value of a dictionary, and 0 behind them; values that are new get the next ones."""
        values = dictionary.to_pylist()
        new = [i for i, value in enumerate(values) if value is not None and value not in self._place]
        for i in new:
            self._place.setdefault(values[i], len(self._place) + 1)
        if new:
            self._dictionaries.append(dictionary.take(array(new)).cast(self._kind))
        place = np.array([*(self._place.get(value, 0) for value in values), 0], dtype=np.int64)
        return narrow(place, len(self._place) + 1)

    def _places_of_texts(self, dictionary: Any) -> Codes:
        """The same where there are very many texts, which stay Arrow's."""
        import pyarrow as pa
        from pyarrow import compute

        dictionary = dictionary.cast(self._kind)
        if not len(self._texts) and not dictionary.null_count:  # all are new, and usually different
            self._texts = dictionary.unique()
            if len(self._texts) == len(dictionary):
                return narrow(np.append(np.arange(1, len(dictionary) + 1), 0), len(dictionary) + 1)
        new = dictionary.filter(compute.is_null(compute.index_in(dictionary, self._texts))).drop_null().unique()
        self._texts = pa.concat_arrays([self._texts, new])
        found = compute.index_in(dictionary, self._texts, skip_nulls=True)
        if found.null_count:
            found = found.fill_null(-1)
        return narrow(np.append(numbers(found).astype(np.int64) + 1, 0), len(self._texts) + 1)

    def coded(self) -> Coded:
        """The whole column, its dictionary sorted."""
        import pyarrow as pa

        self._settle()
        if self._texts is None:
            values, known = list(self._place), pa.concat_arrays(self._dictionaries)
            order = np.array(sorted(range(len(values)), key=lambda i: sorting_key(values[i])), dtype=np.int64)
        else:  # UTF-8 has the order of the characters
            from pyarrow import compute

            known = self._texts
            order = numbers(compute.array_sort_indices(known)).astype(np.int64)
        last = len(known)
        place = np.empty(last + 1, dtype=np.int64)
        place[0] = last
        place[order + 1] = np.arange(last)
        place = narrow(place, last + 1)
        codes = np.empty(sum(map(len, self._codes)), dtype=place.dtype)
        start = 0
        for part in self._codes:
            np.take(place, part, out=codes[start : start + len(part)], mode="clip")
            start += len(part)
        self._codes.clear()
        dictionary = known.take(array(order))
        return tight(pa.concat_arrays([dictionary, pa.nulls(1, self._kind)]), codes)


def sorting_key(value: Any) -> tuple[str, Any]:
    """Values of different types in an order, too.

    >>> sorted(["b", 2, None, 1, "a"], key=sorting_key)
    [None, 1, 2, 'a', 'b']
    """
    if isinstance(value, tuple):
        return "tuple", tuple(sorting_key(v) for v in value)
    return ("", 0) if value is None else (type(value).__name__, value)


def dictionary_of(column: Any) -> tuple[tuple[Value, ...], Ints]:
    """Codes of an Arrow column, of lists too, in a sorted dictionary, missing last.

    >>> import pyarrow as pa
    >>> dictionary_of(pa.array(["nurse", None, "clerk", "nurse"]))
    (('clerk', 'nurse', None), array([1, 2, 0, 1], dtype=int32))
    >>> dictionary_of(pa.chunked_array([pa.nulls(1), pa.nulls(2)]))
    ((None,), array([0, 0, 0], dtype=int32))
    """
    values, raw = _lists(column) if str(column.type).startswith(("list", "large_list")) else _distinct(column)
    order = sorted(range(len(values)), key=lambda i: (values[i] is None, sorting_key(values[i])))
    place = np.empty(len(values), dtype=np.int32)
    place[order] = np.arange(len(values), dtype=np.int32)
    return tuple(values[i] for i in order), place[raw] if values else raw.astype(np.int32)


def _distinct(column: Any) -> tuple[list[Value], NDArray[np.int64]]:
    """Different cells of an Arrow column, and which of them each one is."""
    if column.null_count == len(column):
        return [None] * bool(len(column)), np.zeros(len(column), dtype=np.int64)
    encoded = column.dictionary_encode()
    if hasattr(encoded, "combine_chunks"):
        encoded = encoded.unify_dictionaries().combine_chunks()
    values: list[Value] = list(encoded.dictionary.to_pylist())
    raw = encoded.indices.fill_null(len(values)).to_numpy(zero_copy_only=False).astype(np.int64)
    return [*values, None] if encoded.null_count else values, raw


def _lists(column: Any) -> tuple[list[Value], NDArray[np.int64]]:
    """The same of a column of lists, which Arrow does not encode."""
    place: dict[Value, int] = {}
    cells = (tuple(cell) if isinstance(cell, list) else cell for cell in column.to_pylist())
    raw = [place.setdefault(cell, len(place)) for cell in cells]
    return list(place), np.array(raw, dtype=np.int64)


# ---- packed keys -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Keys:
    """Codes of some columns packed into one number a row, in the order of the codes.

    `bits` are those of each column; `ranked` holds, by the number of a column, the keys whose ranks stand for all
    columns before it, where these would have needed more bits than there are.

    >>> keys = packed([np.array([1, 0, 1]), np.array([2, 2, 0])], [2, 3])
    >>> keys.keys.tolist(), keys.unpacked(keys.keys).tolist()
    ([6, 2, 4], [[1, 2], [0, 2], [1, 0]])
    """

    keys: NDArray[np.int64]
    bits: tuple[int, ...] = ()
    ranked: Mapping[int, NDArray[np.int64]] = field(default_factory=dict)
    used: int = 0

    def and_one(self, codes: Codes, size: int) -> Keys:
        """The same with one more column behind the others."""
        width = max(0, (size - 1).bit_length())
        keys, ranked, used = self.keys, dict(self.ranked), self.used
        if used + width > _MOST_BITS:
            ranked[len(self.bits)], keys = np.unique(keys, return_inverse=True)
            keys = keys.astype(np.int64, copy=False)
            used = len(ranked[len(self.bits)]).bit_length()
        keys = keys << width
        keys |= codes
        return Keys(keys, (*self.bits, width), ranked, used + width)

    def before_last(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Keys without their last column."""
        last = len(self.bits) - 1
        rest = keys >> self.bits[last]
        return self.ranked[last][rest] if last in self.ranked else rest

    def unpacked(self, keys: NDArray[np.int64]) -> NDArray[np.int32]:
        """The codes of keys, a row each."""
        codes = np.empty((len(keys), len(self.bits)), dtype=np.int32)
        for start in range(0, len(keys), _BLOCK):
            block = keys[start : start + _BLOCK]
            for j in range(len(self.bits) - 1, -1, -1):
                codes[start : start + _BLOCK, j] = block & ((1 << self.bits[j]) - 1)
                block = block >> self.bits[j]
                if j in self.ranked:
                    block = self.ranked[j][block]
        return codes


def packed(columns: Sequence[Codes], sizes: Sequence[int]) -> Keys:
    """One key a row for columns of codes whose dictionaries have these sizes.

    >>> packed([np.array([1, 0])], [2]).keys.tolist()
    [1, 0]
    """
    bits = [max(0, (size - 1).bit_length()) for size in sizes]
    keys = Keys(np.zeros(len(columns[0]), dtype=np.int64))
    fitting = 0
    while fitting < len(bits) and sum(bits[: fitting + 1]) <= _MOST_BITS:
        fitting += 1
    if fitting:  # all at once, as far as they fit
        first = _radix_keys(columns[:fitting], [1 << width for width in bits[:fitting]])
        keys = Keys(first, tuple(bits[:fitting]), {}, sum(bits[:fitting]))
    for codes, size in zip(columns[fitting:], sizes[fitting:], strict=True):
        keys = keys.and_one(codes, size)
    return keys


def counted(
    columns: Mapping[str, Coded], further: Mapping[str, Coded], sums: Mapping[str, NDArray[np.float64]]
) -> Counts:
    """Distinct tuples of coded columns, sorted, with histograms and sums under each.

    >>> import pyarrow as pa
    >>> jobs, ills = (encoded(pa.array(cells)) for cells in (["nurse", "clerk", "nurse"], ["flu", "flu", "cold"]))
    >>> counts = counted({"job": jobs}, {"ill": ills}, {})
    >>> counts.weights.tolist(), counts.histograms["ill"].table().tolist()
    ([1, 2], [[0, 1], [1, 1]])
    """
    few = None if sums else dense(columns, further)
    if few is not None:
        return few
    rows = packed([column.codes for column in columns.values()], [len(column) for column in columns.values()])
    histograms: dict[str, Histogram] = {}
    tuples = weights = np.empty(0, np.int64)
    for name, column in further.items():  # the tuples are those of the finer keys: one sort tells both
        finer = rows.and_one(column.codes, len(column))
        pairs, numbers = _runs(np.sort(finer.keys))
        codes = (pairs & ((1 << finer.bits[-1]) - 1)).astype(np.int32)
        before = finer.before_last(pairs)
        del finer, pairs
        starts = np.flatnonzero(np.concatenate((before[:1] == before[:1], before[1:] != before[:-1])))
        tuples = before[starts]
        weights = np.add.reduceat(numbers, starts) if len(starts) else numbers
        ends = np.append(starts, len(before)).astype(np.int32)
        histograms[name] = Histogram(column.values, Rows(ends, codes), numbers)
    if not further:
        tuples, weights = _runs(np.sort(rows.keys))
    totals = {}
    if sums:
        group = np.unique(rows.keys, return_inverse=True)[1]
        for name, numbers_of_rows in sums.items():
            totals[name] = np.nan_to_num(np.bincount(group, numbers_of_rows, len(tuples)).astype(np.float64))
    values = tuple(column.values for column in columns.values())
    return Counts(tuple(columns), values, rows.unpacked(tuples), weights, histograms, totals)


def dense(columns: Mapping[str, Coded], further: Mapping[str, Coded]) -> Counts | None:
    """The same with a place for every possible tuple, where rows are many more than these; None elsewhere.

    >>> import pyarrow as pa
    >>> dense({"sex": encoded(pa.array(["f", "m"] * 50))}, {}).weights.tolist()
    [50, 50]
    """
    sizes = [len(column) for column in columns.values()]
    widths = [len(column) for column in further.values()]
    space, rows = math.prod(sizes), len(next(iter(columns.values())).codes)
    if not 0 < space * max([1, *widths]) <= min(_PLACES, rows // _TIMES):
        return None
    weights = np.zeros(space, dtype=np.int64)
    pairs = [np.zeros(space * width, dtype=np.int64) for width in widths]
    for start in range(0, rows, _TOGETHER):
        block = slice(start, start + _TOGETHER)
        keys = _radix_keys([column.codes[block] for column in columns.values()], sizes)
        weights += np.bincount(keys, minlength=space)
        for total, column in zip(pairs, further.values(), strict=True):
            total += np.bincount(keys * len(column) + column.codes[block], minlength=len(total))
    there = np.flatnonzero(weights)
    histograms = {}
    for (name, column), total in zip(further.items(), pairs, strict=True):
        held = total.reshape(space, -1)[there]
        row, code = np.nonzero(held)
        starts = np.concatenate(([0], np.cumsum(np.count_nonzero(held, axis=1)))).astype(np.int32)
        histograms[name] = Histogram(column.values, Rows(starts, code.astype(np.int32)), held[row, code])
    codes = np.stack(np.unravel_index(there, sizes), axis=1).astype(np.int32)
    values = tuple(column.values for column in columns.values())
    return Counts(tuple(columns), values, codes, weights[there], histograms)


def _runs(ordered: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Different numbers of a sorted array, and how often each occurs."""
    starts = np.flatnonzero(np.concatenate((ordered[:1] == ordered[:1], ordered[1:] != ordered[:-1])))
    return ordered[starts], np.diff(starts, append=len(ordered))


def places_among(rows: Sequence[Codes], tuples: Sequence[Codes], sizes: Sequence[int]) -> NDArray[Any]:
    """For each row the number of the tuple with the same codes, or -1 where there is none.

    >>> places_among([np.array([1, 0, 1])], [np.array([1, 2])], [3]).tolist()
    [0, -1, 0]
    """
    n = len(rows[0])
    own = packed(rows, sizes).keys
    order = np.argsort(own)
    mine = own[order]
    del own
    starts = np.flatnonzero(np.concatenate((mine[:1] == mine[:1], mine[1:] != mine[:-1])))
    del mine
    number = _numbers(rows, order[starts], tuples, sizes)
    places = np.empty(n, dtype=number.dtype)
    places[order] = np.repeat(number, np.diff(starts, append=n))
    return places


def _numbers(
    rows: Sequence[Codes], first: NDArray[np.int64], tuples: Sequence[Codes], sizes: Sequence[int]
) -> NDArray[Any]:
    """The number of the tuple that each of some different, sorted rows holds, or -1; `first` are their places."""
    different = [codes[first] for codes in rows]
    if len(first) == len(tuples[0]) and all(map(np.array_equal, different, tuples)):  # counted from these very rows
        return np.arange(len(first), dtype=np.int32 if len(first) < 1 << 31 else np.int64)
    joined = [np.concatenate((mine, theirs)) for mine, theirs in zip(different, tuples, strict=True)]
    mine, theirs = np.split(packed(joined, sizes).keys, [len(first)])
    known = np.argsort(theirs, kind="stable")
    theirs = theirs[known]
    at = np.searchsorted(theirs, mine)
    there = at < len(theirs)
    there[there] = theirs[at[there]] == mine[there]
    number = np.full(len(first), -1, dtype=np.int64)
    number[there] = known[at[there]]
    return number


def found_among(rows: Sequence[Codes], some: Sequence[Codes], sizes: Sequence[int]) -> NDArray[np.bool_]:
    """Which rows have the codes of one of some few tuples.

    >>> found_among([np.array([1, 0, 1])], [np.array([1, 2])], [3]).tolist()
    [True, False, True]
    """
    n, space = len(rows[0]), math.prod(sizes)
    if space >= 1 << _MOST_BITS:
        keys = packed([np.concatenate(columns) for columns in zip(rows, some, strict=True)], sizes).keys
        return keys_among(keys[:n], keys[n:], space)
    return keys_among(_radix_keys(rows, sizes), _radix_keys(some, sizes), space)


def _radix_keys(columns: Sequence[Codes], sizes: Sequence[int]) -> NDArray[np.int64]:
    """One number a row below the product of the sizes."""
    keys = np.empty(len(columns[0]), dtype=np.int64)
    for start in range(0, len(keys), _BLOCK):
        block = keys[start : start + _BLOCK]
        block[:] = 0
        for codes, size in zip(columns, sizes, strict=True):
            block *= size
            block += codes[start : start + _BLOCK]
    return keys


# Inputs and outputs of a recoding as Arrow arrays that any engine can look up


def typed(column: str, values: Sequence[Value], kind: Any) -> Any:
    """Input values as an Arrow array of the type that a table's column has.

    >>> import pyarrow as pa
    >>> typed("age", ("old",), pa.int64())
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: the recoding of column 'age' is for values of another type than the table's
    """
    import pyarrow as pa

    try:
        return array(_as_lists(values), kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise BadInput(f"the recoding of column {column!r} is for values of another type than the table's") from None


def cells_of(values: Sequence[Value], kind: Any = None) -> Any:
    """Output values as one Arrow array: as they are where they have one type, or are of the `kind`, else as text.

    >>> cells_of([31, "40s", True]).to_pylist()
    ['31', '40s', 'true']
    """
    import pyarrow as pa

    try:
        return array(_as_lists(values), kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([text_of(v) for v in values], pa.string())


def text_of(value: Value) -> str | None:
    """A value as DuckDB spells it.

    >>> text_of(True), text_of(("tea", "milk")), text_of(None), text_of(31)
    ('true', '[tea, milk]', None, '31')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(str(text_of(item)) for item in value)}]"
    return None if value is None else str(value)


def decoded(values: Sequence[Value], codes: Ints) -> Any:
    """Outputs from codes and their dictionary; values that no code stands for have no say in the type.

    >>> decoded((31, 40, "old"), np.array([1, 0, 1])).to_pylist()
    [40, 31, 40]
    """
    used, places = used_codes(codes)
    return cells_of([values[code] for code in used.tolist()]).take(positions(places))


def positions(codes: Any) -> Any:
    """Codes as Arrow takes them.

    >>> positions(np.array([2, 0])).to_pylist()
    [2, 0]
    """
    import pyarrow as pa

    return pa.array(np.ascontiguousarray(codes))


def not_covered(lost: int, names: Sequence[str]) -> BadInput:
    """What is said of rows that find no output.

    >>> str(not_covered(2, ["job"]))
    '2 row(s) hold values of job that the recoding does not know; make it for this table'
    """
    return BadInput(
        f"{lost:,} row(s) hold values of {', '.join(names)} that the recoding does not know; make it for this table"
    )


def _as_lists(values: Sequence[Value]) -> list[Any]:
    return [list(v) if isinstance(v, tuple) else v for v in values]
