"""Try recommended methods on the data and rank them by the loss and the risk that they leave.

Each goes the way a release goes (`keepsense.release.run`), verifier included, into a folder that is thrown away.
All methods are measured in the same way: loss by `keepsense.utility.overall_distance`, risk by a linkage attack.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from keepsense.errors import Infeasible, KeepsenseError, PrivacyWarning
from keepsense.guide.advice import Advice
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.methods.suitability import K_ANONYMITY, PROBABILISTIC
from keepsense.progress import Event, Listener, emit
from keepsense.project.project_file import Method, Project
from keepsense.recoding import Cells, Cuts
from keepsense.release.figures.measure import linkage, mean_distance_from_truth
from keepsense.release.run import Outcome, run

RANKED = "least loss first, to the hundredth; then least risk"
"""By what trials are ranked."""
_MOST_PAIRS = 400_000_000
"""Pairs of distinct released and original records up to which linkage is measured."""


@dataclass(frozen=True)
class Trial:
    """What came out of trying a method: its loss and risk, or why it failed.

    `loss` is how far, from 0 to 1, what the release lets suppose lies from the truth on average (`overall_distance`);
    `linked` the share of records that an attacker who knows all columns finds again; `worst` the greatest chance for
    any one record, where the method bounds it.

    >>> Trial("optimal", ok=False, problem="k = 5 cannot be met").loss is None
    True
    """

    name: str
    ok: bool
    loss: float | None = None
    linked: float | None = None
    worst: float | None = None
    suppressed: int = 0
    classes: int = 0
    seconds: float = 0.0
    problem: str = ""
    notes: tuple[str, ...] = field(default=())

    @property
    def risk(self) -> float | None:
        """The share that is linked, or the bound where that is all that is known."""
        return self.worst if self.linked is None else self.linked


def try_out(
    project: Project,
    advice: Sequence[Advice],
    *,
    folder: str | Path = ".",
    seconds: float = 30.0,
    rng: Any = None,
    listener: Listener | None = None,
    engine: str | None = None,
) -> list[Trial]:
    """Run each method that project files know on the project's table, for at most about `seconds` each; best first.

    Searches that can be cut short take the best they find in that time; others are stopped at their next step and come
    last.

    >>> RANKED
    'least loss first, to the hundredth; then least risk'
    """
    named = [advised for advised in advice if advised.method.in_projects]
    trials = [
        Trial(advised.name, ok=False, problem="project files do not know it; use it from Python")
        for advised in advice
        if not advised.method.in_projects
    ]
    for done, advised in enumerate(named):
        emit(listener, "stage", done, len(named), stage=f"trying {advised.name}")
        trials.append(_try(project, advised, Path(folder), seconds, rng, listener, engine))
    return sorted(trials, key=_rank)


def _rank(trial: Trial) -> tuple[bool, float, float, float]:
    large = float("inf")
    loss = large if trial.loss is None else trial.loss
    return not trial.ok, round(loss, 2) if loss < large else large, large if trial.risk is None else trial.risk, loss


class _OutOfTimeError(Exception):
    """The time for one trial is over."""


def _try(
    project: Project,
    advice: Advice,
    folder: Path,
    limit: float,
    rng: Any,
    listener: Listener | None,
    engine: str | None,
) -> Trial:
    changed = with_method(project, advice, limit)
    start = time.perf_counter()
    # the searches stop by themselves; what comes after them is not stopped for their sake
    stop = start + (limit if advice.method.time_limit is None else 2 * limit + 10)

    def heard(event: Event) -> None:
        if time.perf_counter() > stop and event.name != "stage":
            raise _OutOfTimeError
        if listener is not None and event.name != "stage":
            listener(event)

    with tempfile.TemporaryDirectory() as room, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PrivacyWarning)
        try:
            outcome = run(changed, folder=folder, into=room, rng=rng, listener=heard, engine=engine)
        except _OutOfTimeError:
            spent = time.perf_counter() - start
            return Trial(advice.name, ok=False, problem=f"stopped after {limit:g} seconds", seconds=spent)
        except KeepsenseError as error:
            return Trial(advice.name, ok=False, problem=_problem(error), seconds=time.perf_counter() - start)
        spent = time.perf_counter() - start
        notes = [str(caution.message) for caution in caught if issubclass(caution.category, PrivacyWarning)]
        if advice.method.time_limit is not None and outcome.seconds.get("decide", 0.0) >= limit:
            notes.append(f"stopped after {limit:g} seconds; with more time it may lose less")
        return Trial(
            advice.name,
            ok=True,
            loss=mean_distance_from_truth(outcome.job, [*outcome.recodings, *outcome.set_recodings]),
            linked=_linked(outcome),
            worst=_worst(outcome, advice),
            suppressed=outcome.verification.suppressed,
            classes=outcome.verification.classes,
            seconds=spent,
            notes=tuple(dict.fromkeys(notes)),
        )


def _problem(error: KeepsenseError) -> str:
    relax = getattr(error, "relax", ()) if isinstance(error, Infeasible) else ()
    message = str(error)
    return message if not relax or "elax" in message else f"{message}. Relax one of: {'; '.join(relax)}"


def with_method(project: Project, advice: Advice, limit: float | None = None) -> Project:
    """The project with the advised method in place of its own; `limit` bounds searches that can be cut short.

    >>> from keepsense.release.example import example_job
    >>> from keepsense.guide.advice import advise
    >>> from keepsense.guide.answers import Answers
    >>> best = advise(Answers(kinds=("nominal",), truthful=False)).advice[0]
    >>> best.name, with_method(example_job().project, best).method.name
    ('local recoding', 'local recoding')
    """
    search = {} if limit is None or advice.method.time_limit is None else {advice.method.time_limit: limit}
    method = Method.model_validate({"name": advice.name, "parameters": {**search, **advice.parameters}})
    if advice.promised:
        project = project.model_copy(update={"privacy": [dict(section) for section in advice.promised]})
    sets = [c for n, c in project.columns.items() if c.role == "quasi-identifier" and KINDS[c.kind].sets]
    alone = len(sets) == len(project.quasi_identifiers)
    if advice.method.sets == "only" and not alone:
        return project.model_copy(update={"set_method": method})
    return project.model_copy(update={"method": method})


def _linked(outcome: Outcome) -> float | None:
    """Share of records that linkage finds again, all columns that people could be recognized by taken together."""
    rules = [rule for rule in (*outcome.recodings, *outcome.set_recodings) if isinstance(rule, Cells | Cuts)]
    linked = linkage(outcome.job, rules, most=_MOST_PAIRS)
    return None if linked is None else float(linked.risk)


def _worst(outcome: Outcome, advice: Advice) -> float | None:
    """Greatest chance to recognize any one record, where classes or the construction bound it."""
    if advice.method.gives(K_ANONYMITY):
        after = outcome.description["risk"].get("after")
        return None if after is None else float(after["prosecutor, highest"])
    k: Any = advice.parameters.get("k")
    return 1.0 / k if advice.method.gives(PROBABILISTIC) else None
