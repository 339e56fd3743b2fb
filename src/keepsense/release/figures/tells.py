"""What unchanged columns reveal: who a person is, and values that were hidden in other columns.

A sensitive, insensitive or target column is released as it is. If nearly every person has a different value in it (pay
to the cent, a moment in time, a text), then anyone who knows that value finds the record, whatever became of the
quasi-identifiers. If its values go with those of a quasi-identifier (pay by job), it reveals what was hidden there.
Both are measured on counts, and stop the run unless the project file accepts them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts, added_up
from keepsense.counts_out_of_core import LargeCounts
from keepsense.errors import BadInput, Finding, Infeasible
from keepsense.metrics import percent
from keepsense.recoding import Cuts, Recoding
from keepsense.release.figures.measure import recoded, with_draws
from keepsense.release.job.job import Job
from keepsense.release.job.people import person_of
from keepsense.risk.attribute_disclosure import UNDONE
from keepsense.utility.recoded_table import Pairs, column_pairs, whole_table

MOST_FOUND = 0.5
"""Share of people that a column may point at by itself: beyond half of them, who knows a value finds the person more
often than not. Words and categories stay below it also in small tables; exact numbers, moments and texts do not."""


class Told(NamedTuple):
    """How often the hidden values of a column are guessed rightly, how often without help, and how many there are.

    >>> Told(0.76, 0.517, 29).surely < Told(0.76, 0.517, 2900).surely < 0.76
    True
    """

    guessed: float
    usual: float
    rows: float = math.inf

    @property
    def surely(self) -> float:
        """What is guessed rightly at least, two standard errors below: few hidden values prove little."""
        return self.guessed - 2 * math.sqrt(self.guessed * (1 - self.guessed) / self.rows)


@dataclass(frozen=True)
class Telling:
    """What a column released as it is tells: `alone` is the share of people found by somebody who knows only its value.

    `hidden` says for each quasi-identifier how often its hidden values are guessed rightly from this column, and how
    often without it; `values` is how many different ones it has.

    >>> Telling("pay", 0.9, 180, {"job": Told(0.74, 0.2)}).undone("job")
    0.675
    """

    column: str
    alone: float
    values: int
    hidden: Mapping[str, Told] = field(default_factory=dict)

    def undone(self, name: str) -> float:
        """Share of what hiding a quasi-identifier gained that this column undoes."""
        told = self.hidden[name]
        return round((told.surely - told.usual) / (1 - told.usual), 12) if told.usual < 1 else 0.0

    def described(self) -> dict[str, object]:
        """The figures as they stand in the public description."""
        tells = {name: round(told.guessed, 6) for name, told in self.hidden.items()}
        return {"found by it alone": round(self.alone, 6), **({"tells": tells} if tells else {})}


def unchanged_columns(job: Job) -> tuple[str, ...]:
    """Columns that are released and that no method changes.

    >>> from keepsense.release.example import example_job
    >>> unchanged_columns(example_job())
    ('illness', 'likes')
    """
    return tuple(name for name in job.released if name not in job.every_quasi_identifier)


def tellings(job: Job) -> dict[str, Telling]:
    """How many people each unchanged column points at by itself: the mean over people of 1 / people who share a value.

    Of columns that a step changed it is the share of people whom the nearest value still finds.

    >>> from keepsense.release.example import example_job
    >>> {name: telling.alone for name, telling in tellings(example_job()).items()}
    {'illness': 0.15, 'likes': 0.25}
    """
    person = person_of(job)
    measured = {}
    for profile in job.engine.profiles(job.table, 1, unchanged_columns(job)):
        people = profile.rows
        if person is not None:
            # a person's rows that hold the same value are one: they are found together
            people = len(job.count((profile.name, person)))
        alone = profile.distinct / people if people else 0.0
        alone = job.source.prepared.found.get(profile.name, alone)
        measured[profile.name] = Telling(profile.name, alone, profile.distinct)
    return measured


def refuse_identifying(job: Job, measured: Mapping[str, Telling]) -> list[Finding]:
    """Stop where a column points at more than half of the people by itself: whoever knows its value mostly finds them.

    Then what is promised about the quasi-identifiers is worth nothing against those who know it (an employer the pay, a
    clinic the moment of a visit). What the project file accepts is a warning, and that already where the column points
    at more people than the classes do.

    >>> from keepsense.release.example import example_job
    >>> try:
    ...     refuse_identifying(example_job(), {"likes": Telling("likes", 0.7, 14)})
    ... except Infeasible as stopped:
    ...     print(str(stopped).partition(": ")[2])
    E401 likes: whoever knows its value finds 70% of the people by it alone, and 50% is the most
    """
    most = MOST_FOUND
    findings = [
        Finding(
            "W409" if _accepted(job, telling.column) else "E401",
            telling.column,
            f"whoever knows its value finds {percent(telling.alone)} of the people by it alone"
            + (f", and {percent(most)} is the most" if telling.alone > most + 1e-12 else ""),
        )
        for telling in measured.values()
        if telling.alone > (1 / job.hidden_among if _accepted(job, telling.column) else most) + 1e-12
    ]
    return _stopped(job, findings)


def hidden_told(job: Job, measured: Mapping[str, Telling], rules: Sequence[Recoding]) -> dict[str, Telling]:
    """The same with what each column tells about values of quasi-identifiers that the recodings hide.

    A guess is the most frequent value among all other people with the same value of the column: people who are alone
    with theirs tell nothing that way. Where a column has too few values to undo half of the hiding nothing is counted.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> hidden_told(done.job, {"illness": Telling("illness", 0.15, 3)}, done.recodings)["illness"].hidden
    {}
    """
    hidden = _hidden_values(job, rules)
    told = {}
    for name, telling in measured.items():
        guesses = {}
        for quasi_identifier, (values, usual) in hidden.items():
            heaviest = sorted(values.values(), reverse=True)
            most = sum(heaviest[: telling.values]) / sum(heaviest)
            if usual < 1 and (most - usual) / (1 - usual) > UNDONE:
                counts = _pairs(job, quasi_identifier, name)
                guesses[quasi_identifier] = Told(_guessed(counts, values), usual, sum(heaviest))
        told[name] = replace(telling, hidden=guesses)
    return told


def _pairs(job: Job, quasi_identifier: str, name: str) -> Counts:
    """Rows of each pair of values: from what was counted for the promises where that holds the column."""
    if name not in job.own_counts.histograms or isinstance(job.own_counts, LargeCounts):
        return job.count((quasi_identifier, name))
    counts, table = job.own_counts, job.own_counts.histograms[name]
    values, width = counts.values_of(quasi_identifier), max(1, len(table.values))
    keys = np.repeat(counts.column(quasi_identifier).astype(np.int64) * width, table.rows.sizes)
    keys += table.rows.indices
    pairs, rows = added_up(keys, len(values) * width, table.counts)
    codes = np.column_stack(np.divmod(pairs, width)).astype(np.int32)
    return Counts((quasi_identifier, name), (values, table.values), codes, rows)


def refuse_telling(job: Job, measured: Mapping[str, Telling]) -> list[Finding]:
    """Stop where a column undoes more than half of what hiding a quasi-identifier gained, unless that is accepted.

    >>> from keepsense.release.example import example_job
    >>> refuse_telling(example_job(), {"illness": Telling("illness", 0.15, 3, {"job": Told(0.3, 0.25)})})
    []
    """
    findings = [
        Finding(
            "W410" if _accepted(job, telling.column) else "E402",
            telling.column,
            f"it tells {percent(hidden.guessed)} of the values of {name} that were hidden, where "
            f"{percent(hidden.usual)} are guessed without it",
        )
        for telling in measured.values()
        for name, hidden in telling.hidden.items()
        if telling.undone(name) > UNDONE
    ]
    return _stopped(job, findings)


def _accepted(job: Job, name: str) -> bool:
    column = job.project.columns.get(name)
    return column is not None and column.accept is not None


def _stopped(job: Job, findings: list[Finding]) -> list[Finding]:
    """The findings, where none of them forbids the release."""
    errors = [finding for finding in findings if finding.is_error]
    if not errors:
        return findings
    names = list(dict.fromkeys(finding.where for finding in errors))
    numbers = [name for name in names if name in job.project.columns and job.meaning.is_number(name)]
    first = repr(names[0])
    raise Infeasible(
        "the release was not made, because columns that are released as they are tell too much: "
        + "; ".join(map(str, errors)),
        best=tuple(errors),
        relax=(
            f"release {numbers[0]!r} in bands, or in wider ones: set width in [columns.{numbers[0]}]"
            if numbers
            else f"release {first} coarser: set level, with a hierarchy, in its section",
            f'drop it: role = "identifier" for {first}',
            f'let the method protect it: role = "quasi-identifier" for {first}',
            f'accept it in so many words: accept = "identifying" for {first}',
        ),
    )


def _hidden_values(job: Job, rules: Sequence[Recoding]) -> dict[str, tuple[dict[object, float], float]]:
    """Of each quasi-identifier how many rows of each value do not show it any more, and how often a guess is right.

    Without anything else, the best guess is the value that is most often behind the same label.
    """
    table = with_draws(job, recoded(job, rules))
    whole = whole_table(table.rules, table.counts.names)
    if len(whole) == 1 and isinstance(whole[0], Cuts):
        columns = column_pairs(table.counts, whole[0])
    else:
        try:
            columns = column_pairs(*table.cells)
        except BadInput:  # no single recoding says what became of all columns: so much is not measured
            return {}
    hidden: dict[str, tuple[dict[object, float], float]] = {}
    for name, column in columns.items():
        if name not in job.quasi_identifiers or job.holds_sets(name):
            continue
        rows, likeliest = _unseen(column)
        total = int(rows.sum())
        if total >= job.hidden_among:
            behind = {value: float(n) for value, n in zip(column.originals, rows.tolist(), strict=True) if n}
            hidden[name] = (behind, likeliest / total)
    return hidden


def _unseen(column: Pairs) -> tuple[NDArray[np.int64], int]:
    """Rows of each value that do not show it, and how many of them hold the value most often behind their label.

    By the pairs that occur: of a number that got noise there are thousands of values and labels, and few pairs.
    """
    width, place = len(column.values), {str(label): i for i, label in enumerate(column.values)}
    own = np.fromiter((place.get(str(value), -1) for value in column.originals), np.int64, len(column.originals))
    unlike = own[column.original] != column.released  # a value that stands in the release is not hidden
    keys = column.original[unlike] * width + column.released[unlike]
    keys, behind = added_up(keys, len(column.originals) * width, column.weights[unlike])
    value, label = np.divmod(keys, max(1, width))
    most = np.zeros(width, dtype=np.int64)
    np.maximum.at(most, label, behind)
    rows = np.bincount(value, behind, len(column.originals)).astype(np.int64)
    return rows, int(most.sum())


def _guessed(counts: Counts, hidden: Mapping[object, float]) -> float:
    """Share of hidden values that are the most frequent ones among all other rows with the same value of a column."""
    name, other = counts.names
    values = counts.values_of(name)
    rows = counts.marginal(name)
    share = np.array([hidden.get(value, 0.0) for value in values]) / np.maximum(rows, 1)
    known = np.array([value is not None for value in counts.values_of(other)], dtype=np.bool_)[counts.column(other)]
    order = np.lexsort((-counts.weights, counts.column(other)))
    order = order[known[order] & (counts.weights[order] > 0)]
    if not len(order):
        return 0.0
    group, weight = counts.column(other)[order], counts.weights[order].astype(np.float64)
    first = np.flatnonzero(np.concatenate(([True], group[1:] != group[:-1])))
    best, second = weight[first], _second(weight, first)
    # without the row itself: its value must still lead among the others
    right = np.where(best - 1 > second, 1.0, np.where((best - 1 == second) & (best > 1), 0.5, 0.0))
    told = right * best * share[counts.column(name)[order][first]]
    return float(told.sum() / sum(hidden.values()))


def _second(weight: NDArray[np.float64], first: NDArray[np.int64]) -> NDArray[np.float64]:
    """The second largest weight of each group, whose weights fall; 0 where there is one only."""
    ends = np.concatenate((first[1:], [len(weight)]))
    several = ends - first > 1
    second = np.zeros(len(first))
    second[several] = weight[first[several] + 1]
    return second
