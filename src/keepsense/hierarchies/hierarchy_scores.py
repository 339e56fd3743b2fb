"""GSL and AIKA's four aspects.

Generalization semantic loss (GSL) says how much meaning a hierarchy loses, before anything is anonymized (Ayala-Rivera
et al. 2017, Sec. 3.4). A transition from a leaf to one of its ancestors loses their distance (TransGSL, Eq. 1); a level
loses the average or the maximum over its leaves (LevelGSL, Eq. 2 and 3); a hierarchy the weighted sum of its levels 1
to h (VghGSL, Eq. 4 and 5); a set of hierarchies the mean over its columns (VghSetGSL, Eq. 6). Less is better.

Choices where the paper is silent: leaves have equal weight, whatever their rows; a leaf that repeats at the bottom
loses nothing there; an ancestor without a concept is taken for the least common subsumer of its leaves; a leaf without
a concept is refused or left out. A distance is divided by its own maximum, so that every score lies between 0 and 1.

Numeric, date and ordered hierarchies are scored on the same scale, as the paper's future work asks: a leaf loses the
width of its interval over the width of the whole column, a masked string the share of the other values it could be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints
from keepsense.errors import BadHierarchy, BadInput, Infeasible
from keepsense.hierarchies.aika_adjustments import row_counts
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.hierarchies.group_widths import interval_losses
from keepsense.hierarchies.hierarchy import Hierarchy, MissingValues
from keepsense.hierarchies.hierarchy_tree import Tree, tree_of
from keepsense.hierarchies.word_concepts import Ancestry, Unknowns
from keepsense.semantics.distance import Distance

Aggregate = Literal["average", "maximum"] | Callable[[Floats], float]
Weights = Literal["uniform", "level"] | Sequence[float]
Grade = Literal["good", "moderate", "poor"]

GRADES: tuple[tuple[Grade, float], ...] = (("good", 0.20), ("moderate", 0.42), ("poor", float("inf")))
"""Verbal grades and the scores they reach to.

