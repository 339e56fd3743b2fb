"""Immutable arrays: rows of different lengths (`Rows`), and lists of texts (`Strings`)."""

from __future__ import annotations

import copyreg
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.errors import BadInput

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]


def frozen(array: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return the array, made read-only.

    >>> frozen(np.array([1, 2])).flags.writeable
    False
    """
    if array.flags.writeable:
        array.flags.writeable = False
    return array


def once(keys: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers sorted, each once: `np.unique`, which hashes them, takes many times as long for millions.

    >>> once(np.array([7, 3, 7])).tolist()
    [3, 7]
    """
    ordered = np.sort(keys, axis=None)
    return ordered if len(ordered) < 2 else ordered[np.append(True, ordered[1:] != ordered[:-1])]


def used_codes(codes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Codes that occur, in order, and the place of each code among them: by presence, where `np.unique` would sort.

    >>> used, places = used_codes(np.array([5, 0, 5]))
    >>> used.tolist(), places.tolist()
    ([0, 5], [1, 0, 1])
    """
    if not codes.size or codes.ndim != 1 or codes.min() < 0 or codes.max() > 4 * codes.size + 1024:
        used, places = np.unique(codes, return_inverse=True)
        return used, places
    there = np.zeros(int(codes.max()) + 1, np.bool_)
    there[codes] = True
    return np.flatnonzero(there).astype(codes.dtype), (np.cumsum(there) - 1)[codes]


def _read_only(entries: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(entries)


# Frozen values hold read-only mappings, which Python does not pickle by itself; workers need them all the same.
copyreg.pickle(MappingProxyType, lambda view: (_read_only, (dict(view),)))


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Ragged integer rows in two arrays (compressed sparse rows): row i is `indices[starts[i]:starts[i+1]]`.

    >>> rows = Rows.from_pairs([0, 2, 2], [5, 7, 6], 3)
    >>> [rows[i].tolist() for i in range(len(rows))]
    [[5], [], [7, 6]]
    """

    starts: Ints
    indices: Ints

    def __post_init__(self) -> None:
        frozen(self.starts)
        frozen(self.indices)

    def __reduce__(self) -> tuple[Any, ...]:
        return Rows, (self.starts, self.indices)  # through the constructor, so that a copy is read-only too

    @classmethod
    def from_pairs(cls, row: Sequence[int] | Ints, value: Sequence[int] | Ints, n_rows: int) -> Rows:
        """Group `value` by `row`, keeping the given order inside each row."""
        row = np.asarray(row, dtype=np.int64)
        value = np.asarray(value, dtype=np.int32)
        order = np.argsort(row, kind="stable")
        starts = np.zeros(n_rows + 1, dtype=np.int32)
        np.cumsum(np.bincount(row, minlength=n_rows), out=starts[1:])
        return cls(starts, value[order])

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, i: int) -> Ints:
        return self.indices[self.starts[i] : self.starts[i + 1]]

    @property
    def sizes(self) -> Ints:
        """Length of each row."""
        return self.starts[1:] - self.starts[:-1]

    def row_of(self) -> Ints:
        """Row number of each entry of `indices`."""
        return np.repeat(np.arange(len(self), dtype=np.int32), self.sizes)

    def reversed(self, n_rows: int) -> Rows:
        """Rows of the opposite direction: for children from parents, say."""
        return Rows.from_pairs(self.indices, self.row_of(), n_rows)

    def gather(self, rows: Ints) -> Ints:
        """All entries of the given rows, one after the other."""
        rows = np.asarray(rows)
        first_entry = self.starts[rows]
        sizes = self.starts[rows + 1] - first_entry  # time for these rows only, however many there are
        total = int(sizes.sum())
        if total == 0:
            return np.empty(0, dtype=np.int32)
        kind = np.int32 if max(total, len(self.indices)) < 1 << 31 else np.int64  # half the room, as a rule
        places = np.repeat((first_entry - np.cumsum(sizes) + sizes).astype(kind), sizes)
        places += np.arange(total, dtype=kind)
        found: Ints = self.indices[places]
        return found

    def taken(self, rows: NDArray[Any]) -> Rows:
        """The given rows, each as often as it is given."""
        starts = np.concatenate(([0], np.cumsum(self.sizes[rows]))).astype(np.int32)
        return Rows(starts, self.gather(np.asarray(rows, dtype=np.int32)))


class Strings:
    """A frozen table of strings held as one UTF-8 block, decoded when first read.

    >>> table = Strings.of(["coma", "neuropathy"])
    >>> len(table), table[1], list(table)
    (2, 'neuropathy', ['coma', 'neuropathy'])
    """

    __slots__ = ("_block", "_list", "_size")

    def __init__(self, block: NDArray[np.uint8], size: int) -> None:
        self._block: NDArray[np.uint8] | None = block
        self._size = size
        self._list: list[str] | None = None

    @classmethod
    def of(cls, values: Iterable[str]) -> Strings:
        """Make a table; strings may not hold the NUL character."""
        items = list(values)
        table = cls(np.empty(0, dtype=np.uint8), len(items))
        table._list = items
        table._block = None
        return table

    @property
    def block(self) -> NDArray[np.uint8]:
        """The strings as one NUL-separated UTF-8 block."""
        if self._block is None:
            joined = "\0".join(self._list or ())
            try:
                raw = joined.encode("utf-8")
            except UnicodeEncodeError:
                raise BadInput("a text holds half a surrogate pair, which no file can hold; mend or drop it") from None
            if joined.count("\0") != max(0, self._size - 1):
                raise BadInput("a text holds the NUL character, which no file of ours can hold; mend or drop it")
            return np.frombuffer(raw, dtype=np.uint8)
        return self._block

    def check(self) -> None:
        """Refuse (with a `ValueError`) a block that is not UTF-8 or does not hold as many strings as it should.

        >>> Strings(np.frombuffer(b"coma", dtype=np.uint8), 2).check()
        Traceback (most recent call last):
        ...
        ValueError: a table of 2 strings holds 1
        """
        found = int(np.count_nonzero(self.block == 0)) + 1
        if found != max(1, self._size):
            raise ValueError(f"a table of {self._size} strings holds {found}")
        str(self.block.data, "utf-8")

    def _decoded(self) -> list[str]:
        if self._list is None:
            self._list = bytes(self.block).decode("utf-8").split("\0") if self._size else []
        return self._list

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, i: int) -> str:
        return self._decoded()[i]

    def __iter__(self) -> Iterator[str]:
        return iter(self._decoded())

    def take(self, positions: Iterable[int]) -> Strings:
        """A table of the strings at the given positions."""
        items = self._decoded()
        return Strings.of(items[i] for i in positions)
