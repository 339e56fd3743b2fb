"""Arrow files and streams, a batch at a time.

A file is not mapped into memory, and each batch is checked in full before it is used: the library itself
believes what a file says of its own lengths and offsets, and a damaged one would end the program.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from keepsense.engines.duckdb_store import Store
from keepsense.engines.formats.column_types import differing, retyped
from keepsense.engines.formats.table_formats import Format, register
from keepsense.engines.protocol import Reading, Writing
from keepsense.engines.text_encodings import readable
from keepsense.errors import BadInput


def read(store: Store, source: str, reading: Reading) -> str:
    """A file (Feather) or a stream, whichever it is."""
    import pyarrow as pa

    path = readable(source)
    try:
        with pa.OSFile(str(path)) as file:
            try:
                batches = pa.ipc.open_file(file)
                each = (batches.get_batch(i) for i in range(batches.num_record_batches))
            except pa.ArrowInvalid:
                file.seek(0)
                batches = each = pa.ipc.open_stream(file)
            if not batches.schema.names:
                raise BadInput(f"{path.name}: the table has no columns")
            return store.keep_arrow(pa.RecordBatchReader.from_batches(batches.schema, map(_checked, each)))
    except (pa.ArrowException, OSError, ValueError, MemoryError):
        raise BadInput(f"{path.name}: this is not an Arrow file") from None


def _checked(batch: Any) -> Any:
    batch.validate(full=True)
    return batch


def write(store: Store, query: str, part: Path, writing: Writing) -> None:
    """A file, which can be mapped into memory."""
    import pyarrow as pa

    types = {} if writing.like is None else _types(store, query, writing.like)
    schema, batches = retyped(store.connection.sql(query).to_arrow_reader(65_536), types)
    if any(map(pa.types.is_dictionary, types.values())):  # a file has one dictionary a column, for all its batches
        batches = iter(pa.Table.from_batches(batches, schema).unify_dictionaries().to_batches())
    with pa.OSFile(str(part), "wb") as sink, pa.ipc.new_file(sink, schema) as out:
        for batch in batches:
            out.write_batch(batch)


def _types(store: Store, query: str, like: str) -> dict[str, Any]:
    import pyarrow as pa

    try:
        with pa.OSFile(like) as file:
            try:
                schema = pa.ipc.open_file(file).schema
            except pa.ArrowInvalid:
                file.seek(0)
                schema = pa.ipc.open_stream(file).schema
    except (pa.ArrowException, OSError):
        return {}
    store.connection.register("alike", schema.empty_table())
    try:
        return differing(store, query, schema, "alike")
    finally:
        store.connection.unregister("alike")


register(Format("arrow", (".arrow", ".feather", ".ipc"), read, write))
