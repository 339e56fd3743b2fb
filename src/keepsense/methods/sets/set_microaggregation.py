"""Microaggregation of sets (Batet, Erola, Sánchez and Castellà-Roca 2014)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, groupby, pairwise
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Rows, once, used_codes
from keepsense.counts import Counts, Value
from keepsense.errors import BadInput, Finding
from keepsense.methods.blocking import Line, blocks_of, line_of_paths, paths_of, size_of_blocks
from keepsense.methods.method import Drafted, Method, registered
from keepsense.methods.method_flowchart import Filling
from keepsense.methods.microaggregate.mdav import Partition, check_size, mdav
from keepsense.methods.sets.set_column import SetColumn, by_concepts
from keepsense.methods.suitability import K_ANONYMITY, KM_ANONYMITY, NOT_SENSITIVE, PROBABILISTIC, UNKNOWN_NEARNESS, Fit
from keepsense.methods.task import group_size, least_size
from keepsense.privacy.k_anonymity import KAnonymity
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener, emit, wants_steps
from keepsense.recoding import SUPPRESSED, Cells
from keepsense.secure_random import Random, generator
from keepsense.semantics.distance import Distance
from keepsense.sets.concept_sets import ConceptSets, distinct_sets
from keepsense.sets.item_distances import MEMORY, ItemDistances
from keepsense.sets.set_distance import KINDS, SetSpace, check_kind

# Blocks of similar sets, for columns with very many different sets
#
# A set is placed in the branch of the taxonomy that holds most of its items, and blocks are cut between subtrees
# (`keepsense.methods.blocking`). Only groups are formed by block; centres are computed for the whole column.

Each = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]
"""What a function makes of each of some parts, wherever an engine runs it."""


def one_by_one(function: Callable[[Any], Any], parts: Sequence[Any]) -> list[Any]:
    """What a function makes of each part, here and one after another.

    >>> one_by_one(len, ["ab", "c"])
    [2, 1]
    """
    return [function(part) for part in parts]


_ITEMS = 3
"""Items of a set that tell where it stands; sets that agree in these stand in the order of their items."""


def partition_in_blocks(
    distance: str,
    items: ItemDistances,
    rows: Rows,
    weights: NDArray[np.int64],
    k: int,
    most: int,
    *,
    each: Each,
    rng: Random = None,
) -> tuple[Partition, int]:
    """Groups of at least k among distinct sets, made in blocks of at most so many; and how many blocks there are.

    Every block has at least 2k records, so every group has at least k, as `mdav` has it.

    >>> rows = Rows.from_pairs([0, 1, 2, 3, 4, 4, 5, 5], [0, 0, 1, 1, 0, 2, 1, 2], 6)
    >>> several = np.full(6, 2)
    >>> parts, blocks = partition_in_blocks("average", ItemDistances(None, opaque=3), rows, several, 2, 3,
    ...                                     each=one_by_one, rng=1)
    >>> blocks, parts.sizes.min(), parts.copies.sum()
    (2, np.int64(2), np.int64(12))
    """
    n = len(rows)
    counts = Counts(("set",), (tuple(range(n)),), np.arange(n, dtype=np.int32)[:, None], weights)
    blocks = blocks_of(counts, line_of_sets(items, rows), most, least=2 * k, rng=rng)
    items.worked_out()
    found = each(partial(_partition, distance, items, k), [(rows.taken(b.at), weights[b.at]) for b in blocks])
    groups: list[tuple[list[int], list[int]]] = []
    for block, part in zip(blocks, found, strict=True):
        groups += [(block.at[records].tolist(), copies.tolist()) for records, copies in part]
    return Partition.of(groups), len(blocks)


def _partition(distance: str, items: ItemDistances, k: int, part: tuple[Rows, NDArray[np.int64]]) -> Partition:
    rows, weights = part
    return mdav(SetSpace(distance, items, rows), weights, k)


def line_of_sets(items: ItemDistances, rows: Rows) -> Line:
    """Distinct sets side by side: those that are mostly about the same stand together.

    Items in no taxonomy are branches of their own.

    >>> rows = Rows.from_pairs([0, 0, 1, 2, 2, 2], [0, 1, 2, 0, 1, 3], 3)
    >>> line_of_sets(ItemDistances(None, opaque=4), rows).place.tolist()
    [0, 2, 1]
    """
    taxonomy = None if items.distance is None else items.distance.taxonomy
    known = [] if taxonomy is None else paths_of(taxonomy, items.concepts)
    paths = [*known, *((-1, item) for item in range(items.semantic, len(items)))]
    heavy: Counter[int] = Counter()
    for item, times in Counter(rows.indices.tolist()).items():
        heavy.update(dict.fromkeys(paths[item], times))
    return line_of_paths([_topics([paths[item] for item in rows[i].tolist()], heavy) for i in range(len(rows))])


def _topics(paths: list[tuple[int, ...]], heavy: Counter[int]) -> tuple[int, ...]:
    """The ways to the items of a set, one after another: at every fork first down the branch that holds most of them.

    Of branches that hold as many, the one with more in the whole column comes first.
    """
    ordered: list[tuple[int, ...]] = []

    def walk(some: list[tuple[int, ...]], depth: int) -> None:
        if len(ordered) >= _ITEMS:
            return
        if len(some) == 1:
            ordered.append(some[0])
            return
        here = [path for path in some if len(path) == depth]
        ordered.extend(here)
        below = sorted(path for path in some if len(path) > depth)
        branches = [list(branch) for _, branch in groupby(below, key=lambda path: path[depth])]
        branches.sort(key=lambda branch: (-len(branch), -heavy[branch[0][depth]], branch[0][depth]))
        for branch in branches:
            walk(branch, depth + 1)

    walk(paths, 0)
    return tuple(step for path in ordered[:_ITEMS] for step in path)


# Centres: the record least distant from all sets of a group (Batet et al. 2014, Eq. 7)

_LONG = 4_000
"""Items from which on a record is compared by spreading it over the vocabulary, not pair by pair."""


def centroids(
    kind: str, items: ItemDistances, rows: Rows, partition: Partition, *, usual_size: bool = False
) -> NDArray[np.int64]:
    """Centroid record of each group: the least sum of distances to all records of the group, itself included.

    The sum runs over all records, as the equation is printed; the average of a record to itself is not 0, and small
    sets are nearer to all others. With `usual_size` only records of the size that comes nearest to the group's mean
    size are looked at. Of equally good records the first is taken. Costs all pairs of items within each group.

    >>> parts = Partition(np.array([0, 0, 0]), np.array([0, 1, 2]), np.array([1, 1, 1]))
    >>> sets = Rows.from_pairs([0, 1, 1, 2], [0, 0, 1, 1], 3)
    >>> centroids("minimum", ItemDistances(None, opaque=2), sets, parts).tolist()
    [1]
    """
    from keepsense.sets.set_kernels import group_centroids

    number = KINDS.index(check_kind(kind))
    found = np.full(len(partition), -1, dtype=np.int64)
    bounds = np.searchsorted(partition.group, np.arange(len(partition) + 1))
    sizes = rows.sizes
    fit = _of_usual_size(sizes[partition.record], partition, bounds, usual_size)
    long = np.zeros(len(partition), dtype=np.bool_)
    long[partition.group[sizes[partition.record] > _LONG]] = True
    place = np.arange(items.semantic, dtype=np.int64)
    at = (items.semantic, rows.starts, rows.indices)

    def choose(block: NDArray[np.float64], first: int, last: int) -> None:
        span = bounds[first : last + 1]
        some = slice(int(span[0]), int(span[-1]))
        group_centroids(
            number,
            block,
            place,
            *at,
            span - span[0],
            partition.record[some],
            partition.copies[some],
            fit[some],
            SetSpace.noise,
            found[first:last],
        )

    if not long.any() and (items.whole or not items.semantic):
        for block, _ in items.blocks(place) if items.semantic else [(np.empty((0, 0)), place)]:
            choose(block, 0, len(partition))
        return found
    for g, (records, copies) in enumerate(partition):
        own = np.unique(rows.gather(records.astype(np.int32)))
        own = own[own < items.semantic]
        pieces = items.blocks(own)
        if long[g] or len(own) > items.room:
            space = SetSpace(kind, items, rows)
            space.keep(records)
            space.start(copies)
            mine = fit[bounds[g] : bounds[g + 1]]
            found[g] = records[space.centroid(np.where(mine, copies, 0))]
        elif len(own):
            block, where = next(pieces)
            place[own] = where
            choose(block, g, g + 1)
        else:
            choose(np.empty((0, 0)), g, g + 1)
    return found


def _of_usual_size(
    sizes: NDArray[np.int32], partition: Partition, bounds: NDArray[np.int64], usual_size: bool
) -> NDArray[np.bool_]:
    """Which records may stand for their group: all, or those whose size is nearest to the mean of the group."""
    if not usual_size or not len(sizes):
        return np.ones(len(sizes), dtype=np.bool_)
    rows = np.add.reduceat(partition.copies, bounds[:-1])
    mean = np.add.reduceat(sizes * partition.copies, bounds[:-1]) / rows
    off = np.abs(sizes - mean[partition.group])
    return np.asarray(off <= np.minimum.reduceat(off, bounds[:-1])[partition.group] + 1e-9, dtype=np.bool_)


# The method

Sizes = Literal["usual", "any"]
"""Which records of a group may stand for it: those as large as usual there, or any."""


@dataclass(frozen=True, eq=False)
class SetRelease:
    """A microaggregated set-valued column: groups, their centroids and the synthetic set that each releases.

    `group[i]` is the group of record i, `partition` tells it for distinct records (of each class, where there are
    classes); `centroids[g]` is the distinct set at the centre of group g and `terms[g]` what all its records are
    released as. `labelled` counts concepts released under their label and `withheld` opaque terms not released, because
    too few people use the term.

    >>> from keepsense.sets.concept_sets import map_sets
    >>> from keepsense.sets.item_sets import from_delimited
    >>> sets = map_sets(from_delimited(["a;b", "a;b", "c", "c"], delimiter=";"), None)
    >>> release = microaggregate_sets(sets, None, k=2, rng=1)
    >>> release.column(), release.verbatim
    (['a;b', 'a;b', 'c', 'c'], 2)
    """

    sets: ConceptSets
    k: int
    kind: str
    partition: Partition
    group: NDArray[np.int64]
    centroids: NDArray[np.int64]
    terms: tuple[tuple[Value, ...], ...]
    labelled: int
    withheld: int
    blocks: int = 0
    """Blocks in which groups were made; none where all sets were compared."""

    @cached_property
    def verbatim(self) -> int:
        """Groups whose released set is, by chance, one of their own centroid records as it stood."""
        return _verbatim(self.sets, self.group, self.centroids, self.terms)

    def records(self) -> list[list[Value]]:
        """The released set of each record."""
        return [list(self.terms[g]) for g in self.group.tolist()]

    def column(self, *, rng: np.random.Generator | int | None = None) -> Any:
        """The released column in the form it came in: texts, lists, or fresh keys and items (`ItemSets.spelled`)."""
        return self.sets.source.spelled(self.records(), rng=rng)

    def cells(self) -> list[Value]:
        """What each group releases, as one hashable cell in the form the column came in."""
        cells = {terms: self.sets.cell(terms) for terms in dict.fromkeys(self.terms)}
        return [cells[terms] for terms in self.terms]

    def promise(self) -> dict[str, Any]:
        """What the release promises, as plain data: every released set is shared by at least k records."""
        return KAnonymity(self.k).promise()

    def findings(self) -> list[Finding]:
        """What a person should look at, in counts."""
        name, groups = self.sets.column, len(self.partition)
        remarks = [
            (
                "W306",
                self.verbatim,
                f"{self.verbatim:,} of {groups:,} groups are released as one of their records stood: chance, or "
                "concepts that have one term each",
            ),
            (
                "W307",
                self.labelled,
                f"{self.labelled:,} concepts are released by label: fewer than {self.k} use any term",
            ),
            (
                "W308",
                self.withheld,
                f"{self.withheld:,} opaque terms are withheld ({SUPPRESSED}): fewer than {self.k} use them",
            ),
        ]
        return [*self.sets.findings(), *(Finding(code, name, text) for code, n, text in remarks if n)]


def set_microaggregation(  # noqa: PLR0913
    counts: Counts,
    columns: Sequence[ConceptSets],
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    item_distance: Distance | None = None,
    distance: str = "average",
    sizes: Sizes = "usual",
    block: int | None = None,
    each: Each = one_by_one,
    rng: np.random.Generator | int | None = None,
    listener: Listener | None = None,
    memory: int = MEMORY,
) -> Cells:
    """Microaggregate a set-valued column as `microaggregate_sets` does, and give back a recoding.

    The column is the last of the counts; `columns` tells what its cells mean. The other columns are the classes that
    groups do not cross. Promises about more than the size of classes (their sensitive values, say) hold for the classes
    as they are, so these are not divided further: all records of a class get one set. `block` and `each` are those of
    `microaggregate_sets`.

    >>> from keepsense.sets.concept_sets import map_sets
    >>> from keepsense.sets.item_sets import read_cells
    >>> counts = Counts.of({"tags": ["tea;milk", "milk;tea", "jazz", "jazz"]})
    >>> tags = map_sets(read_cells(counts.values_of("tags"), delimiter=";", column="tags"), None)
    >>> set_microaggregation(counts, [tags], k=2, rng=1).apply(counts).rows_of("tags")
    {'milk;tea': 2, 'jazz': 2, '*': 0}
    """
    (meaning,) = columns
    column = SetColumn.beside(counts, meaning.source)
    inside: dict[str, Any] = {}
    if column.classes is not None:
        size = least_size(models)
        k = (size or 2) if k is None else k
        inside = {"within": column.classes, "divide": size is not None and all(model.by_size for model in models)}
    release = microaggregate_sets(
        meaning.taken(column.cells),
        item_distance,
        models,
        k=k,
        distance=distance,
        sizes=sizes,
        block=block,
        each=each,
        rng=rng,
        listener=listener,
        memory=memory,
        **inside,
    )
    info: dict[str, Any] = {"method": METHOD.name, "k": release.k, "groups": len(release.partition)}
    if release.blocks:
        info["blocks"] = release.blocks
    return column.allocated(release.group, [*release.cells(), column.hidden], info)


def microaggregate_sets(  # noqa: PLR0913
    sets: ConceptSets,
    item_distance: Distance | None,
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    distance: str = "average",
    sizes: Sizes = "usual",
    within: NDArray[Any] | None = None,
    divide: bool = True,
    block: int | None = None,
    each: Each = one_by_one,
    rng: np.random.Generator | int | None = None,
    listener: Listener | None = None,
    memory: int = MEMORY,
) -> SetRelease:
    """Group similar sets by k and release for each group one synthetic set close to all of them.

    MDAV (`mdav`) with one of five set distances (`keepsense.sets.set_distance`) over a concept distance;
    the paper's is `feature` (Eq. 1) with `average`, and finds that best for varied sets. Without a distance, or for
    sets mapped without a taxonomy, meaning is ignored (Eq. 9). Of a group's centroid (Eq. 7) each concept is released
    as a term drawn once for the group, in proportion to the records that hold it, from those of the input's terms
    for the concept that at least k records hold; where there is none, as the concept's label. Opaque terms likewise,
    and `*` where there is none. A record is taken for a person: join the rows of a person into one set first.

    The centroid is looked for among the group's records of the size nearest to its mean (`sizes="usual"`), so that sets
    stay as large and as varied as they are; among all (`"any"`, as the equation says) the average distance prefers sets
    of one item.

    `within` gives each record a class, such as the equivalence class of its other quasi-identifiers: groups then never
    cross classes, so class and set together are shared by at least k records. A class of fewer than 2k records, or
    every class without `divide`, is one group, which leaves the classes as they were.

    Above 100,000 different sets (in a class), or more than `block` where that is given, groups are made in blocks of
    similar sets, each by itself wherever `each` runs it, and do not cross these (`keepsense.methods.blocking`).

    Every released set is shared by at least k records. Truth is not kept: a person's released set holds things that
    are similar to theirs, not theirs. With `average`, n records of s items and C concepts cost about
    2 s n^2 / k steps and 8 C^2 bytes, or `memory` where that is less; the other distances about s n^2, the two sums
    s^2 n^2.

    >>> from keepsense.sets.concept_sets import map_sets
    >>> from keepsense.sets.item_sets import from_lists
    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> links = [("milk", "drink"), ("tea", "drink"), ("drink", "food"), ("bread", "food"), ("roll", "bread")]
    >>> food = from_edges(links)
    >>> sets = map_sets(from_lists([["milk"], ["tea", "milk"], ["bread"], ["roll"]]), food)
    >>> release = microaggregate_sets(sets, distance("feature", food), k=2, rng=3)
    >>> release.records()
    [['milk'], ['milk'], ['bread'], ['bread']]
    """
    check_kind(distance)
    if sizes not in get_args(Sizes):
        raise BadInput(f"sizes = {sizes!r}: it must be 'usual' or 'any'")
    k = check_size(group_size(models, k), len(sets), f"column {sets.column!r}")
    rng = generator(rng)
    rows, weights, which = sets.distinct
    items = sets.distances(item_distance, memory=memory)
    own, number = np.arange(len(rows)), 0
    emit(listener, "start", 0, len(sets), distinct=len(rows))
    if within is None:
        emit(listener, "records", holds=which)
        most = size_of_blocks(rows, block)
        if most is None:
            partition = mdav(SetSpace(distance, items, rows), weights, k, listener=listener)
        else:
            partition, number = partition_in_blocks(distance, items, rows, weights, k, most, each=each, rng=rng)
    else:
        pairs, which, weights = _by_class(np.asarray(within), which, len(rows))
        own = pairs % len(rows)
        rows = rows.taken(own)
        spaces = _Classes(distance, items, rows, weights, pairs // len(sets.distinct[0]))
        cutting = _Cutting(block, each, rng)
        partition = spaces.partition(k, divide, sets.column, cutting, listener)
        number = cutting.blocks
    centres = centroids(distance, items, rows, partition, usual_size=sizes == "usual")
    group = deal(partition, which, rng)
    terms, labelled, withheld = _synthetic(sets, own[centres], k, rng)
    release = SetRelease(sets, k, distance, partition, group, own[centres], terms, labelled, withheld, number)
    if within is None and wants_steps(listener):
        emit(listener, "centred", len(sets), len(sets), released={sets.column: release.cells()},
             facts={"items shown by a more general name": labelled})  # fmt: skip
    return release


def _by_class(
    within: NDArray[Any], which: NDArray[np.int64], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Distinct pairs of class and set as one number each, the pair of each record, and the records of each pair."""
    if len(within) != len(which):
        raise BadInput(f"classes are given for {len(within):,} records, but there are {len(which):,}")
    _, number = np.unique(within, return_inverse=True)
    pairs, mine, times = np.unique(number.astype(np.int64) * size + which, return_inverse=True, return_counts=True)
    return pairs, mine.astype(np.int64), times.astype(np.int64)


