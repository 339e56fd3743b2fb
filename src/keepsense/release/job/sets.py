"""Set-valued columns of a job: recoded alone, or inside the classes of other quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepsense.engines.protocol import Table
from keepsense.errors import BadInput
from keepsense.methods.method import Method, method
from keepsense.progress import Listener
from keepsense.recoding import Recoding
from keepsense.release.job.job import Job


def recode_sets(job: Job, released: Table, listener: Listener | None) -> tuple[list[Recoding], Table]:
    """Recode the set-valued quasi-identifiers of a table whose other quasi-identifiers are recoded already.

    One column after another, so that a set is shared within its class, and the next column within that.

    >>> from keepsense.release.example import example_job
    >>> sets = {"likes": {"role": "quasi-identifier", "kind": "set", "delimiter": ";"}}
    >>> job = example_job(columns=sets, unlisted="drop", method={"name": "set microaggregation"})
    >>> rules, released = recode_sets(job, job.engine.recode(job.table, [], drop=job.dropped), None)
    >>> job.count_in(released).rows_of("likes")
    {'chess': 4, 'chess;tea': 4, 'football': 4, 'football;tea': 4, 'tea': 4}
    """
    rules: list[Recoding] = []
    single = [name for name in job.quasi_identifiers if name not in job.set_columns]
    for number, name in enumerate(job.set_columns):
        counts = job.engine.count(released, [*single, *job.set_columns[:number], name])
        rule = method_for_sets(job).run_on_sets(job, name, counts, _parameters(job), listener)
        released = job.engine.recode(released, [rule], rng=job.rng)
        rules.append(rule)
    return rules, released


def method_for_sets(job: Job) -> Method:
    """The method that recodes the set-valued columns: [method] where it is one for sets, else [set_method].

    >>> from keepsense.release.example import example_job
    >>> method_for_sets(example_job()).name
    'set microaggregation'
    """
    if job.method.sets == "only":
        return job.method
    chosen = method(job.project.set_method.name)
    if chosen.sets != "only":
        raise BadInput(f"[set_method] names {chosen.name!r}, which is no method for sets")
    return chosen


def _parameters(job: Job) -> Mapping[str, Any]:
    section = job.project.method if job.method.sets == "only" else job.project.set_method
    return section.parameters
