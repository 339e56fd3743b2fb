"""Adapted Lesk: the sense whose definition shares most with the definitions of the words around it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints, Rows
from keepsense.taxonomy.core import Taxonomy
from keepsense.taxonomy.glosses import gloss_rows
from keepsense.taxonomy.stems import content_words

_LONGEST_PHRASE = 4
_PARTS = ("part", "member", "substance")


def has_glosses(taxonomy: Taxonomy) -> bool:
    """Whether the taxonomy holds the words of its concepts' definitions; without them `lesk` compares names.

    >>> from keepsense.taxonomy import from_edges
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

    >>> from keepsense.taxonomy.embedded import wordnet
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
