"""The preview of a release, in about two seconds: rows before and after, records at risk, loss, promises.

Nothing is released and nothing is verified here: what is shown is what the method decides, on all combinations of
values where that is fast enough, else on some of them, which `Preview.note` says (`keepsense.studio.session.estimate`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from keepsense.counts import Counts, Value
from keepsense.errors import Infeasible, KeepsenseError
from keepsense.privacy.privacy_model import Model, bind
from keepsense.progress import Listener
from keepsense.recoding import SUPPRESSED, Cells, Cuts, Draws, Recoding
from keepsense.release.figures.measure import linkage, linkage_kept
from keepsense.release.job.job import Job
from keepsense.release.job.people import own_people, released_people
from keepsense.release.job.recode import recode
from keepsense.release.preflight import refuse_contradictions
from keepsense.risk.reidentification import risk
from keepsense.secure_random import generator
from keepsense.studio.session.estimate import Estimate, estimate, places_of, some_first
from keepsense.studio.session.rows import ROWS, Rows, as_text, first_values
from keepsense.utility.recoded_table import aligned, whole_table

MOST_ROWS_WITH_SETS = 20_000
"""Rows up to which sets are recoded for a preview."""
_LINKED = 20_000_000
"""Pairs of records up to which linkage is measured for a preview."""


@dataclass(frozen=True)
class Kept:
    """A promise in words, whether it would be kept (None where only the full run can tell), and its model's name.

    >>> Kept("Every record is shared by 5.", True).kept
    True
    """

    promise: str
    kept: bool | None
    why: str = ""
    model: str = ""


@dataclass(frozen=True, eq=False)
class Preview:
    """What a release would look like.

    `at_risk` are records (people, where somebody may have several) that share their combination with fewer than `k`;
    after it is None where classes do not protect people and linking them takes too long to try. `lost` is the share of
    detail that each quasi-identifier loses. `problem` says why nothing can be released, and `remedies` what to do.

    >>> from keepsense.release.example import example_job
    >>> found = preview(example_job())
    >>> found.at_risk, found.at_risk_after, found.after.cells[0][:2], [p.kept for p in found.promises]
    (20, 0, ('under 30', 'nurse'), [True])
    """

    before: Rows
    after: Rows
    records: int
    k: int
    at_risk: int
    at_risk_after: int | None = None
    lost: Mapping[str, float] = field(default_factory=dict)
    promises: tuple[Kept, ...] = ()
    suppressed: int = 0
    classes: int = 0
    sampled: bool = False
    note: str = ""
    problem: str = ""
    remedies: tuple[str, ...] = ()
    seconds: float = 0.0
    found: Estimate | None = field(default=None, repr=False)

    @property
    def ok(self) -> bool:
        """Whether it could be released, as far as can be told."""
        return not self.problem and all(promise.kept is not False for promise in self.promises)

    @property
    def mean_loss(self) -> float | None:
        """What the quasi-identifiers lose on average."""
        return float(np.mean(list(self.lost.values()))) if self.lost else None


def at_first(job: Job, values: Sequence[Mapping[str, Value]]) -> Preview:
    """What is known before anything is decided: rows as they are, and who is at risk.

    >>> from keepsense.release.example import example_job
    >>> found = at_first(example_job(), [])
    >>> found.at_risk, found.at_risk_after, found.after.cells
    (20, None, ())
    """
    before = as_text(tuple(job.table.columns), values)
    people = own_people(job, job.every_quasi_identifier)
    counted = job.every_count if people is None else people
    k = job.hidden_among
    return Preview(before, Rows(before.names, ()), counted.total, k, _at_risk(counted, k, job))


def preview(
    job: Job,
    *,
    rows: int = ROWS,
    values: Sequence[Mapping[str, Value]] | None = None,
    listener: Listener | None = None,
    most: int | None = None,
    early: Callable[[Preview], None] | None = None,
) -> Preview:
    """Look ahead at what a job would release; what makes a release impossible is told, not raised.

    `most` combinations are looked at, in place of what is usual for the method. The first rows are shown, or those
    whose `values` are given. Where all combinations would keep somebody waiting, `early` is handed what some of them
    tell.
    """
    start = time.perf_counter()
    listed = first_values(job, rows) if values is None else values
    shown = at_first(job, listed)
    try:
        refuse_contradictions(job)
        few = some_first(job) if early is not None and most is None else None
        first: Estimate | None = None
        if early is not None and few is not None:
            with suppress(KeepsenseError):  # what a few combinations cannot keep, all of them may
                first = estimate(job, listed, listener, few)
                early(_ahead(job, first, listed, shown, listener))
        found = estimate(job, listed, listener, most, first)
        ahead = _ahead(job, found, listed, shown, listener)
    except Infeasible as error:
        kept = tuple(Kept(model.describe(), False, str(error), model.name) for model in job.models)
        ahead = replace(shown, problem=str(error), remedies=tuple(error.relax), promises=kept)
    except KeepsenseError as error:
        ahead = replace(shown, problem=str(error), remedies=error.remedies)
    return replace(ahead, seconds=time.perf_counter() - start)


def _ahead(
    job: Job, found: Estimate, values: Sequence[Mapping[str, Value]], shown: Preview, listener: Listener | None
) -> Preview:
    rules, note = found.rules, found.note
    lost = dict(found.lost)
    after: Counts | None
    if job.set_columns and job.table.rows <= MOST_ROWS_WITH_SETS and found.part is job:
        made = recode(job, rules, listener)
        rules = made.every_rule
        for rule in made.set_rules:
            penalty = rule.info.get("penalty")
            lost |= {rule.names[-1]: float(penalty)} if isinstance(penalty, int | float) else {}
        after = made.people or made.counts
    elif job.set_columns:
        note += f" Sets ({', '.join(job.set_columns)}) are shown as they are: only the full run changes them."
        after = _released(found.part, rules)
    else:
        after = _released(found.part, rules)
    changed = _recoded(found.part, rules, values)
    names = tuple(name for name in job.table.columns if name not in job.dropped)
    share = found.part.counts.total / max(1, job.counts.total)
    gone, classes = (0, 0) if after is None else _sizes(after)
    return replace(
        shown,
        after=as_text(names, changed),
        at_risk_after=_left_at_risk(found, after, shown.k, share),
        lost=lost,
        promises=_promised(found, job.models),
        suppressed=round(gone / share),
        classes=classes,
        sampled=found.sampled,
        note=note,
        found=found,
    )


# ---- figures ---------------------------------------------------------------------------------------------------------


def _released(job: Job, rules: Sequence[Recoding]) -> Counts | None:
    """Released combinations and how many people have each; None where values are drawn one by one."""
    for rule in whole_table(rules, job.quasi_identifiers):
        counts = job.own_counts
        return released_people(job, counts, aligned(counts, rule))
    return None


def _at_risk(counts: Counts, k: int, job: Job) -> int:
    figures = risk(counts, threshold=1 / k, missing=job.missing)
    return round(figures.prosecutor_at_risk * figures.records)


def _left_at_risk(found: Estimate, after: Counts | None, k: int, share: float) -> int | None:
    job = found.part
    if after is not None and job.about_classes:
        try:
            return round(_at_risk(after, k, job) / share)
        except KeepsenseError:  # everything is suppressed
            return 0
    linked = linkage(job, found.rules, most=_LINKED)
    return None if linked is None else round(linked.risk * job.counts.total / share)


def _sizes(after: Counts) -> tuple[int, int]:
    try:
        figures = risk(after)
    except KeepsenseError:
        return after.total, 0
    return figures.suppressed, figures.classes


def _promised(found: Estimate, models: Sequence[Model]) -> tuple[Kept, ...]:
    """Whether each promise would be kept: judged on the classes, or by what the mechanism keeps."""
    job = found.part
    by_classes = [_of_classes(model) for model in models]
    classes = _classes(found) if any(by_classes) else None
    besides = () if all(by_classes) else (*job.method.kept(job, found.rules), *linkage_kept(job, found.rules))
    return tuple(_one_promised(job, model, classes, besides) for model in models)


def _one_promised(job: Job, model: Model, classes: Counts | None, besides: Sequence[str]) -> Kept:
    words, unsure = model.describe(), "The full run measures it."
    if not _of_classes(model):
        known = model.name in besides
        return Kept(words, known or None, "" if known else unsure, model.name)
    if classes is None or model.counts_people:
        return Kept(words, True if job.truthful else None, "" if job.truthful else unsure, model.name)
    (bound,) = bind([model], job.counts)
    holds = bool(bound.holds(classes.weights, classes.histograms))
    return Kept(words, holds, "" if holds else "Some groups would break it.", model.name)


def _of_classes(model: Model) -> bool:
    return model.kept_by_classes and model.about != "mechanism"


def _classes(found: Estimate) -> Counts | None:
    """The classes that would be released, with their sensitive values; None where only the full run makes them."""
    job, counts = found.part, found.part.counts
    for rule in whole_table(found.rules, job.quasi_identifiers):
        cells = aligned(job.own_counts, rule)
        if len(cells.source) != len(counts) or job.population is not None:
            return None
        order = np.argsort(cells.source, kind="stable")
        hidden = np.zeros(len(counts), dtype=np.bool_) if cells.suppressed is None else cells.suppressed[order]
        left = counts.some(np.flatnonzero(~hidden)) if hidden.any() else counts
        return left.recoded(cells.values, cells.codes[order][~hidden])
    return None


# ---- rows ------------------------------------------------------------------------------------------------------------


def _recoded(job: Job, rules: Sequence[Recoding], values: Sequence[Mapping[str, Value]]) -> list[dict[str, Value]]:
    """Some rows as they would be released; where chance deals a row several outputs, the first of them."""
    made = [dict(row) for row in values]
    for rule in rules:
        if isinstance(rule, Cells):
            changed = _dealt(job, rule, made)
        else:
            one = _cut if isinstance(rule, Cuts) else _drawn
            changed = [one(rule, row) for row in made]  # type: ignore[arg-type]
        made = [{**row, **new} for row, new in zip(made, changed, strict=True)]
    return made


def _cut(rule: Cuts, row: Mapping[str, Value]) -> dict[str, Value]:
    outputs = {}
    for cut in rule.cuts:
        at = cut.inputs.index(row[cut.name]) if row[cut.name] in cut.inputs else None
        outputs[cut.name] = SUPPRESSED if at is None else cut.outputs[at]
    hidden = tuple(outputs.values()) in rule.suppress
    return dict.fromkeys(outputs, SUPPRESSED) if hidden else outputs


def _drawn(rule: Draws, row: Mapping[str, Value]) -> dict[str, Value]:
    if row[rule.name] not in rule.inputs:
        return {}
    chances = rule.probabilities[rule.inputs.index(row[rule.name])]
    return {rule.name: rule.outputs[int(generator(0).choice(len(chances), p=chances))]}


def _dealt(job: Job, rule: Cells, rows: Sequence[Mapping[str, Value]]) -> list[dict[str, Value]]:
    counts = job.own_counts if rule.inputs is None else rule.inputs
    dealt: list[dict[str, Value]] = []
    for place in places_of(counts, rows):
        at = np.flatnonzero(rule.source == place)
        if place < 0 or not len(at) or (rule.suppressed is not None and rule.suppressed[at[0]]):
            dealt.append(dict.fromkeys(rule.names, SUPPRESSED))
            continue
        codes = rule.codes[at[0]].tolist()
        dealt.append({name: held[code] for name, held, code in zip(rule.names, rule.values, codes, strict=True)})
    return dealt
