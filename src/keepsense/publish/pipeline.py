"""The one code path from a project file to a verified release; the library, the command line and the studio use it.

Rows are counted, the method decides on what is distinct, the engine applies the recoding and writes a temporary file.
The verifier reads that file back. Only if every promise holds is it renamed to what the project file asks for.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from keepsense.counts import Counts
from keepsense.engines import Writing, engine
from keepsense.errors import BadInput, Finding, Infeasible
from keepsense.privacy import Verification, bind, decide, suppression_limit, verify
from keepsense.progress import Listener, emit
from keepsense.publish.ledger import Entry, add_entry, read_ledger, today, warnings_for
from keepsense.publish.measures import measured_risk, measured_utility
from keepsense.publish.plan import Plan, Random
from keepsense.publish.project import Project, read_project
from keepsense.publish.recoding_file import read_recodings, save_recodings
from keepsense.publish.release import PRIVATE, describe_release, write_description
from keepsense.publish.techniques import technique
from keepsense.recoding import Cuts, Recoding


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a run did: where the release is, what the verifier said, what it cost and what it is worth.

    >>> Outcome.__name__
    'Outcome'
    """

    file: Path
    verification: Verification
    description: dict[str, Any]
    recodings: list[Recoding]
    counts: Counts
    plan: Plan
    findings: list[Finding] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)


def run(
    project: Project | str | Path,
    *,
    folder: str | Path | None = None,
    reuse: str | Path | None = None,
    rng: Random = None,
    listener: Listener | None = None,
) -> Outcome:
    """Make a verified release of a table as a project file says.

    `project` is a project file's path, or a `Project` whose relative paths start at `folder`. `reuse` applies the
    recoding of an earlier release to this table, and refuses where the promise would break. Nothing appears under its
    final name unless the verifier has read it back and found every promise kept.

    >>> import tempfile
    >>> table = "job,illness\\n" + "nurse,flu\\nclerk,cold\\n" * 5
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "people.csv").write_text(table)
    ...     plan = Project.model_validate({
    ...         "source": {"path": "people.csv"},
    ...         "columns": {"job": {"role": "quasi-identifier"}, "illness": {"role": "sensitive"}},
    ...         "privacy": [{"model": "k-anonymity", "k": 5}],
    ...     })
    ...     done = run(plan, folder=folder)
    ...     done.verification.ok, done.file.name
    (True, 'people.csv')
    """
    if isinstance(project, str | Path):
        folder = Path(project).parent if folder is None else Path(folder)
        project = read_project(project)
    home = Path(folder or ".")
    timer = _Timer()
    with engine() as running:
        plan = Plan(project, home, running, np.random.default_rng(rng))
        with timer("read and count"):
            counts = plan.counts
            _check(plan)
        emit(listener, "counted", counts.total, counts.total, tuples=len(counts))
        findings = warnings_for(read_ledger(home), tuple(c for c in plan.table.columns if c not in plan.dropped))
        with timer("decide"):
            rules = _decide(plan, reuse, listener)
        emit(listener, "decided", 1, 1, method=project.method.name)
        with timer("recode"):
            released = running.recode(plan.table, rules, drop=plan.dropped, rng=plan.rng)
        target = _target(plan)
        part = target.with_name(f".{target.name}.unverified{''.join(target.suffixes)}")
        try:
            with timer("write"):
                how = Writing(
                    delimiter=project.release.delimiter,
                    shuffle=project.release.shuffle,
                    spreadsheet_safe=project.release.spreadsheet_safe,
                )
                running.write(released, part, how, rng=plan.rng)
            with timer("verify"):
                verification = _verified(plan, part)
            emit(listener, "verified", 1, 1, ok=verification.ok)
            _stop_unless_kept(verification)
            with timer("measure"):
                after = running.count(released, plan.quasi_identifiers)
                utility = measured_utility(plan, counts, rules)
                description = describe_release(plan, rules, verification, utility, measured_risk(plan, counts, after))
            private = target.parent / PRIVATE
            private.mkdir(mode=0o700, exist_ok=True)
            save_recodings(rules, private / "recoding.json")
            write_description(target.parent, description)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
        kept = tuple(released.columns)
        entry = Entry(today(), target.name, kept, [m.promise() for m in plan.models], project.method.name, counts.total)
        add_entry(home, entry)
    return Outcome(
        target, verification, description, rules, counts, plan, [*findings, *verification.findings], timer.seconds
    )