@dataclass(eq=False)
class _Cutting:
    """How classes with very many different sets are cut, and how many blocks were made."""

    block: int | None
    each: Each
    rng: np.random.Generator
    blocks: int = 0


@dataclass(frozen=True, eq=False)
class _Classes:
    """Distinct sets of every class, class after class."""

    distance: str
    items: ItemDistances
    rows: Rows
    weights: NDArray[np.int64]
    classes: NDArray[np.int64]

    def partition(self, k: int, divide: bool, column: str, cutting: _Cutting, listener: Listener | None) -> Partition:
        """Groups that do not cross classes."""
        bounds = np.flatnonzero(np.diff(self.classes, prepend=-1, append=-1))
        if not divide:
            least = int(np.add.reduceat(self.weights, bounds[:-1]).min()) if len(self.weights) else 0
            check_size(k, least, f"column {column!r}, in a class of the other columns")
            number = np.repeat(np.arange(len(bounds) - 1, dtype=np.int64), np.diff(bounds))
            emit(listener, "classes", len(bounds) - 1, len(bounds) - 1)
            return Partition(number, np.arange(len(self.weights), dtype=np.int64), self.weights)
        groups: list[tuple[list[int], list[int]]] = []
        for done, (first, last) in enumerate(pairwise(bounds.tolist())):
            weights = self.weights[first:last]
            total = int(weights.sum())
            check_size(k, total, f"column {column!r}, in a class of the other columns")
            if divide and total >= 2 * k:
                starts = self.rows.starts[first : last + 1]
                part = Rows(starts - starts[0], self.rows.indices[starts[0] : starts[-1]])
                most = size_of_blocks(part, cutting.block)
                if most is None:
                    found = mdav(SetSpace(self.distance, self.items, part), weights, k)
                else:
                    how: dict[str, Any] = {"each": cutting.each, "rng": cutting.rng}
                    found, blocks = partition_in_blocks(self.distance, self.items, part, weights, k, most, **how)
                    cutting.blocks += blocks
                groups += [((records + first).tolist(), copies.tolist()) for records, copies in found]
            else:
                groups.append((list(range(first, last)), weights.tolist()))
            emit(listener, "classes", done + 1, len(bounds) - 1)
        return Partition.of(groups)


