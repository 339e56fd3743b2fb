"""How a CSV file is written: its delimiter, quotes and columns. A row that does not fit its header is refused."""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from keepsense.engines.base import Reading
from keepsense.engines.files import encoding_of, transcoded
from keepsense.errors import BadInput

if TYPE_CHECKING:
    from keepsense.engines.duckdb.engine import DuckDBEngine

_DELIMITERS = (",", ";", "\t", "|")
_LINES = 2_000
_BYTES = 1 << 22


def relation(engine: DuckDBEngine, path: Path, reading: Reading) -> str:
    """SQL that reads the file as text: every row must have as many cells as the header has names."""
    from keepsense.engines.duckdb.engine import literal

    utf8 = path if path.suffix == ".gz" else transcoded(path, encoding_of(path, reading.encoding), engine.folder)
    head = _head(utf8, path.name)
    quote = reading.quote or _quote(head)
    _one_sign(path, "quote", quote)
    delimiter = reading.delimiter or _delimiter(head, quote)
    _one_sign(path, "delimiter", delimiter)
    records = _records(head, delimiter, quote)
    first = next(iter(records), [])
    titled = reading.header is not False
    if reading.header is None and _is_record(first, records[1:]):
        raise BadInput(
            f"{path.name}: the first row looks like a record, not like names of columns; say so with header = false, "
            "or with header = true if it holds names"
        )
    names = _names(first if titled else [""] * len(first))
    escape = "\\" if _escaped(head, quote) else quote
    columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in names)
    options = [
        "auto_detect = false",
        f"header = {'true' if titled else 'false'}",
        f"delim = {literal(delimiter)}",
        f"quote = {literal(quote)}",
        f"escape = {literal(escape)}",
        f"columns = {{{columns}}}",
        "null_padding = false",
        "store_rejects = false",
        "max_line_size = 16777216",
    ]
    return f"read_csv({literal(str(utf8))}, {', '.join(options)})"


def _head(path: Path, name: str) -> str:
    """The first lines, whole ones."""
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            block = file.read(_BYTES)
            more = bool(file.read(1))
    except (OSError, EOFError, gzip.BadGzipFile):
        raise BadInput(f"{name}: the file is not compressed as its name says") from None
    text = block.decode("utf-8-sig", errors="ignore" if more else "replace")
    return text[: text.rfind("\n") + 1] or text if more else text


def _records(head: str, delimiter: str, quote: str) -> list[list[str]]:
    """The first records, as Python reads them; what it cannot read ends them."""
    found: list[list[str]] = []
    try:
        for record in islice(csv.reader(io.StringIO(head, newline=""), delimiter=delimiter, quotechar=quote), _LINES):
            if record:
                found.append(record)
    except csv.Error:
        pass
    return found


def _delimiter(head: str, quote: str) -> str:
    """The sign that cuts most records into as many cells as the header has, and into most of them."""
    best, score = ",", (0.0, 0)
    for sign in _DELIMITERS:
        records = _records(head, sign, quote)
        if not records or len(records[0]) < 2:
            continue
        fitting = sum(len(record) == len(records[0]) for record in records) / len(records)
        if (fitting, len(records[0])) > score:
            best, score = sign, (fitting, len(records[0]))
    return best


def _quote(head: str) -> str:
    """Double quotes, unless single ones stand around cells and double ones nowhere do."""
    single = len(re.findall(r"(?:^|[,;\t|])'[^'\n]*'(?=[,;\t|]|\r?$)", head, flags=re.MULTILINE))
    double = len(re.findall(r'(?:^|[,;\t|])"', head, flags=re.MULTILINE))
    return "'" if single >= 2 and not double else '"'


def _escaped(head: str, quote: str) -> bool:
    """Whether a quote inside a cell is written after a backslash, not doubled."""
    return f"\\{quote}" in head and f"{quote}{quote}" not in head.replace(f"\\{quote}", "")


def _one_sign(path: Path, what: str, sign: str) -> None:
    if len(sign) != 1 or sign in "\r\n":
        raise BadInput(f"{path.name}: the {what} must be one character, not {sign!r}")


_DATUM = re.compile(r"[-+]?\d+([.,]\d+)?|\d{4}-\d\d-\d\d.*|\d{1,2}[./]\d{1,2}[./]\d{2,4}")


def _is_record(first: list[str], others: list[list[str]]) -> bool:
    """Whether a row holds numbers or dates where the rows below it do: a person must not become the header."""
    told = [i for i, cell in enumerate(first) if _DATUM.fullmatch(cell.strip())]
    rows = [row for row in others[:200] if len(row) == len(first)]
    return any(rows and all(_DATUM.fullmatch(row[i].strip()) or not row[i].strip() for row in rows) for i in told)


def _names(titles: Iterable[str]) -> list[str]:
    """Names of the columns: those without one get their number, those that occur again a number behind."""
    found: list[str] = []
    times: Counter[str] = Counter()
    for i, title in enumerate(titles):
        base = title.strip() or f"column{i}"
        name = base
        while name.lower() in {other.lower() for other in found}:
            times[base] += 1
            name = f"{base}_{times[base]}"
        found.append(name)
    return found
