"""The one path from a project to a verified release; the library, the command line and the studio use it.

Rows are counted, the method decides on what is distinct, the engine applies the recoding and writes a temporary file.
The verifier reads that file back. Only if every promise holds is it renamed to what the project file asks for.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from keepsense.counts import Counts
from keepsense.engines.formats.table_formats import format_of
from keepsense.engines.protocol import Engine, started
from keepsense.errors import Finding, Infeasible
from keepsense.methods.perturb.differential_privacy import epsilon_of
from keepsense.privacy.dp_promises import differentially_private
from keepsense.progress import Listener, emit
from keepsense.project.column_meaning import Given
from keepsense.project.project_file import Project, project_and_folder
from keepsense.recoding import Recoding
from keepsense.release.again.drift import with_concepts
from keepsense.release.again.reuse import Unknown, reuse_recoding
from keepsense.release.figures.costs import nearly_lost
from keepsense.release.figures.extremes import standing_out
from keepsense.release.figures.measure import linkage, linkage_kept, measured_risk, measured_utility, promises_linkage
from keepsense.release.figures.tells import hidden_told, refuse_identifying, refuse_telling, tellings
from keepsense.release.folder.describe import describe_release, described
from keepsense.release.folder.description import DESCRIPTION
from keepsense.release.folder.ledger import Entry, entered, read_ledger, today
from keepsense.release.folder.place import Draft, Place, place_of, writing_of
from keepsense.release.interrupts import interrupts_held
from keepsense.release.job.job import Job
from keepsense.release.job.recode import Recoded, recode
from keepsense.release.preflight import (
    other_promise,
    refuse_contradictions,
    refuse_marks,
    refuse_too_slow,
    replaced_labels,
    warnings,
)
from keepsense.release.verify import verify_release
from keepsense.risk.record_linkage import Linkage
from keepsense.secure_random import Random, generator
from keepsense.verification.check_result import Verification


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a run did: where the release is, what the verifier said, what it cost and what it is worth.

    `recodings` say what became of the columns that the method decided on, counted in `counts`; `set_recodings`, one a
    column and applied after those, what became of set-valued ones; `after` counts the released quasi-identifiers.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> done.verification.ok, done.description["classes"], done.released_values
    (True, 4, {'age': 4, 'job': 4})
    """

    file: Path
    verification: Verification
    description: dict[str, Any]
    recodings: list[Recoding]
    counts: Counts
    after: Counts
    job: Job
    set_recodings: list[Recoding] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    table: str | None = None
    """The released table, where the release went into a database; `file` is its description then."""

    @property
    def name(self) -> str:
        """Name of the released file or table."""
        return self.table or self.file.name

    @property
    def released_values(self) -> dict[str, int]:
        """How many different values each quasi-identifier has in the release."""
        return {name: len(self.after.values_of(name)) for name in self.after.names}


STAGES = ("read and count", "decide", "recode", "write", "verify", "measure")
"""What a run does, in order; a listener hears a "stage" event at the start of each."""


def run(  # noqa: PLR0913
    project: Project | str | Path,
    *,
    data: object = None,
    given: Given | None = None,
    folder: str | Path | None = None,
    reuse: str | Path | None = None,
    unknown: Unknown = "refuse",
    into: str | Path | None = None,
    rng: Random = None,
    listener: Listener | None = None,
    show_values: bool = False,
    engine: str | Engine | None = None,
) -> Outcome:
    """Make a verified release of a table as a project file says.

    `project` is a project file's path, or a `Project` whose relative paths start at `folder`. `data` is a frame that
    takes the place of the source that the project names, `given` what else is in memory. `reuse` applies the recoding
    of an earlier release to this table, and refuses where the promise would break; values that its rules do not cover
    are refused, or their records suppressed, as `unknown` says. `into` rehearses: the release goes
    into that folder and not into the ledger. `engine` is the name of an engine, or one that runs already and stays
    open; without it, it is the one that the project names. If the written file breaks a promise, `Infeasible` is
    raised and its `best` is the verification; with `show_values` that names some of the failing classes, which is real
    data. Nothing appears under its final name unless the verifier has read it back and found every promise kept.

    >>> import tempfile
    >>> table = {"job": ["nurse", "clerk"] * 5, "illness": ["flu", "cold"] * 5}
    >>> project = Project.model_validate({
    ...     "columns": {"job": {"role": "quasi-identifier"}, "illness": {"role": "sensitive"}},
    ...     "privacy": [{"model": "k-anonymity", "k": 5}],
    ...     "release": {"file": "people.csv"},
    ... })
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = run(project, data=table, folder=folder)
    ...     done.verification.ok, done.file.name, len(done.file.read_text().splitlines())
    (True, 'people.csv', 11)
    """
    project, home = project_and_folder(project, folder)
    rehearsed = None if into is None else Path(into)
    stage = _Stages(listener)
    with started(engine or project.engine.name, **project.engine.options()) as rows:
        job = Job(project, home, rows, generator(rng), data, given or Given())
        with stage("read and count"):
            refuse_contradictions(job)
            place = place_of(job, rehearsed)
            place.check()  # before hours are spent on it; and again when nobody else can write there
            counts = job.counts
            if reuse is None:
                refuse_too_slow(job)
            refuse_marks(job)
            telling = tellings(job)
            identifying = refuse_identifying(job, telling)
        emit(listener, "counted", counts.total, counts.total, tuples=len(counts))
        findings = [*warnings(job, read_ledger(home) if rehearsed is None else []), *identifying]
        with stage("decide"):
            if reuse is None:
                rules = job.method.run(job, project.method.parameters, listener)
                findings += replaced_labels(job) if job.truthful else []
            else:
                rules, drifted = reuse_recoding(job, reuse, unknown)
                findings += drifted
        emit(listener, "decided", 1, 1, method=project.method.name)
        with stage("recode"):
            telling = hidden_told(job, telling, rules)
            findings += refuse_telling(job, telling)
            recoded = recode(job, rules, listener)
            findings += standing_out(job, recoded.counts)
        with place.draft(job) as draft:
            with stage("write"):
                beside = _write(job, recoded, draft)
            with stage("verify"):
                linked = linkage(job, rules) if promises_linkage(job) else None
                kept_promises = (
                    () if reuse is not None else (*job.method.kept(job, rules), *linkage_kept(job, rules, linked))
                )
                verification = verify_release(
                    job,
                    draft.read_back(),
                    hidden=beside,
                    population=recoded.population,
                    checked_elsewhere=kept_promises,
                    show_values=show_values,
                )
            emit(listener, "verified", 1, 1, ok=verification.ok)
            _stop_unless_kept(job, verification, linked)
            with stage("measure"):
                guarded = _guarded(job, recoded)
                description = {
                    **_measured(job, recoded, verification, linked),
                    **({"cells with an apostrophe": guarded} if guarded else {}),
                    "sha256": draft.digest(),
                }
                for name, column in description["columns"].items():
                    column |= telling[name].described() if name in telling else {}
                if reuse is None:
                    lost = {name: column.get("lost", 0.0) for name, column in description["columns"].items()}
                    findings += nearly_lost(job, lost)
            if project.release.suppressed == "keep" and description["of them left out"]:
                gone = f"{description['of them left out']:,} suppressed records would break a promise and were left out"
                findings.append(Finding("W406", "release", gone))
            _publish(job, recoded, place, draft, description, rehearsed=rehearsed is not None)
    return Outcome(
        place.file or place.folder / DESCRIPTION,
        verification,
        description,
        rules,
        counts,
        recoded.counts,
        job,
        recoded.set_rules,
        [*findings, *verification.findings, *_apostrophes(guarded)],
        stage.seconds,
        None if place.file else place.name,
    )


