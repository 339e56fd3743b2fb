"""The one code path from a project file to a verified release; the library, the command line and the studio use it.

Rows are counted, the method decides on what is distinct, the engine applies the recoding and writes a temporary file.
The verifier reads that file back. Only if every promise holds is it renamed to what the project file asks for.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from keepsense.counts import Counts
from keepsense.engines import Engine, Writing, started
from keepsense.errors import Finding, Infeasible
from keepsense.privacy import Verification
from keepsense.progress import Listener, emit
from keepsense.project.file import Project, read_project
from keepsense.random import Random
from keepsense.recoding import Recoding
from keepsense.release.checking import verified
from keepsense.release.describe import DESCRIPTION, PRIVATE, describe_release, write_description
from keepsense.release.job import Job
from keepsense.release.ledger import Entry, entered, read_ledger, today
from keepsense.release.measure import linkage, linkage_kept, measured_risk, measured_utility, promises_linkage
from keepsense.release.place import Draft, place_of
from keepsense.release.randomized import epsilon_of
from keepsense.release.recoding_file import save_recodings
from keepsense.release.reuse import reused
from keepsense.release.scrutiny import check, check_cells, warnings
from keepsense.release.sets import recode_sets
from keepsense.release.suppressed import without_the_few
from keepsense.release.techniques import technique
from keepsense.release.undisturbed import undisturbed


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a run did: where the release is, what the verifier said, what it cost and what it is worth.

    `recodings` say what became of the columns that the method decided on, counted in `counts`; `set_recodings`, one a
    column and applied after those, what became of set-valued ones.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> done.verification.ok, done.counts.total, done.released_values
    (True, 20, {'age': 4, 'job': 4})
    """

    file: Path
    verification: Verification
    description: dict[str, Any]
    recodings: list[Recoding]
    counts: Counts
    job: Job
    set_recodings: list[Recoding] = field(default_factory=list)
    released_values: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    table: str | None = None
    """The released table, where the release went into a database; `file` is its description then."""

    @property
    def name(self) -> str:
        """Name of the released file or table."""
        return self.table or self.file.name


# the verifier works beside the engine: together they leave the rest of the machine something
_MEMORY = "40%"

STAGES = ("read and count", "decide", "recode", "write", "verify", "measure")
"""What a run does, in order; a listener hears a "stage" event at the start of each."""


def run(
    project: Project | str | Path,
    *,
    folder: str | Path | None = None,
    reuse: str | Path | None = None,
    into: str | Path | None = None,
    rng: Random = None,
    listener: Listener | None = None,
    show_values: bool = False,
    engine: str | Engine | None = None,
) -> Outcome:
    """Make a verified release of a table as a project file says.

    `project` is a project file's path, or a `Project` whose relative paths start at `folder`. `reuse` applies the
    recoding of an earlier release to this table, and refuses where the promise would break. `into` rehearses: the
    release goes into that folder and not into the ledger. If the written file breaks a promise, `Infeasible` is raised
    and its `best` is the verification; with `show_values` that names some of the failing classes, which is real data.
    Nothing appears under its final name unless the verifier has
    read it back and found every promise kept.

    >>> import tempfile
    >>> table = "job,illness\\n" + "nurse,flu\\nclerk,cold\\n" * 5
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "people.csv").write_text(table)
    ...     job = Project.model_validate({
    ...         "source": {"path": "people.csv"},
    ...         "columns": {"job": {"role": "quasi-identifier"}, "illness": {"role": "sensitive"}},
    ...         "privacy": [{"model": "k-anonymity", "k": 5}],
    ...     })
    ...     done = run(job, folder=folder)
    ...     done.verification.ok, done.file.name
    (True, 'people.csv')
    """
    if isinstance(project, str | Path):
        folder = Path(project).parent if folder is None else Path(folder)
        project = read_project(project)
    home = Path(folder or ".")
    stage = _Stages(listener)
    chosen = technique(project.method.name)
    with started(engine, memory=_MEMORY) as running:
        job = Job(project, home, running, np.random.default_rng(rng))
        with stage("read and count"):
            check(job)
            place = place_of(job, None if into is None else Path(into))
            place.check()  # before hours are spent on it; and again when nobody else can write there
            counts = job.counts
            check_cells(job)
        emit(listener, "counted", counts.total, counts.total, tuples=len(counts))
        findings = warnings(job, read_ledger(home) if into is None else [])
        with stage("decide"):
            rules = chosen.run(job, project.method.parameters, listener) if reuse is None else reused(job, reuse)
        emit(listener, "decided", 1, 1, method=project.method.name)
        with stage("recode"):
            secret = _beside(job)
            recoded = running.recode(job.table, rules, drop=set(job.dropped) - set(secret), rng=job.rng)
            set_rules, recoded = recode_sets(job, recoded, listener)
            recoded = without_the_few(job, recoded)
            released = running.recode(recoded, [], drop=secret)
            everybody = _population(job, rules)
        with place.draft(job) as draft:
            with stage("write"):
                hidden = _write(job, recoded, released, draft)
            with stage("verify"):
                linked = linkage(job, rules) if promises_linkage(job) else None
                kept = () if reuse is not None else (*chosen.kept(job, rules), *linkage_kept(job, rules, linked))
                verification = verified(
                    job,
                    draft.read_back(),
                    hidden=hidden,
                    population=everybody,
                    checked_elsewhere=kept,
                    show_values=show_values,
                )
            emit(listener, "verified", 1, 1, ok=verification.ok)
            _stop_unless_kept(verification, linked)
            with stage("measure"):
                after = job.count_in(released)
                description = describe_release(
                    job,
                    rules,
                    set_rules,
                    verification,
                    after,
                    measured_utility(job, [*rules, *set_rules], after),
                    measured_risk(job, after, None if everybody is None else job.count_in(everybody), rules),
                    linked,
                )
                digest = draft.digest()
            entry = Entry(
                today(),
                place.name,
                tuple(released.columns),
                [m.promise() for m in job.models],
                project.method.name,
                counts.total,
                sum(map(epsilon_of, rules)),
                digest=digest,
            )
            with (
                undisturbed(),
                entered(home, entry if into is None else None),
                _described(place.folder, [*rules, *set_rules], {**description, "sha256": digest}),
            ):
                draft.publish()
    return Outcome(
        place.file or place.folder / DESCRIPTION,
        verification,
        {**description, "sha256": digest},
        rules,
        counts,
        job,
        set_rules,
        {name: len(after.values_of(name)) for name in after.names},
        [*findings, *verification.findings],
        stage.seconds,
        None if place.file else place.name,
    )


