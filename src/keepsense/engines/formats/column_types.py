"""Types of cells and columns: rows with a type for each cell are streamed in, and typed where all cells agree."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from keepsense.engines.duckdb_store import ROW, Store, quoted
from keepsense.errors import BadInput

_CHUNK = 16_384
_WHOLE = 2**53
_TYPES: dict[type, str] = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE", str: "VARCHAR", bytes: "BLOB"}
_TYPES |= {dt.date: "DATE", dt.datetime: "TIMESTAMP", dt.time: "TIME"}


def gather(
    store: Store, names: Sequence[str], rows: Iterable[Sequence[Any]], declared: Mapping[str, str] | None = None
) -> str:
    """Take in rows one chunk at a time; a column gets the type its cells have, or text where they differ.

    `declared` are types a column gets if every cell of it can be read so without a loss: such as dates in SQLite,
    which keeps them as text.
    """
    import pyarrow as pa

    seen: list[set[str]] = [set() for _ in names]

    def batches() -> Iterator[Any]:
        waiting = iter(rows)
        while chunk := list(islice(waiting, _CHUNK)):
            columns = [_as_text(cells, kinds) for cells, kinds in zip(zip(*chunk, strict=True), seen, strict=True)]
            yield pa.record_batch(columns, names=list(names))

    schema = pa.schema([(name, pa.string()) for name in names])
    texts = store.keep_arrow(pa.RecordBatchReader.from_batches(schema, batches()))
    types = [_type(store, texts, n, kinds, (declared or {}).get(n)) for n, kinds in zip(names, seen, strict=True)]
    if set(types) == {"VARCHAR"}:
        return texts
    cast = [f"CAST({quoted(name)} AS {kind}) AS {quoted(name)}" for name, kind in zip(names, types, strict=True)]
    typed = store.keep(texts, ", ".join([*cast, ROW]))
    store.run(f"DROP TABLE {texts}")
    return typed


def _as_text(cells: Sequence[Any], kinds: set[str]) -> Any:
    """Cells as text that casts back to what they are; the types found are added to `kinds`."""
    import pyarrow as pa

    classes = {type(cell) for cell in cells} - {type(None)}
    kinds |= {_TYPES.get(kind, "VARCHAR") for kind in classes}
    if int in classes:
        numbers = [cell for cell in cells if type(cell) is int]
        least, most = min(numbers), max(numbers)
        if least < -_WHOLE or most > _WHOLE:
            kinds.add("LONG" if least >= -(2**63) and most < 2**63 else "HUGE")
    if classes <= {str}:
        return pa.array(cells, pa.string())
    if bytes in classes:
        return pa.array([_spelled(cell) for cell in cells], pa.string())
    return pa.array([None if cell is None else str(cell) for cell in cells], pa.string())


def _spelled(cell: Any) -> str | None:
    if isinstance(cell, bytes):
        return "".join(f"\\x{byte:02X}" for byte in cell)
    return None if cell is None else str(cell)


def _type(store: Store, table: str, name: str, kinds: set[str], declared: str | None) -> str:
    """The one type of a column's cells, or VARCHAR."""
    if not kinds:
        return declared or "VARCHAR"
    likely = declared is not None and declared not in kinds and _may_be(kinds, declared)
    return str(declared) if likely and _fits(store, table, name, str(declared)) else _plain(kinds)


def _plain(kinds: set[str]) -> str:
    if "HUGE" in kinds:
        return "VARCHAR"
    if kinds <= {"BIGINT", "LONG"}:
        return "BIGINT"
    if kinds == {"BIGINT", "DOUBLE"}:
        return "DOUBLE"
    if kinds == {"DATE", "TIMESTAMP"}:
        return "TIMESTAMP"
    return next(iter(kinds)) if len(kinds) == 1 else "VARCHAR"


def _may_be(kinds: set[str], declared: str) -> bool:
    if declared == "BOOLEAN":
        return kinds == {"BIGINT"}
    if declared == "DOUBLE" or declared.startswith("DECIMAL"):
        return kinds <= {"BIGINT", "DOUBLE"}
    return kinds == {"VARCHAR"} and declared in ("DATE", "TIMESTAMP", "TIMESTAMPTZ", "TIME")


def _fits(store: Store, table: str, name: str, kind: str) -> bool:
    cell = quoted(name)
    if kind == "DOUBLE":
        return True
    if kind == "BOOLEAN":
        wrong = f"{cell} NOT IN ('0', '1')"
    elif kind.startswith("DECIMAL"):
        wrong = f"CAST(TRY_CAST({cell} AS {kind}) AS DOUBLE) IS DISTINCT FROM CAST({cell} AS DOUBLE)"
    elif kind == "TIMESTAMPTZ":
        wrong = f"NOT regexp_full_match({cell}, '.*[+-]\\d\\d(:\\d\\d)?') OR TRY_CAST({cell} AS {kind}) IS NULL"
    else:
        return faithful(store, table, name, kind)
    return not store.run(f"SELECT 1 FROM {table} WHERE {cell} IS NOT NULL AND ({wrong}) LIMIT 1")


def faithful(store: Store, table: str, name: str, kind: str) -> bool:
    """Whether a column has values and each is spelled as that type spells itself: nothing changes by the cast."""
    cell = quoted(name)
    wrong = f"CAST(TRY_CAST({cell} AS {kind}) AS VARCHAR) IS DISTINCT FROM CAST({cell} AS VARCHAR)"
    values = f"SELECT 1 FROM {table} WHERE {cell} IS NOT NULL"
    return bool(store.run(f"{values} LIMIT 1")) and not store.run(f"{values} AND {wrong} LIMIT 1")


def declared_type(words: str) -> str | None:
    """What a declared SQL type promises beyond what a cell says by itself.

    >>> declared_type("boolean"), declared_type("DECIMAL(7, 2)"), declared_type("varchar(20)")
    ('BOOLEAN', 'DECIMAL(7, 2)', None)
    """
    word = words.strip().upper()
    exact = re.fullmatch(r"(?:DECIMAL|NUMERIC)\s*\(\s*(\d+)\s*,\s*(\d+)\s*\)", word)
    if exact is not None:
        digits, places = map(int, exact.groups())
        # SQLite keeps such numbers as floating-point ones, which are exact up to 15 digits
        return f"DECIMAL({digits}, {places})" if places <= digits <= 15 else None
    if word.startswith("BOOL"):
        return "BOOLEAN"
    if word in ("TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE"):
        return "TIMESTAMPTZ"
    if word.startswith(("DATETIME", "TIMESTAMP")):
        return "TIMESTAMP"
    if "INT" in word:
        return "BIGINT"
    if any(part in word for part in ("REAL", "FLOA", "DOUB")):
        return "DOUBLE"
    return word if word in ("DATE", "TIME") else None


def named(where: str, header: Sequence[Any]) -> list[str]:
    """Column names, all there and all different."""
    names = ["" if cell is None else str(cell) for cell in header]
    if not names or "" in names or len({name.lower() for name in names}) != len(names):
        raise BadInput(f"{where}: the first row of the sheet must hold different column names")
    return names


def shortest(column: str) -> str:
    """SQL for a single-precision number as the double that reads the same."""
    return f"CAST(CAST({column} AS VARCHAR) AS DOUBLE)"


def is_short_decimal(kind: str) -> bool:
    """Whether a decimal type has so few digits that a floating-point number keeps them all."""
    return kind.startswith("DECIMAL") and declared_type(kind) is not None


# Types that DuckDB changes on the way: columns that are not recoded get back the type of the source


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
