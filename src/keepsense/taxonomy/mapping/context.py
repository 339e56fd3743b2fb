"""How likely each sense of a word is in its column: by how often it is met, its company, and the column's name.

Values of one column are mostly of one kind. What kind that is, is not known beforehand; but a concept below which far
more of the column's words can lie than chance would put there is one, and a sense below it gains. So this is Resnik's
(1995) way of telling the senses of nouns in a group, by the most informative concept that they share, put as odds.
It reads names, frequencies and is-a links, no definitions, so it serves any taxonomy.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints, Rows
from keepsense.taxonomy.core import Taxonomy
from keepsense.taxonomy.graph import subsumer_rows
from keepsense.taxonomy.lookup import lookup

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

    >>> from keepsense.taxonomy.embedded import wordnet
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

    >>> from keepsense.taxonomy.embedded import wordnet
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
