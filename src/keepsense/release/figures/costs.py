"""What the quasi-identifiers of a table cost one another, measured on some of its tuples.

Every further column by which people could be recognized makes all of them vaguer. What a choice would win is measured,
not guessed: the project's method is run on a sample with a column left out, or counting little, again and again. How
loss falls with the number of rows is measured on parts of the sample, too, so that the figures are those of all rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from keepsense.counts import Counts
from keepsense.display import percent
from keepsense.engines.protocol import started
from keepsense.errors import Finding, KeepsenseError
from keepsense.privacy.dp_promises import differentially_private
from keepsense.progress import Listener
from keepsense.project.project_file import Project
from keepsense.release.job.choosing import Trial, some_tuples, tried_with
from keepsense.release.job.job import Job
from keepsense.secure_random import generator
from keepsense.utility.generalization_losses import certainty_penalties
from keepsense.utility.recoded_table import Recoded

MANY = 8
"""Quasi-identifiers beyond which a draft tells what they cost."""
NEARLY_ALL = 0.9
"""Share of a column's detail beyond which so little is left that its release is flagged."""
NEARLY_LOST = "W413"
"""Code of that flag."""
MOST_TUPLES = 16_000
"""Tuples that the figures are measured on; of more, as many are drawn."""
SCREENED = 4_000
"""Tuples on which choices are compared before the best of them are measured."""
LITTLE = 0.1
"""Weight of a column whose loss shall hardly count."""
_STEPS = 3
_FOLLOWED = 5
_LEAST = 1e-4
_SLOWER = 0.7  # chosen by looking at adult, homicides and diabetes130; judged on insurance, telco and attrition
_WORTH = 0.9
"""A remedy must leave a column at most this part of what it lost, or it is not named."""


@dataclass(frozen=True)
class Loss:
    """What the columns lose, each and on average, when some are left out or hardly count.

    >>> Loss({"age": 0.5, "job": 0.1}, 0.3).worst
    ('age', 0.5)
    """

    columns: Mapping[str, float]
    mean: float

    @property
    def worst(self) -> tuple[str, float]:
        """The column that loses most, and how much."""
        return max(self.columns.items(), key=lambda item: item[1])


@dataclass(frozen=True)
class Choice:
    """Some columns, and what the others lose: as it is, without these, and with these but hardly counting.

    >>> Choice(("age",), 0.4, 0.2, 0.3, Loss({"job": 0.2}, 0.2)).won
    0.2
    """

    columns: tuple[str, ...]
    now: float
    without: float
    little: float
    left: Loss

    @property
    def won(self) -> float:
        """How much less the others lose without these columns."""
        return self.now - self.without


@dataclass(frozen=True)
class Costs:
    """What a project's columns will lose, and the choices that win most: one column, then two, then three.

    `tuples` of the table's `of` distinct ones were looked at.

    >>> from keepsense.release.example import example_job
    >>> measured = costs(example_job())
    >>> measured.tuples == measured.of, sorted(measured.now.columns)
    (True, ['age', 'job'])
    """

    now: Loss
    choices: tuple[Choice, ...]
    tuples: int
    of: int


def costs(job: Job, goal: Sequence[str] = ()) -> Costs | None:
    """What the quasi-identifiers lose, and which to leave out to win most; None where it cannot be measured.

    What is won is the detail of the `goal`, all columns by default. Sets, and methods that change values rather than
    make them less exact, are not measured.

    >>> from keepsense.release.example import example_job
    >>> measured = costs(example_job(privacy=[{"model": "k-anonymity", "k": 10}]))
    >>> measured.now.columns, measured.now.mean
    ({'age': 0.5, 'job': 0.5}, 0.5)
    """
    if not measurable(job):
        return None
    try:
        return _measured(job, tuple(goal) or job.quasi_identifiers)
    except KeepsenseError:  # said again, with its remedies, where it is run
        return None


def measurable(job: Job, *, beside_sets: bool = False) -> bool:
    """Whether what columns lose can be measured on a sample: values stay true, and the promise is about this table.

    Sets cannot be measured so; with `beside_sets` it is asked about the other columns.

    >>> from keepsense.release.example import example_job
    >>> measurable(example_job()), measurable(example_job(method={"name": "rank swapping"}))
    (True, False)
    """
    beyond = differentially_private(job.models) or job.project.population is not None
    return job.truthful and (beside_sets or not job.set_columns) and not beyond


