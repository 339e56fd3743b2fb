"""Cells as text, spelled as everywhere in Keepsense: as DuckDB spells them, which files are written with, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keepsense.engines.spark.carry import plain
from keepsense.engines.spark.session import quiet


def as_text(column: str, kind: Any) -> Any:
    """An expression for a column of a type of Arrow as text; a list reads [a, b]."""
    import pyarrow as pa
    from pyspark.sql import functions as F

    kind = plain(kind)
    if pa.types.is_string(kind):
        return F.col(column)
    if pa.types.is_list(kind):
        listed = f"transform({column}, x -> coalesce(CAST(x AS STRING), 'NULL'))"
        return F.expr(f"CASE WHEN {column} IS NULL THEN NULL ELSE '[' || array_join({listed}, ', ') || ']' END")
    if pa.types.is_floating(kind):
        made: Any = F  # not all versions of PySpark declare what they have
        with quiet():
            return made.arrow_udf(numbers_spelled(), "string", made.ArrowUDFType.SCALAR)(F.col(column))
    if pa.types.is_decimal(kind):
        return F.expr(f"CASE WHEN {column} IS NULL THEN NULL ELSE format_string('%s', {column}) END")
    return F.col(column).cast("string")


def texts_of_lists(column: str) -> Any:
    """An expression for a column of lists as lists of texts."""
    from pyspark.sql import functions as F

    return F.col(column).cast("array<string>")


def numbers_spelled() -> Callable[[Any], Any]:
    """A function that spells floating-point numbers as shortly as they can be told from others.

    >>> import pyarrow as pa
    >>> numbers_spelled()(pa.array([0.1, 1e20, 2.0, None])).to_pylist()
    ['0.1', '1e+20', '2.0', None]
    """

    def spelled(cells):  # type: ignore[no-untyped-def]  # types would have to be known to the executors, too
        import pyarrow as pa

        single = pa.types.is_float32(cells.type)
        numbers = cells.to_numpy(zero_copy_only=False)
        gaps = cells.is_null().to_pylist()
        texts = (str(x) if single else repr(float(x)) for x in numbers)
        return pa.array([None if gap else text for gap, text in zip(gaps, texts, strict=True)], pa.string())

    return spelled
