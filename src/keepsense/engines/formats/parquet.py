"""Parquet files, which DuckDB reads and writes by itself."""

from __future__ import annotations

from pathlib import Path

from keepsense.engines.base import Reading, Writing
from keepsense.engines.files import readable
from keepsense.engines.formats import Format, register
from keepsense.engines.store import Store, literal, refused


def read(store: Store, source: str, reading: Reading) -> str:
    """All columns with their types."""
    path = readable(source)
    with refused(path):
        return store.keep(as_it_stands(source, reading))


def write(store: Store, query: str, part: Path, writing: Writing) -> None:
    """Every type is kept."""
    store.run(f"COPY ({query}) TO {literal(str(part))} (FORMAT parquet)")


def as_it_stands(source: str, reading: Reading) -> str:
    """SQL that reads the file."""
    return f"read_parquet({literal(source)})"


register(Format("parquet", (".parquet", ".pq"), read, write, as_it_stands=as_it_stands))
