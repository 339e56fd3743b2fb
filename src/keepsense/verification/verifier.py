"""The verifier of released tables and of released sets.

The verifier shares no code with the privacy models, the methods or the engines: it reads the file back, groups it with
SQL of its own and computes every promise again from its definition (`keepsense.verification`). It fails closed: what
it cannot check counts as broken. Values of people never appear in its findings unless they are asked for.

Records with all quasi-identifiers suppressed are a class of their own: a person who is known to be in the table, and
fits no other record, must be one of these. So they keep every promise like other classes,
though they are not counted as one, and count against the suppression limit, like rows that were dropped. A table in
which every record reads so is a table generalized to the top: one class, and nothing suppressed. Methods that decide
cell by cell may generalize a group of their own to the top; it is a class that keeps its promise, and where the
publisher says so (`starred = "class"`) the limit is about dropped rows alone.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from importlib import import_module
from os import PathLike
from pathlib import Path
from sys import intern
from typing import Any, Literal

from keepsense.engines.protocol import Engine, Reading, SqlConnection, SqlTable, sql
from keepsense.errors import BadInput, Finding
from keepsense.privacy.privacy_model import PRIVACY
from keepsense.verification.check_result import Check, Promising, Unseen, Verification, spelled
from keepsense.verification.class_checks import asks_only_which
from keepsense.verification.released_classes import Classes
from keepsense.verification.set_checks import Sets

_FEW, _LOOKED_AT = 1_000, 100_000
"""Different rows, among so many, up to which few of a table differ."""


def verify(  # noqa: PLR0913 - keywords of the public function
    released: object,
    promises: Sequence[Promising | Mapping[str, object]],
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] = (),
    original: object = None,
    identifiers: Sequence[str] = (),
    preserved: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    suppression: float | None = None,
    missing: Literal["category", "wildcard"] | Collection[str] = "category",
    suppressed: str = "*",
    starred: Literal["suppressed", "class"] = "suppressed",
    population: object = None,
    hidden: object = None,
    evidence: Mapping[str, Mapping[str, object]] | None = None,
    checked_elsewhere: Iterable[str] = (),
    show_values: bool = False,
    delimiter: str | None = None,
    reading: Reading | None = None,
    engine: Engine | str | None = None,
) -> Verification:
    """Read a released table back and check every promise on it.

    `released`, `original` and `population` are files, frames of any kind, or streams of Arrow record batches; `reading`
    says how a released file is to be read where that is not to be found out, `delimiter` what stands between columns.
    `promises` are models or their `promise()`; with plain dictionaries, the data a ground distance needs goes into
    `evidence` by column. `suppression` is the share of the original's records that may be suppressed or dropped; those
    that are `starred` in every column count as suppressed, or as a class that was generalized to the top. With
    `original`, no row may be added, the `identifiers` must be gone and the `preserved` columns must hold the same rows
    as before. `columns` are all that the release may have. Cells that are `missing` are a value of their own, or fit
    any value, in all columns or in those that are named. `hidden` are columns beside the release that recipients do
    not get, such as the person of each row for (X,Y)-anonymity. Promises about a mechanism cannot be seen in a file:
    they hold if named in `checked_elsewhere`, or if the file happens to show them. `engine` is where the SQL runs, by
    its name or running: it only opens the tables and runs the queries.

    >>> table = {"job": ["nurse", "nurse", "clerk", "clerk"], "disease": ["flu", "cold", "flu", "flu"]}
    >>> verification = verify(table, [{"model": "k-anonymity", "k": 2}], quasi_identifiers=["job"])
    >>> verification.ok, verification.classes
    (True, 2)
    >>> two = {"model": "l-diversity", "form": "distinct", "l": 2, "column": "disease"}
    >>> print(verify(table, [two], quasi_identifiers=["job"]))
    NOT verified: 4 records, 2 classes, 0 suppressed
    E203 l-diversity: 1 class with 2 records breaks the promise (worst 1, promised 2)
    """
    if isinstance(missing, str) and missing not in ("category", "wildcard"):
        raise BadInput(f"missing values are a 'category' or a 'wildcard', not {missing!r}")
    if not quasi_identifiers:
        raise BadInput("the verifier needs the quasi-identifiers of the release")
    if not promises:
        raise BadInput("the verifier needs at least one promise")
    wild = {"category": (), "wildcard": quasi_identifiers}[missing] if isinstance(missing, str) else missing
    elsewhere = tuple(checked_elsewhere)
    delimited = Reading(delimiter=delimiter)
    with sql(engine) as connection:
        tables = {"released": connection.table("released", released, reading or delimited, beside=hidden)}
        for name, source in (("original", original), ("population", population)):
            if source is not None:
                alike = name == "original" and _few_different(connection, tables["released"], source, preserved)
                tables[name] = connection.table(name, source, delimited, alike=alike)
        lacking = [*_lacking(tables["released"], [*quasi_identifiers, *sensitive, *preserved])]
        findings = [*lacking, *_unwanted(tables["released"], identifiers, columns)]
        records = int(connection.run("SELECT count(*) FROM released")[0][0])
        if not records:
            findings.append(Finding("E208", "release", "the release has no rows"))
        if lacking or not records:
            return Verification(False, records, 0, 0, (), tuple(findings))
        plain_promises = [spelled(promise) for promise in promises]
        about = [plain for plain, _ in plain_promises if "column" in plain and not plain.get("beside")]
        column = str(about[0]["column"]) if about else None
        classes = Classes(
            connection,
            tables,
            quasi_identifiers,
            suppressed=suppressed,
            wild=wild,
            column=column,
            only_which=all(asks_only_which(plain) for plain in about if plain["column"] == column),
        )
        findings += [*_rows(classes, suppression, starred), *_preserved(classes, preserved)]
        checks = []
        for plain, data in plain_promises:
            checks.append(_checked(classes, plain, {**data, **(evidence or {})}, plain.get("model") in elsewhere))
            findings += checks[-1].findings()
        findings += _remarks(classes)
        ok = not any(finding.is_error for finding in findings)
        examples = classes.examples(5) if show_values else ()
        return Verification(ok, records, classes.number, classes.suppressed, tuple(checks), tuple(findings), examples)


def _few_different(connection: SqlConnection, released: SqlTable, original: object, preserved: Sequence[str]) -> bool:
    """Whether few rows of the original will differ: it holds preserved columns alone, and so does the release's begin.

    How fast rows are compared depends on it, and nothing else.
    """
    names = getattr(getattr(original, "schema", None), "names", None)
    if not names or not {*names} <= {*preserved} & {*released.columns}:
        return False
    cells = ", ".join(released.column(name) for name in names)
    first = f"SELECT {cells} FROM released LIMIT {_LOOKED_AT}"
    return int(connection.run(f"SELECT count(*) FROM (SELECT DISTINCT {cells} FROM ({first}) f) d")[0][0]) <= _FEW


def find_check(name: object, *, of_sets: bool = False) -> Callable[..., Check] | None:
    """Return the verifier's own check of a promise, for tables or for sets; None if no file can show the promise."""
    if not isinstance(name, str) or name not in PRIVACY:
        return None
    entry = PRIVACY[name]
    module, _, function = (entry.check_sets if of_sets else entry.check).partition(":")
    return getattr(import_module(module), function) if module else None


