"""Distributions of a column before and after: the most frequent values, and the sum of the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from keepsense.counts import Counts
from keepsense.studio.session.rows import spelled

if TYPE_CHECKING:
    from keepsense.studio.session.runs import Run

MOST = 12
"""Values that are shown by themselves."""


@dataclass(frozen=True)
class Spread:
    """Shares of the most frequent values of a column, and what is left for the others.

    >>> spread_of(Counts.of({"job": ["nurse", "nurse", "clerk"]}), "job", 1)
    Spread(shares=(('nurse', 0.6666666666666666),), rest=0.33333333333333337, values=2)
    """

    shares: tuple[tuple[str, float], ...]
    rest: float
    values: int


def spread_of(counts: Counts, name: str, most: int = MOST) -> Spread:
    """How the values of a column are spread, most frequent first."""
    rows = counts.rows_of(name)
    whole = max(1, sum(rows.values()))
    ranked = sorted(rows.items(), key=lambda item: (-item[1], str(item[0])))
    shares = tuple((spelled(value) or "(empty)", number / whole) for value, number in ranked[:most])
    return Spread(shares, 1.0 - sum(share for _, share in shares), len(rows))


def before_and_after(run: Run, name: str) -> tuple[Spread, Spread] | None:
    """The spread of a quasi-identifier before a run and in what it made; None where there is nothing yet.

    >>> from keepsense.release.example import example_job
    >>> from keepsense.studio.session.runs import Run
    >>> job = example_job()
    >>> before, after = before_and_after(Run(1, job.project, job.folder, "").start().wait(), "age")
    >>> before.values, after.values
    (8, 4)
    """
    outcome = run.outcome
    if outcome is None or name not in outcome.after.names or name not in outcome.counts.names:
        return None
    return spread_of(outcome.counts, name), spread_of(outcome.after, name)
