"""SQLite tables, a row at a time: a cell may have any type, so declared types are checked."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from keepsense.engines.duckdb_store import Store, quoted
from keepsense.engines.formats.column_types import declared_type, gather, is_short_decimal, shortest
from keepsense.engines.formats.table_formats import Format, chosen_table, register
from keepsense.engines.protocol import Reading, Writing
from keepsense.engines.text_encodings import readable
from keepsense.errors import BadInput


def read(store: Store, source: str, reading: Reading) -> str:
    """A table or view; columns whose cells are what they declare to be get that type."""
    path = readable(source)
    address = f"{path.resolve().as_uri()}?mode=ro"
    try:
        # DuckDB asks for the rows in a thread of its own, one at a time
        with closing(sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)) as base:
            base.execute("BEGIN")  # one snapshot for all that is asked
            listed = base.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
            places = {name: quoted(name) for (name,) in listed if not name.startswith("sqlite_")}
            table = chosen_table(path, places, reading)
            types = {row[1]: row[2] for row in base.execute(f"PRAGMA table_xinfo({table})")}
            declared = {column: kind for column, text in types.items() if (kind := declared_type(text)) is not None}
            cursor = base.execute(f"SELECT * FROM {table}")
            return gather(store, [column[0] for column in cursor.description], cursor, declared)
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        if "decode" in str(error):
            raise BadInput(f"{path.name}: the table holds texts that are not UTF-8; mend them first") from None
        if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_NOTADB) == sqlite3.SQLITE_BUSY:
            raise BadInput(f"{path.name}: another program is writing to the database; try again later") from None
        raise BadInput(f"{path.name}: this is not an SQLite database") from None


def write(store: Store, query: str, part: Path, writing: Writing) -> None:
    """With the column types that SQLite's tools and `read` understand."""
    columns, table = store.types(query).items(), quoted(writing.table)
    declared = ", ".join(f"{quoted(name)} {_declared(kind)}" for name, kind in columns)
    cells = ", ".join(f"{_storable(quoted(name), kind)} AS c{j}" for j, (name, kind) in enumerate(columns))
    reader = store.connection.sql(f"SELECT {cells} FROM ({query})").to_arrow_reader(65_536)
    insert = f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})"
    with closing(sqlite3.connect(part)) as base, base:
        base.execute(f"CREATE TABLE {table} ({declared})")
        for batch in reader:
            base.executemany(insert, zip(*(column.to_pylist() for column in batch.columns), strict=True))


_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")


def _declared(kind: str) -> str:
    if kind in _INTEGERS:
        return "INTEGER"
    if kind in ("FLOAT", "DOUBLE"):
        return "REAL"
    if kind in ("BOOLEAN", "DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "BLOB"):
        return kind
    return kind if is_short_decimal(kind) else "TEXT"


def _storable(column: str, kind: str) -> str:
    """SQL for what SQLite can keep: whole numbers, floating-point numbers, text and bytes."""
    if kind in (*_INTEGERS, "DOUBLE", "BLOB", "VARCHAR"):
        return column
    if kind == "BOOLEAN":
        return f"CAST({column} AS INTEGER)"
    if kind == "FLOAT":
        return shortest(column)
    if kind == "TIMESTAMP WITH TIME ZONE":
        return f"CAST({column} AT TIME ZONE 'UTC' AS VARCHAR) || '+00:00'"
    return f"CAST({column} AS {'DOUBLE' if is_short_decimal(kind) else 'VARCHAR'})"


register(Format("sqlite", (".db", ".sqlite", ".sqlite3"), read, write, options=("table",), keeps_tables=True))
