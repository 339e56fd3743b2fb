"""What a search minimizes: loss tables by column, level and value, or functions of the class sizes.

A table metric gives each original value, at each level, what releasing it there loses, and what suppressing it loses.
Its loss over a table is a sum over cells, so that the loss of a node without suppression needs no class table at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from keepsense.errors import BadInput, did_you_mean
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.lattice_space import (
    CLASS_SIZE,
    DISCERNIBILITY,
    GEOMETRIC,
    SQUARES,
    SUM,
    Losses,
    Space,
    condense,
    leaf_shares,
)
from keepsense.semantics.distance import Distance
from keepsense.utility.generalization_losses import level_losses
from keepsense.utility.value_distances import leaf_distances

Floats = NDArray[np.float64]
Combine = Literal["mean", "geometric", "sum", "squares"]

_BY_LEVEL = ("precision", "ncp", "geniloss", "non-uniform entropy")

METRICS = ("loss", "geometric loss", *_BY_LEVEL, "height", "discernibility", "average class size")
"""Names of the metrics that can be a search's objective; `LossTables` are the way to any other that adds up."""


@dataclass(frozen=True, eq=False)
class LossTables:
    """A metric given by tables: `tables[column][level][leaf]` is what releasing a leaf at a level loses.

    Leaves are in the order of the column's hierarchy. `suppressed[column]` is what suppressing a value loses: one
    number, or one for each leaf. `combine` says how cells add up: the `mean` over records and columns, the `geometric`
    mean over columns of each column's mean (of 1 + loss, less 1), the `sum` over all cells, or the sum over records of
    the squared mean over columns (`squares`, as in the semantic SSE). Where columns have an importance, their losses
    are multiplied by it first, and means over columns are divided by its sum.

    >>> tables = LossTables("share", {"sex": [[0, 0], [1, 1]]}, {"sex": 1.0})
    >>> tables.combine
    'mean'
    """

    name: str
    tables: Mapping[str, Sequence[ArrayLike]]
    suppressed: Mapping[str, ArrayLike]
    combine: Combine = "mean"

    def __post_init__(self) -> None:
        if self.combine not in ("mean", "geometric", "sum", "squares"):
            raise BadInput(f"{self.name}: combine must be mean, geometric, sum or squares, not {self.combine!r}")
        object.__setattr__(self, "tables", MappingProxyType(dict(self.tables)))
        object.__setattr__(self, "suppressed", MappingProxyType(dict(self.suppressed)))


