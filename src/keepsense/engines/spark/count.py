"""Count the rows of a Spark table: one grouping by Spark, then codes in NumPy.

Every task makes codes of its rows, which the driver adds up. Where there are very many rows, dictionaries are collected
first, and the executors look codes up and pack them: whole numbers are shuffled and go to the driver, each tuple once.
Cells that Arrow makes no dictionaries of, and sums, are grouped by Spark; few rows of them by their values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Ints
from keepsense.counts import Counts, Histogram, Value, histogram
from keepsense.engines.dictionary_encoding import dictionary_of, sorting_key
from keepsense.engines.dictionary_encoding import packed as packed_keys
from keepsense.engines.protocol import Profile
from keepsense.engines.spark.session import carried, carry, quiet, restore
from keepsense.engines.spark.table import SparkTable, as_text
from keepsense.errors import BadInput

# Codes from one scan: every task makes its own dictionaries, and the driver merges them
#
# A task returns its distinct tuples as codes with their counts, so that no cell is shuffled. From Parquet files a task
# reads the dictionaries and codes that they hold.

_CODED = ("string", "bigint", "int", "smallint", "tinyint", "boolean", "date")
"""Types of Spark whose cells are equal in Arrow where they are equal in Spark."""
_TOGETHER = 1_000_000
"""Rows of a task that become tuples together."""


def can_be_coded(table: SparkTable, names: Sequence[str]) -> bool:
    """Whether all cells of some columns are of types that Arrow makes dictionaries of."""
    kinds = dict(table.frame.dtypes)
    return all(kinds[table.column(name)] in _CODED for name in names)


def coded(table: SparkTable, names: Sequence[str]) -> tuple[tuple[tuple[Value, ...], ...], Ints, NDArray[np.int64]]:
    """Dictionaries of some columns, the tuples of codes that tasks met, and how often they met them."""
    import pyarrow as pa

    made = _from_files(table, names) if table.files else _from_frame(table, names)
    parts = [tuple(pa.ipc.open_stream(sent).read_all() for sent in part) for part in made]
    values, columns = [], []
    for i, name in enumerate(names):
        kind = table.type_of(name)
        held = [restore(words.column(i).combine_chunks().flatten(), kind) for words, _ in parts]
        dictionary, place = dictionary_of(pa.concat_arrays(held) if held else pa.nulls(0, kind))
        values.append(dictionary)
        start, codes = 0, [np.empty(0, np.int32)]
        for words, (_, tuples) in zip(held, parts, strict=True):
            codes.append(place[start : start + len(words)][tuples.column(i).to_numpy()])
            start += len(words)
        columns.append(np.concatenate(codes))
    weights = [tuples.column("n").to_numpy() for _, tuples in parts]
    return tuple(values), np.stack(columns, axis=1), np.concatenate([np.empty(0, np.int64), *weights])


def _from_frame(table: SparkTable, names: Sequence[str]) -> list[tuple[bytes, bytes]]:
    """What tasks make of the rows that Spark gives them."""
    make, together = tuples_of(), _TOGETHER

    def tuples(batches: Any) -> Any:
        import pyarrow as pa

        waiting: list[Any] = []
        for batch in batches:
            waiting.append(batch)
            if sum(map(len, waiting)) >= together:
                yield pa.RecordBatch.from_pylist([dict(zip("dt", make(waiting), strict=True))])
                waiting = []
        if sum(map(len, waiting)):
            yield pa.RecordBatch.from_pylist([dict(zip("dt", make(waiting), strict=True))])

    made = table.frame.select(*map(table.column, names)).mapInArrow(tuples, "d binary, t binary").toArrow()
    return list(zip(*(column.to_pylist() for column in made.columns), strict=True))


def _from_files(table: SparkTable, names: Sequence[str]) -> list[tuple[bytes, bytes]]:
    """What tasks make of the row groups of Parquet files."""
    import pyarrow as pa

    make, columns = tuples_of(), list(names)
    texts = [name for name in names if pa.types.is_string(table.type_of(name))]

    def tuples(stretch: Any) -> Any:
        import pyarrow.parquet as pq

        path, groups = stretch
        with pq.ParquetFile(path, read_dictionary=texts) as file:
            return make(file.read_row_groups(groups, columns, use_threads=False).select(columns).to_batches())

    context = table.frame.sparkSession.sparkContext
    stretches = list(_stretches(table.files, -(-table.rows // max(1, context.defaultParallelism))))
    return list(context.parallelize(stretches, max(1, len(stretches))).map(tuples).collect())


def _stretches(files: Sequence[Path], rows: int) -> Iterator[tuple[str, list[int]]]:
    """Row groups of files that a task reads: about so many rows, and no more than become tuples together."""
    import pyarrow.parquet as pq

    for path in files:
        metadata, groups, waiting = pq.read_metadata(path), list[int](), 0
        for group in range(metadata.num_row_groups):
            size = metadata.row_group(group).num_rows
            if groups and waiting + size > min(rows, _TOGETHER):
                yield str(path.resolve()), groups
                groups, waiting = [], 0
            groups.append(group)
            waiting += size
        if waiting:
            yield str(path.resolve()), groups


def tuples_of() -> Callable[[Any], tuple[bytes, bytes]]:
    """A function from record batches to dictionaries and tuples; it needs nothing of Keepsense where it runs.

    >>> import pyarrow as pa
    >>> rows = pa.RecordBatch.from_pydict({"job": ["nurse", None, "nurse"], "age": [31, 31, 31]})
    >>> [pa.ipc.open_stream(sent).read_all().to_pydict() for sent in tuples_of()([rows])]
    [{'c0': [['nurse', None]], 'c1': [[31]]}, {'c0': [0, 1], 'c1': [0, 0], 'n': [2, 1]}]
    """

    def tuples(batches: Any) -> Any:
        import numpy as np
        import pyarrow as pa

        def sent(columns: Any) -> Any:
            sink, batch = pa.BufferOutputStream(), pa.RecordBatch.from_pydict(columns)
            with pa.ipc.new_stream(sink, batch.schema) as stream:
                stream.write_batch(batch)
            return sink.getvalue().to_pybytes()

        table = pa.Table.from_batches(batches)
        words, columns, keys, space = {}, [], np.zeros(len(table), np.int64), 1
        for i, cells in enumerate(table.columns):
            chunks = cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()
            chunks = chunks.unify_dictionaries().combine_chunks()
            held, raw = chunks.dictionary, chunks.indices.fill_null(len(chunks.dictionary))
            held = pa.concat_arrays([held, pa.nulls(1, held.type)])
            codes = raw.to_numpy(zero_copy_only=False)
            used = np.flatnonzero(np.bincount(codes, minlength=len(held)))
            size = len(used)
            place = np.zeros(len(held), np.min_scalar_type(max(0, size - 1)))
            place[used] = np.arange(size)
            codes, held = place[codes], held.take(pa.array(used))
            words[f"c{i}"] = pa.ListArray.from_arrays(pa.array([0, size], pa.int32()), held)
            columns.append(codes)
            if space * size >= 1 << 62:
                found, keys = np.unique(keys, return_inverse=True)
                space = len(found)
            space *= size
            keys = keys * size + codes
        _, first, number = np.unique(keys, return_index=True, return_counts=True)
        met = {f"c{i}": codes[first] for i, codes in enumerate(columns)}
        return sent(words), sent({**met, "n": number.astype(np.int64)})

    return tuples


# Small tables that are joined to large ones: written where executors read them


def lookup(table: SparkTable, columns: Mapping[str, Any]) -> Any:
    """A frame of the session of a table, with columns of Arrow or NumPy; `k_` numbers its rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyspark.sql.pandas.types import from_arrow_schema

    cells = {name: column if isinstance(column, pa.Array) else pa.array(column) for name, column in columns.items()}
    size = len(next(iter(cells.values())))
    arrays = {name: carry(column, carried(column.type)) for name, column in cells.items()}
    path = table.room.place().with_suffix(".parquet")
    entries = pa.table({**arrays, "k_": np.arange(size)})
    pq.write_table(entries, path, row_group_size=1 << 20)
    # told its types, Spark need not ask the file for them
    types = from_arrow_schema(entries.schema, prefer_timestamp_ntz=True)
    return table.frame.sparkSession.read.schema(types).parquet(path.as_uri())