def deal(partition: Partition, which: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Group of each record: the copies of a distinct record are dealt to equal records at random.

    >>> parts = Partition(np.array([0, 1]), np.array([0, 0]), np.array([1, 2]))
    >>> sorted(deal(parts, np.zeros(3, np.int64), np.random.default_rng(0)).tolist())
    [0, 1, 1]
    """
    by_record = np.argsort(partition.record, kind="stable")
    lots = rng.random(len(which))
    if (np.diff(partition.record[by_record]) > 0).all():  # all copies are in one group
        group_of = np.empty(int(partition.record.max(initial=-1)) + 1, dtype=np.int64)
        group_of[partition.record] = partition.group
        return group_of[which]
    dealt = np.repeat(partition.group[by_record], partition.copies[by_record])
    order = np.lexsort((lots, which))
    group = np.empty(len(which), dtype=np.int64)
    group[order] = dealt
    return group


def _synthetic(
    sets: ConceptSets, centres: NDArray[np.int64], k: int, rng: np.random.Generator
) -> tuple[tuple[tuple[Value, ...], ...], int, int]:
    """A set of terms for each group, drawn thing by thing; how many labels were taken and how many terms withheld."""
    rows = sets.distinct[0]
    things = rows.gather(centres.astype(np.int32))
    group = np.repeat(np.arange(len(centres)), rows.sizes[centres])
    behind = sets.terms_of
    users = sets.occurrences[behind.indices]
    up_to = np.concatenate(([0], np.cumsum(np.where(users >= k, users, 0))))
    low, high = up_to[behind.starts[things]], up_to[behind.starts[things + 1]]
    drawn = np.searchsorted(up_to, low + np.floor(rng.random(len(things)) * (high - low)), side="right") - 1
    usable = high > low
    picks = behind.indices[np.where(usable, drawn, 0)] if len(behind.indices) else drawn
    labels = ~usable & (things < sets.semantic)
    opaque = ~usable & (things >= sets.semantic) & (things != sets.nothing)
    # what is released as a number each: a term, a label behind them, the mark of what is withheld last
    last = len(sets.terms) + sets.semantic
    shown = np.where(usable, picks, np.where(labels, len(sets.terms) + things, last))[usable | labels | opaque]
    used, place = used_codes(shown)
    first = len(sets.terms)
    values = [sets.terms[n] if n < first else SUPPRESSED if n == last else sets.label(n - first) for n in used.tolist()]
    order = {value: rank for rank, value in enumerate(sorted(dict.fromkeys(values), key=str))}
    ranks = np.array([order[value] for value in values], dtype=np.int64)
    width = max(1, len(order))
    pairs = once(group[usable | labels | opaque] * width + ranks[place])
    kinds, _, which = distinct_sets(Rows.from_pairs(pairs // width, pairs % width, len(centres)))
    spelled = list(order)
    sets_of_terms = [tuple(spelled[rank] for rank in kinds[kind].tolist()) for kind in range(len(kinds))]
    return tuple(sets_of_terms[kind] for kind in which.tolist()), int(labels.sum()), int(opaque.sum())


def _verbatim(
    sets: ConceptSets, group: NDArray[np.int64], centroids: NDArray[np.int64], terms: tuple[tuple[Value, ...], ...]
) -> int:
    """Groups whose released set equals, term by term, a record that is their centroid."""
    place = {term: i for i, term in enumerate(sets.terms)}
    # a released set by the numbers of its terms; one that is no term, a label say, is in no record
    kinds = {released: kind for kind, released in enumerate(dict.fromkeys(terms))}
    kind = np.fromiter(map(kinds.__getitem__, terms), np.int64, len(terms))
    drawn = [sorted([place.get(term, -1) for term in released]) for released in kinds]
    sizes = np.fromiter(map(len, drawn), np.int64, len(drawn))
    starts = np.concatenate(([0], np.cumsum(sizes)))
    numbers = np.fromiter(chain.from_iterable(drawn), np.int64, int(starts[-1]))
    records = np.flatnonzero(centroids[group] == sets.distinct[2])
    records = records[sets.term_rows.sizes[records] == sizes[kind[group[records]]]]
    held = sets.term_rows.taken(records)
    record = held.row_of()
    offset = np.arange(len(record)) - held.starts[record]
    same = held.indices == numbers[starts[kind[group[records[record]]]] + offset]
    wrong = np.bincount(record, ~same, len(records)) > 0
    return len(np.unique(group[records[~wrong]]))


METHOD = registered(
    Method(
        name="set microaggregation",
        title="Semantic microaggregation of sets",
        function=set_microaggregation,
        set_runner=by_concepts,
        family="microaggregation",
        place=7,
        aliases=("microaggregation of sets",),
        short="baskets, tags, diagnosis lists, query logs",
        intent="Group people with similar sets, and release for each group one made-up set close to all of them.",
        use=("cells hold sets: baskets, tags, diagnosis lists, search queries", "topics matter more than exact items"),
        avoid=("every set must be true: generalize sets instead",),
        inputs=("a column of sets", "a taxonomy", "k"),
        guarantee="k-anonymity by construction; no item fewer than k people use is released as it stands.",
        cost="About items x rows squared / k steps.",
        paper="Batet, Erola, Sánchez and Castellà-Roca 2014.",
        example="Three people who search for jazz, blues and swing are all released as searching for jazz.",
        truthful=False,
        unweighed="it changes one column of sets",
        promises=(K_ANONYMITY, PROBABILISTIC, KM_ANONYMITY),
        falls_short=NOT_SENSITIVE,
        sets="only",
        fillings={
            "distance": Filling("average", "by the meaning of their items, on average over all pairs"),
            "representative": Filling("centroid", "the set closest to all of its sets, in words k people use"),
        },
        fit=Fit(
            points=7.0,
            reason="keeps what sets are about, and every released set is shared by k people",
            unfit=(UNKNOWN_NEARNESS,),
        ),
        drafted=Drafted("similar sets in groups of k, one synthetic set for each", range(1)),
    )
)
