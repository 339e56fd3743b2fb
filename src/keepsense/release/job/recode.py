"""From a source to the released rows: recoded, sets included, without suppressed records that are too few."""

from __future__ import annotations

from dataclasses import dataclass

from keepsense.counts import Counts
from keepsense.engines.protocol import Table
from keepsense.progress import Listener
from keepsense.recoding import Recoding
from keepsense.release.job.job import Job
from keepsense.release.job.people import counted_people, person_of
from keepsense.release.job.sets import recode_sets
from keepsense.release.job.suppressed import settle_suppressed


@dataclass(frozen=True, eq=False)
class Recoded:
    """A table as it will be released, and the recodings that made it.

    `rules` recode the columns that the method decides on, `set_rules`, one a column and applied after those, set-valued
    ones. `rows` still hold the columns of `beside`: they are not released, but promises are about them, or they tell
    people apart. `counts` are of the released quasi-identifiers, `people` the same with people in place of rows where
    these may have several; `population` is everybody, recoded alike.

    >>> from keepsense.release.example import example_job
    >>> job = example_job()
    >>> made = recode(job, job.method.run(job, {}, None), None)
    >>> made.released.columns, made.counts.rows_of("age")
    (('age', 'job', 'illness', 'likes'), {'30 to 39': 5, '40 to 49': 5, '50 or more': 5, 'under 30': 5})
    """

    rules: list[Recoding]
    set_rules: list[Recoding]
    rows: Table
    released: Table
    beside: tuple[str, ...]
    counts: Counts
    population: Table | None = None
    people: Counts | None = None

    @property
    def every_rule(self) -> list[Recoding]:
        """All recodings in the order they are applied."""
        return [*self.rules, *self.set_rules]


def recode(job: Job, rules: list[Recoding], listener: Listener | None) -> Recoded:
    """Apply the recodings to the source, decide on sets inside the classes they form, and count what came out.

    >>> from keepsense.release.example import example_job
    >>> recode(example_job(), [], None).released.rows
    20
    """
    person = person_of(job)
    needed = [name for model in job.models for name in model.columns if name in job.dropped]
    beside = tuple(dict.fromkeys([*needed, *([] if person is None else [person])]))
    rows = job.engine.recode(job.table, rules, drop=set(job.dropped) - set(beside), rng=job.rng)
    set_rules, rows = recode_sets(job, rows, listener)
    rows, counts = settle_suppressed(job, rows)
    population = None if job.population is None else job.engine.recode(job.population, rules)
    released = job.engine.recode(rows, [], drop=beside)
    names = job.every_quasi_identifier
    people = None if person is None else counted_people(job.engine, rows, names, person)
    return Recoded(rules, set_rules, rows, released, beside, counts, population, people)
