"""Candidates of a column judged from four sides at once (Ayala-Rivera et al., AIKA, Sec. 3.3).

- *semantic quality*: the loss of meaning, GSL;
- *privacy vulnerability*: the semantic variance of the hierarchy's own tree, the mean squared distance of its nodes to
  the root. The distance is that of Rodríguez-García 2017, Eq. 4.10: a node with d nodes on its path from the root
  (both counted) is log2(1 + (d - 1) / d) away. Detailed hierarchies give more away to an attacker;
- *minimal distortion* for a k: the lowest level whose labels all hold at least k rows, over the height;
- *mean interval size*: children of the inner nodes on average, before padding.

Lower is better in each. Candidates are ranked in each aspect, ranks become rewards (the best of n earns n, equals share
theirs), and the weighted sum of rewards is E(V), Eq. 1; the candidate with the highest is the best, Eq. 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.errors import BadHierarchy, BadInput, Infeasible
from keepsense.hierarchies.core import Hierarchy
from keepsense.hierarchies.scoring import Aggregate, Weights, check_weights, scores
from keepsense.hierarchies.tree import Tree, tree_of
from keepsense.hierarchies.words.adjust import row_counts
from keepsense.hierarchies.words.concepts import Unknowns
from keepsense.semantics.base import Distance

Aspect = Literal["semantic quality", "privacy vulnerability", "minimal distortion", "interval size"]
ASPECTS: tuple[Aspect, ...] = ("semantic quality", "privacy vulnerability", "minimal distortion", "interval size")


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Scores and rewards of candidates (candidates x four aspects) and what the weights make of them.

    >>> import numpy as np
    >>> table = Evaluation(np.array([[0.1, 0.2, 0.5, 2.0], [0.2, 0.1, 0.5, 3.0]]), np.full(4, 0.25))
    >>> table.rewards.tolist(), table.values.tolist(), table.best
    ([[2.0, 1.0, 1.5, 2.0], [1.0, 2.0, 1.5, 1.0]], [1.625, 1.375], 0)
    """

    scores: Floats
    weights: Floats

    @property
    def rewards(self) -> Floats:
        """Rank of each candidate in each aspect as a reward: n for the best of n, equals share."""
        return np.stack([reward(self.scores[:, i]) for i in range(self.scores.shape[1])], axis=1)

    @property
    def values(self) -> Floats:
        """E(V) of each candidate (Eq. 1)."""
        found: Floats = self.rewards @ self.weights
        return found

    @property
    def best(self) -> int:
        """Position of the candidate with the highest E(V) (Eq. 2), the first of equals."""
        return int(np.argmax(np.round(self.values, 9)))

    @property
    def ranking(self) -> NDArray[np.int64]:
        """Positions of the candidates from best to worst."""
        return np.argsort(-np.round(self.values, 9), kind="stable")

    def weighted(self, weights: Sequence[float]) -> Evaluation:
        """The same scores under other weights."""
        return Evaluation(self.scores, aspect_weights(weights))


def evaluate(
    hierarchies: Sequence[Hierarchy],
    distance: Distance | None,
    counts: Sequence[int] | NDArray[np.int64],
    k: int,
    *,
    weights: Sequence[float] = (0.25, 0.25, 0.25, 0.25),
    aggregate: Aggregate = "average",
    level_weights: Weights = "uniform",
    unknown: Unknowns = "refuse",
) -> Evaluation:
    """Judge the candidates of a column; `counts` are the rows of each leaf, in the order of the leaves.

    Candidates must have their leaves in one order, as those of `candidates` do. Weights go to semantic quality, privacy
    vulnerability, minimal distortion and interval size, are not negative and sum to 1.

    >>> from keepsense.hierarchies.kinds.numeric import equal_width
    >>> wide, narrow = equal_width(range(8), groups=2), equal_width(range(8), groups=4)
    >>> evaluate([wide, narrow], None, [1] * 8, k=2).scores.round(3).tolist()
    [[0.777, 0.457, 0.5, 3.333], [0.56, 0.538, 0.333, 2.0]]
    """
    own = aspect_weights(weights)
    if not hierarchies:
        raise BadInput("there are no candidates to evaluate")
    leaves = hierarchies[0].leaves
    if any(h.leaves != leaves for h in hierarchies):
        raise BadInput(f"{hierarchies[0].name}: candidates must have the same leaves in the same order")
    quality = scores(hierarchies, distance, aggregate=aggregate, weights=level_weights, unknown=unknown)
    trees = [tree_of(h) for h in hierarchies]
    table = np.stack(
        [
            quality,
            [privacy_vulnerability(tree) for tree in trees],
            [minimal_distortion(h, counts, k) for h in hierarchies],
            [interval_size(tree) for tree in trees],
        ],
        axis=1,
    )
    return Evaluation(table, own)


