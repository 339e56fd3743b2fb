"""Microaggregation of sets: seconds for baskets and query logs, and memory, each against a unit of the same run.

Seconds are those of one core, whatever else the machine is doing; only the matrix of concepts uses several at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks._registry import Figure, benchmark, peak_of
from keepsense.arrays import Rows
from keepsense.methods.microaggregate.mdav import mdav
from keepsense.methods.sets.apriori import generalize_sets_apriori
from keepsense.methods.sets.set_microaggregation import microaggregate_sets
from keepsense.methods.sets.top_down_sets import generalize_sets_top_down
from keepsense.semantics.distance import distance
from keepsense.sets.concept_sets import distinct_sets, map_sets
from keepsense.sets.item_distances import ItemDistances
from keepsense.sets.item_sets import from_delimited
from keepsense.sets.noun_phrases import noun_phrases
from keepsense.sets.set_distance import KINDS, SetSpace
from keepsense.taxonomy.embedded_taxonomies import wordnet

K = 3


def _cpu(function: Callable[[], Any], repeat: int = 1) -> float:
    """Least seconds of a core that a call takes."""
    seconds = []
    for _ in range(repeat):
        start = time.process_time()
        function()
        seconds.append(time.process_time() - start)
    return min(seconds)


def records(n: int, size: int, vocabulary: int, seed: int) -> Rows:
    """Sets of a fixed size over a vocabulary in which the r-th item is drawn in proportion to r to the power -0.7."""
    rng = np.random.default_rng(seed)
    weight = np.arange(1, vocabulary + 1) ** -0.7
    number = rng.permutation(vocabulary)
    cumulated = np.cumsum(weight / weight.sum())
    found = np.empty((n, size), dtype=np.int64)
    todo = np.arange(n)
    while len(todo):
        drawn = np.sort(number[np.searchsorted(cumulated, rng.random((len(todo), size)) * cumulated[-1])], axis=1)
        good = (np.diff(drawn, axis=1) > 0).all(axis=1) if size > 1 else np.ones(len(todo), dtype=np.bool_)
        if size * size > vocabulary / 4:  # so many items rarely come out all different: draw without putting back
            drawn = np.stack([np.sort(number[_without(rng, weight, size)]) for _ in range(len(todo))])
            good = np.ones(len(todo), dtype=np.bool_)
        found[todo[good]] = drawn[good]
        todo = todo[~good]
    return Rows(np.arange(0, n * size + 1, size, dtype=np.int32), found.reshape(-1).astype(np.int32))


def _without(rng: np.random.Generator, weight: np.ndarray[Any, Any], size: int) -> np.ndarray[Any, Any]:
    """Some places drawn by weight without putting back (exponential keys)."""
    return np.argpartition(rng.exponential(size=len(weight)) / weight, size)[:size]


def _unit(rows: Rows, items: ItemDistances) -> float:
    """Seconds of one pass over all records: the least that one look at everybody costs."""
    space = SetSpace("average", items, rows)
    space.from_record(0)
    return _cpu(lambda: [space.from_record(0) for _ in range(20)], 3) / 20


def _timed(n: int, size: int, vocabulary: int, kind: str, bar: float | None) -> Iterator[Figure]:
    """MDAV and the distances it needs, from sets of numbers to groups."""
    nouns = np.sort(np.random.default_rng(0).choice(len(wordnet()), vocabulary, replace=False))
    rows, weights, _ = distinct_sets(records(n, size, vocabulary, seed=1))
    measure = distance("feature", wordnet())
    measure.matrix(nouns[:20])
    items = ItemDistances(measure, nouns)
    seconds = _cpu(lambda: mdav(SetSpace(kind, items, rows), weights, K))
    name = f"{kind}-{n}-records-of-{size}"
    unit = _unit(rows, items)
    wanted = "stated, no bar" if bar is None else f"< {bar:g} s"
    against = f"one pass over all records ({1e3 * unit:.3g} ms)"
    yield Figure(name, seconds, "CPU s", against, seconds / unit, wanted, None if bar is None else seconds < bar)


@benchmark("sets-mdav")
def average() -> Iterator[Figure]:
    """The average distance, k = 3, at the three sizes that have a bar."""
    _warm()
    yield from _timed(1_000, 56, 5_000, "average", 2.0)
    yield from _timed(20_000, 20, 5_000, "average", 90.0)
    yield from _timed(100_000, 5, 169, "average", 300.0)


@benchmark("sets-mdav-others")
def others() -> Iterator[Figure]:
    """The other four distances, pair by pair: what they take."""
    _warm()
    for kind in KINDS[1:]:
        yield from _timed(1_000, 56, 5_000, kind, None)
        yield from _timed(10_000, 5, 169, kind, None)


def _warm() -> None:
    """Compile everything before the clock runs."""
    rows = records(20, 3, 30, seed=0)
    items = ItemDistances(distance("feature", wordnet()), np.arange(30))
    for kind in KINDS:
        mdav(SetSpace(kind, items, rows), np.ones(20, np.int64), 2)


_ALONE = """
import numpy as np
from benchmarks.sets import records
from keepsense.sets.item_distances import ItemDistances
from keepsense.sets.set_distance import SetSpace
from keepsense.methods.microaggregate.mdav import mdav
from keepsense.sets.concept_sets import distinct_sets
from keepsense.semantics.distance import distance
from keepsense.taxonomy.embedded_taxonomies import wordnet
rows, weights, _ = distinct_sets(records({n}, {size}, {vocabulary}, 1))
nouns = np.sort(np.random.default_rng(0).choice(len(wordnet()), {vocabulary}, replace=False))
space = SetSpace("average", ItemDistances(distance("feature", wordnet()), nouns), rows)
left = weights.copy()
space.start(left)
for record in range(20):
    space.from_centre(left)
    space.leave(record, 1)