# Counting

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


# Profiles of columns: one grouping a column, none for columns that were counted before

# spaces of all widths, and no tabs or line ends
_BLANKS = " \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"


def profiles(table: SparkTable, limit: int, columns: Sequence[str]) -> list[Profile]:
    """Profile of each column."""
    with quiet():
        return [_known(table, name, limit) or _profile(table, name, limit) for name in columns]


def _known(table: SparkTable, name: str, limit: int) -> Profile | None:
    """The profile of a column of text or whole numbers that was counted before; None where it was not."""
    kind = table.type_of(name)
    counted = (counts for counts in table.counted if name in counts.names or name in counts.histograms)
    counts = next(counted, None)
    if counts is None or not (table.is_text(name) or _whole(kind)):
        return None
    if name in counts.names:
        rows = counts.rows_of(name)
    else:
        held = counts.histograms[name]
        added = np.bincount(held.rows.indices, held.counts, len(held.values)).astype(np.int64)
        rows = dict(zip(held.values, added.tolist(), strict=True))
    blank = {value for value in rows if isinstance(value, str) and not value.strip(_BLANKS)}
    there = {value: n for value, n in rows.items() if value is not None and value not in blank and n}
    total = sum(rows.values())
    ordered = sorted(there, key=lambda value: (-there[value], str(value)))[:limit]
    return Profile(
        name,
        str(kind),
        total,
        total - sum(there.values()),
        len(there),
        sum(n == 1 for n in there.values()),
        {value: there[value] for value in ordered},
        False,
        any(rows[value] for value in blank if value),
    )


