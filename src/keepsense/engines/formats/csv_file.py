"""CSV files: delimiter, quotes and columns are detected. A row that does not fit its header is refused."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import warnings
import zlib
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path

from keepsense.engines.duckdb_store import Store, literal, refused
from keepsense.engines.formats.table_formats import Format, Layout, register
from keepsense.engines.protocol import Reading, Writing
from keepsense.engines.text_encodings import encoding_of, readable, transcoded
from keepsense.errors import BadInput

_DELIMITERS = (",", ";", "\t", "|")
_LINES = 2_000
_BYTES = 1 << 22
_BASKETS = 20
"""Lines from which on a file without a header may be taken for one basket a line."""


def read(store: Store, source: str, reading: Reading) -> str:
    """Every cell as the text it is; every row must have as many cells as the header has names."""
    path = readable(source)
    encoding = reading.encoding or (None if reading.guess else "utf-8")
    utf8 = path if path.suffix == ".gz" else transcoded(path, encoding_of(path, encoding), store.folder)
    relation = _relation(path, utf8, reading)
    try:
        with refused(path, lines=True):
            return store.keep(relation)
    except BadInput:
        _refuse_mixed_ends(path, utf8)
        raise


def _refuse_mixed_ends(path: Path, utf8: Path) -> None:
    """A file whose lines end in several ways is named as such, if it could not be read."""
    ends: Counter[str] = Counter()
    with gzip.open(utf8, "rb") if utf8.suffix == ".gz" else utf8.open("rb") as file:
        last = b""
        while block := last + file.read(1 << 20):
            last = b"\r" if block.endswith(b"\r") and len(block) > 1 else b""
            block = block.removesuffix(last) if last else block
            both = block.count(b"\r\n")
            ends += Counter(
                {"CR LF": both, "LF": block.count(b"\n") - both, "CR": block.count(b"\r") - both},
            )
    several = [f"{number:,} with {name}" for name, number in ends.items() if number]
    if len(several) > 1:
        raise BadInput(
            f"{path.name}: its lines end in several ways ({', '.join(several)}), and it cannot be read so; save it "
            "again with one end of lines"
        )


def write(store: Store, query: str, part: Path, writing: Writing) -> None:
    """With a header line; compressed where the name says so."""
    packed = ", COMPRESSION gzip" if part.suffix == ".gz" else ""
    options = f"FORMAT csv, HEADER true, DELIMITER {literal(writing.delimiter)}{packed}"
    store.run(f"COPY ({query}) TO {literal(str(part))} ({options})")
    if writing.newline != "\n":
        _end_lines(part, writing.newline.encode())


def _end_lines(part: Path, newline: bytes) -> None:
    """End the lines in another way, and leave alone what stands inside quotes."""
    opened = gzip.open if part.suffix == ".gz" else open
    other = part.with_name(f"{part.name}.lines{part.suffix}")
    quoted = False
    with opened(part, "rb") as source, opened(other, "wb") as target:
        while block := source.read(1 << 20):
            pieces = block.split(b'"')
            for i, piece in enumerate(pieces):
                quoted = quoted if i == 0 else not quoted  # a doubled quote opens and closes again
                pieces[i] = piece if quoted else piece.replace(b"\n", newline)
            target.write(b'"'.join(pieces))
    other.replace(part)


def dialect(source: str, reading: Reading) -> tuple[str, str]:
    """What stands between the cells of a file, and what ends its lines.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "people.csv"
    ...     _ = file.write_bytes(b"job;age\\r\\nnurse;31\\r\\n")
    ...     dialect(str(file), Reading())
    (';', '\\r\\n')
    """
    path = readable(source)
    if not reading.guess:
        return reading.delimiter or ("\t" if ".tsv" in path.suffixes else ","), "\n"
    about = path.stat()
    said = reading.encoding, reading.quote, reading.delimiter, reading.header
    return _guessed(path, said, (about.st_mtime_ns, about.st_size, about.st_ino))


@lru_cache(maxsize=16)
def _guessed(
    path: Path, said: tuple[str | None, str | None, str | None, bool | None], state: tuple[int, ...]
) -> tuple[str, str]:
    """The dialect of a file in one state, besides what is said of it: a run asks for it several times."""
    encoding, given_quote, given_delimiter, header = said
    usual = "\t" if ".tsv" in path.suffixes else ","
    head = _decoded_head(path, encoding)
    quote = given_quote or _quote(head)
    newline = "\r\n" if "\r\n" in head else "\n"
    if given_delimiter is not None:
        return given_delimiter, newline
    if header is None and _are_baskets(head):
        return usual, newline
    delimiter = _delimiter(head, quote)
    several = len(next(iter(_records(head, delimiter, quote)), [])) > 1
    return delimiter if several else usual, newline


def _decoded_head(path: Path, encoding: str | None) -> str:
    if path.suffix == ".gz":
        return _head(path, path.name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whoever reads the file hears of it
        code = encoding_of(path, encoding)
    with path.open("rb") as file:
        return file.read(_BYTES).decode(code, errors="replace")


def as_it_stands(source: str, reading: Reading) -> str:
    """SQL that reads the file as DuckDB finds it, which is not how `read` does it."""
    delimiter = "" if reading.delimiter is None else f", delim = {literal(reading.delimiter)}"
    return f"read_csv({literal(source)}, all_varchar = true, header = true, allow_quoted_nulls = false{delimiter})"


def _relation(path: Path, utf8: Path, reading: Reading) -> str:
    head = _head(utf8, path.name)
    quote = reading.quote or (_quote(head) if reading.guess else '"')
    _one_sign(path, "quote", quote)
    if reading.guess and reading.delimiter is None and reading.header is None and _are_baskets(head):
        # a sign that stands in no text cuts nothing, so that each line is one cell
        uncut = "delim = '\x1f', quote = '', escape = '', columns = {'items': 'VARCHAR'}"
        return f"read_csv({literal(str(utf8))}, auto_detect = false, header = false, {uncut}, max_line_size = 16777216)"
    shape = _layout(path, head, quote, reading)
    escape = "\\" if reading.guess and _escaped(head, quote) else quote
    columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in shape.names)
    options = [
        "auto_detect = false",
        f"header = {'true' if shape.titled else 'false'}",
        f"delim = {literal(shape.delimiter)}",
        f"quote = {literal(quote)}",
        f"escape = {literal(escape)}",
        f"columns = {{{columns}}}",
        "null_padding = false",
        "store_rejects = false",
        "max_line_size = 16777216",
    ]
    return f"read_csv({literal(str(utf8))}, {', '.join(options)})"


def layout(source: str, reading: Reading) -> Layout | None:
    """How the lines of an uncompressed UTF-8 file are parted; None where one line is not simply one row.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "people.csv"
    ...     _ = file.write_bytes(b"job;age\\nnurse;31\\n")
    ...     layout(str(file), Reading()).names
    ('job', 'age')
    """
    path = readable(source)
    if path.suffix == ".gz" or codecs.lookup(reading.encoding or "utf-8").name != "utf-8":
        return None
    with path.open("rb") as file:
        if file.read(3).startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return None
    head = _head(path, path.name)
    quote = reading.quote or (_quote(head) if reading.guess else '"')
    _one_sign(path, "quote", quote)
    if reading.guess and reading.delimiter is None and reading.header is None and _are_baskets(head):
        return None
    shape = _layout(path, head, quote, reading)
    return shape if len(shape.names) > 1 else None


def _layout(path: Path, head: str, quote: str, reading: Reading) -> Layout:
    delimiter = reading.delimiter or (_delimiter(head, quote) if reading.guess else _usual_delimiter(path, head, quote))
    _one_sign(path, "delimiter", delimiter)
    records = _records(head, delimiter, quote)
    first = next(iter(records), [])
    titled = reading.header is not False
    if reading.header is None and _is_record(first, records[1:]):
        raise BadInput(
            f"{path.name}: the first row looks like a record, not like names of columns; say so with header = false "
            "(--no-header), or with header = true (--header) if it holds names"
        )
    return Layout(delimiter, quote, tuple(_names(first if titled else [""] * len(first))), titled)


def _head(path: Path, name: str) -> str:
    """The first lines, whole ones."""
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            block = file.read(_BYTES)
            more = bool(file.read(1))
    except (OSError, EOFError, zlib.error):
        raise BadInput(f"{name}: the file is not compressed as its name says") from None
    text = block.decode("utf-8-sig", errors="ignore" if more else "replace")
    return text[: text.rfind("\n") + 1] or text if more else text


def _records(head: str, delimiter: str, quote: str) -> list[list[str]]:
    """The first records, as Python reads them; what it cannot read ends them."""
    records: list[list[str]] = []
    lines = csv.reader(io.StringIO(head, newline=""), delimiter=delimiter, quotechar=quote)
    with suppress(csv.Error):
        records.extend(record for record in islice(lines, _LINES) if record)
    return records


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
    if score[1] == 0:
        # blanks part words, too: only a file in which they cut every line into as many cells is parted by them
        records = _records(head, " ", quote)
        if len(records) > 2 and len(records[0]) > 2 and {len(record) for record in records} == {len(records[0])}:
            return " "
    return best


def _are_baskets(head: str) -> bool:
    """Whether each line is a list of its own length, of items that recur: baskets, one a line, without a header."""
    lines = head.splitlines()[:_LINES]
    sign = max(_DELIMITERS, key=head.count)
    lists = [[item.strip() for item in line.split(sign)] for line in lines if line.strip()]
    if len(lists) < _BASKETS or '"' in head or sign not in head:
        return False
    lengths = Counter(map(len, lists))
    times = Counter(item for items in lists for item in set(items))
    recurring = sum(times[item] > 1 for item in times) > 0.5 * len(times) and len(times) * 2 < times.total()
    regular = max(lengths.values()) > 0.5 * len(lists)
    # names of columns occur once; the items of a first basket occur again
    return recurring and not regular and len(lengths) > 2 and all(times[item] > 1 for item in lists[0])


def _usual_delimiter(path: Path, head: str, quote: str) -> str:
    """What a file of its name has between its cells; where others seem to stand there, they are to be declared."""
    usual = "\t" if ".tsv" in path.suffixes else ","
    seen = _delimiter(head, quote)
    cells = {sign: len(next(iter(_records(head, sign, quote)), [])) for sign in (usual, seen)}
    if cells[usual] < 2 <= cells[seen]:
        raise BadInput(
            f"{path.name}: how the file is written must not be guessed from its rows here; declare in [source] what "
            f"stands between its cells, such as delimiter = {seen!r}"
        )
    return usual


def _quote(head: str) -> str:
    """Double quotes, unless single ones stand around cells and double ones nowhere do."""
    if "'" not in head:
        return '"'
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
    data = [i for i, cell in enumerate(first) if _DATUM.fullmatch(cell.strip())]
    rows = [row for row in others[:200] if len(row) == len(first)]
    return any(rows and all(_DATUM.fullmatch(row[i].strip()) or not row[i].strip() for row in rows) for i in data)


def _names(titles: Iterable[str]) -> list[str]:
    """Names of the columns: those without one get their number, those that occur again a number behind."""
    names: list[str] = []
    taken: set[str] = set()
    times: Counter[str] = Counter()
    for i, title in enumerate(titles):
        base = title.strip() or f"column{i}"
        name = base
        while name.lower() in taken:
            times[base] += 1
            name = f"{base}_{times[base]}"
        names.append(name)
        taken.add(name.lower())
    return names


register(
    Format(
        "csv",
        (".csv", ".tsv", ".txt", ".data"),
        read,
        write,
        options=("delimiter", "quote", "encoding", "header"),
        is_text=True,
        runs_formulas=True,
        as_it_stands=as_it_stands,
        dialect=dialect,
        layout=layout,
    )
)
