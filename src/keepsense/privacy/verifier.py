"""Check a released table against its promises, the way a recipient could.

The verifier shares no code with the privacy models, the methods or the engines: it reads the file back, groups it with
SQL of its own and computes every promise again from its definition (`keepsense.privacy.checks`). It fails closed: what
it cannot check does not hold. Values of people never appear in its findings unless they are asked for.

Records whose quasi-identifiers are all suppressed are a class of their own: whoever knows that a person is in the
table, and finds no record that fits, knows that theirs is one of these. So they keep every promise like other classes,
though they are not counted as one, and count against the suppression limit, like rows that were dropped. A table in
which every record reads so is a table generalized to the top: one class, and nothing suppressed. Methods that decide
cell by cell may generalize a group of their own to the top; it is a class that keeps its promise, and where the
publisher says so (`starred = "class"`) the limit is about dropped rows alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

from keepsense.engines import Engine, Reading, SqlConnection, SqlTable, sql
from keepsense.errors import BadInput, Finding
from keepsense.privacy.checks.classes import Classes
from keepsense.privacy.checks.diversity import asks_only_which
from keepsense.privacy.checks.outcome import Check, Promising, Unseen, Verification, spelled
from keepsense.privacy.registry import PRIVACY

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


def _checked(classes: Classes, promise: dict[str, Any], evidence: Mapping[str, Any], elsewhere: bool) -> Check:
    """Compute one promise from its definition; what cannot be computed holds only if it was checked elsewhere."""
    name = promise.get("model")
    of_mechanism = promise.get("about") == "mechanism"
    check = PRIVACY[name].checker() if isinstance(name, str) and name in PRIVACY else None
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
