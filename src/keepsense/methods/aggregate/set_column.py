"""One set-valued column of a project: its records as sets of items, and the cell that each record gets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts, Value, distinct_rows
from keepsense.errors import BadInput
from keepsense.methods.aggregate.item_tree import GeneralizedSets
from keepsense.methods.calling import call
from keepsense.methods.fit import When
from keepsense.methods.registry import Method
from keepsense.methods.task import Task, least_size
from keepsense.progress import Listener
from keepsense.recoding import SUPPRESSED, Cells, suppressed_tuples

ALONE: tuple[When, str] = (
    lambda s: bool(s.others),
    "it is for sets that are released without other columns by which people could be recognized",
)


def microaggregated(
    method: Method, task: Task, name: str, counts: Counts, parameters: Mapping[str, Any], listener: Listener | None
) -> Cells:
    """Sets that are alike, within each class of the other quasi-identifiers.

    Promises about more than the size of classes (their sensitive values, say) hold for the classes as they are, so
    these are not divided further: all records of a class get one set.
    """
    from keepsense.semantics import distance

    others = counts.names[:-1]
    options = {"k": least_size(task.models) or 2, **parameters} if others else dict(parameters)
    measure = str(options.pop("measure", "feature"))
    hidden = suppressed_tuples(counts, columns=others) if others else np.zeros(len(counts), np.bool_)
    source = np.repeat(np.arange(len(counts)), counts.weights)
    shown = np.flatnonzero(~hidden[source])
    items = task.items(name, counts.values_of(name)).taken(counts.column(name)[source[shown]])
    sets = task.concept_sets(name, items)
    judge = None if task.column(name).taxonomy is None else distance(measure, task.taxonomy(name))
    inside: dict[str, Any] = {}
    if others:
        divide = least_size(task.models) is not None and all(model.by_size for model in task.models)
        _, classes = distinct_rows(np.ascontiguousarray(counts.codes[:, :-1]))
        inside = {"within": classes[source[shown]].astype(np.int64), "divide": divide}
    release = call(method.function, options, sets, judge, task.models, rng=task.rng, listener=listener, **inside)
    cells: list[Value] = release.cells()
    group = np.full(len(source), len(cells), dtype=np.int64)
    group[shown] = release.group
    info = {"method": method.name, "k": release.k, "groups": len(release.partition)}
    return _allocated(name, source, group, [*cells, items.cell([SUPPRESSED])], info)


def generalized(
    method: Method, task: Task, name: str, counts: Counts, parameters: Mapping[str, Any], listener: Listener | None
) -> Cells:
    """Sets that stay true, of a column that is published without other quasi-identifiers."""
    if len(counts.names) > 1:
        raise BadInput(
            f"the method {method.name!r} generalizes a set-valued column that is published without other "
            "quasi-identifiers; beside others, use set microaggregation"
        )
    source = np.repeat(np.arange(len(counts)), counts.weights)
    items = task.items(name, counts.values_of(name)).taken(counts.column(name)[source])
    release: GeneralizedSets = call(
        method.function, parameters, items, task.hierarchies[name], task.models, listener=listener
    )
    cells = [items.cell(record) for record in release.records()]
    return _allocated(
        name, source, np.arange(len(cells)), cells, {"method": method.name, "penalty": float(release.penalty)}
    )


def _allocated(
    name: str, source: NDArray[Any], chosen: NDArray[Any], cells: list[Value], info: Mapping[str, Any]
) -> Cells:
    """A recoding from the cell that each record gets."""
    place = {cell: i for i, cell in enumerate(dict.fromkeys(cells))}
    codes = np.array([place[cell] for cell in cells], dtype=np.int64)[chosen]
    distinct, group = distinct_rows(np.ascontiguousarray(np.stack([source, codes], axis=1).astype(np.int32)))
    multiplicity = np.bincount(group, minlength=len(distinct))
    return Cells(
        (name,), (tuple(place),), distinct[:, 0].astype(np.int64), distinct[:, 1:], multiplicity, info=dict(info)
    )
