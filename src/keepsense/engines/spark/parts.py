"""Codes from one scan: every task makes dictionaries of its own, and the driver makes one of them all.

A task hands out the different tuples that it met, as codes of its dictionaries, with how often it met each; so no cell
is shuffled and none is looked at twice. The driver adds the tuples of all tasks up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Ints
from keepsense.counts import Value
from keepsense.engines.coding import dictionary_of
from keepsense.engines.spark.carry import restore

_CODED = ("string", "bigint", "int", "smallint", "tinyint", "boolean", "date")
"""Types of Spark whose cells are equal in Arrow where they are equal in Spark."""
_TOGETHER = 1_000_000
"""Rows of a task that become tuples together."""


def can_be_coded(frame: Any, columns: Sequence[str]) -> bool:
    """Whether all cells of some columns of a frame of Spark are of types that Arrow makes dictionaries of."""
    kinds = dict(frame.dtypes)
    return all(kinds[name] in _CODED for name in columns)


def coded(frame: Any, kinds: Sequence[Any]) -> tuple[tuple[tuple[Value, ...], ...], Ints, NDArray[np.int64]]:
    """Dictionaries of the columns of a frame of Spark, whose types in Arrow are given, tuples of codes and weights."""
    import pyarrow as pa

    made = frame.mapInArrow(tuples_of(_TOGETHER), "dictionaries binary, tuples binary").toArrow()
    parts = [
        tuple(pa.ipc.open_stream(cell.as_py()).read_all() for cell in row) for row in zip(*made.columns, strict=True)
    ]
    values, columns = [], []
    for i, kind in enumerate(kinds):
        held = [words.column(i).combine_chunks().flatten() for words, _ in parts]
        cells = pa.concat_arrays(held) if held else pa.nulls(0, kind)
        dictionary, place = dictionary_of(restore(cells, kind))
        values.append(dictionary)
        start, codes = 0, [np.empty(0, np.int32)]
        for words, (_, tuples) in zip(held, parts, strict=True):
            codes.append(place[start : start + len(words)][tuples.column(i).to_numpy()])
            start += len(words)
        columns.append(np.concatenate(codes))
    weights = [tuples.column("n").to_numpy() for _, tuples in parts]
    return tuple(values), np.stack(columns, axis=1), np.concatenate([np.empty(0, np.int64), *weights])


def tuples_of(together: int) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """A function from record batches to dictionaries and tuples; it needs nothing of Keepsense where it runs.

    >>> import pyarrow as pa
    >>> rows = pa.RecordBatch.from_pydict({"job": ["nurse", None, "nurse"], "age": [31, 31, 31]})
    >>> (part,) = tuples_of(10)(iter([rows]))
    >>> [pa.ipc.open_stream(cell[0].as_py()).read_all().to_pydict() for cell in part.columns]
    [{'c0': [['nurse', None]], 'c1': [[31]]}, {'c0': [0, 1], 'c1': [0, 0], 'n': [2, 1]}]
    """

    def coded(batches: Any) -> Any:
        import numpy as np
        import pyarrow as pa

        def sent(columns: Any) -> Any:
            sink = pa.BufferOutputStream()
            batch = pa.RecordBatch.from_pydict(columns)
            with pa.ipc.new_stream(sink, batch.schema) as stream:
                stream.write_batch(batch)
            return sink.getvalue().to_pybytes()

        def part(waiting: Any) -> Any:
            table = pa.Table.from_batches(waiting)
            words, columns, keys, space = {}, [], np.zeros(len(table), np.int64), 1
            for i, cells in enumerate(table.columns):
                chunks = cells.dictionary_encode().unify_dictionaries().combine_chunks()
                size = len(chunks.dictionary) + (chunks.null_count > 0)
                held = chunks.dictionary
                if chunks.null_count:
                    held = pa.concat_arrays([held, pa.nulls(1, held.type)])
                codes = chunks.indices.fill_null(len(chunks.dictionary)).to_numpy(zero_copy_only=False)
                words[f"c{i}"] = pa.ListArray.from_arrays(pa.array([0, len(held)], pa.int32()), held)
                columns.append(codes.astype(np.min_scalar_type(max(0, size - 1))))
                if space * size >= 1 << 62:
                    found, keys = np.unique(keys, return_inverse=True)
                    space = len(found)
                space *= size
                keys = keys * size + codes
            _, first, number = np.unique(keys, return_index=True, return_counts=True)
            tuples = {f"c{i}": codes[first] for i, codes in enumerate(columns)}
            return pa.RecordBatch.from_pydict(
                {"dictionaries": [sent(words)], "tuples": [sent({**tuples, "n": number.astype(np.int64)})]},
            )

        waiting, rows = [], 0
        for batch in batches:
            waiting.append(batch)
            rows += len(batch)
            if rows >= together:
                yield part(waiting)
                waiting, rows = [], 0
        if rows:
            yield part(waiting)

    return coded
