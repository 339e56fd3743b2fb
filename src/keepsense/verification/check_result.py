"""The result of a verification: a check for each promise, findings for people, a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from keepsense.display import Shown, Summary
from keepsense.errors import BadInput, Finding

SLACK = 1e-9
"""Rounding noise that no promise is broken by."""


class Unseen(Exception):
    """A promise that cannot be checked with what there is; the message says why.

    >>> raise Unseen("column 'pay' is not in the release")
    Traceback (most recent call last):
    ...
    keepsense.verification.check_result.Unseen: column 'pay' is not in the release
    """


@dataclass(frozen=True)
class Check:
    """What became of one promise: whether it holds, and how many classes and records break it.

    `worst` is the value that decides (the smallest class, the fewest values, the largest distance), `promised` what it
    is compared with where that is no parameter of the promise; `broken` says what is counted.

    >>> Check({"model": "k-anonymity", "k": 5}, False, 2, 3, 1.0).findings()[0].message
    '2 classes with 3 records break the promise (worst 1, promised 5)'
    """

    promise: Mapping[str, object]
    holds: bool
    failing_classes: int = 0
    failing_records: int = 0
    worst: float | None = None
    reason: str = ""
    promised: float | None = None

    def findings(self, broken: str = "class") -> list[Finding]:
        """What to tell people: nothing where the promise holds; `broken` is what may break it, in the singular."""
        name = str(self.promise.get("model", "promise"))
        if self.holds:
            return []
        if self.reason:
            return [Finding("E204", name, self.reason)]
        order = ("k", "l", "t", "threshold", "upper", *self.promise)
        limits = (self.promise[key] for key in order if isinstance(self.promise.get(key), int | float))
        promised = next(limits, None) if self.promised is None else f"{self.promised:.6g}"
        worst = "" if self.worst is None else f" (worst {self.worst:.6g}, promised {promised})"
        records = f" with {_several(self.failing_records, 'record')}" if self.failing_records else ""
        verb = "breaks" if self.failing_classes == 1 else "break"
        return [Finding("E203", name, f"{_several(self.failing_classes, broken)}{records} {verb} the promise{worst}")]


@dataclass(frozen=True, repr=False)
class Verification(Shown):
    """Outcome of a verification: `ok` only if every promise and every condition was checked and holds.

    >>> print(Verification(True, 10, 2, 0, (), ()))
    verified: 10 records, 2 classes, 0 suppressed
    """

    ok: bool
    records: int
    classes: int
    suppressed: int
    checks: tuple[Check, ...]
    findings: tuple[Finding, ...]
    examples: tuple[tuple[str | None, ...], ...] = ()

    @property
    def breaks_a_promise(self) -> bool:
        """Whether a promise, or the limit of suppression, is broken: relaxing it would help."""
        return any(finding.code in ("E203", "E204", "E205") for finding in self.findings)

    def summary(self) -> Summary:
        """The verdict, and what was found about each promise."""
        classes = _several(self.classes, "class")
        sentence = f"{self.records:,} records, {classes}, {self.suppressed:,} suppressed"
        rows = [(str(c.promise.get("model", "promise")), "yes" if c.holds else "NO") for c in self.checks]
        verdict = "verified" if self.ok else "NOT verified"
        return Summary(f"{verdict}: {sentence}", ("promise", "holds"), rows, [str(found) for found in self.findings])

    def __str__(self) -> str:
        return "\n".join([self.summary().sentence, *map(str, self.findings)])


@runtime_checkable
class Promising(Protocol):
    """What the verifier asks of a privacy model: its promise as plain data, and public data to check it with.

    >>> from keepsense.privacy.k_anonymity import KAnonymity
    >>> isinstance(KAnonymity(2), Promising)
    True
    """

    def promise(self) -> Mapping[str, object]:
        """The promise as plain data."""

    def evidence(self) -> Mapping[str, Mapping[str, object]]:
        """Public data by column."""


def spelled(
    promise: Promising | Mapping[str, object],
) -> tuple[dict[str, Any], dict[str, Mapping[str, object]]]:
    """A promise as plain data, and the public data that goes with it.

    >>> spelled({"model": "k-anonymity", "k": 2})
    ({'model': 'k-anonymity', 'k': 2}, {})
    """
    if isinstance(promise, Mapping):
        return dict(promise), {}
    if isinstance(promise, Promising):
        return dict(promise.promise()), dict(promise.evidence())
    raise BadInput("a promise is a privacy model or the dictionary its promise() gives")


def _several(number: int, what: str) -> str:
    if number == 1:
        return f"1 {what}"
    many = f"{what}es" if what.endswith("s") else what.replace(" of ", "s of ") if " of " in what else f"{what}s"
    return f"{number:,} {many}"
