"""Check a released set-valued column against its promises, the way a recipient could.

Like `keepsense.privacy.verify` it shares no code with the models and methods: it reads the file back with a reader of
its own, and counts sets and combinations of items with SQL. It fails closed: what it cannot check does not hold.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

from keepsense.errors import BadInput, Finding
from keepsense.privacy.verify import Check, Verification


def verify_sets(
    released: Any,
    promises: Sequence[Any],
    *,
    column: str | None = None,
    key: str | None = None,
    delimiter: str | None = None,
    quote: str = '"',
    original_records: int | None = None,
    suppressed: str = "*",
    file_delimiter: str | None = None,
) -> Verification:
    """Read released sets back and check every promise: `k-anonymity` of whole sets, `k^m-anonymity` of their items.

    `released` is a file with one set a line (a `delimiter` and no `column`), a CSV or Parquet file or Arrow table with
    a set `column` (lists, or texts with a `delimiter`, or with a `key` one row an item), or a sequence of sets.
    Promises are models or their `promise()`. `original_records` must not be exceeded. The mark of a suppressed item is
    part of a set, but nothing an attacker can know. `file_delimiter` is what stands between the columns of a CSV file,
    found out where it is not given.

    >>> sets = [["milk", "tea"], ["milk", "tea"], ["tea"]]
    >>> verify_sets(sets, [{"model": "k^m-anonymity", "k": 2, "m": 2}]).ok
    True
    >>> print(verify_sets(sets, [{"model": "k-anonymity", "k": 2}]))
    NOT verified: 3 records, 2 classes, 0 suppressed
    E203 k-anonymity: 1 class with 1 record breaks the promise (worst 1, promised 2)
    """
    import duckdb

    if not promises:
        raise BadInput("the verifier needs at least one promise")
    sets = _read(released, column, key, delimiter, quote, file_delimiter)
    with duckdb.connect() as connection:
        _load(connection, sets)
        classes = int(_one(connection, "SELECT count(DISTINCT items) FROM sets"))
        hidden = int(_one(connection, "SELECT count(*) FROM sets WHERE items = [?]", suppressed))
        checks = [_check(connection, _spelled(promise), suppressed) for promise in promises]
    findings = [finding for check in checks for finding in _found(check)]
    if not sets:
        findings.append(Finding("E208", "release", "the release has no records"))
    if original_records is not None and len(sets) > original_records:
        more = len(sets) - original_records
        findings.append(Finding("E206", "release", f"the release has {more:,} more records than the original"))
    ok = not any(finding.is_error for finding in findings)
    return Verification(ok, len(sets), classes, hidden, tuple(checks), tuple(findings))


def _spelled(promise: Any) -> dict[str, Any]:
    if isinstance(promise, Mapping):
        return dict(promise)
    if hasattr(promise, "promise"):
        return dict(promise.promise())
    raise BadInput("a promise is a privacy model or the dictionary its promise() gives")


# ---- reading ---------------------------------------------------------------------------------------------------------


def _read(
    released: Any,
    column: str | None,
    key: str | None,
    delimiter: str | None,
    quote: str,
    file_delimiter: str | None = None,
) -> list[set[str]]:
    if isinstance(released, str | PathLike):
        path = Path(released)
        if not path.is_file():
            raise BadInput(f"{path.name}: there is no such file")
        if column is None:
            return _lines(path, delimiter, quote)
        released = _table(path, file_delimiter)
    if hasattr(released, "column_names"):
        return _column(released, column, key, delimiter, quote)
    if isinstance(released, Iterable):
        return [{str(item) for item in cell} for cell in released]
    raise BadInput("the verifier reads a file, an Arrow table, or a sequence of sets")


def _lines(path: Path, delimiter: str | None, quote: str) -> list[set[str]]:
    if delimiter is None:
        raise BadInput(f"{path.name}: say what stands between items, or which column of a table holds the sets")
    try:
        lines = path.read_bytes().decode("utf-8").split("\n")
    except UnicodeDecodeError:
        raise BadInput(f"{path.name}: the file is not UTF-8 text") from None
    return _split(lines[:-1] if not lines[-1] else lines, delimiter, quote, path.name)


def _split(texts: Sequence[str], delimiter: str, quote: str, where: str) -> list[set[str]]:
    # A blank text is an empty set: the csv module gives it as a row without fields.
    try:
        rows = [_cleaned(row) for row in csv.reader(texts, delimiter=delimiter, quotechar=quote, strict=True)]
    except csv.Error:
        raise BadInput(f"{where}: quotes are not closed as they should be, so the sets cannot be read back") from None
    if len(rows) != len(texts):
        raise BadInput(f"{where}: quotes run over several sets, so they cannot be read back")
    return rows


def _table(path: Path, delimiter: str | None = None) -> Any:
    import duckdb

    reader = "read_parquet" if path.suffix.lower() in (".parquet", ".pq") else "read_csv"
    options = "" if reader == "read_parquet" else ", header = true, all_varchar = true"
    if options and delimiter is not None:
        options += f", delim = '{delimiter.replace(chr(39), chr(39) * 2)}'"
    try:
        with duckdb.connect() as connection:
            return connection.sql(f"SELECT * FROM {reader}(?{options})", params=[str(path)]).to_arrow_table()
    except duckdb.Error:
        raise BadInput(f"{path.name}: this is no table that can be read back") from None


def _column(table: Any, column: str | None, key: str | None, delimiter: str | None, quote: str) -> list[set[str]]:
    for name in (column, key):
        if name is not None and name not in table.column_names:
            raise BadInput(f"the release lacks the column {name!r}")
    if column is None:
        raise BadInput("say which column of the table holds the sets")
    cells = table.column(column).to_pylist()
    if key is not None:
        found: dict[Any, set[str]] = {}
        for whose, item in zip(table.column(key).to_pylist(), cells, strict=True):
            held = found.setdefault(whose, set())
            if item is not None and str(item).strip():
                held.add(str(item).strip())
        return list(found.values())
    if delimiter is None:
        if any(isinstance(cell, str) for cell in cells):
            raise BadInput(f"column {column!r} holds texts; say what stands between items")
        return [_cleaned(cell or ()) for cell in cells]
    return _split([str(cell or "") for cell in cells], delimiter, quote, f"column {column!r}")


def _cleaned(items: Iterable[Any]) -> set[str]:
    return {text for item in items if item is not None and (text := str(item).strip())}


# ---- counting --------------------------------------------------------------------------------------------------------


def _load(connection: Any, sets: Sequence[set[str]]) -> None:
    import pyarrow as pa

    lists = pa.table({"record": range(len(sets)), "items": pa.array([sorted(s) for s in sets], pa.list_(pa.string()))})
    connection.register("arriving", lists)
    connection.execute("CREATE TABLE sets AS SELECT record, items FROM arriving")
    connection.execute("CREATE TABLE held AS SELECT record, unnest(items) AS item FROM sets")
    connection.unregister("arriving")


def _check(connection: Any, promise: dict[str, Any], suppressed: str) -> Check:
    model, k = promise.get("model"), promise.get("k")
    if model not in ("k-anonymity", "k^m-anonymity"):
        return Check(promise, False, reason="this promise cannot be checked on sets")
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        return Check(promise, False, reason="the promise names no k")
    if model == "k-anonymity":
        groups = "SELECT count(*) AS times FROM sets GROUP BY items"
        broken, records, worst = _broken(connection, groups, k)
        return Check(promise, not broken, broken, records, worst)
    m = promise.get("m")
    if isinstance(m, bool) or not isinstance(m, int) or m < 1:
        return Check(promise, False, reason="the promise names no m")
    broken_in_all, least = 0, None
    for size in range(1, m + 1):
        broken, _, worst = _broken(connection, _combinations(size), k, *[suppressed] * size)
        if worst is None:
            break  # no set is that large
        broken_in_all += broken
        least = worst if least is None else min(least, worst)
    return Check(promise, not broken_in_all, broken_in_all, 0, least)


def _combinations(size: int) -> str:
    """SQL that counts the records of every combination of so many items; one mark a table for the suppressed item."""
    names = [f"h{i}" for i in range(size)]
    joins = "".join(
        f" JOIN held {name} ON {name}.record = h0.record AND {before}.item < {name}.item"
        for before, name in pairwise(names)
    )
    shown = " AND ".join(f"{name}.item <> ?" for name in names)
    return (
        f"SELECT count(*) AS times FROM held h0{joins} WHERE {shown} GROUP BY {', '.join(f'{n}.item' for n in names)}"
    )


def _broken(connection: Any, groups: str, k: int, *values: Any) -> tuple[int, int, float | None]:
    """Groups below k, the records in them, and the smallest group."""
    query = f"SELECT count(*) FILTER (times < {k}), sum(times) FILTER (times < {k}), min(times) FROM ({groups})"
    broken, records, worst = connection.execute(query, list(values)).fetchall()[0]
    return int(broken), int(records or 0), None if worst is None else float(worst)


def _one(connection: Any, query: str, *values: Any) -> Any:
    return connection.execute(query, list(values)).fetchall()[0][0]


def _found(check: Check) -> list[Finding]:
    name = str(check.promise.get("model", "promise"))
    if check.holds:
        return []
    if check.reason:
        return [Finding("E204", name, check.reason)]
    tail = f" (worst {check.worst:.6g}, promised {check.promise['k']})" if check.worst is not None else ""
    one = check.failing_classes == 1
    if name == "k-anonymity":
        records = f"{check.failing_records:,} record{'' if check.failing_records == 1 else 's'}"
        what = f"{check.failing_classes:,} class{'' if one else 'es'} with {records}"
    else:
        what = f"{check.failing_classes:,} combination{'' if one else 's'} of items"
    return [Finding("E203", name, f"{what} break{'s' if one else ''} the promise{tail}")]
