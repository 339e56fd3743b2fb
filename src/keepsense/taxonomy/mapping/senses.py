"""Which of a word's senses a column means, judged by the company the word keeps there.

A strategy gets the candidate concepts of each distinct word, the likeliest first, and picks one of each:

- `context`, the default: by how often a sense is met, the other words, and the column's name, with a probability; a
  word of which no sense is likely enough stays in doubt (`keepsense.taxonomy.mapping.context`).
- `first`: the sense the source lists first. Needs no context; right for most words, wrong in the same way for all rows.
- `lesk`: the sense whose definition, and those of its neighbours, share most with the definitions of the other words
  (adapted Lesk; Banerjee and Pedersen 2002; step 1 of AIKA, Ayala-Rivera et al.).
- `joint`: the senses that together lie closest to one another in the taxonomy.

All are deterministic, and the order of the words does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints, Rows
from keepsense.errors import BadInput, did_you_mean
from keepsense.taxonomy.core import Taxonomy
from keepsense.taxonomy.graph import subsumer_rows
from keepsense.taxonomy.mapping.context import likeliest, probabilities
from keepsense.taxonomy.mapping.lesk import lesk

DistanceMatrix = Callable[[Ints, Ints], NDArray[Any]]
"""Distances between two lists of concept codes, as `Distance.matrix` of `keepsense.semantics` gives them."""

STRATEGIES = ("context", "first", "lesk", "joint")
DEFAULT = "context"
"""The strategy of projects, the library and the command line; under differential privacy each word stands alone."""
ALONE = "first"
"""The strategy that looks at nothing but the word, as differential privacy needs it."""
_SWEEPS = 50
_MEMORY = 256 << 20


def first_sense(candidates: Rows) -> Ints:
    """Position of the chosen candidate in each row: always the first.

    >>> first_sense(Rows.from_pairs([0, 0, 1], [4, 9, 2], 2)).tolist()
    [0, 0]
    """
    return np.zeros(len(candidates), dtype=np.int32)


def check_strategy(strategy: str) -> None:
    """Refuse a strategy that there is not.

    >>> check_strategy("context")
    """
    if strategy not in STRATEGIES:
        hint = did_you_mean(str(strategy), STRATEGIES)
        raise BadInput(f"senses: there is no strategy {strategy!r}; take one of {', '.join(STRATEGIES)}.{hint}")


def choose(
    strategy: str,
    taxonomy: Taxonomy,
    candidates: Rows,
    weights: NDArray[Any],
    distance: DistanceMatrix | None = None,
) -> Ints:
    """Position of the chosen candidate in each row, by the strategy of that name.

    >>> from keepsense.taxonomy import from_edges
    >>> choose("first", from_edges([("cat", "pet")]), Rows.from_pairs([0], [1], 1), np.ones(1)).tolist()
    [0]
    """
    check_strategy(strategy)
    if strategy == "context":
        return likeliest(candidates, probabilities(taxonomy, candidates))
    if strategy == "lesk":
        return lesk(taxonomy, candidates)
    if strategy == "joint":
        return joint(taxonomy, candidates, weights, distance)
    return first_sense(candidates)


def joint(taxonomy: Taxonomy, candidates: Rows, weights: NDArray[Any], distance: DistanceMatrix | None = None) -> Ints:
    """Position of the chosen candidate in each row, so that the column is semantically most coherent.

    Makes the sum over pairs of words of weight x weight x distance of their senses small, by iterated conditional modes
    (Besag 1986): word by word, take the sense closest to the senses all others have now, until none changes. That finds
    a local optimum, so it starts three times: from the first senses, from those closest on average to all candidates of
    the others, and from those closest to the nearest candidate of each other. The best end is taken; it is never worse
    than the first senses. Ties keep the likelier sense.

    `distance` gives distances between concept codes (`keepsense.semantics.distance(...).matrix`); without it they are
    Wu and Palmer's (1994) by depth, `1 - 2 depth(lcs) / (depth(a) + depth(b))`. One pass costs candidates x words.

    >>> from keepsense.taxonomy.embedded import wordnet
    >>> nouns = wordnet()
    >>> words = ["coach", "bicycle", "train"]
    >>> rows = Rows.from_pairs(*zip(*((i, c) for i, w in enumerate(words) for c in nouns.senses_of(w))), 3)
    >>> nouns.describe(int(rows[0][joint(nouns, rows, np.ones(3))[0]]))
    'bus (autobus, coach, charabanc, double-decker), a kind of public transport'
    """
    words = np.flatnonzero(candidates.sizes > 0)
    chosen = first_sense(candidates)
    if not len(words):
        return chosen
    # An order that does not depend on the caller's, so that ties and sweeps do not either.
    words = np.array(sorted(words.tolist(), key=lambda w: (candidates[w].tolist(), weights[w])), dtype=np.int64)
    concepts, place = np.unique(candidates.indices, return_inverse=True)
    senses: list[Places] = [place[candidates.starts[w] : candidates.starts[w + 1]] for w in words]
    weight = np.asarray(weights, dtype=np.float64)[words]
    weight = weight / weight.sum() if weight.sum() > 0 else np.full(len(words), 1.0 / len(words))
    columns = _columns(taxonomy, concepts, distance)
    ends = (_settle(start, senses, weight, columns) for start in _starts(senses, weight, columns))
    chosen[words] = min(ends, key=lambda end: round(end[1], 9))[0]
    return chosen


def spread(taxonomy: Taxonomy, concepts: Ints, weights: NDArray[Any], distance: DistanceMatrix | None = None) -> float:
    """What `joint` makes small: the mean distance between two words drawn at random by weight, one after the other.

    >>> from keepsense.taxonomy import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet"), ("beagle", "dog")])
    >>> spread(pets, pets.codes(["cat", "dog"]), np.ones(2))
    0.25
    """
    weight = np.asarray(weights, dtype=np.float64) / np.sum(weights)
    columns = _columns(taxonomy, concepts, distance)
    return float(sum(w * (weight @ columns(i)) for i, w in enumerate(weight)))


Places = NDArray[np.intp]
Columns = Callable[[int], NDArray[np.float32]]
"""Distances from every candidate concept to one of them, asked for one at a time: the matrix may be too large."""


def _columns(taxonomy: Taxonomy, concepts: Ints, distance: DistanceMatrix | None) -> Columns:
    """Columns of the distance matrix, each worked out once as far as memory allows."""
    kept: dict[int, NDArray[np.float32]] = {}
    room = _MEMORY // max(1, 4 * len(concepts))

    def asked(i: int) -> Floats:
        assert distance is not None
        return np.asarray(distance(concepts, concepts[i : i + 1]), dtype=np.float64).reshape(-1)

    work_out = _wu_palmer(taxonomy, concepts) if distance is None else asked

    def column(i: int) -> NDArray[np.float32]:
        found = kept.get(i)
        if found is None:
            found = work_out(i).astype(np.float32)
            if len(kept) < room:
                kept[i] = found
        return found

    return column


def _wu_palmer(taxonomy: Taxonomy, concepts: Ints) -> Callable[[int], Floats]:
    """Wu and Palmer by depth: write the depth of each subsumer over all candidates below it, the deepest last."""
    above = subsumer_rows(taxonomy, concepts)
    below = above.reversed(len(taxonomy))
    depth = taxonomy.depth.astype(np.float64)
    own = depth[concepts]

    def column(i: int) -> Floats:
        shared: Floats = np.zeros(len(concepts))
        subsumers = above[i]
        for subsumer in subsumers[np.argsort(taxonomy.depth[subsumers], kind="stable")]:
            shared[below[subsumer]] = depth[subsumer]
        apart: Floats = 1.0 - 2.0 * shared / (own + own[i])
        return apart

    return column


def _starts(senses: list[Places], weight: Floats, columns: Columns) -> Iterator[list[int]]:
    """Choices to begin with: the first senses, those nearest to all on average, and nearest at best."""
    yield [0] * len(senses)
    size = 1 + max(int(s.max()) for s in senses)
    mean, least = np.zeros(size), np.zeros(size)
    own: list[tuple[Floats, Floats]] = []
    for mine, w in zip(senses, weight, strict=True):
        block = np.stack([columns(int(s)) for s in mine])
        average, nearest = w * block.mean(axis=0), w * block.min(axis=0)
        mean += average
        least += nearest
        own.append((average[mine], nearest[mine]))
    rest = list(zip(senses, own, strict=True))
    yield [int(np.argmin(np.round(mean[mine] - average, 9))) for mine, (average, _) in rest]
    yield [int(np.argmin(np.round(least[mine] - nearest, 9))) for mine, (_, nearest) in rest]


def _settle(start: list[int], senses: list[Places], weight: Floats, columns: Columns) -> tuple[list[int], float]:
    """Improve a choice word by word until it stands; also its value, the weighted mean distance."""
    chosen = list(start)
    cost = _cost(chosen, senses, weight, columns)
    undecided = [i for i, mine in enumerate(senses) if len(mine) > 1]
    for _ in range(_SWEEPS):
        moved = False
        for i in undecided:
            mine, w = senses[i], weight[i]
            now = columns(int(mine[chosen[i]]))
            rest = cost[mine] - w * now[mine]
            best = int(np.argmin(np.round(rest, 9)))
            if rest[best] < rest[chosen[i]] - 1e-9:
                chosen[i] = best
                cost += w * (columns(int(mine[best])) - now)
                moved = True
        if not moved:
            break
    cost = _cost(chosen, senses, weight, columns)  # afresh: rounding errors of the updates are thrown away
    return chosen, float(sum(w * cost[s[c]] for s, w, c in zip(senses, weight, chosen, strict=True)))


def _cost(chosen: list[int], senses: list[Places], weight: Floats, columns: Columns) -> Floats:
    """Weighted distance of every candidate to the senses chosen now."""
    total = np.zeros(len(columns(0)))
    for mine, w, c in zip(senses, weight, chosen, strict=True):
        total += w * columns(int(mine[c]))
    return total
