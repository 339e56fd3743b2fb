"""Next month's file: the recoding of an earlier release applied again, and refused where it would break the promise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from keepsense.counts import Value
from keepsense.errors import BadInput, Infeasible
from keepsense.hierarchies.intervals import parse_interval
from keepsense.hierarchies.kinds import KINDS, Kind
from keepsense.hierarchies.kinds.date import as_date, calendar_rule
from keepsense.privacy import bind, decide, suppression_limit
from keepsense.recoding import SUPPRESSED, Cut, Cuts, Recoding
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
    cuts = tuple(covering(cut, job.counts.values_of(cut.name), job.column(cut.name).kind) for cut in rule.cuts)
    bare = Cuts(cuts)
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
    return Cuts(cuts, frozenset(labels))


def covering(cut: Cut, values: Iterable[Value], kind: str) -> Cut:
    """The cut with an output for values it has not seen, where its rule tells one: bands and calendar spans do.

    >>> ages = Cut("age", (24, 61), ("20 to 29", "60 or more"), level=1)
    >>> covering(ages, (27, 95, 61), "numeric").outputs
    ('20 to 29', '60 or more', '20 to 29', '60 or more')
    """
    known = dict(zip(cut.inputs, cut.outputs, strict=True))
    fresh = [value for value in values if value is not None and value not in known]
    told = _rule(cut, known, KINDS[kind]) if fresh else None
    if told is None:
        return cut
    added = {value: label for value in fresh if (label := told(value)) is not None}
    return Cut(cut.name, (*cut.inputs, *added), (*cut.outputs, *added.values()), cut.level)


def _rule(cut: Cut, known: Mapping[Value, Value], kind: Kind) -> Callable[[Value], Value] | None:
    """What becomes of a value never seen, None where nothing is told; no rule for words and codes."""
    if not kind.ordered or kind.needs_order:
        return None
    if cut.level == 0:
        return lambda value: value
    if set(cut.outputs) == {SUPPRESSED}:
        return lambda value: SUPPRESSED
    if kind.numbers:
        bands = {label: ends for label in known.values() if (ends := parse_interval(label, inside=True)) is not None}
        return lambda value: _band(bands, parse_interval(value))
    calendar = calendar_rule(known)
    return None if calendar is None else lambda value: None if (day := as_date(value)) is None else calendar(day)


def _band(bands: Mapping[Value, tuple[float, float]], number: tuple[float, float] | None) -> Value:
    if number is None:
        return None
    return next((label for label, (low, high) in bands.items() if low <= number[0] and number[1] <= high), None)
