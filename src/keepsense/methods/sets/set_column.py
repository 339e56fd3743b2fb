"""A column of sets as methods get it.

`SetColumn` holds the records of a set-valued column, `ItemTree` the hierarchy of its items, `GeneralizedSets` a
truthful release of it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints, Rows
from keepsense.counts import Counts, Value, distinct_rows
from keepsense.errors import BadInput, Finding, InputWarning
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.method import Method
from keepsense.methods.method_call import call
from keepsense.methods.suitability import When
from keepsense.methods.task import Task
from keepsense.progress import Listener
from keepsense.recoding import SUPPRESSED, Cells, Cut, suppressed_tuples
from keepsense.sets.item_sets import ItemSets, read_cells


@dataclass(frozen=True, eq=False)
class ItemTree:
    """Nodes 0 to n - 1 are the leaves (values of a hierarchy), the rest inner nodes, the last one the root.

    Levels that change nothing are left out: a label above one leaf only says no less than the leaf, and needs no step.
    Leaves are numbered so that those under a node are neighbours: `first[node]` up to `last[node]`, in `order`.

    >>> tree = ItemTree.of(Hierarchy.of_rows([("ham", "meat", "*"), ("beef", "meat", "*"), ("tea", "drink", "*")]))
    >>> [tree.labels[n] for n in tree.path(0)], tree.penalty.round(2).tolist()
    (['ham', 'meat', '*'], [0.0, 0.0, 0.0, 0.67, 1.0])
    """

    labels: tuple[Value, ...]
    parent: Ints
    leaves: int

    @classmethod
    def of(cls, hierarchy: Hierarchy, *, nothing: bool = False) -> ItemTree:
        """From a hierarchy; several tops get a root above them. `nothing` adds a leaf, the last, for empty sets."""
        count = len(hierarchy.leaves)
        leaves = count + nothing
        labels: list[Value] = [*hierarchy.leaves, *([None] if nothing else [])]
        parent = [-1] * leaves
        here = np.arange(count)  # the node that now stands above each leaf
        for level in range(1, hierarchy.height + 1):
            codes = hierarchy.codes[:, level]
            for code in range(len(hierarchy.labels[level])):
                below = np.unique(here[codes == code])
                if len(below) > 1:
                    node = len(labels)
                    labels.append(hierarchy.labels[level][code])
                    parent.append(-1)
                    for child in below.tolist():
                        parent[child] = node
                    here[codes == code] = node
        tops = [node for node, up in enumerate(parent) if up < 0]
        if len(tops) > 1:
            root = len(labels)
            labels.append(SUPPRESSED)
            parent.append(-1)
            for top in tops:
                parent[top] = root
        return cls(tuple(labels), np.array(parent, dtype=np.int32), leaves)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def root(self) -> int:
        """The node above all."""
        return len(self.labels) - 1

    @cached_property
    def children(self) -> Rows:
        """Children of each node."""
        nodes = np.flatnonzero(self.parent >= 0).astype(np.int32)
        return Rows.from_pairs(self.parent[nodes], nodes, len(self))

    @cached_property
    def _spans(self) -> tuple[Ints, Ints, Ints]:
        first, last = np.zeros(len(self), np.int32), np.zeros(len(self), np.int32)
        order: list[int] = []
        stack: list[tuple[int, bool]] = [(self.root, False)]
        while stack:
            node, done = stack.pop()
            if done:
                last[node] = len(order)
                continue
            first[node] = len(order)
            if node < self.leaves:
                order.append(node)
            stack.append((node, True))
            stack += [(int(child), False) for child in self.children[node][::-1]]
        return first, last, np.array(order, dtype=np.int32)

    def leaves_under(self, node: int) -> Ints:
        """Leaves under a node, itself where it is one."""
        first, last, order = self._spans
        return order[first[node] : last[node]]

    @cached_property
    def leaf_counts(self) -> Ints:
        """Leaves under each node."""
        first, last, _ = self._spans
        return last - first

    @cached_property
    def place(self) -> Ints:
        """Position of each leaf among the neighbours."""
        place = np.empty(self.leaves, dtype=np.int32)
        place[self._spans[2]] = np.arange(self.leaves, dtype=np.int32)
        return place

    @cached_property
    def penalty(self) -> Floats:
        """Normalized certainty penalty of releasing each node: the share of all leaves it may be; 0 for a leaf."""
        counts = self.leaf_counts
        share: Floats = np.where(counts > 1, counts / self.leaves, 0.0)
        return share

    def path(self, node: int) -> tuple[int, ...]:
        """The node and all above it, the root last."""
        return self._paths[node]

    @cached_property
    def _paths(self) -> list[tuple[int, ...]]:
        found: list[tuple[int, ...]] = [()] * len(self)
        for node in range(len(self) - 1, -1, -1):  # parents have higher numbers
            up = int(self.parent[node])
            found[node] = (node,) if up < 0 else (node, *found[up])
        return found

    def child_of(self, node: int, leaves: NDArray[Any]) -> NDArray[np.int64]:
        """Which child of a node stands above each leaf (as position among its children); -1 for leaves elsewhere."""
        first, last, _ = self._spans
        children = self.children[node]
        at = self.place[leaves]
        which = np.searchsorted(first[children], at, side="right").astype(np.int64) - 1
        return np.where((at >= first[node]) & (at < last[node]), which, -1)


@dataclass(frozen=True, eq=False)
class GeneralizedSets:
    """A set-valued column released truthfully: every item itself or something above it in a hierarchy.

    `rows` holds each record's nodes of the `tree`, each once. `cut` is the rule where it is the same for all records;
    `group` says which records are released alike where groups were made. `penalty` is the mean normalized certainty
    penalty over all items of all records (0 all as they were, 1 all at the root).

    >>> from keepsense.methods.sets.apriori import generalize_sets_apriori
    >>> from keepsense.sets.item_sets import from_lists
    >>> food = Hierarchy.of_rows([("ham", "meat", "*"), ("beef", "meat", "*"), ("tea", "drink", "*")])
    >>> release = generalize_sets_apriori(from_lists([["ham"], ["beef"], ["tea"], ["tea"]]), food, k=2, m=1)
    >>> release.records(), round(release.penalty, 4)
    ([['meat'], ['meat'], ['tea'], ['tea']], 0.3333)
    """

    sets: ItemSets
    tree: ItemTree
    rows: Rows
    penalty: float
    promised: dict[str, Any]
    cut: Cut | None = None
    group: NDArray[np.int64] | None = None
    info: dict[str, int] = field(default_factory=dict)

    def records(self) -> list[list[Value]]:
        """The released set of each record, sorted by label."""
        return labelled(self.tree, self.rows)

    def column(self, *, rng: np.random.Generator | int | None = None) -> Any:
        """The released column in the form it came in (`ItemSets.spelled`)."""
        return self.sets.spelled(self.records(), rng=rng)

    def covers(self) -> dict[Value, tuple[Value, ...]]:
        """Items that each released label may stand for."""
        found: dict[Value, set[Value]] = {}
        for node in np.unique(self.rows.indices).tolist():
            below = [self.tree.labels[leaf] for leaf in self.tree.leaves_under(node).tolist()]
            label = self.tree.labels[node]
            if label is not None:
                found.setdefault(label, set()).update(item for item in below if item is not None)
        return {label: tuple(sorted(items, key=str)) for label, items in found.items()}

    def promise(self) -> dict[str, Any]:
        """What the release promises, as plain data."""
        return dict(self.promised)

    def findings(self) -> list[Finding]:
        """What a person should look at, in counts."""
        at_root = int((self.rows.indices == self.tree.root).sum())
        found = list(self.sets.findings())
        if at_root and self.tree.leaves > 1:
            text = f"{at_root:,} of {len(self.rows):,} records hold the most general item, which says nothing"
            found.append(Finding("W309", self.sets.column, text))
        return found


def leaf_rows(sets: ItemSets, hierarchy: Hierarchy) -> Rows:
    """Each record's items as leaves of the hierarchy; refuses, counted, items that it does not hold.

    >>> from keepsense.sets.item_sets import from_lists
    >>> leaf_rows(from_lists([["tea"]]), Hierarchy.of_rows([("ham", "*"), ("tea", "*")])).indices.tolist()
    [1]
    """
    return Rows(sets.rows.starts, hierarchy.named(sets.column).lookup(sets.items)[sets.rows.indices])


def released_rows(rows: Rows, nodes: NDArray[Any]) -> Rows:
    """Each record's nodes, each once, given the node of each entry.

    >>> released_rows(Rows.from_pairs([0, 0, 1], [0, 1, 1], 2), np.array([5, 5, 5])).indices.tolist()
    [5, 5]
    """
    width = int(nodes.max(initial=0)) + 1
    pairs = np.unique(rows.row_of().astype(np.int64) * width + nodes)
    return Rows.from_pairs(pairs // width, pairs % width, len(rows))


def labelled(tree: ItemTree, rows: Rows) -> list[list[Value]]:
    """The labels of each record's nodes, sorted.

    >>> labelled(ItemTree.of(Hierarchy.of_rows([("ham", "*"), ("tea", "*")])), Rows.from_pairs([0, 0], [1, 0], 1))
    [['ham', 'tea']]
    """
    found = []
    for i in range(len(rows)):
        held = [tree.labels[node] for node in rows[i].tolist()]
        found.append(sorted({label for label in held if label is not None}, key=str))
    return found


def mean_penalty(tree: ItemTree, nodes: Sequence[int] | NDArray[Any]) -> float:
    """Mean penalty of the node that each item of each record is released as.

    >>> mean_penalty(ItemTree.of(Hierarchy.of_rows([("ham", "*"), ("tea", "*")])), [2, 0])
    0.5
    """
    held = np.asarray(nodes, dtype=np.int64)
    return float(tree.penalty[held].mean()) if len(held) else 0.0


# Records of a column of sets, and the cell that each record gets

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
    from keepsense.semantics.distance import distance

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