def draft_costs(project: Project, folder: Path, engine: str | None = None) -> Costs | None:
    """The same for a project that was drafted and not run yet; None also where it has few quasi-identifiers.

    >>> from keepsense.release.example import example_job
    >>> job = example_job()
    >>> draft_costs(job.project, job.folder) is None
    True
    """
    if len(project.quasi_identifiers) <= MANY:
        return None
    with started(engine or project.engine.name, **project.engine.options()) as rows:
        return costs(Job(project, folder, rows, generator(0)))


def in_words(measured: Costs) -> list[str]:
    """What the columns cost one another, in sentences: what they lose, what is won by leaving some out, and how to.

    >>> choice = Choice(("job",), 0.5, 0.2, 0.3, Loss({"age": 0.2}, 0.2))
    >>> for sentence in in_words(Costs(Loss({"age": 0.5, "job": 0.7}, 0.6), (choice,), 90, 900)): print(sentence)
    2 quasi-identifiers lose 60.0% of their detail on average, job most (70.0%); measured on 90 of 900 combinations.
    Without job the others lose 20.0% instead of 50.0%; with weight = 0.1 for it, 30.0%.
    To leave a column out, give it the role "identifier"; if nobody outside can know it, the role "insensitive".
    """
    worst, most = measured.now.worst
    on = "" if measured.tuples == measured.of else f"; measured on {measured.tuples:,} of {measured.of:,} combinations"
    sentences = [
        f"{len(measured.now.columns)} quasi-identifiers lose {percent(measured.now.mean)} of their detail on average, "
        f"{worst} most ({percent(most)}){on}."
    ]
    for choice in measured.choices:
        each = "it" if len(choice.columns) == 1 else "each"
        sentences.append(
            f"Without {_listed(choice.columns)} the others lose {percent(choice.without)} instead of "
            f"{percent(choice.now)}; with weight = {LITTLE:g} for {each}, {percent(choice.little)}."
        )
    if measured.choices:
        sentences.append(_HOW)
    return sentences


_HOW = 'To leave a column out, give it the role "identifier"; if nobody outside can know it, the role "insensitive".'


def as_data(measured: Costs) -> dict[str, Any]:
    """The same for scripts.

    >>> as_data(Costs(Loss({"age": 0.5}, 0.5), (), 90, 900))
    {'lost': {'age': 0.5}, 'mean': 0.5, 'combinations': 90, 'of': 900, 'choices': []}
    """
    choices = [
        {"columns": list(c.columns), "now": c.now, "without": c.without, "little": c.little} for c in measured.choices
    ]
    return {
        "lost": dict(measured.now.columns),
        "mean": measured.now.mean,
        "combinations": measured.tuples,
        "of": measured.of,
        "choices": choices,
    }


def nearly_lost(job: Job, lost: Mapping[str, float]) -> list[Finding]:
    """A finding for every column that lost more than nine tenths of its detail, with what would win most of it back.

    >>> from keepsense.release.example import example_job
    >>> job = example_job(privacy=[{"model": "k-anonymity", "k": 10}])
    >>> [(finding.code, finding.where) for finding in nearly_lost(job, {"age": 0.95, "job": 0.2})]
    [('W413', 'age')]
    """
    flagged = {name: share for name, share in lost.items() if share > NEARLY_ALL}
    if not flagged:
        return []
    measured = _remedies(job, flagged) if measurable(job) else None
    return [Finding(NEARLY_LOST, name, _remedy(job, name, share, measured)) for name, share in flagged.items()]


def _remedies(job: Job, flagged: Mapping[str, float]) -> Costs | None:
    """What is worth knowing about columns that lost nearly all: no more choices are tried than it takes."""
    goal = tuple(name for name in flagged if name in job.quasi_identifiers) or job.quasi_identifiers
    try:
        trial = _Tried.of(job)
        open_ones = {
            name: share
            for name, share in flagged.items()
            if name in trial.now.columns and not _better_elsewhere(job, name, share, trial.now)
        }
        choices: list[Choice] = []
        steps = trial.steps(goal)
        while open_ones and (step := next(steps, None)) is not None:
            out, left = step
            choices.append(_choice(out, goal, trial.now, left))
            open_ones = {name: share for name, share in open_ones.items() if not _wins(choices[-1], name, share)}
        return trial.measured(choices)
    except KeepsenseError:  # said again, with its remedies, where it is run
        return None


def _wins(choice: Choice, name: str, share: float) -> bool:
    """Whether a choice leaves a column much less of its loss."""
    return choice.left.columns.get(name, 1.0) < _WORTH * share


