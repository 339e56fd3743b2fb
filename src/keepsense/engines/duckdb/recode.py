"""Recodings as joins. Every row must find its output: a row that finds none stops the release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from keepsense.arrays import Ints
from keepsense.counts import Value
from keepsense.engines.duckdb.files import shuffled
from keepsense.engines.duckdb.table import DuckTable, held
from keepsense.engines.store import ROW, Store, literal, quoted
from keepsense.errors import BadInput
from keepsense.recoding import SUPPRESSED, Cells, Cuts, Draws, Recoding


def recode(table: DuckTable, rule: Recoding, rng: np.random.Generator) -> DuckTable:
    """A view of the table with the recoded columns in place."""
    if isinstance(rule, Cuts):
        return _cuts(table, rule)
    if isinstance(rule, Draws):
        return _draws(table, rule, rng)
    return _cells(table, rule, rng)


def _cuts(table: DuckTable, rule: Cuts) -> DuckTable:
    joins, outputs = [], {}
    released = [_cells_of(cut.outputs) for cut in rule.cuts]
    for i, cut in enumerate(rule.cuts):
        name = _lookup(table.store, {"i": _typed(table, cut.name, cut.inputs), "o": released[i]})
        alias = f"m{i}"
        joins.append(f"LEFT JOIN {name} {alias} ON t.{quoted(cut.name)} IS NOT DISTINCT FROM {alias}.i")
        outputs[cut.name] = f"{alias}.o"
        _covered(table.store, f"{table.name} t {joins[-1]}", f"{alias}.k IS NULL", (cut.name,))
    hidden = None
    if rule.suppress:
        classes = list(rule.suppress)
        columns = {f"c{j}": _cells_of([c[j] for c in classes], released[j].type) for j in range(len(rule.cuts))}
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
    inputs = [_typed(table, name, values[j]).take(_positions(codes[:, j])) for j, name in enumerate(names)]
    source = _lookup(table.store, {f"c{j}": column for j, column in enumerate(inputs)})
    order = np.argsort(rule.source, kind="stable")
    owner, amount = rule.source[order], rule.multiplicity[order]
    ends = np.cumsum(amount)
    first = np.concatenate(([0], ends[:-1]))
    begin = first - first[np.searchsorted(owner, owner)]
    out = {f"o{j}": _decoded(rule.values[j], rule.codes[order, j]) for j in range(len(rule.names))}
    target = _lookup(table.store, {"owner": owner, "begin": begin, **out})
    on = " AND ".join(f"t.{quoted(names[j])} IS NOT DISTINCT FROM s.c{j}" for j in range(len(names)))
    joined = f"{table.name} t LEFT JOIN {source} s ON {on}"
    _covered(table.store, joined, "s.k IS NULL", names)
    place = f"row_number() OVER (PARTITION BY s.k ORDER BY {shuffled('t.' + ROW, rng)}) - 1"
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
    outputs = _decoded(rule.outputs, column.astype(np.int32))
    target = _lookup(table.store, {"owner": row, "begin": np.clip(first - base[row], 0.0, None), "o": outputs})
    joined = f"{table.name} t LEFT JOIN {source} s ON t.{quoted(rule.name)} IS NOT DISTINCT FROM s.i"
    _covered(table.store, joined, "s.k IS NULL", (rule.name,))
    uniform = f"({shuffled('t.' + ROW, rng)} >> 11)::DOUBLE / {2.0**53}"
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
        raise BadInput(
            f"{lost:,} row(s) hold values of {', '.join(names)} that the recoding does not know; make it for this table"
        )


def _lookup(store: Store, columns: dict[str, Any]) -> str:
    """A small table in the store; column k numbers its rows."""
    import pyarrow as pa

    size = len(next(iter(columns.values())))
    return store.keep_arrow(pa.table({**columns, "k": np.arange(size)}), "*")


def _typed(table: DuckTable, column: str, values: Sequence[Value]) -> Any:
    """Input values as an Arrow array of the type the table's column has."""
    import pyarrow as pa

    empty = table.store.connection.sql(f"{table.query([column])} LIMIT 0").to_arrow_table()
    try:
        return pa.array([list(v) if isinstance(v, tuple) else v for v in values], type=empty.schema.field(0).type)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise BadInput(f"the recoding of column {column!r} is for values of another type than the table's") from None


def _cells_of(values: Sequence[Value], kind: Any = None) -> Any:
    """Output values as one Arrow array: as they are where they have one type, or are of the `kind`, else as text."""
    import pyarrow as pa

    try:
        return pa.array([list(v) if isinstance(v, tuple) else v for v in values], kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([_text(v) for v in values], pa.string())


def _text(value: Value) -> str | None:
    """A value as DuckDB spells it."""
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else str(value)


def _decoded(values: Sequence[Value], codes: Ints) -> Any:
    """Outputs from codes and their dictionary; values that no code stands for have no say in the type."""
    used, positions = np.unique(codes, return_inverse=True)
    return _cells_of([values[code] for code in used.tolist()]).take(_positions(positions))


def _positions(codes: Any) -> Any:
    import pyarrow as pa

    return pa.array(np.ascontiguousarray(codes))