The paper prints scores of its best, medium and worst sets of hierarchies (Sec. 6.1: 0.0491, 0.2027, 0.4397 and 0.1810,
0.3583, 0.6856). The bounds lie midway between the means of best and medium (0.20) and of medium and worst (0.42).
"""


@dataclass(frozen=True, eq=False)
class Gsl:
    """Scores of one hierarchy: each transition (leaves x levels 1..h), each level, and the whole.

    >>> import numpy as np
    >>> Gsl("job", np.array([[0.1], [0.3]]), np.array([0.2]), 0.2, 0).grade
    'good'
    """

    name: str
    transitions: Floats
    levels: Floats
    total: float
    left_out: int = 0

    @property
    def grade(self) -> Grade:
        """The total in a word."""
        return grade(self.total)


def grade(total: float) -> Grade:
    """A score in a word: good up to 0.20, moderate up to 0.42, poor above.

    >>> grade(0.05), grade(0.3), grade(0.5)
    ('good', 'moderate', 'poor')
    """
    return next(word for word, bound in GRADES if total <= bound)


class HowToScore(TypedDict, total=False):
    """How losses become a score: `aggregate` over the leaves of a level, `weights` of the levels, `unknown` leaves."""

    aggregate: Aggregate
    weights: Weights
    unknown: Unknowns


def score(hierarchy: Hierarchy, distance: Distance | None = None, **how: Unpack[HowToScore]) -> Gsl:
    """Score one hierarchy. Nominal ones need a distance, the other kinds none.

    `aggregate` is average (unless given), maximum or a function of losses; `weights` uniform, level or a list;
    `unknown` leaves are refused, or left out with "list".

    Costs one distance matrix of leaves x distinct ancestors; `scores` shares it among candidates.

    >>> from keepsense.hierarchies.word_concepts import base_hierarchy
    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "feline"), ("feline", "animal"), ("dog", "animal")])
    >>> wu_palmer = distance("wu-palmer", pets)
    >>> result = score(base_hierarchy(["cat", "dog"], pets), wu_palmer)
    >>> result.levels.round(4).tolist(), round(result.total, 4), result.grade
    ([0.1, 0.4167], 0.2583, 'moderate')
    """
    return score_all([hierarchy], distance, **how)[0]


def scores(hierarchies: Sequence[Hierarchy], distance: Distance | None = None, **how: Unpack[HowToScore]) -> Floats:
    """Total scores of many candidates of a column, with one distance matrix for all.

    >>> from keepsense.hierarchies.kinds.numeric_kind import equal_width
    >>> scores([equal_width(range(8), groups=4), equal_width(range(8), groups=2)]).round(4).tolist()
    [0.5595, 0.7768]
    """
    return np.array([result.total for result in score_all(hierarchies, distance, **how)])


def score_all(
    hierarchies: Sequence[Hierarchy], distance: Distance | None = None, **how: Unpack[HowToScore]
) -> list[Gsl]:
    """Scores of many hierarchies in full (see `score`)."""
    aggregate, weights = how.get("aggregate", "average"), how.get("weights", "uniform")
    for hierarchy in hierarchies:
        if hierarchy.height < 1:
            raise BadHierarchy(f"{hierarchy.name}: the hierarchy has no level above its leaves, so nothing to score")
    nominal = [h for h in hierarchies if KINDS[h.kind].words]
    losses = _semantic(nominal, distance, how.get("unknown", "refuse"))
    results = []
    for hierarchy in hierarchies:
        if KINDS[hierarchy.kind].words:
            table, left_out = next(losses)
        else:
            table, left_out = interval_losses(hierarchy), 0
        levels = np.array([_aggregated(table[:, i], aggregate) for i in range(table.shape[1])])
        total = float(level_weights(hierarchy.height, weights) @ levels)
        results.append(Gsl(hierarchy.name, table, levels, total, left_out))
    return results


def set_score(totals: Mapping[str, float], preferences: Mapping[str, float] | None = None) -> float:
    """Score of the hierarchies of several columns together (VghSetGSL, Eq. 6).

    Preferences say how much each column matters. They must not be negative, and are rescaled to a mean of 1, since Eq.
    6 divides by the number of columns; so only their proportions count, and a set scores between 0 and 1.

    >>> set_score({"job": 0.2, "place": 0.4}), round(set_score({"job": 0.2, "place": 0.4}, {"job": 3, "place": 1}), 4)
    (0.30000000000000004, 0.25)
    """
    if not totals:
        raise BadInput("a set of hierarchies needs at least one column")
    wanted = dict.fromkeys(totals, 1.0) if preferences is None else dict(preferences)
    if set(wanted) != set(totals):
        raise BadInput(f"preferences name {', '.join(wanted)}; the columns are {', '.join(totals)}; name each once")
    values = np.array([wanted[name] for name in totals], dtype=np.float64)
    if not np.isfinite(values).all() or (values < 0).any() or values.sum() <= 0:
        raise BadInput("preferences must be numbers of at least 0, not all 0")
    values = values / values.mean()
    return float(values @ np.array(list(totals.values())) / len(totals))


def level_weights(height: int, weights: Weights = "uniform") -> Floats:
    """Weights of levels 1 to h: `uniform` (Eq. 5a), `level` (Eq. 5b: lower levels count more), or one's own.

    >>> level_weights(3, "level").round(4).tolist()
    [0.5, 0.3333, 0.1667]
    """
    if isinstance(weights, str):
        if weights == "uniform":
            return np.full(height, 1.0 / height)
        if weights == "level":
            return np.arange(height, 0, -1) / (height * (height + 1) / 2)
        raise BadInput(f"no weighting scheme {weights!r}; there are uniform and level, or a list of weights")
    own = np.asarray(weights, dtype=np.float64)
    if own.shape != (height,):
        raise BadInput(f"{len(own)} weights were given for {height} levels; give one for each level from 1 up")
    return check_weights(own)


def check_weights(weights: Floats) -> Floats:
    """Refuse weights below 0 or that do not sum to 1.

    >>> import numpy as np
    >>> check_weights(np.array([0.25, 0.75])).tolist()
    [0.25, 0.75]
    """
    if not np.isfinite(weights).all() or (weights < 0).any() or abs(weights.sum() - 1) > 1e-9:
        raise BadInput(f"weights must be numbers of at least 0 that sum to 1; these sum to {weights.sum():g}")
    return weights


def ancestors(hierarchy: Hierarchy, ancestry: Ancestry) -> list[Ints]:
    """Concepts of every label, level by level; where one is not known, the least common subsumer of its leaves.

    >>> from keepsense.hierarchies.word_concepts import with_concepts
    >>> from keepsense.taxonomy.embedded_taxonomies import wordnet
    >>> jobs = with_concepts(Hierarchy.of_rows([("nurse", "*"), ("pilot", "*")]), wordnet())
    >>> wordnet().labels(ancestors(jobs, Ancestry(wordnet()))[1])
    ['person']
    """
    leaves = hierarchy.concept_codes(0)[hierarchy.codes[:, 0]]
    found = [hierarchy.concept_codes(0)]
    for level in range(1, hierarchy.height + 1):
        known = hierarchy.concept_codes(level)
        if (known < 0).any():
            known = known.copy()
            for code in np.flatnonzero(known < 0).tolist():
                below = leaves[hierarchy.codes[:, level] == code]
                known[code] = ancestry.lcs(below[below >= 0].tolist())
        found.append(known)
    return found


def _aggregated(losses: Floats, aggregate: Aggregate) -> float:
    if callable(aggregate):
        return float(aggregate(losses))
    if aggregate == "average":
        return float(losses.mean())
    if aggregate == "maximum":
        return float(losses.max())
    raise BadInput(f"no aggregation {aggregate!r}; there are average and maximum, or any function of the losses")


def _semantic(
    hierarchies: Sequence[Hierarchy], distance: Distance | None, unknown: Unknowns
) -> Iterator[tuple[Floats, int]]:
    """Transition losses of nominal hierarchies: one matrix of all their leaf concepts x all their ancestor concepts."""
    if not hierarchies:
        return iter(())
    if distance is None:
        raise BadInput(f"{hierarchies[0].name}: a nominal hierarchy is scored with a distance; give one")
    ancestry = Ancestry(distance.taxonomy)
    levels = [ancestors(h, ancestry) for h in hierarchies]
    for hierarchy, found in zip(hierarchies, levels, strict=True):
        missing = [v for v, c in zip(hierarchy.leaves, found[0].tolist(), strict=True) if c < 0]
        if len(missing) == len(hierarchy.leaves) or (missing and unknown == "refuse"):
            raise MissingValues(
                f"{hierarchy.name}: {len(missing):,} of {len(hierarchy.leaves):,} leaves have no concept; fill them in "
                'with `with_concepts`, or leave them out with unknown="list"',
                missing,
            )
    rows = np.unique(np.concatenate([found[0] for found in levels]))
    columns = np.unique(np.concatenate([c for found in levels for c in found[1:]]))
    rows, columns = rows[rows >= 0], columns[columns >= 0]
    matrix = distance.normalised().matrix(rows, columns)
    tables = []
    for hierarchy, found in zip(hierarchies, levels, strict=True):
        known = found[0][hierarchy.codes[:, 0]] >= 0
        at = np.searchsorted(rows, found[0][hierarchy.codes[known, 0]])
        table = np.empty((int(known.sum()), hierarchy.height))
        for level in range(1, hierarchy.height + 1):
            to = np.searchsorted(columns, found[level])
            table[:, level - 1] = matrix[at, to[hierarchy.codes[known, level]]]
        tables.append((table, int((~known).sum())))
    return iter(tables)


# AIKA's four aspects of a candidate (Ayala-Rivera et al., AIKA, Sec. 3.3); lower is better in each
#
# - *semantic quality*: GSL;
# - *privacy vulnerability*: mean squared distance of the tree's nodes to the root (Rodríguez-García 2017, Eq. 4.10);
# - *minimal distortion* for a k: the lowest level whose labels all hold at least k rows, over the height;
# - *mean interval size*: children of the inner nodes on average, before padding.
#
# Ranks become rewards (the best of n gets n), and their weighted sum is E(V), Eq. 1; the highest wins, Eq. 2.

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

    >>> from keepsense.hierarchies.kinds.numeric_kind import equal_width
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
