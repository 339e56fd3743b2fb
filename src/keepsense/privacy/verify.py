"""Check a released table against its promises, the way a recipient could.

The verifier shares no code with the privacy models, the methods or the engines: it reads the file back, groups it with
SQL of its own and computes every promise again from its definition. It fails closed: what it cannot check does not
hold. Values of people never appear in its findings unless they are asked for.

Records whose quasi-identifiers are all suppressed form no class of their own: nobody can be looked up among them. They
are left out of the promises about classes and counted against the suppression limit, like rows that were dropped; the
sensitive values they keep still belong to the whole table that t-closeness compares with. A table in which every
record reads so is a table generalized to the top: one class, checked like any other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from keepsense.errors import BadInput, Finding

_TEXT = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")


@dataclass(frozen=True)
class Check:
    """What became of one promise: whether it holds, and how many classes and records break it.

    `worst` is the value that decides (the smallest class, the fewest values, the largest distance).

    >>> Check({"model": "k-anonymity", "k": 5}, False, 2, 3, 1.0).holds
    False
    """

    promise: Mapping[str, Any]
    holds: bool
    failing_classes: int = 0
    failing_records: int = 0
    worst: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class Verification:
    """Outcome of a verification: `ok` only if every promise and every condition was checked and holds.

    >>> Verification(True, 10, 2, 0, (), ()).ok
    True
    """

    ok: bool
    records: int
    classes: int
    suppressed: int
    checks: tuple[Check, ...]
    findings: tuple[Finding, ...]
    examples: tuple[tuple[Any, ...], ...] = ()

    @property
    def breaks_a_promise(self) -> bool:
        """Whether a promise, or the limit of suppression, is broken: relaxing it would help."""
        return any(finding.code in ("E203", "E204", "E205") for finding in self.findings)

    def __str__(self) -> str:
        verdict = "verified" if self.ok else "NOT verified"
        classes = f"{self.classes:,} class{'' if self.classes == 1 else 'es'}"
        lines = [f"{verdict}: {self.records:,} records, {classes}, {self.suppressed:,} suppressed"]
        return "\n".join(lines + [str(finding) for finding in self.findings])


def verify(
    released: Any,
    promises: Sequence[Any],
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] = (),
    original: Any = None,
    identifiers: Sequence[str] = (),
    preserved: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    suppression: float | None = None,
    missing: Literal["category", "wildcard"] | Collection[str] = "category",
    suppressed: str = "*",
    population: Any = None,
    hidden: Any = None,
    evidence: Mapping[str, Mapping[str, Any]] | None = None,
    checked_elsewhere: Iterable[str] = (),
    show_values: bool = False,
    delimiter: str | None = None,
) -> Verification:
    """Read a released table back and check every promise on it.

    `released`, `original` and `population` are paths (CSV or Parquet), Arrow tables, DuckDB relations, or any frame
    that Arrow understands. `promises` are models or their `promise()`; with plain dictionaries, the data a ground
    distance needs goes into `evidence` by column. `suppression` is the share of the original's records that may be
    suppressed or dropped. With `original`, no row may be added, the `identifiers` must be gone and the `preserved`
    columns must hold the same rows as before. `columns` are all that the release may have. Cells that are
    `missing` are a value of their own, or fit any value, in all columns or in those that are named. `hidden` are
    columns beside the release that recipients do not get, such as the person of each row for (X,Y)-anonymity. Promises
    about a mechanism cannot be seen in a file: they hold if named in `checked_elsewhere`, or if the file happens to
    show them.

    >>> table = {"job": ["nurse", "nurse", "clerk", "clerk"], "disease": ["flu", "cold", "flu", "flu"]}
    >>> found = verify(table, [{"model": "k-anonymity", "k": 2}], quasi_identifiers=["job"])
    >>> found.ok, found.classes
    (True, 2)
    >>> two = {"model": "l-diversity", "form": "distinct", "l": 2, "column": "disease"}
    >>> print(verify(table, [two], quasi_identifiers=["job"]))
    NOT verified: 4 records, 2 classes, 0 suppressed
    E203 l-diversity: 1 class with 2 records breaks the promise (worst 1, promised 2)
    """
    from keepsense.privacy._audit import Audit

    if isinstance(missing, str) and missing not in ("category", "wildcard"):
        raise BadInput(f"missing values are a 'category' or a 'wildcard', not {missing!r}")
    if not quasi_identifiers:
        raise BadInput("the verifier needs the quasi-identifiers of the release")
    if not promises:
        raise BadInput("the verifier needs at least one promise")
    with Audit() as audit:
        audit.load("released", released, delimiter, beside=hidden)
        if original is not None:
            audit.load("original", original, delimiter)
        if population is not None:
            audit.load("population", population, delimiter)
        findings = [*_columns(audit, quasi_identifiers, sensitive, identifiers, preserved, columns)]
        if any(finding.code in ("E201", "E208") for finding in findings):
            return Verification(False, audit.rows("released"), 0, 0, (), tuple(findings))
        every = {"category": (), "wildcard": quasi_identifiers}
        wild = every[missing] if isinstance(missing, str) else missing
        audit.group(list(quasi_identifiers), suppressed, wild)
        findings += _rows(audit, suppression, original is not None)
        if original is not None and preserved:
            findings += _preserved(audit, preserved)
        known = {name: dict(data) for name, data in (evidence or {}).items()}
        checks = []
        for promise in promises:
            spelled, data = _spelled(promise)
            elsewhere = spelled.get("model") in tuple(checked_elsewhere)
            checks.append(audit.check(spelled, {**data, **known}, elsewhere))
            findings += _found(checks[-1])
        findings += audit.remarks(max((k for c in checks if isinstance(k := c.promise.get("k"), int)), default=0))
        examples = audit.examples(5) if show_values else ()
        ok = not any(finding.is_error for finding in findings)
        return Verification(
            ok, audit.rows("released"), audit.classes, audit.suppressed, tuple(checks), tuple(findings), examples
        )


def _spelled(promise: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """A promise as plain data, and the public data that goes with it."""
    if isinstance(promise, Mapping):
        return dict(promise), {}
    if hasattr(promise, "promise"):
        return dict(promise.promise()), dict(promise.evidence()) if hasattr(promise, "evidence") else {}
    raise BadInput("a promise is a privacy model or the dictionary its promise() gives")


def _found(check: Check) -> list[Finding]:
    name = str(check.promise.get("model", "promise"))
    if check.holds:
        return []
    if check.reason:
        return [Finding("E204", name, check.reason)]
    target = next((check.promise[key] for key in ("k", "l", "t", "threshold", "upper") if key in check.promise), None)
    classes = f"{check.failing_classes:,} class{'' if check.failing_classes == 1 else 'es'}"
    worst = "" if check.worst is None else f" (worst {check.worst:.6g}, promised {target})"
    verb = "breaks" if check.failing_classes == 1 else "break"
    return [Finding("E203", name, f"{classes} with {check.failing_records:,} records {verb} the promise{worst}")]


def _columns(
    audit: Any,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    identifiers: Sequence[str],
    preserved: Sequence[str],
    expected: Sequence[str] | None,
) -> Iterable[Finding]:
    there = audit.columns("released")
    for name in dict.fromkeys([*quasi_identifiers, *sensitive, *preserved]):
        if name not in there:
            yield Finding("E201", name, "the release lacks this column")
    for name in identifiers:
        if name in audit.shown():
            yield Finding("E202", name, "an identifying column is in the release; remove it")
    if expected is not None:
        for name in [n for n in audit.shown() if n not in expected and n not in identifiers]:
            yield Finding("E209", name, "the release has this column, and nobody said that it should; remove it")
    if audit.rows("released") == 0:
        yield Finding("E208", "release", "the release has no rows")


def _rows(audit: Any, suppression: float | None, compare: bool) -> Iterable[Finding]:
    before = audit.rows("original") if compare else audit.rows("released")
    dropped = before - audit.rows("released")
    if dropped < 0:
        yield Finding("E206", "release", f"the release has {-dropped:,} more rows than the original")
    if suppression is not None:
        limit = int(Fraction(repr(float(suppression))) * before)
        gone = audit.suppressed + max(0, dropped)
        if gone > limit:
            told = f"{gone:,} records are suppressed (hidden in every column, or left out), the limit is {limit:,}"
            yield Finding("E205", "release", told)


def _preserved(audit: Any, columns: Sequence[str]) -> Iterable[Finding]:
    lacking = [name for name in columns if name not in audit.columns("original")]
    if lacking:
        yield Finding("E207", lacking[0], "the original lacks this column, so nobody can tell whether it is preserved")
        return
    changed = audit.changed_rows(columns)
    if changed:
        yield Finding(
            "E207", ", ".join(columns), f"{changed:,} rows hold values that the original does not have so often"
        )


def is_text_file(path: Path) -> bool:
    """Whether a path names a text table (CSV, TSV), by its ending.

    >>> is_text_file(Path("people.csv")), is_text_file(Path("people.parquet"))
    (True, False)
    """
    return str(path).lower().endswith(_TEXT)