def _checked(classes: Classes, promise: dict[str, Any], evidence: Mapping[str, Any], elsewhere: bool) -> Check:
    """Compute one promise from its definition; what cannot be computed holds only if it was checked elsewhere."""
    name = promise.get("model")
    of_mechanism = promise.get("about") == "mechanism"
    check = find_check(name)
    if check is None:
        why = "the recoding does not keep it" if of_mechanism else "the verifier does not know this promise of tables"
        return Check(promise, elsewhere, reason="" if elsewhere else why)
    try:
        outcome = check(classes, promise, evidence)
    except Unseen as unseen:
        return Check(promise, elsewhere, reason="" if elsewhere else str(unseen))
    except KeyError as key:
        return Check(promise, False, reason=f"the promise lacks its parameter {key}")
    except (TypeError, ValueError):
        return Check(promise, False, reason="a parameter of the promise is no number")
    if of_mechanism and not outcome.holds:
        hint = "a promise about a mechanism is not visible in a file; check the recoding"
        return Check(promise, elsewhere, reason="" if elsewhere else hint)
    return outcome


def _lacking(released: SqlTable, names: Iterable[str]) -> Iterator[Finding]:
    for name in dict.fromkeys(names):
        if name not in released.columns:
            yield Finding("E201", name, "the release lacks this column")


def _unwanted(released: SqlTable, identifiers: Sequence[str], allowed: Sequence[str] | None) -> Iterator[Finding]:
    for name in identifiers:
        if name in released.own:
            yield Finding("E202", name, "an identifying column is in the release; remove it")
    for name in released.own if allowed is not None else ():
        if name not in (*(allowed or ()), *identifiers):
            yield Finding("E209", name, "the release has this column, and nobody said that it should; remove it")


def _rows(classes: Classes, suppression: float | None, starred: str) -> Iterator[Finding]:
    before = classes.rows("original" if "original" in classes.tables else "released")
    dropped = before - classes.records
    if dropped < 0:
        yield Finding("E206", "release", f"the release has {-dropped:,} more rows than the original")
    if suppression is not None:
        limit = int(Fraction(repr(float(suppression))) * before)
        lost = (classes.suppressed if starred == "suppressed" else 0) + max(0, dropped)
        if lost > limit:
            message = f"{lost:,} records are suppressed (hidden in every column, or left out), the limit is {limit:,}"
            yield Finding("E205", "release", message)


def _preserved(classes: Classes, columns: Sequence[str]) -> Iterator[Finding]:
    if "original" not in classes.tables or not columns:
        return
    lacking = [name for name in columns if name not in classes.tables["original"].columns]
    if lacking:
        yield Finding("E207", lacking[0], "the original lacks this column, so nobody can tell whether it is preserved")
        return
    changed = classes.changed_rows(columns)
    if changed:
        message = f"{changed:,} rows hold values that the original does not have so often"
        yield Finding("E207", ", ".join(columns), message)


def _remarks(classes: Classes) -> Iterator[Finding]:
    """What a publisher should look at though no promise is broken."""
    blank = classes.missing_everywhere()
    if blank:
        yield Finding("W212", "release", f"{blank:,} record(s) are missing everywhere and fit everybody")


# Released sets, read back with a reader of their own and counted in SQL

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
        checks = [_checked_sets(sets, spelled(promise)[0]) for promise in promises]
        findings = [finding for check in checks for finding in check.findings(_broken(check))]
        if not records:
            findings.append(Finding("E208", "release", "the release has no records"))
        if original_records is not None and len(records) > original_records:
            more = len(records) - original_records
            findings.append(Finding("E206", "release", f"the release has {more:,} more records than the original"))
        ok = not any(finding.is_error for finding in findings)
        return Verification(ok, len(records), sets.distinct(), sets.hidden(), tuple(checks), tuple(findings))


def _checked_sets(sets: Sets, promise: dict[str, Any]) -> Check:
    name = promise.get("model")
    check = find_check(name, of_sets=True)
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