def _beside(job: Job) -> list[str]:
    """Columns that are not released, but that promises are about: who the people are."""
    return list(dict.fromkeys(n for m in job.models for n in m.columns if n in job.dropped))


def _write(job: Job, recoded: Any, released: Any, draft: Draft) -> Path | None:
    """Write the release, and, for promises about people, who they are, in the same order, where nobody sees it."""
    project, secret = job.project.release, _beside(job)
    how = Writing(
        delimiter=project.delimiter,
        shuffle=project.shuffle,
        spreadsheet_safe=project.spreadsheet_safe,
        table=job.released_table,
    )
    same_order = copy.deepcopy(job.rng)
    draft.write(released, how)
    if not secret:
        return None
    beside: Path = job.engine.scratch("beside.parquet")
    others = [n for n in recoded.columns if n not in secret]
    job.engine.write(job.engine.recode(recoded, [], drop=others), beside, how, rng=same_order)
    return beside


def _population(job: Job, rules: list[Recoding]) -> Any:
    """The population recoded like the release, so that both can be compared."""
    return None if job.population is None else job.engine.recode(job.population, rules)


@contextmanager
def _described(folder: Path, rules: list[Recoding], description: dict[str, Any]) -> Iterator[None]:
    """Put the recoding and the description where they belong; if the release does not appear, as they were before."""
    private = folder / PRIVATE
    files = (private / "recoding.json", folder / DESCRIPTION)
    before = [file.read_bytes() if file.exists() else None for file in files]
    made = not private.exists()
    private.mkdir(mode=0o700, exist_ok=True)
    try:
        save_recodings(rules, files[0])
        write_description(folder, description)
        yield
    except BaseException:
        for file, content in zip(files, before, strict=True):
            if content is None:
                file.unlink(missing_ok=True)
            else:
                file.write_bytes(content)
        if made and not any(private.iterdir()):
            private.rmdir()
        raise


def _stop_unless_kept(verification: Verification, linked: Any = None) -> None:
    if verification.ok:
        return
    broken = "; ".join(str(finding) for finding in verification.findings if finding.is_error)
    if linked is not None:
        broken += f"; linking by meaning got {linked.risk:.1%} of the records right"
    raise Infeasible(
        f"the release was not made, because the written file does not keep its promise: {broken}",
        best=verification,
        relax=("allow more suppression", "choose another method", "ask for a smaller promise")
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
