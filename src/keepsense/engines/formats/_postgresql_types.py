"""Columns of PostgreSQL as Arrow columns and back: how each is asked for, which type it gets, how it is copied in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_NUMERIC = 1700
_SCALARS = {16: "bool_", 21: "int16", 23: "int32", 20: "int64", 26: "int64", 700: "float32", 701: "float64"}
_SCALARS |= {1082: "date32", 25: "string", 1043: "string", 17: "binary"}
_ARRAYS = {1000: "bool_", 1005: "int16", 1007: "int32", 1016: "int64", 1021: "float32", 1022: "float64"}


@dataclass(frozen=True)
class Incoming:
    """A column on its way out of PostgreSQL: its name, the Arrow type it gets, and the type to ask the server for."""

    name: str
    type: Any
    cast: str | None = None


def incoming(base: Any, relation: Any) -> list[Incoming]:
    """How the columns of a table or view are read; what Arrow has no type for arrives as the text the server gives."""
    import pyarrow as pa
    from psycopg import sql

    described = base.execute(sql.SQL("SELECT * FROM {} LIMIT 0").format(relation)).description or ()
    codes = [column.type_code for column in described]
    listed = base.execute("SELECT oid::bigint FROM pg_type WHERE typcategory = 'A' AND oid = ANY(%s)", [codes])
    arrays = {row[0] for row in listed.fetchall()}
    decimals = _decimals(base, relation, [column for column in described if column.type_code == _NUMERIC])
    types = {code: (getattr(pa, name)(), None) for code, name in _SCALARS.items()}
    types |= {1114: (pa.timestamp("us"), None), 1184: (pa.timestamp("us", tz="UTC"), None)}
    types |= {code: (pa.list_(pa.string()), "text[]") for code in arrays}
    types |= {code: (pa.list_(getattr(pa, name)()), None) for code, name in _ARRAYS.items()}
    text = pa.string(), "text"
    return [Incoming(c.name, *decimals.get(c.name, types.get(c.type_code, text))) for c in described]


def _decimals(base: Any, relation: Any, columns: Sequence[Any]) -> dict[str, tuple[Any, str | None]]:
    """Decimals where their digits fit one Arrow type, looked up in the data where none are declared; else doubles."""
    import pyarrow as pa
    from psycopg import sql

    if not columns:
        return {}
    measure = sql.SQL(
        "max(scale({0})), max(length(trunc(abs({0}))::text)),"
        " coalesce(bool_or({0}::text IN ('NaN', 'Infinity', '-Infinity')), false)"
    )
    digits = sql.SQL(", ").join(measure.format(sql.Identifier(column.name)) for column in columns)
    measured = base.execute(sql.SQL("SELECT {} FROM {}").format(digits, relation)).fetchone()
    types: dict[str, tuple[Any, str | None]] = {}
    for j, column in enumerate(columns):
        scale, whole, no_number = measured[3 * j : 3 * j + 3]
        declared, places = column.precision, column.scale
        if not no_number and declared is not None and places is not None and 0 <= places <= declared <= 38:
            types[column.name] = pa.decimal128(declared, places), None
        elif not no_number and (scale or 0) + (whole or 1) <= 38:
            types[column.name] = pa.decimal128(18 if (scale or 0) + (whole or 1) <= 18 else 38, scale or 0), None
        else:
            types[column.name] = pa.float64(), "double precision"
    return types


def sql_type(kind: Any) -> str:
    """The PostgreSQL type that carries an Arrow type.

    >>> import pyarrow as pa
    >>> sql_type(pa.int32()), sql_type(pa.list_(pa.string())), sql_type(pa.decimal128(9, 2))
    ('integer', 'text[]', 'numeric(9, 2)')
    """
    import pyarrow.types as t

    if t.is_dictionary(kind):
        return sql_type(kind.value_type)
    if _is_list(kind):
        inner = sql_type(kind.value_type)
        return "text[]" if inner.endswith("[]") else f"{inner}[]"
    if t.is_integer(kind):
        if t.is_unsigned_integer(kind):
            return {8: "smallint", 16: "integer", 32: "bigint"}.get(kind.bit_width, "numeric(20, 0)")
        return {8: "smallint", 16: "smallint", 32: "integer"}.get(kind.bit_width, "bigint")
    if t.is_decimal(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    if t.is_timestamp(kind):
        return "timestamp with time zone" if kind.tz else "timestamp"
    for known, name in (
        (t.is_boolean, "boolean"),
        (t.is_float64, "double precision"),
        (t.is_floating, "real"),
        (t.is_date, "date"),
        (t.is_time, "time"),
        (_is_bytes, "bytea"),
    ):
        if known(kind):
            return name
    return "text"


def as_csv(batch: Any) -> bytes:
    """A record batch as COPY reads it: text in quotes, so that an empty text is not a missing one."""
    import pyarrow as pa
    import pyarrow.csv as csv

    columns = [_cells(column) for column in batch.columns]
    sink = pa.BufferOutputStream()
    plain = pa.record_batch(columns, names=[f"c{j}" for j in range(len(columns))])
    csv.write_csv(plain, sink, csv.WriteOptions(include_header=False))
    return bytes(sink.getvalue().to_pybytes())


def _cells(column: Any) -> Any:
    """A column that Arrow can write as CSV."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as t

    kind = column.type
    if t.is_dictionary(kind):
        return _cells(column.dictionary_decode())
    if _is_list(kind):
        return _array_literals(column)
    if t.is_timestamp(kind):
        return column.cast(pa.timestamp("us", tz=kind.tz and "UTC"), safe=False)
    if t.is_boolean(kind) or t.is_integer(kind) or t.is_floating(kind) or t.is_date(kind) or t.is_string(kind):
        return column
    if _is_bytes(kind):
        return pa.array([None if cell is None else f"\\x{cell.hex()}" for cell in column.to_pylist()], pa.string())
    try:
        return pc.cast(column, pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.array([None if cell is None else str(cell) for cell in column.to_pylist()], pa.string())


def _array_literals(column: Any) -> Any:
    """Lists as PostgreSQL spells arrays: every element in quotes, missing ones as NULL."""
    import pyarrow as pa
    import pyarrow.compute as pc

    inner = column.flatten()
    text = inner if pa.types.is_string(inner.type) else pc.cast(_cells(inner), pa.string())
    escaped = pc.replace_substring(pc.replace_substring(text, "\\", "\\\\"), '"', '\\"')
    spelled = pc.fill_null(pc.binary_join_element_wise('"', escaped, '"', ""), "NULL")
    lengths = pc.fill_null(pc.list_value_length(column), 0).cast(pa.int64())
    ends = pc.cumulative_sum(lengths)
    offsets = pa.concat_arrays([pa.array([0], pa.int64()), ends])
    joined = pc.binary_join(pa.LargeListArray.from_arrays(offsets, spelled), ",")
    arrays = pc.binary_join_element_wise("{", joined, "}", "")
    return pc.if_else(column.is_valid(), arrays, pa.scalar(None, pa.string()))


def _is_list(kind: Any) -> bool:
    import pyarrow.types as t

    return bool(t.is_list(kind) or t.is_large_list(kind) or t.is_fixed_size_list(kind))


def _is_bytes(kind: Any) -> bool:
    import pyarrow.types as t

    return bool(t.is_binary(kind) or t.is_large_binary(kind) or t.is_fixed_size_binary(kind))
