"""A generalization hierarchy over items as a tree, and sets generalized along it: ground of the truthful ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints, Rows
from keepsense.counts import Value
from keepsense.errors import Finding
from keepsense.hierarchies.core import Hierarchy
from keepsense.methods.aggregate.items import ItemSets
from keepsense.recoding import SUPPRESSED, Cut


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

    >>> from keepsense.methods.aggregate.apriori import generalize_sets_apriori
    >>> from keepsense.methods.aggregate.items import from_lists
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

    >>> from keepsense.methods.aggregate.items import from_lists
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
