"""Data frames of R, one (.rds) or several by name (.rda, .RData); factors are read as words and written as factors."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

from keepsense.engines.duckdb_store import ROW, Store, quoted
from keepsense.engines.formats.column_types import faithful
from keepsense.engines.formats.statistics_files import Labels, columns_of, labels_of, needed, read_apart, tables_of
from keepsense.engines.formats.table_formats import Format, chosen_table, register
from keepsense.engines.protocol import Reading, Writing
from keepsense.engines.text_encodings import readable
from keepsense.errors import BadInput

_LARGEST = 2**31 - 1
_ONE, _SEVERAL = ("rds", "a data frame of R"), ("rdata", "a file of R with data frames")


def read(store: Store, source: str, reading: Reading) -> str:
    """The data frame; texts that are all dates or times, as they are written here, are such."""
    needed("pyreadr", "r", "reading R files")
    return _typed(store, read_apart(store, source, *_ONE))


def read_named(store: Store, source: str, reading: Reading) -> str:
    """The data frame that is asked for, or the only one; whatever else was saved with it is left alone."""
    needed("pyreadr", "r", "reading R files")
    places = {name: name for name in tables_of(source, *_SEVERAL)}
    table = chosen_table(readable(source), places, reading)
    return _typed(store, read_apart(store, source, *_SEVERAL, table))


def _typed(store: Store, texts: str) -> str:
    types = {name: kind for name, kind in store.types(f"SELECT * FROM {texts}").items() if name != ROW}
    typed = {
        name: next((kind for kind in ("DATE", "TIMESTAMP") if faithful(store, texts, name, kind)), None)
        for name, kind in types.items()
        if kind == "VARCHAR"
    }
    if not any(typed.values()):
        return texts
    cells = [f"CAST({quoted(name)} AS {typed.get(name) or kind}) AS {quoted(name)}" for name, kind in types.items()]
    table = store.keep(texts, ", ".join([*cells, ROW]))
    store.run(f"DROP TABLE {texts}")
    return table


def write(store: Store, query: str, part: Path, writing: Writing) -> None:
    """Whole numbers, numbers, truth values and texts; dates as texts, which `as.Date` takes."""
    needed("pyreadr", "r", "writing R files")
    import pyreadr

    frame = _frame(store, query, {} if writing.like is None else labels_of(writing.like, *_ONE))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own use of pandas
        pyreadr.write_rds(str(part), frame, compress="gzip")


def write_named(store: Store, query: str, part: Path, writing: Writing) -> None:
    """The same under a name, which `load` gives back."""
    needed("pyreadr", "r", "writing R files")
    import pyreadr

    like = {} if writing.like is None else labels_of(writing.like, *_SEVERAL, _named(writing))
    frame = _frame(store, query, like)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pyreadr.write_rdata(str(part), frame, df_name=writing.table, compress="gzip")


def _named(writing: Writing) -> str | None:
    """The data frame of the source: the one that was read, or the only one."""
    if writing.like_table is not None or writing.like is None:
        return writing.like_table
    try:
        return next(iter(tables_of(writing.like, *_SEVERAL)))
    except BadInput:
        return None


def _frame(store: Store, query: str, like: Labels) -> Any:
    import pandas as pd

    columns: dict[str, Any] = {}
    for name, (kind, cells) in columns_of(store, query).items():
        if kind == "whole" and all(cell is None or abs(cell) <= _LARGEST for cell in cells):
            columns[name] = pd.array(cells, dtype="Int32")
        elif kind in ("whole", "number", "single"):
            columns[name] = pd.array([float("nan") if cell is None else float(cell) for cell in cells], dtype="float64")
        elif kind == "truth":
            columns[name] = pd.array(cells, dtype="boolean" if None not in cells else object)
        else:
            texts = [None if cell is None else _spelled(cell, kind) for cell in cells]
            factor = like.get(name, {}).get("factor") and any(cell is not None for cell in texts)
            columns[name] = pd.Categorical(texts) if factor else pd.Series(texts, dtype=object)
    return pd.DataFrame(columns)


def _spelled(cell: Any, kind: str) -> str:
    """A cell as text; a moment as DuckDB spells it, without zeros at the end of its seconds."""
    return re.sub(r"(\.\d*?)0+$", r"\1", str(cell)) if kind == "moment" else str(cell)


register(Format("rds", (".rds",), read, write, extra="r"))
register(Format("rdata", (".rda", ".rdata"), read_named, write_named, options=("table",), keeps_tables=True, extra="r"))
