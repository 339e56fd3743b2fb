"""Long arrays in JSON documents: whole numbers, compressed, as text; short ones stay readable lists."""

from __future__ import annotations

import base64
import math
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

LONG = 10_000
"""Numbers from which on an array is packed."""
_KINDS = ("|u1", "<u2", "<u4", "<i8")
_MOST = 1 << 32
_DENSEST = 1_100
"""Bytes that one compressed byte can stand for at most."""


def plain_array(array: NDArray[Any]) -> Any:
    """An array as JSON holds it: a list, or packed, column after column, where it is long.

    >>> plain_array(np.array([3, 1]))
    [3, 1]
    >>> packed = plain_array(np.zeros(100_000, np.int64))
    >>> packed["kind"], packed["shape"], len(packed["packed"]) < 1_000
    ('|u1', [100000], True)
    """
    if array.size < LONG:
        return array.tolist()
    low, high = int(array.min()), int(array.max())
    fitting = [k for k in _KINDS if np.iinfo(np.dtype(k)).min <= low and high <= np.iinfo(np.dtype(k)).max]
    small = np.asarray(array.T, dtype=np.dtype(fitting[0]), order="C")
    data = base64.b64encode(zlib.compress(small.tobytes(), 1)).decode("ascii")
    return {"kind": fitting[0], "shape": list(array.shape), "packed": data}


def read_array(data: Any, kind: Any) -> NDArray[Any]:
    """What `plain_array` wrote, as numbers of a kind (None: as they are); a `ValueError` where it is damaged.

    >>> read_array([3, 1], np.int64).tolist()
    [3, 1]
    >>> read_array({"kind": "|u1", "shape": [10**9], "packed": ""}, np.int64)
    Traceback (most recent call last):
    ...
    ValueError: a packed array claims more than it holds
    """
    if not isinstance(data, dict):
        return np.array(data, dtype=kind)
    shape, stored = data["shape"], np.dtype(_KINDS[_KINDS.index(data["kind"])])
    if not isinstance(shape, list) or not all(type(side) is int and side >= 0 for side in shape) or len(shape) > 2:
        raise ValueError("a packed array has no shape")
    compressed = base64.b64decode(data["packed"], validate=True)
    size = math.prod(shape) * stored.itemsize
    if size > min(_MOST, _DENSEST * len(compressed)):
        raise ValueError("a packed array claims more than it holds")
    inflate = zlib.decompressobj()
    try:
        raw = inflate.decompress(compressed, size + 1)
    except zlib.error:
        raise ValueError("a packed array is damaged") from None
    if len(raw) != size or not inflate.eof or inflate.unused_data:
        raise ValueError("a packed array is damaged")
    array = np.frombuffer(raw, stored).reshape(shape[::-1]).T
    wanted = stored if kind is None else np.dtype(kind)
    if array.size and not np.iinfo(wanted).min <= int(array.min()) <= int(array.max()) <= np.iinfo(wanted).max:
        raise ValueError("a packed array holds numbers that are too large")
    return np.ascontiguousarray(array, dtype=wanted)
