"""One set-valued column of counts: its records as sets of items, and the cell that each record gets."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts, Value, distinct_rows
from keepsense.errors import BadInput, InputWarning
from keepsense.methods.aggregate.item_tree import GeneralizedSets
from keepsense.methods.aggregate.items import ItemSets, read_cells
from keepsense.methods.calling import call
from keepsense.methods.fit import When
from keepsense.methods.registry import Method
from keepsense.methods.task import Task
from keepsense.progress import Listener
from keepsense.recoding import SUPPRESSED, Cells, suppressed_tuples

ALONE: tuple[When, str] = (
    lambda s: bool(s.others),
    "it is for sets that are released without other columns by which people could be recognized",
)


@dataclass(frozen=True, eq=False)
class SetColumn:
    """The last column of counts, which holds sets, record by record.

    `source` is the tuple of each record, `shown` are the records that are released, `cells` tells which of the column's
    cells each of these holds, and `classes` the class that it is in by the other columns, if there are any.

    >>> column = SetColumn.alone(Counts.of({"tags": ["tea;milk", "tea"]}), ";")
    >>> column.items.sets(), column.cells.tolist()
    ([['milk', 'tea'], ['tea']], [0, 1])
    """

    name: str
    source: NDArray[Any]
    shown: NDArray[Any]
    cells: NDArray[Any]
    read: ItemSets
    classes: NDArray[np.int64] | None = None

    @classmethod
    def alone(cls, counts: Counts, delimiter: str) -> SetColumn:
        """The only column that there is."""
        if len(counts.names) > 1:
            raise BadInput(
                "the method generalizes a set-valued column that is published without other quasi-identifiers; beside "
                "others, use set microaggregation"
            )
        name = counts.names[0]
        return cls.beside(counts, read_cells(counts.values_of(name), delimiter=delimiter, column=name))

    @classmethod
    def beside(cls, counts: Counts, read: ItemSets) -> SetColumn:
        """A column, of which every cell was read, beside others; records that these hide are not shown."""
        *others, name = counts.names
        source = np.repeat(np.arange(len(counts)), counts.weights)
        if not others:
            return cls(name, source, np.arange(len(source)), counts.column(name)[source], read)
        shown = np.flatnonzero(~suppressed_tuples(counts, columns=others)[source])
        _, classes = distinct_rows(np.ascontiguousarray(counts.codes[:, :-1]))
        inside = classes[source[shown]].astype(np.int64)
        return cls(name, source, shown, counts.column(name)[source[shown]], read, inside)

    @property
    def hidden(self) -> Value:
        """The cell of a record that is not shown."""
        return self.read.cell([SUPPRESSED])

    @property
    def items(self) -> ItemSets:
        """The items of each record that is shown."""
        return self.read.taken(self.cells)

    def generalized(self, release: GeneralizedSets, method: str) -> Cells:
        """The recoding of sets that stay true."""
        cells = [self.read.cell(record) for record in release.records()]
        return self.allocated(np.arange(len(cells)), cells, {"method": method, "penalty": float(release.penalty)})

    def allocated(self, chosen: NDArray[Any], cells: Sequence[Value], info: Mapping[str, object]) -> Cells:
        """The recoding by which each record that is shown gets the cell chosen for it, and the others the last one."""
        cell_of = np.full(len(self.source), len(cells) - 1, dtype=np.int64)
        cell_of[self.shown] = chosen
        place = {cell: i for i, cell in enumerate(dict.fromkeys(cells))}
        codes = np.array([place[cell] for cell in cells], dtype=np.int64)[cell_of]
        distinct, group = distinct_rows(np.ascontiguousarray(np.stack([self.source, codes], axis=1).astype(np.int32)))
        multiplicity = np.bincount(group, minlength=len(distinct))
        return Cells(
            (self.name,), (tuple(place),), distinct[:, 0].astype(np.int64), distinct[:, 1:], multiplicity, info=info
        )


def by_concepts(
    method: Method, task: Task, name: str, counts: Counts, parameters: Mapping[str, Any], listener: Listener | None
) -> Cells:
    """Change a set-valued column by what its items mean."""
    from keepsense.semantics import distance

    options = dict(parameters)
    if "measure" in options:
        warnings.warn("the method's parameter 'measure' is called 'item_distance' now", InputWarning, stacklevel=3)
        options.setdefault("item_distance", options.pop("measure"))
    between = str(options.pop("item_distance", "feature"))
    sets = task.concept_sets(name, task.items(name, counts.values_of(name)))
    judge = None if task.column(name).taxonomy is None else distance(between, task.taxonomy(name))
    fixed = {"item_distance": judge, "each": task.each, "rng": task.rng, "listener": listener}
    cells: Cells = call(method.function, options, counts, [sets], task.models, **fixed)
    return cells


def by_hierarchy(
    method: Method, task: Task, name: str, counts: Counts, parameters: Mapping[str, Any], listener: Listener | None
) -> Cells:
    """Change a set-valued column by the hierarchy of its items."""
    given = {"delimiter": task.column(name).delimiter, "listener": listener}
    cells: Cells = call(method.function, parameters, counts, task.hierarchies, task.models, **given)
    return cells
