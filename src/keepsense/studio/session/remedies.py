"""Remedies of findings, by code: changes of the project, the field where to decide, or a note.

A finding that a change resolves has a click that makes it. Where only a person can decide (what a word means), a click
leads to the field. A finding that is only to be known is noted: then it is not shown again while it says the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from keepsense.errors import Finding
from keepsense.privacy.dp_promises import ApproximatePrivacy, DifferentialPrivacy
from keepsense.privacy.k_anonymity import KAnonymity, XYAnonymity
from keepsense.privacy.l_diversity import DistinctDiversity
from keepsense.privacy.privacy_model import PRIVACY
from keepsense.project.project_file import Project
from keepsense.project.toml_editor import Keys

_USUAL_SIZES = (5, 11)
_MOST_OFFERED = 3


@dataclass(frozen=True, eq=False)
class Remedy:
    """A click that settles something: keys of the project file, roles of columns, a place to go to, or nothing to do.

    With `agrees` all is as was assumed in that question; with `notes` somebody knows by now. `step` and `field` are the
    place where somebody has to decide: a page, and the name of the field there.

    >>> Remedy("Ask for k = 5", keys={("privacy",): [{"model": "k-anonymity", "k": 5}]}).roles
    {}
    """

    text: str
    keys: Keys = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    agrees: str = ""
    notes: str = ""
    step: str = ""
    field: str = ""


@dataclass(frozen=True)
class Settling:
    """How findings of a code are settled: in words, and the clicks for one of them in a project.

    >>> from keepsense.release.example import example_job
    >>> finding = Finding("W502", "k", "k = 3 leaves a chance of 1 in 3")
    >>> [remedy.text for remedy in SETTLED["W502"].clicks(example_job().project, finding)]
    ['Ask for k = 5', 'Ask for k = 11']
    """

    does: str
    clicks: Callable[[Project, Finding], Iterator[Remedy]]


def remedies_for(project: Project, finding: Finding) -> tuple[Remedy, ...]:
    """The clicks that settle a finding.

    >>> from keepsense.release.example import example_job
    >>> [remedy.text for remedy in remedies_for(example_job().project, Finding("W401", "ledger", "earlier releases"))]
    ['I know']
    """
    return tuple(SETTLED[finding.code].clicks(project, finding)) if finding.code in SETTLED else ()


def note_of(finding: Finding) -> str:
    """What is remembered of a finding that somebody has noted.

    >>> note_of(Finding("W401", "ledger", "1 earlier release"))
    'W401 ledger: 1 earlier release'
    """
    return str(finding)


def with_k(project: Project, k: int) -> list[dict[str, Any]]:
    """The promises with another k, in the first of them that has one, or in one more.

    >>> from keepsense.release.example import example_job
    >>> with_k(example_job().project, 7)
    [{'model': 'k-anonymity', 'k': 7}]
    """
    promises = [dict(promise) for promise in project.privacy]
    for promise in promises:
        if "k" in promise:
            promise["k"] = k
            return promises
    return [{"model": KAnonymity.name, "k": k}, *promises]


# ---- clicks ----------------------------------------------------------------------------------------------------------


def _noted(_: Project, finding: Finding) -> Iterator[Remedy]:
    yield Remedy("I know", notes=note_of(finding))


def _named(project: Project, finding: Finding) -> list[str]:
    """Columns of the project that a finding is about."""
    return [name for name in finding.where.split(", ") if name in project.columns]


def _left_out(project: Project, finding: Finding) -> Iterator[Remedy]:
    for name in _named(project, finding)[:_MOST_OFFERED]:
        yield Remedy(f"Leave {name} out", roles={name: "identifier"})


def _left_out_or_noted(project: Project, finding: Finding) -> Iterator[Remedy]:
    yield from _left_out(project, finding)
    yield from _noted(project, finding)


def _left_out_or_vague(project: Project, finding: Finding) -> Iterator[Remedy]:
    yield from _left_out(project, finding)
    for name in _named(project, finding)[:_MOST_OFFERED]:
        yield Remedy(f"Make {name} vague as well", roles={name: "quasi-identifier"})


def _kept_better(project: Project, finding: Finding) -> Iterator[Remedy]:
    yield from _left_out(project, finding)
    for name in _named(project, finding)[:_MOST_OFFERED]:
        weight = 2 * project.columns[name].weight
        yield Remedy(f"Let {name} weigh {weight:g}", {("columns", name, "weight"): weight})


def _words(project: Project, finding: Finding) -> Iterator[Remedy]:
    yield Remedy("Say what they mean", step="meaning", field=f"Words of {finding.where}")
    yield from _noted(project, finding)


def _no_taxonomy(project: Project, finding: Finding) -> Iterator[Remedy]:
    yield Remedy("Choose another taxonomy", step="meaning", field=f"Taxonomy of {finding.where}")
    for name in _named(project, finding):
        keys = ("taxonomy", "domain", "suggestions", "language", "within")
        yield Remedy(f"Take {name} without one", {("columns", name, key): None for key in keys})


def _accept(project: Project, finding: Finding) -> Iterator[Remedy]:
    for name in _named(project, finding):
        yield Remedy("Let the last noun stand for the phrase", {("columns", name, "suggestions"): "accept"})
    yield from _words(project, finding)


def _count_people(project: Project, finding: Finding) -> Iterator[Remedy]:
    promises = [dict(promise) for promise in project.privacy]
    for promise in promises:
        if promise["model"] == KAnonymity.name:
            promise |= {"model": XYAnonymity.name, "person": finding.where}
    yield Remedy("Count people, not rows", {("privacy",): promises})


def _diverse(project: Project, _: Finding) -> Iterator[Remedy]:
    about = {promise.get("column") for promise in project.privacy}
    for name in [n for n in project.having("sensitive") if n not in about][:_MOST_OFFERED]:
        more = {"model": DistinctDiversity.name, "l": 2, "column": name}
        yield Remedy(f"Promise 2 different values of {name}", {("privacy",): [*project.privacy, more]})


def _diverse_or_role(project: Project, finding: Finding) -> Iterator[Remedy]:
    yield from _diverse(project, finding)
    if not project.having("sensitive"):
        name = next(iter(project.columns), "")
        yield Remedy("Say which columns are sensitive", step="open", field=f"Role of {name}")
    yield from _noted(project, finding)


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


def _larger_k(project: Project, _: Finding) -> Iterator[Remedy]:
    for k in _USUAL_SIZES:
        yield Remedy(f"Ask for k = {k}", {("privacy",): with_k(project, k)})


def _smaller_k(project: Project, finding: Finding) -> Iterator[Remedy]:
    now = next((int(promise["k"]) for promise in project.privacy if "k" in promise), 0)
    if now > 2:
        yield Remedy(f"Ask for k = {max(2, now // 2)}", {("privacy",): with_k(project, max(2, now // 2))})
    yield from _noted(project, finding)


def _more_left_out(project: Project, _: Finding) -> Iterator[Remedy]:
    share = min(0.5, max(0.05, 2 * project.release.suppression))
    yield Remedy(f"Let {share:.0%} be suppressed", {("release", "suppression"): share})


def _fewer_columns(project: Project, finding: Finding) -> Iterator[Remedy]:
    for name in project.quasi_identifiers[-_MOST_OFFERED:]:
        yield Remedy(f"Leave {name} out", roles={name: "identifier"})
    yield Remedy("Choose among all of them", step="open", field=f"Role of {next(iter(project.columns), '')}")
    yield from _noted(project, finding)


def _spreadsheets(project: Project, finding: Finding) -> Iterator[Remedy]:
    yield Remedy("Write them as they are", {("release", "spreadsheet_safe"): False})
    yield from _noted(project, finding)


def _approximate(project: Project, finding: Finding) -> Iterator[Remedy]:
    promises = [dict(p) for p in project.privacy if p["model"] != DifferentialPrivacy.name]
    epsilon = next((p["epsilon"] for p in project.privacy if p["model"] == DifferentialPrivacy.name), 1.0)
    section = {**PRIVACY[ApproximatePrivacy.name].section(k=5, column=None), "epsilon": epsilon}
    yield Remedy(f"Promise {ApproximatePrivacy.name}", {("privacy",): [*promises, section]})
    yield from _noted(project, finding)


def _promise_field(project: Project, finding: Finding) -> Iterator[Remedy]:
    yield Remedy("Mend the promise", step="protect", field="Promises")
    yield from _noted(project, finding)


def _concepts(project: Project, finding: Finding) -> Iterator[Remedy]:
    about = next((promise for promise in project.privacy if _has_concepts(str(promise["model"]))), None)
    if about is not None:
        promises = [{**p, **({"form": "concepts"} if p is about else {})} for p in project.privacy]
        yield Remedy("Promise it of kinds, too", {("privacy",): promises})
    yield from _noted(project, finding)


def _has_concepts(name: str) -> bool:
    return any(model.form == "concepts" for model in PRIVACY[name].forms)


SETTLED: Mapping[str, Settling] = {
    "W101": Settling("leads to the words that are not known, to give them a meaning; or is noted", _words),
    "W104": Settling("leads to the words with several senses; or is noted", _words),
    "W105": Settling("leads to the words that were taken by their last noun; or is noted", _words),
    "W110": Settling("accepts the last noun, or leads to the words", _accept),
    "W111": Settling("leads to the words in doubt; or is noted", _words),
    "E101": Settling("leads to the choice of a taxonomy, or does without one", _no_taxonomy),
    "W212": Settling("is noted", _noted),
    "W305": Settling("leads to the terms that are not known; or is noted", _words),
    "W306": Settling("leads to the choice of a taxonomy, or does without one", _no_taxonomy),
    "W307": Settling("is noted", _noted),
    "W308": Settling("leads to the terms that are not known; or is noted", _words),
    "W309": Settling("leaves the column out, or lets it weigh twice", _kept_better),
    "W311": Settling("is noted", _noted),
    "W312": Settling("is noted", _noted),
    "W313": Settling("is noted", _noted),
    "W314": Settling("is noted", _noted),
    "E401": Settling("leaves the column out, or makes it vague as well", _left_out_or_vague),
    "E402": Settling("leaves the column out, or makes it vague as well", _left_out_or_vague),
    "W401": Settling("is noted", _noted),
    "W402": Settling("is noted", _noted),
    "W403": Settling("promises people instead of rows", _count_people),
    "W404": Settling("promises different values of the column", _diverse),
    "W405": Settling("leaves the sets out, or is noted", _left_out_or_noted),
    "W406": Settling("lets more records be left out", _more_left_out),
    "W409": Settling("leaves the column out, or is noted", _left_out_or_noted),
    "W410": Settling("leaves the column out, or is noted", _left_out_or_noted),
    "W411": Settling("takes empty cells for unknown ones", _unknown_cells),
    "W412": Settling("protects each from those who know the others", _beside),
    "W413": Settling("leaves the column out, or lets it weigh twice", _kept_better),
    "W415": Settling("writes cells as they are, or is noted", _spreadsheets),
    "W416": Settling("leaves the column out, or is noted", _left_out_or_noted),
    "W501": Settling("promises different values, or leads to the roles; or is noted", _diverse_or_role),
    "W502": Settling("asks for a larger k", _larger_k),
    "W503": Settling("is noted", _noted),
    "W504": Settling("asks for a smaller k, or is noted", _smaller_k),
    "W505": Settling("leaves a column out, or leads to the roles; or is noted", _fewer_columns),
    "W506": Settling("is noted", _noted),
    "W507": Settling("leaves a column out, or leads to the roles; or is noted", _fewer_columns),
    "W508": Settling("is noted", _noted),
    "W509": Settling("promises approximate differential privacy, or is noted", _approximate),
    "W510": Settling("leads to the promises, or is noted", _promise_field),
    "W511": Settling("promises it of kinds as well, or is noted", _concepts),
}
"""What settles a finding, by its code: every code that can appear in the studio."""

ELSEWHERE: Mapping[str, str] = {
    **dict.fromkeys(("W102", "W103", "W106", "W107", "W108", "W109"), "told by `keepsense map`"),
    **dict.fromkeys(
        ("E201", "E202", "E203", "E204", "E205", "E206", "E207", "E208", "E209"),
        "stops a run: its problem and what to relax are shown with it",
    ),
    **dict.fromkeys(
        ("E301", "E302", "E303", "E304", "E305", "E306", "E307", "W301", "W302", "W303", "W304"),
        "about a hierarchy file: shown where the file is chosen",
    ),
    **dict.fromkeys(("W408",), "told when a release is verified again"),
    **dict.fromkeys(("W315",), "told when a release is made"),
    **dict.fromkeys(("W421", "W422", "W423", "W424"), "told when a recoding is used again"),
}
"""Codes that never appear among the studio's findings, and where they are told instead."""
