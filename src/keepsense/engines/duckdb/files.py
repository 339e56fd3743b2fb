"""Rows on their way out: in order or shuffled, and as a format spells them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from keepsense.engines.base import DECIMALS, NUMBER_FORMATS, Writing
from keepsense.engines.duckdb.code import registered
from keepsense.engines.duckdb.table import DuckTable
from keepsense.engines.formats import FORMATS, FORMULA, HARMLESS, Format
from keepsense.engines.store import ROW, fresh, literal, quoted
from keepsense.random import Random, generator


def query(table: DuckTable, columns: Sequence[str], writing: Writing, in_order: bool, rng: Random) -> str:
    """SQL for some columns as the format of `writing`, if it names one, spells them; no row number is among them."""
    return outgoing(table, columns, writing, in_order, rng).sql


class Outgoing(NamedTuple):
    """Rows on their way out: SQL for them, and the shuffled rows as an Arrow table where no cell is changed.

    `held` is the name by which DuckDB knows shuffled codes; they are given back when all is written.

    >>> Outgoing("SELECT 1").held is None
    True
    """

    sql: str
    rows: Any = None
    held: str | None = None


def outgoing(table: DuckTable, columns: Sequence[str], writing: Writing, in_order: bool, rng: Random) -> Outgoing:
    """The same SQL and, where it changes no cell and all of them are coded, the shuffled rows as an Arrow table."""
    form = None if writing.format is None else FORMATS[writing.format]
    cells = [quoted(name) if form is None else _cell(table, name, form, writing) for name in columns]
    sql = f"SELECT {', '.join(cells)} FROM"
    if not writing.shuffle:
        return Outgoing(f"{sql} {table.name}{f' ORDER BY {ROW}' if in_order and not table.ordered else ''}")
    order = _order(table, generator(rng))
    if not table.ordered or not all(name in table.codes for name in columns):
        return Outgoing(f"{sql} {_sorted(table, order)}")
    chosen = {name: replace(table.codes[name], codes=table.codes[name].codes[order]) for name in columns}
    own, rows = registered(table.store, chosen)
    named = ", ".join(f"k{i} AS {quoted(name)}" for i, name in enumerate(columns))
    unchanged = cells == [quoted(name) for name in columns]
    shuffled = rows.rename_columns(list(columns)) if unchanged else None
    return Outgoing(f"{sql} (SELECT {named} FROM {own})", shuffled, own)


def _order(table: DuckTable, rng: np.random.Generator) -> NDArray[np.int64]:
    """The rows of a table in an order drawn from the generator; the same for any of its columns."""
    # numbers of rows that were left out have a place in the order, too
    last = f"SELECT coalesce(max({ROW}), 0) FROM {table.name}"
    return rng.permutation(table.rows if table.ordered else int(table.store.run(last)[0][0]))


def _sorted(table: DuckTable, order: NDArray[np.int64]) -> str:
    """SQL for the rows of a table in an order."""
    import pyarrow as pa

    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    name = fresh("order")
    table.store.connection.register(name, pa.table({"ks_row": np.arange(1, len(order) + 1), "ks_place": place}))
    joined = f"POSITIONAL JOIN {name}" if table.ordered else f"JOIN {name} ON ks_row = {ROW}"
    return f"{table.name} {joined} ORDER BY ks_place"


def hashed(row: str, rng: np.random.Generator) -> str:
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
