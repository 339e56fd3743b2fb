"""Candidate hierarchies of a column of words, different in structure, from one base hierarchy.

Ayala-Rivera et al. (AIKA, Sec. 3.2): the base hierarchy goes through the four adjustments, alone and together, and
duplicates are filtered out by structure (the same nodes with the same links are one candidate, whatever the order of
branches). No candidate is best for everything: `evaluate` and `choose` rank them for a purpose.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Any, Unpack

import numpy as np

from keepsense.arrays import Floats
from keepsense.counts import Value
from keepsense.errors import BadInput
from keepsense.hierarchies.aika_adjustments import (
    RENAMES,
    Facets,
    LeafLosses,
    diversify,
    keep_levels,
    reduce_abstractness,
    reduce_outliers,
    remove_levels,
)
from keepsense.hierarchies.hierarchy import UNKNOWN, Hierarchy, signature
from keepsense.hierarchies.hierarchy_tree import Policy
from keepsense.hierarchies.releasable_labels import MOST_LISTED, Nodes, plain, spelled
from keepsense.hierarchies.word_concepts import RULES, Namer, SenseOptions, base_hierarchy, senses_of
from keepsense.semantics.distance import Distance
from keepsense.semantics.distance import distance as make_distance
from keepsense.taxonomy.taxonomy import Taxonomy

OUTLIER_SIZES = (2, 5, 10, 25, 50, 100)
"""Numbers of rows below which branches are grouped, unless others are asked for."""

OUTLIER_SHARES = (0.025, 0.05, 0.1)
"""The same as shares of the rows: in a large table no branch may be small in absolute numbers."""

_SHARES = (0.1, 0.25, 0.5, 1.0)
_FRUITLESS = 60


def candidates(  # noqa: PLR0913
    values: Sequence[Value],
    taxonomy: Taxonomy,
    counts: Sequence[int] | None = None,
    *,
    wanted: int = 100,
    distance: Distance | None = None,
    k: int | Sequence[int] | None = None,
    boundary: float = 0.2,
    relations: Sequence[str] | None = None,
    policy: Policy = "leaf",
    name: str = "column",
    rng: np.random.Generator | int | None = None,
    **meaning: Unpack[SenseOptions],
) -> list[Hierarchy]:
    """Candidates of a column from its distinct values and their numbers of rows; `info["made"]` tells how.

    In turn: the base hierarchy by each rule for parents; its abstractness reduced; outliers reduced for each k (by
    default from 2 rows to a tenth of all) under parents, promoted outliers and the root (only with `counts`); levels
    removed to each height; single and pairs of levels removed; ancestors replaced by facets within the boundary, at
    random. Fewer than `wanted` come back where the taxonomy has no more to give. The distance is Wu-Palmer's unless
    given.

    Costs about a millisecond a candidate for a hundred values.

    >>> from keepsense.taxonomy.embedded_taxonomies import wordnet
    >>> made = candidates(["nurse", "surgeon", "pilot", "clerk"], wordnet(), [5, 4, 3, 2], wanted=30, rng=1)
    >>> len(made), made[0].info["made"]
    (30, 'base (deepest parents)')
    """
    if wanted < 1:
        raise BadInput(f"{name}: at least 1 candidate must be wanted, not {wanted}")
    senses = senses_of(values, taxonomy, counts=counts, name=name, **meaning)
    measure = distance or make_distance("wu-palmer", taxonomy)
    namer = Namer(taxonomy, dict(zip(senses.values, senses.concepts.tolist(), strict=True)))
    bases = [
        base_hierarchy(senses.values, taxonomy, senses=senses, parents=rule, policy=policy, name=name, namer=namer)
        for rule in RULES
    ]
    reduced = [_made(reduce_abstractness(base), "abstractness reduced") for base in bases]
    sizes = (k,) if isinstance(k, int) else _sizes(counts) if k is None else tuple(k)
    draw = np.random.default_rng(rng)
    facets = Facets(measure, boundary=boundary, relations=relations)
    kept = _Distinct(wanted)
    for hierarchy in (*bases, *reduced):
        kept.add(hierarchy)
    sources = [
        _heights(reduced),
        _outliers(reduced, counts, sizes, LeafLosses(measure, senses.concepts)),
        _fewer(reduced),
        _facets(kept, reduced, facets, namer, draw),
    ]
    while sources and not kept.full:
        for source in tuple(sources):
            made = next(source, None)
            if made is None:
                sources.remove(source)
            else:
                kept.add(made)
            if kept.full:
                break
    return kept.all


class _Distinct:
    """Candidates kept so far, none twice. Leaves of one column come in one order, so codes and labels say it all."""

    def __init__(self, wanted: int) -> None:
        self.all: list[Hierarchy] = []
        self._seen: set[Any] = set()
        self._wanted = wanted

    @property
    def full(self) -> bool:
        return len(self.all) >= self._wanted

    def add(self, hierarchy: Hierarchy) -> bool:
        key = (hierarchy.labels, hierarchy.codes.tobytes())
        if key in self._seen or self.full or hierarchy.height < 1:
            return False
        self._seen.add(key)
        self.all.append(hierarchy)
        return True


def _made(hierarchy: Hierarchy, how: str) -> Hierarchy:
    return hierarchy.with_info(made=f"{hierarchy.info['made']}, {how}")


def _sizes(counts: Sequence[int] | None) -> tuple[int, ...]:
    rows = 0 if counts is None else int(np.sum(counts))
    return tuple(sorted({*OUTLIER_SIZES, *(max(2, round(share * rows)) for share in OUTLIER_SHARES)}))


def _heights(bases: Sequence[Hierarchy]) -> Iterator[Hierarchy]:
    for base in bases:
        for height in range(base.height - 1, 0, -1):
            yield _made(remove_levels(base, height), f"levels removed to height {height}")


def _outliers(
    bases: Sequence[Hierarchy], counts: Sequence[int] | None, sizes: Sequence[int], losses: LeafLosses
) -> Iterator[Hierarchy]:
    """Outliers reduced, first at full height, then in lower hierarchies too."""
    if counts is None:
        return
    grouped = []
    for base in bases[:1]:
        for k in sizes:
            for under in RENAMES:
                found = reduce_outliers(base, counts, k, under=under, distance=losses)
                if found is not base:
                    grouped.append(_made(found, f"outliers below {k} under {under}"))
                    yield grouped[-1]
    for step in range(1, max((h.height for h in grouped), default=1)):
        for hierarchy in grouped:
            if hierarchy.height - step >= 1:
                lower = remove_levels(hierarchy, hierarchy.height - step)
                yield _made(lower, f"levels removed to height {lower.height}")


def _fewer(bases: Sequence[Hierarchy]) -> Iterator[Hierarchy]:
    """Every single level removed, then every two."""
    for gone in (1, 2):
        for base in bases:
            inner = range(1, base.height)
            for dropped in combinations(inner, gone):
                kept = [level for level in range(1, base.height + 1) if level not in dropped]
                yield _made(keep_levels(base, kept), f"without level{'s' * (gone > 1)} {', '.join(map(str, dropped))}")


def _facets(
    kept: _Distinct, bases: Sequence[Hierarchy], facets: Facets, namer: Namer, draw: np.random.Generator
) -> Iterator[Hierarchy]:
    """Other perspectives on what was kept so far, until too many tries bring nothing new."""
    fruitless = 0
    turn = 0
    while fruitless < _FRUITLESS:
        pool = kept.all if turn % 2 else bases
        origin = pool[int(draw.integers(len(pool)))]
        share = _SHARES[turn % len(_SHARES)]
        before = len(kept.all)
        turn += 1
        found = diversify(origin, facets, namer, share=share, rng=draw)
        if found is origin:
            fruitless += 1
            continue
        yield _made(found, f"facets for {share:.0%} of ancestors")
        fruitless = 0 if len(kept.all) > before else fruitless + 1


# Groups of near siblings or near values between the levels of a taxonomy, named or listed
#
# Both join first what is cheapest to mix: near each other and with few rows (Ward's criterion on the mean distance).

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

    >>> from keepsense.hierarchies.word_concepts import base_hierarchy
    >>> from keepsense.hierarchies.releasable_labels import plain, spelled
    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
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

    >>> from keepsense.hierarchies.word_concepts import base_hierarchy
    >>> from keepsense.hierarchies.releasable_labels import plain, spelled
    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
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
            group = made.add(root, UNKNOWN, (*((name, concept) for concept, name in parts), *sorted(left)))
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


# The hierarchies of a column of words that people choose from: few, readable, with every informative level

_RARE = 0.025
"""Share of the rows below which branches are grouped under their parents."""


def shortlist(
    values: Sequence[Value],
    distance: Distance,
    counts: Sequence[int] | None = None,
    *,
    name: str = "column",
    least: int | None = None,
    most: int | None = None,
    **meaning: Unpack[SenseOptions],
) -> list[Hierarchy]:
    """Hierarchies of a column from its distinct values and their rows; the one to take unasked comes first.

    In turn: the tree of subsumers with up to three siblings listed between its levels (four right below the top, where
    nothing else could be said); with four everywhere; the tree alone; the first by the other rule for parents; its
    rare branches grouped, as the papers do; the values clustered by distance.
    Values without a concept that at least `least` rows hold are listed among each other, the others stay by themselves.
    None of them lacks a level that groups values. `info["made"]` tells how each was made. Not more than `most` are.

    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.embedded_taxonomies import wordnet
    >>> made = shortlist(["nurse", "midwife", "surgeon", "dentist", "pilot", "clerk"], distance("wu-palmer", wordnet()))
    >>> made[0].rows()[1], made[0].info["made"]
    (('midwife', 'nurse (any kind)', 'health professional', '*'), 'subsumers, up to 3 siblings listed')
    """
    taxonomy = distance.taxonomy
    senses = senses_of(values, taxonomy, counts=counts, name=name, **meaning)
    rows = [1] * len(values) if counts is None else list(counts)
    base = partial(base_hierarchy, senses.values, taxonomy, senses=senses, name=name)
    deepest = base(parents="deepest")

    def tree(from_base: Hierarchy, how: str, listed: int = 0, clustered: bool = False) -> Hierarchy:
        nodes = plain(from_base, taxonomy)
        if listed:
            group_siblings(nodes, distance, rows, most=listed, below_top=MOST_LISTED, least=least)
        if clustered:
            nodes = group_values(nodes, distance, rows)
        made = spelled(nodes, taxonomy, name=name, info={"made": how})
        return made.with_info(unknown=senses.unknown) if senses.unknown else made

    def in_turn() -> Iterator[Hierarchy]:
        yield tree(deepest, "subsumers, up to 3 siblings listed", 3)
        yield tree(deepest, "subsumers, up to 4 siblings listed", 4)
        yield tree(deepest, "subsumers")
        yield tree(base(parents="shared"), "subsumers by shared parents, up to 3 siblings listed", 3)
        few = max(2, round(_RARE * int(np.sum(rows))))
        rare = reduce_outliers(deepest, rows, few) if counts is not None else deepest
        if rare is not deepest:
            yield tree(rare, f"subsumers, branches below {few:,} rows under their parents", 3)
        yield tree(deepest, "values clustered by distance", clustered=True)

    distinct: dict[object, Hierarchy] = {}
    for made in in_turn():
        if made.height >= 1:
            distinct.setdefault(signature(made), made)
        if len(distinct) == most:
            break
    return list(distinct.values())
