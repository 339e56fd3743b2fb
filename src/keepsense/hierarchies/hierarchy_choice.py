"""Choose among candidate hierarchies: before anonymizing (APES) or by anonymizing with each (TAS), both timed.

Ayala-Rivera et al. 2017 (Sec. 3.2 and 5.3). A priori, every candidate is scored and only the best is used to anonymize;
a posteriori, the table is anonymized with every candidate and the result that lost least is kept. What anonymizing
means comes from outside as functions, so this module needs no method.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from keepsense.arrays import Floats
from keepsense.errors import BadInput, Infeasible
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.hierarchy_scores import scores, set_score
from keepsense.progress import Listener, emit
from keepsense.semantics.distance import Distance

Judge = Callable[[Sequence[Hierarchy]], Floats]
"""Gives each candidate of a column a score; the lowest is best."""

HierarchySet = Mapping[str, Hierarchy]
"""One hierarchy for each column."""


def _nothing(*_: Any) -> None:
    return None


@dataclass(frozen=True)
class Steps:
    """What choosing needs done: read the table, anonymize it with a set of hierarchies, measure the loss, write it.

    >>> steps = Steps(anonymize=lambda table, hierarchies: hierarchies["job"].height, loss=float)
    >>> steps.loss(steps.anonymize(steps.read(), {"job": Hierarchy.of_rows([("nurse", "*")])}))
    1.0
    """

    anonymize: Callable[[Any, HierarchySet], Any]
    loss: Callable[[Any], float]
    read: Callable[[], Any] = _nothing
    write: Callable[[Any], Any] = _nothing


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds spent on each part of choosing and anonymizing (the terms of Eq. 7 and 8).

    >>> Times(reading=1, anonymizing=4, measuring=0.5).total
    5.5
    """

    reading: float = 0.0
    anonymizing: float = 0.0
    writing: float = 0.0
    measuring: float = 0.0
    scoring: float = 0.0

    @property
    def total(self) -> float:
        """All of them."""
        return self.reading + self.anonymizing + self.writing + self.measuring + self.scoring


@dataclass(frozen=True, eq=False)
class Choice:
    """The hierarchies chosen, the scores of all candidates, and, where it was anonymized, the result and its loss.

    >>> from keepsense.hierarchies.kinds.numeric_kind import numeric_candidates
    >>> chosen = choose({"age": numeric_candidates(range(17, 91), name="age")})
    >>> chosen.hierarchies["age"].kind, chosen.result is None
    ('numeric', True)
    """

    hierarchies: HierarchySet
    positions: Mapping[str, int]
    scores: Mapping[str, Floats] = field(default_factory=dict)
    total: float | None = None
    result: Any = None
    loss: float | None = None
    losses: Floats | None = None
    times: Times = Times()


def by_gsl(distance: Distance | None = None, **options: Any) -> Judge:
    """A judge that scores candidates with GSL (see `keepsense.hierarchies.hierarchy_scores.scores`).

    >>> by_gsl()([]).tolist()
    []
    """
    return lambda found: scores(found, distance, **options)


def choose(
    columns: Mapping[str, Sequence[Hierarchy]],
    judge: Judge | Distance | Mapping[str, Judge | Distance] | None = None,
    *,
    preferences: Mapping[str, float] | None = None,
) -> Choice:
    """Choose the best candidate of each column before anything is anonymized.

    The judge, one for all or one a column, is a distance (GSL is scored with it) or any function that gives the lowest
    number to the best. The set's score (Eq. 6) is a sum over columns with weights that are not negative, so the best
    set is the set of the best.

    >>> from keepsense.hierarchies.kinds.numeric_kind import numeric_candidates
    >>> ages = numeric_candidates(range(17, 91), name="age")
    >>> chosen = choose({"age": ages})
    >>> chosen.hierarchies["age"].info["made"], round(chosen.total, 3)
    ('equal frequency, 32 groups, by 2', 0.322)
    """
    if not columns or not all(columns.values()):
        raise BadInput("every column needs at least one candidate to choose from")
    start = time.perf_counter()
    found: dict[str, Floats] = {}
    for name, options in columns.items():
        own = judge.get(name) if isinstance(judge, Mapping) else judge
        function = by_gsl(own) if own is None or isinstance(own, Distance) else own
        found[name] = np.asarray(function(options), dtype=np.float64)
        if found[name].shape != (len(options),) or not np.isfinite(found[name]).all():
            raise BadInput(f"{name}: the judge must give each of the {len(options)} candidates a finite number")
    best = {name: int(np.argmin(np.round(own, 12))) for name, own in found.items()}
    total = set_score({name: float(found[name][i]) for name, i in best.items()}, preferences)
    chosen = {name: columns[name][i] for name, i in best.items()}
    return Choice(chosen, best, found, total, times=Times(scoring=time.perf_counter() - start))


