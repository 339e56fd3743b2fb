"""Disassociation of sets: every item stays as it is, combinations that are rare are split into pieces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from keepsense.counts import Counts, Value
from keepsense.errors import BadInput, Infeasible
from keepsense.methods.method import Method, Relation, Shown, registered
from keepsense.methods.method_flowchart import Flowchart
from keepsense.methods.sets.set_column import ALONE, SetColumn, by_concepts
from keepsense.methods.suitability import Fit
from keepsense.privacy.km_anonymity import CLUSTER, LOOSE, KmAnonymity, PiecesOfSets
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener, emit
from keepsense.recoding import Cells
from keepsense.secure_random import generator
from keepsense.semantics.distance import Distance
from keepsense.sets.concept_sets import ConceptSets
from keepsense.sets.item_sets import ItemSets

Nearness = Callable[[int, Sequence[int]], float]
"""How far an item lies, on average, from those that are in a piece already."""
_SMALLEST = 30


@dataclass(frozen=True)
class Cluster:
    """Some records, the items of each of their pieces, and the loose ones: what may be told of them together.

    >>> Cluster((0, 1), ((0, 2),), (1,)).loose
    (1,)
    """

    members: tuple[int, ...]
    pieces: tuple[tuple[int, ...], ...]
    loose: tuple[int, ...]


def disassociation(
    counts: Counts,
    columns: Sequence[ConceptSets],
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    m: int | None = None,
    most: int | None = None,
    rng: np.random.Generator | int | None = None,
    listener: Listener | None = None,
) -> Cells:
    """Take sets apart until any m items of a person fit k records (Terrovitis, Mamoulis, Liagouris, Skiadopoulos 2012).

    Records are divided by their most frequent items into clusters of at least k and about `most` records (twice k, and
    at least 30, unless given). Inside a cluster items are put into pieces, frequent ones first, as long as any m of a
    piece that occur together do so in k records; items of fewer than k records are loose. Every record of the
    cluster then gets one part of each piece, dealt at random, and all loose items. No item is changed, left out or
    invented, so that frequencies of items, and of what occurs together in a piece, can be counted as before; rare
    combinations cannot. The paper's joint clusters, which share pieces between neighbours, are not made.

    Use it where every item must stay as it is. Costs the combinations of up to m items of each record, a few times.
    Promise `k^m-anonymity of pieces`; `k` and `m` are those of the promise unless they are given.

    >>> from keepsense.sets.concept_sets import map_sets
    >>> from keepsense.sets.item_sets import read_cells
    >>> counts = Counts.of({"basket": ["tea;milk", "tea;milk", "tea;rum", "tea;rum", "ham"]})
    >>> sets = map_sets(read_cells(counts.values_of("basket"), delimiter=";", column="basket"), None)
    >>> sorted(disassociation(counts, [sets], k=2, m=2, rng=1).apply(counts).rows_of("basket"))
    ['#1;1+ ham', '#1;1+ ham;1.1 milk;1.1 tea', '#1;1+ ham;1.1 rum;1.1 tea']
    """
    return _recoded(counts, columns, models, k, m, most, None, rng, listener, METHOD.name)


def semantic_disassociation(  # noqa: PLR0913
    counts: Counts,
    columns: Sequence[ConceptSets],
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    m: int | None = None,
    most: int | None = None,
    item_distance: Distance | None = None,
    rng: np.random.Generator | int | None = None,
    listener: Listener | None = None,
) -> Cells:
    """Take sets apart as `disassociation` does, and keep items that are close in meaning together.

    A piece begins with the most frequent item that is left; what joins it is tried in order of the mean distance to
    what it holds, so that a piece is about one thing (drinks, diagnoses of the heart) and readers can count what goes
    with what inside a topic. The promise and its proof are the same: they do not ask why items are in a piece. No peer
    has it. `item_distance` is that of the column's taxonomy.

    >>> from keepsense.sets.concept_sets import map_sets
    >>> from keepsense.sets.item_sets import read_cells
    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> links = [("tea", "drink"), ("rum", "drink"), ("ham", "meat"), ("beef", "meat"), ("drink", "*"), ("meat", "*")]
    >>> food = from_edges(links)
    >>> counts = Counts.of({"basket": ["tea;rum;ham;beef"] * 2 + ["tea;ham"] * 2})
    >>> sets = map_sets(read_cells(counts.values_of("basket"), delimiter=";", column="basket"), food)
    >>> cells = semantic_disassociation(counts, [sets], k=4, m=1, item_distance=distance("wu-palmer", food), rng=1)
    >>> sorted(cells.apply(counts).rows_of("basket"))
    ['#1;1+ beef;1+ rum;1.1 ham;1.1 tea']
    """
    return _recoded(counts, columns, models, k, m, most, item_distance, rng, listener, SEMANTIC.name)


def _recoded(  # noqa: PLR0913 - what both functions take
    counts: Counts,
    columns: Sequence[ConceptSets],
    models: Sequence[Model],
    k: int | None,
    m: int | None,
    most: int | None,
    judge: Distance | None,
    rng: np.random.Generator | int | None,
    listener: Listener | None,
    name: str,
) -> Cells:
    (meaning,) = columns
    if len(counts.names) > 1:
        raise BadInput("sets are taken apart only where they are the only quasi-identifier; see set microaggregation")
    column = SetColumn.beside(counts, meaning.source)
    promise = next((model for model in models if isinstance(model, KmAnonymity)), None)
    if promise is not None:
        k, m = promise.k if k is None else k, promise.m if m is None else m
    if k is None or m is None:
        raise BadInput(f"this method needs k and m: promise {PiecesOfSets.name}, or give both in [method.parameters]")
    sets = column.items
    near = None if judge is None else _nearness(meaning, judge)
    clusters = taken_apart(sets, k, m, most=most, near=near, listener=listener)
    drawn = generator(rng)
    cells: list[Value] = [None] * len(sets)
    together = pairs = 0
    for number, cluster in enumerate(clusters, start=1):
        for member, held in zip(cluster.members, _told(sets, cluster, number, drawn), strict=True):
            cells[member] = column.read.cell(held)
        inside, every = _pairs(sets, cluster)
        together, pairs = together + inside, pairs + every
    info = {
        "method": name,
        "k": k,
        "m": m,
        "clusters": len(clusters),
        "penalty": 1 - together / pairs if pairs else 0.0,
    }
    return column.allocated(np.arange(len(cells)), cells, info)


def taken_apart(
    sets: ItemSets,
    k: int,
    m: int,
    *,
    most: int | None = None,
    near: Nearness | None = None,
    listener: Listener | None = None,
) -> list[Cluster]:
    """The clusters of some sets, with their pieces; deterministic, whatever the order of the records.

    >>> from keepsense.sets.item_sets import from_lists
    >>> taken_apart(from_lists([["tea", "milk"]] * 2 + [["tea"], ["rum"]]), 2, 2)
    [Cluster(members=(0, 1, 3, 2), pieces=((2, 0),), loose=(1,))]
    """
    if len(sets) < k:
        raise Infeasible(
            f"column {sets.column!r}: {len(sets):,} records are fewer than k = {k}", relax=("a smaller k",)
        )
    records = [frozenset(sets.rows[row].tolist()) for row in range(len(sets))]
    parts = _horizontal(records, k, max(2 * k, _SMALLEST) if most is None else most)
    clusters = []
    for number, members in enumerate(parts, start=1):
        clusters.append(_vertical(records, members, k, m, near))
        emit(listener, "taken apart", number, len(parts), records=len(members))
    return clusters


def _horizontal(records: Sequence[frozenset[int]], k: int, most: int) -> list[tuple[int, ...]]:
    """Divide records by the most frequent item that was not used yet, as long as both parts have k (HORPART)."""
    whole = tuple(sorted(range(len(records)), key=lambda row: (sorted(records[row]), row)))
    open_parts: list[tuple[tuple[int, ...], frozenset[int]]] = [(whole, frozenset())]
    parts = []
    while open_parts:
        members, used = open_parts.pop()
        split = None if len(members) <= most else _split(records, members, used, k)
        if split is None:
            parts.append(members)
            continue
        item, inside, outside, tried = split
        open_parts += [(outside, used | tried), (inside, used | tried | {item})]
    return parts


def _split(
    records: Sequence[frozenset[int]], members: tuple[int, ...], used: frozenset[int], k: int
) -> tuple[int, tuple[int, ...], tuple[int, ...], frozenset[int]] | None:
    """The most frequent item that leaves k records on both sides, both sides, and items that never will."""
    support = Counter(item for row in members for item in records[row] if item not in used)
    fitting = [item for item, number in support.items() if k <= number <= len(members) - k]
    if not fitting:
        return None
    item = min(fitting, key=lambda item: (-support[item], item))
    inside = tuple(row for row in members if item in records[row])
    outside = tuple(row for row in members if item not in records[row])
    return item, inside, outside, frozenset(i for i, number in support.items() if number == len(members))


def _vertical(
    records: Sequence[frozenset[int]], members: tuple[int, ...], k: int, m: int, near: Nearness | None
) -> Cluster:
    """Put the items of a cluster into pieces in which any m that occur together do so k times (VERPART)."""
    support = Counter(item for row in members for item in records[row])
    order = sorted(support, key=lambda item: (-support[item], item))
    loose = [item for item in order if support[item] < k]
    left = [item for item in order if support[item] >= k]
    pieces: list[tuple[int, ...]] = []
    while left:
        piece = [left[0]]
        waiting = left[1:]
        while waiting:
            # by meaning the nearest to what the piece holds now, else the most frequent
            item = waiting[0] if near is None else min(waiting, key=lambda i: (near(i, piece), -support[i], i))
            waiting.remove(item)
            if _stays_frequent(records, members, piece, item, k, m):
                piece.append(item)
        pieces.append(tuple(piece))
        left = [item for item in left if item not in piece]
    while not loose and pieces and not _enough_parts(records, members, pieces, k, m):
        rarest = min((item for piece in pieces for item in piece), key=lambda item: (support[item], -item))
        pieces = [rest for piece in pieces if (rest := tuple(item for item in piece if item != rarest))]
        loose.append(rarest)
    return Cluster(members, tuple(pieces), tuple(loose))


def _stays_frequent(
    records: Sequence[frozenset[int]], members: Sequence[int], piece: Sequence[int], item: int, k: int, m: int
) -> bool:
    """Whether everything of up to m items that occurs with one more item of a piece still occurs k times."""
    held = frozenset(piece)
    times: Counter[tuple[int, ...]] = Counter()
    for row in members:
        if item in records[row]:
            part = sorted(held & records[row])
            times.update(known for size in range(1, m) for known in combinations(part, size))
    return all(number >= k for number in times.values())


def _enough_parts(
    records: Sequence[frozenset[int]], members: Sequence[int], pieces: Sequence[tuple[int, ...]], k: int, m: int
) -> bool:
    """Whether pieces hold so many parts that nobody need be without items however they are put together (Lemma 2)."""
    parts = sum(1 for piece in pieces for row in members if records[row] & frozenset(piece))
    return parts >= len(members) + k * (min(m, len(pieces)) - 1)


def _told(sets: ItemSets, cluster: Cluster, number: int, rng: np.random.Generator) -> list[list[Value]]:
    """What each record of a cluster is released with: its parts of the pieces dealt at random, and all loose items."""
    loose = [f"{number}{LOOSE} {sets.items[item]}" for item in cluster.loose]
    told: list[list[Value]] = [[f"{CLUSTER}{number}", *loose] for _ in cluster.members]
    for place, piece in enumerate(cluster.pieces, start=1):
        inside = frozenset(piece)
        parts = [inside & frozenset(sets.rows[row].tolist()) for row in cluster.members]
        for at, taken in enumerate(rng.permutation(len(parts)).tolist()):
            told[at] += [f"{number}.{place} {sets.items[item]}" for item in sorted(parts[taken])]
    return [sorted(held, key=str) for held in told]


def _pairs(sets: ItemSets, cluster: Cluster) -> tuple[int, int]:
    """Pairs of items that records of a cluster hold and that are in one piece, and all pairs that they hold."""
    inside = every = 0
    for row in cluster.members:
        held = frozenset(sets.rows[row].tolist())
        every += len(held) * (len(held) - 1) // 2
        for piece in cluster.pieces:
            some = len(held & frozenset(piece))
            inside += some * (some - 1) // 2
    return inside, every


def _nearness(meaning: ConceptSets, judge: Distance) -> Nearness:
    """Mean distance of an item to others, by what they mean."""
    between = meaning.distances(judge)

    def mean(item: int, others: Sequence[int]) -> float:
        own = np.full(len(others), meaning.thing_of[item], dtype=np.int64)
        return float(between.pairs(own, meaning.thing_of[np.array(others)].astype(np.int64)).mean())

    return mean


_STEPS = Flowchart.line(
    "Sets, k and m",
    "Divide the records into clusters by their most frequent items",
    "Put the items of a cluster into pieces in which what occurs together does so k times",
    "Call items of fewer than k records loose",
    "Deal the parts of each piece to the records of the cluster at random",
    end="The same items, without what rarely occurs together",
)
_FIT = Fit(
    points=3.0,
    reason="every item stays as it is, and what occurs together often can be counted",
    unfit=(ALONE,),
    promised=lambda s: [PiecesOfSets(s.k, 2, s.set_column).promise()],
)
_SHOWN = Shown(why_not="its pieces are dealt at random; the page on sets shows them")
METHOD = registered(
    Method(
        name="disassociation",
        title="Disassociation of sets",
        function=disassociation,
        set_runner=by_concepts,
        place=10,
        short="every item stays, rare combinations are taken apart",
        intent="Take sets apart into pieces, so that only what at least k people share is told together.",
        use=("every item must stay as it is", "readers count items, and what often occurs together"),
        avoid=("whole sets are wanted", "rare combinations are what the data is for"),
        inputs=("a column of sets", "k and m: how many items an attacker may know"),
        guarantee="k^m-anonymity of pieces: any m items of a person fit k records of some table behind the pieces.",
        cost="Combinations of up to m items of each record, a few times.",
        paper="Terrovitis, Mamoulis, Liagouris and Skiadopoulos 2012.",
        example="Whoever bought tea, milk and a rare book: tea and milk stay together, the book is loose.",
        truthful=False,
        unweighed="it changes one column of sets",
        promises=(PiecesOfSets.name,),
        sets="only",
        steps=_STEPS,
        conflicts=(Relation("noise addition", "pieces tell exactly what occurs together, and noise would hide that"),),
        fit=_FIT,
        shown=_SHOWN,
    )
)
SEMANTIC = registered(
    Method(
        name="semantic disassociation",
        title="Disassociation of sets by meaning",
        function=semantic_disassociation,
        set_runner=by_concepts,
        family="disassociation",
        place=1,
        short="pieces are about one thing",
        intent="Take sets apart into pieces of items that are close in meaning.",
        use=("items have a taxonomy", "readers count what goes with what inside a topic"),
        avoid=("most items are in no taxonomy",),
        inputs=("a column of sets with a taxonomy", "k and m: how many items an attacker may know"),
        guarantee="k^m-anonymity of pieces: any m items of a person fit k records of some table behind the pieces.",
        cost="Combinations of up to m items of each record, and distances between items of a cluster.",
        paper="After Terrovitis, Mamoulis, Liagouris and Skiadopoulos 2012; the order by meaning is our own.",
        example="Tea and rum are one piece, ham and beef another, though tea and ham are bought more often.",
        truthful=False,
        unweighed="it changes one column of sets",
        promises=(PiecesOfSets.name,),
        sets="only",
        steps=_STEPS,
        fit=replace(
            _FIT, points=2.9, reason="every item stays as it is, and what goes with what inside a topic can be counted"
        ),
        shown=_SHOWN,
    )
)
