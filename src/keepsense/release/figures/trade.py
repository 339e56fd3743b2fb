"""What each column would keep with twice its weight, and what that would cost the others."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from keepsense.display import percent
from keepsense.engines.protocol import started
from keepsense.errors import KeepsenseError
from keepsense.progress import Listener
from keepsense.project.project_file import Project
from keepsense.release.figures.costs import losses_on, measurable
from keepsense.release.job.choosing import MOST_TUPLES, some_tuples, tried_with
from keepsense.release.job.job import Job
from keepsense.secure_random import generator

FACTOR = 2.0
"""What a column's weight is multiplied by."""


@dataclass(frozen=True)
class Offer:
    """What a column loses with its weight and with twice as much, and what the others lose then, on average.

    >>> Offer("job", 0.4, 0.3, 0.1, 0.12).sentence
    'job would lose 30.0% instead of 40.0%, the others 12.0% instead of 10.0% on average'
    """

    column: str
    lost: float
    twice: float
    others: float
    others_then: float

    @property
    def sentence(self) -> str:
        """The offer in words."""
        return (
            f"{self.column} would lose {percent(self.twice)} instead of {percent(self.lost)}, "
            f"the others {percent(self.others_then)} instead of {percent(self.others)} on average"
        )


@dataclass(frozen=True)
class Trade:
    """An offer for every quasi-identifier, the method they were measured with, and on how many tuples of how many.

    >>> from keepsense.release.example import example_job
    >>> found = trade(example_job(privacy=[{"model": "k-anonymity", "k": 10}]))
    >>> [offer.column for offer in found.offers], found.tuples == found.of
    (['age', 'job'], True)
    """

    offers: tuple[Offer, ...]
    method: str
    tuples: int
    of: int

    @property
    def measured(self) -> str:
        """How it was measured, in words."""
        part = "" if self.tuples == self.of else f" {self.tuples:,} of"
        return f"measured with the method {self.method} on{part} {self.of:,} combinations of values"

    def as_data(self) -> dict[str, Any]:
        """The same for scripts."""
        offers = [asdict(offer) for offer in self.offers]
        return {"offers": offers, "method": self.method, "combinations": self.tuples, "of": self.of}


def trade(job: Job, listener: Listener | None = None) -> Trade | None:
    """What each quasi-identifier would keep if it weighed twice; None where that cannot be measured.

    The project's own method is run on a sample of the tuples where it is quick, else the semantic Mondrian: losses of
    the sample are higher than those of the whole table, and it is their difference that tells. Sets are shared inside
    the groups that the other columns form, whatever these weigh: the others trade among themselves. Methods that change
    values, and tables of one column, have nothing to trade. The listener hears of every step, and may end it.

    >>> from keepsense.release.example import example_job
    >>> trade(example_job(method={"name": "rank swapping"})) is None
    True
    """
    names = job.quasi_identifiers
    if len(names) < 2 or not measurable(job, beside_sets=True):
        return None
    counts = some_tuples(job.counts, MOST_TUPLES)
    try:
        now = losses_on(job, counts, listener=listener)
        twice = {
            name: losses_on(job, counts, {name: FACTOR * job.column(name).weight}, listener=listener) for name in names
        }
    except KeepsenseError:  # said again, with its remedies, where it is run
        return None
    offers = tuple(
        Offer(
            name,
            now[name],
            twice[name][name],
            fmean(now[other] for other in names if other != name),
            fmean(twice[name][other] for other in names if other != name),
        )
        for name in names
    )
    return Trade(offers, tried_with(job), len(counts), len(job.counts))


def project_trade(project: Project, folder: Path, engine: str | None = None) -> Trade | None:
    """The same for a project that was not run.

    >>> from keepsense.release.example import example_job
    >>> job = example_job(method={"name": "rank swapping"})
    >>> project_trade(job.project, job.folder) is None
    True
    """
    with started(engine or project.engine.name, **project.engine.options()) as rows:
        return trade(Job(project, folder, rows, generator(0)))
