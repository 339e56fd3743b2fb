"""The subject of a report: the outcome of a run, and figures that are measured when first asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts, Value
from keepsense.engines.protocol import started
from keepsense.errors import KeepsenseError
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.metrics import Note
from keepsense.recoding import SUPPRESSED, Cells, Cuts, Recoding, suppressed_tuples
from keepsense.release.figures.costs import NEARLY_LOST, nearly_lost
from keepsense.release.figures.measure import Measurements, item_counts, measured_for_report, number_pairs_of
from keepsense.release.folder.place import read_released
from keepsense.release.job.job import Job
from keepsense.release.run import Outcome
from keepsense.risk.risk_metrics import Exposed
from keepsense.utility.recoded_table import inputs_of


@dataclass(frozen=True, eq=False)
class Subject:
    """A release to report on. A public report asks only for what the released file and its description tell.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> subject = Subject(done)
    >>> subject.columns, subject.truthful, subject.marginal(subject.after, "job")
    (('age', 'job'), True, {'accountant': 5, 'clerk': 5, 'nurse': 5, 'surgeon': 5})
    """

    outcome: Outcome
    public: bool = False
    tries_others: bool = True

    @property
    def job(self) -> Job:
        """The project, opened."""
        return self.outcome.job

    @property
    def told(self) -> Mapping[str, Any]:
        """The public description of the release."""
        return self.outcome.description

    @property
    def rules(self) -> list[Recoding]:
        """What became of the values, sets included."""
        return [*self.outcome.recodings, *self.outcome.set_recodings]

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns by which people could be recognized."""
        return self.job.every_quasi_identifier

    @cached_property
    def truthful(self) -> bool:
        """Whether values were made less exact rather than changed."""
        return self.job.truthful

    @property
    def about_classes(self) -> bool:
        """Whether classes protect people: not where values were changed and no size of classes is promised."""
        return self.job.about_classes

    @cached_property
    def before(self) -> Counts:
        """Counts of the original quasi-identifiers."""
        return self.job.every_count

    @cached_property
    def after(self) -> Counts:
        """Counts of the released quasi-identifiers, read from the release, with the sensitive columns along."""
        sensitive = [name for name in self.job.project.having("sensitive") if name in self.job.released]
        file = self.outcome.file
        if self.outcome.table is None and file.is_file():
            with started(self.job.engine.name) as running:
                table = read_released(self.job, file, running)
                counts: Counts = running.count(table, self.columns, histograms=sensitive)
                return counts
        for rule in self.outcome.recodings:  # a rehearsal, or a table of a database: as the recoding says
            if isinstance(rule, Cuts | Cells):
                return rule.apply(inputs_of(self.job.own_counts, rule))
        return self.job.own_counts

    @cached_property
    def shown(self) -> NDArray[np.bool_]:
        """Which released combinations are not suppressed."""
        return ~suppressed_tuples(self.after)

    @cached_property
    def measured(self) -> Measurements:
        """Everything that is measured for an internal report."""
        try:
            return measured_for_report(self.job, self.rules)
        except KeepsenseError as error:
            return Measurements(notes=(Note("utility", f"Some figures are missing: {error}"),))

    @cached_property
    def exposed(self) -> dict[str, Exposed]:
        """Both tables, record by record, as attackers see them: "before" and "after"."""
        try:
            trees = {name: tree for name, tree in self.job.hierarchies.items() if not self.job.holds_sets(name)}
        except KeepsenseError:  # a method that changes values may do without
            trees = {}
        numbers = number_pairs_of(self.job, self.rules)
        return {
            "before": Exposed(self.before, missing=self.job.missing, hierarchies=trees),
            "after": Exposed(self.after, missing=self.job.missing, hierarchies=trees, numbers=numbers),
        }

    @cached_property
    def remedies(self) -> dict[str, str]:
        """What would win columns back that lost nearly everything: as the run found, or, later, found again."""
        seen = [finding for finding in self.outcome.findings if finding.code == NEARLY_LOST]
        if not seen:
            lost = {name: column["lost"] for name, column in self.told["columns"].items() if "flag" in column}
            seen = nearly_lost(self.job, lost) if lost else []
        return {finding.where: finding.message for finding in seen}

    def values_released(self, name: str) -> int:
        """Different values of a column in the release, what is hidden not counted unless all is."""
        shown = self.marginal(self.after, name)
        return max(1, len(shown) - (SUPPRESSED in shown)) if shown else 0

    def marginal(self, counts: Counts, name: str) -> dict[Value, int]:
        """Rows of each value of a column (for sets: of each item), the most frequent first."""
        if KINDS[self.job.column(name).kind].sets:
            return item_counts(self.job, counts, name)
        rows = counts.marginal(name)
        order = np.argsort(-rows, kind="stable").tolist()
        values = counts.values_of(name)
        return {values[i]: int(rows[i]) for i in order if rows[i] > 0}
