"""What became of a set-valued column: how often each item occurs, how far sets moved, what known items give away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts, Value
from keepsense.errors import KeepsenseError
from keepsense.recoding import Cells, Recoding
from keepsense.release.became import inputs_of
from keepsense.release.job import Job

MOST_RECORDS = 5_000
"""Most records whose sets are compared one by one."""
PEOPLE = 500
"""People whose records an attacker is made to look for."""
KNOWN = (1, 2, 3)
_SEED = 20_260_102


@dataclass(frozen=True, eq=False)
class SetDetails:
    """A set-valued column compared: items by frequency, errors, and the risk by number of known items.

    `risk` gives for m known items the chance to find the record before and after. `tried` records were compared.

    >>> SetDetails("likes", 10, 10).risk
    ()
    """

    column: str
    records: int
    tried: int
    loss: float | None = None
    item_error: float | None = None
    pair_error: float | None = None
    risk: tuple[tuple[int, float, float], ...] = ()


def set_details(job: Job, rules: Sequence[Recoding]) -> list[SetDetails]:
    """Compare every set-valued column that a recoding is about.

    >>> from keepsense.release.example import example_job
    >>> from keepsense.release.sets import recode_sets
    >>> sets = {"likes": {"role": "quasi-identifier", "kind": "set", "delimiter": ";"}}
    >>> job = example_job(columns=sets, unlisted="drop", method={"name": "set microaggregation"})
    >>> rules, released = recode_sets(job, job.engine.recode(job.table, [], drop=job.dropped), None)
    >>> found = set_details(job, rules)[0]
    >>> found.column, found.records, round(found.item_error, 2)
    ('likes', 20, 0.17)
    """
    found = []
    for rule in rules:
        if not isinstance(rule, Cells):
            continue
        counts = inputs_of(job, rule)
        found += [_compared(job, counts, rule, name) for name in rule.names if job.holds_sets(name)]
    return found


def _compared(job: Job, counts: Counts, rule: Cells, name: str) -> SetDetails:
    before, after = sets_of(job, counts, rule, name)
    records = int(rule.multiplicity.sum())
    try:
        away, own = _comparisons(job, name, before, after)
    except KeepsenseError:
        return SetDetails(name, records, len(before))
    return SetDetails(
        name,
        records,
        len(before),
        float(away.loss.above_floor / max(1, away.loss.records)),
        float(away.items.relative),
        float(away.pairs.relative),
        tuple((then.m, then.risk, now.risk) for then, now in zip(own.linkage, away.linkage, strict=True)),
    )


def _comparisons(job: Job, name: str, before: Any, after: Sequence[Sequence[Value]]) -> tuple[Any, Any]:
    """The release compared with the original, and the original with itself."""
    from keepsense.methods.aggregate.compare import compare_sets
    from keepsense.semantics import distance

    column = job.column(name)
    taxonomy = None if column.taxonomy is None else job.taxonomy(name)
    sets = job.concept_sets(name, before)
    judge = None if taxonomy is None else distance("feature", taxonomy)
    covers = _covers(job, name)
    away, own = (
        compare_sets(sets, released, judge, covers=covers, known=KNOWN, people=PEOPLE, rng=_SEED)
        for released in (after, before.sets())
    )
    return away, own


def _covers(job: Job, name: str) -> dict[Value, list[Value]] | None:
    """Which items a generalized one may stand for, where the method generalizes them."""
    from keepsense.release.sets import method_for_sets

    if not method_for_sets(job).truthful:
        return None
    tree = job.hierarchies[name]
    found: dict[Value, list[Value]] = {}
    for row in tree.rows():
        for label in dict.fromkeys(row):
            found.setdefault(label, []).append(row[0])
    return {label: items for label, items in found.items() if items != [label]}


def sets_of(job: Job, counts: Counts, rule: Cells, name: str) -> tuple[Any, list[list[Value]]]:
    """Some records' sets before, as `ItemSets`, and after, as lists of items.

    >>> from keepsense.release.example import example_job
    >>> from keepsense.release.sets import recode_sets
    >>> sets = {"likes": {"role": "quasi-identifier", "kind": "set", "delimiter": ";"}}
    >>> job = example_job(columns=sets, unlisted="drop", method={"name": "set microaggregation"})
    >>> rules, released = recode_sets(job, job.engine.recode(job.table, [], drop=job.dropped), None)
    >>> before, after = sets_of(job, rules[0].inputs, rules[0], "likes")
    >>> before.sets()[0], after[0]
    (['chess'], ['chess'])
    """
    rows: NDArray[np.int64] = np.repeat(np.arange(len(rule.source)), rule.multiplicity)
    if len(rows) > MOST_RECORDS:
        rows = np.sort(np.random.default_rng(_SEED).choice(rows, MOST_RECORDS, replace=False))
    originals, released = counts.values_of(name), rule.values[rule.names.index(name)]
    was = [originals[code] for code in counts.column(name)[rule.source[rows]].tolist()]
    now = [released[code] for code in rule.codes[rows, rule.names.index(name)].tolist()]
    return job.items(name, was), job.items(name, now).sets()


def item_counts(job: Job, counts: Counts, name: str) -> dict[Value, int]:
    """Records that hold each item of a set-valued column, the most frequent first.

    >>> from keepsense.release.example import example_job
    >>> job = example_job()
    >>> item_counts(job, job.count(["likes"]), "likes")
    {'tea': 12, 'chess': 8, 'football': 8}
    """
    found = job.item_rows(name, counts.rows_of(name))
    return dict(sorted(found.items(), key=lambda one: (-one[1], str(one[0]))))
