"""DuckDB database files, attached while they are read or written."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from keepsense.engines.duckdb_store import Store, fresh, literal, quoted, refused
from keepsense.engines.formats.table_formats import Format, chosen_table, register
from keepsense.engines.protocol import Reading, Writing
from keepsense.engines.text_encodings import readable
from keepsense.errors import BadInput


def read(store: Store, source: str, reading: Reading) -> str:
    """A table or view; one of another schema is called schema.table."""
    import duckdb

    path, base = readable(source), fresh("base")
    try:
        store.run(f"ATTACH {literal(str(path))} AS {base} (TYPE duckdb, READ_ONLY)")
    except duckdb.Error:
        raise BadInput(f"{path.name}: this is not a DuckDB database, or another program holds it open") from None
    try:
        with refused(path):
            listed = "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog ="
            places = {
                name if schema == "main" else f"{schema}.{name}": f"{base}.{quoted(schema)}.{quoted(name)}"
                for schema, name in store.run(f"{listed} {literal(base)}")
            }
            return store.keep(chosen_table(path, dict(sorted(places.items())), reading))
    finally:
        with suppress(duckdb.Error):  # after a damaged file the whole store may be out of order
            store.run(f"DETACH {base}")


def write(store: Store, query: str, part: Path, writing: Writing) -> None:
    """A database with one table."""
    base = fresh("base")
    store.run(f"ATTACH {literal(str(part))} AS {base} (TYPE duckdb)")
    try:
        store.run(f"CREATE TABLE {base}.{quoted(writing.table)} AS {query}")
    finally:
        store.run(f"DETACH {base}")


register(Format("duckdb", (".duckdb",), read, write, options=("table",), keeps_tables=True))
