"""Columns of sets (baskets, tags, diagnosis lists, query logs): three forms are read and written.

- *delimited*: one text a record, `milk;bread;butter`. An item that holds the delimiter stands in quotes.
- *list*: one list a record, as Parquet and Arrow have them.
- *long*: one row an item, with the key of its record.

Nothing is lost silently: duplicates, blanks, missing cells and empty sets are counted in `ItemSets.counts`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from keepsense.arrays import Rows, once
from keepsense.counts import Value
from keepsense.engines.dictionary_encoding import array, numbers
from keepsense.engines.protocol import Engine, Reading, started
from keepsense.engines.text_encodings import encoding_of, readable
from keepsense.errors import BadInput, Finding
from keepsense.files import whole_file
from keepsense.secure_random import generator

Form = Literal["delimited", "list", "long"]

COUNTED = ("duplicate items", "blank items", "missing cells", "empty sets")
"""What `ItemSets.counts` tells of."""

_REMARKS = {
    "duplicate items": (
        "W311",
        "item that occurs again in its record; it counts once",
        "items that occur again in their record; each counts once",
    ),
    "blank items": ("W312", "blank item, left out", "blank items, left out"),
    "missing cells": ("W313", "missing cell, taken for an empty set", "missing cells, taken for empty sets"),
    "empty sets": (
        "W314",
        "empty set: it holds nothing, like other empty sets, and is 1 away from the rest",
        "empty sets: they are alike, and 1 away from the rest",
    ),
}


@dataclass(frozen=True, eq=False)
class ItemSets:
    """A set-valued column: its distinct items and, for each record, which of them it holds, each once.

    Make one with `from_delimited`, `from_lists` or `from_long`. `form` and `delimiter` say how it goes out again;
    `keys` are those of a long form, one a record.

    >>> baskets = from_delimited(["milk;bread", "milk;milk", ""], delimiter=";")
    >>> baskets.sets(), dict(baskets.counts)
    ([['bread', 'milk'], ['milk'], []], {'duplicate items': 1, 'blank items': 0, 'missing cells': 0, 'empty sets': 1})
    """

    column: str
    items: tuple[Value, ...]
    rows: Rows
    form: Form = "list"
    delimiter: str = ","
    quote: str = '"'
    keys: tuple[Value, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", MappingProxyType(dict(self.counts)))

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"ItemSets({self.column!r}: {len(self):,} records, {len(self.items):,} distinct items, {self.form})"

    def sets(self) -> list[list[Value]]:
        """The items of each record."""
        items = self.items
        return [[items[i] for i in self.rows[r].tolist()] for r in range(len(self))]

    def users(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Number of records that hold each item."""
        return np.bincount(self.rows.indices, minlength=len(self.items)).astype(np.int64)

    def findings(self) -> list[Finding]:
        """What a person should look at, in counts."""
        return [
            Finding(code, self.column, f"{times:,} {one if times == 1 else many}")
            for name, (code, one, many) in _REMARKS.items()
            if (times := self.counts.get(name, 0))
        ]

    def taken(self, positions: np.ndarray[Any, Any]) -> ItemSets:
        """Other records made of these: one for each position, so that equal cells need be read once only.

        >>> from_delimited(["a;b", "c"], delimiter=";").taken(np.array([1, 0, 1])).sets()
        [['c'], ['a', 'b'], ['c']]
        """
        return replace(self, rows=self.rows.taken(positions), keys=())

    def cell(self, items: Sequence[Value]) -> Value:
        """One set as a cell of this column: a text, or a tuple where the column holds lists.

        >>> from_delimited(["a;b"], delimiter=";").cell(["x", "y"])
        'x;y'
        """
        return spelled(items, self.delimiter, self.quote) if self.form == "delimited" else tuple(items)

    def spelled(
        self, sets: Sequence[Sequence[Value]], *, rng: np.random.Generator | int | None = None
    ) -> list[Any] | tuple[list[Value], list[Value]]:
        """Other sets, one a record, in this column's form: texts, lists, or keys and items.

        The keys of a long form name people, so they are not released: records get fresh numbers in random order. An
        empty set of a long form is a row without item.

        >>> from_delimited(["a;b"], delimiter=";").spelled([["salt; sea", "pepper"]])
        ['"salt; sea";pepper']
        """
        if len(sets) != len(self):
            raise BadInput(f"column {self.column!r} has {len(self):,} records; {len(sets):,} sets do not fit")
        if self.form == "list":
            return [list(items) for items in sets]
        if self.form == "delimited":
            return [self.cell(items) for items in sets]
        order = generator(rng).permutation(len(sets))
        keys: list[Value] = []
        found: list[Value] = []
        for number, record in enumerate(order.tolist(), start=1):
            items = list(sets[record]) or [None]
            keys += [number] * len(items)
            found += items
        return keys, found