def a_priori(
    columns: Mapping[str, Sequence[Hierarchy]],
    steps: Steps,
    judge: Judge | Distance | Mapping[str, Judge | Distance] | None = None,
    *,
    preferences: Mapping[str, float] | None = None,
) -> Choice:
    """Choose first, then anonymize once: APES. Its time is that of scoring all plus one run (Eq. 8).

    >>> from keepsense.hierarchies.kinds.numeric_kind import numeric_candidates
    >>> ages = numeric_candidates(range(17, 91), name="age")
    >>> steps = Steps(anonymize=lambda table, chosen: chosen["age"].cut(1), loss=lambda cut: len(set(cut.outputs)))
    >>> a_priori({"age": ages}, steps).loss
    32.0
    """
    chosen = choose(columns, judge, preferences=preferences)
    table, reading = _timed(steps.read)
    result, loss, times = _run(steps, table, chosen.hierarchies)
    return replace(
        chosen, result=result, loss=loss, times=replace(times, reading=reading, scoring=chosen.times.scoring)
    )


def a_posteriori(
    sets: Iterable[HierarchySet],
    steps: Steps,
    *,
    read_once: bool = True,
    listener: Listener | None = None,
) -> Choice:
    """Anonymize with every set of hierarchies and keep the result that lost least: TAS (Eq. 7).

    The paper counts reading once, in favour of this way (Sec. 5.3); `read_once=False` reads for every run, as most
    tools do. A set whose goal cannot be met counts as an infinite loss. For one column give `[{"job": h} for h in hs]`.

    >>> from keepsense.hierarchies.kinds.numeric_kind import numeric_candidates
    >>> ages = numeric_candidates(range(17, 91), name="age")
    >>> steps = Steps(anonymize=lambda table, chosen: chosen["age"].cut(1), loss=lambda cut: len(set(cut.outputs)))
    >>> a_posteriori([{"age": h} for h in ages], steps).loss
    4.0
    """
    tried = [dict(one) for one in sets]
    if not tried:
        raise BadInput("there are no hierarchies to try")
    spent = [0.0] * 4
    losses = np.full(len(tried), np.inf)
    best: tuple[int, Any] | None = None
    table: Any = None
    for i, one in enumerate(tried):
        if i == 0 or not read_once:
            table, seconds = _timed(steps.read)
            spent[0] += seconds
        start = time.perf_counter()
        try:
            result, losses[i], times = _run(steps, table, one)
        except Infeasible:
            spent[1] += time.perf_counter() - start
            continue
        spent[1] += times.anonymizing
        spent[2] += times.writing
        spent[3] += times.measuring
        if best is None or losses[i] < losses[best[0]]:
            best = (i, result)
        emit(listener, "tried", i + 1, len(tried), loss=float(losses[i]))
    if best is None:
        raise Infeasible(f"none of the {len(tried)} sets of hierarchies meets the goal", relax=("lower k",))
    at, result = best
    positions = dict.fromkeys(tried[at], at)
    return Choice(tried[at], positions, result=result, loss=float(losses[at]), losses=losses, times=Times(*spent))


def ranked_sets(
    columns: Mapping[str, Sequence[Hierarchy]],
    judged: Mapping[str, Floats],
    ranks: Sequence[int] = (1, 50, 100),
) -> list[dict[str, Hierarchy]]:
    """Sets of hierarchies of one rank in every column: the best, a medium and the worst, as in Sec. 4.3.

    >>> from keepsense.hierarchies.kinds.numeric_kind import numeric_candidates
    >>> ages = numeric_candidates(range(17, 91), name="age")
    >>> [one["age"].height for one in ranked_sets({"age": ages}, choose({"age": ages}).scores, (1, 10))]
    [6, 4]
    """
    found = []
    for rank in ranks:
        one = {}
        for name, options in columns.items():
            if not 1 <= rank <= len(options):
                raise BadInput(f"{name}: there is no rank {rank} among {len(options)} candidates")
            one[name] = options[int(np.argsort(np.round(judged[name], 12), kind="stable")[rank - 1])]
        found.append(one)
    return found


def _run(steps: Steps, table: Any, chosen: HierarchySet) -> tuple[Any, float, Times]:
    result, anonymizing = _timed(lambda: steps.anonymize(table, chosen))
    _, writing = _timed(lambda: steps.write(result))
    loss, measuring = _timed(lambda: float(steps.loss(result)))
    return result, loss, Times(anonymizing=anonymizing, writing=writing, measuring=measuring)


def _timed(function: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    found = function()
    return found, time.perf_counter() - start
