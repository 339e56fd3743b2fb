"""Write the folder of a release: the data, a public description, and, separate from both, the private recoding."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from shutil import copy2, rmtree
from typing import Any

import numpy as np

from keepsense import __version__
from keepsense.counts import Counts, Value
from keepsense.errors import InDoubt
from keepsense.files import whole_file, write_whole
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.intervals import parse_interval
from keepsense.metrics import METRICS
from keepsense.privacy.dp_promises import differentially_private
from keepsense.recoding import SUPPRESSED, Cuts, Draws, Recoding
from keepsense.release.figures.costs import NEARLY_ALL
from keepsense.release.figures.measure import column_penalties
from keepsense.release.folder.description import DESCRIPTION, written_chances
from keepsense.release.folder.dictionary import DICTIONARY, data_dictionary
from keepsense.release.folder.recoding_file import save_recodings
from keepsense.release.job.job import Job
from keepsense.release.job.recode import Recoded
from keepsense.risk.record_linkage import Linkage
from keepsense.verification.check_result import Verification

PRIVATE = "private"
RECODING = "recoding.json"
FLAG = "nearly all of its detail is lost"
"""What a description says of a column of which next to nothing is left."""
_DIGITS = 3
"""Digits of published figures that compare with the original table: more would let readers solve for a person."""
_BEFORE = "before"
_UNFINISHED = ".part"


def describe_release(
    job: Job,
    made: Recoded,
    verification: Verification,
    utility: Mapping[str, float],
    risk: Mapping[str, Mapping[str, float]],
    linked: Linkage | None,
) -> dict[str, Any]:
    """The public description: what was promised, how it was made, what is lost, what risk is left. No seed, no path.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> about = done.description  # as `run` has it from here
    >>> about["records"], about["promises"], about["columns"]["age"]["role"]
    (20, [{'model': 'k-anonymity', 'k': 4}], 'quasi-identifier')
    """
    project = job.project
    private = differentially_private(job.models)
    lost = {} if private else column_penalties(job, made.rules)
    lost = {name: round(share, _DIGITS) for name, share in lost.items()}
    lost |= {
        rule.names[0]: round(penalty, _DIGITS)
        for rule in made.set_rules
        if isinstance(penalty := rule.info.get("penalty"), int | float)
    }
    # under differential privacy the number of rows may be a secret
    left_out = 0 if private else job.own_counts.total - verification.records
    secret = {"seed", "rng"}
    return {
        "keepsense": __version__,
        "release": job.released_table if project.release.database is not None else job.released_name,
        "promises": [m.promise() for m in job.models],
        "in words": [m.describe() for m in job.models],
        **({"neighbours": _neighbours(made.rules)} if private else {}),
        "method": {
            "name": project.method.name,
            "parameters": {
                k: v for k, v in {**job.method.settings, **project.method.parameters}.items() if k not in secret
            },
            **_method_for_sets(job, secret),
        },
        **({"steps": [done.described() for done in job.source.prepared.done]} if project.steps else {}),
        "columns": {
            name: {
                "role": column.role,
                "kind": column.kind,
                **{key: value for key in ("width", "level") if (value := getattr(column, key)) is not None},
                **({"lost": lost[name]} if name in lost else {}),
                **({"flag": FLAG} if lost.get(name, 0.0) > NEARLY_ALL else {}),
            }
            for name, column in project.columns.items()
            if name not in job.dropped
        },
        "removed columns": len(job.dropped),
        "suppression limit": project.release.suppression,
        "records": verification.records,
        "classes": verification.classes,
        "suppressed records": verification.suppressed + left_out,
        "of them left out": left_out,
        "verified": verification.ok,
        "hierarchies": _released_hierarchies(job, made.every_rule, made.counts),
        **_matrices(made.rules, made.counts),
        DICTIONARY: data_dictionary(job, made.rules, made.counts, lost),
        "utility": {name: _rounded(name, value) for name, value in utility.items()},
        "risk": _public_risk(risk, linked),
    }


def _rounded(name: str, value: float) -> float:
    """A figure of usefulness for the public; those of the released classes alone, anybody can count."""
    return value if METRICS[name].unit in ("records", "pairs") else round(value, _DIGITS)


def _public_risk(risk: Mapping[str, Mapping[str, float]], linked: Linkage | None) -> dict[str, dict[str, float]]:
    """Risk before and after, and how linking by meaning fared where that is promised."""
    shown_risk = {when: dict(figures) for when, figures in risk.items()}
    if linked is not None:
        after = shown_risk.setdefault("after", {})
        after["linked by meaning"] = float(linked.risk)
        if linked.at_most > linked.risk:
            after["linked by meaning, at most"] = float(linked.at_most)
    return shown_risk


def _neighbours(rules: list[Recoding]) -> str:
    """Which tables cannot be told apart by the release; their number of rows is a secret only where that is said."""
    told = dict.fromkeys(str(rule.info.get("neighbours", "")) for rule in rules)
    public = "" if any(rule.info.get("rows are secret") for rule in rules) else "; the number of rows is public"
    return f"{'; '.join(filter(None, told))}{public}"


def _method_for_sets(job: Job, secret: set[str]) -> dict[str, Any]:
    """The method for set-valued columns, where there are such beside others."""
    if not set(job.set_columns) - set(job.quasi_identifiers):
        return {}
    chosen = job.project.set_method
    return {
        "sets": {"name": chosen.name, "parameters": {k: v for k, v in chosen.parameters.items() if k not in secret}}
    }


def _matrices(recodings: list[Recoding], after: Counts) -> dict[str, Any]:
    """Transition matrices that are meant to be published, so that readers can undo their effect on counts.

    Values that stand nowhere in the release are not named: all of them are `other`, the last row and column. Large
    ones are packed (`keepsense.release.folder.description.transition_matrices` reads both).
    """
    matrices = {}
    drawn: list[Draws] = []
    for recoding in recodings:
        behind: Any = [recoding] if isinstance(recoding, Draws) else recoding.info.get("matrices", ())
        drawn += behind
    for rule in drawn:
        if rule.info.get("publish"):
            released = {_spelled(value) for value in after.values_of(rule.name)}
            columns = [
                i for i, value in enumerate(rule.outputs) if _spelled(value) in released and value in rule.inputs
            ]
            place = {value: i for i, value in enumerate(rule.inputs)}
            rows = [place[rule.outputs[i]] for i in columns]
            chances = rule.probabilities[np.ix_(rows, columns)].round(9)
            rest = np.maximum(0.0, 1.0 - chances.sum(axis=1, keepdims=True)).round(9)
            matrices[rule.name] = {
                "values": [*(rule.outputs[i] for i in columns), "other"],
                "chances": written_chances(np.hstack([chances, rest])),
            }
    return {"transition matrices": matrices} if matrices else {}


def _released_hierarchies(job: Job, recodings: list[Recoding], after: Counts) -> dict[str, list[list[Value]]]:
    """Each label that stands in the release and what lies above it: enough to read the data, nothing below the cut.

    A label that only suppressed records had is not in the release, so it is not here either.
    """
    hierarchies: dict[str, list[list[Value]]] = {}
    if not job.truthful:
        return hierarchies
    for rule in recodings:
        levels = dict(zip(rule.names, rule.levels, strict=True)) if isinstance(rule, Cuts) else {}
        for name in rule.names:
            if name in job.quasi_identifiers:
                values = after.values_of(name)
                if job.holds_sets(name):
                    values = tuple(job.items(name, values).items)
                labels = {_spelled(v) for v in values} - {SUPPRESSED}
                hierarchies[name] = _above(job.hierarchies[name], labels, levels.get(name))
    return hierarchies


def _spelled(value: Value) -> str | None:
    # where a column holds suppressed cells the engine releases all its cells as text
    return None if value is None else str(value)


def _above(hierarchy: Hierarchy, labels: set[str | None], level: int | None) -> list[list[Value]]:
    rows: dict[tuple[Value, ...], None] = {}
    for row in hierarchy.rows():
        for lv, label in enumerate(row):
            if _spelled(label) in labels and (level is None or lv == level):
                rows[tuple(row[lv:])] = None
                break
    return [list(row) for row in sorted(rows, key=lambda row: _place(hierarchy, row[0]))]


def _place(hierarchy: Hierarchy, label: Value) -> tuple[float, str]:
    """Where a label stands in a list: numbers by size, words by spelling; the order of hidden values would tell."""
    ends = parse_interval(label) if KINDS[hierarchy.kind].numbers else None
    if ends is not None:
        return ends[0], str(label)
    return (0.0, "") if KINDS[hierarchy.kind].ordered and not KINDS[hierarchy.kind].numbers else (math.inf, str(label))


@contextmanager
def described(folder: Path, rules: list[Recoding], description: Mapping[str, Any]) -> Iterator[str]:
    """Put the recoding and the description where they belong; if the release does not appear, as they were before.

    Gives the description's SHA-256. While they are exchanged what was there before lies in the private folder, for
    `mend`, should the run be killed.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, described(Path(folder), [], {"release": "people.csv"}) as digest:
    ...     digest[:8], sorted(path.relative_to(folder).as_posix() for path in Path(folder).rglob("*.json"))
    ('1cc329da', ['private/recoding.json', 'release.json'])
    """
    private = folder / PRIVATE
    files = (private / RECODING, folder / DESCRIPTION)
    fresh = not private.exists()
    private.mkdir(mode=0o700, exist_ok=True)
    private.chmod(0o700)  # one that was there may be open to others
    try:
        _set_aside(private / _BEFORE, files)
        save_recodings(rules, files[0])
        yield sha256(write_description(folder, description)).hexdigest()
    except InDoubt:  # `mend` asks at the next start which of the two is out
        raise
    except BaseException:
        _put_back(private / _BEFORE, files)
        if fresh and not list(private.iterdir()):
            private.rmdir()
        raise
    with suppress(BaseException):  # the release is out, and nothing may undo its line in the ledger; `mend` tidies up
        rmtree(private / _BEFORE, ignore_errors=True)


def mend(folder: Path, belongs: Callable[[bytes], bool]) -> bool:
    """Undo half an exchange that a killed run left behind: a description beside data that it is not of.

    `belongs` says of a description whether it is of the data that are there. Whether something was mended.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mend(Path(folder), lambda description: False)
    False
    """
    private = folder / PRIVATE
    aside = private / _BEFORE
    rmtree(aside.with_name(f"{_BEFORE}{_UNFINISHED}"), ignore_errors=True)
    if not aside.is_dir():
        return False
    now, then = _content_of(folder / DESCRIPTION), _content_of(aside / DESCRIPTION)
    if now != then and belongs(now):  # only tidying up was left to do
        rmtree(aside, ignore_errors=True)
        return False
    _put_back(aside, (private / RECODING, folder / DESCRIPTION))
    return True


def _content_of(file: Path) -> bytes:
    return file.read_bytes() if file.is_file() else b""


def _set_aside(aside: Path, files: Sequence[Path]) -> None:
    """Copy what is there; the copies get their name when they are whole."""
    part = aside.with_name(f"{aside.name}{_UNFINISHED}")
    for stale in (aside, part):
        rmtree(stale, ignore_errors=True)
    part.mkdir(mode=0o700)
    for file in files:
        if file.exists():
            copy2(file, part / file.name)
    part.rename(aside)


def _put_back(aside: Path, files: Sequence[Path]) -> None:
    """What was there before, each file at once; nothing where there was nothing."""
    if not aside.is_dir():
        return  # nothing was exchanged yet
    for file in files:
        if (aside / file.name).exists():
            with whole_file(file) as part:
                copy2(aside / file.name, part)
        else:
            file.unlink(missing_ok=True)
    rmtree(aside, ignore_errors=True)


def write_description(folder: Path, description: Mapping[str, Any]) -> bytes:
    """Write `release.json`; it appears only when it is whole. Gives what it holds.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     content = write_description(Path(folder), {"release": "people.csv"})
    ...     json.loads(content) == json.loads((Path(folder) / DESCRIPTION).read_bytes()) == {"release": "people.csv"}
    True
    """
    content = (json.dumps(description, ensure_ascii=False, indent=2, default=str) + "\n").encode("utf-8")
    write_whole(folder / DESCRIPTION, [content])
    return content
