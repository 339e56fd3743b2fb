"""Small tables that are joined to large ones: written where executors read them, and broadcast or shuffled by Spark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from keepsense.engines.spark.carry import carried, carry
from keepsense.engines.spark.table import SparkTable


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
