"""GROUP BY in DuckDB, then codes in NumPy: how `Counts` are made from rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Ints
from keepsense.counts import Counts, Histogram, Value, distinct_rows, histogram
from keepsense.engines.profile import is_nested
from keepsense.errors import BadInput

if TYPE_CHECKING:
    from keepsense.engines.duckdb.engine import DuckDBEngine, DuckTable

WEIGHT = "__keepsense_weight"


def count(
    engine: DuckDBEngine, table: DuckTable, columns: tuple[str, ...], further: tuple[str, ...], sums: tuple[str, ...]
) -> Counts:
    """Distinct tuples sorted by value, their weights, and what was asked for under each."""
    if not columns:
        raise BadInput("counting needs at least one column")
    kinds = dict(zip(table.columns, table.types, strict=True))
    nested = [name for name in (*columns, *further) if is_nested(kinds[name])]
    if nested:
        raise BadInput(
            f"column {nested[0]!r} holds records in its cells; make columns of them, or give it another role"
        )
    grouped = _group(engine, table, columns, sums)
    coded = [_encode(grouped.column(i)) for i in range(len(columns))]
    values = tuple(v for v, _ in coded)
    codes = np.stack([c for _, c in coded], axis=1)
    order = np.lexsort(codes.T[::-1])
    codes = np.ascontiguousarray(codes[order])
    weights = grouped.column(len(columns)).to_numpy().astype(np.int64)[order]
    totals = {}
    for j, name in enumerate(sums):
        numbers = grouped.column(len(columns) + 1 + j).to_numpy(zero_copy_only=False).astype(np.float64)
        totals[name] = np.nan_to_num(numbers)[order]
    histograms = {name: _histogram(engine, table, columns, values, codes, name) for name in further}
    return Counts(columns, values, codes, weights, histograms, totals)


def _group(engine: DuckDBEngine, table: DuckTable, columns: Sequence[str], sums: Sequence[str] = ()) -> Any:
    from keepsense.engines.duckdb.engine import quoted

    keys = ", ".join(map(quoted, columns))
    added = "".join(f", sum(TRY_CAST({quoted(name)} AS DOUBLE))" for name in sums)
    sql = f"SELECT {keys}, count(*) AS {WEIGHT}{added} FROM {table.name} GROUP BY {keys}"
    return engine.connection.sql(sql).to_arrow_table()


def _encode(column: Any, values: tuple[Value, ...] | None = None) -> tuple[tuple[Value, ...], Ints]:
    """Codes of an Arrow column in a sorted dictionary (missing last), or in one that is given."""
    found, raw = _listed(column) if str(column.type).startswith(("list", "large_list")) else _distinct(column)
    if values is None:
        order = sorted(range(len(found)), key=lambda i: (found[i] is None, _key(found[i])))
        place = np.empty(len(found), dtype=np.int32)
        place[order] = np.arange(len(found), dtype=np.int32)
        return tuple(found[i] for i in order), place[raw] if len(found) else raw.astype(np.int32)
    known = {value: i for i, value in enumerate(values)}
    place = np.array([known[v] for v in found], dtype=np.int32)
    return values, place[raw] if len(found) else raw.astype(np.int32)


def _distinct(column: Any) -> tuple[list[Value], NDArray[np.int64]]:
    """Different cells of an Arrow column, and which of them each one is."""
    encoded = column.combine_chunks().dictionary_encode()
    if hasattr(encoded, "combine_chunks"):
        encoded = encoded.combine_chunks()
    found: list[Value] = list(encoded.dictionary.to_pylist())
    raw = encoded.indices.fill_null(len(found)).to_numpy(zero_copy_only=False).astype(np.int64)
    return [*found, None] if encoded.null_count else found, raw


def _listed(column: Any) -> tuple[list[Value], NDArray[np.int64]]:
    """The same of a column of lists, which Arrow does not encode."""
    place: dict[Value, int] = {}
    raw = [place.setdefault(_plain(cell), len(place)) for cell in column.to_pylist()]
    return list(place), np.array(raw, dtype=np.int64)


def _plain(value: Any) -> Value:
    """A hashable cell: a list becomes a tuple."""
    return tuple(value) if isinstance(value, list) else value


def _key(value: Any) -> tuple[str, Any]:
    if isinstance(value, tuple):
        return "tuple", tuple(_key(v) for v in value)
    if value is None:
        return "", 0
    return type(value).__name__, value


def _histogram(
    engine: DuckDBEngine,
    table: DuckTable,
    columns: tuple[str, ...],
    values: tuple[tuple[Value, ...], ...],
    codes: NDArray[np.int32],
    name: str,
) -> Histogram:
    grouped = _group(engine, table, (*columns, name) if name not in columns else columns)
    keys = np.stack([_encode(grouped.column(i), values[i])[1] for i in range(len(columns))], axis=1)
    labels, further = _encode(grouped.column(columns.index(name) if name in columns else len(columns)))
    weights = grouped.column(grouped.num_columns - 1).to_numpy().astype(np.int64)
    # The sorted tuples come first, so a tuple's position among the distinct ones is its own position.
    _, position = distinct_rows(np.concatenate([codes, keys]))
    return histogram(labels, further, position[len(codes) :], weights, len(codes))
