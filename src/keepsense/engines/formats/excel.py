"""Excel workbooks, a row at a time. Formats of the worksheet give the types: a date is a number shown as a date."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from keepsense.engines.duckdb_store import Store, quoted
from keepsense.engines.formats.column_types import gather, is_short_decimal, named, shortest
from keepsense.engines.formats.table_formats import Format, register
from keepsense.engines.protocol import Reading, Writing
from keepsense.engines.text_encodings import readable
from keepsense.errors import BadInput, KeepsenseError, MissingExtra

MOST_ROWS = 1_048_575
MOST_COLUMNS = 16_384
MOST_UNPACKED = 1 << 33
LONGEST_TEXT = 32_767
LONGEST_NAME = 31

_DOUBLE = "General;-General"
"""Shows a number as a plain cell does, and tells `read` that 1 is the floating-point number 1.0."""
_CLOCK = re.compile(r"[hs]", re.IGNORECASE)
_ASIDE = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.')
_DECIMAL = re.compile(r"0(?:\.(0+))?;-0(?:\.0+)?")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f]|_(?=x[0-9A-Fa-f]{4}_)")


def read(store: Store, source: str, reading: Reading) -> str:
    """A sheet, by its name or the first; its first row names the columns, blank rows are left out."""
    path = readable(source)
    size = path.stat().st_size
    try:
        import duckdb
        import openpyxl
    except ImportError:
        raise MissingExtra(f"{path.name}: reading Excel needs openpyxl; install keepsense[excel]") from None
    with path.open("rb") as file:
        try:
            with ZipFile(file) as packed:
                if sum(part.file_size for part in packed.infolist()) > min(MOST_UNPACKED, max(1 << 26, 200 * size)):
                    raise BadInput(f"{path.name}: the workbook unpacks to many times its size; it is refused")
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        except KeepsenseError:
            raise
        except Exception as error:
            raise BadInput(f"{path.name}: this is not an Excel workbook ({type(error).__name__})") from None
        with closing(book):
            try:
                return _sheet(store, path, book, reading.table and reading.table[:LONGEST_NAME])
            except (KeepsenseError, duckdb.Error):
                raise
            except Exception as error:  # openpyxl raises errors of every kind for sheets that are none
                what = type(error).__name__
                raise BadInput(f"{path.name}: the sheet cannot be read ({what}); save it again") from None


def _sheet(store: Store, path: Path, book: Any, name: str | None) -> str:
    if name and name not in book.sheetnames:
        raise BadInput(f"{path.name}: there is no sheet {name!r}; it has {', '.join(book.sheetnames)}")
    sheet = book[name] if name else _only(path, book)
    sheet.reset_dimensions()  # what it says of its own size may be wrong
    with closing(sheet.iter_rows(max_row=1, max_col=MOST_COLUMNS)) as first:
        header = [_cell(cell) for cell in next(first, ())]
    while header and header[-1] is None:
        header.pop()
    names = named(path.name, header)
    decimals: dict[str, str] = {}
    with closing(sheet.iter_rows(min_row=2, max_col=len(names))) as rows:
        return gather(store, names, _rows(_numbered(path, rows), names, decimals), decimals)


def _only(path: Path, book: Any) -> Any:
    """The only sheet that holds something; several are asked about, as tables of a database are."""
    if len(book.worksheets) == 1:
        return book.worksheets[0]
    places = {}
    for sheet in book.worksheets:
        sheet.reset_dimensions()
        with closing(sheet.iter_rows(max_row=1, max_col=MOST_COLUMNS)) as first:
            if any(cell.value is not None for cell in next(first, ())):
                places[sheet.title] = sheet
    if len(places) > 1:
        raise BadInput(f"{path.name}: say which sheet to read, as its `table`; it has {', '.join(places)}")
    return next(iter(places.values()), book.worksheets[0])


def _numbered(path: Path, rows: Iterator[Any]) -> Iterator[Any]:
    """The rows, blank ones too, unless they are more than a worksheet can have: a row may claim any number."""
    for number, row in enumerate(rows):
        if number >= MOST_ROWS:
            raise BadInput(f"{path.name}: the sheet has rows beyond {MOST_ROWS + 1:,}, which no worksheet has; mend it")
        yield row


def _rows(rows: Iterator[Any], names: list[str], decimals: dict[str, str]) -> Iterator[list[Any]]:
    """Cells of each row that has any; columns of decimals are put down in `decimals` on the way."""
    width = len(names)
    for row in rows:
        cells = [_cell(cell) for cell in row[:width]]
        if any(cell is not None for cell in cells):
            for j, cell in enumerate(cells):
                if type(cell) in (int, float) and (places := _places(row[j].number_format)) is not None:
                    decimals[names[j]] = f"DECIMAL(15, {places})"
            yield cells + [None] * (width - len(cells))


def _places(shown: str) -> int | None:
    """Decimal places of the format that `write` gives to decimals."""
    if ";" not in shown:
        return None
    decimals = _DECIMAL.fullmatch(shown)
    return None if decimals is None else len(decimals[1] or "")


def _unescaped(code: re.Match[str]) -> str:
    sign = chr(int(code[1], 16))
    return code[0] if "\ud800" <= sign <= "\udfff" else sign  # half a character is none


def _cell(cell: Any) -> Any:
    value = cell.value
    if value is None:
        return "" if getattr(cell, "data_type", None) == "inlineStr" else None
    if isinstance(value, str):
        return _ESCAPED.sub(_unescaped, value) if "_x" in value else value
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return value if _CLOCK.search(_ASIDE.sub("", cell.number_format)) else value.date()
    if isinstance(value, int) and cell.number_format == _DOUBLE:
        return float(value)
    return value


def write(store: Store, query: str, part: Path, writing: Writing) -> None:
    """One sheet; what a worksheet would round or cannot show becomes text."""
    try:
        from openpyxl import Workbook
    except ImportError:
        raise MissingExtra("writing Excel needs openpyxl; install keepsense[excel]") from None
    types = store.types(query).items()
    kinds = [(name, kind if _shows(store, query, quoted(name), kind) else "VARCHAR") for name, kind in types]
    cells = ", ".join(_shown_as(quoted(name), kind, f"c{j}") for j, (name, kind) in enumerate(kinds))
    reader = store.connection.sql(f"SELECT {cells} FROM ({query})").to_arrow_reader(16_384)
    book = Workbook(write_only=True)
    try:
        sheet = book.create_sheet(writing.table[:LONGEST_NAME])
    except ValueError:
        raise BadInput(f"a worksheet cannot be called {writing.table!r}; leave out * ? : / \\ [ and ]") from None
    try:
        _fill(sheet, kinds, reader)
        with part.open("wb") as file:
            book.save(file)
    except BaseException:
        sheet.close()  # or its file stays open behind us
        raise


def _fill(sheet: Any, kinds: list[tuple[str, str]], reader: Any) -> None:
    makers = [_maker(sheet, name, kind) for name, kind in kinds]
    sheet.append([_text(sheet, name, name) for name, _ in kinds])
    rows = 0
    for batch in reader:
        rows += batch.num_rows
        if rows > MOST_ROWS:
            raise BadInput(f"a worksheet holds at most {MOST_ROWS:,} rows; write CSV or Parquet")
        columns = [
            column.to_pylist() if make is None else [make(cell) for cell in column.to_pylist()]
            for make, column in zip(makers, batch.columns, strict=True)
        ]
        for row in zip(*columns, strict=True):
            sheet.append(row)


_NUMBERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "HUGEINT")


def _shows(store: Store, query: str, column: str, kind: str) -> bool:
    """Whether a worksheet shows every cell of a column as it is: 15 digits, milliseconds, nothing before March 1900."""
    if kind in ("BOOLEAN", "VARCHAR"):
        return True
    if kind in _NUMBERS:
        wrong = f"abs({column}::HUGEINT) >= 1000000000000000"
    elif kind == "DATE":
        wrong = f"{column} < DATE '1900-03-01' OR {column} > DATE '9999-12-31'"
    elif kind == "TIMESTAMP":
        early = f"{column} < TIMESTAMP '1900-03-01' OR {column} >= TIMESTAMP '9999-12-31'"
        wrong = f"NOT isfinite({column}) OR {early} OR epoch_us({column}) % 1000 <> 0"
    elif kind in ("FLOAT", "DOUBLE"):
        wrong = f"NOT isfinite({column})"
    else:
        return is_short_decimal(kind)
    return not store.run(f"SELECT 1 FROM ({query}) WHERE {wrong} LIMIT 1")


def _shown_as(column: str, kind: str, name: str) -> str:
    if kind == "FLOAT":
        return f"{shortest(column)} AS {name}"
    if kind in (*_NUMBERS, "BOOLEAN", "DATE", "TIMESTAMP", "DOUBLE") or kind.startswith("DECIMAL"):
        return f"{column} AS {name}"
    return f"CAST({column} AS VARCHAR) AS {name}"


def _maker(sheet: Any, name: str, kind: str) -> Callable[[Any], Any] | None:
    """How a cell of a column is made, where its bare value is not enough."""
    if kind in (*_NUMBERS, "BOOLEAN", "DATE", "TIMESTAMP"):
        return None
    if kind in ("FLOAT", "DOUBLE"):
        return partial(_shown, sheet, _DOUBLE)
    if kind.startswith("DECIMAL"):
        places = int(kind.rstrip(")").split(",")[1])
        zeros = "0." + "0" * places if places else "0"
        return partial(_shown, sheet, f"{zeros};-{zeros}")
    return partial(_text, sheet, name)


def _text(sheet: Any, name: str, value: str | None) -> Any:
    """A text as a text, even where it looks like a formula; characters a worksheet lacks are escaped as Excel does."""
    from openpyxl.cell import WriteOnlyCell

    if value is None or (value[:1] not in ("=", "#") and not _UNSAFE.search(value) and len(value) <= LONGEST_TEXT):
        return value
    spelled = _UNSAFE.sub(lambda sign: f"_x{ord(sign[0]):04X}_", value)
    if len(spelled) > LONGEST_TEXT:
        raise BadInput(f"column {name!r}: a worksheet's cell holds at most {LONGEST_TEXT:,} characters; write CSV")
    cell = WriteOnlyCell(sheet, value=spelled)
    cell.data_type = "s"
    return cell


def _shown(sheet: Any, number_format: str, value: Any) -> Any:
    from openpyxl.cell import WriteOnlyCell

    if value is None:
        return None
    cell = WriteOnlyCell(sheet, value=repr(value) if isinstance(value, float) else value)
    cell.data_type = "n"  # openpyxl would round a floating-point number to 16 digits, not its spelling
    cell.number_format = number_format
    return cell


register(Format("excel", (".xlsx",), read, write, options=("table",), runs_formulas=True, extra="excel"))
