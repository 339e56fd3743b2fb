"""The TR template: recode the table step by step, one column at a time.

Ben Fredj et al. (2015, Fig. 7) describe four algorithms as one loop: score the candidates, make the best one, stop when
the promise holds or nothing more can be done, and suppress what is left if that is allowed. What is parameterized:

- direction: `up` generalizes the original table until it is safe, `down` specializes the most general table while it
  stays safe;
- candidates: `levels` move a whole column to its next level (full-domain), `branches` one node of its hierarchy
  (sub-tree cuts);
- metric: how good a candidate is (`distinct_values`, `least_loss`, `trade_off`, or a function of one's own);
- suppression: how many records may be suppressed in the end;
- stop: a rule of one's own that ends the loop before its time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from keepsense.arrays import Floats
from keepsense.counts import Counts, distinct_rows
from keepsense.errors import BadInput, Infeasible, did_you_mean
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.objective import Metric
from keepsense.methods.generalize.requirement import requirement
from keepsense.methods.generalize.table_state import Candidates, Direction, Flags, Score, State, Step, target_tables
from keepsense.methods.task import Importance
from keepsense.privacy.privacy_model import Model, decide
from keepsense.progress import Listener, emit, wants_steps
from keepsense.recoding import Cuts

Scoring = Callable[[State], Score]
"""Makes the score of a search from its state, so that tables are prepared once."""

Stop = Callable[[State], bool]
"""Ends the loop when it says so; asked after every step."""

Worth = Callable[[Step], Flags]
"""Tells of each move of a column whether it is worth anything at all."""

Beneficial = Callable[[State], Worth]
"""Makes that from the state of a search."""

Anonymity = Literal["smallest class", "at risk"]
"""What a step changes for privacy: the records of the smallest class, or the records in classes that break the promise.
"""

_AFTER_ALL_OTHERS = 1e3  # more than any number of bits a record can lose


def recode(  # noqa: PLR0913
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy],
    models: Sequence[Model],
    *,
    metric: Scoring,
    direction: Direction = "up",
    candidates: Candidates = "levels",
    suppression: float = 0.0,
    suppress_at_most: int | None = None,
    beneficial: Beneficial | None = None,
    stop: Stop | None = None,
    method: str = "table recoding",
    scored: str = "score",
    importance: Importance | None = None,
    listener: Listener | None = None,
) -> Cuts:
    """Recode a table step by step until it keeps the promise (up) or as long as it does (down).

    `suppression` is the share of records that may be suppressed, `suppress_at_most` the same as a number,
    `importance` how much the loss of each column counts, or what it tells about a target. Of a column's candidates
    only those are made that `beneficial` lets pass (all without it). The listener hears `start`, a `step` with the
    chosen column, candidate, score and state each time, and `done`; one that wants every step also the best score
    of each column, what these are called (`scored`) and the recoding so far. Ties go to the first column and the
    first candidate. A model that says of itself that it judges tables as a whole is judged class by class on the
    way down, which is stricter. Cost: one pass over classes (up) or distinct tuples (down) a step, and one a column
    more where the metric asks about anonymity.

    >>> from keepsense.privacy.k_anonymity import KAnonymity
    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")])
    >>> counts = Counts.of({"job": ["nurse", "surgeon", "clerk", "clerk"]})
    >>> recode(counts, {"job": jobs}, [KAnonymity(2)], metric=distinct_values).levels
    (1,)
    >>> found = recode(counts, {"job": jobs}, [KAnonymity(2)], metric=least_loss(), direction="down",
    ...     candidates="branches")
    >>> found.cuts[0].outputs
    ('medic', 'medic', 'clerk')
    """
    required = requirement(models, suppression, counts)
    limit = required.limit if suppress_at_most is None else suppress_at_most
    state = State(counts, hierarchies, required, direction, candidates, importance)
    score = metric(state)
    worth = beneficial(state) if beneficial else None
    telling = _Telling(state, scored, listener)
    telling.emit("start", 0, None, method=method, direction=direction)
    if direction == "up":
        steps = _up(state, score, limit, worth, stop, method, telling)
    else:
        steps = _down(state, score, limit, worth, stop, method, telling)
    found = _recoding(state, limit, method, steps)
    telling.emit("done", steps, steps, suppressed=found.info["suppressed"])
    return found


def _up(
    state: State, score: Score, limit: int, worth: Worth | None, stop: Stop | None, method: str, telling: _Telling
) -> int:
    done = 0
    while not state.decide(limit).holds and not (stop and stop(state)):
        best = _best(state.steps(), score, worth)
        if best is None:
            raise _infeasible(state, limit, method, done)
        telling.step(best, done + 1)
        done += 1
    return done


def _down(
    state: State, score: Score, limit: int, worth: Worth | None, stop: Stop | None, method: str, telling: _Telling
) -> int:
    if not state.decide(limit).holds:
        raise _infeasible(state, limit, method, 0)
    done = 0
    final = state.required.monotone and (limit == state.required.limit or not state.required.rest)
    while not (stop and stop(state)):
        steps = state.steps()
        valid = [step.at_risk <= min(limit, state.space.total - 1) for step in steps]
        if final:  # what breaks the promise now will break it in every more specific table
            for step, good in zip(steps, valid, strict=True):
                state.closed[step.index][step.moves.node[~good]] = True
        best = _best(steps, score, worth, valid)
        if best is None:
            break
        telling.step(best, done + 1)
        done += 1
    return done


@dataclass(frozen=True)
class _Best:
    """The best candidate: its step and place there, its score, and the best score of each column."""

    step: Step
    place: int
    score: float
    scores: dict[str, float]


def _best(steps: Sequence[Step], score: Score, worth: Worth | None, valid: Sequence[Any] | None = None) -> _Best | None:
    """The move of the highest score; the first of several."""
    scores: dict[str, float] = {}
    best: tuple[Step, int, float] | None = None
    for i, step in enumerate(steps):
        quality = _rounded(score(step))
        if valid is not None:
            quality[~valid[i]] = -np.inf
        if worth is not None:
            quality[~worth(step)] = -np.inf
        place = int(np.argmax(quality))
        if quality[place] > -np.inf:
            scores[step.column] = float(quality[place])
            if best is None or quality[place] > best[2]:
                best = step, place, float(quality[place])
    return None if best is None else _Best(*best, scores)


def _rounded(numbers: Floats) -> Floats:
    """Numbers to 40 bits, so that sums taken in another order make no difference between equal scores."""
    mantissa, exponent = np.frexp(np.array(numbers, dtype=np.float64))
    found: Floats = np.ldexp(np.round(mantissa * 2.0**40) / 2.0**40, exponent)
    return found


@dataclass(frozen=True)
class _Telling:
    """Takes the steps and tells the listener what the table is like now."""

    state: State
    scored: str
    listener: Listener | None

    def step(self, best: _Best, done: int) -> None:
        """Take a step and tell of it."""
        before = self.state.levels()
        self.state.take(best.step, best.place)
        if self.listener is not None:
            self.emit("step", done, None, column=best.step.column, candidate=best.step.moves.label[best.place],
                      score=best.score, scores=best.scores, scored=self.scored,
                      helps=best.score > -_AFTER_ALL_OTHERS / 2, before=before)  # fmt: skip

    def emit(self, name: str, done: int, total: int | None, **details: Any) -> None:
        """Tell of something, and how the table stands."""
        if self.listener is not None:
            if wants_steps(self.listener):
                details["recoding"] = self.state.recoding()
            state = self.state
            emit(self.listener, name, done, total, levels=state.levels(), classes=len(state.classes.weights),
                 smallest=state.smallest, at_risk=state.at_risk, **details)  # fmt: skip


def _recoding(state: State, limit: int, method: str, steps: int, holds: bool = True) -> Cuts:
    """The rule of the state; classes that break the promise are suppressed, judged as they will be released."""
    plain = state.recoding()
    released = plain.cells(state.counts)
    distinct, owner = distinct_rows(released.codes)
    weights = np.bincount(owner, state.counts.weights, len(distinct)).astype(np.int64)
    decision = decide(state.required.bound, weights, state.histograms(owner.astype(np.int64), len(distinct)), limit)
    suppress = frozenset(
        tuple(released.values[j][c] for j, c in enumerate(row)) for row in distinct[~decision.kept].tolist()
    )
    info = {
        "algorithm": method,
        "category": "TR",
        "steps": steps,
        "classes": int(decision.kept.sum()),
        "suppressed": decision.suppressed,
        "suppress_at_most": limit,
        "levels": state.levels(),
        "holds": holds and decision.holds,
    }
    return Cuts(plain.cuts, suppress if decision.kept.any() else frozenset(), info)


def _infeasible(state: State, limit: int, method: str, steps: int) -> Infeasible:
    total, required = state.space.total, state.required
    risky = state.at_risk
    relax = []
    if required.k > total:
        relax.append(f"k of at most {total:,}, the number of rows")
    elif required.k > 1:
        relax.append(f"k below {required.k}")
    if limit < risky < total:
        relax.append(f"allow {np.ceil(risky / total * 1000) / 10:.1f}% of the records to be suppressed")
    relax += [weaker for model in required.models if model.columns for weaker in model.weaker]
    for one, raw in zip(state.columns, state.space.raw, strict=True):
        tops = len(np.unique(raw[:, -1]))
        if tops > 1:
            relax.append(f"one top value for the hierarchy of {one.name!r} (it has {tops})")
    best = _recoding(state, limit, method, steps, holds=False)
    return Infeasible(
        f"{method}: no generalization of the {len(state.columns)} quasi-identifiers keeps the promise: the most "
        f"general one leaves {risky:,} of {total:,} records in classes that break it, and {limit:,} may be suppressed. "
        f"Relax one of: {'; '.join(relax)}",
        best=best,
        relax=relax,
    )


# ---- metrics ---------------------------------------------------------------------------------------------------------


def distinct_values(state: State) -> Score:
    """The column with most different values goes first (Datafly's choice; distinct metric of Ben Fredj et al. 2015).

    A column of twice the importance goes as if it had half as many.

    >>> from keepsense.privacy.k_anonymity import KAnonymity
    >>> ages, sexes = (Hierarchy.of_rows([(v, "*") for v in values]) for values in ((30, 31, 32), "fm"))
    >>> counts = Counts.of({"age": [30, 31, 32, 30], "sex": ["f", "m", "f", "m"]})
    >>> recode(counts, {"age": ages, "sex": sexes}, [KAnonymity(2)], metric=distinct_values).levels
    (1, 0)
    """
    return lambda step: step.distinct / step.importance if state.direction == "up" else step.distinct * step.importance


def least_loss(metric: Metric = "loss", *, anonymity: Anonymity | None = None) -> Scoring:
    """Where least is lost (up) or most is won back (down), by any metric that adds up over cells.

    With `anonymity` the loss is set against what the step does for privacy, as in `trade_off`.

    >>> from keepsense.privacy.k_anonymity import KAnonymity
    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")])
    >>> sexes = Hierarchy.of_rows([("f", "*"), ("m", "*")])
    >>> counts = Counts.of({"sex": ["f", "f", "m", "m"], "job": ["nurse", "surgeon", "clerk", "clerk"]})
    >>> recode(counts, {"sex": sexes, "job": jobs}, [KAnonymity(2)], metric=least_loss("ncp")).levels
    (0, 1)
    """

    def scoring(state: State) -> Score:
        losses = state.losses(metric)
        return _against(lambda step: step.lost(losses), anonymity)

    return scoring


def trade_off(target: str, *, anonymity: Anonymity | None = "smallest class") -> Scoring:
    """Information about a target column against anonymity.

    On the way down the score is InfoGain / (AnonyLoss + 1) (Fung et al. 2005). On the way up it is the information lost
    for each record the smallest class grows by, the less the better; steps that let it grow come before all that do
    not, and those are compared by the information they lose alone (Wang et al. 2004, where their metric is infinite).

    >>> from keepsense.privacy.k_anonymity import KAnonymity
    >>> trees = {n: Hierarchy.of_rows([(v, "*") for v in "ab"], name=n) for n in ("x", "y")}
    >>> told = {"x": ["a", "b", "a", "b"], "y": ["a", "a", "b", "b"]}
    >>> counts = Counts.of(told, histograms={"buys": ["yes", "no", "yes", "no"]})
    >>> recode(counts, trees, [KAnonymity(2)], metric=trade_off("buys")).levels  # x tells who buys, so it stays
    (0, 1)
    """

    def scoring(state: State) -> Score:
        tables = _target_tables(state, target)
        return _against(lambda step: step.importance * step.information(tables), anonymity)

    return scoring


def several_classes(target: str) -> Beneficial:
    """Only what involves more than one class of the target is worth a step (Fung et al. 2005 call it beneficial).

    A step that tells nothing by itself may open up one that does: it is made where nothing better is left. A branch
    whose records all belong to one class stays closed.

    >>> from keepsense.privacy.k_anonymity import KAnonymity
    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")])
    >>> counts = Counts.of({"job": ["nurse", "surgeon", "clerk"]}, histograms={"buys": ["y", "y", "n"]})
    >>> recode(counts, {"job": jobs}, [KAnonymity(1)], metric=trade_off("buys"), direction="down",
    ...     candidates="branches", beneficial=several_classes("buys")).cuts[0].outputs
    ('medic', 'medic', 'clerk')
    """

    def beneficial(state: State) -> Worth:
        tables = _target_tables(state, target)
        return lambda step: step.mixed(tables)

    return beneficial


def _target_tables(state: State, target: str) -> list[Floats]:
    if target in state.space.names:
        raise BadInput(f"column {target!r} is a quasi-identifier and the target; choose one role")
    if target not in state.counts.histograms:
        hint = did_you_mean(target, list(state.counts.histograms))
        raise BadInput(
            f"the target column {target!r} is not counted as categories; count it along as a histogram, in a "
            f'project file with kind = "nominal".{hint}'
        )
    return target_tables(state.space, target)


def _against(information: Score, anonymity: Anonymity | None) -> Score:
    def score(step: Step) -> Floats:
        bits = information(step)
        state = step.state
        if anonymity is None:
            return bits if state.direction == "down" else np.negative(bits)
        if anonymity == "smallest class":
            change = np.abs(step.smallest - float(state.smallest))
        else:
            change = np.abs(step.at_risk - float(state.at_risk))
        if state.direction == "down":
            found: Floats = bits / (change + 1.0)
        else:
            found = np.where(change > 0, -bits / np.maximum(change, 1.0), -bits - _AFTER_ALL_OTHERS)
        return found

    return score
