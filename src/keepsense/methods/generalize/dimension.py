"""A column as a dimension that groups are cut along: the order of its values, the label of a range, scores of cuts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Ints
from keepsense.counts import Counts, Value
from keepsense.errors import BadInput
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.intervals import spelled
from keepsense.hierarchies.round_bands import Bands, round_bands
from keepsense.methods.task import Importance, importances
from keepsense.recoding import SUPPRESSED
from keepsense.taxonomy.taxonomy import Concept, Taxonomy

_FEW = 1_024
"""Distinct words of a column up to which what every span of them loses is worked out beforehand."""


@dataclass(frozen=True, eq=False)
class Dimension:
    """A column's values in an order along which groups can be split, and what a group's span is called.

    `rank[v]` is value v's place in the order, `width[r]` the place of rank r on a scale from 0 to 1, which says how
    wide a span is. `joint[r]` says how high the common ancestor of rank r and its right neighbour lies (0 for numbers).
    `labels` and `cost` say what a span from one rank to another is called, and what releasing a value as it loses;
    `levels` and `losses` tell the latter by tables, where there are such: what stands above each rank on each level,
    and what each label loses, or for numbers, which have no levels, both ends of each rank's band. Widths and scores of
    cuts count by `importance`.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("clerk", "office", "*"), ("surgeon", "medic", "*")])
    >>> by_branch = nominal("job", ("surgeon", "clerk", "nurse"), jobs)
    >>> by_branch.rank.tolist(), by_branch.name_of(np.array([0]), np.array([1]))
    ([1, 2, 0], ['medic'])
    """

    name: str
    rank: Ints
    width: NDArray[np.float64]
    joint: NDArray[np.int64]
    labels: Callable[[NDArray[Any], NDArray[Any]], list[Value]]
    cost: Callable[[NDArray[Any], NDArray[Any]], NDArray[np.float64]]
    importance: float = 1.0
    levels: NDArray[np.int32] | None = None
    losses: NDArray[np.float64] | None = None

    def name_of(self, low: NDArray[Any], high: NDArray[Any]) -> list[Value]:
        """What is released for groups that span the ranks from low to high."""
        return self.labels(low, high)

    @cached_property
    def _highest(self) -> list[NDArray[np.int64]]:
        """Highest joint of every run of 1, 2, 4, ... neighbours: a range maximum in two look-ups."""
        tables, step = [self.joint], 1
        while 2 * step <= len(self.joint):
            last = tables[-1]
            tables.append(np.maximum(last[:-step], last[step:]))
            step *= 2
        return tables

    def height_of(self, low: NDArray[Any], high: NDArray[Any]) -> NDArray[np.int64]:
        """How high the common ancestor of the ranks from low to high lies; 0 for a single rank and for numbers."""
        found = np.zeros(len(low), dtype=np.int64)
        span = np.asarray(high) - np.asarray(low)
        power = np.frexp(np.maximum(span, 1))[1] - 1
        for p in np.unique(power[span > 0]).tolist():
            mine = (span > 0) & (power == p)
            table = self._highest[p]
            found[mine] = np.maximum(table[low[mine]], table[high[mine] - (1 << p)])
        return found


def numeric(name: str, values: Sequence[Value], rows: Sequence[int] | NDArray[Any] | None = None) -> Dimension:
    """A dimension of numbers: released as bands with round ends, groups are cut only between these.

    A missing cell stands apart behind the numbers: alone it stays missing, together with numbers all are suppressed.

    >>> ages = numeric("age", (40, None, 31, 35))
    >>> ages.rank.tolist(), ages.name_of(np.array([0, 2, 3, 2]), np.array([1, 2, 3, 3]))
    ([2, 3, 0, 1], ['under 40', '40 or more', None, '*'])
    """
    numbers = []
    for value in values:
        try:
            numbers.append(np.inf if value is None else float(value))  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise BadInput(
                f"column {name!r} holds values that are not numbers; give it a hierarchy, or fill them in first"
            ) from None
    at = np.array(numbers)
    there = np.array([value is not None for value in values], dtype=np.bool_)
    if np.isnan(at).any() or not np.isfinite(at[there]).all():
        raise BadInput(f"column {name!r} holds a number that is not finite")
    known = at[there]
    bands = next(iter(round_bands(known, None if rows is None else np.asarray(rows)[there])), None)
    place = np.zeros(len(known), np.int64) if bands is None else bands.place(known)
    # nobody may be in a band that lies between others; a missing cell comes behind the last
    occupied, rank_of_known = np.unique(place, return_inverse=True)
    rank = np.full(len(at), len(occupied), dtype=np.int32)
    rank[there] = rank_of_known
    ranks = len(occupied) + (not there.all())
    alone = spelled(float(known[0])) if len(set(known.tolist())) == 1 else SUPPRESSED

    def labels(low: NDArray[Any], high: NDArray[Any]) -> list[Value]:
        found: list[Value] = []
        for a, b in zip(low.tolist(), high.tolist(), strict=True):
            if b == len(occupied):
                found.append(None if a == b else SUPPRESSED)
            else:
                found.append(alone if bands is None else bands.label(int(occupied[a]), int(occupied[b])))
        return found

    edges, least, spread = _scale(bands)
    lower = (np.concatenate(([least], edges))[occupied] - least) / spread
    upper = (np.concatenate((edges, [least + spread]))[occupied] - least) / spread
    if bands is not None and bands.whole:  # both ends belong to a range of whole numbers
        upper[:-1] = np.maximum(lower[:-1], upper[:-1] - 1 / spread)
    # missing cells lie twice as far away as numbers can be, so that groups are first divided into with and without
    middle = (lower + upper) / 2
    middle = (middle - middle[:1]) / (float(np.ptp(middle)) or 1.0) if len(middle) else middle
    width, upper = (np.concatenate((side, [2.0]))[:ranks] for side in (middle, upper))
    lower = np.concatenate((lower, [2.0]))[:ranks]
    flat = np.zeros(max(0, ranks - 1), np.int64)
    return Dimension(
        name,
        rank,
        width,
        flat,
        labels,
        lambda low, high: np.minimum(upper[high] - lower[low], 1.0),
        levels=np.empty((ranks, 0), np.int32),
        losses=np.stack((lower, upper), axis=1),
    )


def _scale(bands: Bands | None) -> tuple[NDArray[np.float64], float, float]:
    """Edges of bands, where the scale begins, and how long it is: an outer band counts as wide as its neighbour.

    How far the numbers in it lie beyond the last edge has no say in which column is the widest, and so in what is
    released: tables that differ in nothing but how extreme somebody is are divided alike.
    """
    edges = np.array(() if bands is None else bands.edges)
    if len(edges) < 2:
        return edges, float(edges[0]) - 1 if len(edges) else 0.0, 2.0 if len(edges) else 1.0
    first, last = float(edges[1] - edges[0]), float(edges[-1] - edges[-2])
    return edges, float(edges[0]) - first, float(edges[-1] - edges[0]) + first + last


def nominal(
    name: str, values: Sequence[Value], hierarchy: Hierarchy, losses: Sequence[NDArray[Any]] | None = None
) -> Dimension:
    """A dimension of words ordered by the hierarchy's branches: released as the least common ancestor of the group.

    `losses[level][code]` is what releasing a value as that ancestor loses; the share of leaves it covers by default.
    """
    leaf = hierarchy.lookup(values)
    above = hierarchy.codes[leaf]
    order = np.lexsort((*above.T[:1], *above.T[1:]))  # by the top level first, then downwards
    rank = np.empty(len(values), dtype=np.int32)
    rank[order] = np.arange(len(values), dtype=np.int32)
    sorted_above = above[order]
    same = sorted_above[1:] == sorted_above[:-1]
    joint = np.argmax(same, axis=1) if len(same) else np.empty(0, np.int64)
    label, height = hierarchy.labels, hierarchy.height
    # Neighbours lie as far apart as their least common ancestor is wide.
    apart = [float(hierarchy.leaf_counts[j][a[j]]) for j, a in zip(joint.tolist(), sorted_above, strict=False)]
    wide = np.concatenate(([0.0], np.cumsum(apart)))

    if losses is None:
        losses = [(counts - 1) / max(1, len(hierarchy.leaves) - 1) for counts in hierarchy.leaf_counts]
    begin = np.cumsum([0, *(len(level) for level in losses)])
    loss = np.concatenate([np.asarray(level, dtype=np.float64) for level in losses])

    def ancestor(low: NDArray[Any], high: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        level = np.zeros(len(low), dtype=np.int64)
        for step in range(height):
            level[(level == step) & (sorted_above[low, step] != sorted_above[high, step])] += 1
        return level, sorted_above[low, level]

    def labels(low: NDArray[Any], high: NDArray[Any]) -> list[Value]:
        level, code = ancestor(low, high)
        return [label[lv][c] for lv, c in zip(level.tolist(), code.tolist(), strict=True)]

    def looked_up(low: NDArray[Any], high: NDArray[Any]) -> NDArray[np.float64]:
        level, code = ancestor(low, high)
        found: NDArray[np.float64] = loss[begin[level] + code]
        return found

    every: list[NDArray[np.float64]] = []

    def cost(low: NDArray[Any], high: NDArray[Any]) -> NDArray[np.float64]:
        if len(values) > _FEW or len(low) < len(values):
            return looked_up(low, high)
        if not every:  # all spans of few values, once
            first, last = (side.ravel() for side in np.indices((len(values), len(values))))
            every.append(looked_up(first, last))
        found: NDArray[np.float64] = every[0][low * len(values) + high]
        return found

    return Dimension(
        name,
        rank,
        wide / (wide[-1] or 1.0),
        joint.astype(np.int64),
        labels,
        cost,
        levels=sorted_above.astype(np.int32),
        losses=np.stack([loss[begin[level] + sorted_above[:, level]] for level in range(height + 1)], axis=1),
    )


def semantic(name: str, values: Sequence[Value], taxonomy: Taxonomy, concepts: Sequence[Concept]) -> Dimension:
    """A dimension of words ordered along a taxonomy: released as the least common subsumer's label.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet"), ("pet", "animal"), ("wolf", "animal")])
    >>> kinds = semantic("kind", ("wolf", "cat", "dog"), pets, ("wolf", "cat", "dog"))
    >>> kinds.name_of(np.array([0]), np.array([1])) in (['pet'], ['animal'])
    True
    """
    codes = [taxonomy.code(c) for c in concepts]
    paths = []
    for code in codes:  # one path from the root: over the most specific parent at each step
        path = [code]
        while len(taxonomy.parents[path[-1]]):
            path.append(max(taxonomy.parents[path[-1]].tolist(), key=lambda c: int(taxonomy.specificity[c])))
        paths.append(path[::-1])
    order = sorted(range(len(values)), key=lambda i: (paths[i], i))
    rank = np.empty(len(values), dtype=np.int32)
    rank[order] = np.arange(len(values), dtype=np.int32)
    ordered = [codes[i] for i in order]
    shared = [taxonomy.lcs(a, b) for a, b in pairwise(ordered)]
    # Deep joints are close relatives: the deeper the common subsumer, the lower the joint.
    joint = np.array([taxonomy.max_depth - int(taxonomy.depth[c]) for c in shared], dtype=np.int64)
    wide = np.concatenate(([0.0], np.cumsum(joint + 1.0)))
    known: dict[tuple[int, ...], Value] = {}

    def labels(low: NDArray[Any], high: NDArray[Any]) -> list[Value]:
        found = []
        for a, b in zip(low.tolist(), high.tolist(), strict=True):
            span = tuple(sorted(set(ordered[a : b + 1])))
            if span not in known:
                known[span] = values[order[a]] if len(span) == 1 and a == b else taxonomy.label(taxonomy.lcs(*span))
            found.append(known[span])
        return found

    scale = wide / (wide[-1] or 1.0)
    return Dimension(name, rank, scale, joint, labels, lambda low, high: scale[high] - scale[low])


def dimensions(
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy],
    numbers: Sequence[str] = (),
    taxonomies: Mapping[str, tuple[Taxonomy, Sequence[Concept]]] | None = None,
    losses: Mapping[str, Sequence[NDArray[Any]]] | None = None,
    importance: Importance | None = None,
) -> list[Dimension]:
    """A dimension for every column: by its numbers, its hierarchy or its taxonomy, in this order of preference.

    >>> counts = Counts.of({"age": [31, 40]})
    >>> [d.name for d in dimensions(counts, {}, numbers=["age"])]
    ['age']
    """
    if not counts.names:
        raise BadInput("no quasi-identifier is given; name the columns by which people could be recognized")
    found = []
    for name, values in zip(counts.names, counts.values, strict=True):
        if name in numbers:
            found.append(numeric(name, values, counts.marginal(name)))
        elif name in hierarchies:
            found.append(nominal(name, values, hierarchies[name], (losses or {}).get(name)))
        elif taxonomies and name in taxonomies:
            found.append(semantic(name, values, *taxonomies[name]))
        elif all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
            found.append(numeric(name, values, counts.marginal(name)))
        else:
            raise BadInput(f"quasi-identifier {name!r} has no hierarchy and holds no numbers; give it a hierarchy")
    weights = importances(counts.names, importance).tolist()
    return [replace(dimension, importance=weight) for dimension, weight in zip(found, weights, strict=True)]


# Cuts: the view of one dimension on all groups, and scores of its places

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Cutting:
    """One dimension's view of a round: the tuples sorted by group and rank, and every cut right of one of them.

    `left` and `total` are the records left of the cut and in the whole group; `low` and `high` the group's span;
    `ranks` tells each tuple's place in every dimension.

    >>> from keepsense.counts import Counts
    >>> from keepsense.methods.generalize.multidimensional_template import divide
    >>> from keepsense.methods.generalize.dimension import numeric
    >>> from keepsense.privacy.k_anonymity import KAnonymity
    >>> counts, rounds = Counts.of({"age": [31, 35, 40, 40]}), []
    >>> def last(cutting):
    ...     rounds.append(cutting)
    ...     return cutting.left.astype(float)
    >>> _ = divide(counts, [numeric("age", counts.values[0])], [KAnonymity(2)], score=last)
    >>> rounds[0].left.tolist(), rounds[0].total.tolist()
    ([1, 2, 4], [4, 4, 4])
    """

    dimension: Dimension
    tuples: Longs
    group: Longs
    start: Longs
    rank: Longs
    left: Longs
    total: Longs
    low: Longs
    high: Longs
    ranks: Longs

    def sums(self, numbers: NDArray[Any]) -> tuple[Floats, Floats]:
        """Sums of some numbers a tuple (rows of `numbers`): left of each cut, and in its whole group."""
        run = np.cumsum(numbers[self.tuples], axis=0, dtype=np.float64)
        before = np.concatenate((np.zeros((1, *run.shape[1:])), run))
        ends = np.append(self.start[1:], len(self.tuples))
        return run - before[self.start][self.group], (before[ends] - before[self.start])[self.group]


Score = Callable[[Cutting], Floats]
"""How good each cut is, the higher the better."""

Settle = Callable[[Longs, Longs, Longs, int, Callable[[Longs], Flags]], None]
"""What betters groups once none can be cut: from ranks, weights, the group of each tuple (changed in place), the least
number of records, and what tells of each group whether it keeps the promise."""


def median(cutting: Cutting) -> Floats:
    """As close to half of the group's records on each side as whole values allow.

    >>> from keepsense.counts import Counts
    >>> from keepsense.methods.generalize.multidimensional_template import divide
    >>> from keepsense.methods.generalize.dimension import numeric
    >>> from keepsense.privacy.k_anonymity import KAnonymity
    >>> counts = Counts.of({"age": [31, 33, 36, 40, 40, 40]})
    >>> ages = numeric("age", counts.values[0], counts.weights)
    >>> sorted(divide(counts, [ages], [KAnonymity(2)], score=median).values[0])
    ['40', 'under 40']
    """
    found: Floats = -np.abs(2.0 * cutting.left - cutting.total)
    return found
