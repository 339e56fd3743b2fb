"""Findings of a project, each with the changes that resolve it, gathered from other rooms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from keepsense.display import percent
from keepsense.draft.open_questions import Decision
from keepsense.errors import Finding, KeepsenseError
from keepsense.guide.advice import warnings_for
from keepsense.guide.answers import from_project
from keepsense.methods.generalize.user_cuts import CUTS
from keepsense.methods.method import METHODS
from keepsense.project.project_file import Project
from keepsense.release.figures.costs import NEARLY_ALL, NEARLY_LOST
from keepsense.release.figures.tells import refuse_identifying, tellings
from keepsense.release.folder.ledger import read_ledger
from keepsense.release.job.job import Job
from keepsense.release.preflight import refuse_marks, warnings
from keepsense.studio.session.changes import method_keys
from keepsense.studio.session.preview import Preview
from keepsense.studio.session.remedies import Remedy, remedies_for, with_k

_STEPS = {"E1": "meaning", "W1": "meaning", "W3": "meaning", "E4": "open", "W4": "protect", "W5": "protect"}
_MORE_SUPPRESSION = 0.05
_USE = re.compile(r"\buse the method ([a-z -]+)")
"""Where a message names a method that can do what this one cannot."""


@dataclass(frozen=True, eq=False)
class Advice:
    """Something to look at: its code, the columns or part it is about, the sentence, the step, and what settles it.

    >>> Advice("W502", "k", "k = 3 leaves a chance of 1 in 3", "protect").remedies
    ()
    """

    code: str
    where: str
    message: str
    step: str
    remedies: tuple[Remedy, ...] = ()


def of_decision(decision: Decision) -> Advice:
    """A question about roles, and what answers it.

    >>> asked = of_decision(Decision(("q7",), "q7 is made vague.", "change it", ("sensitive", "insensitive")))
    >>> [remedy.text for remedy in asked.remedies]
    ['It is so', 'Make it sensitive', 'Make it insensitive']
    """
    each = "it" if len(decision.columns) == 1 else "them"
    yes = Remedy("It is so", agrees=decision.question)
    other = [
        Remedy(f"Make {each} {role}", roles=dict.fromkeys(decision.columns, role))
        for role in decision.roles
        if decision.columns
    ]
    return Advice("", ", ".join(decision.columns), decision.question, "open", (yes, *other))


def findings(job: Job, shown: Preview | None) -> list[Advice]:
    """What a run would warn of, what the guide does, and what the preview shows, each with what settles it.

    >>> from keepsense.release.example import example_job
    >>> job = example_job(privacy=[{"model": "k-anonymity", "k": 3}])
    >>> [(advice.code, [remedy.text for remedy in advice.remedies]) for advice in findings(job, None)][:2]
    [('W404', ['Promise 2 different values of illness']), ('W502', ['Ask for k = 5', 'Ask for k = 11'])]
    """
    listed: list[Finding] = []
    try:
        listed += warnings(job, read_ledger(job.folder))
        listed += warnings_for(from_project(job.project, job.table.rows))
    except KeepsenseError as error:
        return [Advice("", error.column or "", str(error), "open")]
    if any(finding.code == "W404" for finding in listed):
        listed = [finding for finding in listed if finding.code != "W501"]
    refused = _refused(job)
    return [*_of_preview(job, shown), *refused, *(_advice(job.project, finding) for finding in listed)]


def _refused(job: Job) -> list[Advice]:
    """What a run refuses before it begins: cells that read like marks, columns that point at people by themselves."""
    try:
        refuse_marks(job)
        refuse_identifying(job, tellings(job))
    except KeepsenseError as error:
        told = [found for found in getattr(error, "best", None) or () if isinstance(found, Finding)]
        if told:
            return [_advice(job.project, finding) for finding in told]
        column = error.column or ""
        leave = (Remedy(f"Leave {column} out", roles={column: "identifier"}),) if column in job.project.columns else ()
        return [Advice("E", column, str(error), "open", leave)]
    return []


def _advice(project: Project, finding: Finding) -> Advice:
    remedies = remedies_for(project, finding)
    return Advice(finding.code, finding.where, finding.message, _STEPS.get(finding.code[:2], "protect"), remedies)


def _of_preview(job: Job, shown: Preview | None) -> Iterator[Advice]:
    if shown is None:
        return
    if shown.problem:
        yield Advice("E", job.project.method.name, shown.problem, "protect", tuple(_relaxed(job.project, shown)))
    for name, share in shown.lost.items():
        if share > NEARLY_ALL:
            said = f"{name} would lose {percent(share)} of its detail: what is released of it says next to nothing"
            yield _advice(job.project, Finding(NEARLY_LOST, name, said))


def _relaxed(project: Project, shown: Preview) -> Iterator[Remedy]:
    other = _USE.search("; ".join((shown.problem, *shown.remedies)))
    if other is not None and other[1] in METHODS:  # no promise stands in the way, so none need be relaxed
        yield Remedy(f"Use {METHODS[other[1]].title}", method_keys(project, other[1], {}))
        return
    if "levels" in project.method.parameters:
        yield Remedy("Let the search choose the levels", {("method", "parameters", "levels"): None})
    if CUTS in project.method.parameters:
        yield Remedy("Let the method choose the cuts", {("method", "parameters", CUTS): None})
    allowed = project.release.suppression
    if allowed < _MORE_SUPPRESSION:
        yield Remedy("Let 5% of the records be suppressed", {("release", "suppression"): _MORE_SUPPRESSION})
    elif allowed < 0.5:
        yield Remedy(f"Let {2 * allowed:.0%} be suppressed", {("release", "suppression"): 2 * allowed})
    if shown.k > 2:
        yield Remedy(f"Ask for k = {max(2, shown.k // 2)}", {("privacy",): with_k(project, max(2, shown.k // 2))})
    for promise in project.privacy:
        if "column" in promise:
            others = [dict(other) for other in project.privacy if other is not promise]
            if others:
                yield Remedy(f"Drop {promise['model']} of {promise['column']}", {("privacy",): others})
