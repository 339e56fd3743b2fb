"""The six steps of the studio, and the state of each: ahead, waiting for a decision, done, or stale."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from keepsense.project.project_file import Column, Project

StepState = Literal["done", "decide", "stale", "ahead"]

STEPS = ("open", "meaning", "hierarchies", "protect", "explore", "release")
"""The six steps, in the order in which a release is made."""

_MEANING = (
    "kind",
    "taxonomy",
    "domain",
    "within",
    "mapping",
    "senses",
    "language",
    "suggestions",
    "delimiter",
    "order",
)
_READ = ("role", "kind", "empty", "format", "delimiter")


@dataclass(frozen=True)
class Step:
    """A step, how far it is, and why, in a sentence.

    >>> Step("open", "decide", "2 roles are guesses.").state
    'decide'
    """

    name: str
    state: StepState
    why: str


def fingerprint(project: Project, step: str) -> str:
    """What a step was decided on: it changes when, and only when, the step should be looked at again.

    >>> promise = {"model": "k-anonymity", "k": 5}
    >>> five, ten = (Project.model_validate({"privacy": [promise | {"k": k}]}) for k in (5, 10))
    >>> [fingerprint(five, step) == fingerprint(ten, step) for step in ("open", "protect")]
    [True, False]
    """
    known = project.columns if step == "open" else {n: c for n, c in project.columns.items() if _meant(c)}
    seen: list[object] = [project.source]
    if step == "open":
        seen += [(name, [getattr(column, key) for key in _READ]) for name, column in known.items()]
    elif step == "meaning":
        seen += [(name, [getattr(column, key) for key in _MEANING]) for name, column in known.items()]
    elif step == "hierarchies":
        seen += [
            (name, column.model_dump(exclude={"weight"}))
            for name, column in known.items()
            if column.role == "quasi-identifier"
        ]
    else:
        seen.append(project.model_dump(exclude={"release": {"folder", "file"}}))
    return sha256(repr(seen).encode("utf-8", "surrogatepass")).hexdigest()


def _meant(column: Column) -> bool:
    return column.role in ("quasi-identifier", "sensitive")
