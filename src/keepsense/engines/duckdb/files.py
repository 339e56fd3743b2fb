"""Rows on their way out: in order or shuffled, and as a format spells them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from keepsense.engines.base import DECIMALS, NUMBER_FORMATS, Writing
from keepsense.engines.duckdb.table import DuckTable
from keepsense.engines.formats import FORMATS, FORMULA, HARMLESS, Format
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


def guarded(table: DuckTable, writing: Writing) -> dict[str, int]:
    """How many cells of each column get an apostrophe, where some do."""
    form = None if writing.format is None else FORMATS[writing.format]
    names = [name for name in table.columns if table.is_text(name)]
    if form is None or not form.runs_formulas or not writing.spreadsheet_safe or not names:
        return {}
    counted = ", ".join(f"count(*) FILTER ({_runs(quoted(name))})" for name in names)
    (cells,) = table.store.run(f"SELECT {counted} FROM {table.name}")
    return {name: int(number) for name, number in zip(names, cells, strict=True) if number}


def _runs(column: str) -> str:
    """SQL for whether a spreadsheet would run a cell; numbers as people write them are left alone."""
    starts = f"strpos({literal(FORMULA)}, left({column}, 1)) > 0"
    number = f"TRY_CAST({column} AS DOUBLE) IS NOT NULL OR regexp_full_match({column}, {literal(HARMLESS)})"
    return f"{column} <> '' AND {starts} AND NOT ({number})"


def _cell(table: DuckTable, name: str, form: Format, writing: Writing) -> str:
    column = quoted(name)
    if form.is_text and name in writing.numbers and table.is_text(name):
        return f"{_label(column, form, writing, NUMBER_FORMATS[writing.numbers[name]][1])} AS {column}"
    if form.runs_formulas and writing.spreadsheet_safe and table.is_text(name):
        return f"CASE WHEN {_runs(column)} THEN '''' || {column} ELSE {column} END AS {column}"
    if form.is_text and name in writing.numbers and not table.is_text(name):
        mark = NUMBER_FORMATS[writing.numbers[name]][1]
        plain = f"regexp_replace(CAST({column} AS VARCHAR), '[.]0$', '')"
        return f"replace({plain}, '.', {literal(mark)}) AS {column}"
    spelled = form.spelled(column, table.type_of(name).upper())
    return column if spelled == column else f"{spelled} AS {column}"


def _label(column: str, form: Format, writing: Writing, mark: str) -> str:
    """SQL for a band of numbers with the decimals of its ends parted by a mark."""
    parted = literal(rf"\1{mark}\2")
    label = f"regexp_replace({column}, {literal(DECIMALS)}, {parted}, 'g')"
    if not (form.runs_formulas and writing.spreadsheet_safe):
        return label
    return f"CASE WHEN {_runs(column)} THEN '''' ELSE '' END || {label}"
