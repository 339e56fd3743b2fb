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

    cells = {name: column if isinstance(column, pa.Array) else pa.array(column) for name, column in columns.items()}
    size = len(next(iter(cells.values())))
    arrays = {name: carry(column, carried(column.type)) for name, column in cells.items()}
    path = table.room.place().with_suffix(".parquet")
    pq.write_table(pa.table({**arrays, "k_": np.arange(size)}), path, row_group_size=1 << 20)
    return table.frame.sparkSession.read.parquet(path.as_uri())