def _write(job: Job, made: Recoded, draft: Draft) -> Path | None:
    """Write the release, and, for promises about people, who they are, in the same order, where nobody sees it."""
    how = writing_of(job)
    same_order = copy.deepcopy(job.rng)
    draft.write(made.released, how)
    if not made.beside:
        return None
    path = job.engine.scratch("beside.parquet")
    others = [name for name in made.rows.columns if name not in made.beside]
    job.engine.write(job.engine.recode(made.rows, [], drop=others), path, replace(how, like=None), rng=same_order)
    return path


def _guarded(job: Job, made: Recoded) -> dict[str, int]:
    """Cells of each column that are written with an apostrophe, so that no spreadsheet runs them."""
    if job.project.release.database is not None:
        return {}
    return job.engine.guarded(made.released, replace(writing_of(job), format=format_of(job.released_name).name))


def _apostrophes(guarded: Mapping[str, int]) -> Iterator[Finding]:
    for name, cells in guarded.items():
        yield Finding("W415", name, f"{cells:,} cell(s) begin like a formula and were written with an apostrophe")


def _measured(job: Job, made: Recoded, verification: Verification, linked: Linkage | None) -> dict[str, Any]:
    """What the release lost and what risk is left, in its public description."""
    if differentially_private(job.models):  # such figures compare with the table, and no budget was set aside for them
        return describe_release(job, made, verification, {}, {}, None)
    everybody = None if made.population is None else job.count_in(made.population)
    utility = measured_utility(job, made.every_rule, made.counts)
    risk = measured_risk(job, made.people or made.counts, everybody, made.rules)
    return describe_release(job, made, verification, utility, risk, linked)


def _publish(
    job: Job, made: Recoded, place: Place, draft: Draft, description: dict[str, Any], *, rehearsed: bool
) -> None:
    """Let the release, its description, its private recoding and its line in the ledger appear: all, or none."""
    entry = Entry(
        today(),
        place.name,
        tuple(made.released.columns),
        [model.promise() for model in job.models],
        job.project.method.name,
        job.counts.total,
        sum(map(epsilon_of, made.rules)),
        digest=description["sha256"],
    )
    with (
        interrupts_held(),
        entered(job.folder, None if rehearsed else entry),
        described(place.folder, with_concepts(job, made.every_rule), description) as digest,
    ):
        draft.publish(digest)


def _stop_unless_kept(job: Job, verification: Verification, linked: Linkage | None) -> None:
    if verification.ok:
        return
    broken = "; ".join(str(finding) for finding in verification.findings if finding.is_error)
    if linked is not None:
        broken += f"; linking by meaning got {linked.risk:.1%} of the records right"
        if linked.at_most > linked.risk:
            broken += f" ({linked.tried:,} were tried; it may be {linked.at_most:.1%} of all)"
    fitting = other_promise(job)
    usual = ("allow more suppression", "choose another method", "ask for a smaller promise")
    raise Infeasible(
        f"the release was not made, because the written file does not keep its promise: {broken}",
        best=verification,
        relax=((fitting, *usual[1:]) if fitting else usual)
        if verification.breaks_a_promise
        else ("release another format, which may carry the values as they are",),
    )


class _Stages:
    """Tells a listener which stage begins, and adds up the seconds of each."""

    def __init__(self, listener: Listener | None) -> None:
        self.seconds: dict[str, float] = {}
        self._listener = listener

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        emit(self._listener, "stage", STAGES.index(stage), len(STAGES), stage=stage)
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - start
