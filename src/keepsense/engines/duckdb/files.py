"""Files and databases in and out of DuckDB. Text stays text: a postcode keeps its zeros, an age its spelling."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from keepsense.engines.base import Reading, Writing
from keepsense.engines.files import FORMULA, encoding_of, format_of, readable, transcoded
from keepsense.engines.formats import csv
from keepsense.errors import BadInput

if TYPE_CHECKING:
    from keepsense.engines.duckdb.engine import DuckDBEngine, DuckTable

_SPELLED = ("DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE")


def read(engine: DuckDBEngine, source: str, reading: Reading) -> DuckTable:
    """Open a file or a database table; rows go into DuckDB in a stream, whatever they come from."""
    kind = format_of(source, reading.format)
    if kind == "postgresql":
        from keepsense.engines.formats import postgresql

        if reading.table is None:
            raise BadInput("say which PostgreSQL table to read")
        with postgresql.opened(source, reading.table) as reader:
            return engine.from_arrow(reader)
    path = readable(source)
    if kind == "csv":
        return _guarded(engine, path, csv.relation(engine, path, reading))
    if kind == "parquet":
        from keepsense.engines.duckdb.engine import literal

        return _guarded(engine, path, f"read_parquet({literal(str(path))})")
    if kind == "excel":
        from keepsense.engines.formats import excel

        return excel.read(engine, path, reading)
    if kind == "sqlite":
        from keepsense.engines.formats import sqlite

        return sqlite.read(engine, path, reading)
    return {"jsonl": _jsonl, "arrow": _arrow, "duckdb": _duckdb}[kind](engine, path, reading)


def _guarded(engine: DuckDBEngine, path: Path, relation: str) -> DuckTable:
    """A numbered copy of what DuckDB reads; its complaints become ours, without the cells they quote."""
    from keepsense.engines.duckdb.engine import ROW, fresh

    name = fresh("source")
    with _refused(path):
        engine.connection.execute(
            f"CREATE TEMP TABLE {name} AS SELECT *, row_number() OVER () AS {ROW} FROM {relation}"
        )
    return engine.table(name)


@contextmanager
def _refused(path: Path) -> Iterator[None]:
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        text = str(error)
        where = re.search(r"[Ll]ine:? (\d+)", text)
        at = f" near line {int(where[1]):,}" if where else ""
        if format_of(path.name) not in ("csv", "jsonl"):
            raise BadInput(f"{path.name}: the file cannot be read; it is damaged, or not what its name says") from None
        cells = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", text)
        if cells:
            raise BadInput(
                f"{path.name}: a row{at} has {cells[2]} cells, but the header has {cells[1]}; mend it, or give the "
                "right delimiter and quotes"
            ) from None
        raise BadInput(
            f"{path.name}: the file cannot be read{at}; check its delimiter, quotes and encoding, or give them"
        ) from None


def _jsonl(engine: DuckDBEngine, path: Path, reading: Reading) -> DuckTable:
    """Every line is looked at before the columns and their types are settled; texts stay as they are spelled."""
    from keepsense.engines.duckdb.engine import literal, quoted
    from keepsense.engines.formats._cells import faithful

    utf8 = transcoded(path, encoding_of(path, reading.encoding), engine.folder)
    lines = f"read_json({literal(str(utf8))}, format = 'newline_delimited', sample_size = -1"
    with _refused(path):
        types = {name: str(kind) for name, kind, *_ in engine.connection.sql(f"DESCRIBE FROM {lines})").fetchall()}
    # a column without values has a type of its own, and so have identifiers in hexadecimal: text to us
    text = (*_SPELLED, "TIME", "UUID", "JSON", "NULL", '"NULL"', "VARCHAR")
    columns = ", ".join(f"{literal(n)}: {literal('VARCHAR' if t in text else t)}" for n, t in types.items())
    table = _guarded(engine, path, f"{lines}, columns = {{{columns}}})")
    for name, kind in types.items():
        # positive and negative numbers together are taken for huge ones
        likely = _SPELLED if kind in text else ("BIGINT",) if kind in ("HUGEINT", "UBIGINT") else ()
        fitting = next((other for other in likely if faithful(table, name, other)), None)
        if fitting is not None:
            engine.connection.execute(f"ALTER TABLE {table.name} ALTER {quoted(name)} TYPE {fitting}")
    return engine.table(table.name)


def _arrow(engine: DuckDBEngine, path: Path, reading: Reading) -> DuckTable:
    """An Arrow file, mapped into memory, or an Arrow stream: a batch at a time."""
    import pyarrow as pa

    try:
        with pa.memory_map(str(path)) as file:
            try:
                batches = pa.ipc.open_file(file)
            except pa.ArrowInvalid:
                file.seek(0)
                return engine.from_arrow(pa.ipc.open_stream(file))
            each = (batches.get_batch(i) for i in range(batches.num_record_batches))
            return engine.from_arrow(pa.RecordBatchReader.from_batches(batches.schema, each))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError):
        raise BadInput(f"{path.name}: this is not an Arrow file") from None


def _duckdb(engine: DuckDBEngine, path: Path, reading: Reading) -> DuckTable:
    """A table or view of another DuckDB database, which is attached for as long as that takes."""
    import duckdb

    from keepsense.engines.duckdb.engine import fresh, literal, quoted

    other = fresh("base")
    try:
        engine.connection.execute(f"ATTACH {literal(str(path))} AS {other} (TYPE duckdb, READ_ONLY)")
    except duckdb.Error:
        raise BadInput(f"{path.name}: this is not a DuckDB database, or another program holds it open") from None
    try:
        listed = engine.connection.execute(
            "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = ? ORDER BY 1, 2",
            [other],
        ).fetchall()
        places = {name if schema == "main" else f"{schema}.{name}": (schema, name) for schema, name in listed}
        schema, name = places[chosen_table(path, sorted(places), reading)]
        return _guarded(engine, path, f"{other}.{quoted(schema)}.{quoted(name)}")
    finally:
        engine.connection.execute(f"DETACH {other}")


def chosen_table(path: Path, names: list[str], reading: Reading) -> str:
    """The table asked for, or the only one there is."""
    if reading.table is not None:
        if reading.table in names:
            return reading.table
        raise BadInput(f"{path.name}: there is no table {reading.table!r}; it has {', '.join(names) or 'none'}")
    if len(names) == 1:
        return names[0]
    raise BadInput(f"{path.name}: say which table to read; it has {', '.join(names) or 'none'}")


def write(
    engine: DuckDBEngine, table: DuckTable, part: str, target: str, writing: Writing, rng: np.random.Generator
) -> None:
    """Write to `part`, in the format that `target` or the caller names; no row number leaves the engine."""
    from keepsense.engines.duckdb.engine import literal, quoted

    kind = format_of(target, writing.format)
    sql = query(table, kind, writing, rng)
    if kind == "csv":
        options = f"FORMAT csv, HEADER true, DELIMITER {literal(writing.delimiter)}"
        if target.endswith(".gz"):
            options += ", COMPRESSION gzip"
        engine.connection.execute(f"COPY ({sql}) TO {literal(part)} ({options})")
    elif kind == "parquet":
        engine.connection.execute(f"COPY ({sql}) TO {literal(part)} (FORMAT parquet)")
    elif kind == "jsonl":
        engine.connection.execute(f"COPY ({sql}) TO {literal(part)} (FORMAT json)")
    elif kind == "arrow":
        import pyarrow as pa

        reader = engine.connection.sql(sql).to_arrow_reader(65_536)
        with pa.OSFile(part, "wb") as sink, pa.ipc.new_file(sink, reader.schema) as out:
            for batch in reader:
                out.write_batch(batch)
    elif kind == "duckdb":
        from keepsense.engines.duckdb.engine import fresh

        other = fresh("base")
        engine.connection.execute(f"ATTACH {literal(part)} AS {other} (TYPE duckdb)")
        try:
            engine.connection.execute(f"CREATE TABLE {other}.{quoted(writing.table)} AS {sql}")
        finally:
            engine.connection.execute(f"DETACH {other}")
    elif kind == "sqlite":
        from keepsense.engines.formats import sqlite

        sqlite.write(engine, sql, part, writing.table)
    else:
        from keepsense.engines.formats import excel

        excel.write(engine, sql, part, writing.table)


def query(table: DuckTable, kind: str, writing: Writing, rng: np.random.Generator) -> str:
    """SQL for the rows as they are released: in order or shuffled, defused for spreadsheets, without row numbers."""
    from keepsense.engines.duckdb.engine import ROW
    from keepsense.engines.duckdb.recode import _shuffled

    order = _shuffled(ROW, rng) if writing.shuffle else ROW
    return f"SELECT {', '.join(cells(table, kind, writing))} FROM {table.name} ORDER BY {order}"


def cells(table: DuckTable, kind: str, writing: Writing) -> list[str]:
    """SQL for each column as a format writes it."""
    from keepsense.engines.duckdb.engine import quoted
    from keepsense.engines.formats.sqlite import shortest

    safe = writing.spreadsheet_safe and kind in ("csv", "excel")
    chosen = []
    for name, type_name in zip(table.columns, table.types, strict=True):
        if safe and type_name.upper() in ("VARCHAR", "TEXT"):
            chosen.append(_defused(quoted(name)))
        elif kind == "jsonl" and type_name.upper().startswith("DECIMAL"):
            # a number in JSON is a floating-point one to most readers; as text no digit is lost
            chosen.append(f"CAST({quoted(name)} AS VARCHAR) AS {quoted(name)}")
        elif kind == "jsonl" and type_name.upper() == "FLOAT":
            chosen.append(f"{shortest(quoted(name))} AS {quoted(name)}")
        elif kind == "postgresql" and type_name.upper().startswith(("STRUCT", "MAP", "UNION", "INTERVAL")):
            chosen.append(f"CAST({quoted(name)} AS VARCHAR) AS {quoted(name)}")
        else:
            chosen.append(quoted(name))
    return chosen


def _defused(column: str) -> str:
    """An apostrophe before what a spreadsheet would run; plain numbers such as -3 are left alone."""
    return f"CASE WHEN {risky(column)} THEN '''' || {column} ELSE {column} END AS {column}"


def risky(column: str) -> str:
    """SQL that is true where a spreadsheet would run the text."""
    from keepsense.engines.duckdb.engine import literal

    starts = f"strpos({literal(FORMULA)}, left({column}, 1)) > 0"
    return f"{column} <> '' AND {starts} AND TRY_CAST({column} AS DOUBLE) IS NULL"
