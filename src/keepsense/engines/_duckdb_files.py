"""Files and databases in and out of DuckDB. Text stays text: a postcode keeps its zeros, an age its spelling."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from keepsense.engines.base import Reading, Writing
from keepsense.engines.files import encoding_of, format_of, readable, transcoded
from keepsense.errors import BadInput, MissingExtra

if TYPE_CHECKING:
    from keepsense.engines.duckdb import DuckDBEngine, DuckTable

_FORMULA = "=+-@\t\r"


def read(engine: DuckDBEngine, source: str, reading: Reading) -> DuckTable:
    """Open a file or a database table."""
    kind = format_of(source, reading.format)
    if kind == "postgresql":
        return engine.from_arrow(_postgresql(source, reading))
    path = readable(source)
    if kind == "csv":
        return _guarded(engine, path, _csv(engine, path, reading))
    if kind == "parquet":
        from keepsense.engines.duckdb import literal

        return _guarded(engine, path, f"read_parquet({literal(str(path))})")
    if kind == "jsonl":
        from keepsense.engines.duckdb import literal

        utf8 = transcoded(path, encoding_of(path, reading.encoding), engine.folder)
        return _guarded(engine, path, f"read_json({literal(str(utf8))}, format = 'newline_delimited')")
    load = {"arrow": _arrow, "excel": _excel, "duckdb": _duckdb, "sqlite": _sqlite}[kind]
    return engine.from_arrow(load(path, reading))


def _guarded(engine: DuckDBEngine, path: Path, relation: str) -> DuckTable:
    """A numbered copy of what DuckDB reads; its complaints become ours, without the cells they quote."""
    import duckdb

    from keepsense.engines.duckdb import ROW, fresh

    name = fresh("source")
    sql = f"CREATE TEMP TABLE {name} AS SELECT *, row_number() OVER () AS {ROW} FROM {relation}"
    try:
        engine.connection.execute(sql)
    except duckdb.Error as error:
        line = next((part for part in str(error).splitlines() if "Line:" in part or "line" in part.lower()), "")
        where = "".join(c for c in line if c.isdigit())[:12]
        at = f" near line {int(where):,}" if where else ""
        raise BadInput(
            f"{path.name}: the file cannot be read{at}; check its delimiter, quotes and encoding, or give them"
        ) from None
    return engine.table(name)


def _csv(engine: DuckDBEngine, path: Path, reading: Reading) -> str:
    from keepsense.engines.duckdb import literal

    utf8 = path if path.suffix == ".gz" else transcoded(path, encoding_of(path, reading.encoding), engine.folder)
    options = ["all_varchar = true", "sample_size = 20480", "null_padding = false", "store_rejects = false"]
    options.append(f"header = {'false' if reading.header is False else 'true'}")
    if reading.delimiter is not None:
        options.append(f"delim = {literal(reading.delimiter)}")
    if reading.quote is not None:
        options.append(f"quote = {literal(reading.quote)}")
    return f"read_csv({literal(str(utf8))}, {', '.join(options)})"


def _arrow(path: Path, reading: Reading) -> Any:
    import pyarrow as pa
    import pyarrow.feather as feather

    try:
        return feather.read_table(path)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise BadInput(f"{path.name}: this is not an Arrow file") from None


def _excel(path: Path, reading: Reading) -> Any:
    import pyarrow as pa

    try:
        import openpyxl
    except ImportError:
        raise MissingExtra(f"{path.name}: reading Excel needs openpyxl; install keepsense[excel]") from None
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except Exception as error:
        raise BadInput(f"{path.name}: this is not an Excel workbook ({type(error).__name__})") from None
    if reading.table is not None and reading.table not in book.sheetnames:
        raise BadInput(f"{path.name}: there is no sheet {reading.table!r}; it has {', '.join(book.sheetnames)}")
    sheet = book[reading.table] if reading.table else book.worksheets[0]
    rows = sheet.iter_rows(values_only=True)
    header = [str(cell) for cell in next(rows, ()) if cell is not None]
    if not header or len(set(header)) != len(header):
        raise BadInput(f"{path.name}: the first row of the sheet must hold different column names")
    columns: list[list[Any]] = [[] for _ in header]
    for row in rows:
        if any(cell is not None for cell in row):
            for j in range(len(header)):
                columns[j].append(row[j] if j < len(row) else None)
    book.close()
    return pa.table({name: _one_type(cells) for name, cells in zip(header, columns, strict=True)})


def _one_type(cells: list[Any]) -> Any:
    import pyarrow as pa

    try:
        return pa.array(cells)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if cell is None else str(cell) for cell in cells])


def _sqlite(path: Path, reading: Reading) -> Any:
    import sqlite3
    from contextlib import closing

    import pyarrow as pa

    from keepsense.engines.duckdb import quoted

    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as base:
            listed = base.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
            name = _chosen(path, [row[0] for row in listed], reading)
            cursor = base.execute(f"SELECT * FROM {quoted(name)}")
            header = [column[0] for column in cursor.description]
            cells = list(zip(*cursor.fetchall(), strict=True)) or [()] * len(header)
    except sqlite3.DatabaseError:
        raise BadInput(f"{path.name}: this is not an SQLite database") from None
    return pa.table({column: _one_type(list(c)) for column, c in zip(header, cells, strict=True)})


def _duckdb(path: Path, reading: Reading) -> Any:
    import duckdb

    from keepsense.engines.duckdb import quoted

    try:
        with duckdb.connect(str(path), read_only=True) as base:
            names = [row[0] for row in base.sql("SELECT table_name FROM information_schema.tables").fetchall()]
            return base.sql(f"SELECT * FROM {quoted(_chosen(path, sorted(names), reading))}").to_arrow_table()
    except duckdb.Error:
        raise BadInput(f"{path.name}: this is not a DuckDB database, or another program holds it open") from None


def _chosen(path: Path, names: list[str], reading: Reading) -> str:
    if reading.table is not None:
        if reading.table in names:
            return reading.table
        raise BadInput(f"{path.name}: there is no table {reading.table!r}; it has {', '.join(names) or 'none'}")
    if len(names) == 1:
        return names[0]
    raise BadInput(f"{path.name}: say which table to read; it has {', '.join(names) or 'none'}")


def _postgresql(source: str, reading: Reading) -> Any:
    import pyarrow as pa

    try:
        import psycopg
        from psycopg import sql
    except ImportError:
        raise MissingExtra("reading PostgreSQL needs psycopg; install keepsense[postgresql]") from None
    if reading.table is None:
        raise BadInput("say which PostgreSQL table to read")
    try:
        with psycopg.connect(source) as base, base.cursor() as cursor:
            cursor.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(*reading.table.split("."))))
            header = [column.name for column in cursor.description or ()]
            cells = list(zip(*cursor.fetchall(), strict=True)) or [()] * len(header)
    except psycopg.Error as error:
        raise BadInput(f"PostgreSQL: the table cannot be read ({type(error).__name__})") from None
    return pa.table({column: _one_type(list(c)) for column, c in zip(header, cells, strict=True)})


def write(
    engine: DuckDBEngine, table: DuckTable, part: str, target: str, writing: Writing, rng: np.random.Generator
) -> None:
    """Write to `part`, in the format that `target` or the caller names; no row number leaves the engine."""
    from keepsense.engines._duckdb_recode import _shuffled
    from keepsense.engines.duckdb import ROW, literal, quoted

    kind = format_of(target, writing.format)
    safe = writing.spreadsheet_safe and kind in ("csv", "excel")
    chosen = [
        _defused(quoted(c)) if safe and t.upper() in ("VARCHAR", "TEXT") else quoted(c)
        for c, t in zip(table.columns, table.types, strict=True)
    ]
    order = _shuffled(ROW, rng) if writing.shuffle else ROW
    sql = f"SELECT {', '.join(chosen)} FROM {table.name} ORDER BY {order}"
    if kind == "csv":
        options = f"FORMAT csv, HEADER true, DELIMITER {literal(writing.delimiter)}"
        engine.connection.execute(f"COPY ({sql}) TO {literal(part)} ({options})")
    elif kind == "parquet":
        engine.connection.execute(f"COPY ({sql}) TO {literal(part)} (FORMAT parquet)")
    elif kind == "jsonl":
        engine.connection.execute(f"COPY ({sql}) TO {literal(part)} (FORMAT json)")
    else:
        _write_elsewhere(engine, sql, kind, part, writing)


def _defused(column: str) -> str:
    """An apostrophe before what a spreadsheet would run; plain numbers such as -3 are left alone."""
    return f"CASE WHEN {risky(column)} THEN '''' || {column} ELSE {column} END AS {column}"


def risky(column: str) -> str:
    """SQL that is true where a spreadsheet would run the text."""
    from keepsense.engines.duckdb import literal

    starts = f"strpos({literal(_FORMULA)}, left({column}, 1)) > 0"
    return f"{column} <> '' AND {starts} AND TRY_CAST({column} AS DOUBLE) IS NULL"


def _write_elsewhere(engine: DuckDBEngine, sql: str, kind: str, part: str, writing: Writing) -> None:
    reader = engine.connection.sql(sql).to_arrow_reader(65_536)
    if kind == "arrow":
        import pyarrow as pa

        with pa.OSFile(part, "wb") as sink, pa.ipc.new_file(sink, reader.schema) as out:
            for batch in reader:
                out.write_batch(batch)
    elif kind == "excel":
        _write_excel(reader, part, writing)
    elif kind == "duckdb":
        import duckdb

        from keepsense.engines.duckdb import quoted

        with duckdb.connect(part) as base:
            base.register("arriving", reader)
            base.execute(f"CREATE TABLE {quoted(writing.table)} AS SELECT * FROM arriving")
    elif kind == "sqlite":
        _write_sqlite(reader, part, writing)
    else:
        raise BadInput(f"releases are not written to {kind}; write a file and load it there")


def _write_excel(reader: Any, part: str, writing: Writing) -> None:
    try:
        from openpyxl import Workbook
    except ImportError:
        raise MissingExtra("writing Excel needs openpyxl; install keepsense[excel]") from None
    book = Workbook(write_only=True)
    sheet = book.create_sheet(writing.table[:31])
    sheet.append(reader.schema.names)
    rows = 0
    for batch in reader:
        rows += batch.num_rows
        if rows > 1_048_575:
            raise BadInput("a worksheet holds at most 1,048,575 rows; write CSV or Parquet")
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            sheet.append(["; ".join(map(str, c)) if isinstance(c, list) else c for c in row])
    with Path(part).open("wb") as file:
        book.save(file)


def _write_sqlite(reader: Any, part: str, writing: Writing) -> None:
    import sqlite3
    from contextlib import closing

    from keepsense.engines.duckdb import quoted

    names = ", ".join(map(quoted, reader.schema.names))
    holes = ", ".join("?" * len(reader.schema.names))
    with closing(sqlite3.connect(part)) as base, base:
        base.execute(f"CREATE TABLE {quoted(writing.table)} ({names})")
        for batch in reader:
            rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
            insert = f"INSERT INTO {quoted(writing.table)} VALUES ({holes})"
            base.executemany(insert, ([_sqlite_cell(c) for c in row] for row in rows))


def _sqlite_cell(cell: Any) -> Any:
    return cell if cell is None or isinstance(cell, int | float | str | bytes) else str(cell)
