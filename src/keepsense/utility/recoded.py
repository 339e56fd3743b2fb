"""A table and what became of it: all that metrics of utility look at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, cast

from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.hierarchies import Hierarchy
from keepsense.metrics import Note
from keepsense.recoding import Cells, Cuts, Recoding
from keepsense.utility.alignment import aligned, inputs_of, whole_table
from keepsense.utility.scales import Scale
from keepsense.utility.sets import SetFigures

T = TypeVar("T")

MOST_DISTANCES = 1 << 24
"""Most distances between values of one column that a report writes down."""


@dataclass(frozen=True, eq=False)
class Recoded:
    """Counts of a table's columns of single values, the recodings of these, and what their values mean.

    Of the `rules`, `set_rules` recode set-valued columns, after the others; `sets` are figures of those columns.
    `truthful` says that values were generalized, along `hierarchies`, and not changed. `numbers` names the columns of
    numbers, `ranges` within which widths of some are measured, `importance` says how much columns matter, `scale_of`
    how the values of a column are compared. `released` counts the release with its sets, `drawn` is one outcome of
    recodings that draw. `target` is a histogram of the counts that a classifier predicts. What a metric samples or
    leaves out it tells in `notes`.

    >>> from keepsense.metrics import by_name, figures
    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("clerk", "office", "*")], name="job")
    >>> counts = Counts.of({"job": ["nurse", "clerk", "clerk"]})
    >>> found = by_name(figures("utility", Recoded(counts, [Cuts((jobs.cut(2),))], {"job": jobs}), every_run=True))
    >>> found["loss"], found["average class size"]
    (1.0, 3.0)
    """

    counts: Counts
    rules: Sequence[Recoding]
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    set_rules: Sequence[Recoding] = ()
    truthful: bool = True
    numbers: frozenset[str] = frozenset()
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    importance: Mapping[str, float] = field(default_factory=dict)
    scale_of: Callable[[str], Scale] = Scale
    released: Counts | None = None
    drawn: Cells | None = None
    sets: Sequence[SetFigures] = ()
    target: str | None = None
    notes: list[Note] = field(default_factory=list)
    _shared: dict[Callable[[Recoded], object], object] = field(default_factory=dict, repr=False)

    def once(self, compute: Callable[[Recoded], T]) -> T:
        """What a function finds, worked out once for all metrics that need it."""
        if compute not in self._shared:
            self._shared[compute] = compute(self)
        return cast(T, self._shared[compute])

    @property
    def generalized(self) -> tuple[Counts, Cuts | Cells]:
        """The one recoding that generalizes all columns, and the counts it is for; refused where there is none."""
        rules = whole_table(self.rules, self.counts.names) if self.truthful else []
        if not rules:
            raise BadInput("the metric is for tables whose values were generalized, all columns at once")
        return inputs_of(self.counts, rules[-1]), rules[-1]

    @property
    def cells(self) -> tuple[Counts, Cells]:
        """What became of each combination of values, drawn where chance decides; refused where it cannot be told."""
        rules = whole_table(self.rules, self.counts.names)
        if len(rules) == 1 and self.truthful:
            return self.counts, aligned(self.counts, rules[0])
        if len(rules) == 1:
            counts = inputs_of(self.counts, rules[0])
            return counts, rules[0].cells(counts)
        if self.drawn is None:
            raise BadInput("no single recoding says what became of all columns")
        return self.counts, self.drawn

    def note(self, about: str, text: str) -> None:
        """Tell how something was measured, once."""
        if (remark := Note(about, text)) not in self.notes:
            self.notes.append(remark)
