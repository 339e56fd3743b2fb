"""Codes from one scan: every task makes dictionaries of its own, and the driver makes one of them all.

A task hands out the different tuples that it met, as codes of its dictionaries, with how often it met each; so no cell
is shuffled and none is looked at twice. The driver adds the tuples of all tasks up. Of Parquet files a task reads the
dictionaries and codes that they hold themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Ints
from keepsense.counts import Value
from keepsense.engines.coding import dictionary_of
from keepsense.engines.spark.carry import restore
from keepsense.engines.spark.table import SparkTable

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
