"""Set-valued columns from files and tables: one basket a line, a column of a table, or rows with a key."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from keepsense.engines import Engine, Reading, started
from keepsense.engines.files import encoding_of, readable
from keepsense.errors import BadInput
from keepsense.files import whole_file
from keepsense.methods.aggregate.items import ItemSets, from_delimited, from_lists, from_long

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
