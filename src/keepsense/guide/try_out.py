"""Try recommended methods on the data and rank them by what they lose and what risk they leave.

Each goes the way a release goes (`keepsense.publish.run`), verifier included, into a folder that is thrown away.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from keepsense.errors import KeepsenseError, PrivacyWarning
from keepsense.guide.advise import Advice
from keepsense.privacy import record_linkage
from keepsense.publish.distances import released_gaps
from keepsense.publish.measures import inputs_of
from keepsense.publish.pipeline import Outcome, run
from keepsense.publish.project import Method, Project
from keepsense.recoding import Cells, Cuts

_MOST_TUPLES = 20_000
"""Distinct records up to which linkage is measured."""


@dataclass(frozen=True)
class Trial:
    """What came out of trying a method: its loss and risk, or why it failed.

    `loss` is the mean distance between what was and what is released, from 0 to 1: for generalized values the share of
    the column's detail they hide, for moved values how far they were moved. `risk` is the chance to recognize a record.

    >>> Trial("optimal", ok=False, problem="k = 5 cannot be met").loss is None
    True
    """

    name: str
    ok: bool
    loss: float | None = None
    risk: float | None = None
    risk_kind: str = ""
    suppressed: int = 0
    classes: int = 0
    seconds: float = 0.0
    problem: str = ""
    notes: tuple[str, ...] = field(default=())


def try_out(
    project: Project,
    advice: Sequence[Advice],
    *,
    folder: str | Path = ".",
    seconds: float = 30.0,
    rng: Any = None,
) -> list[Trial]:
    """Run each method that project files know on the project's table; best first: least loss, then least risk.

    Searches that can be cut short take the best they find within `seconds`. Columns of sets take no part.

    >>> try_out.__name__
    'try_out'
    """
    found = []
    project = _without_sets(project)
    for one in advice:
        if one.entry.project is None:
            found.append(Trial(one.name, ok=False, problem="project files do not know it yet; use it from Python"))
        else:
            found.append(_try(project, one, Path(folder), seconds, rng))
    return sorted(found, key=_rank)


def _rank(trial: Trial) -> tuple[bool, float, float]:
    large = float("inf")
    return not trial.ok, large if trial.loss is None else trial.loss, large if trial.risk is None else trial.risk


def _without_sets(project: Project) -> Project:
    columns = {
        name: column.model_copy(update={"role": "identifier"})
        if column.kind == "set" and column.role == "quasi-identifier"
        else column
        for name, column in project.columns.items()
    }
    return project.model_copy(update={"columns": columns})


def _try(project: Project, advice: Advice, folder: Path, limit: float, rng: Any) -> Trial:
    short = {"local recoding": {"seconds": limit}, "optimal": {"time_limit": limit}, "anytime": {"time_limit": limit}}
    parameters = {**short.get(advice.name, {}), **advice.parameters}
    method = Method.model_validate({"name": advice.entry.project, "parameters": parameters})
    changed = project.model_copy(update={"method": method})
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as room, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PrivacyWarning)
        try:
            outcome = run(changed, folder=folder, into=room, rng=rng)
        except KeepsenseError as error:
            return Trial(advice.name, ok=False, problem=str(error), seconds=time.perf_counter() - start)
        seconds = time.perf_counter() - start
        told = [str(one.message) for one in caught if issubclass(one.category, PrivacyWarning)]
        if advice.name in short and outcome.seconds.get("decide", 0.0) >= limit:
            told.append(f"stopped after {limit:g} seconds; with more time it may lose less")
        risk, kind = _risk(outcome, advice)
        return Trial(
            advice.name,
            ok=True,
            loss=_loss(outcome, advice),
            risk=risk,
            risk_kind=kind,
            suppressed=outcome.verification.suppressed,
            classes=outcome.verification.classes,
            seconds=seconds,
            notes=tuple(dict.fromkeys(told)),
        )


def _loss(outcome: Outcome, advice: Advice) -> float | None:
    found = outcome.description["utility"].get("loss" if advice.entry.truthful else "mean distance")
    return None if found is None else float(found)


def _risk(outcome: Outcome, advice: Advice) -> tuple[float | None, str]:
    if advice.entry.truthful:
        after = outcome.description["risk"].get("after")
        return (None, "") if after is None else (float(after["prosecutor, highest"]), "highest of any record")
    if advice.name == "strict rank swapping":
        return 1.0 / int(advice.parameters["k"]), "bound, by construction"
    rules = [rule for rule in outcome.recodings if isinstance(rule, Cells | Cuts)]
    if len(rules) != 1 or len(outcome.counts) > _MOST_TUPLES:
        return None, ""
    counts = inputs_of(outcome.plan, rules[0])
    cells = rules[0].cells(counts)
    found = record_linkage(counts, cells, released_gaps(outcome.plan, counts, cells))
    return found.risk, "share of records linked rightly"
