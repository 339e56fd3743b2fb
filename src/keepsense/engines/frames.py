"""Rows that come and go in memory: columns, frames of other libraries, and streams, all as Arrow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from keepsense.errors import BadInput


def watched(reader: Any, failures: list[Exception]) -> Any:
    """The same stream; what goes wrong in it is kept, since DuckDB passes on only the words."""
    import pyarrow as pa

    def batches() -> Iterator[Any]:
        try:
            yield from reader
        except Exception as error:
            failures.append(error)
            raise

    return pa.RecordBatchReader.from_batches(reader.schema, batches())


def on_demand(schema: Any, ask: Callable[[], Iterable[Any]]) -> Any:
    """A stream of record batches that asks for them only when it is read."""
    import pyarrow as pa

    def batches() -> Iterator[Any]:
        yield from ask()

    return pa.RecordBatchReader.from_batches(schema, batches())


def arrow_of(source: Any) -> Any:
    """Columns in memory, or a frame of any library narwhals knows, as Arrow."""
    import pyarrow as pa

    if isinstance(source, pa.Table | pa.RecordBatchReader):
        return source
    if isinstance(source, Mapping):
        lengths = {len(column) for column in source.values()}
        if len(lengths) > 1:
            raise BadInput(f"the columns have different lengths: {', '.join(map(str, sorted(lengths)))}")
        try:
            return pa.table({str(name): column for name, column in source.items()})
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            raise BadInput("a column mixes types; give every column one type") from None
    import narwhals as nw

    try:
        frame = nw.from_native(source)
    except TypeError:
        raise BadInput(
            f"cannot read rows from a {type(source).__name__}; give a path, a mapping of columns, or a data frame"
        ) from None
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return frame.to_arrow()
