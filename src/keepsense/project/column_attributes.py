"""Quasi-identifiers as methods that measure distances get them: orders, semantic distances, sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from keepsense.arrays import Floats
from keepsense.counts import Counts, Value
from keepsense.errors import BadInput
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.methods.task import Task
from keepsense.semantics.attribute import Attribute, Nominal, Ordered
from keepsense.sets.set_distance import Sets

_MOST_VALUES = 4_096
"""Most distinct values of a column whose distances are written down pair by pair."""


def attributes_of(
    task: Task,
    counts: Counts,
    names: Sequence[str] | None = None,
    *,
    meaning: bool = False,
    apart: bool = False,
) -> list[Attribute]:
    """What each column means: an order for numbers, semantic distances for words, distances of sets for sets.

    A missing cell, and a word that no taxonomy knows, is as far from every other value as can be. With `meaning` every
    word must be a concept, because new words are to be drawn from the taxonomy. With `apart` missing cells of ordered
    columns have no place in the order: their position is no number.

    >>> from keepsense.release.example import example_job
    >>> job = example_job()
    >>> [type(column).__name__ for column in attributes_of(job, job.counts)]
    ['Ordered', 'Nominal']
    """
    return [_attribute(task, counts, name, meaning, apart) for name in names or task.quasi_identifiers]


def _attribute(task: Task, counts: Counts, name: str, meaning: bool, apart: bool) -> Attribute:
    column = task.column(name)
    if KINDS[column.kind].sets:
        return _set(task, counts, name)
    if KINDS[column.kind].ordered:
        return _ordered(task, counts, name, apart)
    return _words(task, counts, name, meaning)


def _set(task: Task, counts: Counts, name: str) -> Attribute:
    from keepsense.semantics.distance import distance

    column = task.column(name)
    listed = any(isinstance(value, tuple) for value in counts.values_of(name))
    judge = distance(column.distance, task.taxonomy(name))
    return Sets.of(counts, name, judge, delimiter=None if listed else column.delimiter)


def _ordered(task: Task, counts: Counts, name: str, apart: bool) -> Attribute:
    values = counts.values_of(name)
    levels = _levels(task, name, values)
    if None not in values or apart:
        return Ordered.of(counts, name, levels=levels, gaps=apart)
    if len(values) > _MOST_VALUES:
        raise BadInput(f"column {name!r} has missing values among more than {_MOST_VALUES:,} others; fill them first")
    if levels is not None:
        place = {value: float(i) for i, value in enumerate(levels)}
        unknown = sum(value is not None and value not in place for value in values)
        if unknown:
            raise BadInput(f"column {name!r}: {unknown} value(s) are not in its `order`; list every value once")
        at = np.array([np.nan if v is None else place[v] for v in values])
    else:
        at = np.array([np.nan if v is None else _number(name, v) for v in values])
    there = at[~np.isnan(at)]
    span = float(np.ptp(there)) or 1.0 if len(there) else 1.0
    distances = np.abs(at[:, None] - at[None, :]) / span
    return Nominal.of(counts, name, _with_strangers(distances, np.isnan(at)))


def _levels(task: Task, name: str, values: Sequence[Value]) -> list[Value] | None:
    """Values of an ordinal column as listed, dates in their order; None for numbers."""
    column = task.column(name)
    if KINDS[column.kind].needs_order:
        if column.order is None:
            raise BadInput(f"column {name!r} is ordinal; list its values in `order`, lowest first")
        return list(column.order)
    if column.kind != "date":
        return None
    from keepsense.hierarchies.kinds.date_kind import as_date

    days = {value: as_date(value) for value in values if value is not None}
    if any(day is None for day in days.values()):
        raise BadInput(f"column {name!r} is of kind date, but holds a value that is no date")
    return sorted(days, key=lambda value: (days[value], str(value)))


def _number(name: str, value: Value) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise BadInput(f"column {name!r} is numeric, but holds a value that is no number") from None


def _without_taxonomy(task: Task) -> str:
    """Which columns have no taxonomy to draw words from, and what to do about it."""
    every = ((name, task.column(name)) for name in task.quasi_identifiers)
    names = [
        name
        for name, column in every
        if column.taxonomy is None and not (KINDS[column.kind].ordered or KINDS[column.kind].sets)
    ]
    others = "; ".join(f"--set columns.{name}.role=identifier" for name in names[:3])
    listed = ", ".join(map(repr, names))
    return (
        f"{listed} {'has' if len(names) == 1 else 'have'} no taxonomy to draw words from; name one for each, "
        f"leave such columns out ({others}{'; ...' if len(names) > 3 else ''}), or choose a method that needs none: "
        "--set method.name=post-randomization"
    )


def _words(task: Task, counts: Counts, name: str, meaning: bool) -> Attribute:
    from keepsense.semantics.distance import distance

    column, values = task.column(name), counts.values_of(name)
    if column.taxonomy is None:
        if meaning:
            raise BadInput(_without_taxonomy(task))
        return Nominal.of(counts, name, _with_strangers(np.zeros((len(values),) * 2), np.ones(len(values), np.bool_)))
    mapping = task.mapping(name, counts.rows_of(name))
    judge = distance(column.distance, task.taxonomy(name))
    strange = np.array([value is None or value not in mapping.concepts for value in values], dtype=np.bool_)
    if not strange.any():
        return Nominal.of(counts, name, judge, concepts=mapping.concepts)
    if meaning:
        raise BadInput(
            f"column {name!r} has {int(strange.sum())} value(s) in no taxonomy; map them in a mapping file first"
        )
    _small_enough(name, values)
    known = np.flatnonzero(~strange)
    distances = np.zeros((len(values), len(values)))
    codes = [task.taxonomy(name).code(mapping.concepts[values[i]]) for i in known.tolist()]
    if codes:
        distances[np.ix_(known, known)] = judge.matrix(codes) / (judge.maximum or 1.0)
    return Nominal.of(counts, name, _with_strangers(distances, strange))


def _small_enough(name: str, values: Sequence[Value]) -> None:
    if len(values) > _MOST_VALUES:
        raise BadInput(
            f"column {name!r} has more than {_MOST_VALUES:,} values, some in no taxonomy; map them in a "
            "mapping file first"
        )


def _with_strangers(distances: Floats, strange: Any) -> Floats:
    """Distances with 1 between every strange value and all others."""
    distances = distances.copy()
    distances[strange, :] = 1.0
    distances[:, strange] = 1.0
    np.fill_diagonal(distances, 0.0)
    return distances
