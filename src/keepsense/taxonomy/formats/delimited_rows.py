"""Rows of text from CSV (any delimiter) or Parquet, for the loaders of tables."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keepsense.errors import BadInput, BadTaxonomy, did_you_mean
from keepsense.taxonomy.formats.source_files import PathLike, Rooted, clip, file_path, head, read_text

Column = str | int
"""A column by its name, or by its position from 0."""

_DELIMITERS = "\t;,|"
PARQUET = b"PAR1"


@dataclass(frozen=True)
class Table:
    """Rows of text with the line each stands in; `header` is empty where the file has none."""

    file: str
    header: tuple[str, ...]
    rows: list[list[str]]
    lines: Sequence[int]
    unread: frozenset[int] = frozenset()

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.header) or max(map(len, self.rows), default=0)

    def column(self, column: Column, option: str) -> int:
        """Position of a column given by name or position."""
        if isinstance(column, str) and column in self.header:
            return self.readable(self.header.index(column))
        if isinstance(column, int) and 0 <= column < self.width:
            return self.readable(column)
        if isinstance(column, str) and self.header:
            hint = did_you_mean(column, self.header)
            known = f"it has {', '.join(map(clip, self.header[:20]))}"
            raise BadInput(f"{option}: {self.file} has no column {clip(column)}; {known}.{hint}")
        raise BadInput(f"{option}: {self.file} has no column {column!r}; its columns are 0 to {self.width - 1}")

    def find(self, names: Sequence[str]) -> int | None:
        """Position of the first column that goes by one of the names, earlier names first; None where none does."""
        plain = [_plain(h) for h in self.header]
        found = next((plain.index(name) for name in names if name in plain), None)
        return None if found is None else self.readable(found)

    def readable(self, column: int) -> int:
        """The column, unless it holds what cannot be the name of a concept."""
        if column in self.unread:
            raise BadTaxonomy(
                f"{self.file}: the column {clip(self.header[column])} holds neither words nor whole numbers; write its"
                " values as text"
            )
        return column

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Lines and rows."""
        return zip(self.lines, self.rows, strict=True)


def _plain(text: str) -> str:
    return text.strip().casefold().replace("_", " ").replace("-", " ")


class TableOptions(Rooted, total=False):
    """What every loader of tables can be told beside: the language, whether there is a header, how text is written."""

    language: str | None
    header: bool | None
    delimiter: str | None
    encoding: str | None
    quote: str | None


def read_table(path: PathLike, how: TableOptions, known: Sequence[str] = (), columns: Iterable[object] = ()) -> Table:
    """Read a table; `columns` are those that were asked for.

    Without `header` given, the first row is one if a column was asked for by name, or if it holds any of the `known`
    column names.
    """
    place = file_path(path)
    header = True if how.get("header") is None and any(isinstance(c, str) for c in columns) else how.get("header")
    delimiter, encoding, quote = how.get("delimiter"), how.get("encoding"), how.get("quote", '"')
    if head(place, 4) == PARQUET:
        return _parquet(place)
    text = read_text(place, encoding)
    if delimiter is None:
        delimiter = find_delimiter(text, quote)
    elif len(delimiter) != 1:
        raise BadInput(f"delimiter: {clip(delimiter)} is not a single character")
    rows: list[list[str]] = []
    lines: list[int] = []
    for line, row in _records(place.name, text, delimiter, quote):
        cells = [cell.strip() for cell in row]
        if any(cells):
            rows.append(cells)
            lines.append(line)
    if not rows:
        raise BadTaxonomy(f"{place.name}: the file holds no rows; give a file that lists concepts")
    if header is None:
        header = not {_plain(cell) for cell in rows[0]}.isdisjoint(known)
    names = tuple(rows[0]) if header else ()
    if header:
        rows, lines = rows[1:], lines[1:]
        if not rows:
            raise BadTaxonomy(f"{place.name}: the file holds a header and no rows; give a file that lists concepts")
    width = len(names) or max(map(len, rows))
    for line, row in zip(lines, rows, strict=True):
        if len(row) > width:
            raise BadTaxonomy(
                f"{place.name}: line {line} has {len(row)} columns where the header has {width}; quote cells that hold"
                f" the delimiter {delimiter!r}, or name another with delimiter="
            )
        row += [""] * (width - len(row))
    return Table(place.name, names, rows, lines)


def _records(name: str, text: str, delimiter: str, quote: str | None) -> Iterator[tuple[int, list[str]]]:
    if delimiter == " ":
        # A code, a space and a title, as many agencies list them: the title has spaces of its own.
        yield from ((n, line.strip().split(None, 1)) for n, line in enumerate(text.splitlines(), 1))
        return
    try:
        reader = csv.reader(
            io.StringIO(text, newline=""),
            delimiter=delimiter,
            quotechar=quote or None,
            quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
            strict=True,
        )
    except (TypeError, ValueError, csv.Error) as error:
        raise BadInput(f"delimiter {delimiter!r} and quote {quote!r} do not go together ({error})") from None
    start = 1
    try:
        for row in reader:
            yield start, row
            start = reader.line_num + 1
    except csv.Error as error:
        raise BadTaxonomy(
            f"{name}: the row that starts in line {start} is not valid CSV ({error}); mend it, or give quote=None where"
            " quotation marks have no meaning"
        ) from None


def find_delimiter(text: str, quote: str | None = '"') -> str:
    """The delimiter that cuts the first rows most evenly into more than one column; a comma where none does."""
    start = "\n".join(text[:100_000].splitlines()[:100])
    best, best_score = ",", (0.0, 0)
    for delimiter in _DELIMITERS:
        if delimiter not in start:
            continue
        try:
            widths = [len(row) for _, row in _records("", start, delimiter, quote) if row]
        except (BadTaxonomy, BadInput):
            continue
        width, count = Counter(widths).most_common(1)[0]
        score = (count / len(widths), width)
        if width > 1 and score > best_score:
            best, best_score = delimiter, score
    return best


def _parquet(place: Path) -> Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(place, use_threads=False)
        names = list(table.schema.names)
        texts = [_words(table.column(i)) for i in range(table.num_columns)]
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, NotImplementedError) as error:
        first = (str(error).replace(str(place), place.name).splitlines() or [type(error).__name__])[0][:120]
        raise BadTaxonomy(f"{place.name}: not a readable Parquet file ({first})") from None
    columns = [[""] * table.num_rows if text is None else text for text in texts]
    rows = [list(row) for row in zip(*columns, strict=True)]
    if not rows:
        raise BadTaxonomy(f"{place.name}: the file holds no rows; give a file that lists concepts")
    unread = frozenset(i for i, text in enumerate(texts) if text is None)
    return Table(place.name, tuple(names), rows, range(1, len(rows) + 1), unread)


def _words(column: Any) -> list[str] | None:
    """A column as text; None where it holds neither words nor whole numbers (a weight nobody asks for, say)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    fits = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    if not (fits or pa.types.is_integer(kind) or pa.types.is_null(kind)):
        return None
    return [(value or "").strip() for value in pc.cast(column, pa.string()).to_pylist()]