@dataclass(frozen=True, eq=False)
class Objective:
    """A metric prepared for one table.

    `losses` are the tables in the form of the compiled loops; `column[j, l]` is the loss of all records in column j at
    level l and `least[j, l]` the least it can be if some are suppressed; `scale` turns sums into the metric's unit.
    `monotone` says that losses grow with the level, up to the suppressed loss. `moments` serve squared metrics.
    """

    name: str
    kind: int
    scale: float
    losses: Any
    column: Floats
    least: Floats
    monotone: bool
    moments: Floats | None = field(default=None, repr=False)

    def base(self, node: NDArray[np.int64]) -> float:
        """The metric of a node if nothing is suppressed (of no meaning for class sizes)."""
        every = np.arange(len(node))
        if self.moments is not None:
            at = every * self.column.shape[1] + node
            return float(self.moments[np.ix_(at, at)].sum() * self.scale)
        column = self.column[every, node]
        if self.kind == GEOMETRIC:
            return float(np.expm1(np.log1p(column * self.scale).mean()))
        return float(column.sum() * self.scale)

    # ---- costs: the metric in a form that adds up over columns, a lower bound of it where it does not ---------------

    def price(self, node: NDArray[np.int64], penalty: Floats) -> float:
        """What suppression adds to the cost of a node, and at least to that of every node below it."""
        if self.kind != GEOMETRIC:
            return float(penalty.sum() * self.scale)
        before = self.column[np.arange(len(node)), node] * self.scale
        return float((np.log1p(before + penalty * self.scale) - np.log1p(before)).mean())

    def costs(self, heights: Sequence[int]) -> Floats:
        """Cost of each column at each level, growing with the level."""
        if self.moments is not None:
            column = np.diagonal(self.moments).reshape(self.column.shape) * self.scale
        elif self.kind == GEOMETRIC:
            column = np.log1p(self.least * self.scale) / len(heights)
        else:
            column = self.least * self.scale
        found = column.copy()
        for j, height in enumerate(heights):
            found[j, : height + 1] = np.minimum.accumulate(column[j, height::-1])[::-1]
        return found

    def from_cost(self, cost: float) -> float:
        """Value of the metric with a cost."""
        return float(np.expm1(cost)) if self.kind == GEOMETRIC else cost

    def least_value(self, k: int, total: int) -> float:
        """What no node can be below, whatever the table: class sizes are at least k."""
        if self.kind == DISCERNIBILITY:
            return float(k * total)
        return total / (total // k + 1) if self.kind == CLASS_SIZE else 0.0


Metric = str | LossTables
"""A metric: its name, or tables of one's own."""


def objective(metric: Metric, space: Space) -> Objective:
    """Prepare a metric for a table."""
    if isinstance(metric, LossTables):
        tables, worst = value_losses(metric, space)
        values = np.concatenate([table.ravel() for table in tables])
        return _prepared(metric.name, metric.combine, values, np.concatenate(worst), space)
    if metric not in METRICS:
        raise BadInput(f"no metric {metric!r}; there are: {', '.join(METRICS)}.{did_you_mean(metric, METRICS)}")
    if metric == "height":
        return _height(space)
    if metric in ("discernibility", "average class size"):
        base = objective("loss", space)
        kind = DISCERNIBILITY if metric == "discernibility" else CLASS_SIZE
        losses = base.losses._replace(kind=kind)
        return Objective(metric, kind, base.scale, losses, base.column, base.least, True)
    if metric in ("loss", "geometric loss"):
        combine: Combine = "mean" if metric == "loss" else "geometric"
        values = _loss(space) * np.repeat(space.importance, np.diff(space.codes_at))
        return _prepared(metric, combine, values, np.repeat(space.importance, np.diff(space.marginal_at)), space)
    tables, worst = value_losses(metric, space)
    return _prepared(metric, "mean", np.concatenate([t.ravel() for t in tables]), np.concatenate(worst), space)


def value_losses(metric: Metric, space: Space) -> tuple[list[Floats], list[Floats]]:
    """By column: the loss of each value of the table at each level, and the loss of suppressing it, by its importance.

    Only for metrics that add up over cells: tables, `loss`, `precision`, `ncp`, `geniloss`, `non-uniform entropy`.
    """
    if isinstance(metric, LossTables):
        return _weighed(*_tables(metric, space), space)
    if metric not in (*_BY_LEVEL, "loss"):
        known = ("loss", *_BY_LEVEL)
        raise BadInput(f"metric {metric!r} does not add up over cells; those that do: {', '.join(known)}")
    tables, worst = [], []
    for j, (hierarchy, raw) in enumerate(zip(space.hierarchies, space.raw, strict=True)):
        leaf = raw[:, 0]  # the code of a leaf at level 0 is its place among the leaves
        mine = space.marginal[space.marginal_at[j] : space.marginal_at[j + 1]]
        marginal = np.zeros(len(hierarchy.leaves), np.int64)
        marginal[leaf] = mine
        tables.append(level_losses(metric, hierarchy, marginal)[leaf])
        entropy = metric == "non-uniform entropy"
        worst.append(np.log2(space.total / np.maximum(mine, 1)) if entropy else np.ones(len(leaf)))
    return _weighed(tables, worst, space)


def _weighed(tables: list[Floats], worst: list[Floats], space: Space) -> tuple[list[Floats], list[Floats]]:
    """Losses times the importance of their columns."""
    importance = space.importance.tolist()
    return (
        [weight * table for weight, table in zip(importance, tables, strict=True)],
        [weight * lost for weight, lost in zip(importance, worst, strict=True)],
    )


def _prepared(name: str, combine: Combine, values: Floats, highest: Floats, space: Space) -> Objective:
    d = len(space.names)
    wide = space.levels.sizes.shape[1]
    at = space.codes_at[:-1, None] + np.arange(wide) * np.diff(space.marginal_at)[:, None]
    kind = {"geometric": GEOMETRIC, "squares": SQUARES}.get(combine, SUM)
    losses = Losses(kind, False, np.empty(len(values)), at, highest, space.marginal_at)
    sums = np.zeros((2, d, wide))
    leafwise, monotone = condense(values, space.codes, space.codes_at, space.marginal, kind == SQUARES, losses, sums)
    total, columns = space.total, float(space.importance.sum())
    scale = {"mean": 1 / (columns * total), "geometric": 1 / total, "sum": 1.0, "squares": 1 / columns**2}[combine]
    moments = _moments(values, space) if combine == "squares" else None
    return Objective(name, kind, scale, losses._replace(leafwise=leafwise), sums[0], sums[1], monotone, moments)


def _tables(metric: LossTables, space: Space) -> tuple[list[Floats], list[Floats]]:
    tables, worst = [], []
    for name, hierarchy, raw in zip(space.names, space.hierarchies, space.raw, strict=True):
        given, width, size = metric.tables.get(name), hierarchy.height + 1, len(hierarchy.leaves)
        if given is None or name not in metric.suppressed:
            raise BadInput(f"metric {metric.name!r} has no table for column {name!r}; give its losses by level")
        if len(given) != width:
            raise BadInput(f"metric {metric.name!r}: column {name!r} has {width} levels, its table {len(given)}")
        try:
            leaves = np.column_stack([np.broadcast_to(np.asarray(level, np.float64), size) for level in given])
            out = np.broadcast_to(np.asarray(metric.suppressed[name], np.float64), size)
        except ValueError:
            raise BadInput(
                f"metric {metric.name!r}: each level of column {name!r} needs one number for each of {size} leaves"
            ) from None
        if not (np.isfinite(leaves).all() and np.isfinite(out).all()):
            raise BadInput(f"metric {metric.name!r}: the table of column {name!r} holds a number that is not finite")
        tables.append(leaves[raw[:, 0]])
        worst.append(out[raw[:, 0]])
    return tables, worst


def _height(space: Space) -> Objective:
    """Levels of the node added up: suppression costs nothing."""
    wide = space.levels.sizes.shape[1]
    flat = _prepared("height", "sum", np.zeros(len(space.codes)), np.zeros(len(space.marginal)), space)
    column = np.outer(space.importance, np.arange(wide, dtype=np.float64))
    return Objective("height", SUM, 1.0, flat.losses, column, column, True)


def _moments(values: Floats, space: Space) -> Floats:
    """Sum over records of the products of any two columns' losses at any two levels."""
    wide = space.levels.sizes.shape[1]
    spread = np.zeros((len(space.counts), len(space.names) * wide))
    for j, raw in enumerate(space.raw):
        table = values[space.codes_at[j] : space.codes_at[j + 1]].reshape(raw.shape)
        spread[:, j * wide : j * wide + raw.shape[1]] = table[space.counts.codes[:, j]]
    found: Floats = spread.T @ (spread * space.counts.weights[:, None])
    return found


def _loss(space: Space) -> Floats:
    """Leaves under the released value, less one, over the leaves of the hierarchy, less one, for all columns."""
    under = [count for hierarchy in space.hierarchies for count in hierarchy.leaf_counts]
    under_at = np.zeros(space.levels.sizes.shape, np.int64)
    at = 0
    for j, hierarchy in enumerate(space.hierarchies):
        for level, labels in enumerate(hierarchy.labels):
            under_at[j, level] = at
            at += len(labels)
    leaves = np.array([len(hierarchy.leaves) for hierarchy in space.hierarchies])
    return leaf_shares(np.concatenate(under), under_at, space.flat, space.codes_at, space.levels.heights, leaves)


# Semantic loss tables: the distance of a released value from the original


def semantic_tables(
    hierarchies: Mapping[str, Hierarchy], distances: Mapping[str, Distance], *, squared: bool = False
) -> LossTables:
    """The semantic loss (SemILoss) as a search objective, or with `squared` the semantic SSE.

    Ayala-Rivera et al. 2017, Eq. 11 and 12: the distance between original and released concept, averaged over records
    and columns; squared, the sum over records of the squared mean over columns. `distances` gives each column of words
    its distance, normalised by its maximum; a column without one (a number, say) is measured by its share of leaves. A
    suppressed value stands at the top of the hierarchy where that has a concept, else at the root of the taxonomy. A
    value in no taxonomy loses nothing by itself and everything among others
    (`keepsense.utility.value_distances.leaf_distances`).

    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet"), ("pet", "animal")])
    >>> kinds = {"pet": Hierarchy.of_rows([("cat", "pet"), ("dog", "pet")])}
    >>> [level.tolist() for level in semantic_tables(kinds, {"pet": distance("path", pets)}).tables["pet"]]
    [[0.0, 0.0], [0.25, 0.25]]
    """
    tables, suppressed = {}, {}
    for name, hierarchy in hierarchies.items():
        if name not in distances:
            tables[name] = list(level_losses("geniloss", hierarchy).T)
            suppressed[name] = np.ones(len(hierarchy.leaves))
            continue
        tables[name], suppressed[name] = leaf_distances(hierarchy, distances[name])
    return LossTables(
        "semantic SSE" if squared else "semantic loss", tables, suppressed, "squares" if squared else "mean"
    )