def from_delimited(texts: Iterable[Any], *, delimiter: str = ",", quote: str = '"', column: str = "items") -> ItemSets:
    """A column of delimited texts. Spaces around an item do not count; one with the delimiter inside stands in quotes.

    >>> from_delimited(['"salt, sea",pepper', None]).sets()
    [['pepper', 'salt, sea'], []]
    """
    if len(delimiter) != 1 or len(quote) != 1 or delimiter == quote:
        raise BadInput(f"column {column!r}: delimiter and quote must be two different single characters")
    texts = list(texts)
    if set(map(type, texts)) <= {str, type(None)} and quote not in "".join(filter(None, texts)):
        with suppress(UnicodeEncodeError):  # half a surrogate pair, which Arrow does not hold
            return _divided(texts, delimiter, quote, column)
    cells: list[list[Any] | None] = []
    for number, text in enumerate(texts, start=1):
        if _is_missing(text):
            cells.append(None)
            continue
        if isinstance(text, list | tuple | set | frozenset | np.ndarray):
            raise BadInput(f"column {column!r}, record {number}: a list where a text is expected; it is a list column")
        text = _text(text, column, number)
        if quote not in text:
            cells.append([item.strip() for item in text.split(delimiter)] if text.strip() else [])
        else:
            cells.append(_unquoted(text, delimiter, quote, column, number))
    return _gathered(cells, column, "delimited", delimiter, quote)


def _divided(texts: Sequence[str | None], delimiter: str, quote: str, column: str) -> ItemSets:
    """Plain texts without quotes, the usual case, all at once; `_gathered` says the same cell by cell."""
    import pyarrow as pa
    from pyarrow import compute

    known = np.array([bool(text and text.strip()) for text in texts], dtype=np.bool_)
    lists = compute.split_pattern(array(texts, pa.large_string()), delimiter)
    if not known.all():
        lists = lists.take(array(np.flatnonzero(known)))
    parts = lists.flatten().dictionary_encode()
    stripped = [item.strip() for item in parts.dictionary.to_pylist()]
    items = sorted({item for item in stripped if item})
    place = {item: i for i, item in enumerate(items)}
    lookup = np.array([place.get(item, -1) for item in stripped], dtype=np.int64)
    codes = lookup[numbers(parts.indices)] if len(stripped) else np.empty(0, np.int64)
    owner = np.repeat(np.flatnonzero(known), np.diff(numbers(lists.offsets)))
    told = codes >= 0
    width = max(1, len(items))
    pairs = once(owner[told] * width + codes[told])
    sizes = np.bincount(pairs // width, minlength=len(texts))
    starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int32)
    counts = dict.fromkeys(COUNTED, 0) | {
        "missing cells": texts.count(None),
        "blank items": int((~told).sum()),
        "duplicate items": int(told.sum()) - len(pairs),
        "empty sets": int((sizes == 0).sum()),
    }
    rows = Rows(starts, (pairs % width).astype(np.int32))
    return ItemSets(column, tuple(items), rows, "delimited", delimiter, quote, (), counts)


def from_lists(lists: Iterable[Any], *, column: str = "items") -> ItemSets:
    """A column of lists, as Parquet, Arrow and Polars have them; None is a missing cell.

    >>> from_lists([["flu", "cold"], [], None]).counts["empty sets"]
    2
    """
    cells: list[list[Any] | None] = []
    source = lists.to_pylist() if hasattr(lists, "to_pylist") else lists
    for number, cell in enumerate(source, start=1):
        if _is_missing(cell):
            cells.append(None)
        elif isinstance(cell, str | bytes) or not isinstance(cell, Iterable):
            raise BadInput(
                f"column {column!r}, record {number}: a single {type(cell).__name__} stands where a list is expected; "
                "for texts give the delimiter"
            )
        else:
            cells.append([_text(item, column, number) if isinstance(item, bytes) else item for item in cell])
    return _gathered(cells, column, "list")


