"""ARX's hierarchy files, read and written: one line a leaf, semicolons, the leaf first and the top last.

What a file looked like (delimiter, quotes, line ends, a missing last line end, a byte order mark) is remembered, so a
hierarchy that was read and not changed is written back byte for byte. Lines that repeat an earlier one word for word
are left out with a warning, and a line whose leaf is empty is that of the missing value. Lines that contradict each
other are refused by their numbers.
"""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

from keepsense.counts import Value
from keepsense.errors import BadHierarchy, InputWarning
from keepsense.hierarchies.formats.hierarchy_formats import FORMATS, Format, check_depth, read_text, write_bytes
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.hierarchy_checks import check_rows, require

FORM = "csv form"
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class CsvForm:
    """How a hierarchy file is spelled.

    >>> CsvForm().delimiter
    ';'
    """

    delimiter: str = ";"
    line_end: str = "\n"
    last_line_end: bool = True
    quote_all: bool = False
    mark: bool = False


class ArxOptions(TypedDict, total=False):
    """How a hierarchy file is to be read (see `read_arx`)."""

    kind: str
    delimiter: str
    ragged: Literal["refuse", "repeat"]
    convert: Callable[[str], Value] | None


def read_arx(path: str | Path, *, name: str | None = None, **options: Unpack[ArxOptions]) -> Hierarchy:
    """Read a hierarchy file.

    Lines of different lengths are refused, counted and listed, unless `ragged="repeat"` lets a short line's leaf
    repeat until the line is as long as the longest. `convert` turns the text of a leaf into the column's own value
    (`int`, say).

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "job.csv"
    >>> _ = path.write_text("nurse;medic;*\\nclerk;office;*\\n", encoding="utf-8")
    >>> read_arx(path)
    Hierarchy('job': nominal, 2 leaves, height 2)
    """
    return parse_arx(read_text(path, keep_mark=True), name=name or Path(path).stem, **options)


def parse_arx(
    text: str,
    *,
    name: str = "hierarchy",
    kind: str = "nominal",
    delimiter: str = ";",
    ragged: Literal["refuse", "repeat"] = "refuse",
    convert: Callable[[str], Value] | None = None,
) -> Hierarchy:
    r"""Read a hierarchy from the text of a file (see `read_arx`).

    >>> parse_arx("nurse;medic;*\nclerk;office;*\n").labels[1]
    ('medic', 'office')
    """
    if len(delimiter) != 1:
        raise BadHierarchy(f"{name}: the delimiter must be one character, not {delimiter!r}")
    if ragged not in ("refuse", "repeat"):
        raise BadHierarchy(f"{name}: ragged must be 'refuse' or 'repeat', not {ragged!r}")
    mark = text.startswith(_BOM)
    body = text[len(_BOM) :] if mark else text
    lines, rows = _lines(name, body, delimiter)
    check_depth(name, max(map(len, rows), default=0))
    if ragged == "repeat" and rows:
        width = max(map(len, rows))
        rows = [[row[0]] * (width - len(row)) + row for row in rows]
    table = [_missing(row) for row in rows]
    require(check_rows(table, name=name, lines=lines))
    line_end = "\r\n" if "\r\n" in body else "\r" if "\r" in body and "\n" not in body else "\n"
    form = CsvForm(delimiter, line_end, body.endswith(line_end), mark=mark)
    quoted = replace(form, quote_all=True)
    form = quoted if _spelled(rows, quoted) == text else form
    if convert is not None:
        try:
            table = [row if row[0] is None else (convert(str(row[0])), *row[1:]) for row in table]
        except (ValueError, ArithmeticError):
            raise BadHierarchy(f"{name}: a leaf cannot be converted; check the type of the column") from None
    return Hierarchy.of_rows(table, name=name, kind=kind, info={FORM: asdict(form)})


def _lines(name: str, text: str, delimiter: str) -> tuple[list[int], list[list[str]]]:
    """Rows of a file and the lines that they begin on; those that repeat an earlier one are left out with a warning."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    first: dict[tuple[str, ...], int] = {}
    repeated: list[int] = []
    begin = 1
    try:
        for row in reader:
            if row and first.setdefault(tuple(row), begin) != begin:
                repeated.append(begin)
            begin = reader.line_num + 1
    except csv.Error as error:
        raise BadHierarchy(f"{name}: the file is not a readable CSV file ({error}); check its quotes") from None
    if repeated:
        shown = ", ".join(f"{line:,}" for line in repeated[:3]) + (", ..." if len(repeated) > 3 else "")
        warnings.warn(
            f"{name}: {len(repeated):,} line(s) repeat an earlier one word for word and count once (line {shown})",
            InputWarning,
            stacklevel=4,
        )
    return list(first.values()), [list(row) for row in first]


def _missing(row: Sequence[str]) -> tuple[Value, ...]:
    """A row of labels; where the leaf is empty it is that of the missing value, whose labels may be empty, too."""
    if row and not row[0].strip():
        return tuple(label if label.strip() else None for label in row)
    return tuple(row)


def format_arx(hierarchy: Hierarchy, *, form: CsvForm | None = None) -> str:
    r"""Spell a hierarchy as the text of a file, in the form it was read in unless another is given.

    >>> format_arx(Hierarchy.of_rows([("nurse", "medic", "*")]))
    'nurse;medic;*\n'
    """
    remembered: Any = hierarchy.info.get(FORM) or {}
    return _spelled(
        [["" if label is None else str(label) for label in row] for row in hierarchy.rows()],
        form or CsvForm(**remembered),
    )


def write_arx(hierarchy: Hierarchy, path: str | Path, *, form: CsvForm | None = None) -> None:
    """Write a hierarchy file.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "job.csv"
    >>> write_arx(Hierarchy.of_rows([("nurse", "medic", "*")]), path)
    >>> path.read_bytes()
    b'nurse;medic;*\\n'
    """
    write_bytes(path, format_arx(hierarchy, form=form).encode("utf-8"))


def _spelled(rows: Sequence[Sequence[str]], form: CsvForm) -> str:
    out = io.StringIO(newline="")
    quoting: Literal[0, 1] = csv.QUOTE_ALL if form.quote_all else csv.QUOTE_MINIMAL
    csv.writer(out, delimiter=form.delimiter, lineterminator=form.line_end, quoting=quoting).writerows(rows)
    text = out.getvalue()
    # The csv module ends every line itself; the last line end is cut off where the file had none.
    return (_BOM if form.mark else "") + (text if form.last_line_end else text[: -len(form.line_end)])


FORMATS.add("arx", Format("arx", "as ARX reads it, one row a value", (".csv",), read_arx, write_arx))
