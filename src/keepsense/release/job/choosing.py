"""Choose the hierarchies of a project: those with the lowest loss together, by its own method and promise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from keepsense.counts import Counts, histogram
from keepsense.counts_out_of_core import LargeCounts
from keepsense.errors import KeepsenseError
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.hierarchy_choice import descend
from keepsense.methods.generalize.semantic_mondrian import semantic_mondrian
from keepsense.methods.generalize.user_cuts import CUTS
from keepsense.methods.method import methods
from keepsense.methods.method_call import call
from keepsense.progress import Listener
from keepsense.recoding import Cells, Cuts
from keepsense.secure_random import generator
from keepsense.utility.generalization_losses import shared_loss

if TYPE_CHECKING:
    from keepsense.methods.method import Method
    from keepsense.privacy.privacy_model import Model
    from keepsense.project.column_meaning import Meaning
    from keepsense.project.project_file import Column, Project
    from keepsense.semantics.distance import Distance


class Planned(Protocol):
    """What is to be released, as far as the choice of hierarchies depends on it: a job is such.

    >>> from keepsense.release.example import example_job
    >>> planned: Planned = example_job()
    >>> planned.method.name, planned.truthful
    ('optimal', True)
    """

    @property
    def project(self) -> Project:
        """The project file."""

    @property
    def method(self) -> Method:
        """The method of the project."""

    @property
    def models(self) -> list[Model]:
        """What is promised."""

    @property
    def meaning(self) -> Meaning:
        """What values mean."""

    @property
    def counts(self) -> Counts:
        """Distinct tuples of the quasi-identifiers."""

    @property
    def truthful(self) -> bool:
        """Whether the method releases values that are true, if less exact."""

    @property
    def set_columns(self) -> tuple[str, ...]:
        """Set-valued columns that are recoded after the others."""

    @property
    def suppression(self) -> float:
        """Share of records that may be suppressed."""

    def column(self, name: str) -> Column:
        """What the project file says about a column."""


MOST_TUPLES = 4_000
"""Distinct tuples on which hierarchies are tried; of more, as many are drawn."""


def chosen_together(
    job: Planned, shortlists: Mapping[str, Sequence[Hierarchy]], listener: Listener | None = None
) -> dict[str, Hierarchy]:
    """The hierarchies of all quasi-identifiers, chosen together where columns have several to choose from.

    They are tried on the counts with the project's own method where that is quick, else with the semantic Mondrian,
    and judged by the loss that columns share (`keepsense.utility.generalization_losses`), one column after the other.
    What cannot be
    tried (a promise that cannot be kept, a method that generalizes nothing) gets the first of each shortlist. The
    listener hears of every trial, and may end it all.

    >>> from keepsense.release.example import example_job
    >>> job = example_job()
    >>> {name: tree.height for name, tree in chosen_together(job, {n: [t] for n, t in job.hierarchies.items()}).items()}
    {'age': 3, 'job': 2}
    """
    first = {name: trees[0] for name, trees in shortlists.items()}
    if all(len(trees) == 1 for trees in shortlists.values()) or not job.truthful or set(job.set_columns) & set(first):
        return first
    trial = Trial(job, some_tuples(job.counts, MOST_TUPLES), listener=listener)
    try:
        choice = descend(shortlists, trial.loss)
    except KeepsenseError:  # said again, with its remedies, where it is run
        return first
    return dict(choice.hierarchies)


@dataclass(frozen=True, eq=False)
class Trial:
    """A job on some of its tuples, with hierarchies to be tried; `weights` say how much the loss of a column counts.

    What is tried again and again shall be quick, so that methods which `exchange` records in the end leave that out.

    >>> from keepsense.release.example import example_job
    >>> job = example_job()
    >>> Trial(job, job.counts).rule(job.hierarchies).names
    ('age', 'job')
    """

    job: Planned
    counts: Counts
    importance: Mapping[str, float] = field(default_factory=dict)
    exchange: bool = False
    listener: Listener | None = field(default=None, repr=False)

    @cached_property
    def distances(self) -> dict[str, Distance]:
        """Semantic distances of the columns that have a taxonomy."""
        words = (name for name in self.counts.names if self.job.column(name).taxonomy is not None)
        return {name: self.job.meaning.distance(name) for name in words}

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
            "distances": self._distances(hierarchies),
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
        return shared_loss(self.counts, self.rule(hierarchies), trees, self._distances(hierarchies), self.weights)

    def _distances(self, hierarchies: Mapping[str, Hierarchy]) -> dict[str, Distance]:
        return {
            name: judge
            for name, judge in self.distances.items()
            if (tree := hierarchies[name]).concepts is not None and (tree.concepts[0] >= 0).any()
        }


def tried_with(job: Planned) -> str:
    """Name of the method with which hierarchies are tried: the project's own where that is quick.

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
