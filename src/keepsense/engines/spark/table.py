"""Tables on a Spark cluster: a frame with columns c0, c1, ..., a row identity, and the names of its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keepsense.engines.spark.session import ROW, Room, plain, quiet
from keepsense.errors import BadInput, did_you_mean

if TYPE_CHECKING:
    from keepsense.counts import Counts


@dataclass(frozen=True, eq=False)
class SparkTable:
    """Rows on a cluster: a frame, not yet computed, whose column `row_` tells rows apart and is never released.

    A row's identity does not depend on how the rows are spread: it is the place in a file, or, for a frame of Spark,
    which has no order, what the row holds and its number among rows that hold the same. `schema` are the types that the
    columns have outside of Spark. `counted` is what was counted of the table so far.
    """

    room: Room
    frame: Any
    schema: Any
    counted: list[Counts] = field(default_factory=list)
    size: int | None = None
    """Number of rows, where it is known."""
    read: tuple[Any, tuple[Path, ...]] = (None, ())
    """A frame, and Parquet files of one schema of which it has every row and, in their order, every column."""

    @property
    def files(self) -> tuple[Path, ...]:
        """Parquet files that hold the same rows and cells as the table; none where it was made of others."""
        return self.read[1] if self.read[0] is self.frame else ()

    @property
    def ordered(self) -> bool:
        """Whether its rows have an order: those of files have, those of a frame of Spark do not."""
        return str(self.frame.schema[ROW].dataType.simpleString()) != "string"

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Column names in order."""
        return tuple(self.schema.names)

    @cached_property
    def _place(self) -> dict[str, int]:
        return {name: i for i, name in reversed([*enumerate(self.columns)])}

    @cached_property
    def rows(self) -> int:
        """Number of rows; counted once."""
        if self.size is not None or self.counted:
            return self.counted[0].total if self.size is None else self.size
        with quiet():
            return int(self.frame.count())

    def column(self, name: str) -> str:
        """What a column is called in the frame."""
        return f"c{self._place[name]}"

    def type_of(self, name: str) -> Any:
        """Arrow's type of a column."""
        return self.schema.field(self._place[name]).type

    def is_text(self, name: str) -> bool:
        """Whether the cells of a column are texts."""
        import pyarrow as pa

        return bool(pa.types.is_string(plain(self.type_of(name))))

    def holds_lists(self, name: str) -> bool:
        """Whether the cells of a column are lists."""
        import pyarrow as pa

        return bool(pa.types.is_list(plain(self.type_of(name))))

    def holds_records(self, name: str) -> bool:
        """Whether the cells of a column are records or maps, alone or in lists: such are looked at as text."""
        import pyarrow as pa

        kind = plain(self.type_of(name))
        return bool(pa.types.is_nested(kind) and (not pa.types.is_list(kind) or pa.types.is_nested(kind.value_type)))

    def require(self, columns: Iterable[str]) -> None:
        """Refuse column names the table does not have, with the nearest one as a hint."""
        for name in columns:
            if name not in self._place:
                hint = did_you_mean(name, self.columns)
                raise BadInput(f"the table has no column {name!r}; it has {', '.join(self.columns)}.{hint}")

    def only(self, names: Sequence[str]) -> SparkTable:
        """The table with some of its columns."""
        if tuple(names) == self.columns:
            return self
        # rows are the same, so what was counted of them holds
        return replace(self.having(names, {name: self.column(name) for name in names}), counted=self.counted)

    def having(self, names: Sequence[str], cells: dict[str, Any], types: dict[str, Any] | None = None) -> SparkTable:
        """The table with other columns: names of the frame, or expressions over it, under new names."""
        import pyarrow as pa
        from pyarrow import schema
        from pyspark.sql import functions as F

        fields = [pa.field(n, (types or {}).get(n) or self.type_of(n)) for n in names]
        chosen = [F.col(cells[n]) if isinstance(cells[n], str) else cells[n] for n in names]
        renamed = [cell.alias(f"c{i}") for i, cell in enumerate(chosen)]
        return replace(self, frame=self.frame.select(*renamed, ROW), schema=schema(fields), counted=[])


# Cells as text, written as DuckDB writes them, as in files


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
