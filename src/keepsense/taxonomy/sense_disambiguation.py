"""Which sense of a word a column means, judged by the other words of the column.

A strategy gets the candidate concepts of each distinct word, the most likely first, and picks one of each:

- `context`, the default: by how often a sense is met, the other words, and the column's name, with a probability; a
  word of which no sense is likely enough stays in doubt.
- `first`: the sense the source lists first. Needs no context; right for most words, wrong in the same way for all rows.
- `lesk`: the sense whose definition, and those of its neighbours, share most with the definitions of the other words
  (adapted Lesk; Banerjee and Pedersen 2002; step 1 of AIKA, Ayala-Rivera et al.).
- `joint`: the senses that together lie closest to one another in the taxonomy.

All are deterministic, and the order of the words does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints, Rows
from keepsense.errors import BadInput, did_you_mean
from keepsense.taxonomy.glosses import gloss_rows
from keepsense.taxonomy.lookup import lookup
from keepsense.taxonomy.taxonomy import Taxonomy, subsumer_rows
from keepsense.taxonomy.word_forms import content_words

# The strategy `context`: probabilities of senses from their frequency, the column's other words and its name
#
# A concept gains where far more of the column's words can lie below it than by chance (Resnik 1995, as odds). No
# definitions are read, so it works for any taxonomy.

DOUBT = 0.4
"""Probability below which a sense is not chosen. Where it was less, 2 of 4 senses were right on the half to tune
on; from there to 0.5, 6 of 9 were, since the rest is shared by many senses."""

# Chosen on the tuning half of tests/taxonomy/senses and on columns drawn from WordNet itself; `python -m benchmarks run
# senses` shows what comes of them on the other half.
_UNSEEN, _FADE = 0.5, 0.9  # how often a sense that was never met counts as met, and how that falls from sense to sense
_TEMPER = 0.75  # pieces of evidence are not independent of one another: believe each a little less
_NAME, _MOST = 0.25, 6.0  # how much the column's name counts, and how special a concept shared with it can be
_GUESSED = 0.3  # what a word counts as company that is known by its head noun alone
_ROUNDS = 2
_SIZE = 100_000.0
"""Concepts that chance chooses among: about as many as WordNet has, and the same for a part of it as for the whole."""

_SHARED_SIZE = 1_000
"""Most concepts below one that may stand for a word in doubt; above that it says next to nothing."""
_PLAUSIBLE = 0.1

_PEOPLE = "occupation job profession position role employment vocation career"
_PLACES = "workplace site venue whereabouts"
# What names of columns promise where it is not what the words are kinds of: a nurse is no kind of occupation.
_PROMISES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(_PEOPLE.split(), ("person",)),
    **dict.fromkeys(_PLACES.split(), ("location", "structure", "area")),
    **dict.fromkeys(("value", "values", "column"), ()),
}


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known about the candidates besides the taxonomy: how often each was met under the word's name, which
    words are guesses (known by their head noun alone), and the column's name.

    >>> Evidence(column="placeOfWork").words
    ('place', 'of', 'work')
    """

    met: Floats | None = None
    guessed: NDArray[np.bool_] | None = None
    column: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """Words of the column's name, however they are joined."""
        return tuple(re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", self.column[:200]).lower()))


def probabilities(taxonomy: Taxonomy, candidates: Rows, evidence: Evidence | None = None) -> Floats:
    """Probability of each candidate to be what its word means in this column; those of a word add up to 1.

    The logarithm of a sense's odds is a sum. *Frequency*: how often the source met it under this name. *Company*: for
    the concept above it where this is largest, how many times more of the other words lie below that concept than
    chance would put there; a word with several senses counts below it with the probability of those that do. *Name*:
    how special the most special concept is that it shares with a sense of a word in the column's name. Company and
    probabilities depend on each other, so they are worked out twice. The cost grows with the number of candidates.

    >>> from keepsense.taxonomy.embedded_taxonomies import wordnet
    >>> nouns = wordnet()
    >>> words = ["coach", "bicycle", "train"]
    >>> rows = Rows.from_pairs(*zip(*((i, c) for i, w in enumerate(words) for c in nouns.senses_of(w))), 3)
    >>> chances = probabilities(nouns, rows)[: len(rows[0])]
    >>> nouns.describe(int(rows[0][chances.argmax()])), round(float(chances.max()), 2)
    ('bus (autobus, coach, charabanc, double-decker), a kind of public transport', 0.69)
    """
    evidence = evidence or Evidence()
    row = candidates.row_of()
    if not len(row):
        return np.zeros(0)
    rank = np.arange(len(row)) - candidates.starts[row]
    met = np.zeros(len(row)) if evidence.met is None else evidence.met
    prior = _shares(np.log(met + _UNSEEN * _FADE**rank), row, len(candidates))
    concepts, place = np.unique(candidates.indices, return_inverse=True)
    above = subsumer_rows(taxonomy, concepts).taken(place)
    rarity: Floats = -np.log((taxonomy.hyponym_counts[above.indices] + 1.0) / _SIZE)
    company = _Company(candidates, above, rarity, evidence)
    known = _TEMPER * np.log(prior) + _NAME * _by_name(taxonomy, above, rarity, evidence.words)
    chances = prior
    for _ in range(_ROUNDS):
        chances = _shares(known + _TEMPER * company.lift(chances), row, len(candidates))
    return chances


def likeliest(candidates: Rows, chances: Floats) -> Ints:
    """Position of the likeliest candidate in each row; of equally likely ones the first.

    >>> likeliest(Rows.from_pairs([0, 0, 1], [4, 9, 2], 2), np.array([0.2, 0.8, 1.0])).tolist()
    [1, 0]
    """
    chosen = np.zeros(len(candidates), dtype=np.int32)
    order = np.lexsort((np.arange(len(chances)), -np.round(chances, 9), candidates.row_of()))
    filled = candidates.sizes > 0
    first = candidates.starts[:-1][filled]
    chosen[filled] = order[first] - first
    return chosen


def shared(taxonomy: Taxonomy, candidates: Rows, chances: Floats) -> Ints:
    """For each word the lowest concept above all its plausible senses, which is true of it whichever is meant; -1
    where that is so broad that it says nothing.

    >>> from keepsense.taxonomy.embedded_taxonomies import wordnet
    >>> nouns = wordnet()
    >>> senses = Rows.from_pairs([0, 0, 1, 1], [c for w in ("street", "bank") for c in nouns.senses_of(w)[:2]], 2)
    >>> street, bank = shared(nouns, senses, np.full(4, 0.5)).tolist()
    >>> nouns.label(street), bank
    ('thoroughfare', -1)
    """
    plausible = chances >= _PLAUSIBLE
    word = candidates.row_of()[plausible]
    above = subsumer_rows(taxonomy, candidates.indices[plausible])
    pairs, times = np.unique(word[above.row_of()] * np.int64(len(taxonomy)) + above.indices, return_counts=True)
    owner, concept = np.divmod(pairs, len(taxonomy))
    common = times == np.bincount(word, minlength=len(candidates))[owner]
    owner, concept = owner[common], concept[common].astype(np.int32)
    order = np.lexsort((taxonomy.specificity[concept], owner))  # the last of each word is its lowest
    lowest = np.full(len(candidates), -1, dtype=np.int32)
    lowest[owner[order]] = concept[order]
    lowest[(lowest >= 0) & (taxonomy.hyponym_counts[lowest] >= _SHARED_SIZE)] = -1
    return lowest


class _Company:
    """Which words can lie below which concepts, made ready to be counted with changing probabilities."""

    def __init__(self, candidates: Rows, above: Rows, rarity: Floats, evidence: Evidence) -> None:
        row = candidates.row_of()
        self._sense = above.row_of()
        self._senses = len(row)
        self._rarity = rarity
        _, local = np.unique(above.indices, return_inverse=True)
        width = int(local.max()) + 1
        # A word counts once below a concept, with all its senses there together.
        pairs, self._pair = np.unique(row[self._sense].astype(np.int64) * width + local, return_inverse=True)
        word, self._concept = np.divmod(pairs, width)
        self._of_entry = local
        counts_as = np.ones(len(candidates))
        if evidence.guessed is not None:
            counts_as[evidence.guessed] = _GUESSED
        self._counts_as = counts_as[word]
        self._others = max(1e-9, float(counts_as[candidates.sizes > 0].sum()) - 1.0)

    def lift(self, chances: Floats) -> Floats:
        """Of each sense: log of how many times more of the other words lie below a concept above it than by chance."""
        own = np.bincount(self._pair, chances[self._sense], len(self._concept)) * self._counts_as
        below = np.bincount(self._concept, own)
        chance = np.exp(-self._rarity)
        others = np.maximum(0.0, below[self._of_entry] - own[self._pair])
        return _highest(np.log((others + chance) / (self._others + 1.0)) + self._rarity, self._sense, self._senses)


def _by_name(taxonomy: Taxonomy, above: Rows, rarity: Floats, words: tuple[str, ...]) -> Floats:
    """Of each sense: how special the most special concept is that it shares with a word of the column's name."""
    look = lookup(taxonomy)
    promised = [name for word in words if len(word) > 2 for name in _PROMISES.get(word, (word,))]
    meant = [found.concepts for found in map(look.find, promised) if found and found.how != "head"]
    concepts = np.array([c for row in meant for c in row], dtype=np.int32)
    marked = np.zeros(len(taxonomy), dtype=np.bool_)
    marked[taxonomy.closure(concepts, taxonomy.parents)] = True
    special = np.where(marked[above.indices], np.clip(rarity, 0.0, _MOST), 0.0)
    return _highest(special, above.row_of(), len(above))


def _highest(values: Floats, row: Ints, n_rows: int) -> Floats:
    found = np.full(n_rows, -np.inf)
    np.maximum.at(found, row, values)
    return found


def _shares(logs: Floats, row: Ints, n_rows: int) -> Floats:
    """Numbers that are to each other as the exponentials, and add up to 1 in each row."""
    powers = np.exp(logs - _highest(logs, row, n_rows)[row])
    shares: Floats = powers / np.bincount(row, powers, n_rows)[row]
    return shares


# The strategy `lesk`: the sense whose definition shares most with the definitions of the words around it

_LONGEST_PHRASE = 4
_PARTS = ("part", "member", "substance")


def has_glosses(taxonomy: Taxonomy) -> bool:
    """Whether the taxonomy holds the words of its concepts' definitions; without them `lesk` compares names.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> has_glosses(from_edges([("cat", "pet")]))
    False
    """
    return "gloss words" in taxonomy.extra


def lesk(taxonomy: Taxonomy, candidates: Rows) -> Ints:
    """Position of the chosen candidate in each row, by adapted Lesk (Banerjee and Pedersen 2002).

    A concept is compared through four texts: its own gloss, and the glosses of its parents, of its children and of its
    parts taken together. Each text of one concept is laid beside each of the other's, and a phrase of n content words
    that they share counts n squared. A candidate's score is its mean overlap with the candidates of another word of the
    column, added up over all other words; the highest wins, and of equal ones the likelier sense.

    Three things are simpler than in that paper, so that a column of 100,000 words is no harder than one of ten. Means
    are taken where it tries all combinations of senses in a small window; a phrase that occurs twice in one text counts
    once; and phrases longer than four words count as the fours they consist of. Then an overlap is an inner product (n
    words in a row hold n single words and n(n-1)/2 phrases; counting the first once and the second twice makes n
    squared), the scores of all candidates are one product of a sparse matrix and a vector, and the cost is linear in
    the number of candidates.

    Where the taxonomy has no glosses, the names of the same neighbours take their place.

    >>> from keepsense.taxonomy.embedded_taxonomies import wordnet
    >>> nouns = wordnet()
    >>> words = ["coach", "bicycle", "train"]
    >>> rows = Rows.from_pairs(*zip(*((i, c) for i, w in enumerate(words) for c in nouns.senses_of(w))), 3)
    >>> nouns.describe(int(rows[0][lesk(nouns, rows)[0]]))
    'passenger car (coach, carriage), a kind of car'
    """
    if not len(candidates.indices):
        return np.zeros(len(candidates), dtype=np.int32)
    concepts, place = np.unique(candidates.indices, return_inverse=True)
    vectors = _phrase_vectors(taxonomy, concepts)[place]
    word = candidates.row_of()
    share = 1.0 / candidates.sizes[word]
    means = _selector(word, share, len(candidates)) @ vectors
    together = np.asarray(means.sum(axis=0)).ravel()
    own = np.asarray(vectors.multiply(means[word]).sum(axis=1)).ravel()
    return _best(candidates, -np.round(vectors @ together - own, 6))


def _phrase_vectors(taxonomy: Taxonomy, concepts: Ints) -> Any:
    """Concepts x phrases: how many of the four texts have a phrase, scaled so that products are overlaps."""
    from scipy.sparse import csr_array

    source, target, text = _neighbours(taxonomy, concepts)
    readers, place = np.unique(target, return_inverse=True)
    glosses = _words(taxonomy, readers)
    owner, phrase, weight = [], [], []
    offset = 0
    for length, row, ids in _phrases(glosses):
        owner.append(row)
        phrase.append(ids + offset)
        weight.append(np.full(len(ids), 1.0 if length == 1 else np.sqrt(2.0)))
        offset += int(ids.max()) + 1 if len(ids) else 0
    columns = np.concatenate(phrase)
    scale = np.zeros(offset)
    scale[columns] = np.concatenate(weight)
    shape = (len(readers), offset)
    occurs = csr_array((np.ones(len(columns), np.float32), (np.concatenate(owner), columns)), shape=shape)
    total = csr_array((len(concepts), offset), dtype=np.float32)
    for kind in range(4):
        mine = text == kind
        reads = _selector(source[mine], np.ones(int(mine.sum())), len(concepts), place[mine], len(readers))
        found = csr_array(reads @ occurs)
        found.data[:] = 1.0  # a text has a phrase or has it not
        total = total + found
    return csr_array(total.multiply(scale[None, :]))


def _neighbours(taxonomy: Taxonomy, concepts: Ints) -> tuple[Ints, Ints, Ints]:
    """Pairs (position in `concepts`, concept whose gloss it reads) and the text that gloss belongs to, 0 to 3."""
    here = np.arange(len(concepts), dtype=np.int32)
    links = [(here, concepts, 0)]
    relations = [(taxonomy.parents, 1), (taxonomy.children, 2)]
    relations += [(taxonomy.relations[kind], 3) for kind in _PARTS if kind in taxonomy.relations]
    for rows, text in relations:
        links.append((np.repeat(here, rows.sizes[concepts]), rows.gather(concepts), text))
    kinds = [np.full(len(source), text, np.int32) for source, _, text in links]
    return np.concatenate([a for a, _, _ in links]), np.concatenate([b for _, b, _ in links]), np.concatenate(kinds)


def _words(taxonomy: Taxonomy, concepts: Ints) -> Rows:
    """Word ids of each concept's gloss in order, or of its names where the taxonomy has no glosses."""
    if has_glosses(taxonomy):
        glosses = gloss_rows(taxonomy)
        starts = np.zeros(len(concepts) + 1, dtype=np.int32)
        np.cumsum(glosses.sizes[concepts], out=starts[1:])
        return Rows(starts, glosses.gather(concepts))
    number: dict[str, int] = {}
    named = [
        [number.setdefault(w, len(number)) for name in taxonomy.synonyms(int(c)) for w in content_words(name)]
        for c in concepts
    ]
    starts = np.zeros(len(concepts) + 1, dtype=np.int32)
    np.cumsum([len(row) for row in named], out=starts[1:])
    return Rows(starts, np.array([w for row in named for w in row], dtype=np.int32))


def _phrases(words: Rows) -> Iterator[tuple[int, Ints, NDArray[np.int64]]]:
    """For each length: the rows in which phrases occur and the phrases' numbers, each pair once."""
    row = words.row_of()
    single = words.indices.astype(np.int64)
    phrase = single
    width = int(single.max()) + 1 if len(single) else 1
    for length in range(1, _LONGEST_PHRASE + 1):
        if length > 1:
            within = row[: len(phrase) - 1] == row[length - 1 :]
            phrase = np.where(within, phrase[:-1] * width + single[length - 1 :], -1) if len(phrase) > 1 else phrase[:0]
        good = phrase >= 0
        known, number = np.unique(phrase, return_inverse=True)
        number = number.astype(np.int64) - int(len(known) > 0 and known[0] < 0)
        size = max(1, len(known))
        owner, distinct = np.divmod(np.unique(row[: len(phrase)][good] * np.int64(size) + number[good]), size)
        yield length, owner.astype(np.int32), distinct
        phrase = np.where(good, number, -1)


def _selector(row: Any, value: Any, n_rows: int, column: Any = None, n_columns: int | None = None) -> Any:
    from scipy.sparse import csr_array

    column = np.arange(len(row)) if column is None else column
    return csr_array((value, (row, column)), shape=(n_rows, len(row) if n_columns is None else n_columns))


def _best(candidates: Rows, cost: Floats) -> Ints:
    """Position of the least cost in each row; of equal ones the first."""
    chosen = np.zeros(len(candidates), dtype=np.int32)
    order = np.lexsort((np.arange(len(cost)), cost, candidates.row_of()))
    filled = candidates.sizes > 0
    first = candidates.starts[:-1][filled]
    chosen[filled] = order[first] - first
    return chosen


# All strategies

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

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
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

    `distance` gives distances between concept codes (`keepsense.semantics.distance.distance(...).matrix`); without it
    they are
    Wu and Palmer's (1994) by depth, `1 - 2 depth(lcs) / (depth(a) + depth(b))`. One pass costs candidates x words.

    >>> from keepsense.taxonomy.embedded_taxonomies import wordnet
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

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
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
