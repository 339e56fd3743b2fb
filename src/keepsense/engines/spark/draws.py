"""Chance for rows that are spread over a cluster: a number for each row that only the holder of a key can foretell.

The number is a keyed hash (BLAKE2b) of the row's identity. So it depends neither on the task that computes it nor on
how the rows are spread, and a task that is tried again draws the same. The key travels inside the function, so that no
plan and no event log of Spark shows it. Only the identity goes to Python and only the number comes back: the row's
other cells stay where they are.

The order in which rows are written changes no cell, so no Python is needed for it: the hash is one that Spark has
(SHA-256), and the key comes from a small table in the staging folder, so that plans do not show it either.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keepsense.engines.spark.carry import ROW, Room
from keepsense.engines.spark.session import quiet

DRAW = "draw_"
"""Column that holds a row's number."""

KEY = 16
"""Bytes of a key."""

_KEY = "key_"


def with_draws(frame: Any, key: bytes) -> Any:
    """A frame with a 64-bit number for each row."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import LongType

    made: Any = F  # not all versions of PySpark declare what they have
    with quiet():
        number = made.arrow_udf(numbers(key), LongType(), made.ArrowUDFType.SCALAR)
        return frame.withColumn(DRAW, number(F.col(ROW).cast("string")))


def with_places(frame: Any, key: bytes, room: Room) -> Any:
    """A frame with a 64-bit number for each row by which rows are put into an order that nobody can foretell."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyspark.sql import functions as F

    path = room.place().with_suffix(".parquet")
    pq.write_table(pa.table({_KEY: [key.hex()]}), path)
    with quiet():
        held = F.broadcast(frame.sparkSession.read.schema(f"{_KEY} string").parquet(path.as_uri()))
        digest = F.sha2(F.concat(_KEY, F.col(ROW).cast("string"), _KEY), 256)
        return frame.crossJoin(held).withColumn(DRAW, F.xxhash64(digest)).drop(_KEY)


def numbers(key: bytes) -> Callable[[Any], Any]:
    """A function from identities to numbers; it needs nothing of Keepsense where it runs.

    >>> import pyarrow as pa
    >>> drawn = numbers(b"0123456789abcdef")(pa.array(["1", "2", "1"])).to_pylist()
    >>> drawn[0] == drawn[2], drawn[0] == drawn[1], drawn == numbers(b"another key 1234")(pa.array(["1"])).to_pylist()
    (True, False, False)
    """

    def drawn(rows):  # type: ignore[no-untyped-def]  # types would have to be known to the executors, too
        from hashlib import blake2b

        import numpy as np
        import pyarrow as pa

        start = blake2b(digest_size=8, key=key)
        digests = bytearray()
        for row in rows.to_pylist():
            digest = start.copy()
            digest.update(row.encode("utf-8"))
            digests += digest.digest()
        return pa.array(np.frombuffer(bytes(digests), dtype="<i8"))

    return drawn


def uniform() -> Any:
    """The numbers of `with_draws` as a share between 0 and 1."""
    from pyspark.sql import functions as F

    return F.shiftrightunsigned(F.col(DRAW), 11).cast("double") * F.lit(2.0**-53)
