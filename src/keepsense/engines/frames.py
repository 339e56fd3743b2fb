"""Rows that come and go in memory as Arrow: columns, streams, and frames of other libraries."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
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
    """Columns in memory, or a frame of any library narwhals knows, as Arrow; an index of pandas stays behind."""
    import pyarrow as pa

    if isinstance(source, pa.Table | pa.RecordBatchReader):
        return source
    try:
        if isinstance(source, Mapping):
            lengths = {len(column) for column in source.values()}
            if len(lengths) > 1:
                raise BadInput(f"the columns have different lengths: {', '.join(map(str, sorted(lengths)))}")
            return pa.table({str(name): column for name, column in source.items()})
        if isinstance(source, pa.RecordBatch):
            return pa.Table.from_batches([source])
        if _comes_from(source, "duckdb"):
            return source.to_arrow_reader()
        import narwhals as nw

        frame = nw.from_native(source)
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
        return nw.maybe_reset_index(frame).to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        raise BadInput("a column mixes types; give every column one type") from None
    except TypeError:
        raise BadInput(
            f"cannot read rows from a {type(source).__name__}; give a path, a mapping of columns, or a data frame"
        ) from None


def orders_of(frame: Any) -> dict[str, tuple[str, ...]]:
    """Orders of the columns of a pandas or Arrow frame whose categories are ordered; empty for anything else.

    >>> import pandas as pd
    >>> sizes = pd.CategoricalDtype(["small", "middle", "large"], ordered=True)
    >>> orders_of(pd.DataFrame({"size": pd.Series(["large", "small"], dtype=sizes)}))
    {'size': ('small', 'middle', 'large')}
    """
    import pyarrow as pa

    if _comes_from(frame, "pandas"):
        kinds = {str(name): kind for name, kind in getattr(frame, "dtypes", {}).items()}
        return {name: tuple(map(str, k.categories)) for name, k in kinds.items() if getattr(k, "ordered", False)}
    if not isinstance(frame, pa.Table | pa.RecordBatch):
        return {}
    named = [f.name for f in frame.schema if pa.types.is_dictionary(f.type) and f.type.ordered]
    return {name: tuple(map(str, _categories(frame.column(name)))) for name in named}


def _categories(column: Any) -> list[Any]:
    import pyarrow as pa

    if not isinstance(column, pa.ChunkedArray):
        return list(column.dictionary.to_pylist())
    return list(column.unify_dictionaries().chunk(0).dictionary.to_pylist()) if column.num_chunks else []


def frame_like(rows: Any, like: Any = None, recoded: Collection[str] = ()) -> Any:
    """An Arrow table as a frame of the kind of another one, with its types wherever a column is not `recoded`.

    A recoded column has the type of what stands in it now: text where it was generalized. pandas gets a new index: an
    old one would tell which row a person had.

    >>> import polars as pl, pyarrow as pa
    >>> people = pl.DataFrame({"job": ["nurse"], "age": [31]}, schema={"job": pl.Categorical, "age": pl.UInt8})
    >>> frame_like(pa.table({"job": ["nurse"], "age": ["30 to 39"]}), people, recoded=["age"]).dtypes
    [Categorical, String]
    """
    import pyarrow as pa

    if like is None:
        return rows
    rows = _with_durations(rows)
    same = {name for name in rows.column_names if name not in recoded}
    if isinstance(like, Mapping):
        keys = {str(key): key for key in like}
        columns = zip(rows.column_names, rows.columns, strict=True)
        return {keys.get(n, n): _column(column, like.get(keys.get(n)) if n in same else None) for n, column in columns}
    if isinstance(like, pa.Table | pa.RecordBatch | pa.RecordBatchReader):
        table = _arrow(rows, {field.name: field.type for field in like.schema if field.name in same})
        return table.to_reader() if isinstance(like, pa.RecordBatchReader) else table
    for library, convert in (("pandas", _pandas), ("polars", _polars), ("duckdb", _duckdb), ("pyspark", _spark)):
        if _comes_from(like, library):
            return convert(rows, like, same)
    import narwhals as nw

    return nw.from_arrow(rows, backend=nw.from_native(like).implementation).to_native()


def _comes_from(frame: Any, library: str) -> bool:
    return type(frame).__module__.split(".")[0].lstrip("_") == library


def _column(column: Any, like: Any) -> Any:
    """A column in memory: an array of NumPy where one came in, else a list."""
    import numpy as np

    return np.array(column.to_pylist(), like.dtype) if isinstance(like, np.ndarray) else column.to_pylist()


def _arrow(rows: Any, types: Mapping[str, Any]) -> Any:
    """Columns cast to the types they had; one that cannot be cast is left as it is."""
    import pyarrow as pa

    for name, kind in types.items():
        i = rows.column_names.index(name)
        column = rows.column(i)
        with suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):
            if pa.types.is_dictionary(kind):
                column = column.cast(kind.value_type).dictionary_encode()
            elif pa.types.is_null(kind):
                column = pa.nulls(len(column))
            rows = rows.set_column(i, pa.field(name, kind), column.cast(kind))
    return rows


def _with_durations(rows: Any) -> Any:
    """Durations again, which DuckDB keeps as intervals."""
    import pyarrow as pa

    for i, field in enumerate(rows.schema):
        cells = rows.column(i).to_pylist() if pa.types.is_interval(field.type) else []
        if cells and not any(cell and cell.months for cell in cells):
            spans = [cell and cell.days * 86_400 * 10**9 + cell.nanoseconds for cell in cells]
            rows = rows.set_column(i, field.name, pa.array(spans, pa.duration("ns")))
    return rows


def _pandas(rows: Any, like: Any, same: Collection[str]) -> Any:
    import pandas as pd
    import pyarrow as pa

    names = {str(name): name for name in like.columns}
    columns: dict[Any, Any] = {}
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        kind = like.dtypes[names[name]] if name in names and name in same else None
        if isinstance(kind, pd.ArrowDtype):
            column = _arrow(pa.table({name: column}), {name: kind.pyarrow_dtype}).column(0)
        from_arrow = getattr(kind, "__from_arrow__", None)
        series = column.to_pandas() if from_arrow is None else pd.Series(from_arrow(column))
        columns[names.get(name, name)] = series if kind is None else series.astype(kind)
    return pd.DataFrame(columns)


def _polars(rows: Any, like: Any, same: Collection[str]) -> Any:
    import polars as pl

    types = {name: kind for name, kind in like.collect_schema().items() if name in same}
    frame = pl.DataFrame(pl.from_arrow(rows)).cast(types)
    return frame.lazy() if isinstance(like, pl.LazyFrame) else frame


def _duckdb(rows: Any, like: Any, same: Collection[str]) -> Any:
    import duckdb

    types = {name: f"::{kind}" for name, kind in zip(like.columns, like.types, strict=True) if name in same}
    quoted = {name: '"' + name.replace('"', '""') + '"' for name in rows.column_names}
    cells = (f"{column}{types.get(name, '')} AS {column}" for name, column in quoted.items())
    return duckdb.from_arrow(rows).project(", ".join(cells))


def _spark(rows: Any, like: Any, same: Collection[str]) -> Any:
    types = {field.name: field.dataType for field in like.schema if field.name in same}
    frame = like.sparkSession.createDataFrame(rows)
    return frame.select(*(frame[name].cast(types.get(name, frame.schema[name].dataType)) for name in frame.columns))
