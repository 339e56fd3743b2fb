"""Data frames of R (.rds); factors are words, and words are factors again where they were."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

from keepsense.engines.base import Reading, Writing
from keepsense.engines.formats import Format, register
from keepsense.engines.formats._cells import faithful
from keepsense.engines.formats._labelled import columns_of, labels_of, needed, read_apart
from keepsense.engines.store import ROW, Store, quoted

_LARGEST = 2**31 - 1


def read(store: Store, source: str, reading: Reading) -> str:
    """The data frame; texts that are all dates or times, as they are written here, are such."""
    needed("pyreadr", "r", "reading R files")
    texts = read_apart(store, source, "rds", "a data frame of R")
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
    import pandas as pd
    import pyreadr

    like = {} if writing.like is None else labels_of(writing.like, "rds", "a data frame of R")
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own use of pandas
        pyreadr.write_rds(str(part), pd.DataFrame(columns), compress="gzip")


def _spelled(cell: Any, kind: str) -> str:
    """A cell as text; a moment as DuckDB spells it, without zeros at the end of its seconds."""
    return re.sub(r"(\.\d*?)0+$", r"\1", str(cell)) if kind == "moment" else str(cell)


register(Format("rds", (".rds",), read, write, extra="r"))
