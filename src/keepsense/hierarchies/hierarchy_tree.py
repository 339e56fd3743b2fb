"""A hierarchy as a tree: every node once, leaves at any depth; and how a tree gets equal levels for all leaves.

Algorithms want every leaf to have an ancestor at every level, trees do not give them that. A policy says what a leaf
that sits too near the root is padded with:

- `leaf` (the default): the leaf itself repeats at the bottom, so it generalizes only where its real parent stands;
- `parent`: its parent repeats, so it generalizes at once and then waits;
- `top`: levels are counted from the leaves, and the root repeats at the top.

The way back drops the padding: a label that only repeats its own child is not a node of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Ints, frozen
from keepsense.counts import Value
from keepsense.errors import BadHierarchy
from keepsense.hierarchies.hierarchy import UNKNOWN, Hierarchy, assemble
from keepsense.hierarchies.hierarchy_checks import check, require

Policy = Literal["leaf", "parent", "top"]
POLICIES: tuple[Policy, ...] = ("leaf", "parent", "top")


@dataclass(frozen=True, eq=False)
class Tree:
    """Nodes with labels, concepts (-1 where not known) and parents (-1 for a root); the leaves come first.

    >>> tree = Tree(("nurse", "clerk", "medic", "*"), np.array([2, 3, 3, -1]), 2)
    >>> tree.depth.tolist(), tree.children[3]
    ([2, 1, 1, 0], [1, 2])
    """

    labels: tuple[Value, ...]
    parent: NDArray[np.int32]
    n_leaves: int
    concepts: NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        frozen(self.parent)
        if self.concepts is not None:
            frozen(self.concepts)

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def depth(self) -> Ints:
        """Links from each node up to its root."""
        depth = np.zeros(len(self), dtype=np.int32)
        above = self.parent
        for _ in range(len(self)):
            inside = above >= 0
            if not inside.any():
                return depth
            depth += inside
            above = np.where(inside, self.parent[above], UNKNOWN).astype(np.int32)
        raise BadHierarchy("the parents of a tree form a cycle; no node may lie above itself")

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """Children of each inner node."""
        found: dict[int, list[int]] = {}
        for node, above in enumerate(self.parent.tolist()):
            if above >= 0:
                found.setdefault(above, []).append(node)
        return found

    @property
    def roots(self) -> list[int]:
        """Nodes without a parent."""
        return np.flatnonzero(self.parent < 0).tolist()

    @cached_property
    def first_leaf(self) -> dict[int, int]:
        """The first leaf below each node: branches are written in the order of leaves."""
        first = {node: node for node in range(self.n_leaves)}
        for leaf in range(self.n_leaves):
            node = int(self.parent[leaf])
            while node >= 0 and node not in first:
                first[node] = leaf
                node = int(self.parent[node])
        return first

    def child_counts(self) -> Ints:
        """Number of children of each inner node, in no order: the sizes of its generalization intervals."""
        counts = np.bincount(self.parent[self.parent >= 0], minlength=len(self))
        return counts[counts > 0].astype(np.int32)


def tree_of(hierarchy: Hierarchy) -> Tree:
    """The tree of a hierarchy, padding dropped.

    >>> rows = [("nurse", "medic", "*"), ("clerk", "clerk", "*")]
    >>> tree = tree_of(Hierarchy.of_rows(rows))
    >>> tree.labels, tree.parent.tolist()
    (('nurse', 'clerk', 'medic', '*'), [2, 3, 3, -1])
    """
    n = len(hierarchy.leaves)
    node = np.arange(n, dtype=np.int64)  # node of each code of the level below
    labels: list[Value] = list(hierarchy.leaves)
    concepts = [hierarchy.concept_codes(0)]
    parent: list[int] = [UNKNOWN] * n
    for level in range(1, hierarchy.height + 1):
        here, below = hierarchy.labels[level], hierarchy.labels[level - 1]
        up = hierarchy.parents[level - 1]
        known, known_below = hierarchy.concept_codes(level), hierarchy.concept_codes(level - 1)
        single = hierarchy.leaf_counts[level] == 1
        mine = np.full(len(here), UNKNOWN, dtype=np.int64)
        for child, above in enumerate(up.tolist()):
            same = below[child] == here[above] and known_below[child] == known[above]
            if same and (single[above] or node[child] >= n):
                mine[above] = node[child]
        fresh = np.flatnonzero(mine < 0)
        mine[fresh] = len(labels) + np.arange(len(fresh))
        labels += [here[c] for c in fresh.tolist()]
        concepts.append(known[fresh])
        parent += [UNKNOWN] * len(fresh)
        for child, above in zip(node.tolist(), mine[up].tolist(), strict=True):
            if child != above:
                parent[child] = above
        node = mine
    found = np.concatenate(concepts) if hierarchy.concepts is not None else None
    return _unified(Tree(tuple(labels), np.array(parent, dtype=np.int32), n, found))


def _unified(tree: Tree) -> Tree:
    """Inner nodes with one label, one concept and one parent are one node: the `top` policy tears them apart."""
    n = tree.n_leaves
    known = [UNKNOWN] * len(tree) if tree.concepts is None else tree.concepts.tolist()
    names = list(zip(tree.labels, known, strict=True))
    if len(set(names[n:])) == len(names) - n:
        return tree
    own = list(range(len(tree)))
    seen: dict[tuple[tuple[Value, int], int], int] = {}
    for node in sorted(range(n, len(tree)), key=lambda i: (int(tree.depth[i]), i)):
        above = int(tree.parent[node])
        own[node] = seen.setdefault((names[node], own[above] if above >= 0 else UNKNOWN), node)
    kept = [i for i in range(len(tree)) if own[i] == i]
    place = {node: i for i, node in enumerate(kept)}
    parent = [place[own[p]] if (p := int(tree.parent[i])) >= 0 else UNKNOWN for i in kept]
    concepts = None if tree.concepts is None else tree.concepts[kept]
    return Tree(tuple(tree.labels[i] for i in kept), np.array(parent, dtype=np.int32), n, concepts)


def to_hierarchy(tree: Tree, *, name: str = "hierarchy", policy: Policy = "leaf", kind: str = "nominal") -> Hierarchy:
    """A tree made rectangular by a policy.

    >>> tree = Tree(("nurse", "clerk", "medic", "*"), np.array([2, 3, 3, -1]), 2)
    >>> to_hierarchy(tree).rows()
    [('nurse', 'medic', '*'), ('clerk', 'clerk', '*')]
    >>> to_hierarchy(tree, policy="parent").rows()[1]
    ('clerk', '*', '*')
    """
    check_policy(policy)
    n = tree.n_leaves
    if not n:
        raise BadHierarchy(f"{name}: the hierarchy is empty; it needs at least one leaf")
    height = int(tree.depth[:n].max())
    codes = np.empty((n, height + 1), dtype=np.int32)
    codes[:, 0] = here = np.arange(n, dtype=np.int32)
    if policy == "parent" and height:
        lifted = np.where(tree.parent[:n] >= 0, tree.parent[:n], here)
        here = np.where(tree.depth[:n] == height, here, lifted).astype(np.int32)
    for level in range(1, height + 1):
        above = tree.parent[here]
        climbs = (above >= 0) & ((policy == "top") | (tree.depth[here] > height - level))
        here = np.where(climbs, above, here).astype(np.int32)
        codes[:, level] = here
    concepts = None if tree.concepts is None else [tree.concepts] * (height + 1)
    return assemble(name, codes, [tree.labels] * (height + 1), kind=kind, concepts=concepts)


def from_nodes(
    labels: Sequence[Value],
    parent: Sequence[int],
    *,
    name: str = "hierarchy",
    kind: str = "nominal",
    policy: Policy = "leaf",
    concepts: Sequence[int] | None = None,
) -> Hierarchy:
    """A hierarchy from nodes in any order, each with the position of its parent (-1 for a root); refuses what is none.

    >>> from_nodes(["*", "medic", "nurse", "clerk"], [-1, 0, 1, 0]).rows()
    [('nurse', 'medic', '*'), ('clerk', 'clerk', '*')]
    """
    inner = {above for above in parent if above >= 0}
    order = [i for i in range(len(labels)) if i not in inner] + sorted(inner)
    place = {node: i for i, node in enumerate(order)}
    up = np.array([place[parent[i]] if parent[i] >= 0 else UNKNOWN for i in order], dtype=np.int32)
    known = None if concepts is None else np.array([concepts[i] for i in order], dtype=np.int32)
    tree = Tree(tuple(labels[i] for i in order), up, len(order) - len(inner), known)
    hierarchy = to_hierarchy(tree, name=name, policy=policy, kind=kind)
    require(check(hierarchy))
    return hierarchy


def nested(hierarchy: Hierarchy) -> Tree:
    """The tree that formats of nested labels write: what is read back from it are the same levels.

    Padding with the leaf is dropped, because reading adds it again; of any other hierarchy every level is a node.

    >>> carp = ("carp", "fish", "animal")
    >>> [len(nested(Hierarchy.of_rows([carp, ("eagle", label, "animal")]))) for label in ("eagle", "animal")]
    [4, 5]
    """
    tree = tree_of(hierarchy)
    if set(to_hierarchy(tree).rows()) == set(hierarchy.rows()):
        return tree
    sizes = [len(labels) for labels in hierarchy.labels]
    above = [up + sum(sizes[: level + 1]) for level, up in enumerate(hierarchy.parents)]
    parent = np.concatenate([*above, np.full(sizes[-1], UNKNOWN)]).astype(np.int32)
    return Tree(tuple(label for labels in hierarchy.labels for label in labels), parent, sizes[0])


def check_policy(policy: str) -> None:
    """Refuse a padding policy that does not exist."""
    if policy not in POLICIES:
        raise BadHierarchy(f"no padding policy {policy!r}; there are {', '.join(POLICIES)}")


def grow(paths: Sequence[Sequence[Value]], *, name: str = "hierarchy") -> Tree:
    """A tree from paths of labels, leaf first and root last, of any lengths; equal inner labels are one node.

    >>> grow([("nurse", "medic", "*"), ("clerk", "*")]).labels
    ('nurse', 'clerk', 'medic', '*')
    """
    n = len(paths)
    labels: list[Value] = [path[0] for path in paths]
    parent: dict[int, int] = {}
    place: dict[Value, int] = {}
    for i, path in enumerate(paths):
        below = i
        for label in path[1:]:
            node = place.get(label)
            if node is None:
                node = place[label] = len(labels)
                labels.append(label)
            if parent.setdefault(below, node) != node:
                raise BadHierarchy(
                    f"{name}: {labels[below]!r} has several parents, {labels[parent[below]]!r} and {label!r}; keep one"
                )
            below = node
        if below in parent:
            raise BadHierarchy(f"{name}: {labels[below]!r} is a root in one place and has a parent in another")
    return Tree(tuple(labels), np.array([parent.get(i, UNKNOWN) for i in range(len(labels))], dtype=np.int32), n)