def _better_elsewhere(job: Job, name: str, share: float, now: Loss) -> bool:
    """Whether the method that was tried would lose less of a column."""
    return not job.method.quick and now.columns.get(name, 1.0) < _WORTH * share


def _remedy(job: Job, name: str, share: float, measured: Costs | None) -> str:
    said = f"{percent(share)} of its detail is lost: what is released of it says next to nothing"
    by_hand = 'leave it out (role "identifier"), or other quasi-identifiers that the purpose does not need'
    if measured is None or name not in measured.now.columns:
        return f"{said}; {by_hand}"
    better = measured.now.columns[name]
    if _better_elsewhere(job, name, share, measured.now):
        return f'{said}; with the method "{tried_with(job)}" it would lose about {percent(better)}'
    for choice in measured.choices:
        if _wins(choice, name, share):
            left = choice.left.columns[name]
            return f"{said}; without {_listed(choice.columns)} it would lose about {percent(left)}. {_HOW}"
    own = next((choice for choice in measured.choices if choice.columns == (name,)), None)
    if own is not None:
        won = f"the others would lose {percent(own.without)} instead of {percent(own.now)}"
        return f'{said}; leave it out (role "identifier"): {won}'
    return f"{said}; {by_hand}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _measured(job: Job, goal: tuple[str, ...]) -> Costs:
    trial = _Tried.of(job)
    choices = []
    for out, left in trial.steps(goal):
        weights = dict.fromkeys(out, LITTLE)
        little = _extrapolated(job, trial.counts, job.quasi_identifiers, left.won_back, weights)
        choices.append(_choice(out, goal, trial.now, left, little))
    return trial.measured(choices)


class _Left(NamedTuple):
    """What columns lose without some of them, and the part of each loss that is left when records were exchanged."""

    loss: Loss
    won_back: Mapping[str, float]


@dataclass(frozen=True)
class _Tried:
    """A drawn part of the tuples, and what is lost on it as it is."""

    job: Job
    counts: Counts
    won_back: Mapping[str, float]
    now: Loss

    @classmethod
    def of(cls, job: Job) -> _Tried:
        counts = some_tuples(job.counts, MOST_TUPLES)
        plain = losses_on(job, counts)
        left = won_back(job, counts, plain)
        return cls(job, counts, left, _extrapolated(job, counts, job.quasi_identifiers, left, plain=plain))

    def measured(self, choices: Iterable[Choice]) -> Costs:
        return Costs(self.now, tuple(choices), len(self.counts), len(self.job.counts))

    def steps(self, goal: Sequence[str]) -> Iterator[tuple[tuple[str, ...], _Left]]:
        """The columns to leave out that win most of the goal, one more at each step; each is measured when asked."""
        job, every = self.job, self.job.quasi_identifiers
        screened = some_tuples(job.counts, SCREENED)
        before = losses_on(job, screened)
        on_few = won_back(job, screened, before)
        out: tuple[str, ...] = ()
        candidates: Sequence[str] = every
        for _ in range(min(_STEPS, len(every) - 1)):
            won, after = {}, {}
            for name in candidates:
                gone = (*out, name)
                if rest := [other for other in goal if other not in gone]:
                    after[name] = losses_on(job, screened.project([other for other in every if other not in gone]))
                    won[name] = fmean(before[other] - after[name][other] for other in rest)
            if not won or max(won.values()) <= 0:
                return
            ranked = sorted(won, key=lambda name: -won[name])
            out = (*out, ranked[0])
            names = [name for name in every if name not in out]
            fewer = won_back(job, screened.project(names), after[ranked[0]])
            # few tuples tell only roughly how much more an exchange wins back without a column: half of it is believed
            # (chosen by looking at adult and diabetes130)
            without = {
                name: self.won_back[name] * (share / max(on_few[name], _LEAST)) ** 0.5 for name, share in fewer.items()
            }
            left = {**self.won_back, **{name: min(1.0, share) for name, share in without.items()}}
            yield out, _Left(_extrapolated(job, self.counts, names, left), left)
            candidates = ranked[1 : 1 + _FOLLOWED]


def won_back(
    job: Job, counts: Counts, plain: Mapping[str, float] | None = None, listener: Listener | None = None
) -> dict[str, float]:
    """The part of each column's loss that is left when records were exchanged in the end.

    `plain` is what columns lose before, where that was measured already.

    >>> from keepsense.release.example import example_job
    >>> job = example_job(privacy=[{"model": "k-anonymity", "k": 10}])
    >>> won_back(job, job.counts)
    {'age': 1.0, 'job': 1.0}
    """
    plain = losses_on(job, counts, listener=listener) if plain is None else plain
    whole = losses_on(job, counts, exchange=True, listener=listener)
    return {name: whole[name] / plain[name] if plain[name] else 1.0 for name in counts.names}


