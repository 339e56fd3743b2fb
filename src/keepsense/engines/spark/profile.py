"""Profiles of columns: one grouping a column by Spark, of which the driver gets the most frequent values.

Columns that were counted before need none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from keepsense.engines.profile import Profile
from keepsense.engines.spark.carry import restore
from keepsense.engines.spark.session import quiet
from keepsense.engines.spark.table import SparkTable
from keepsense.engines.spark.text import as_text

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
