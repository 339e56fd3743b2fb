"""A quick estimate of what a method would decide: on all distinct tuples where that is fast enough, else on some.

Losses of a sample are carried on to all rows as they fell from parts of it to the whole
(`keepsense.release.figures.costs`).
A method that exchanges records in the end, which takes most of its time, does so on a few thousand combinations only:
how much that wins back depends little on their number.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np

from keepsense.counts import Counts, Value
from keepsense.errors import KeepsenseError
from keepsense.privacy.k_anonymity import KAnonymity
from keepsense.progress import Listener
from keepsense.recoding import Recoding
from keepsense.release.figures.costs import carried_on, measurable, won_back
from keepsense.release.figures.measure import column_penalties
from keepsense.release.job.choosing import some_tuples
from keepsense.release.job.job import Job

DIVIDED = 60_000
"""Combinations that a method which divides the table takes in about a second."""
FIRST = 180_000
"""Cells (combinations times columns) that such a method takes in less than a second, with what is left to carry on."""
EXCHANGED = 1_500
"""Combinations on which records are exchanged."""
SLOW = 4_000
"""Combinations that slower methods are given."""
CHANGED = 1_500
"""Combinations whose values are changed, not made vaguer: what the rows become is shown, no loss is measured."""
NODES = 40_000_000
"""Nodes of a lattice times combinations that are judged in about a second, where only sizes matter."""
SECONDS = 1.5
"""What searches that can be cut short are given."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """What a method decides on all or some of a job's combinations, and what each column loses by it.

    `part` is the job that was looked at: of all combinations, or of the `tuples` that were drawn `of` them.
    `exchanged` are combinations on which it was measured what an exchange of records wins back, where one is made.

    >>> from keepsense.release.example import example_job
    >>> found = estimate(example_job())
    >>> found.sampled, {name: round(share, 4) for name, share in found.lost.items()}, found.note
    (False, {'age': 0.23, 'job': 0.0}, 'Computed on all 8 combinations of values.')
    """

    part: Job
    rules: list[Recoding]
    lost: Mapping[str, float]
    tuples: int
    of: int
    exchanged: int = 0
    left: Mapping[str, float] | None = None
    """The part of each column's loss that is left after the exchange, where that was measured."""

    @property
    def sampled(self) -> bool:
        """Whether some combinations stand for all."""
        return self.tuples < self.of or 0 < self.exchanged < self.of

    @property
    def note(self) -> str:
        """On what it was computed, in a sentence."""
        if self.tuples < self.of:
            return f"Estimated on {self.tuples:,} of {self.of:,} combinations of values; the full run takes all."
        if self.sampled:
            return (
                f"Computed on all {self.of:,} combinations of values, but for the last exchange of records, which is "
                f"estimated on {self.exchanged:,}."
            )
        return f"Computed on all {self.of:,} combinations of values."


def estimate(
    job: Job,
    among: Sequence[Mapping[str, Value]] = (),
    listener: Listener | None = None,
    most: int | None = None,
    earlier: Estimate | None = None,
) -> Estimate:
    """Decide as the job's method would; the combinations of the rows `among` are looked at in any case.

    `most` combinations, in place of what is usual for the method, are taken. What an `earlier` estimate of the same job
    measured besides is not measured again.
    """
    counts, limit = job.counts, most or most_for(job)
    held = [place for place in places_of(counts, among) if place >= 0]
    part = job if len(counts) <= limit else sampled(job, some_tuples(counts, limit, held))
    parameters = dict(job.project.method.parameters)
    exchanges = "exchange" in signature(job.method.function).parameters and parameters.get("exchange", True)
    apart = bool(exchanges) and len(counts) > EXCHANGED and measurable(job)
    if apart:
        parameters["exchange"] = False
    if job.method.time_limit is not None and job.method.time_limit not in parameters:
        parameters[job.method.time_limit] = SECONDS
    rules = job.method.run(part, parameters, listener)
    lost = column_penalties(part, rules)
    if part is not job and measurable(job):
        lost = _else(lost, lambda: carried_on(job, part.counts, lost, listener))
    left = None if earlier is None else earlier.left
    if apart:
        left = left or _else({}, lambda: won_back(job, some_tuples(counts, EXCHANGED), listener=listener))
        lost = {name: share * left.get(name, 1.0) for name, share in lost.items()}
    return Estimate(part, rules, lost, len(part.counts), len(counts), EXCHANGED if apart else 0, left)


def _else(usual: dict[str, float], measured: Callable[[], dict[str, float]]) -> dict[str, float]:
    """What is measured on few combinations, where these can keep the promises; what is usual where not."""
    try:
        return measured()
    except KeepsenseError:
        return usual


def most_for(job: Job) -> int:
    """Combinations that a job's method is given so that it answers in about a second.

    >>> from keepsense.release.example import example_job
    >>> most_for(example_job(method={"name": "mondrian"})), most_for(example_job(method={"name": "rank swapping"}))
    (60000, 1500)
    """
    if job.method.quick:
        return DIVIDED
    if job.method.whole_values and job.truthful:
        nodes = float(np.prod([tree.height + 1.0 for tree in job.hierarchies.values()]))
        slower = 1 if all(isinstance(model, KAnonymity) for model in job.models) else 10
        return int(max(SLOW, min(10 * DIVIDED, NODES / (nodes * slower))))
    return SLOW if job.truthful else CHANGED


def some_first(job: Job) -> int | None:
    """Combinations that are looked at first, so that somebody sees something soon; None where all of them are quick.

    >>> from keepsense.release.example import example_job
    >>> some_first(example_job()) is None
    True
    """
    few = FIRST // max(1, len(job.quasi_identifiers))
    return few if job.method.quick and measurable(job) and len(job.counts) > 1.5 * few else None


def places_of(counts: Counts, rows: Sequence[Mapping[str, Value]]) -> list[int]:
    """Where the combinations of some rows stand in the counts; -1 where they are not there.

    >>> places_of(Counts.of({"age": [31, 35, 40]}), [{"age": 40}, {"age": 50}])
    [2, -1]
    """
    wanted = np.empty((len(rows), len(counts.names)), dtype=np.int64)
    for j, name in enumerate(counts.names):
        asked = {row.get(name) for row in rows}
        codes = {value: code for code, value in enumerate(counts.values_of(name)) if value in asked}
        wanted[:, j] = [codes.get(row.get(name), -1) for row in rows]
    places = []
    for codes_of_row in wanted:
        held = np.arange(len(counts))
        for j, code in enumerate(codes_of_row.tolist()):  # few are left after a column or two
            held = held[counts.codes[held, j] == code]
        places.append(int(held[0]) if len(held) else -1)
    return places


def sampled(job: Job, counts: Counts) -> Job:
    """The same job on some of its combinations, for methods of all kinds.

    >>> from keepsense.release.example import example_job
    >>> job = example_job(method={"name": "rank swapping"})
    >>> sampled(job, job.counts.some([0, 1, 2])).count(job.quasi_identifiers).total < job.counts.total
    True
    """
    part = copy.copy(job.narrowed(counts))
    whole = part.source

    def count(columns: Sequence[str], **further: Any) -> Counts:
        if set(columns) == set(counts.names) and not any(further.values()):
            return counts.project(columns)
        return whole.count(columns, **further)

    source = copy.copy(whole)
    object.__setattr__(source, "count", count)
    vars(part).update(counts=counts, own_counts=counts, every_count=counts, source=source)
    return part
