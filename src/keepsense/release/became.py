"""What became of what: recodings, spelled out for the combinations of values that the source of a job holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts, distinct_rows
from keepsense.errors import BadInput
from keepsense.recoding import Cells, Cuts, Draws, Recoding
from keepsense.release.job import Job
from keepsense.utility.basis import Pairs, pairs


def of_sets(job: Job, rules: Sequence[Recoding]) -> list[Recoding]:
    """The recodings of set-valued columns alone, which are applied after the others.

    >>> from keepsense.release.example import example_job
    >>> from keepsense.release.sets import recode_sets
    >>> sets = {"likes": {"role": "quasi-identifier", "kind": "set", "delimiter": ";"}}
    >>> job = example_job(columns=sets, unlisted="drop", method={"name": "set microaggregation"})
    >>> rules, released = recode_sets(job, job.engine.recode(job.table, [], drop=job.dropped), None)
    >>> [rule.names for rule in of_sets(job, rules)]
    [('likes',)]
    """
    return [rule for rule in rules if set(rule.names) <= set(job.set_columns)]


def of_table(job: Job, rules: Sequence[Recoding]) -> list[Recoding]:
    """The recodings of everything else.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> job, rules = done.job, done.recodings
    >>> [rule.names for rule in of_table(job, rules)]
    [('age', 'job')]
    """
    return [rule for rule in rules if not set(rule.names) <= set(job.set_columns)]


def table_rules(job: Job, rules: Sequence[Recoding]) -> list[Cuts | Cells]:
    """The recodings that say for all columns of single values at once what they become.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> job, rules = done.job, done.recodings
    >>> [rule.levels for rule in table_rules(job, rules)]
    [(1, 0)]
    """
    columns = set(job.quasi_identifiers)
    return [rule for rule in rules if isinstance(rule, Cuts | Cells) and set(rule.names) == columns]


def table_cells(
    job: Job, rules: Sequence[Recoding], rng: np.random.Generator | int | None = None
) -> tuple[Counts, Cells] | None:
    """What became of each combination of single values; where a matrix says so, drawn from it once more.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> job, rules = done.job, done.recodings
    >>> counts, cells = table_cells(job, rules)
    >>> len(counts), cells.values
    (8, (('[20, 21]', '[22, 23]', '[24, 25]', '[26, 27]'), ('accountant', 'clerk', 'nurse', 'surgeon')))
    """
    whole = table_rules(job, rules)
    if len(whole) == 1:
        if job.truthful:
            return aligned(job, whole[0])
        counts = inputs_of(job, whole[0])
        return counts, whole[0].cells(counts)
    drawn = [rule for rule in rules if isinstance(rule, Draws)]
    if drawn and {rule.name for rule in drawn} == set(job.quasi_identifiers):
        from keepsense.methods.perturb.pram import draw

        return job.own_counts, draw(job.own_counts, drawn, rng=rng)
    return None


def inputs_of(job: Job, rule: Cuts | Cells) -> Counts:
    """The counts a recoding is for.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> job, rules = done.job, done.recodings
    >>> inputs_of(job, rules[0]) is job.own_counts
    True
    """
    return job.own_counts if isinstance(rule, Cuts) or rule.inputs is None else rule.inputs


def aligned(job: Job, rule: Cuts | Cells) -> tuple[Counts, Cells]:
    """The source's counts, with all that was counted along, and the recoding spelled out for their tuples.

    Refuses a recoding that is for another table.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> job, rules = done.job, done.recodings
    >>> counts, cells = aligned(job, rules[0])
    >>> cells.apply(counts).weights.tolist()
    [5, 5, 5, 5]
    """
    counts = job.own_counts
    if isinstance(rule, Cuts):
        return counts, rule.cells(counts)
    own = rule.inputs
    if own is None or own is counts or own.codes is counts.codes:
        return counts, rule
    strange = BadInput("the recoding is for another table than the source of the project file")
    if set(own.names) != set(counts.names) or len(own) != len(counts):
        raise strange
    columns = []
    for name in counts.names:
        place = {value: i for i, value in enumerate(counts.values_of(name))}
        codes = np.array([place.get(value, -1) for value in own.values_of(name)], dtype=np.int32)
        columns.append(codes[own.column(name)])
    there, group = distinct_rows(np.concatenate([counts.codes, np.stack(columns, axis=1)]))
    at = group[len(counts) :]
    if len(there) != len(counts) or (counts.weights[at] != own.weights).any():
        raise strange
    return counts, replace(rule, source=at[rule.source].astype(np.int64), inputs=counts)


def joint_values(job: Job, rule: Recoding) -> list[tuple[Pairs, NDArray[np.float64]]]:
    """For each column its pairs of original and released value, and the records that have both (for draws: expected).

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> job, rules = done.job, done.recodings
    >>> one, records = joint_values(job, rules[0])[0]
    >>> list(zip(one.originals, [one.values[i] for i in one.released], records.tolist(), strict=True))[:2]
    [('20', '[20, 21]', 3.0), ('21', '[20, 21]', 2.0)]
    """
    if isinstance(rule, Draws):
        rows = dict(zip(job.own_counts.values_of(rule.name), job.own_counts.marginal(rule.name), strict=True))
        weights = np.array([float(rows.get(value, 0)) for value in rule.inputs])
        at, to = np.nonzero(rule.probabilities)
        expected = weights[at] * rule.probabilities[at, to]
        whole = np.round(expected).astype(np.int64)
        return [(Pairs(rule.name, rule.inputs, rule.outputs, at, to, np.zeros(len(at), np.bool_), whole), expected)]
    counts = inputs_of(job, rule)
    cells = rule.cells(counts)
    found = [pairs(counts, cells, name) for name in cells.names]
    return [(one, one.weights.astype(np.float64)) for one in found]
