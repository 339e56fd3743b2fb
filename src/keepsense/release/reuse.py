"""Next month's file: the recoding of an earlier release applied again, and refused where it would break the promise."""

from __future__ import annotations

from pathlib import Path

from keepsense.errors import BadInput, Infeasible
from keepsense.privacy import bind, decide, suppression_limit
from keepsense.recoding import Cuts, Recoding
from keepsense.release.job import Job
from keepsense.release.recoding_file import read_recodings


def reuse_recoding(job: Job, path: str | Path) -> list[Recoding]:
    """The recoding of an earlier release for a new table; refuses one that is not for whole values.

    >>> from keepsense.release.example import example_job
    >>> reuse_recoding(example_job(), "/nowhere/recoding.json")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: recoding.json: the recoding cannot be read (No such file or directory)
    """
    rules = [r for r in read_recodings(Path(path)) if not set(r.names) <= set(job.set_columns)]
    if len(rules) != 1 or not isinstance(rules[0], Cuts):
        raise BadInput("only a recoding of whole values (levels or cuts) can be reused; this one is for one table")
    return [_fitted(job, rules[0])]


def _fitted(job: Job, rule: Cuts) -> Cuts:
    """The same cuts for a new table, with the classes suppressed that would break the promise here."""
    if set(rule.names) != set(job.quasi_identifiers):
        raise BadInput("the recoding is for other quasi-identifiers than the project file names")
    bare = Cuts(rule.cuts)
    cells = bare.cells(job.counts)
    after = job.counts.recoded(cells.values, cells.codes)
    limit = suppression_limit(job.project.release.suppression, job.counts.total)
    decision = decide(bind(job.models, job.counts), after.weights, after.histograms, limit)
    if not decision.holds:
        raise Infeasible(
            "the recoding of the earlier release does not keep the promise for this table",
            best=decision,
            relax=("allow more suppression", "make a new recoding without --reuse"),
        )
    labels = [tuple(after.values[j][c] for j, c in enumerate(row)) for row in after.codes[~decision.kept].tolist()]
    return Cuts(rule.cuts, frozenset(labels))
