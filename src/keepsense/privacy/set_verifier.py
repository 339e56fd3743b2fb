"""Check a released set-valued column against its promises, the way a recipient could.

Like `keepsense.privacy.verifier` it shares no code with the models and methods: it reads the file back with a reader of
its own, and counts sets and combinations of items with SQL. It fails closed: what it cannot check does not hold.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from sys import intern
from typing import Any

from keepsense.engines import Engine, Reading, SqlConnection, sql
from keepsense.errors import BadInput, Finding
from keepsense.privacy.checks.outcome import Check, Promising, Verification, spelled
from keepsense.privacy.checks.sets import Sets
from keepsense.privacy.registry import PRIVACY

Records = Sequence[Collection[str]]
"""The different items of each record."""


def verify_sets(  # noqa: PLR0913 - keywords of the public function
    released: object,
    promises: Sequence[Promising | Mapping[str, object]],
    *,
    column: str | None = None,
    key: str | None = None,
    delimiter: str | None = None,
    quote: str = '"',
    original_records: int | None = None,
    suppressed: str = "*",
    reading: Reading | None = None,
    engine: Engine | str | None = None,
) -> Verification:
    """Read released sets back and check every promise: `k-anonymity` of whole sets, `k^m-anonymity` of their items.

    `released` is a file with one set a line (a `delimiter` and no `column`), a file or frame with
    a set `column` (lists, or texts with a `delimiter`, or with a `key` one row an item), or a sequence of sets.
    Promises are models or their `promise()`. `original_records` must not be exceeded. The mark of a suppressed item is
    part of a set, but nothing an attacker can know. `reading` says how the file is to be read where that is not to be
    found out; `engine` is where the SQL runs.

    >>> sets = [["milk", "tea"], ["milk", "tea"], ["tea"]]
    >>> verify_sets(sets, [{"model": "k^m-anonymity", "k": 2, "m": 2}]).ok
    True
    >>> print(verify_sets(sets, [{"model": "k-anonymity", "k": 2}]))
    NOT verified: 3 records, 2 classes, 0 suppressed
    E203 k-anonymity: 1 class with 1 record breaks the promise (worst 1, promised 2)
    """
    if not promises:
        raise BadInput("the verifier needs at least one promise")
    with sql(engine) as connection:
        reader = _Reader(delimiter, quote)
        records = reader.read(connection, released, column, key, reading or Reading())
        sets = Sets(connection, records, suppressed)
        checks = [_checked(sets, spelled(promise)[0]) for promise in promises]
        findings = [finding for check in checks for finding in check.findings(_broken(check))]
        if not records:
            findings.append(Finding("E208", "release", "the release has no records"))
        if original_records is not None and len(records) > original_records:
            more = len(records) - original_records
            findings.append(Finding("E206", "release", f"the release has {more:,} more records than the original"))
        ok = not any(finding.is_error for finding in findings)
        return Verification(ok, len(records), sets.distinct(), sets.hidden(), tuple(checks), tuple(findings))


def _checked(sets: Sets, promise: dict[str, Any]) -> Check:
    name = promise.get("model")
    check = PRIVACY[name].checker(of_sets=True) if isinstance(name, str) and name in PRIVACY else None
    if check is None:
        return Check(promise, False, reason="this promise cannot be checked on sets")
    return check(sets, promise)


def _broken(check: Check) -> str:
    return "class" if check.failing_records else "combination of items"


# ---- reading ---------------------------------------------------------------------------------------------------------


class _Reader:
    """Reads sets as a recipient would: from lines, from lists or texts in a column, or from one row an item."""

    def __init__(self, delimiter: str | None, quote: str) -> None:
        self.delimiter, self.quote = delimiter, quote

    def read(
        self, connection: SqlConnection, released: object, column: str | None, key: str | None, reading: Reading
    ) -> Records:
        if isinstance(released, str | PathLike):
            path = Path(released)
            if not path.is_file():
                raise BadInput(f"{path.name}: there is no such file")
            if column is None:
                return self._lines(path)
        elif column is None:
            if hasattr(released, "column_names"):
                raise BadInput("say which column of the table holds the sets")
            if not isinstance(released, Iterable):
                raise BadInput("the verifier reads a file, a frame, or a sequence of sets")
            return [{str(item) for item in cell} for cell in released]
        table = connection.table("released", released, reading, keep_lists=True)
        for name in (column, key):
            if name is not None and name not in table.columns:
                raise BadInput(f"the release lacks the column {name!r}")
        if key is not None:
            return _gathered(connection.run(f"SELECT {table.column(key)}, {table.column(column)} FROM released"))
        return self._column(column, [row[0] for row in connection.run(f"SELECT {table.column(column)} FROM released")])

    def _column(self, column: str, cells: list[Any]) -> Records:
        if not any(isinstance(cell, str) for cell in cells):
            return [_packed(cell or ()) for cell in cells]
        if self.delimiter is None:
            raise BadInput(f"column {column!r} holds texts; say what stands between items")
        return self._split([str(cell or "") for cell in cells], self.delimiter, f"column {column!r}")

    def _lines(self, path: Path) -> Records:
        if self.delimiter is None:
            raise BadInput(f"{path.name}: say what stands between items, or which column of a table holds the sets")
        try:
            lines = path.read_bytes().decode("utf-8").split("\n")
        except UnicodeDecodeError:
            raise BadInput(f"{path.name}: the file is not UTF-8 text") from None
        return self._split(lines[:-1] if not lines[-1] else lines, self.delimiter, path.name)

    def _split(self, texts: Sequence[str], delimiter: str, where: str) -> Records:
        # A blank text is an empty set: the csv module gives it as a row without fields.
        try:
            rows = [_packed(row) for row in csv.reader(texts, delimiter=delimiter, quotechar=self.quote, strict=True)]
        except csv.Error:
            raise BadInput(
                f"{where}: quotes are not closed as they should be, so the sets cannot be read back"
            ) from None
        if len(rows) != len(texts):
            raise BadInput(f"{where}: quotes run over several sets, so they cannot be read back")
        return rows


def _gathered(rows: Iterable[tuple[Any, ...]]) -> list[set[str]]:
    """Sets from one row an item with the key of its set."""
    sets: dict[Any, set[str]] = {}
    for owner, item in rows:
        sets.setdefault(owner, set()).update(_cleaned([item]))
    return list(sets.values())


def _packed(items: Iterable[Any]) -> tuple[str, ...]:
    """The items of a set in little room: no table of hashes, and each text once in all sets."""
    return tuple(map(intern, _cleaned(items)))


def _cleaned(items: Iterable[Any]) -> set[str]:
    return {text for item in items if item is not None and (text := str(item).strip())}
