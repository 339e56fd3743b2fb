"""One grouping by Spark, then codes in NumPy: how `Counts` are made from rows on a cluster.

The rows are scanned once and grouped by their values. Where there are many distinct tuples, the executors turn them
into codes, too: dictionaries and codes go to the driver, not the cells of every tuple.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Ints
from keepsense.counts import Counts, Histogram, Value, distinct_rows, histogram
from keepsense.engines.spark.carry import carried, restore
from keepsense.engines.spark.lookup import lookup
from keepsense.engines.spark.session import quiet
from keepsense.engines.spark.table import SparkTable
from keepsense.errors import BadInput

FEW = 200_000
"""Distinct tuples that the driver takes as they are; more of them become codes before they leave the executors."""


def count(table: SparkTable, columns: tuple[str, ...], further: tuple[str, ...], sums: tuple[str, ...]) -> Counts:
    """Distinct tuples sorted by value, their weights, and what was asked for under each."""
    if not columns:
        raise BadInput("counting needs at least one column")
    for name in (*columns, *further):
        if table.holds_records(name):
            raise BadInput(f"column {name!r} holds records in its cells; make columns of them, or give it another role")
    more = tuple(name for name in dict.fromkeys(further) if name not in columns)
    with quiet():
        values, codes, numbers = _grouped(table, (*columns, *more), len(columns), sums)
    # every set of the grouping has all rows; the first of them gives the tuples
    which, weights = numbers[0].astype(np.int64), numbers[1].astype(np.int64)
    own = np.flatnonzero(which == _mark(len(more), 0))
    tuples, group = distinct_rows(np.ascontiguousarray(codes[own][:, : len(columns)]))
    order = np.lexsort(tuples.T[::-1]) if len(tuples) else np.arange(0)
    tuples, group = tuples[order], np.argsort(order).astype(np.int32)[group]
    histograms: dict[str, Histogram] = {}
    for name in further:
        i = more.index(name) if name in more else None
        rows = own if i is None else np.flatnonzero(which == _mark(len(more), i))
        at = columns.index(name) if i is None else len(columns) + i
        used, cells = np.unique(codes[rows, at], return_inverse=True)
        # the sorted tuples come first, so a tuple's position among the distinct ones is its own position
        _, position = distinct_rows(np.concatenate([tuples, codes[rows][:, : len(columns)]]))
        labels = tuple(values[at][code] for code in used.tolist())
        histograms[name] = histogram(labels, cells, position[len(tuples) :], weights[rows], len(tuples))
    size = len(tuples)
    totals = {
        name: np.bincount(group, np.nan_to_num(column[own].astype(np.float64)), size).astype(np.float64)
        for name, column in zip(sums, numbers[2:], strict=True)
    }
    counts = Counts(
        columns,
        values[: len(columns)],
        np.ascontiguousarray(tuples),
        np.bincount(group, weights[own], size).astype(np.int64),
        histograms,
        totals,
    )
    table.counted.append(counts)
    return counts


def _mark(more: int, place: int) -> int:
    """What Spark's GROUPING_ID says where rows were grouped by one of several further columns.

    >>> _mark(0, 0), _mark(1, 0), _mark(3, 0), _mark(3, 2)
    (0, 0, 3, 6)
    """
    return ((1 << more) - 1) ^ (1 << more - 1 - place) if more else 0


def _grouped(
    table: SparkTable, names: tuple[str, ...], width: int, sums: tuple[str, ...]
) -> tuple[tuple[tuple[Value, ...], ...], Ints, list[NDArray[Any]]]:
    """Dictionaries, codes, and for each group which set it is of, its rows and its sums."""
    from pyspark.sql import functions as F

    keys, more = [table.column(n) for n in names[:width]], [table.column(n) for n in names[width:]]
    numbers = [F.count(F.lit(1)).alias("n_"), *(_sum(table, name).alias(f"s{i}_") for i, name in enumerate(sums))]
    if len(more) < 2:  # the tuples are added up from the finer groups
        grouped = table.frame.groupBy(*keys, *more).agg(F.lit(0).alias("set_"), *numbers)
    else:
        sets = [[*keys, name] for name in more]
        grouped = table.frame.groupingSets(sets, *keys, *more).agg(F.grouping_id().alias("set_"), *numbers)
    wanted = [*(f"k{i}" for i in range(len(names))), "set_", "n_", *(f"s{i}_" for i in range(len(sums)))]
    grouped = grouped.toDF(*wanted)
    if table.size is not None and table.size <= FEW:
        arrow = grouped.toArrow()
    else:
        grouped = grouped.persist()
        try:
            if grouped.count() > FEW:
                return _coded(table, grouped, names)
            arrow = grouped.toArrow()
        finally:
            grouped.unpersist()
    columns = [restore(arrow.column(i).combine_chunks(), table.type_of(n)) for i, n in enumerate(names)]
    coded = [_encode(column) for column in columns]
    codes = np.stack([code for _, code in coded], axis=1)
    return tuple(v for v, _ in coded), codes, [c.to_numpy() for c in arrow.columns[len(names) :]]


def _sum(table: SparkTable, name: str) -> Any:
    """A sum that does not depend on the order of the rows: exact decimals, unless numbers are too large for them."""
    from pyspark.sql import functions as F

    cell = f"try_cast({table.column(name)} AS DOUBLE)"
    exact = f"sum(try_cast({cell} AS DECIMAL(32, 10)))"
    return F.expr(f"CASE WHEN max(abs({cell})) < 1e20 THEN CAST({exact} AS DOUBLE) ELSE sum({cell}) END")


def _coded(
    table: SparkTable, grouped: Any, names: tuple[str, ...]
) -> tuple[tuple[tuple[Value, ...], ...], Ints, list[NDArray[Any]]]:
    """The same where the executors look the codes up."""
    from pyspark.sql import functions as F

    dictionaries = []
    for i, name in enumerate(names):
        cells = grouped.select(f"k{i}").distinct().toArrow().column(0).combine_chunks()
        values, code = _encode(restore(cells, table.type_of(name)))
        dictionaries.append(values)
        entries = lookup(table, {f"v{i}": cells.cast(carried(table.type_of(name))), f"code{i}": code})
        hint = F.broadcast(entries) if len(values) <= FEW else entries
        grouped = grouped.join(hint, F.col(f"k{i}").eqNullSafe(F.col(f"v{i}")), "left").drop(f"k{i}", f"v{i}", "k_")
    arrow = grouped.toArrow()
    codes = np.stack([arrow[f"code{i}"].to_numpy() for i in range(len(names))], axis=1).astype(np.int32)
    numbers = [arrow[name].to_numpy() for name in arrow.column_names if not name.startswith("code")]
    return tuple(dictionaries), codes, numbers


def _encode(column: Any) -> tuple[tuple[Value, ...], Ints]:
    """Codes of an Arrow column in a sorted dictionary, missing last.

    >>> import pyarrow as pa
    >>> _encode(pa.array(["nurse", None, "clerk", "nurse"]))
    (('clerk', 'nurse', None), array([1, 2, 0, 1], dtype=int32))
    """
    place: dict[Value, int] = {}
    if str(column.type).startswith(("list", "large_list")):
        cells = (tuple(cell) if isinstance(cell, list) else cell for cell in column.to_pylist())
        raw = np.array([place.setdefault(cell, len(place)) for cell in cells], dtype=np.int64)
        values = list(place)
    else:
        encoded = column.dictionary_encode()
        values = list(encoded.dictionary.to_pylist())
        raw = encoded.indices.fill_null(len(values)).to_numpy(zero_copy_only=False).astype(np.int64)
        values = [*values, None] if encoded.null_count else values
    order = sorted(range(len(values)), key=lambda i: (values[i] is None, _key(values[i])))
    rank = np.empty(len(values), dtype=np.int32)
    rank[order] = np.arange(len(values), dtype=np.int32)
    return tuple(values[i] for i in order), rank[raw] if values else raw.astype(np.int32)


def _key(value: Any) -> tuple[str, Any]:
    """Values of different types in an order, too."""
    if isinstance(value, tuple):
        return "tuple", tuple(_key(v) for v in value)
    return ("", 0) if value is None else (type(value).__name__, value)
