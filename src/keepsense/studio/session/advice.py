"""What to look at in a project, each with the changes that settle it: what other rooms know, gathered in one list."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from keepsense.errors import Finding, KeepsenseError
from keepsense.guide.answers import from_project
from keepsense.guide.warn import warnings_for
from keepsense.privacy import DistinctDiversity, KAnonymity, XYAnonymity
from keepsense.project.file import Project
from keepsense.project.inspection.decide import Decision
from keepsense.project.lines import Keys
from keepsense.release.figures.costs import NEARLY_ALL, NEARLY_LOST
from keepsense.release.figures.tells import refuse_identifying, tellings
from keepsense.release.folder.ledger import read_ledger
from keepsense.release.job.job import Job
from keepsense.release.preflight import refuse_marks, warnings
from keepsense.shown import percent
from keepsense.studio.session.preview import Preview

_STEPS = {"W1": "meaning", "W2": "hierarchies", "W4": "protect", "W5": "protect"}
_COMMAND = re.compile(r"`keepsense (\w+)[^`]*`")
_INSTEAD = {"map": "Meaning", "init": "Open", "inspect": "Open", "run": "Release", "hierarchy": "Hierarchies"}
_MORE_SUPPRESSION = 0.05
_USUAL = (5, 11)


@dataclass(frozen=True, eq=False)
class Remedy:
    """A change that settles something: keys of the project file, or roles of columns; or none, and it is as assumed.

    >>> Remedy("Ask for k = 5", keys={("privacy",): [{"model": "k-anonymity", "k": 5}]}).roles
    {}
    """

    text: str
    keys: Keys = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    agrees: str = ""
    """The question that is answered by it, where all is as was assumed."""


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


def in_the_studio(message: str) -> str:
    """A message with the step of the studio in place of the command that does the same.

    >>> in_the_studio("2 values are not known: `keepsense map FILE job --output mapping.csv`")
    '2 values are not known: the step Meaning'
    >>> in_the_studio('accept all of them with suggestions = "accept"')
    'accept all of them with suggestions = "accept"'
    """
    return _COMMAND.sub(lambda command: f"the step {_INSTEAD.get(command[1], 'Protect')}", message)


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
        column = error.column
        if column not in job.project.columns:
            return [Advice("E", column or "", str(error), "open")]
        remedies = [
            Remedy(f"Leave {column} out", roles={column: "identifier"}),
            Remedy(f"Make {column} vague as well", roles={column: "quasi-identifier"}),
        ]
        return [Advice("E", column, str(error), "open", tuple(remedies))]
    return []


def _advice(project: Project, finding: Finding) -> Advice:
    settle = _SETTLED.get(finding.code)
    remedies = () if settle is None else tuple(settle(project, finding))
    return Advice(finding.code, finding.where, finding.message, _STEPS.get(finding.code[:2], "protect"), remedies)


def _of_preview(job: Job, shown: Preview | None) -> Iterator[Advice]:
    if shown is None:
        return
    if shown.problem:
        yield Advice("E", job.project.method.name, shown.problem, "protect", tuple(_relaxed(job.project, shown)))
    for name, share in shown.lost.items():
        if share > NEARLY_ALL:
            said = f"{name} would lose {percent(share)} of its detail: what is released of it says next to nothing"
            yield Advice(NEARLY_LOST, name, said, "protect", tuple(_kept_better(job.project, name)))


def _relaxed(project: Project, shown: Preview) -> Iterator[Remedy]:
    if "levels" in project.method.parameters:
        yield Remedy("Let the search choose the levels", {("method", "parameters", "levels"): None})
    allowed = project.release.suppression
    if allowed < _MORE_SUPPRESSION:
        yield Remedy("Let 5% of the records be suppressed", {("release", "suppression"): _MORE_SUPPRESSION})
    elif allowed < 0.5:
        yield Remedy(f"Let {2 * allowed:.0%} be suppressed", {("release", "suppression"): 2 * allowed})
    if shown.k > 2:
        yield Remedy(f"Ask for k = {max(2, shown.k // 2)}", {("privacy",): _with_k(project, max(2, shown.k // 2))})
    for promise in project.privacy:
        if "column" in promise:
            others = [dict(other) for other in project.privacy if other is not promise]
            if others:
                yield Remedy(f"Drop {promise['model']} of {promise['column']}", {("privacy",): others})


def _kept_better(project: Project, name: str) -> Iterator[Remedy]:
    yield Remedy(f"Leave {name} out", roles={name: "identifier"})
    weight = 2 * project.columns[name].weight
    yield Remedy(f"Let {name} weigh {weight:g}", {("columns", name, "weight"): weight})


# ---- by code ---------------------------------------------------------------------------------------------------------


def _with_k(project: Project, k: int) -> list[dict[str, Any]]:
    promises = [dict(promise) for promise in project.privacy]
    for promise in promises:
        if "k" in promise:
            promise["k"] = k
            return promises
    return [{"model": KAnonymity.name, "k": k}, *promises]


def _larger_k(project: Project, _: Finding) -> Iterator[Remedy]:
    for k in _USUAL:
        yield Remedy(f"Ask for k = {k}", {("privacy",): _with_k(project, k)})


def _count_people(project: Project, finding: Finding) -> Iterator[Remedy]:
    promises = [dict(promise) for promise in project.privacy]
    for promise in promises:
        if promise["model"] == KAnonymity.name:
            promise |= {"model": XYAnonymity.name, "person": finding.where}
    yield Remedy("Count people, not rows", {("privacy",): promises})


def _diverse(project: Project, _: Finding) -> Iterator[Remedy]:
    about = {promise.get("column") for promise in project.privacy}
    for name in project.having("sensitive"):
        if name not in about:
            more = {"model": DistinctDiversity.name, "l": 2, "column": name}
            yield Remedy(f"Promise 2 different values of {name}", {("privacy",): [*project.privacy, more]})


def _unknown_cells(project: Project, finding: Finding) -> Iterator[Remedy]:
    promises = [
        {**promise, **({"missing": "unknown"} if promise.get("column") == finding.where else {})}
        for promise in project.privacy
    ]
    yield Remedy("Empty cells are only not known", {("privacy",): promises})


def _beside(project: Project, _: Finding) -> Iterator[Remedy]:
    secret = [name for name in project.having("sensitive") if any(p.get("column") == name for p in project.privacy)]
    promises = [
        {**promise, **({"beside": [n for n in secret if n != promise["column"]]} if "column" in promise else {})}
        for promise in project.privacy
    ]
    yield Remedy("Protect each from those who know the others", {("privacy",): promises})


def _accept(project: Project, finding: Finding) -> Iterator[Remedy]:
    if finding.where in project.columns:
        yield Remedy("Let the last noun stand for the phrase", {("columns", finding.where, "suggestions"): "accept"})


_SETTLED: Mapping[str, Callable[[Project, Finding], Iterator[Remedy]]] = {
    "W110": _accept,
    "W403": _count_people,
    "W404": _diverse,
    "W411": _unknown_cells,
    "W412": _beside,
    "W501": _diverse,
    "W502": _larger_k,
}
"""What settles a finding, by its code."""
