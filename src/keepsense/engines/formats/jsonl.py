"""JSON lines: one object a row."""

from __future__ import annotations

from pathlib import Path

from keepsense.engines.duckdb_store import Store, literal, quoted, refused
from keepsense.engines.formats.column_types import faithful, shortest
from keepsense.engines.formats.table_formats import Format, register
from keepsense.engines.protocol import Reading, Writing
from keepsense.engines.text_encodings import encoding_of, readable, transcoded

_SPELLED = ("DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE")
# a column without values has a type of its own, and so have identifiers in hexadecimal: text to us
_TEXTS = (*_SPELLED, "TIME", "UUID", "JSON", "NULL", '"NULL"', "VARCHAR")


def read(store: Store, source: str, reading: Reading) -> str:
    """Every line is looked at before the columns and their types are settled; texts stay as they are spelled."""
    path = readable(source)
    utf8 = transcoded(path, encoding_of(path, reading.encoding), store.folder)
    lines = f"read_json({literal(str(utf8))}, format = 'newline_delimited', sample_size = -1"
    with refused(path, lines=True):
        types = store.types(f"FROM {lines})")
        columns = ", ".join(f"{literal(n)}: {literal('VARCHAR' if t in _TEXTS else t)}" for n, t in types.items())
        table = store.keep(f"{lines}, columns = {{{columns}}})")
    for name, kind in types.items():
        # positive and negative numbers together are taken for huge ones
        likely = _SPELLED if kind in _TEXTS else ("BIGINT",) if kind in ("HUGEINT", "UBIGINT") else ()
        fitting = next((other for other in likely if faithful(store, table, name, other)), None)
        if fitting is not None:
            store.run(f"ALTER TABLE {table} ALTER {quoted(name)} TYPE {fitting}")
    return table


def write(store: Store, query: str, part: Path, writing: Writing) -> None:
    """Numbers, truth values and lists as JSON has them."""
    store.run(f"COPY ({query}) TO {literal(str(part))} (FORMAT json)")


def spelled(column: str, kind: str) -> str:
    """A number in JSON is a floating-point one to most readers: a decimal keeps its digits as text only."""
    if kind.startswith("DECIMAL"):
        return f"CAST({column} AS VARCHAR)"
    return shortest(column) if kind == "FLOAT" else column


register(Format("jsonl", (".jsonl", ".ndjson"), read, write, options=("encoding",), spelled=spelled))
