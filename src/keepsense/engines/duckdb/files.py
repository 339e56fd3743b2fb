"""Rows on their way out: in order or shuffled, and as a format spells them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from keepsense.engines.base import Writing
from keepsense.engines.duckdb.table import DuckTable
from keepsense.engines.formats import FORMATS, FORMULA, Format
from keepsense.engines.store import ROW, literal, quoted
from keepsense.random import Random, generator


def query(table: DuckTable, columns: Sequence[str], writing: Writing, in_order: bool, rng: Random) -> str:
    """SQL for some columns as the format of `writing`, if it names one, spells them; no row number is among them."""
    form = None if writing.format is None else FORMATS[writing.format]
    cells = ", ".join(quoted(name) if form is None else _cell(table, name, form, writing) for name in columns)
    order = shuffled(ROW, generator(rng)) if writing.shuffle else ROW
    return f"SELECT {cells} FROM {table.name}{f' ORDER BY {order}' if in_order or writing.shuffle else ''}"


def shuffled(row: str, rng: np.random.Generator) -> str:
    """A 64-bit number for each row that only the holder of the key, 128 bits of the generator, can foretell."""
    return f"md5_number_upper('{rng.bytes(16).hex()}' || {row})"


def _cell(table: DuckTable, name: str, form: Format, writing: Writing) -> str:
    column = quoted(name)
    if form.runs_formulas and writing.spreadsheet_safe and table.is_text(name):
        # an apostrophe before what a spreadsheet would run; plain numbers such as -3 are left alone
        starts = f"strpos({literal(FORMULA)}, left({column}, 1)) > 0"
        runs = f"{column} <> '' AND {starts} AND TRY_CAST({column} AS DOUBLE) IS NULL"
        return f"CASE WHEN {runs} THEN '''' || {column} ELSE {column} END AS {column}"
    spelled = form.spelled(column, table.type_of(name).upper())
    return column if spelled == column else f"{spelled} AS {column}"
