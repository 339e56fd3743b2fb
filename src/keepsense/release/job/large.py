"""Tables with more distinct tuples than fit in memory: which jobs work without all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, Protocol

from keepsense.counts import Counts
from keepsense.engines.protocol import CountsAnew, Engine, Table
from keepsense.methods.method import Method, methods
from keepsense.privacy.k_map import POPULATION
from keepsense.privacy.population_uniqueness import OF_FRACTION
from keepsense.privacy.privacy_model import Model, needed_columns
from keepsense.project.project_file import Project


class Counting(Protocol):
    """What is to be counted, and for which method: a job is such.

    >>> from keepsense.release.example import example_job
    >>> counting: Counting = example_job()
    >>> counting.missing
    'category'
    """

    @property
    def project(self) -> Project:
        """The project file."""

    @property
    def engine(self) -> Engine:
        """Where the rows live."""

    @property
    def table(self) -> Table:
        """The rows."""

    @property
    def method(self) -> Method:
        """The method of the project."""

    @property
    def models(self) -> list[Model]:
        """What is promised."""

    @property
    def missing(self) -> Literal["category", "wildcard"]:
        """What empty cells are."""

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns that the method decides on."""

    @property
    def every_quasi_identifier(self) -> tuple[str, ...]:
        """All columns by which people could be recognized."""


def plain_rows(job: Counting) -> bool:
    """Whether every row is a person by itself, of columns of single values, and compared with nobody outside.

    All else is measured or decided on all combinations at once.

    >>> from keepsense.release.example import example_job
    >>> plain_rows(example_job())
    True
    """
    source = job.project.source
    return (
        job.every_quasi_identifier == job.quasi_identifiers
        and job.missing == "category"
        and job.project.population is None
        and not job.project.having("person", "household", "weight")
        and POPULATION not in needed_columns(job.models)
        and not any(isinstance(model, OF_FRACTION) for model in job.models)
        and (source is None or source.sampling_fraction is None)
    )


def outgrown(job: Counting, further: Iterable[str]) -> Counts | None:
    """Counts that are not held (`keepsense.counts_out_of_core`), where all combinations do not fit; None where they do.

    >>> from keepsense.release.example import example_job
    >>> outgrown(example_job(), ()) is None
    True
    """
    if not isinstance(job.engine, CountsAnew):
        return None
    return job.engine.outgrown(job.table, job.quasi_identifiers, histograms=further)


def what_would_do(job: Counting, plain: bool) -> str:
    """What is said to those whose method cannot do without all combinations: which one can.

    >>> from keepsense.release.example import example_job
    >>> what_would_do(example_job(), True)
    ''
    >>> what_would_do(example_job(method={"name": "datafly"}), True)
    "; or let 'optimal' decide, which looks at coarser values first and takes about 0.4 GB"
    """
    able: Sequence[Method] = [each for each in methods(in_projects=True) if each.coarser]
    if not plain or job.method.coarser or not isinstance(job.engine, CountsAnew):
        return ""
    takes = job.engine.anew(job.table, job.quasi_identifiers)
    if takes is None:
        return ""
    names = " or ".join(repr(each.name) for each in able)
    return f"; or let {names} decide, which looks at coarser values first and takes about {takes / 1e9:.1f} GB"
