"""Stata files (.dta), with value labels as words."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from keepsense.engines.duckdb_store import Store
from keepsense.engines.formats.statistics_files import declared_by, labels_of, needed, read_apart, write_labelled
from keepsense.engines.formats.table_formats import Declared, Format, register
from keepsense.engines.protocol import Reading, Writing


def read(store: Store, source: str, reading: Reading) -> str:
    """All variables; every missing value, .a to .z included, is missing."""
    needed("pyreadstat", "statistics", "reading Stata files")
    return read_apart(store, source, "stata", "a Stata file")


def declared(source: str, reading: Reading) -> Mapping[str, Declared]:
    """Labels of variables."""
    return declared_by(labels_of(source, "stata", "a Stata file"))


def write(store: Store, query: str, part: Path, writing: Writing) -> None:
    """With the labels of the source, where that is a Stata file, too."""
    needed("pyreadstat", "statistics", "writing Stata files")
    write_labelled(store, query, part, writing, "stata")


register(Format("stata", (".dta",), read, write, extra="statistics", declared=declared))