def read_cells(cells: Sequence[Any], *, delimiter: str = ",", column: str = "items") -> ItemSets:
    """A column as a table holds it: lists where any cell is one, else delimited texts.

    >>> read_cells([("milk", "tea"), None]).form, read_cells(["milk;tea"], delimiter=";").sets()
    ('list', [['milk', 'tea']])
    """
    if any(issubclass(kind, list | tuple) for kind in set(map(type, cells))):
        return from_lists([list(cell) if isinstance(cell, list | tuple) else [] for cell in cells], column=column)
    return from_delimited(cells, delimiter=delimiter, column=column)


def from_long(keys: Iterable[Value], items: Iterable[Any], *, column: str = "items") -> ItemSets:
    """One row an item: rows with the same key are one record. A key whose only item is missing has an empty set.

    >>> logs = from_long(["ann", "bob", "ann"], ["flights", "soup", "hotels"])
    >>> logs.keys, logs.sets()
    (('ann', 'bob'), [['flights', 'hotels'], ['soup']])
    """
    whose, what = list(keys), list(items)
    if len(whose) != len(what):
        raise BadInput(f"column {column!r}: {len(whose):,} keys do not fit {len(what):,} items")
    lost = sum(_is_missing(key) for key in whose)
    if lost:
        raise BadInput(f"column {column!r}: {lost:,} rows have no key, so nobody knows whose they are; remove them")
    records: dict[Value, list[Any]] = {}
    missing = 0
    for number, (key, item) in enumerate(zip(whose, what, strict=True), start=1):
        held = records.setdefault(key, [])
        if _is_missing(item):
            missing += 1
        else:
            held.append(_text(item, column, number) if isinstance(item, bytes) else item)
    return _gathered(list(records.values()), column, "long", keys=tuple(records), missing=missing)


def _gathered(
    cells: Sequence[list[Any] | None],
    column: str,
    form: Form,
    delimiter: str = ",",
    quote: str = '"',
    keys: tuple[Value, ...] = (),
    missing: int = 0,
) -> ItemSets:
    """Number the items in an order that does not depend on that of the records, and count what was odd."""
    cleaned: list[dict[Value, None]] = []
    counts = dict.fromkeys(COUNTED, 0)
    counts["missing cells"] = missing
    for number, cell in enumerate(cells, start=1):
        if cell is None:
            counts["missing cells"] += 1
        kept: list[Value] = []
        for item in cell or ():
            item = item.strip() if isinstance(item, str) else item
            if item == "" or _is_missing(item):
                counts["blank items"] += 1
            else:
                kept.append(item)
        try:
            distinct = dict.fromkeys(kept)
        except TypeError:
            raise BadInput(f"column {column!r}, record {number}: an item is no single value but holds others") from None
        counts["duplicate items"] += len(kept) - len(distinct)
        counts["empty sets"] += not distinct
        cleaned.append(distinct)
    items = sorted({item for cell in cleaned for item in cell}, key=lambda item: (str(item), type(item).__name__))
    place = {item: i for i, item in enumerate(items)}
    starts = np.zeros(len(cleaned) + 1, dtype=np.int32)
    np.cumsum([len(cell) for cell in cleaned], out=starts[1:])
    codes = [np.sort(np.fromiter((place[item] for item in cell), np.int32, len(cell))) for cell in cleaned]
    rows = Rows(starts, np.concatenate(codes) if codes else np.empty(0, np.int32))
    return ItemSets(column, tuple(items), rows, form, delimiter, quote, keys, counts)


def _unquoted(text: str, delimiter: str, quote: str, column: str, number: int) -> list[str]:
    """Items of a text in which quotes occur. Only an item that begins with a quote is quoted: `5" pipe` is as it is."""
    found = []
    at, end = 0, len(text)
    while at <= end:
        while at < end and text[at].isspace() and text[at] != delimiter:
            at += 1
        if at < end and text[at] == quote:
            item, at = _quoted(text, quote, at + 1)
            while 0 <= at < end and text[at].isspace() and text[at] != delimiter:
                at += 1
            if at < 0 or (at < end and text[at] != delimiter):
                raise BadInput(
                    f"column {column!r}, record {number}: a quote is opened and not closed as it should be; double a "
                    "quote that belongs to an item, or give another quote character"
                )
        else:
            stop = text.find(delimiter, at)
            stop = end if stop < 0 else stop
            item, at = text[at:stop], stop
        found.append(item.strip())
        at += 1
    return found


