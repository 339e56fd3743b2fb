"""Definitions of concepts: their text where the source has it, and their stemmed content words.

Disambiguation compares the words of definitions (Lesk 1986; Banerjee and Pedersen 2002). It needs to know which words
two glosses share and which stand side by side, not the text: so every gloss, its definition and its examples alike,
is kept as the stems of its content words, in order, each an integer id into one vocabulary, the most frequent first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Ints, Rows, Strings
from keepsense.errors import BadTaxonomy
from keepsense.taxonomy.taxonomy import Concept, Taxonomy
from keepsense.taxonomy.word_forms import content_words, plain_words

GLOSSES = "glosses"
_VOCABULARY = "gloss vocabulary"
_SIZES = "gloss sizes"
_WORDS = "gloss words"


def pack_glosses(glosses: Iterable[str], *, english: bool = True) -> tuple[dict[str, NDArray[Any]], dict[str, Strings]]:
    """The `extra` arrays and `tables` of a taxonomy that hold its glosses' content words, one gloss a concept.

    Other languages than English are not stemmed; words found in more than one gloss of fifty count as function words.

    >>> extra, tables = pack_glosses(["a large cat", "a cat and a dog"])
    >>> extra["gloss sizes"].tolist(), extra["gloss words"].tolist(), list(tables["gloss vocabulary"])
    ([2, 2], [2, 0, 0, 1], ['cat', 'dog', 'larg'])
    """
    words = [content_words(text) for text in glosses] if english else _rare_words([plain_words(t) for t in glosses])
    counts = Counter(w for row in words for w in row)
    vocabulary = sorted(counts, key=lambda w: (-counts[w], w))
    number = {w: i for i, w in enumerate(vocabulary)}
    kind = np.uint16 if len(vocabulary) <= 1 << 16 else np.int32
    sizes = np.array([len(row) for row in words], dtype=np.int32)
    flat = np.fromiter((number[w] for row in words for w in row), dtype=kind, count=int(sizes.sum()))
    size_kind = np.uint8 if not len(sizes) or sizes.max() < 256 else np.int32
    return {_SIZES: sizes.astype(size_kind), _WORDS: flat}, {_VOCABULARY: Strings.of(vocabulary)}


def _rare_words(words: list[list[str]]) -> list[list[str]]:
    """Without the words that too many glosses have; too few glosses tell nothing about that."""
    if len(words) < 200:
        return words
    glosses_with = Counter(w for row in words for w in set(row))
    return [[w for w in row if glosses_with[w] * 50 <= len(words)] for row in words]


@lru_cache(maxsize=4)
def gloss_rows(taxonomy: Taxonomy) -> Rows:
    """Ids of the stemmed content words of every concept's gloss, one row a concept, in the gloss's order.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> gloss_rows(from_edges([("cat", "animal")]))
    Traceback (most recent call last):
    ...
    keepsense.errors.BadTaxonomy: taxonomy: the taxonomy has no glosses; senses can still be chosen by order or jointly
    """
    sizes, words = taxonomy.extra.get(_SIZES), taxonomy.extra.get(_WORDS)
    if sizes is None or words is None:
        raise BadTaxonomy(
            f"{taxonomy.name}: the taxonomy has no glosses; senses can still be chosen by order or jointly"
        )
    starts = np.zeros(len(sizes) + 1, dtype=np.int32)
    np.cumsum(sizes, out=starts[1:])
    if len(sizes) != len(taxonomy) or int(starts[-1]) != len(words) or (len(sizes) and int(sizes.min()) < 0):
        raise BadTaxonomy(f"{taxonomy.name}: the gloss words do not fit the concepts; write the taxonomy file again")
    return Rows(starts, words.astype(np.int32))


def gloss_words(taxonomy: Taxonomy, concept: Concept) -> Ints:
    """Ids of the stemmed content words of one concept's gloss, in order.

    >>> from keepsense.taxonomy.embedded_taxonomies import wordnet
    >>> ids = gloss_words(wordnet(), "coach#1")
    >>> [wordnet().tables["gloss vocabulary"][i] for i in ids]
    ['sport', 'charg', 'train', 'athlet', 'team']
    """
    return gloss_rows(taxonomy)[taxonomy.code(concept)]


@lru_cache(maxsize=4)
def _numbers(taxonomy: Taxonomy) -> dict[str, int]:
    return {word: i for i, word in enumerate(taxonomy.tables.get(_VOCABULARY, ()))}


def word_ids(taxonomy: Taxonomy, text: str) -> list[int]:
    """Ids of a text's content words, as glosses hold them; words that no gloss has are left out.

    >>> from keepsense.taxonomy.embedded_taxonomies import wordnet
    >>> word_ids(wordnet(), "training of the qwertyzz") == word_ids(wordnet(), "trained")
    True
    """
    number = _numbers(taxonomy)
    english = taxonomy.info.get("language", "en").startswith("en")
    return [number[w] for w in (content_words if english else plain_words)(text) if w in number]


def gloss(taxonomy: Taxonomy, concept: Concept) -> str | None:
    """Text of a concept's gloss for people, or None where the source ships none (the embedded WordNet does not).

    >>> from keepsense.taxonomy.embedded_taxonomies import wordnet
    >>> gloss(wordnet(), "coach#1") is None
    True
    """
    table = taxonomy.tables.get(GLOSSES)
    return (table[taxonomy.code(concept)] or None) if table is not None else None


def explain(taxonomy: Taxonomy, concept: Concept) -> str:
    """One line that lets a person tell senses apart: the gloss where there is one, else synonyms and parents.

    >>> from keepsense.taxonomy.embedded_taxonomies import wordnet
    >>> explain(wordnet(), "coach#1")
    'coach (manager, handler), a kind of trainer'
    """
    text = gloss(taxonomy, concept)
    first, *others = taxonomy.synonyms(concept)
    return f"{', '.join([first, *others[:4]])}: {text}" if text else taxonomy.describe(concept)
