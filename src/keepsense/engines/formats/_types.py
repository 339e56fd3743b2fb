"""Types that DuckDB takes for others on the way through: columns that nobody changed get back what the source had."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from keepsense.engines.store import Store


def differing(store: Store, query: str, source: Any, relation: str) -> dict[str, Any]:
    """Arrow types of the source's columns that a query gives in the type DuckDB reads them with, but not as they were.

    `source` is the source's Arrow schema, `relation` what DuckDB reads from it. A column that was generalized has
    another type by then, and keeps that.

    >>> import pyarrow as pa
    >>> with Store() as store:
    ...     _ = store.connection.register("rows", pa.table({"job": pa.array(["nurse"], pa.large_string())}))
    ...     types = differing(store, "SELECT job FROM rows", pa.schema([("job", pa.large_string())]), "rows")
    >>> str(types["job"])
    'large_string'
    """
    now, then = store.types(query), store.types(f"SELECT * FROM {relation}")
    bare = store.connection.sql(f"SELECT * FROM ({query}) LIMIT 0").to_arrow_table().schema
    return {
        field.name: field.type
        for field in source
        if field.name in now
        and now[field.name] == then.get(field.name)
        and bare.field(field.name).type != field.type
        and _castable(bare.field(field.name).type, field.type)
    }


def _castable(kind: Any, wanted: Any) -> bool:
    import pyarrow as pa

    try:
        _cast(pa.array([], kind), wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return False
    return True


def _cast(column: Any, wanted: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_interval(column.type):  # DuckDB's word for a duration
        spans = [
            cell and (cell.days + 30 * cell.months) * 86_400 * 10**9 + cell.nanoseconds for cell in column.to_pylist()
        ]
        return pa.array(spans, pa.duration("ns")).cast(wanted, safe=False)
    if pa.types.is_dictionary(wanted):
        return column.cast(wanted.value_type).dictionary_encode().cast(wanted)
    return column.cast(wanted)


def retyped(reader: Any, types: Mapping[str, Any]) -> tuple[Any, Iterator[Any]]:
    """The schema and the batches of a stream, some columns cast.

    >>> import pyarrow as pa
    >>> stream = pa.table({"job": ["nurse"]}).to_reader()
    >>> schema, batches = retyped(stream, {"job": pa.large_string()})
    >>> next(batches).schema == schema
    True
    """
    import pyarrow as pa

    schema = pa.schema([field.with_type(types.get(field.name, field.type)) for field in reader.schema])

    def batches() -> Iterator[Any]:
        for batch in reader:
            columns = [
                _cast(column, types[field.name]) if field.name in types else column
                for field, column in zip(batch.schema, batch.columns, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    return schema, batches()
