"""Parquet files, read and written by DuckDB."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from keepsense.engines.duckdb_store import ROW, Store, literal, refused
from keepsense.engines.formats.column_types import differing, retyped
from keepsense.engines.formats.table_formats import Format, register
from keepsense.engines.protocol import Reading, Writing
from keepsense.engines.text_encodings import readable


def read(store: Store, source: str, reading: Reading) -> str:
    """All columns with their types."""
    path = readable(source)
    with refused(path):
        if path.stat().st_size < LARGE or NUMBER in store.types(f"SELECT * FROM {as_it_stands(source, reading)}"):
            return store.keep(as_it_stands(source, reading))
        numbered = f"read_parquet({literal(source)}, {NUMBER} = true)"
        view = store.look_at(path, f"SELECT * EXCLUDE ({NUMBER}), {NUMBER} + 1 AS {ROW} FROM {numbered}")
        store.columnar[view] = path
        return view


LARGE = 1 << 24
"""Bytes from which on a file is not copied: its columns are read where they lie, when they are needed."""
NUMBER = "file_row_number"
"""What DuckDB calls the numbers that it gives to the rows of a file."""


def write(store: Store, query: str, part: Path, writing: Writing) -> None:
    """Every type is kept; those that only Arrow knows are as in the file that this one is to be like."""
    types = {} if writing.like is None else _types(store, query, writing.like)
    if not types:
        store.run(f"COPY ({query}) TO {literal(str(part))} (FORMAT parquet)")
        return
    import pyarrow.parquet as pq

    schema, batches = retyped(store.connection.sql(query).to_arrow_reader(65_536), types)
    with pq.ParquetWriter(part, schema) as out:
        for batch in batches:
            out.write_batch(batch)


def write_coded(store: Store, query: str, rows: Any, part: Path, writing: Writing) -> bool:
    """The same from dictionaries, which the file then holds as they are: for many rows, of types that lose nothing."""
    import pyarrow as pa

    plain = (pa.types.is_string, pa.types.is_integer, pa.types.is_boolean, pa.types.is_date32)
    if rows.num_rows < MANY or not all(any(test(kind.value_type) for test in plain) for kind in rows.schema.types):
        return False
    if writing.like is not None and _types(store, query, writing.like):
        return False
    import pyarrow.parquet as pq

    pq.write_table(rows, part, row_group_size=_GROUP, store_schema=False)
    return True


MANY = 1 << 17
"""Rows from which on a file is written from dictionaries."""
_GROUP = 122_880
"""Rows of a group, as DuckDB writes them."""


def _types(store: Store, query: str, like: str) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return differing(store, query, pq.read_schema(like), as_it_stands(like, Reading()))
    except (pa.ArrowException, OSError):
        return {}  # DuckDB read the file; what its types are in Arrow nobody knows


def as_it_stands(source: str, reading: Reading) -> str:
    """SQL that reads the file."""
    return f"read_parquet({literal(source)})"


register(Format("parquet", (".parquet", ".pq"), read, write, write_coded, as_it_stands=as_it_stands, by_column=True))