def privacy_vulnerability(hierarchy: Hierarchy | Tree) -> float:
    """Semantic variance of a hierarchy's own tree: mean squared distance of its nodes to the root.

    >>> round(privacy_vulnerability(Hierarchy.of_rows([("nurse", "*"), ("clerk", "*")])), 4)
    0.2281
    """
    tree = hierarchy if isinstance(hierarchy, Tree) else tree_of(hierarchy)
    nodes = tree.depth + 1.0
    return float(np.mean(np.log2(1 + (nodes - 1) / nodes) ** 2))


def minimal_distortion(hierarchy: Hierarchy, counts: Sequence[int] | NDArray[np.int64], k: int) -> float:
    """Lowest level whose labels all hold at least k rows, or none, over the height.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")])
    >>> minimal_distortion(jobs, [3, 1, 5], k=4), minimal_distortion(jobs, [3, 1, 5], k=6)
    (0.5, 1.0)
    """
    weights = row_counts(hierarchy, counts)
    if hierarchy.height < 1:
        raise BadHierarchy(f"{hierarchy.name}: the hierarchy has no level above its leaves")
    if k < 1:
        raise BadInput(f"{hierarchy.name}: k must be at least 1, not {k}")
    for level in range(hierarchy.height + 1):
        rows = np.bincount(hierarchy.codes[:, level], weights, len(hierarchy.labels[level]))
        if ((rows == 0) | (rows >= k)).all():
            return level / hierarchy.height
    raise Infeasible(
        f"{hierarchy.name}: not even the top gives every label {k:,} rows; the column has {int(weights.sum()):,}",
        relax=(f"choose a k of at most {int(weights.sum()):,}", "put several roots under one"),
    )


def interval_size(hierarchy: Hierarchy | Tree) -> float:
    """Children of the inner nodes on average, padding left out.

    >>> interval_size(Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "clerk", "*")]))
    2.0
    """
    tree = hierarchy if isinstance(hierarchy, Tree) else tree_of(hierarchy)
    return float(tree.child_counts().mean()) if len(tree) > tree.n_leaves else 0.0


def reward(values: Floats) -> Floats:
    """Ranks in descending order as rewards: the lowest of n values earns n; equal values share the mean of theirs.

    >>> import numpy as np
    >>> reward(np.array([0.3, 0.1, 0.3])).tolist()
    [1.5, 3.0, 1.5]
    """
    from scipy.stats import rankdata

    found: Floats = rankdata(-np.round(np.asarray(values, dtype=np.float64), 12), method="average")
    return found


def aspect_weights(weights: Sequence[float]) -> Floats:
    """Weights of the four aspects, checked."""
    own = np.asarray(weights, dtype=np.float64)
    if own.shape != (len(ASPECTS),):
        raise BadInput(f"{own.size} weights were given; there are four aspects: {', '.join(ASPECTS)}")
    return check_weights(own)


def weight_sets(step: float = 0.25) -> list[tuple[float, float, float, float]]:
    """Every way to share a whole among the four aspects in steps: 35 sets for steps of a quarter, as in the paper.

    >>> sets = weight_sets()
    >>> len(sets), sets[0], (0.75, 0.25, 0.0, 0.0) in sets
    (35, (1.0, 0.0, 0.0, 0.0), True)
    """
    parts = round(1 / step) if step > 0 else 0
    if parts < 1 or abs(parts * step - 1) > 1e-9:
        raise BadInput(f"the step between weights must divide 1, not {step!r}")
    found = []
    for a in range(parts, -1, -1):
        for b in range(parts - a, -1, -1):
            for c in range(parts - a - b, -1, -1):
                d = parts - a - b - c
                found.append((a / parts, b / parts, c / parts, d / parts))
    return found


def sweep(evaluation: Evaluation, step: float = 0.25) -> dict[tuple[float, float, float, float], int]:
    """Best candidate under every set of weights.

    >>> import numpy as np
    >>> table = Evaluation(np.array([[0.1, 0.2, 0.5, 2.0], [0.2, 0.1, 0.5, 3.0]]), np.full(4, 0.25))
    >>> wins = sweep(table)
    >>> len(wins), wins[(0.0, 1.0, 0.0, 0.0)]
    (35, 1)
    """
    rewards = evaluation.rewards
    return {w: int(np.argmax(np.round(rewards @ np.array(w), 9))) for w in weight_sets(step)}