def _check(plan: Plan) -> None:
    """Refuse contradictions before anything is computed."""
    for model in plan.models:
        for name in model.columns:
            role = plan.project.columns[name].role if name in plan.project.columns else "unlisted"
            if role == "quasi-identifier":
                raise BadInput(f"column {name!r} is a quasi-identifier and sensitive for {model.name}; choose one role")
            if role == "identifier":
                raise BadInput(f"column {name!r} is removed as an identifier, but {model.name} is about it")


def _decide(plan: Plan, reuse: str | Path | None, listener: Listener | None) -> list[Recoding]:
    if reuse is None:
        chosen = technique(plan.project.method.name)
        return chosen.run(plan, plan.project.method.parameters, listener)
    rules = read_recodings(Path(reuse))
    if len(rules) != 1 or not isinstance(rules[0], Cuts):
        raise BadInput("only a recoding of whole values (levels or cuts) can be reused; this one is for one table")
    return [_reused(plan, rules[0])]


def _reused(plan: Plan, rule: Cuts) -> Cuts:
    """The same cuts for a new table, with the classes suppressed that would break the promise here."""
    if set(rule.names) != set(plan.quasi_identifiers):
        raise BadInput("the recoding is for other quasi-identifiers than the project file names")
    bare = Cuts(rule.cuts)
    cells = bare.cells(plan.counts)
    after = plan.counts.recoded(cells.values, cells.codes)
    limit = suppression_limit(plan.project.release.suppression, plan.counts.total)
    decision = decide(bind(plan.models, plan.counts), after.weights, after.histograms, limit)
    if not decision.holds:
        raise Infeasible(
            "the recoding of the earlier release does not keep the promise for this table",
            best=decision,
            relax=("allow more suppression", "make a new recoding without --reuse"),
        )
    labels = [tuple(after.values[j][c] for j, c in enumerate(row)) for row in after.codes[~decision.kept].tolist()]
    return Cuts(rule.cuts, frozenset(labels))


def _target(plan: Plan) -> Path:
    """Path of the released file; its folder is made."""
    name = plan.project.release.file or Path(plan.project.source.path).name
    if Path(name).name != name or name.startswith("."):
        raise BadInput(f"the released file's name {name!r} must be a plain file name")
    folder = plan.folder / plan.project.release.folder
    target = folder / name
    source = Path(plan.located(plan.project.source))
    if source.exists() and target.exists() and target.samefile(source):
        raise BadInput("the release would overwrite its own source; give it another folder or name")
    folder.mkdir(parents=True, exist_ok=True)
    return target


def _verified(plan: Plan, part: Path) -> Verification:
    """Read the written file back with the verifier; formats it does not read itself come to it as Arrow."""
    text = part.suffix.lower() in (".csv", ".tsv", ".txt", ".parquet")
    released: Any = part if text else plan.engine.read(part).arrow()
    recoded = set(plan.quasi_identifiers)
    return verify(
        released,
        plan.models,
        quasi_identifiers=plan.quasi_identifiers,
        sensitive=[n for n in plan.project.having("sensitive") if n not in plan.dropped],
        original=plan.table.arrow(),
        identifiers=plan.project.having("identifier", "person"),
        preserved=_preserved(plan, recoded),
        suppression=plan.project.release.suppression,
        missing="wildcard" if any(plan.column(n).missing == "wildcard" for n in recoded) else "category",
        delimiter=plan.project.release.delimiter if part.suffix.lower() != ".parquet" and text else None,
    )


def _preserved(plan: Plan, recoded: set[str]) -> list[str]:
    """Columns that must come out as they went in; those with text a spreadsheet would run are defused, so not these."""
    kept = [n for n in plan.table.columns if n not in recoded and n not in plan.dropped]
    if not plan.project.release.spreadsheet_safe:
        return kept
    from keepsense.engines.files import holds_formulas

    return [n for n in kept if not holds_formulas(plan.engine, plan.table, n)]


def _stop_unless_kept(verification: Verification) -> None:
    if verification.ok:
        return
    broken = "; ".join(str(finding) for finding in verification.findings if finding.is_error)
    raise Infeasible(
        f"the release was not made, because the written file does not keep its promise: {broken}",
        best=verification,
        relax=("allow more suppression", "choose another method", "ask for a smaller promise"),
    )


class _Timer:
    """Seconds by step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, step: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[step] = self.seconds.get(step, 0.0) + time.perf_counter() - start
