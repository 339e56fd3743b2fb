"""What became of each quasi-identifier: values before and after, the share lost, how it is released."""

from __future__ import annotations

from dataclasses import dataclass

from keepsense.display import percent
from keepsense.privacy.dp_promises import differentially_private
from keepsense.release.folder.dictionary import how_recoded, how_unrecoded
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

    @property
    def lost_in_words(self) -> str:
        """The share of certainty that is gone, or why there is none to show: never nothing."""
        if self.lost is not None:
            return percent(self.lost)
        return "not told" if self.values is None else "not measured"


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
            how_recoded(outcome.job, outcome.recodings, name, lost),
        )
        for name in outcome.job.every_quasi_identifier
    ]


def how_released(outcome: Outcome, name: str) -> str:
    """How a column is released that is no quasi-identifier.

    >>> from keepsense.release.example import example_release
    >>> how_released(example_release(), "illness"), how_released(example_release(), "id")
    ('as it was', 'removed')
    """
    return how_unrecoded(outcome.job, name)
