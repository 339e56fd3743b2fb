"""Recode and write the rows of a DuckDB table. A row for which no output is found stops the release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import used_codes
from keepsense.counts import Counts, Value
from keepsense.engines import dictionary_encoding
from keepsense.engines.dictionary_encoding import (
    Coded,
    cells_of,
    decoded,
    encoded,
    found_among,
    narrow,
    not_covered,
    places_among,
    positions,
    tight,
    typed,
)
from keepsense.engines.duckdb.table import DuckTable, can_be_coded, coded, held, made_of, registered, worth_coding
from keepsense.engines.duckdb_store import ROW, Store, fresh, literal, quoted
from keepsense.engines.formats.table_formats import FORMATS, FORMULA, HARMLESS, Format
from keepsense.engines.protocol import DECIMALS, NUMBER_FORMATS, Writing
from keepsense.errors import BadInput
from keepsense.recoding import SUPPRESSED, Cells, Cuts, Draws, Recoding
from keepsense.secure_random import Random, generator

# Writing rows: in order or shuffled, in the format's notation


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


# Recoding by look-up in codes, or by joins


def recode(table: DuckTable, rule: Recoding, rng: np.random.Generator, released: Sequence[str]) -> DuckTable:
    """The table with the recoded columns in place; columns that are neither `released` nor recoded may be gone."""
    columns = _looked_up(table, rule)
    if columns is not None:
        names = [name for name in table.columns if name in released or name in columns]
        rest = [name for name in names if name not in columns]
        return made_of(table, names, {**coded(table, worth_coding(table, rest)), **columns})
    if isinstance(rule, Cuts):
        return _cuts(table, rule)
    if isinstance(rule, Draws):
        return _draws(table, rule, rng)
    return _cells(table, rule, rng)


# ---- by look-up ------------------------------------------------------------------------------------------------------


def _looked_up(table: DuckTable, rule: Recoding) -> dict[str, Coded] | None:
    """The recoded columns, where every tuple has one output and cells are coded; None elsewhere."""
    if isinstance(rule, Draws) or not can_be_coded(table, rule.names):
        return None
    if isinstance(rule, Cuts):
        return _cut_codes(table, rule)
    if rule.inputs is None or len(rule.source) != len(rule.inputs) or not can_be_coded(table, rule.inputs.names):
        return None
    return _cell_codes(table, rule, rule.inputs)


def _cut_codes(table: DuckTable, rule: Cuts) -> dict[str, Coded] | None:
    before, columns = coded(table, rule.names), []
    for cut in rule.cuts:
        labels = encoded(cells_of(cut.outputs))
        inputs = _typed(table, cut.name, cut.inputs).to_pylist()
        lookup = _lookup_table(before[cut.name], dict(zip(inputs, labels.codes.tolist(), strict=True)), (cut.name,))
        columns.append(Coded(labels.dictionary, lookup[before[cut.name].codes]))
    if not rule.suppress:
        return {name: tight(column.dictionary, column.codes) for name, column in zip(rule.names, columns, strict=True)}
    places = []
    for column, (hidden_labels, _) in zip(columns, rule.hidden_labels, strict=True):
        as_released = cells_of(hidden_labels, column.dictionary.type)
        if as_released.type != column.dictionary.type:
            return None
        place = {value: i for i, value in enumerate(column.values)}
        known = zip(hidden_labels, map(place.get, as_released.to_pylist()), strict=True)
        places.append({label: code for label, code in known if code is not None})
    some = rule.suppressed_codes(places).T
    hidden = found_among([column.codes for column in columns], list(some), [len(column) for column in columns])
    return {name: _with_marks(table.store, c, hidden) for name, c in zip(rule.names, columns, strict=True)}


def _with_marks(store: Store, column: Coded, hidden: NDArray[np.bool_]) -> Coded:
    """A column as text, with a mark in the rows that are hidden."""
    import pyarrow as pa

    labels = encoded(pa.concat_arrays([_texts(store, column.dictionary), dictionary_encoding.array([SUPPRESSED])]))
    codes = labels.codes[column.codes]
    codes[hidden] = labels.codes[-1]
    return tight(labels.dictionary, codes)


def _texts(store: Store, values: Any) -> Any:
    """Values as DuckDB spells them."""
    import pyarrow as pa

    if values.type == pa.string():
        return values
    name = _lookup(store, {"v": values})
    texts = store.connection.sql(f"SELECT v::VARCHAR AS v FROM {name} ORDER BY k").to_arrow_table()
    return texts.column(0).combine_chunks().cast(pa.string())


def _cell_codes(table: DuckTable, rule: Cells, inputs: Counts) -> dict[str, Coded]:
    before = coded(table, inputs.names)
    tuples, sizes = [], []
    for name, values, codes in zip(inputs.names, inputs.values, inputs.codes.T, strict=True):
        unknown = len(before[name].values)
        sizes.append(unknown + 1)
        if tuple(values) == tuple(before[name].values):  # counted from this very table
            tuples.append(codes)
            continue
        place = {value: i for i, value in enumerate(before[name].values)}
        known = [place.get(value, unknown) for value in _typed(table, name, values).to_pylist()]
        tuples.append(np.array(known, dtype=np.int64)[codes])
    places = places_among([before[name].codes for name in inputs.names], tuples, sizes)
    lost = int((places < 0).sum())
    if lost:
        raise not_covered(lost, inputs.names)
    output = np.empty(len(inputs), dtype=places.dtype)
    output[rule.source] = np.arange(len(rule.source), dtype=places.dtype)
    outputs = output[places]
    columns = {}
    for j, name in enumerate(rule.names):
        used, of_output = used_codes(rule.codes[:, j])
        labels = encoded(cells_of([rule.values[j][code] for code in used.tolist()]))
        columns[name] = tight(labels.dictionary, labels.codes[of_output][outputs])
    return columns


def _lookup_table(column: Coded, rule: dict[Value, int], names: Sequence[str]) -> NDArray[np.int64]:
    """For each value of a column its output; refuses rows that hold others."""
    lookup = np.array([rule.get(value, -1) for value in column.values], dtype=np.int64)
    if (lookup < 0).any():
        raise not_covered(int(column.rows()[lookup < 0].sum()), names)
    return narrow(lookup, int(lookup.max(initial=0)) + 1)


# ---- as joins --------------------------------------------------------------------------------------------------------


def _cuts(table: DuckTable, rule: Cuts) -> DuckTable:
    joins, outputs = [], {}
    released = [cells_of(cut.outputs) for cut in rule.cuts]
    for i, cut in enumerate(rule.cuts):
        name = _lookup(table.store, {"i": _typed(table, cut.name, cut.inputs), "o": released[i]})
        alias = f"m{i}"
        joins.append(f"LEFT JOIN {name} {alias} ON t.{quoted(cut.name)} IS NOT DISTINCT FROM {alias}.i")
        outputs[cut.name] = f"{alias}.o"
        _covered(table.store, f"{table.name} t {joins[-1]}", f"{alias}.k IS NULL", (cut.name,))
    hidden = None
    if rule.suppress:
        classes = list(rule.suppress)
        columns = {f"c{j}": cells_of([c[j] for c in classes], released[j].type) for j in range(len(rule.cuts))}
        name = _lookup(table.store, columns)
        on = " AND ".join(f"m{j}.o IS NOT DISTINCT FROM s.c{j}" for j in range(len(rule.cuts)))
        joins.append(f"LEFT JOIN {name} s ON {on}")
        hidden = "s.k IS NOT NULL"
    chosen = []
    for column in table.columns:
        source = outputs.get(column)
        if source is None:
            chosen.append(f"t.{quoted(column)}")
        elif hidden is None:
            chosen.append(f"{source} AS {quoted(column)}")
        else:
            chosen.append(
                f"CASE WHEN {hidden} THEN {literal(SUPPRESSED)} ELSE {source}::VARCHAR END AS {quoted(column)}"
            )
    return _held(table.store, f"SELECT {', '.join(chosen)}, t.{ROW} FROM {table.name} t {' '.join(joins)}")


def _cells(table: DuckTable, rule: Cells, rng: np.random.Generator) -> DuckTable:
    if rule.inputs is None:
        raise BadInput("the recoding does not say which tuples it is for; bind it with `cells.bound(counts)`")
    names, values, codes = rule.inputs.names, rule.inputs.values, rule.inputs.codes
    inputs = [_typed(table, name, values[j]).take(positions(codes[:, j])) for j, name in enumerate(names)]
    source = _lookup(table.store, {f"c{j}": column for j, column in enumerate(inputs)})
    order = np.argsort(rule.source, kind="stable")
    owner, amount = rule.source[order], rule.multiplicity[order]
    ends = np.cumsum(amount)
    first = np.concatenate(([0], ends[:-1]))
    begin = first - first[np.searchsorted(owner, owner)]
    out = {f"o{j}": decoded(rule.values[j], rule.codes[order, j]) for j in range(len(rule.names))}
    target = _lookup(table.store, {"owner": owner, "begin": begin, **out})
    on = " AND ".join(f"t.{quoted(names[j])} IS NOT DISTINCT FROM s.c{j}" for j in range(len(names)))
    joined = f"{table.name} t LEFT JOIN {source} s ON {on}"
    _covered(table.store, joined, "s.k IS NULL", names)
    place = f"row_number() OVER (PARTITION BY s.k ORDER BY {hashed('t.' + ROW, rng)}) - 1"
    if not begin.any():
        place = "0"  # every tuple has one output, so there is nothing to deal
    return _dealt(table, joined, place, target, {name: f"o.o{j}" for j, name in enumerate(rule.names)})


def _draws(table: DuckTable, rule: Draws, rng: np.random.Generator) -> DuckTable:
    source = _lookup(table.store, {"i": _typed(table, rule.name, rule.inputs)})
    row, column = np.nonzero(rule.probabilities)
    chance = rule.probabilities[row, column]
    ends = np.cumsum(chance)
    first = np.concatenate(([0.0], ends[:-1]))
    base = first[np.searchsorted(row, np.arange(len(rule.inputs)))]
    outputs = decoded(rule.outputs, column.astype(np.int32))
    target = _lookup(table.store, {"owner": row, "begin": np.clip(first - base[row], 0.0, None), "o": outputs})
    joined = f"{table.name} t LEFT JOIN {source} s ON t.{quoted(rule.name)} IS NOT DISTINCT FROM s.i"
    _covered(table.store, joined, "s.k IS NULL", (rule.name,))
    uniform = f"({hashed('t.' + ROW, rng)} >> 11)::DOUBLE / {2.0**53}"
    return _dealt(table, joined, uniform, target, {rule.name: "o.o"})


def _dealt(table: DuckTable, joined: str, place: str, target: str, outputs: dict[str, str]) -> DuckTable:
    """Every row gets, of the outputs of what it holds (s.k), the last that begins at or before its place."""
    chosen = [f"{outputs[c]} AS {quoted(c)}" if c in outputs else f"n.{quoted(c)}" for c in table.columns]
    return _held(
        table.store,
        f"SELECT {', '.join(chosen)}, n.{ROW} FROM (SELECT t.*, s.k AS ks_held, {place} AS ks_place FROM {joined}) n "
        f"ASOF JOIN {target} o ON n.ks_held = o.owner AND n.ks_place >= o.begin",
        expected=table.rows,
    )


def _held(store: Store, sql: str, expected: int | None = None) -> DuckTable:
    """Materialize, so that no draw is made twice, and check that no row was lost."""
    table = held(store, store.keep(f"({sql})", "*"))
    if expected is not None and table.rows != expected:
        raise BadInput(f"the recoding gives {table.rows:,} rows for {expected:,}; it is not for this table")
    return table


def _covered(store: Store, joined: str, missing: str, names: Sequence[str]) -> None:
    lost = store.run(f"SELECT count(*) FROM {joined} WHERE {missing}")[0][0]
    if lost:
        raise not_covered(lost, names)


def _lookup(store: Store, columns: dict[str, Any]) -> str:
    """A small table in the store; column k numbers its rows."""
    import pyarrow as pa

    size = len(next(iter(columns.values())))
    return store.keep_arrow(pa.table({**columns, "k": np.arange(size)}), "*")


def _typed(table: DuckTable, column: str, values: Sequence[Value]) -> Any:
    """Input values as an Arrow array of the type the table's column has."""
    empty = table.store.connection.sql(f"{table.query([column])} LIMIT 0").to_arrow_table()
    return typed(column, values, empty.schema.field(0).type)
