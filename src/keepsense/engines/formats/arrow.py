"""Arrow files, mapped into memory, and Arrow streams: a batch at a time."""

from __future__ import annotations

from pathlib import Path

from keepsense.engines.base import Reading, Writing
from keepsense.engines.files import readable
from keepsense.engines.formats import Format, register
from keepsense.engines.store import Store
from keepsense.errors import BadInput


def read(store: Store, source: str, reading: Reading) -> str:
    """A file (Feather) or a stream, whichever it is."""
    import pyarrow as pa

    path = readable(source)
    try:
        with pa.memory_map(str(path)) as file:
            try:
                batches = pa.ipc.open_file(file)
            except pa.ArrowInvalid:
                file.seek(0)
                return store.keep_arrow(pa.ipc.open_stream(file))
            each = (batches.get_batch(i) for i in range(batches.num_record_batches))
            return store.keep_arrow(pa.RecordBatchReader.from_batches(batches.schema, each))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError):
        raise BadInput(f"{path.name}: this is not an Arrow file") from None


def write(store: Store, query: str, part: Path, writing: Writing) -> None:
    """A file, which can be mapped into memory."""
    import pyarrow as pa

    reader = store.connection.sql(query).to_arrow_reader(65_536)
    with pa.OSFile(str(part), "wb") as sink, pa.ipc.new_file(sink, reader.schema) as out:
        for batch in reader:
            out.write_batch(batch)


register(Format("arrow", (".arrow", ".feather", ".ipc"), read, write))