def _choice(out: tuple[str, ...], goal: Sequence[str], now: Loss, left: _Left, little: Loss | None = None) -> Choice:
    """A choice as it is told; without `little`, what hardly counting would lose is not known."""
    rest = [name for name in goal if name not in out]
    before, without, counting_little = (
        nan if loss is None else fmean(loss.columns[name] for name in rest) for loss in (now, left.loss, little)
    )
    return Choice(out, before, without, counting_little, left.loss)


def _extrapolated(
    job: Job,
    counts: Counts,
    names: Iterable[str],
    won_back: Mapping[str, float],
    importance: Mapping[str, float] | None = None,
    plain: Mapping[str, float] | None = None,
) -> Loss:
    """What all rows will lose: the loss of the sample, carried on as it fell from a quarter of it to the whole.

    `won_back` is the part of each column's loss that is left when records were exchanged in the end, `plain` what the
    sample loses before, where that was measured already.
    """
    columns = tuple(names)
    if len(counts) == len(job.counts):
        exact = losses_on(job, counts.project(columns), importance, exchange=True)
        return Loss(exact, fmean(exact.values()))
    parts = [some_tuples(counts, size) for size in (len(counts) // 4, len(counts) // 2, len(counts))]
    lost = [losses_on(job, part.project(columns), importance) for part in parts[: 3 if plain is None else 2]]
    lost += [] if plain is None else [dict(plain)]
    rows = np.log([part.total for part in parts])
    further = float(np.log(job.counts.total)) - rows[-1]
    carried = {name: won_back[name] * _carried([losses[name] for losses in lost], rows, further) for name in columns}
    return Loss(carried, fmean(carried.values()))


def carried_on(
    job: Job, counts: Counts, lost: Mapping[str, float], listener: Listener | None = None
) -> dict[str, float]:
    """What all rows will lose, where some tuples lose so much: carried on as losses fall from parts of them.

    >>> from keepsense.release.example import example_job
    >>> job = example_job()
    >>> carried_on(job, job.counts, {"age": 0.25, "job": 0.0})
    {'age': 0.25, 'job': 0.0}
    """
    if len(counts) >= len(job.counts):
        return dict(lost)
    parts = [some_tuples(counts, size) for size in (len(counts) // 4, len(counts) // 2)]
    curve = [losses_on(job, part, listener=listener) for part in parts]
    curve.append(dict(lost) if job.method.quick else losses_on(job, counts, listener=listener))
    rows = np.log([*(part.total for part in parts), counts.total])
    further = float(np.log(job.counts.total)) - rows[-1]
    carried = {}
    for name, share in lost.items():
        fell = [losses.get(name, share) for losses in curve]
        carried[name] = min(1.0, share * _carried(fell, rows, further) / max(fell[-1], _LEAST))
    return carried


def _carried(lost: Sequence[float], rows: np.ndarray[tuple[int, ...], np.dtype[np.float64]], further: float) -> float:
    """A loss carried on by a power of the number of rows, a smaller one, since losses fall ever more slowly."""
    slope = float(np.polyfit(rows, np.log(np.maximum(lost, _LEAST)), 1)[0])
    return min(1.0, lost[-1] * float(np.exp(_SLOWER * slope * further)))


def losses_on(
    job: Job,
    counts: Counts,
    importance: Mapping[str, float] | None = None,
    *,
    exchange: bool = False,
    listener: Listener | None = None,
) -> dict[str, float]:
    """What each column of some tuples loses, where columns count by their weights or by what is given instead.

    Methods that `exchange` records in the end do so only where it is asked for: it takes long. The listener hears of
    their steps, and may end it.

    >>> from keepsense.release.example import example_job
    >>> job = example_job(privacy=[{"model": "k-anonymity", "k": 10}])
    >>> losses_on(job, job.counts)
    {'age': 0.5, 'job': 0.5}
    """
    trial = Trial(job, counts, importance or {}, exchange, listener)
    hierarchies = {name: job.hierarchies[name] for name in counts.names}
    rule = trial.rule(hierarchies)
    return certainty_penalties(
        Recoded(counts, [rule], hierarchies, [], truthful=True, numbers=frozenset(trial.numbers))
    )