"""


@benchmark("sets-memory")
def memory() -> Iterator[Figure]:
    """Peak memory: it must grow with records x items and not with records squared, nor with concepts squared."""
    small, _ = peak_of(_ALONE.format(n=25_000, size=5, vocabulary=169))
    large, _ = peak_of(_ALONE.format(n=100_000, size=5, vocabulary=169))
    ratio = large / small
    yield Figure("100000-records-of-5", large, "MB", f"25,000 records ({small:.0f} MB)", ratio, "< 4 x", ratio < 4)
    many, _ = peak_of(_ALONE.format(n=2_000, size=20, vocabulary=20_000))
    whole = 20_000**2 * 8 / 2**20
    yield Figure(
        "20000-concepts", many, "MB", f"the whole matrix ({whole:,.0f} MB)", many / whole, "< 1,000 MB", many < 1000
    )


_WORDS = ("cheap", "hotels", "in", "paris", "how", "to", "fix", "a", "broken", "washing", "machine", "symptoms", "of")
_MORE = ("diabetes", "free", "music", "download", "used", "cars", "for", "sale", "new", "york", "weather", "lyrics")


@benchmark("sets-queries")
def queries() -> Iterator[Figure]:
    """100,000 different queries to noun phrases to concepts, embedded chunker and WordNet."""
    rng = np.random.default_rng(3)
    nouns = [wordnet().label(int(c)) for c in rng.choice(len(wordnet()), 20_000, replace=False)]
    known = (*_WORDS, *_MORE)
    texts = []
    for i in range(100_000):
        few = [known[j] for j in rng.integers(0, len(known), 3)]
        texts.append(" ".join([*few, nouns[int(rng.integers(len(nouns)))], "with", nouns[i % len(nouns)], f"x{i}"]))
    sets = from_delimited(texts, delimiter="\t")
    map_sets(from_delimited(["a new car"]), wordnet(), phrases=True)
    unit = _cpu(lambda: [t.split() for t in texts], 3)
    against = f"splitting the texts at spaces ({unit:.3f} s)"
    seconds = _cpu(lambda: map_sets(sets, wordnet(), phrases=True))
    yield Figure("100000-queries-mapped", seconds, "CPU s", against, seconds / unit, "< 30 s", seconds < 30)
    chunked = _cpu(lambda: noun_phrases(texts, wordnet()))
    yield Figure("100000-queries-chunked", chunked, "CPU s", against, chunked / unit, "stated, no bar", None)


@benchmark("sets-release")
def release() -> Iterator[Figure]:
    """The whole way for 10,000 baskets: from texts to a released column, and the truthful ways beside it."""
    from keepsense.hierarchies.hierarchy import Hierarchy

    rows = records(10_000, 5, 169, seed=1)
    nouns = np.random.default_rng(0).choice(wordnet().leaves(), 169, replace=False)
    names = [wordnet().ids[int(c)] for c in nouns]
    texts = [";".join(names[i] for i in rows[r].tolist()) for r in range(len(rows))]
    hierarchy = Hierarchy.of_rows([(name, f"g{i // 10}", f"a{i // 50}", "*") for i, name in enumerate(names)])
    sets = from_delimited(texts, delimiter=";")
    _warm()
    unit = _cpu(lambda: from_delimited(texts, delimiter=";"), 3)
    measure = distance("feature", wordnet())

    def synthetic() -> Any:
        return microaggregate_sets(map_sets(sets, wordnet()), measure, k=K, rng=0).column()

    ways = {
        "microaggregation-10000-baskets": synthetic,
        "apriori-10000-baskets-m-2": lambda: generalize_sets_apriori(sets, hierarchy, k=K, m=2).column(),
        "topdown-10000-baskets": lambda: generalize_sets_top_down(sets, hierarchy, k=K).column(),
    }
    for name, way in ways.items():
        seconds = _cpu(way)
        against = f"reading the texts ({unit:.3f} s)"
        yield Figure(name, seconds, "CPU s", against, seconds / unit, "stated, no bar", None)
