"""Open a release again: read back, verified, with what became of every value, as after the run."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from keepsense.counts import Counts, Value
from keepsense.engines.protocol import Engine, read_as_written, started
from keepsense.errors import BadInput, Finding, Infeasible, KeepsenseError
from keepsense.methods.method import method
from keepsense.progress import Listener, emit
from keepsense.project.project_file import Project, project_and_folder
from keepsense.recoding import SUPPRESSED, Recoding
from keepsense.release.figures.measure import linkage_kept, of_sets
from keepsense.release.folder.describe import PRIVATE, RECODING
from keepsense.release.folder.description import DESCRIPTION, read_description
from keepsense.release.folder.ledger import Entry, read_ledger
from keepsense.release.folder.place import digest_of, place_of, read_released, writing_of
from keepsense.release.folder.recoding_file import read_recodings
from keepsense.release.job.job import Job
from keepsense.release.job.steps import draws
from keepsense.release.run import Outcome
from keepsense.release.verify import verify_release
from keepsense.secure_random import generator
from keepsense.utility.recoded_table import aligned, whole_table


def reopen(
    project: Project | str | Path,
    *,
    folder: str | Path | None = None,
    recoding: bool = True,
    listener: Listener | None = None,
    engine: str | Engine | None = None,
) -> Outcome:
    """Read a release that `run` made, without making it again: its report can then be written.

    The released file is verified afresh against the promises; one that no longer keeps them is refused. The private
    recoding says what became of the values; `recoding=False` does without it, which is enough for a public report.
    A source or a released file that was changed since is refused.

    >>> import tempfile
    >>> from keepsense.release.run import run
    >>> with tempfile.TemporaryDirectory() as room:
    ...     _ = (Path(room) / "people.csv").write_text("job\\n" + "nurse\\nclerk\\n" * 5)
    ...     job = Project.model_validate({
    ...         "source": {"path": "people.csv"},
    ...         "columns": {"job": {"role": "quasi-identifier"}},
    ...         "privacy": [{"model": "k-anonymity", "k": 5}],
    ...     })
    ...     made = run(job, folder=room)
    ...     reopen(job, folder=room).description == json.loads(json.dumps(made.description))
    True
    """
    project, home = project_and_folder(project, folder)
    with started(engine or project.engine.name, **project.engine.options()) as rows:
        job = Job(project, home, rows, generator())
        place = place_of(job, None)
        if place.file is None:
            raise BadInput("the release is a table of a database; write its report with `keepsense run --report`")
        if not place.file.is_file():
            raise BadInput(f"{place.name}: there is no such release; make it with `keepsense run`")
        _refuse_hidden(job)
        emit(listener, "stage", 0, 3, stage="read and count")
        description = read_description(place.folder)
        digest = digest_of(place.file)
        _same_description(job, place.name, description, digest)
        rules = _recodings(place.folder) if recoding or job.population is not None else []
        counts = job.counts
        after = _as_spelled(job, job.count_in(read_released(job, place.file)))
        sets = of_sets(job, rules)
        table = [rule for rule in rules if rule not in sets]
        if rules:
            _same_release(job, table, after)
        emit(listener, "stage", 1, 3, stage="verify")
        everybody = None
        if job.population is not None:
            everybody = rows.recode(job.population, rules)
        kept_promises, findings = _kept(job, table, _entry(home, place.name, digest))
        verification = verify_release(job, place.file, population=everybody, checked_elsewhere=kept_promises)
        if not verification.ok:
            broken = "; ".join(str(finding) for finding in verification.findings if finding.is_error)
            raise Infeasible(
                f"{place.name}: the released file does not keep its promise, so there is nothing to report: {broken}",
                best=verification,
                relax=("make the release again with `keepsense run`",),
            )
        emit(listener, "stage", 2, 3, stage="measure")
        _ = job.every_count  # counted while the engine is there
    return Outcome(
        place.file,
        verification,
        description,
        table,
        counts,
        after,
        job,
        sets,
        [*findings, *verification.findings],
    )


def _refuse_hidden(job: Job) -> None:
    """Promises about people need to know who they are, row by row, and a release does not say that."""
    drawn = next((step.name for step in job.project.steps if draws(method(step.name))), None)
    if drawn is not None:
        raise BadInput(
            f"the step {drawn!r} draws anew each time, so that the release cannot be compared with its source again; "
            "write the report with `keepsense run --report`"
        )
    for model in job.models:
        if any(name in job.dropped for name in model.columns):
            raise BadInput(
                f"{model.name} is about a column that is not released, so it can be checked only while the release is "
                "made; write the report with `keepsense run --report`"
            )


def _recodings(folder: Path) -> list[Recoding]:
    path = folder / PRIVATE / RECODING
    if not path.is_file():
        raise BadInput(
            "the recoding (private/recoding.json) is not in the release folder; without it only the public report can "
            "be written (--public), or make the release again with `keepsense run --report`"
        )
    return read_recodings(path)


def _as_spelled(job: Job, after: Counts) -> Counts:
    """The released labels with their numbers as the recoding spells them, whatever marks the file has."""
    numbers = writing_of(job).numbers
    values = [
        tuple(read_as_written(v, numbers.get(name)) if isinstance(v, str) and name in numbers else v for v in listed)
        for name, listed in zip(after.names, after.values, strict=True)
    ]
    return replace(after, values=tuple(values))


def _same_release(job: Job, rules: Sequence[Recoding], after: Counts) -> None:
    """Refuse where the recoding does not lead from this source to this file."""
    for rule in whole_table(rules, job.quasi_identifiers):
        try:
            expected = aligned(job.own_counts, rule).apply(job.own_counts)
        except KeepsenseError:
            raise BadInput(
                "the source is not the table that this release was made from (it was changed since); put the old one "
                "back, or make the release again with `keepsense run`"
            ) from None
        before, now = _texts(expected), _texts(after.project(expected.names))
        hidden = (SUPPRESSED,) * len(expected.names)
        if hidden not in now:
            before.pop(hidden, None)  # suppressed records may have been left out
        if before != now:
            raise BadInput(
                "the released file is not what its recoding makes of the source: one of them was changed since; make "
                "the release again with `keepsense run`"
            )


def _texts(counts: Counts) -> Counter[tuple[str, ...]]:
    """Rows of each combination, as they read in a text file."""
    spelled = [[_text(value) for value in values] for values in counts.values]
    rows_of: Counter[tuple[str, ...]] = Counter()
    for row, weight in zip(counts.codes.tolist(), counts.weights.tolist(), strict=True):
        if weight:
            rows_of[tuple(spelled[j][code] for j, code in enumerate(row))] += weight
    return rows_of


def _text(value: Value) -> str:
    """A cell as both tables spell it: numbers by what they are worth, text without what defuses a formula."""
    text = "" if value is None else str(value).removeprefix("'")
    try:
        return repr(float(text))
    except ValueError:
        return text


def _same_description(job: Job, name: str, description: dict[str, Any], digest: str) -> None:
    """Refuse a description that is not of this project's release, or a file that is not the one described."""
    described = {key: description.get(key) for key in ("release", "promises")}
    if described != {"release": name, "promises": json.loads(json.dumps([m.promise() for m in job.models]))}:
        raise BadInput(
            f"{DESCRIPTION} does not describe what the project file promises now; make the release again with "
            "`keepsense run`"
        )
    if description["method"].get("name") != job.project.method.name or description.get("sha256") != digest:
        raise BadInput(
            f"{name} is not the file that {DESCRIPTION} describes: one of them was changed since; make the release "
            "again with `keepsense run`"
        )


def _entry(home: Path, name: str, digest: str) -> Entry | None:
    """What the ledger says of this very file."""
    return next((entry for entry in reversed(read_ledger(home)) if (entry.file, entry.digest) == (name, digest)), None)


def _kept(job: Job, rules: list[Recoding], entry: Entry | None) -> tuple[list[str], list[Finding]]:
    """Promises about the mechanism: checked on the recoding where it still tells, else as the ledger has it."""
    promises = [m.promise() for m in job.models if m.promise().get("about") == "mechanism"]
    if not promises:
        return [], []
    names: set[str] = set()
    for check in (method(job.project.method.name).kept, linkage_kept):
        try:
            names |= set(check(job, rules))
        except KeepsenseError:
            continue
    findings = []
    for promise in promises:
        name = str(promise["model"])
        if name not in names and entry is not None and promise in entry.promises:
            names.add(name)
            findings.append(
                Finding("W408", name, "checked when the release was made; a file and its recoding do not show it again")
            )
    return sorted(names), findings
