"""Cells as people write them, read as what they mean: marks of missing values, dates, numbers of other countries."""

from __future__ import annotations

from collections.abc import Mapping

from keepsense.engines.base import NUMBER_FORMATS, Cells
from keepsense.engines.duckdb.table import DuckTable, view
from keepsense.engines.store import ROW, literal, quoted
from keepsense.errors import BadInput


def read_cells(table: DuckTable, cells: Mapping[str, Cells], empty: tuple[str, ...] = ()) -> DuckTable:
    """The table with its cells read as said; `empty` are marks of missing values in every column of text.

    What is said of columns that the table lacks is passed over: a population has fewer.

    >>> from keepsense.engines import engine
    >>> with engine() as duck:
    ...     table = duck.read({"born": ["31.12.1999", "?"], "pay": ["1.200,50", "-9"]})
    ...     read = read_cells(table, {"born": Cells(("?",), "%d.%m.%Y"), "pay": Cells(("-9",), "1.234,56")})
    ...     duck.frame(read).to_pylist()[0]
    {'born': datetime.date(1999, 12, 31), 'pay': 1200.5}
    """
    columns, wrong = [], []
    for name in table.columns:
        how = cells.get(name, Cells())
        marks = [*how.empty, *(empty if table.is_text(name) else ())]
        cell = _without(table, name, marks)
        if how.format is not None and table.is_text(name):
            blank = f"nullif(trim({cell}), '')"
            cell = _number(blank, how.format) if how.format in NUMBER_FORMATS else _date(blank, how.format)
            wrong.append((name, how.format, f"count(*) FILTER ({blank} IS NOT NULL AND {cell} IS NULL)"))
        columns.append(quoted(name) if cell == quoted(name) else f"{cell} AS {quoted(name)}")
    if all(cell == quoted(name) for cell, name in zip(columns, table.columns, strict=True)):
        return table
    _refuse(table, wrong)
    return view(table.store, f"SELECT {', '.join(columns)}, {ROW} FROM {table.name}", ordered=table.ordered)


def _refuse(table: DuckTable, wrong: list[tuple[str, str, str]]) -> None:
    """Cells that are not written as was said are never dropped in silence."""
    if not wrong:
        return
    (counts,) = table.store.run(f"SELECT {', '.join(count for *_, count in wrong)} FROM {table.name}")
    for (name, form, _), cells in zip(wrong, counts, strict=True):
        if cells:
            raise BadInput(
                f"column {name!r}: {cells:,} cells are not written as format = {form!r} says; mend them, list them in "
                "`empty` if they mean that nothing is known, or leave the format out"
            )


def _without(table: DuckTable, name: str, marks: list[str]) -> str:
    cell = quoted(name)
    if not marks or table.holds_lists(name) or table.holds_records(name):
        return cell
    listed = ", ".join(literal(mark.strip()) for mark in dict.fromkeys(marks))
    return f"CASE WHEN trim({cell}::VARCHAR) IN ({listed}) THEN NULL ELSE {cell} END"


def _date(cell: str, form: str) -> str:
    if "%d" not in form:  # months have no day, so none is made up
        return f"strftime(try_strptime({cell}, {literal(form)}), '%Y-%m')"
    time = any(sign in form for sign in ("%H", "%I"))
    return f"try_strptime({cell}, {literal(form)})" + ("" if time else "::DATE")


def _number(cell: str, form: str) -> str:
    group, mark = NUMBER_FORMATS[form]
    bare = rf"regexp_replace({cell}, '[\s\x{{00a0}}\x{{202f}}%€$£¥]|^[A-Z]{{3}}|[A-Z]{{3}}$', '', 'g')"
    if group.strip():
        bare = f"replace({bare}, {literal(group)}, '')"
    return f"TRY_CAST(replace({bare}, {literal(mark)}, '.') AS DOUBLE)"
