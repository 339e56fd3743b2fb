"""The separate process that reads files of R, SPSS and Stata, and writes their rows into an Arrow file.

Run as a script, so that nothing else is loaded there: the libraries that know these formats are written in C, believe
what a file says of its own lengths, and a damaged file may end the program that reads it. Only that process ends then.

With the arguments `rows FORMAT FILE TARGET` it writes the rows, with `labels FORMAT FILE TARGET` what the file says
about its columns, as JSON; both take the name of a table as a last argument, where files hold several. With `tables
FORMAT FILE TARGET` it writes these names.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

Labels = Mapping[str, Mapping[str, Any]]
"""Of each column its `label`, the `values` that have labels, as pairs of code and words, its `measure` (ordinal, ...)
where the format has that, and if it is a factor."""


def words_of(cells: Sequence[Any], labels: Mapping[Any, str]) -> list[str | None] | None:
    """Cells by the words of their labels; None where a cell has none, as those of numbers with a few marked ones.

    Words that several codes have are told apart by their code.

    >>> words_of([1.0, None, 2.0], {1.0: "female", 2.0: "male"}), words_of([33.0], {99.0: "not asked"})
    (['female', None, 'male'], None)
    """
    plain = spelled_labels(labels)
    if not plain or any(cell is not None and cell not in plain for cell in cells):
        return None
    return [None if cell is None else plain[cell] for cell in cells]


def spelled_labels(labels: Mapping[Any, str]) -> dict[Any, str]:
    """Labels by code, all of them different and none of them empty.

    >>> spelled_labels({1.0: "yes", 2.0: "other", 3.0: "other", 4.0: ""})
    {1.0: 'yes', 2.0: 'other (2)', 3.0: 'other (3)', 4.0: '4'}
    """
    times = Counter(str(word) for word in labels.values())
    spelled = {}
    for code, word in labels.items():
        text = f"{code:g}" if isinstance(code, float) else str(code)
        spelled[code] = text if not str(word).strip() else f"{word} ({text})" if times[str(word)] > 1 else str(word)
    return spelled


def typed(cells: Sequence[Any], shown: str, stored: str) -> Any:
    """Cells as an Arrow column, by the format they are shown in and the type they are stored with.

    Whole numbers that are shown without decimals are whole numbers; texts that are empty are missing.

    >>> str(typed([20.0, None], "F8.0", "double").type), str(typed([20.0, None], "F8.2", "double").type)
    ('int64', 'double')
    """
    import pyarrow as pa

    known = [cell for cell in cells if cell is not None]
    if all(isinstance(cell, str) for cell in known):
        numbers_alone = not known and not stored.startswith("str")
        return pa.array([cell or None for cell in cells], pa.float64() if numbers_alone else pa.string())
    if all(type(cell) is int or type(cell) is float for cell in known):
        numbers = [None if cell is None or math.isnan(cell) else cell for cell in cells]
        if _without_decimals(shown, stored) and all(
            cell is None or (math.isfinite(cell) and cell == int(cell) and abs(cell) <= 2**53) for cell in numbers
        ):
            return pa.array([None if cell is None else int(cell) for cell in numbers], pa.int64())
        return pa.array(numbers, pa.float32() if stored == "float" else pa.float64())
    if all(type(cell) is dt.datetime for cell in known):
        return pa.array([None if cell is None else _in_milliseconds(cell) for cell in cells], pa.timestamp("us"))
    return pa.array(cells)


def _without_decimals(shown: str, stored: str) -> bool:
    """F8.0 of SPSS; %8.0g, %12.0f and whole types of Stata."""
    return stored.startswith("int") or re.fullmatch(r"%?[-0]*[A-Z]*\d+(\.0[fgc]*)?[fgc]*", shown) is not None


def _in_milliseconds(moment: dt.datetime) -> dt.datetime:
    """Seconds that were kept as a floating-point number, without what this added."""
    return moment.replace(microsecond=0) + dt.timedelta(milliseconds=round(moment.microsecond / 1000))


def _of_statistics(reader: Callable[..., Any], file: str) -> tuple[dict[str, Any], Labels]:
    columns, about = reader(file, output_format="dict")
    rows = {}
    for name, cells in columns.items():
        listed = list(cells)
        words = words_of(listed, about.variable_value_labels.get(name, {}))
        shown, stored = about.original_variable_types.get(name, ""), about.readstat_variable_types.get(name, "")
        rows[name] = typed(listed, str(shown), str(stored)) if words is None else typed(words, "", "string")
    return rows, _told(about)


def _told(about: Any) -> Labels:
    return {
        name: {
            "label": label,
            "values": list(spelled_labels(about.variable_value_labels.get(name, {})).items()),
            "measure": about.variable_measure.get(name, "unknown"),
        }
        for name, label in about.column_names_to_labels.items()
    }


def _frames(file: str) -> dict[str | None, Any]:
    """The data frames of a file of R by name; that of an .rds file has none, and a vector's column neither."""
    import pyreadr

    return {name: frame for name, frame in pyreadr.read_r(file).items() if None not in frame.columns}


def _of_r(file: str, table: str | None) -> tuple[dict[str, Any], Labels]:
    import pandas as pd
    import pyarrow as pa

    frame = _frames(file)[table]
    rows, labels = {}, {}
    for name, column in frame.items():
        labels[str(name)] = {"factor": isinstance(column.dtype, pd.CategoricalDtype)}
        cells = [None if cell is pd.NaT or cell is None or cell != cell else cell for cell in column.tolist()]
        if all(isinstance(cell, str) or cell is None for cell in cells):
            rows[str(name)] = pa.array(cells, pa.string())
        elif all(type(cell) in (int, float) or cell is None for cell in cells) and column.dtype.kind == "f":
            rows[str(name)] = pa.array(cells, pa.float64())
        else:
            rows[str(name)] = pa.array([c.to_pydatetime() if isinstance(c, pd.Timestamp) else c for c in cells])
    return rows, labels


def main(what: str, form: str, file: str, target: str, table: str | None = None) -> None:
    """Write what is asked of a file to a target."""
    import pyarrow as pa

    if what == "tables":
        names = [name for name in _frames(file) if name is not None]
        if not names:
            raise ValueError("no data frames")
        Path(target).write_text(json.dumps(names), encoding="utf-8")
        return
    if form in ("rds", "rdata"):
        rows, labels = _of_r(file, table)
    else:
        import pyreadstat

        reader = {"spss": pyreadstat.read_sav, "stata": pyreadstat.read_dta}[form]
        if what == "labels":
            rows, labels = {}, _told(reader(file, metadataonly=True)[1])
        else:
            rows, labels = _of_statistics(reader, file)
    if what == "labels":
        Path(target).write_text(json.dumps(labels), encoding="utf-8")
        return
    cells = pa.table(rows)
    with pa.OSFile(target, "wb") as sink, pa.ipc.new_file(sink, cells.schema) as out:
        out.write_table(cells, max_chunksize=65_536)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Exception as error:  # the kind of error alone: its words may quote cells
        raise SystemExit(f"not readable: {type(error).__name__}") from None
