"""What a release is worth and what risk it leaves, as the numbers that go into its description.

They are cheap, so every run has them; `keepsense.release.details` measures more, for reports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense import utility as measures
from keepsense.counts import Counts, Value, distinct_rows
from keepsense.errors import KeepsenseError
from keepsense.hierarchies import Hierarchy
from keepsense.privacy import risk
from keepsense.privacy.risk import estimate_population_uniques, suppressed_tuples
from keepsense.recoding import SUPPRESSED, Cells, Cuts, Recoding
from keepsense.release.became import aligned, inputs_of, joint_values, of_sets, of_table, table_rules
from keepsense.release.distances import value_gaps
from keepsense.release.job import Job
from keepsense.utility.intervals import parse_interval

_MEASURES: dict[str, Callable[[Counts, Any, Any, Any], float | None]] = {
    "loss": lambda counts, rule, trees, weights: hidden_detail(counts, rule, trees, weights),
    "precision": lambda counts, rule, trees, weights: measures.precision(counts, rule, trees),
    "average class size": lambda counts, rule, trees, weights: measures.average_class_size(counts, rule),
    "discernibility": lambda counts, rule, trees, weights: measures.discernibility(counts, rule),
    "non-uniform entropy": lambda counts, rule, trees, weights: measures.non_uniform_entropy(counts, rule, trees),
}

MOST_CELLS = 1 << 22
"""Most pairs of values whose distances every run works out."""


def measured_utility(job: Job, rules: list[Recoding], after: Counts | None = None) -> dict[str, float]:
    """Losses of the quasi-identifiers by every cheap measure that applies to the recoding.

    Generalized values are measured by what they hide, changed ones by how many changed and how far they moved. `after`
    counts the release: where sets are among its quasi-identifiers, they part classes too.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> job, rules = done.job, done.recodings
    >>> found = measured_utility(job, rules)
    >>> found["average class size"], round(found["loss"], 4)
    (5.0, 0.0714)
    """
    found = {f"{name} of sets": value for name, value in _moved(job, of_sets(job, rules)).items()}
    if not job.truthful:
        return {**_moved(job, of_table(job, rules)), **found}
    weights = {name: job.column(name).weight for name in job.quasi_identifiers}
    for rule in table_rules(job, rules):
        counts = inputs_of(job, rule)
        penalty = certainty_penalty(job, counts, rule)
        if penalty is not None:
            found["certainty penalty"] = penalty
        for name, measure in _MEASURES.items():
            try:
                value = measure(counts, rule, job.hierarchies, weights)
            except KeepsenseError:
                continue  # a measure that does not apply, such as levels of released ranges, is left out
            if value is not None:
                found[name] = float(value)
    if after is not None and job.set_columns and "discernibility" in found:
        gone = suppressed_tuples(after)
        left_out = max(0, job.own_counts.total - after.total)
        classes = measures.Classes(after.weights[~gone], int(after.weights[gone].sum()) + left_out)
        found["average class size"] = measures.class_size_of(classes)
        found["discernibility"] = float(measures.discernibility_of(classes))
    return found


def column_penalties(job: Job, rules: list[Recoding]) -> dict[str, float]:
    """Share of each quasi-identifier's certainty that is gone: 0 where it is as it was, 1 where it is hidden.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> job, rules = done.job, done.recodings
    >>> {name: round(lost, 4) for name, lost in column_penalties(job, rules).items()}
    {'age': 0.1429, 'job': 0.0}
    """
    if not job.truthful:
        return {}
    found: dict[str, float] = {}
    for rule in table_rules(job, rules):
        found.update(penalties(job, inputs_of(job, rule), rule))
    return found


def penalties(job: Job, counts: Counts, rule: Cuts | Cells) -> dict[str, float]:
    """Certainty penalty of each column of one recoding, or nothing where it cannot be told.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> job, rules = done.job, done.recodings
    >>> {name: round(lost, 4) for name, lost in penalties(job, job.own_counts, rules[0]).items()}
    {'age': 0.1429, 'job': 0.0}
    """
    # numbers are measured by the widths they are released as, which no hierarchy need hold
    trees = {name: tree for name, tree in job.hierarchies.items() if job.column(name).kind != "numeric"}
    try:
        return measures.column_losses(counts, rule, trees, "ncp")
    except KeepsenseError:
        return {}


def certainty_penalty(job: Job, counts: Counts, rule: Cuts | Cells) -> float | None:
    """The same over all columns, by the weights that the project file gives them; None where it cannot be told.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> job, rules = done.job, done.recodings
    >>> round(certainty_penalty(job, job.own_counts, rules[0]), 4)
    0.0714
    """
    lost = penalties(job, counts, rule)
    weights = {name: job.column(name).weight for name in lost}
    whole = sum(weights.values())
    return sum(weights[name] * share for name, share in lost.items()) / whole if whole else None


def hidden_detail(
    counts: Counts,
    rule: Cuts | Cells,
    trees: Mapping[str, Hierarchy],
    weights: Mapping[str, float] | None = None,
) -> float | None:
    """Share of the other values that a released value could be (`keepsense.utility.loss`), ranges of numbers included.

    A range that no hierarchy holds could be any number of the column inside it. None where a released value is neither.

    >>> from keepsense.recoding import Cut
    >>> ages = Hierarchy.of_rows([(age, "*") for age in (20, 30, 40)], name="age", kind="numeric")
    >>> rule = Cuts((Cut("age", (20, 30, 40), ("20-30", "20-30", 40)),))
    >>> round(hidden_detail(Counts.of({"age": [20, 30, 40]}), rule, {"age": ages}), 4)
    0.3333
    """
    cells = rule.cells(counts)
    try:
        return measures.loss(counts, rule, trees, weights=weights)
    except KeepsenseError:
        pass
    lost: dict[str, float] = {}
    for j, name in enumerate(cells.names):
        one = replace(cells, names=(name,), values=(cells.values[j],), codes=cells.codes[:, [j]], inputs=None)
        try:
            lost[name] = measures.column_losses(counts, one, trees)[name]
        except KeepsenseError:
            share = _shares_hidden(cells.values[j], trees[name])
            if share is None:
                return None
            lost[name] = float(cells.multiplicity @ share[cells.codes[:, j]]) / max(1, counts.total)
    importance = {name: 1.0 if weights is None else weights[name] for name in lost}
    return sum(importance[name] * share for name, share in lost.items()) / (sum(importance.values()) or 1.0)


def _shares_hidden(labels: Sequence[Value], tree: Hierarchy) -> NDArray[np.float64] | None:
    """Share of the other leaves that each range of numbers could be."""
    numbers = [parse_interval(leaf) for leaf in tree.leaves]
    leaves = np.sort([ends[0] for ends in numbers if ends is not None])
    spans = [parse_interval(label) for label in labels]
    if not len(leaves) or any(s is None for s, label in zip(spans, labels, strict=True) if label != SUPPRESSED):
        return None
    ends = np.array([span or (leaves[0], leaves[-1]) for span in spans])
    inside = np.searchsorted(leaves, ends[:, 1], "right") - np.searchsorted(leaves, ends[:, 0], "left")
    return np.asarray((inside - 1) / max(1, len(leaves) - 1), dtype=np.float64)


# ---- values that were changed ----------------------------------------------------------------------------------------


def _moved(job: Job, rules: Sequence[Recoding]) -> dict[str, float]:
    """Share of the cells that hold another value than before, and how far values moved on average (0 to 1)."""
    moves = [move for rule in rules for move in column_moves(job, rule).values()]
    found: dict[str, float] = {}
    if moves:
        found["changed share"] = float(np.mean([changed for changed, _ in moves]))
        if all(far is not None for _, far in moves):
            found["mean distance"] = float(np.mean([far for _, far in moves if far is not None]))
    return found


def column_moves(job: Job, rule: Recoding) -> dict[str, tuple[float, float | None]]:
    """For each column the share of changed cells, and the mean distance where there are not too many values.

    For draws these are what is to be expected of them.

    >>> from keepsense.release.example import example_job
    >>> from keepsense.release.techniques import technique
    >>> job = example_job()
    >>> rules = technique("rank swapping").run(job, {"k": 4}, None)
    >>> [round(figure, 3) for figure in column_moves(job, rules[0])["age"]]
    [0.9, 0.171]
    """
    found: dict[str, tuple[float, float | None]] = {}
    for one, weights in joint_values(job, rule):
        total = float(weights.sum()) or 1.0
        before, after = (_objects(values) for values in (one.originals, one.values))
        changed = (before[one.original] != after[one.released]).astype(np.bool_)
        far = None
        if len(one.originals) * len(one.values) <= MOST_CELLS:
            try:
                gaps = value_gaps(job, one.name, one.values, one.originals)
                far = float(weights @ gaps[one.released, one.original]) / total
            except KeepsenseError:
                far = None
        found[one.name] = (float(weights[changed].sum()) / total, far)
    return found


# ---- risk ------------------------------------------------------------------------------------------------------------


def measured_risk(
    job: Job, after: Counts, population: Counts | None = None, rules: Sequence[Recoding] = ()
) -> dict[str, dict[str, Any]]:
    """Risk of re-identification before and after; a journalist's too where a population or sampling weights are given.

    With the recodings, sampling weights are added up by released class as well.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> job, rules = done.job, done.recodings
    >>> found = measured_risk(job, rules[0].apply(job.own_counts))
    >>> [found[when]["prosecutor, highest"] for when in ("before", "after")]
    [0.5, 0.2]
    """
    before = job.every_count
    everybody = job.population_counts
    found: dict[str, dict[str, Any]] = {}
    for when, counts, people in (("before", before, everybody), ("after", after, population)):
        try:
            measured = risk(counts, population=people, missing=job.missing)
        except KeepsenseError:
            continue  # nothing but suppressed records: nobody can be looked up
        found[when] = {
            "prosecutor, highest": measured.prosecutor_maximum,
            "prosecutor, average": measured.prosecutor_average,
            "marketer": measured.marketer,
            "unique records": measured.sample_uniques,
        }
        if people is not None:
            found[when]["journalist, highest"] = measured.journalist_maximum
            found[when]["journalist, average"] = measured.journalist_average
            found[when]["unique in the population"] = measured.population_uniques
    for weight in job.project.having("weight"):
        for when, sizes, people_for in _weighed(job, weight, rules):
            found.setdefault(when, {}).update(_estimated(sizes, people_for))
    return found


def _weighed(
    job: Job, weight: str, rules: Sequence[Recoding]
) -> list[tuple[str, NDArray[np.int64], NDArray[np.float64]]]:
    """Records of each class and the people they stand for, before and, where a recoding says so, after."""
    counts = job.own_counts
    sums = counts.sums[weight]
    found = [("before", counts.weights, sums)]
    for rule in table_rules(job, rules) if job.truthful else ():
        _, cells = aligned(job, rule)
        kept = np.ones(len(cells.source), np.bool_) if cells.suppressed is None else ~cells.suppressed
        distinct, group = distinct_rows(np.ascontiguousarray(cells.codes[kept]))
        dealt, source = cells.multiplicity[kept], cells.source[kept]
        people = sums[source] * dealt / counts.weights[source]
        sizes = np.bincount(group, dealt, len(distinct)).astype(np.int64)
        found.append(("after", sizes, np.bincount(group, people, len(distinct)).astype(np.float64)))
    return found


def _estimated(sizes: NDArray[np.int64], weights: NDArray[np.float64]) -> dict[str, float]:
    """A journalist's risk where each row stands for as many people of the population as its sampling weight says."""
    people = np.maximum(weights, sizes)
    if not len(people):
        return {}
    return {
        "journalist, highest, by sampling weights": float(1 / people.min()),
        "journalist, average, by sampling weights": float(len(people) / people.sum()),
        "unique in the population, estimated": estimate_population_uniques(sizes, float(sizes.sum() / people.sum())),
    }


def _objects(values: Sequence[Value]) -> NDArray[np.object_]:
    """Values as an array of objects, one each: sets, which are tuples, must not become further dimensions."""
    found = np.empty(len(values), dtype=np.object_)
    for i, value in enumerate(values):
        found[i] = value
    return found
