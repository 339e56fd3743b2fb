"""What a project's method decides on some of its tuples, with its own hierarchies or others, and what that loses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from keepsense.counts import Counts, histogram
from keepsense.counts_out_of_core import LargeCounts
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.semantic_mondrian import semantic_mondrian
from keepsense.methods.generalize.user_cuts import CUTS
from keepsense.methods.method import methods
from keepsense.methods.method_call import call
from keepsense.progress import Listener
from keepsense.recoding import Cells, Cuts
from keepsense.release.job.job import Job
from keepsense.secure_random import generator
from keepsense.utility.generalization_losses import shared_loss

MOST_TUPLES = 4_000
"""Distinct tuples on which hierarchies and weights are tried; of more, as many are drawn."""


@dataclass(frozen=True, eq=False)
class Trial:
    """A job on some of its tuples, to try hierarchies; `importance` says how much the loss of a column counts.

    What is tried again and again shall be quick, so that methods which `exchange` records in the end leave that out.

    >>> from keepsense.release.example import example_job
    >>> job = example_job()
    >>> Trial(job, job.counts).rule(job.hierarchies).names
    ('age', 'job')
    """

    job: Job
    counts: Counts
    importance: Mapping[str, float] = field(default_factory=dict)
    exchange: bool = False
    listener: Listener | None = field(default=None, repr=False)

    @property
    def weights(self) -> dict[str, float]:
        """How much the loss of each column counts."""
        return {name: self.importance.get(name, self.job.column(name).weight) for name in self.counts.names}

    @property
    def numbers(self) -> list[str]:
        """Columns that hold numbers."""
        return [name for name in self.counts.names if KINDS[self.job.column(name).kind].numbers]

    def rule(self, hierarchies: Mapping[str, Hierarchy]) -> Cells | Cuts:
        """What the project's own method decides where it is quick, else what the semantic Mondrian does."""
        job = self.job
        offered = {
            "numbers": self.numbers,
            "distances": self.job.distances_of(hierarchies),
            "importance": self.weights,
            "suppression": job.suppression,
            "exchange": self.exchange,
            "listener": self.listener,
        }
        own = job.method.quick
        # cuts that are given for all rows may leave too few of some
        parameters = {name: value for name, value in job.project.method.parameters.items() if name != CUTS}
        rule: Cells | Cuts = call(
            job.method.function if own else semantic_mondrian,
            parameters if own else {},
            self.counts,
            hierarchies,
            job.models,
            **offered,
        )
        return rule

    def loss(self, hierarchies: Mapping[str, Hierarchy]) -> float:
        """What the columns lose together."""
        trees = {name: tree for name, tree in hierarchies.items() if name not in self.numbers}
        return shared_loss(self.counts, self.rule(hierarchies), trees, self.job.distances_of(hierarchies), self.weights)


def tried_with(job: Job) -> str:
    """Name of the method with which a job is tried on some of its tuples: the project's own where that is quick.

    >>> from keepsense.release.example import example_job
    >>> tried_with(example_job())
    'semantic mondrian'
    """
    return job.method.name if job.method.quick else next(m.name for m in methods() if m.function is semantic_mondrian)


def some_tuples(counts: Counts, most: int, also: Sequence[int] = ()) -> Counts:
    """At most so many tuples, drawn alike each time, with all their rows; and those at the places `also`.

    >>> len(some_tuples(Counts.of({"age": [31, 35, 40]}), 2))
    2
    """
    if len(counts) <= most:
        return counts.drawn(np.arange(len(counts))) if isinstance(counts, LargeCounts) else counts
    drawn = generator(0).choice(len(counts), most, replace=False)
    chosen = np.union1d(drawn, np.asarray(also, dtype=drawn.dtype))
    if isinstance(counts, LargeCounts):
        return counts.drawn(chosen)
    place = np.full(len(counts), -1)
    place[chosen] = np.arange(len(chosen))
    histograms = {}
    for name, table in counts.histograms.items():
        row = place[table.rows.row_of()]
        mine = row >= 0
        histograms[name] = histogram(table.values, table.rows.indices[mine], row[mine], table.counts[mine], len(chosen))
    sums = {name: numbers[chosen] for name, numbers in counts.sums.items()}
    return Counts(counts.names, counts.values, counts.codes[chosen], counts.weights[chosen], histograms, sums)
