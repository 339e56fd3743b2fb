"""Files of R, SPSS and Stata: read by a separate process, written with the labels of their source.

Cells that have labels are read as the words of these, codes for what is missing as missing. A release that is written
in the format of its source keeps the labels of columns; words get back their codes, and new ones, such as those of
generalized values, further codes.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from keepsense.engines.duckdb_store import Store, quoted
from keepsense.engines.formats.table_formats import Declared
from keepsense.engines.protocol import Writing
from keepsense.engines.text_encodings import readable
from keepsense.errors import BadInput, MissingExtra

Labels = Mapping[str, Mapping[str, Any]]

_SCRIPT = Path(__file__).with_name("statistics_reader.py")
_PATIENCE = 120
"""Seconds that reading a file may take, and as many again for each ten megabytes."""


def read_apart(store: Store, source: str, form: str, words: str, table: str | None = None) -> str:
    """Take a file, or one of its tables, into a store; `words` say what kind of file it should be."""
    import pyarrow as pa

    path = readable(source)
    with tempfile.TemporaryDirectory(prefix="keepsense-") as folder:
        target = Path(folder) / "rows.arrow"
        _run("rows", form, path, target, words, table)
        with pa.OSFile(str(target)) as file:
            reader = pa.ipc.open_file(file)
            names = reader.schema.names
            if not names or "" in names or len({name.lower() for name in names}) != len(names):
                raise BadInput(
                    f"{path.name}: the columns must have different names; rename them where the file is from"
                )
            batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
            return store.keep_arrow(pa.RecordBatchReader.from_batches(reader.schema, batches))


def labels_of(source: str, form: str, words: str, table: str | None = None) -> Labels:
    """What a file says about its columns, or those of one of its tables; nothing where it cannot be read any more."""
    try:
        labels: Labels = _told("labels", source, form, words, table)
        return labels
    except BadInput:
        return {}


def declared_by(labels: Labels) -> dict[str, Declared]:
    """Labels of columns, and the order of those whose codes are a scale, as the file says.

    >>> degrees = {"label": "degree", "values": [[2.0, "college"], [1.0, "school"]], "measure": "ordinal"}
    >>> declared_by({"degree": degrees, "town": {"label": None, "values": [[1.0, "Rome"], [2.0, "Oslo"]]}})
    {'degree': Declared(label='degree', order=('school', 'college')), 'town': Declared(label='', order=None)}
    """
    return {
        name: Declared(
            str(about.get("label") or ""),
            tuple(str(word) for _, word in sorted(numeric_labels(about))) or None
            if about.get("measure") == "ordinal"
            else None,
        )
        for name, about in labels.items()
    }


def tables_of(source: str, form: str, words: str) -> list[str]:
    """Names of the tables that a file holds."""
    names: list[str] = _told("tables", source, form, words)
    return names


def _told(what: str, source: str, form: str, words: str, table: str | None = None) -> Any:
    path = readable(source)
    with tempfile.TemporaryDirectory(prefix="keepsense-") as folder:
        target = Path(folder) / "told.json"
        _run(what, form, path, target, words, table)
        return json.loads(target.read_text(encoding="utf-8"))


def _run(what: str, form: str, path: Path, target: Path, words: str, table: str | None) -> None:
    # -P: the folder of the script holds modules that are called like those of others, such as csv
    named = [] if table is None else [table]
    command = [sys.executable, "-P", str(_SCRIPT), what, form, str(path), str(target), *named]
    patience = _PATIENCE * (1 + path.stat().st_size / 10**7)
    try:
        done = subprocess.run(command, capture_output=True, timeout=patience, check=False)
    except subprocess.TimeoutExpired:
        raise BadInput(f"{path.name}: reading it did not end; the file may be damaged: save it again") from None
    if done.returncode or not target.is_file():
        raise BadInput(f"{path.name}: this is not {words}, or it is damaged; save it again, or save it as CSV")


def needed(library: str, extra: str, doing: str) -> None:
    """Refuse to go on without a library.

    >>> needed("no_such_library", "statistics", "reading SPSS files")
    Traceback (most recent call last):
    ...
    keepsense.errors.MissingExtra: reading SPSS files needs no_such_library; install keepsense[statistics]
    """
    if find_spec(library) is None or find_spec("pandas") is None:
        raise MissingExtra(f"{doing} needs {library}; install keepsense[{extra}]")


# ---- writing ---------------------------------------------------------------------------------------------------------

_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "HUGEINT")


def columns_of(store: Store, query: str) -> dict[str, tuple[str, list[Any]]]:
    """Every column of a query as Python values, with what it is: whole, number, single, truth, day, moment or text.

    >>> with Store() as store:
    ...     columns_of(store, "SELECT 1 AS n, 'nurse' AS job, DATE '2020-02-29' AS born")
    {'n': ('whole', [1]), 'job': ('text', ['nurse']), 'born': ('day', [datetime.date(2020, 2, 29)])}
    """
    kinds = {name: _kind(store, query, name, kind) for name, kind in store.types(query).items()}
    cells = ", ".join(
        f"CAST({quoted(name)} AS VARCHAR) AS c{j}" if kind == "text" else f"{quoted(name)} AS c{j}"
        for j, (name, kind) in enumerate(kinds.items())
    )
    table = store.connection.sql(f"SELECT {cells} FROM ({query})").to_arrow_table()
    return {
        name: (kind, _shortest(column.to_pylist()) if kind == "single" else column.to_pylist())
        for (name, kind), column in zip(kinds.items(), table.columns, strict=True)
    }


def _shortest(cells: Sequence[float | None]) -> list[float | None]:
    """Single-precision numbers as the doubles that read the same."""
    import numpy as np

    return [None if cell is None else float(str(np.float32(cell))) for cell in cells]


def _kind(store: Store, query: str, name: str, kind: str) -> str:
    column = quoted(name)
    plain = {"BOOLEAN": "truth", "DOUBLE": "number", "FLOAT": "single", "DATE": "day", "TIMESTAMP": "moment"}
    what = "whole" if kind in _WHOLE else plain.get(kind, "text")
    wrong = {
        "whole": f"abs({column}::HUGEINT) > 9007199254740992",
        "number": f"NOT isfinite({column})",
        "single": f"NOT isfinite({column})",
        "day": f"NOT isfinite({column}) OR {column} < DATE '1600-01-01' OR {column} > DATE '9999-12-31'",
        "moment": f"NOT isfinite({column}) OR {column} < TIMESTAMP '1600-01-01' OR {column} > TIMESTAMP '9999-12-31' "
        f"OR epoch_us({column}) % 1000 <> 0",
    }.get(what)
    if wrong is not None and store.run(f"SELECT 1 FROM ({query}) WHERE {wrong} LIMIT 1"):
        return "text"
    return what


def coded(cells: Sequence[str | None], labels: Sequence[Sequence[Any]]) -> tuple[list[float | None], dict[float, str]]:
    """Words as codes with labels: those of the source have their codes, further ones the next; only words that occur.

    >>> coded(["male", None, "any"], [[1.0, "female"], [2.0, "male"]])
    ([2.0, None, 3.0], {2.0: 'male', 3.0: 'any'})
    """
    codes = {str(word): float(code) for code, word in labels}
    following = max([0.0, *(float(int(code)) for code in codes.values())])
    for word in dict.fromkeys(cell for cell in cells if cell is not None):
        if word not in codes:
            following += 1.0
            codes[word] = following
    used = set(cells)
    return (
        [None if cell is None else codes[cell] for cell in cells],
        {code: word for word, code in sorted(codes.items(), key=lambda item: item[1]) if word in used},
    )


def numeric_labels(about: Mapping[str, Any]) -> list[Any]:
    """Pairs of code and words of a column whose codes are numbers; none where they are texts.

    >>> numeric_labels({"values": [[1.0, "yes"]]}), numeric_labels({"values": [["a", "yes"]]}), numeric_labels({})
    ([[1.0, 'yes']], [], [])
    """
    pairs = list(about.get("values") or ())
    return pairs if all(isinstance(code, int | float) for code, _ in pairs) else []


def write_labelled(store: Store, query: str, part: Path, writing: Writing, form: str) -> None:
    """Write a file of SPSS or Stata."""
    import pandas as pd
    import pyreadstat

    like = {} if writing.like is None else labels_of(writing.like, form, form)
    decimals = {"spss": ("F20.0", "F20.2"), "stata": ("%20.0f", "%20.2f")}[form]
    columns, formats, values = {}, {}, {}
    for name, (kind, cells) in columns_of(store, query).items():
        check_name(name, form)
        about = like.get(name, {})
        pairs = numeric_labels(about)
        if kind == "truth":
            kind, cells = "text", [None if cell is None else str(cell).lower() for cell in cells]
            pairs = pairs or [[0.0, "false"], [1.0, "true"]]
        # bands of a number, of which a few values had labels, are texts
        if kind == "text" and {str(word) for _, word in pairs} & set(cells):
            cells, values[name] = coded(cells, pairs)
            kind = "whole"
        elif kind in ("whole", "number") and pairs:
            there = set(cells)
            values[name] = {float(code): str(word) for code, word in pairs if code in there}
        if kind in ("whole", "number", "single"):
            numbers = [float("nan") if cell is None else float(cell) for cell in cells]
            columns[name] = pd.Series(numbers, dtype="float64")
            formats[name] = decimals[kind != "whole"]
        elif kind == "text":
            columns[name] = pd.Series(
                [None if cell is None else fitting(name, cell, form) for cell in cells], dtype=object
            )
        else:
            columns[name] = pd.Series(cells, dtype=object if kind == "day" else "datetime64[ms]")
    notes = {name: str(about["label"]) for name, about in like.items() if about.get("label") and name in columns}
    measures = {name: about["measure"] for name, about in like.items() if about.get("measure") and name in columns}
    frame = pd.DataFrame(columns)
    keywords: dict[str, Any] = {"column_labels": notes, "variable_value_labels": values, "variable_format": formats}
    try:
        if form == "spss":
            packed = part.name.lower().endswith(".zsav")
            pyreadstat.write_sav(frame, str(part), compress=packed, variable_measure=measures, **keywords)
        else:
            pyreadstat.write_dta(frame, str(part), **keywords)
    except (pyreadstat.PyreadstatError, pyreadstat.ReadstatError) as error:
        # its words are about names and lengths
        raise BadInput(
            f"the table cannot be written for {form} ({type(error).__name__}); write CSV or Parquet"
        ) from None


_NAMES = {
    "spss": ("SPSS", re.compile(r"[^\W\d_][\w.$#@]{0,63}(?<![._])"), 64),
    "stata": ("Stata", re.compile(r"(?!\d)\w{1,32}"), 128),
}
_RESERVED = {
    "spss": {"all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with"},
    "stata": {"byte", "int", "long", "float", "double", "strL", "if", "in", "using", "with", "_all", "_b", "_coef"}
    | {"_cons", "_n", "_N", "_pi", "_pred", "_rc", "_skip", *(f"str{width}" for width in range(1, 2046))},
}


def check_name(name: str, form: str) -> None:
    """Refuse a column's name that the program does not know what to do with.

    >>> check_name("age", "stata")
    >>> check_name("the job", "spss")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: SPSS has no columns called 'the job': no blanks, no signs, no words of its own, ...
    """
    program, pattern, most = _NAMES[form]
    reserved = (name.lower() if form == "spss" else name) in _RESERVED[form]
    if pattern.fullmatch(name) is None or len(name.encode()) > most or reserved:
        limit = "64 bytes" if form == "spss" else "32 characters"
        raise BadInput(
            f"{program} has no columns called {name!r}: no blanks, no signs, no words of its own, at most {limit}; "
            "rename it in the source, or release CSV or Parquet"
        )


def fitting(name: str, text: str, form: str) -> str:
    """A text as the program can hold it: SPSS has no blanks at the end of a cell.

    >>> fitting("job", "nurse  ", "spss"), fitting("job", "nurse  ", "stata")
    ('nurse', 'nurse  ')
    """
    if len(text.encode()) > 32_767:
        raise BadInput(f"column {name!r}: a cell holds at most 32,767 bytes; write CSV or Parquet")
    return text.rstrip(" ") if form == "spss" else text
