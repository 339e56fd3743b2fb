"""Arrow arrays from Python's and NumPy's and back, without what Arrow does for pandas.

Wherever pandas is installed, Arrow imports it before it converts a list or an array, which takes longer than reading a
small table. Texts and numbers go through their buffers instead; all else is left to Arrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_NUMBERS = {
    "int8": np.int8,
    "int16": np.int16,
    "int32": np.int32,
    "int64": np.int64,
    "uint8": np.uint8,
    "uint16": np.uint16,
    "uint32": np.uint32,
    "uint64": np.uint64,
    "float": np.float32,
    "double": np.float64,
}
"""Types whose cells lie in Arrow's buffers as in NumPy's."""
_OFFSETS: dict[str, Any] = {"string": np.int32, "large_string": np.int64}


def array(values: Sequence[Any] | NDArray[Any], kind: Any = None) -> Any:
    """What `pyarrow.array` makes of values, of a type if one is given.

    >>> array(["nurse", None, "clérk"]).to_pylist(), str(array([3, 1]).type), array(np.array([2.5])).to_pylist()
    (['nurse', None, 'clérk'], 'int64', [2.5])
    """
    import pyarrow as pa

    if not isinstance(values, np.ndarray):
        values = values if isinstance(values, list) else list(values)
        if not values:
            return pa.nulls(0, pa.null() if kind is None else kind)
        cells = set(map(type, values))
        if cells <= {str, type(None)} and str in cells and (kind is None or str(kind) in _OFFSETS):
            return _texts(values, pa.string() if kind is None else kind)
        if cells != {int} or (kind is not None and str(kind) != "int64") or _beyond(values):
            return pa.array(values, kind)
        values = np.array(values, np.int64)
    own = pa.from_numpy_dtype(values.dtype) if values.dtype.kind in "iuf" else None
    if own is None or values.ndim != 1 or str(own) not in _NUMBERS or (kind is not None and kind != own):
        return pa.array(values, kind)
    return pa.Array.from_buffers(own, len(values), [None, pa.py_buffer(np.ascontiguousarray(values))])


def _beyond(values: list[int]) -> bool:
    return min(values) < -(2**63) or max(values) >= 2**63


def _texts(values: list[str | None], kind: Any) -> Any:
    """Texts and gaps, through their bytes; what is no Unicode, or too long, is left to Arrow, which says so."""
    import pyarrow as pa

    try:
        cells = [b"" if value is None else value.encode() for value in values]
    except UnicodeEncodeError:
        return pa.array(values, kind)
    ends = np.zeros(len(cells) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, cells), np.int64, len(cells)), out=ends[1:])
    offsets = _OFFSETS[str(kind)]
    if ends[-1] > np.iinfo(offsets).max:
        return pa.array(values, kind)
    there = None
    if None in values:
        there = pa.py_buffer(np.packbits([value is not None for value in values], bitorder="little"))
    buffers = [there, pa.py_buffer(ends.astype(offsets)), pa.py_buffer(b"".join(cells))]
    return pa.Array.from_buffers(kind, len(values), buffers)


def numbers(cells: Any) -> NDArray[Any]:
    """What `to_numpy` gives for an Arrow array.

    >>> import pyarrow as pa
    >>> numbers(pa.array([1, 2, 3], pa.int16())[1:]).tolist(), numbers(pa.array([1.5, None])).tolist()
    ([2, 3], [1.5, nan])
    """
    dtype = _NUMBERS.get(str(cells.type))
    if dtype is None or cells.null_count or not len(cells):
        return np.asarray(cells.to_numpy(zero_copy_only=False))
    return np.frombuffer(cells.buffers()[1], dtype)[cells.offset : cells.offset + len(cells)]


def unified(chunks: Any) -> Any:
    """Dictionary-encoded chunks with one dictionary for all; those of a column of no type have no values to unify.

    >>> import pyarrow as pa
    >>> unified(pa.chunked_array([pa.nulls(1), pa.nulls(2)]).dictionary_encode()).null_count
    3
    """
    import pyarrow as pa

    return chunks if pa.types.is_null(chunks.type.value_type) else chunks.unify_dictionaries()
