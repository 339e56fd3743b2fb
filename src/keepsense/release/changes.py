"""What became of each quasi-identifier, in a line: values before and after, the share lost, how it is released."""

from __future__ import annotations

from dataclasses import dataclass

from keepsense.privacy import differentially_private
from keepsense.recoding import Cuts
from keepsense.release.run import Outcome


@dataclass(frozen=True)
class Change:
    """One quasi-identifier: different values before and after, the share of detail lost (None: unknown), and how.

    Under differential privacy it is not told how many values there were.

    >>> Change("age", 8, 4, 0.14, "level 1 of 3").how
    'level 1 of 3'
    """

    column: str
    values: int | None
    released: int
    lost: float | None
    how: str


def changes(outcome: Outcome) -> list[Change]:
    """What became of each quasi-identifier of a release.

    >>> from keepsense.release.example import example_release
    >>> [(change.column, change.values, change.released, change.how) for change in changes(example_release())]
    [('age', 8, 4, 'level 1 of 3'), ('job', 4, 4, 'as it was')]
    """
    private = differentially_private(outcome.job.models)
    return [
        Change(
            name,
            None if private else len(outcome.job.every_count.values_of(name)),
            outcome.released_values[name],
            lost := outcome.description["columns"][name].get("lost"),
            _how(outcome, name, lost),
        )
        for name in outcome.job.every_quasi_identifier
    ]


def _how(outcome: Outcome, name: str, lost: float | None) -> str:
    if name in outcome.job.set_columns:
        return "sets that groups of records share"
    cuts = (cut for rule in outcome.recodings if isinstance(rule, Cuts) for cut in rule.cuts)
    cut = next((cut for cut in cuts if cut.name == name), None)
    if cut is None:
        return "as it was" if lost == 0 else "differs from record to record"
    if cut.level is None:
        return "branches of its hierarchy at several levels"
    height = outcome.job.hierarchies[name].height
    words = {0: "as it was", height: "hidden altogether"}
    return words.get(cut.level, f"level {cut.level} of {height}")


def how_released(outcome: Outcome, name: str) -> str:
    """How a column is released that is no quasi-identifier.

    >>> from keepsense.release.example import example_release
    >>> how_released(example_release(), "illness"), how_released(example_release(), "id")
    ('as it was', 'removed')
    """
    job = outcome.job
    if name not in job.released:
        return "removed"
    if name not in job.coarse:
        return "as it was"
    column = job.column(name)
    return f"in bands of {column.width:g}" if column.width is not None else f"level {column.level} of its hierarchy"
