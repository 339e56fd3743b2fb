"""Risk of households: one person who is found reveals all who live there, before the release and in it."""

from __future__ import annotations

import numpy as np

from keepsense.counts import Counts
from keepsense.recoding import SUPPRESSED, Cells
from keepsense.release.job.job import Job
from keepsense.release.job.people import people_among, person_of, positions


def household_of(job: Job) -> str | None:
    """The column that tells who lives together, where there is one.

    >>> from keepsense.release.example import example_job
    >>> household_of(example_job()) is None
    True
    """
    return next(iter(job.project.having("household")), None)


def own_households(job: Job, columns: tuple[str, ...]) -> Counts | None:
    """Tuples of some columns of the source with the household of each record, the last column; people where known.

    >>> from keepsense.release.example import example_job
    >>> own_households(example_job(), ("job",)) is None
    True
    """
    home, person = household_of(job), person_of(job)
    if home is None:
        return None
    if person is None:
        return job.count((*columns, home))
    return people_among(job.count((*columns, home, person)), (*columns, home))


def released_households(counts: Counts, homes: Counts, cells: Cells) -> Counts | None:
    """The same after a recoding of the counts; None where it deals the records of a tuple out by chance.

    Suppressed records read `*` in all columns, and nobody finds them.

    >>> jobs = Counts.of({"job": ["nurse", "surgeon", "clerk"]})
    >>> homes = Counts.of({"job": ["nurse", "surgeon", "clerk"], "home": [1, 2, 2]})
    >>> cells = Cells(("job",), (("medic", "clerk"),), np.arange(3), np.array([[0], [0], [1]]), np.ones(3))
    >>> released_households(jobs, homes, cells).rows_of("job")
    {'medic': 2, 'clerk': 1, '*': 0}
    """
    if len(cells.source) != len(counts) or len(np.unique(cells.source)) != len(counts):
        return None
    row_of = np.empty(len(counts), dtype=np.int64)
    row_of[cells.source] = np.arange(len(counts))
    row = row_of[positions(homes, counts)]
    values = [(*listed, SUPPRESSED) for listed in cells.values]
    stars = np.array([len(listed) - 1 for listed in values], dtype=np.int32)
    hidden = np.zeros(len(row), np.bool_) if cells.suppressed is None else cells.suppressed[row]
    codes = np.where(hidden[:, None], stars, cells.codes[row])
    home = homes.names[-1]
    both = np.column_stack([codes, homes.column(home)]).astype(np.int32)
    names = (*cells.names, home)
    return Counts(names, (*values, homes.values_of(home)), both, homes.weights).project(names)
