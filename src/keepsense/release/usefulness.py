"""What a release is still worth, by measures too dear for every run: meaning, questions, divergence, prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from keepsense.counts import Counts, distinct_rows
from keepsense.errors import KeepsenseError
from keepsense.recoding import Cells
from keepsense.release.distances import released_gaps
from keepsense.release.figures import SEED, Note
from keepsense.release.job import Job
from keepsense.release.linked import MOST_DISTANCES, MOST_PAIRS

QUESTIONS = 200
LEARNED = 4_000
"""Most distinct combinations a classifier learns from."""


def usefulness(job: Job, counts: Counts, cells: Cells, notes: list[Note]) -> dict[str, float]:
    """Every measure that applies, by name; `notes` get what was sampled or left out.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> job, rules = done.job, done.recodings
    >>> counts = job.own_counts
    >>> sorted(usefulness(job, counts, rules[0].cells(counts), []))
    ['divergence', 'query error, mean', 'query error, median']
    """
    found: dict[str, float] = {}
    for measure in (_meaning, _questions, _divergence, _learning):
        try:
            found.update(measure(job, counts, cells, notes))
        except KeepsenseError:
            continue  # a measure that does not apply is left out
    return found


def _meaning(job: Job, counts: Counts, cells: Cells, notes: list[Note]) -> dict[str, float]:
    """Distance between what was and what is released, over the columns of words with a taxonomy."""
    from keepsense.utility import root_mean_square_error, semantic_loss, semantic_sse

    names = [n for n in cells.names if job.column(n).taxonomy is not None and job.column(n).kind == "nominal"]
    one = _only(cells, names)
    if not names or max(map(len, one.values)) * max(len(counts.values_of(n)) for n in names) > MOST_DISTANCES:
        return {}
    gaps = released_gaps(job, counts, one)
    squares = root_mean_square_error(counts, one, gaps)
    return {
        "semantic loss": semantic_loss(counts, one, gaps),
        "semantic sum of squared errors": semantic_sse(counts, one, gaps),
        **{f"root mean square distance, {name}": value for name, value in squares.items()},
    }


def _only(cells: Cells, names: Sequence[str]) -> Cells:
    """The recoding of some columns."""
    at = [cells.names.index(name) for name in names]
    values = tuple(cells.values[j] for j in at)
    return replace(cells, names=tuple(names), values=values, codes=cells.codes[:, at], inputs=None)


def _questions(job: Job, counts: Counts, cells: Cells, notes: list[Note]) -> dict[str, float]:
    """Mean and median relative error of counting questions about two columns at a time."""
    from keepsense.hierarchies import Hierarchy
    from keepsense.utility import query_error, random_queries

    names = [name for name in cells.names if job.column(name).kind != "set"]
    small = [n for n in names if len(cells.values[cells.names.index(n)]) * len(counts.values_of(n)) <= MOST_DISTANCES]
    if len(small) < len(names):
        notes.append(Note("utility", "Counting questions leave out columns with very many released values."))
    names = small
    if not names:
        return {}
    cells = _only(cells, names)
    if job.truthful:
        trees = {name: job.hierarchies[name] for name in names}
    else:
        trees = {}
        for name in names:
            numbers = job.column(name).kind == "numeric" and None not in counts.values_of(name)
            rows = [(value, "*") for value in counts.values_of(name)]
            trees[name] = Hierarchy.of_rows(rows, name=name, kind="numeric" if numbers else "nominal")
    number = max(20, min(QUESTIONS, 40_000_000 // max(1, len(counts))))
    queries = random_queries(trees, number=number, columns=min(2, len(names)), rng=SEED)
    if job.truthful:
        errors = query_error(counts, cells, trees, queries).errors
    else:
        after = cells.apply(counts)
        asked = [(_count(counts, query), _count(after, query)) for query in queries]
        errors = np.array([abs(now - was) / max(was, 0.001 * counts.total) for was, now in asked])
    return {"query error, mean": float(errors.mean()), "query error, median": float(np.median(errors))}


def _count(counts: Counts, query: Any) -> float:
    true = counts.weights.astype(np.float64)
    for name, wanted in query.conditions.items():
        there = np.array([value in wanted for value in counts.values_of(name)], dtype=np.float64)
        true = true * there[counts.column(name)]
    return float(true.sum())


def _divergence(job: Job, counts: Counts, cells: Cells, notes: list[Note]) -> dict[str, float]:
    """How far the table a reader would reconstruct is from the original, in bits."""
    from keepsense.utility import kl_divergence

    if not job.truthful:
        return {}
    if len(counts) * len(distinct_rows(cells.codes)[0]) > MOST_PAIRS:
        notes.append(
            Note("utility", "The divergence of the whole table was not measured: it has too many combinations.")
        )
        return {}
    return {"divergence": kl_divergence(counts, cells, job.hierarchies)}


def _learning(job: Job, counts: Counts, cells: Cells, notes: list[Note]) -> dict[str, float]:
    """Accuracy of predicting a target column before and after, where there is one and scikit-learn is installed."""
    from importlib.util import find_spec

    targets = [name for name in job.project.having("target") if name in counts.histograms]
    if not targets:
        return {}
    if find_spec("sklearn") is None:
        notes.append(
            Note("utility", "How well the target can be predicted was not measured: scikit-learn is not installed.")
        )
        return {}
    from keepsense.utility import classification_accuracy

    if len(counts) > LEARNED:
        notes.append(
            Note(
                "utility", f"The classifier learned from {LEARNED:,} of {len(counts):,} combinations, drawn at random."
            )
        )
        counts, cells = _some(counts, cells, LEARNED)
    target = targets[0]
    found = classification_accuracy(counts, cells, target, folds=3, rng=SEED)
    return {
        f"accuracy for {target}, before": found.before,
        f"accuracy for {target}, after": found.after,
        f"accuracy for {target}, always the commonest": found.commonest,
    }


def _some(counts: Counts, cells: Cells, most: int) -> tuple[Counts, Cells]:
    """Counts and recoding of some combinations, the frequent ones likelier."""
    from keepsense.arrays import Rows
    from keepsense.counts import Histogram

    draw = np.random.default_rng(SEED)
    share = counts.weights / counts.weights.sum()
    chosen = np.sort(draw.choice(len(counts), min(most, int((share > 0).sum())), replace=False, p=share))
    histograms = {}
    for name, h in counts.histograms.items():
        each = Rows(h.rows.starts, np.arange(len(h.counts), dtype=np.int32)).gather(chosen.astype(np.int32))
        starts = np.concatenate(([0], np.cumsum(h.rows.sizes[chosen]))).astype(np.int32)
        histograms[name] = Histogram(h.values, Rows(starts, h.rows.indices[each]), h.counts[each])
    place = np.full(len(counts), -1)
    place[chosen] = np.arange(len(chosen))
    kept = place[cells.source] >= 0
    hidden = None if cells.suppressed is None else cells.suppressed[kept]
    return (
        Counts(counts.names, counts.values, counts.codes[chosen], counts.weights[chosen], histograms),
        Cells(
            cells.names, cells.values, place[cells.source[kept]], cells.codes[kept], cells.multiplicity[kept], hidden
        ),
    )
