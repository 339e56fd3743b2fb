"""Persons instead of rows, where a column identifies them: what every figure of risk counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts, distinct_rows
from keepsense.engines.protocol import Engine, Table
from keepsense.recoding import Cells
from keepsense.release.job.job import Job


def person_of(job: Job) -> str | None:
    """The column that tells people apart, where there is one.

    >>> from keepsense.release.example import example_job
    >>> person_of(example_job()) is None
    True
    """
    return next(iter(job.project.having("person")), None)


def counted_people(engine: Engine, table: Table, columns: tuple[str, ...], person: str) -> Counts:
    """Distinct tuples of some columns, and how many different people have each.

    >>> from keepsense.engines.protocol import engine
    >>> with engine() as running:
    ...     visits = running.read({"town": ["Oslo"] * 3 + ["Bergen"], "who": ["ann", "ann", "bob", "bob"]})
    ...     counted_people(running, visits, ("town",), "who").rows_of("town")
    {'Bergen': 1, 'Oslo': 2}
    """
    return people_among(engine.count(table, (*columns, person)), columns)


def people_among(pairs: Counts, columns: tuple[str, ...]) -> Counts:
    """The same from counts of these columns together with the one that tells people apart.

    >>> people_among(Counts.of({"town": ["Oslo"] * 3, "who": ["ann", "ann", "bob"]}), ("town",)).total
    2
    """
    once = Counts(pairs.names, pairs.values, pairs.codes, (pairs.weights > 0).astype(np.int64))
    return once.project(columns)


def own_people(job: Job, columns: tuple[str, ...]) -> Counts | None:
    """How many people of the source have each tuple of some columns; None where every row is a person.

    >>> from keepsense.release.example import example_job
    >>> own_people(example_job(), ("job",)) is None
    True
    """
    person = person_of(job)
    return None if person is None else people_among(job.count((*columns, person)), columns)


def linked_people(job: Job, counts: Counts, cells: Cells) -> tuple[Counts, Cells]:
    """Counts and what became of them with people in place of rows, for attacks that link them.

    Where rows of one tuple became different things, its people are shared out as its rows are, rounded up.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> cells = done.recodings[0].cells(done.counts)
    >>> linked_people(done.job, done.counts, cells) == (done.counts, cells)
    True
    """
    people = own_people(job, counts.names)
    if people is None:
        return counts, cells
    of_tuple = np.zeros(len(counts), dtype=np.int64)
    of_tuple[positions(people, counts)] = people.weights
    weights = np.clip(of_tuple, 1, np.maximum(counts.weights, 1))
    share = weights[cells.source] / np.maximum(counts.weights[cells.source], 1)
    dealt = np.ceil(cells.multiplicity * share - 1e-9).astype(np.int64)
    return replace(counts, weights=weights), replace(cells, multiplicity=np.maximum(dealt, 1), inputs=None)


def released_people(job: Job, counts: Counts, cells: Cells) -> Counts:
    """Released tuples and how many people have each; rows where each is a person.

    Where rows of one tuple became different things, nobody knows whose they are: then a person is in all of them, which
    can only be too many in a class where somebody has several tuples.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> released_people(done.job, done.counts, done.recodings[0].cells(done.counts)).total
    20
    """
    person = person_of(job)
    if person is None:
        return cells.apply(counts)
    pairs = job.count((*counts.names, person))
    tuples = positions(pairs, counts)
    order = np.argsort(cells.source, kind="stable")
    first = np.searchsorted(cells.source[order], np.arange(len(counts) + 1))
    outputs = first[tuples + 1] - first[tuples]
    row = np.repeat(np.arange(len(pairs)), outputs)
    step = np.arange(len(row)) - np.repeat(np.cumsum(outputs) - outputs, outputs)
    codes = cells.codes[order[first[tuples[row]] + step]]
    both, _ = distinct_rows(np.column_stack([codes, pairs.column(person)[row]]).astype(np.int32))
    values = (*cells.values, pairs.values_of(person))
    once = Counts((*cells.names, person), values, both, np.ones(len(both), dtype=np.int64))
    return once.project(cells.names)


def positions(found: Counts, counts: Counts) -> NDArray[np.int64]:
    """Where each tuple of other counts, which may have further columns, stands in the counts.

    >>> jobs = Counts.of({"job": ["nurse", "clerk"]})
    >>> positions(Counts.of({"job": ["nurse", "clerk"], "home": [1, 2]}), jobs).tolist()
    [0, 1]
    """
    columns = []
    for name in counts.names:
        place = {value: i for i, value in enumerate(counts.values_of(name))}
        codes = np.array([place.get(value, -1) for value in found.values_of(name)], dtype=np.int32)
        columns.append(codes[found.column(name)])
    _, group = distinct_rows(np.concatenate([counts.codes, np.stack(columns, axis=1)]))
    of_group = np.empty(int(group.max()) + 1, dtype=np.int64)
    of_group[group[: len(counts)]] = np.arange(len(counts))
    return of_group[group[len(counts) :]]
