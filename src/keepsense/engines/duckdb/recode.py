"""Recodings as joins. Every row must find its output: a row that finds none stops the release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from keepsense.counts import Value
from keepsense.errors import BadInput
from keepsense.recoding import SUPPRESSED, Cells, Cuts, Draws, Recoding

if TYPE_CHECKING:
    from keepsense.engines.duckdb.engine import DuckDBEngine, DuckTable


def recode(engine: DuckDBEngine, table: DuckTable, rule: Recoding, rng: np.random.Generator) -> DuckTable:
    """A view of the table with the recoded columns in place."""
    if isinstance(rule, Cuts):
        return _cuts(engine, table, rule)
    if isinstance(rule, Draws):
        return _draws(engine, table, rule, rng)
    return _cells(engine, table, rule, rng)


def _cuts(engine: DuckDBEngine, table: DuckTable, rule: Cuts) -> DuckTable:
    from keepsense.engines.duckdb.engine import ROW, literal, quoted

    joins, outputs = [], {}
    for i, cut in enumerate(rule.cuts):
        name = _lookup(engine, {"i": _typed(table, cut.name, cut.inputs), "o": _cells_of(cut.outputs)})
        alias = f"m{i}"
        joins.append(f"LEFT JOIN {name} {alias} ON t.{quoted(cut.name)} IS NOT DISTINCT FROM {alias}.i")
        outputs[cut.name] = f"{alias}.o"
        _covered(engine, table, f"{table.name} t {joins[-1]}", f"{alias}.k IS NULL", (cut.name,))
    hidden = None
    if rule.suppress:
        classes = list(rule.suppress)
        # Compared as text: a cut may leave some values as they are and generalize others, which mixes types.
        columns = {f"c{j}": [None if c[j] is None else str(c[j]) for c in classes] for j in range(len(rule.cuts))}
        name = _lookup(engine, columns)
        on = " AND ".join(f"m{j}.o::VARCHAR IS NOT DISTINCT FROM s.c{j}::VARCHAR" for j in range(len(rule.cuts)))
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
    return _kept(engine, f"SELECT {', '.join(chosen)}, t.{ROW} FROM {table.name} t {' '.join(joins)}")


def _cells(engine: DuckDBEngine, table: DuckTable, rule: Cells, rng: np.random.Generator) -> DuckTable:
    from keepsense.engines.duckdb.engine import ROW, quoted

    if rule.inputs is None:
        raise BadInput("the recoding does not say which tuples it is for; bind it with `cells.bound(counts)`")
    names, values, codes = rule.inputs.names, rule.inputs.values, rule.inputs.codes
    tuples = {f"c{j}": _typed(table, names[j], [values[j][c] for c in codes[:, j].tolist()]) for j in range(len(names))}
    source = _lookup(engine, tuples)
    order = np.argsort(rule.source, kind="stable")
    owner, amount = rule.source[order], rule.multiplicity[order]
    ends = np.cumsum(amount)
    first = np.concatenate(([0], ends[:-1]))
    begin = first - np.repeat(first[np.searchsorted(owner, np.unique(owner))], np.unique(owner, return_counts=True)[1])
    out = {
        f"o{j}": _cells_of([rule.values[j][c] for c in rule.codes[order, j].tolist()]) for j in range(len(rule.names))
    }
    target = _lookup(engine, {"owner": owner, "begin": begin, **out})
    on = " AND ".join(f"t.{quoted(names[j])} IS NOT DISTINCT FROM s.c{j}" for j in range(len(names)))
    joined = f"{table.name} t LEFT JOIN {source} s ON {on}"
    _covered(engine, table, joined, "s.k IS NULL", names)
    deal = _shuffled("t." + ROW, rng)
    place = f"row_number() OVER (PARTITION BY s.k ORDER BY {deal}) - 1"
    numbered = f"SELECT t.*, s.k AS ks_tuple, {place} AS ks_place FROM {joined}"
    outputs = {name: f"o.o{j}" for j, name in enumerate(rule.names)}
    chosen = [f"{outputs[c]} AS {quoted(c)}" if c in outputs else f"n.{quoted(c)}" for c in table.columns]
    return _kept(
        engine,
        f"SELECT {', '.join(chosen)}, n.{ROW} FROM ({numbered}) n "
        f"ASOF JOIN {target} o ON n.ks_tuple = o.owner AND n.ks_place >= o.begin",
        expected=table.rows,
    )


def _draws(engine: DuckDBEngine, table: DuckTable, rule: Draws, rng: np.random.Generator) -> DuckTable:
    from keepsense.engines.duckdb.engine import ROW, quoted

    source = _lookup(engine, {"i": _typed(table, rule.name, rule.inputs)})
    row, column = np.nonzero(rule.probabilities)
    chance = rule.probabilities[row, column]
    ends = np.cumsum(chance)
    first = np.concatenate(([0.0], ends[:-1]))
    base = first[np.searchsorted(row, np.arange(len(rule.inputs)))]
    outputs = _cells_of([rule.outputs[c] for c in column.tolist()])
    target = _lookup(engine, {"owner": row, "begin": np.clip(first - base[row], 0.0, None), "o": outputs})
    joined = f"{table.name} t LEFT JOIN {source} s ON t.{quoted(rule.name)} IS NOT DISTINCT FROM s.i"
    _covered(engine, table, joined, "s.k IS NULL", (rule.name,))
    uniform = f"({_shuffled('t.' + ROW, rng)} >> 11)::DOUBLE / {2.0**53}"
    numbered = f"SELECT t.*, s.k AS ks_value, {uniform} AS ks_place FROM {joined}"
    chosen = [f"o.o AS {quoted(c)}" if c == rule.name else f"n.{quoted(c)}" for c in table.columns]
    return _kept(
        engine,
        f"SELECT {', '.join(chosen)}, n.{ROW} FROM ({numbered}) n "
        f"ASOF JOIN {target} o ON n.ks_value = o.owner AND n.ks_place >= o.begin",
        expected=table.rows,
    )


def _shuffled(row: str, rng: np.random.Generator) -> str:
    """A 64-bit number for each row that only the holder of the seed can foretell."""
    return f"md5_number_upper('{rng.bytes(16).hex()}' || {row})"


def _kept(engine: DuckDBEngine, sql: str, expected: int | None = None) -> DuckTable:
    """Materialize, so that no draw is made twice, and check that no row was lost."""
    from keepsense.engines.duckdb.engine import fresh

    name = fresh("recoded")
    engine.connection.execute(f"CREATE TEMP TABLE {name} AS {sql}")
    table = engine.table(name)
    if expected is not None and table.rows != expected:
        raise BadInput(f"the recoding gives {table.rows:,} rows for {expected:,}; it is not for this table")
    return table


def _covered(engine: DuckDBEngine, table: DuckTable, joined: str, missing: str, names: Sequence[str]) -> None:
    lost = engine.connection.sql(f"SELECT count(*) FROM {joined} WHERE {missing}").fetchall()[0][0]
    if lost:
        raise BadInput(
            f"{lost:,} row(s) hold values of {', '.join(names)} that the recoding does not know; make it for this table"
        )


def _lookup(engine: DuckDBEngine, columns: dict[str, Any]) -> str:
    """A small table in the engine; column k numbers its rows."""
    import pyarrow as pa

    from keepsense.engines.duckdb.engine import fresh

    name = fresh("lookup")
    size = len(next(iter(columns.values())))
    engine.connection.register("arriving", pa.table({**columns, "k": np.arange(size)}))
    try:
        engine.connection.execute(f"CREATE TEMP TABLE {name} AS SELECT * FROM arriving")
    finally:
        engine.connection.unregister("arriving")
    return name


def _typed(table: DuckTable, column: str, values: Sequence[Value]) -> Any:
    """Input values as an Arrow array of the type the table's column has."""
    import pyarrow as pa

    schema = table.engine.connection.sql(f"{table.query([column])} LIMIT 0").to_arrow_table().schema
    try:
        return pa.array([list(v) if isinstance(v, tuple) else v for v in values], type=schema.field(0).type)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise BadInput(f"the recoding of column {column!r} is for values of another type than the table's") from None


def _cells_of(values: Sequence[Value]) -> Any:
    """Output values as one Arrow array: as they are where they have one type, else as text."""
    import pyarrow as pa

    try:
        return pa.array([list(v) if isinstance(v, tuple) else v for v in values])
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if v is None else str(v) for v in values])
