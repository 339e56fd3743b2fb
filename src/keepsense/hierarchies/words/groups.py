"""Groups between the levels of a taxonomy: siblings, or values, that lie near each other, named or listed.

A concept with nine children can only be released whole or not at all. `group_siblings` puts groups of two to four
children between, which are listed (`midwife or nurse`): the levels of the taxonomy all stay. `group_values` clusters
the values themselves by their distance, whatever the taxonomy's levels; a group is named by the concepts that hold
just its values, listed where there are several. Both join first what costs least to mix: near each other and with few
rows (Ward's criterion on the mean distance).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from keepsense.arrays import Floats
from keepsense.hierarchies.core import UNKNOWN
from keepsense.hierarchies.words.readable import MOST_LISTED, Nodes
from keepsense.semantics.base import Distance

_MANY = 400
"""Children of one node, or values, above which no groups are looked for: distances grow with their square."""


def group_siblings(
    nodes: Nodes,
    distance: Distance,
    rows: Sequence[int],
    *,
    most: int = MOST_LISTED,
    below_top: int | None = None,
    least: int | None = None,
) -> None:
    """Put groups of at most `most` siblings, nearest first, between a concept and its children.

    `below_top` is the number right below the top, where nothing else could be said; the same unless given. Values
    without a concept are as far from all others as can be; they are listed where at least `least` rows hold them, not
    at all unless that is given: what few people wrote may tell who they are.

    >>> from keepsense.hierarchies.words.base import base_hierarchy
    >>> from keepsense.hierarchies.words.readable import plain, spelled
    >>> from keepsense.semantics import distance
    >>> from keepsense.taxonomy import from_edges
    >>> links = [("cat", "feline"), ("lion", "feline"), ("feline", "animal"), ("dog", "animal"), ("ant", "animal")]
    >>> pets = from_edges(links)
    >>> nodes = plain(base_hierarchy(["cat", "lion", "dog", "ant"], pets), pets)
    >>> group_siblings(nodes, distance("wu-palmer", pets), [5, 5, 2, 1])
    >>> spelled(nodes, pets, name="pet").rows()[3]
    ('ant', 'dog or ant', '*')
    """
    members = nodes.members()
    told = {
        leaf
        for leaf in range(len(nodes.leaves))
        if nodes.concept[leaf] >= 0 or (least is not None and rows[leaf] >= least)
    }
    for parent, children in sorted(nodes.children().items()):
        mine = [child for child in children if told.issuperset(members[child])]
        if not 3 <= len(mine) <= _MANY:
            continue
        inside = [members[child] for child in mine]
        apart, weight = _between(nodes, inside, distance, rows)
        tops: dict[int, tuple[int, ...]] = {i: (mine[i],) for i in range(len(mine))}
        parts: dict[int, tuple[int, ...]] = {i: (mine[i],) for i in range(len(mine))}
        limit = most if below_top is None or parent != nodes.root else below_top
        for first, second, joined in merges(apart, weight):
            parts[joined] = (*parts[first], *parts[second])
            tops[joined] = (*tops[first], *tops[second])
            if len(parts[joined]) > limit or len(parts[joined]) == len(children):
                continue
            if _some_of_one(nodes, parts[joined], mine):
                continue
            group = nodes.add(parent, UNKNOWN, parts[joined])
            for below in tops[joined]:
                nodes.parent[below] = group
            tops[joined] = (group,)


def _some_of_one(nodes: Nodes, group: Sequence[int], siblings: Sequence[int]) -> bool:
    """Whether a group holds some, not all, of the siblings that mean one thing: spellings are joined all at once."""
    meant = {nodes.concept[node] for node in group}
    if len(meant) > 1 or UNKNOWN in meant:
        return False
    return len(group) < sum(nodes.concept[node] in meant for node in siblings)


def group_values(nodes: Nodes, distance: Distance, rows: Sequence[int], *, most: int = MOST_LISTED) -> Nodes:
    """The values clustered by their distance; groups that at most `most` concepts or values make up are kept.

    >>> from keepsense.hierarchies.words.base import base_hierarchy
    >>> from keepsense.hierarchies.words.readable import plain, spelled
    >>> from keepsense.semantics import distance
    >>> from keepsense.taxonomy import from_edges
    >>> pets = from_edges([("cat", "feline"), ("lion", "feline"), ("feline", "animal"), ("dog", "animal")])
    >>> nodes = plain(base_hierarchy(["cat", "lion", "dog"], pets), pets)
    >>> spelled(group_values(nodes, distance("wu-palmer", pets), [5, 5, 2]), pets, name="pet").rows()[0]
    ('cat', 'feline', '*')
    """
    n = len(nodes.leaves)
    known = [leaf for leaf in range(n) if nodes.concept[leaf] >= 0]
    if not 3 <= len(known) <= _MANY:
        return nodes
    label = distance.taxonomy.label
    covers = [
        (frozenset(below), nodes.concept[node], label(nodes.concept[node]))
        for node, below in nodes.members().items()
        if node >= n and node != nodes.root and nodes.concept[node] >= 0
    ]
    covers = sorted((c for c in covers if c[2] not in nodes.leaves), key=lambda cover: (-len(cover[0]), cover[1]))
    made = Nodes(nodes.leaves, [UNKNOWN] * n, list(nodes.concept[:n]), list(nodes.leaves))
    root = made.add(UNKNOWN, nodes.concept[nodes.root])
    made.parent[:n] = [root] * n
    inside = {i: frozenset([leaf]) for i, leaf in enumerate(known)}
    tops: dict[int, tuple[int, ...]] = {i: (leaf,) for i, leaf in enumerate(known)}
    apart, weight = _between(nodes, [[leaf] for leaf in known], distance, rows)
    for first, second, joined in merges(apart, weight):
        inside[joined] = inside[first] | inside[second]
        tops[joined] = (*tops[first], *tops[second])
        left, parts = set(inside[joined]), []
        for below, concept, name in covers:
            if below <= left:
                parts.append((concept, name))
                left -= below
        if len(parts) + len(left) > most or len(inside[joined]) == n:
            continue
        if len(parts) == 1 and not left:
            group = made.add(root, parts[0][0])
        else:
            values = [(str(nodes.leaves[leaf]), nodes.concept[leaf]) for leaf in sorted(left)]
            group = made.add(root, UNKNOWN, (*((name, concept) for concept, name in parts), *values))
        for below_it in tops[joined]:
            made.parent[below_it] = group
        tops[joined] = (group,)
    return made


def merges(apart: Floats, weight: Floats) -> list[tuple[int, int, int]]:
    """Which two groups are joined, one after the other, and the number of what they become; the cheapest first.

    `apart` are mean distances, `weight` the rows of each group. Joining costs the squared distance times the product
    of the weights over their sum. Cost: the cube of the number of groups, of vectors.

    >>> merges(np.array([[0.0, 0.1, 0.9], [0.1, 0.0, 0.8], [0.9, 0.8, 0.0]]), np.ones(3))
    [(0, 1, 3), (2, 3, 4)]
    """
    n = len(weight)
    size = 2 * n - 1
    mean, rows = np.full((size, size), np.inf), np.ones(size)
    mean[:n, :n], rows[:n] = apart, np.maximum(weight, 1.0)
    alive = list(range(n))
    joined = []
    for new in range(n, size):
        at = np.array(alive)
        cost = mean[np.ix_(at, at)] ** 2 * (rows[at][:, None] * rows[at][None, :]) / (rows[at][:, None] + rows[at])
        np.fill_diagonal(cost, np.inf)
        first, second = (int(at[i]) for i in divmod(int(np.argmin(np.round(cost, 12))), len(at)))
        first, second = min(first, second), max(first, second)
        rows[new] = rows[first] + rows[second]
        mean[new] = (rows[first] * mean[first] + rows[second] * mean[second]) / rows[new]
        mean[:, new] = mean[new]
        alive = [i for i in alive if i not in (first, second)] + [new]
        joined.append((first, second, new))
    return joined


def _between(
    nodes: Nodes, groups: Sequence[Sequence[int]], distance: Distance, rows: Sequence[int]
) -> tuple[Floats, Floats]:
    """Mean distance between the values of groups, by their rows, and the rows of each group."""
    leaves = [leaf for group in groups for leaf in group]
    concepts = np.array([nodes.concept[leaf] for leaf in leaves], dtype=np.int32)
    known = np.flatnonzero(concepts >= 0)
    near = distance.matrix(concepts[known], concepts[known]) / (distance.maximum or 1.0)
    matrix = np.ones((len(leaves), len(leaves)))
    matrix[np.ix_(known, known)] = (near + near.T) / 2
    weight = np.maximum(np.array([rows[leaf] for leaf in leaves], dtype=np.float64), 1.0)
    member = np.zeros((len(groups), len(leaves)))
    member[np.repeat(np.arange(len(groups)), [len(group) for group in groups]), np.arange(len(leaves))] = weight
    total = member.sum(axis=1)
    return member @ matrix @ member.T / (total[:, None] * total[None, :]), total
