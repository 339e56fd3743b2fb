"""Apply the recoding of an earlier release to another table, or refuse it where it would break the promise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts
from keepsense.errors import BadInput, Finding, Infeasible
from keepsense.hierarchies.hierarchy import MissingValues
from keepsense.methods.generalize.requirement import suppression_limit
from keepsense.privacy.privacy_model import bind, decide
from keepsense.recoding import SUPPRESSED, Cells, Cut, Cuts, Draws, Recoding
from keepsense.release.again.drift import Covered, covering, word_rules
from keepsense.release.again.refit import Coverage, coverage, refit
from keepsense.release.folder.recoding_file import read_recodings
from keepsense.release.job.job import Job

Unknown = Literal["refuse", "suppress"]
"""What becomes of records with values that no rule of the earlier release covers."""


def reuse_recoding(job: Job, path: str | Path, unknown: Unknown = "refuse") -> tuple[list[Recoding], list[Finding]]:
    """The recoding of an earlier release for a new table, and what has changed since; refuses one that changes values.

    >>> from keepsense.release.example import example_job
    >>> reuse_recoding(example_job(), "/nowhere/recoding.json")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: recoding.json: the recoding cannot be read (No such file or directory)
    """
    if unknown not in ("refuse", "suppress"):
        raise BadInput(
            f"unknown values can be refused or suppressed: unknown is 'refuse' or 'suppress', not {unknown!r}"
        )
    rules = [r for r in read_recodings(Path(path)) if not set(r.names) <= set(job.set_columns)]
    if len(rules) != 1 or isinstance(rules[0], Draws) or (isinstance(rules[0], Cells) and not job.truthful):
        raise BadInput(
            "only a recoding that generalizes can be reused; one that changes values by chance is for one table"
        )
    if set(rules[0].names) != set(job.quasi_identifiers):
        raise BadInput("the recoding is for other quasi-identifiers than the project file names")
    if isinstance(rules[0], Cells):
        return _classes_again(job, rules[0], unknown)
    rule = Cuts(tuple(map(_as_made, rules[0].cuts)))
    covered = {
        cut.name: covering(cut, job.counts.values_of(cut.name), job.column(cut.name), *word_rules(job, cut))
        for cut in rule.cuts
    }
    if unknown == "refuse":
        _refuse_unknown(job, covered)
    fresh = {cut.name: len(covered[cut.name].cut.inputs) - len(cut.inputs) for cut in rule.cuts}
    return [_fitted(job, covered)], _changed(job, covered, fresh)


def _classes_again(job: Job, rule: Cells, unknown: Unknown) -> tuple[list[Recoding], list[Finding]]:
    """The classes of a recoding of records for a new table, and what has changed."""
    covered = {name: coverage(job, rule, name) for name in job.counts.names}
    if unknown == "refuse":
        _refuse_unknown(job, covered)
    findings = _changed(job, covered, {name: column.fresh for name, column in covered.items()})
    again = refit(job, rule, covered)
    if again.anew:
        apart = f"{_n(again.anew, 'record')} ({again.anew / job.counts.total:.1%}) fit no class of the earlier release"
        own = f"they form {_n(again.classes, 'class')} of their own"
        findings.append(Finding("W424", "release", f"{apart}, or one that is too small by now; {own}"))
    return [again.cells], findings


def _refuse_unknown(job: Job, covered: Mapping[str, Covered | Coverage]) -> None:
    missing = {name: found.unknown for name, found in covered.items() if found.unknown}
    if not missing:
        return
    parts = []
    for name, values in missing.items():
        rows = job.counts.rows_of(name)
        sentence = f"column {name!r} has {_n(len(values), 'value')} in {_n(sum(rows[v] for v in values), 'record')}"
        if retyped := covered[name].retyped:
            sentence += f" (it held {retyped[0]} then and holds {retyped[1]} now)"
        parts.append(sentence)
    raise MissingValues(
        f"the recoding of the earlier release does not cover all values: {'; '.join(parts)}; suppress these records "
        "with --unknown suppress, map the words to concepts, add them to a hierarchy file, or make a new recoding "
        "(the error's `values` lists them)",
        [value for values in missing.values() for value in values],
    )


def _changed(job: Job, covered: Mapping[str, Covered | Coverage], fresh: Mapping[str, int]) -> list[Finding]:
    """What differs from the earlier table: types, values that its rules cover, values that they do not."""
    findings = []
    for name, wider in covered.items():
        if wider.retyped:
            before, now = wider.retyped
            findings.append(
                Finding("W421", name, f"the column held {before} when its recoding was made, and holds {now} now")
            )
        elif fresh[name]:
            seen = _n(fresh[name], "value")
            findings.append(Finding("W422", name, f"{seen} not seen before, released by the same rule"))
        if wider.unknown:
            rows = job.counts.rows_of(name)
            records = _n(sum(rows[value] for value in wider.unknown), "record")
            findings.append(
                Finding("W423", name, f"{_n(len(wider.unknown), 'value')} that no rule covers; {records} suppressed")
            )
    return findings


def _n(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 'es' if what.endswith('s') else 's'}"


def _fitted(job: Job, covered: Mapping[str, Covered]) -> Cuts:
    """The same cuts for a new table, with the classes suppressed that would break the promise here."""
    cuts = tuple(_marked(found) for found in covered.values())
    cells = Cuts(cuts).cells(job.counts)
    after = job.counts.recoded(cells.values, cells.codes)
    limit = suppression_limit(job.project.release.suppression, job.counts.total)
    decision = decide(bind(job.models, job.counts), after.weights, after.histograms, limit, _unseen(after, cuts))
    if not decision.holds:
        raise Infeasible(
            "the recoding of the earlier release does not keep the promise for this table",
            best=decision,
            relax=("allow more suppression", "make a new recoding without --reuse"),
        )
    labels = [tuple(after.values[j][c] for j, c in enumerate(row)) for row in after.codes[~decision.kept].tolist()]
    return Cuts(cuts, frozenset(labels))


def _marked(covered: Covered) -> Cut:
    """The cut with the mark of suppressed cells for values that no rule covers."""
    cut = covered.cut
    marks = (SUPPRESSED,) * len(covered.unknown)
    return replace(cut, inputs=(*cut.inputs, *covered.unknown), outputs=(*cut.outputs, *marks))


def _as_made(cut: Cut) -> Cut:
    """A cut without values that were unknown already when it was reused before: marks beside labels."""
    if set(cut.outputs) == {SUPPRESSED}:
        return cut
    pairs = [pair for pair in zip(cut.inputs, cut.outputs, strict=True) if pair[1] != SUPPRESSED]
    return replace(cut, inputs=tuple(value for value, _ in pairs), outputs=tuple(label for _, label in pairs))


def _unseen(after: Counts, cuts: Iterable[Cut]) -> NDArray[np.bool_]:
    """Classes with a value that no rule covers."""
    unseen = np.zeros(len(after), dtype=np.bool_)
    for j, (cut, values) in enumerate(zip(cuts, after.values, strict=True)):
        if SUPPRESSED in values and set(cut.outputs) != {SUPPRESSED}:
            unseen |= after.codes[:, j] == values.index(SUPPRESSED)
    return unseen