def _whole(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind))


def _profile(table: SparkTable, name: str, limit: int) -> Profile:
    import pyarrow as pa
    from pyspark.sql import functions as F

    column, kind = table.column(name), table.type_of(name)
    if table.holds_records(name):
        frame, kind = table.frame.select(F.to_json(F.col(column)).alias("v")), pa.string()
    else:
        frame = table.frame.select(F.col(column).alias("v"))
    grouped = frame.groupBy("v").agg(F.count(F.lit(1)).alias("n")).persist()
    try:
        empty: Any = F.col("v").isNull()
        blank: Any = F.lit(False)
        if table.is_text(name):
            blank = F.coalesce(F.btrim(F.col("v"), F.lit(_BLANKS)) == "", F.lit(False))
            empty = empty | blank
        counted = {
            "rows": F.sum("n"),
            "missing": F.sum(F.when(empty, F.col("n"))),
            "distinct": F.count(F.when(~empty, 1)),
            "single": F.count(F.when(~empty & (F.col("n") == 1), 1)),
            "blanks": F.count(F.when(blank & (F.col("v").cast("string") != ""), 1)),
        }
        ((rows, missing, distinct, single, blanks),) = grouped.agg(*counted.values()).collect()
        # equally frequent values in an order of their own, so that the same table always gives the same profile
        ordered = grouped.where(~empty).orderBy(F.desc("n"), as_text("v", kind)).limit(limit).toArrow()
        cells = restore(ordered["v"].combine_chunks(), kind).to_pylist()
        numbers = ordered["n"].to_pylist()
    finally:
        grouped.unpersist()
    values = {tuple(v) if isinstance(v, list) else v: n for v, n in zip(cells, numbers, strict=True)}
    lists = table.holds_lists(name)
    return Profile(name, str(kind), rows or 0, missing or 0, distinct, single, values, lists, blanks > 0)
