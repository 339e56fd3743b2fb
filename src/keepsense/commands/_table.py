"""The distinct values of a column of a file, counted by DuckDB without reading the file into memory."""

from __future__ import annotations

import re
from pathlib import Path

from keepsense.errors import BadInput, did_you_mean

_READERS = {
    ".csv": "read_csv(?, header = true, all_varchar = true)",
    ".tsv": "read_csv(?, header = true, all_varchar = true)",
    ".txt": "read_csv(?, header = true, all_varchar = true)",
    ".parquet": "read_parquet(?)",
}


def count_values(path: Path, column: str, separator: str | None = None) -> dict[str, int]:
    """How many rows hold each value of a column, most frequent first; missing cells are left out.

    With a separator, cells are sets of values, and each value of a cell counts.
    """
    import duckdb

    source = _readable(path)
    with duckdb.connect() as engine:
        try:
            names = [str(row[0]) for row in engine.execute(f"DESCRIBE FROM {source}", [str(path)]).fetchall()]
            if column not in names:
                if len(names) == 1 and any(mark in names[0] for mark in ",;\t|"):
                    raise BadInput(f"{path.name}: the lines do not all have as many cells as the header; mend them")
                raise BadInput(
                    f"{path.name}: no column {column!r}; there are: {', '.join(names)}.{did_you_mean(column, names)}"
                )
            quoted = '"' + column.replace('"', '""') + '"'
            cell = f"CAST({quoted} AS VARCHAR)"
            parameters = [str(path)]
            if separator is not None:
                cell = f"unnest(string_split({cell}, ?))"
                parameters = [separator, str(path)]
            rows = engine.execute(
                f"SELECT value, count(*) FROM (SELECT trim({cell}) AS value FROM {source}) "
                "WHERE value <> '' GROUP BY value ORDER BY count(*) DESC, value",
                parameters,
            ).fetchall()
        except duckdb.Error as error:
            raise BadInput(f"{path.name}: {_reason(path.suffix.lower(), str(error))}") from None
    if not rows:
        raise BadInput(f"{path.name}: column {column!r} holds no values")
    return {str(value): int(count) for value, count in rows}


def _readable(path: Path) -> str:
    """The DuckDB function that reads the file."""
    if path.is_dir():
        raise BadInput(f"{path.name}: this is a folder; give a file")
    if not path.exists():
        near = did_you_mean(path.name, [p.name for p in path.parent.iterdir()]) if path.parent.is_dir() else ""
        raise BadInput(f"{path.name}: there is no such file.{near}")
    if path.stat().st_size == 0:
        raise BadInput(f"{path.name}: the file is empty; give a table with a header line")
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise BadInput(f"{path.name}: cannot tell the format; give a file that ends in {', '.join(_READERS)}")
    return reader


def _reason(kind: str, message: str) -> str:
    """What went wrong, in our words: the engine's message may quote cells."""
    if kind == ".parquet":
        return "this is no Parquet file, or a damaged one; write it again"
    line = re.search(r"\bLine: (\d+)", message)
    where = f" in line {line[1]}" if line else ""
    if re.search("unicode|utf-8|encoding", message, re.IGNORECASE):
        return f"the text is not UTF-8{where}; save the file as UTF-8"
    return f"the table cannot be read{where}; check that every line has the same number of cells"
