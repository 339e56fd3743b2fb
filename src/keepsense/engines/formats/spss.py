"""SPSS files (.sav, compressed .zsav), with value labels as words."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from keepsense.engines.duckdb_store import Store
from keepsense.engines.formats.statistics_files import declared_by, labels_of, needed, read_apart, write_labelled
from keepsense.engines.formats.table_formats import Declared, Format, register
from keepsense.engines.protocol import Reading, Writing


def read(store: Store, source: str, reading: Reading) -> str:
    """All variables; what the file declares as missing is missing."""
    needed("pyreadstat", "statistics", "reading SPSS files")
    return read_apart(store, source, "spss", "an SPSS file")


def declared(source: str, reading: Reading) -> Mapping[str, Declared]:
    """Labels of variables, and the order of those that are ordinal."""
    return declared_by(labels_of(source, "spss", "an SPSS file"))


def write(store: Store, query: str, part: Path, writing: Writing) -> None:
    """With the labels of the source, where that is an SPSS file, too."""
    needed("pyreadstat", "statistics", "writing SPSS files")
    write_labelled(store, query, part, writing, "spss")


register(Format("spss", (".sav", ".zsav"), read, write, extra="statistics", declared=declared))
