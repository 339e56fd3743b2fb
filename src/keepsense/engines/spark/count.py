"""One grouping by Spark, then codes in NumPy: how `Counts` are made from rows on a cluster.

Every task makes codes of its rows, which the driver adds up. Where there are very many rows, dictionaries are collected
first, and the executors look codes up and pack them: whole numbers are shuffled and go to the driver, each tuple once.
Cells that Arrow makes no dictionaries of, and sums, are grouped by Spark; few rows of them by their values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Ints
from keepsense.counts import Counts, Histogram, Value, histogram
from keepsense.engines.coding import dictionary_of, sorting_key
from keepsense.engines.coding import packed as packed_keys
from keepsense.engines.spark.carry import carried, restore
from keepsense.engines.spark.lookup import lookup
from keepsense.engines.spark.parts import can_be_coded, coded
from keepsense.engines.spark.session import quiet
from keepsense.engines.spark.table import SparkTable
from keepsense.errors import BadInput

FEW = 200_000
"""Rows up to which values are grouped as they are; of more rows they become codes before they leave the executors."""

MANY = 10_000_000
"""Rows up to which the tuples of all tasks go to the driver, where they are added up; of more rows executors do it."""

_FEW_VALUES = 50_000
"""Different values of a column up to which those of all columns are collected together."""


def count(table: SparkTable, columns: tuple[str, ...], further: tuple[str, ...], sums: tuple[str, ...]) -> Counts:
    """Distinct tuples sorted by value, their weights, and what was asked for under each."""
    if not columns:
        raise BadInput("counting needs at least one column")
    for name in (*columns, *further):
        if table.holds_records(name):
            raise BadInput(f"column {name!r} holds records in its cells; make columns of them, or give it another role")
    known = from_known(table.counted, columns, further, sums)
    if known is not None:
        return known
    more = tuple(name for name in dict.fromkeys(further) if name not in columns)
    with quiet():
        counts = _made(columns, further, sums, _grouped(table, (*columns, *more), len(columns), sums))
    table.counted.append(counts)
    return counts


@dataclass(frozen=True, eq=False)
class _Groups:
    """Groups of rows: dictionaries, a code of each for a group, its rows and its sums.

    Where rows were grouped several times, `sets` says for each further column which groups hold it.
    """

    values: tuple[tuple[Value, ...], ...]
    codes: Ints
    weights: NDArray[np.int64]
    sums: Sequence[NDArray[Any]] = ()
    sets: Sequence[NDArray[np.int64]] = ()


def _made(columns: tuple[str, ...], further: tuple[str, ...], sums: tuple[str, ...], groups: _Groups) -> Counts:
    """Tuples sorted by value, their weights, and what was asked for under each."""
    width = len(columns)
    more = [name for name in dict.fromkeys(further) if name not in columns]
    own = groups.sets[0] if groups.sets else np.arange(len(groups.weights))  # every set has all rows
    tuples, weights, group = _tuples(groups, own, range(width))
    histograms: dict[str, Histogram] = {}
    for name in further:
        at = columns.index(name) if name in columns else width + more.index(name)
        rows = own if at < width or not groups.sets else groups.sets[at - width]
        position = group if rows is own else _tuples(groups, rows, range(width))[2]  # each set holds all tuples
        used, cells = np.unique(groups.codes[rows, at], return_inverse=True)
        labels = tuple(groups.values[at][code] for code in used.tolist())
        histograms[name] = histogram(labels, cells, position, groups.weights[rows], len(tuples))
    totals = {
        name: np.bincount(group, np.nan_to_num(column[own].astype(np.float64)), len(tuples)).astype(np.float64)
        for name, column in zip(sums, groups.sums, strict=True)
    }
    return Counts(columns, groups.values[:width], tuples, weights, histograms, totals)


def _tuples(
    groups: _Groups, rows: NDArray[np.int64], columns: Sequence[int]
) -> tuple[Ints, NDArray[np.int64], NDArray[np.int64]]:
    """The different tuples of some groups in order, the rows of each, and which of them each group is."""
    codes = [groups.codes[rows, i] for i in columns]
    keys = packed_keys(codes, [max(1, len(groups.values[i])) for i in columns])
    distinct, first, group = np.unique(keys.keys, return_index=True, return_inverse=True)
    weights = np.bincount(group, groups.weights[rows], len(distinct)).astype(np.int64)
    return np.ascontiguousarray(groups.codes[rows[first]][:, list(columns)]), weights, group


def from_known(
    counted: Sequence[Counts], columns: tuple[str, ...], further: tuple[str, ...], sums: tuple[str, ...]
) -> Counts | None:
    """What is asked for, added up from what was counted before; None where that does not tell.

    >>> before = Counts.of({"job": ["nurse", "clerk", "nurse"], "age": [31, 40, 35]})
    >>> from_known([before], ("job",), (), ()).weights.tolist(), from_known([before], ("town",), (), ())
    ([2, 1], None)
    """
    for counts in counted:
        if {*columns} <= {*counts.names} and {*further} <= {*counts.histograms} and {*sums} <= {*counts.sums}:
            fewer = counts.project(columns)
            histograms = {name: fewer.histograms[name] for name in further}
            return replace(fewer, histograms=histograms, sums={name: fewer.sums[name] for name in sums})
    return None


def recounted(counts: Counts, changed: Mapping[str, tuple[Sequence[Value], NDArray[Any]]]) -> Counts:
    """Counts after some columns got other values: for each column its dictionary and the code of each tuple.

    >>> before = Counts.of({"age": [31, 38, 40]})
    >>> after = recounted(before, {"age": (["thirties", "forties"], np.array([0, 0, 1]))})
    >>> after.values, after.weights.tolist()
    ((('forties', 'thirties'),), [1, 2])
    """
    values, codes = list(counts.values), counts.codes.copy()
    for name, (dictionary, given) in changed.items():
        used = np.flatnonzero(np.bincount(given, minlength=len(dictionary)))
        texts = [dictionary[code] for code in used.tolist()]
        # equal values may have had several codes
        order = sorted(dict.fromkeys(texts), key=lambda value: (value is None, sorting_key(value)))
        rank = {value: i for i, value in enumerate(order)}
        j = counts.index(name)
        values[j] = tuple(order)
        place = np.zeros(len(dictionary), dtype=np.int32)
        place[used] = [rank[value] for value in texts]
        codes[:, j] = place[given]
    others = {name: h for name, h in counts.histograms.items() if name not in changed}
    sums = {name: numbers for name, numbers in counts.sums.items() if name not in changed}
    return replace(counts, histograms=others, sums=sums).recoded(values, codes).project(counts.names)


def _mark(more: int, place: int) -> int:
    """What Spark's GROUPING_ID says where rows were grouped by one of several further columns.

    >>> _mark(0, 0), _mark(1, 0), _mark(3, 0), _mark(3, 2)
    (0, 0, 3, 6)
    """
    return ((1 << more) - 1) ^ (1 << more - 1 - place) if more else 0


def _grouped(table: SparkTable, names: tuple[str, ...], width: int, sums: tuple[str, ...]) -> _Groups:
    """Rows grouped by some columns and by each of the further ones beside them: by values, or by codes."""
    columns = [table.column(name) for name in names]
    many = table.size is None or table.size > MANY
    if not many and not sums and can_be_coded(table, names):
        return _added_up(_Groups(*coded(table, names)))
    if many or table.rows > FEW:
        values, codes, numbers = _coded(table, names, width, sums)
    else:
        arrow = _by_sets(table.frame, columns[:width], columns[width:], _numbers(table, sums)).toArrow()
        cells = [restore(arrow.column(i).combine_chunks(), table.type_of(n)) for i, n in enumerate(names)]
        dictionaries = [dictionary_of(column) for column in cells]
        values, codes = tuple(v for v, _ in dictionaries), np.stack([code for _, code in dictionaries], axis=1)
        numbers = [c.to_numpy() for c in arrow.columns[len(names) :]]
    more = len(names) - width
    sets = [np.flatnonzero(numbers[0].astype(np.int64) == _mark(more, i)) for i in range(more)] if more > 1 else []
    return _Groups(values, codes, numbers[1].astype(np.int64), numbers[2:], sets)


def _added_up(groups: _Groups) -> _Groups:
    """Groups in the order of their codes, those of several tasks as one."""
    keys = packed_keys([*groups.codes.T], [max(1, len(values)) for values in groups.values]).keys
    order = np.argsort(keys)
    first = np.flatnonzero(np.diff(keys[order], prepend=-1))
    weights = np.add.reduceat(groups.weights[order], first) if len(first) else groups.weights
    return _Groups(groups.values, groups.codes[order[first]], weights)


def _by_sets(frame: Any, keys: Sequence[str], more: Sequence[str], numbers: Sequence[Any]) -> Any:
    """Rows grouped by keys, and by each of some further columns beside them; `set_` tells which."""
    from pyspark.sql import functions as F

    if len(more) < 2:  # the tuples are added up from the finer groups
        grouped = frame.groupBy(*keys, *more).agg(F.lit(0).alias("set_"), *numbers)
    else:
        sets = [[*keys, name] for name in more]
        grouped = frame.groupingSets(sets, *keys, *more).agg(F.grouping_id().alias("set_"), *numbers)
    return grouped


def _numbers(table: SparkTable, sums: tuple[str, ...]) -> list[Any]:
    from pyspark.sql import functions as F

    return [F.count(F.lit(1)).alias("n_"), *(_sum(table, name).alias(f"s{i}_") for i, name in enumerate(sums))]


def _sum(table: SparkTable, name: str) -> Any:
    """A sum that does not depend on the order of the rows: exact decimals, unless numbers are too large for them."""
    from pyspark.sql import functions as F

    cell = f"try_cast({table.column(name)} AS DOUBLE)"
    exact = f"sum(try_cast({cell} AS DECIMAL(32, 10)))"
    return F.expr(f"CASE WHEN max(abs({cell})) < 1e20 THEN CAST({exact} AS DOUBLE) ELSE sum({cell}) END")


def _coded(
    table: SparkTable, names: tuple[str, ...], width: int, sums: tuple[str, ...]
) -> tuple[tuple[tuple[Value, ...], ...], Ints, list[NDArray[Any]]]:
    """The same for many rows: executors look codes up, pack them into whole numbers, and group by these."""
    from pyspark.sql import functions as F

    dictionaries = []
    frame = table.frame
    for i, (name, cells) in enumerate(zip(names, _dictionaries(table, names), strict=True)):
        values, code = dictionary_of(restore(cells, table.type_of(name)))
        dictionaries.append(values)
        entries = lookup(table, {f"v{i}": cells.cast(carried(table.type_of(name))), f"code{i}": code.astype(np.int64)})
        hint = F.broadcast(entries) if len(values) <= FEW else entries
        frame = frame.join(hint.drop("k_"), F.col(table.column(name)).eqNullSafe(F.col(f"v{i}")), "left")
    sizes = [max(1, len(values)) for values in dictionaries]
    packs = packed(sizes[:width])
    for j, places in enumerate(packs):
        key = F.lit(0).cast("long")
        for i in places:
            key = key * F.lit(sizes[i]) + F.col(f"code{i}")
        frame = frame.withColumn(f"p{j}_", key)
    more = [f"code{i}" for i in range(width, len(names))]
    arrow = _by_sets(frame, [f"p{j}_" for j in range(len(packs))], more, _numbers(table, sums)).toArrow()
    codes = np.zeros((arrow.num_rows, len(names)), dtype=np.int32)
    for j, places in enumerate(packs):
        keys = arrow.column(j).to_numpy()
        for i in places[::-1]:
            keys, codes[:, i] = np.divmod(keys, sizes[i])
    for j in range(len(more)):  # missing where rows were not grouped by it
        codes[:, width + j] = arrow.column(len(packs) + j).fill_null(0).to_numpy()
    return tuple(dictionaries), codes, [c.to_numpy() for c in arrow.columns[len(packs) + len(more) :]]


def packed(sizes: Sequence[int], most: int = 2**63 - 1) -> list[list[int]]:
    """Columns with so many values each, packed together as long as one whole number holds all their combinations.

    >>> packed([10, 20, 30], 1000)
    [[0, 1], [2]]
    """
    packs: list[list[int]] = [[]]
    room = most
    for i, size in enumerate(sizes):
        if packs[-1] and room < size:
            packs.append([])
            room = most
        packs[-1].append(i)
        room //= size
    return packs


def _dictionaries(table: SparkTable, names: tuple[str, ...]) -> list[Any]:
    """The different values of each column: of all that have few in one scan, of each other in one of its own."""
    import pyarrow as pa
    from pyspark.sql import functions as F

    columns = {name: table.column(name) for name in names}
    guesses = table.frame.agg(*(F.approx_count_distinct(c).alias(f"g{i}") for i, c in enumerate(columns.values())))
    numbers = dict(zip(columns, guesses.first(), strict=True))
    plain_cells = ("string", "bigint", "int", "smallint", "tinyint", "boolean", "date")
    kinds = dict(table.frame.dtypes)
    few = [name for name in columns if numbers[name] <= _FEW_VALUES and kinds[columns[name]] in plain_cells]
    cells: dict[str, Any] = {}
    if few:
        held = [F.collect_set(columns[name]).alias(f"v{i}") for i, name in enumerate(few)]
        gaps = [F.count(F.when(F.col(columns[name]).isNull(), 1)).alias(f"n{i}") for i, name in enumerate(few)]
        found = table.frame.agg(*held, *gaps).toArrow()
        for i, name in enumerate(few):
            values = found.column(i).combine_chunks().flatten()
            missing = found.column(len(few) + i)[0].as_py()
            cells[name] = pa.concat_arrays([values, pa.nulls(1, values.type)]) if missing else values
    for name in columns:
        if name not in cells:
            cells[name] = table.frame.select(columns[name]).distinct().toArrow().column(0).combine_chunks()
    return [cells[name] for name in names]