def _quoted(text: str, quote: str, at: int) -> tuple[str, int]:
    """A quoted item and the position after its closing quote, -1 where there is none."""
    parts = []
    while True:
        stop = text.find(quote, at)
        if stop < 0:
            return "", -1
        parts.append(text[at:stop])
        if not text.startswith(quote, stop + 1):
            return quote.join(parts), stop + 1
        at = stop + 2


def spelled(items: Iterable[Value], delimiter: str, quote: str = '"') -> str:
    """A set as one text, as `from_delimited` reads it again: an item with the delimiter inside stands in quotes.

    >>> spelled(["salt, sea", "pepper"], ",")
    '"salt, sea",pepper'
    """

    def safe(item: Value) -> str:
        text = str(item)
        if delimiter in text or quote in text or "\n" in text or "\r" in text or text != text.strip():
            return quote + text.replace(quote, 2 * quote) + quote
        return text

    return delimiter.join(map(safe, items))


def _text(value: Any, column: str, number: int) -> str:
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            raise BadInput(
                f"column {column!r}, record {number}: the bytes are not UTF-8 text; decode the column first"
            ) from None
    return str(value)


def _is_missing(value: Any) -> bool:
    return (
        value is None
        or (isinstance(value, float) and math.isnan(value))
        or type(value).__name__ in ("NAType", "NaTType")
    )


# Columns of sets from files and tables: one basket a line, a column of a table, or rows with a key

PathLike = str | os.PathLike[str]


def read_baskets(
    path: PathLike, *, delimiter: str = ",", quote: str = '"', encoding: str | None = None, column: str | None = None
) -> ItemSets:
    """Read a text file with one set a line and no header. A blank line is an empty set, except the last.

    The encoding is that of the byte-order mark, else UTF-8 where the bytes fit, else Windows-1252, unless it is given;
    bytes that the encoding does not have are refused by their position.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "baskets.csv"
    ...     _ = file.write_text("milk;bread\\nbutter\\n")
    ...     read_baskets(file, delimiter=";").sets()
    [['bread', 'milk'], ['butter']]
    """
    file = readable(path)
    chosen = encoding_of(file, encoding)
    try:
        text = file.read_bytes().decode(chosen)
    except UnicodeDecodeError as error:
        raise BadInput(
            f"{file.name}: byte {error.start:,} is not valid {chosen}; give the file's real encoding"
        ) from None
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return from_delimited(lines, delimiter=delimiter, quote=quote, column=column or file.name)


def read_sets(
    source: Any,
    column: str,
    *,
    key: str | None = None,
    delimiter: str | None = None,
    quote: str = '"',
    reading: Reading | None = None,
    engine: str | Engine | None = None,
) -> ItemSets:
    """Take a set-valued column from any table an engine reads: a file, a frame, columns in memory.

    A list column needs nothing more, a column of texts a `delimiter`, the long form the `key` column. The records are
    in the table's order (long form: in order of the keys' first appearance).

    >>> read_sets({"who": [1, 2, 1], "query": ["soup", "hotels", "flights"]}, "query", key="who").sets()
    [['flights', 'soup'], ['hotels']]
    """
    with started(engine) as running:
        table = running.read(source, reading)
        table.require([column] if key is None else [column, key])
        rows, listed = running.frame(table), table.holds_lists(column)
    values = rows.column(column).to_pylist()
    if key is not None:
        if delimiter is not None:
            raise BadInput(f"column {column!r}: give a key (one row an item) or a delimiter (one row a set), not both")
        return from_long(rows.column(key).to_pylist(), values, column=column)
    if listed:
        return from_lists(values, column=column)
    if delimiter is None:
        raise BadInput(f"column {column!r} holds texts; give the delimiter between items, or the key of a long form")
    return from_delimited(values, delimiter=delimiter, quote=quote, column=column)


def write_baskets(path: PathLike, texts: Sequence[str]) -> None:
    """Write one set a line, as `ItemSets.spelled` gives them for the delimited form; the file appears when it is whole.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "released.csv"
    ...     write_baskets(file, ["milk;bread", ""])
    ...     file.read_text()
    'milk;bread\\n\\n'
    """
    if any("\n" in text or "\r" in text for text in texts):
        raise BadInput("an item holds a line break, so one set a line cannot be read back; write a table instead")
    with whole_file(path) as part:
        part.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
