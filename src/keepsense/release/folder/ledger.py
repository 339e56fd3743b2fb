"""The ledger of releases in a project folder: what was published, so that later releases can be judged with it.

Two releases of the same people can be intersected: a person in a class of ten in both may be the only one in both
classes. The ledger warns of that, and adds up budgets of differential privacy, which add up too.
"""

from __future__ import annotations

import datetime
import json
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from keepsense.errors import BadInput, Finding, InDoubt
from keepsense.files import hold, parsed_json, sweep, write_whole

FILE = "ledger.jsonl"
_PRIVATE = 0o600


@dataclass(frozen=True)
class Entry:
    """One release: when, which file name, what was promised, which columns it holds, and the budget it used.

    >>> Entry("2026-01-31", "people.csv", ("job",), [{"model": "k-anonymity", "k": 5}]).epsilon
    0.0
    """

    date: str
    file: str
    columns: tuple[str, ...]
    promises: list[dict[str, Any]]
    method: str = ""
    rows: int = 0
    epsilon: float = 0.0
    notes: list[str] = field(default_factory=list)
    digest: str | None = None


def read_ledger(folder: Path) -> list[Entry]:
    """Entries of a project folder's ledger, oldest first.

    >>> read_ledger(Path("/nowhere"))
    []
    """
    path = folder / FILE
    if not path.exists():
        return []
    entries = []
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{FILE}: the ledger of releases cannot be read ({error.strerror}); look at it") from None
    for number, line in enumerate(content.splitlines(), start=1):
        try:
            entries.append(_entry(parsed_json(line)))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
            raise BadInput(f"{FILE}: line {number} of the ledger of releases is damaged; restore it") from None
    return entries


def _entry(data: dict[str, Any]) -> Entry:
    entry = Entry(**{**data, "columns": tuple(data["columns"]), "epsilon": float(data["epsilon"])})
    texts = (entry.date, entry.file, entry.method, entry.digest or "", *entry.columns)
    if not (all(isinstance(text, str) for text in texts) and isinstance(entry.promises, list)):
        raise TypeError
    if not 0 <= entry.epsilon < math.inf:
        raise ValueError
    return entry


@contextmanager
def entered(folder: Path, entry: Entry | None) -> Iterator[None]:
    """Enter a release before it appears, and take the entry back if it does not: no release is ever unknown.

    >>> with entered(Path("/nowhere"), None):
    ...     pass
    """
    if entry is None:
        yield
        return
    line = (json.dumps(asdict(entry), ensure_ascii=False) + "\n").encode("utf-8")
    path = folder / FILE
    _rewrite(path, lambda content: content + line)
    try:
        yield
    except InDoubt:  # no release is ever unknown
        raise
    except BaseException:
        _rewrite(path, lambda content: line.join(content.rsplit(line, 1)[:-1]) + content.rsplit(line, 1)[-1])
        raise


def _rewrite(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Change the ledger as a whole while other runs wait: on a full disk the old one stays as it was.

    An empty ledger vanishes. The folder is what is locked, because the file is replaced.
    """
    descriptor = os.open(path.parent, os.O_RDONLY) if os.name == "posix" else None
    try:
        if descriptor is not None:
            hold(descriptor, wait=True)
            sweep(path)
        before = path.read_bytes() if path.exists() else b""
        after = change(before)
        if after:
            mode = path.stat().st_mode if before else _PRIVATE  # whoever opened it to colleagues meant to
            write_whole(path, [after], mode=mode)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise BadInput(f"{FILE}: the ledger cannot be changed ({error.strerror}); nothing is released") from None
    finally:
        if descriptor is not None:
            os.close(descriptor)


def warnings_for(entries: list[Entry], columns: tuple[str, ...]) -> list[Finding]:
    """What earlier releases mean for one more with these columns.

    >>> earlier = [Entry("2026-01-31", "people.csv", ("job", "age"), [])]
    >>> warnings_for(earlier, ("job",))[0].code
    'W401'
    """
    shared = [entry for entry in entries if set(entry.columns) & set(columns)]
    findings = []
    if shared:
        names = sorted(set().union(*(entry.columns for entry in shared)) & set(columns))
        what = "1 earlier release holds" if len(shared) == 1 else f"{len(shared)} earlier releases hold"
        findings.append(
            Finding(
                "W401",
                "ledger",
                f"{what} some of the same columns ({', '.join(names)}); compared row by row they can reveal more than "
                "each alone",
            )
        )
    spent = sum(entry.epsilon for entry in entries)
    if spent:
        findings.append(
            Finding("W402", "ledger", f"earlier releases have used a privacy budget of epsilon = {spent:g}")
        )
    return findings


def today() -> str:
    """Today's date in ISO form.

    >>> len(today())
    10
    """
    return datetime.date.today().isoformat()
