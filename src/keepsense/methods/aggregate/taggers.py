"""Noun phrases from part-of-speech taggers that a user has: HanTa (the `nlp` extra) and spaCy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from keepsense.errors import BadInput, MissingExtra
from keepsense.methods.aggregate.phrases import Chunker

_WORDS = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*|[^\w\s]")
# Tags of the British National Corpus, which HanTa's English model has learned.
_NOUN_TAGS = frozenset({"NN0", "NN1", "NN2", "NP0", "UNC"})
_BEFORE_NOUN_TAGS = frozenset({"AJ0", "AJC", "AJS", "VVG", "VVN", "CRD", "ORD", "ZZ0", "POS"})
_NOT_FIRST = frozenset({"POS"})


def phrases_by_hanta(model: str = "morphmodel_en.pgz") -> Chunker:
    """A chunker that tags words with HanTa (Wartena 2019); its English model is in its wheel, so nothing is downloaded.

    It reads the context of each word, so it is better on sentences than the embedded chunker, and slower: about a
    millisecond a text. Give it to `map_sets(..., phrases=phrases_by_hanta())`.

    >>> phrases_by_hanta()(["AC charger for an iPhone"])
    [['AC charger', 'iPhone']]
    """
    tagger = _hanta(model)

    def chunk(texts: Sequence[str]) -> list[list[str]]:
        return [_tagged_phrases(tagger.tag_sent(_WORDS.findall(text))) or _itself(text) for text in texts]

    return chunk


@cache
def _hanta(model: str) -> Any:
    try:
        from HanTa.HanoverTagger import HanoverTagger
    except ImportError:
        raise MissingExtra("tagging with HanTa needs the package HanTa; run: pip install 'keepsense[nlp]'") from None
    return HanoverTagger(model)


def _tagged_phrases(tagged: Sequence[tuple[str, str, str]]) -> list[str]:
    """Runs of nouns and what qualifies them, each cut after its last noun."""
    found: list[str] = []
    run: list[str] = []
    nouns = 0
    for word, _, tag in [*tagged, ("", "", "")]:
        if tag in _NOUN_TAGS:
            run.append(word)
            nouns = len(run)
        elif tag in _BEFORE_NOUN_TAGS and not (tag in _NOT_FIRST and not run):
            if nouns and tag not in ("POS", "CRD", "ZZ0"):
                found.append(_spaced(run[:nouns]))
                run, nouns = [], 0
            run.append(word)
        else:
            if nouns:
                found.append(_spaced(run[:nouns]))
            run, nouns = [], 0
    return found


def _spaced(words: Sequence[str]) -> str:
    return " ".join(words).replace(" 's", "'s").replace(" ’s", "’s")


def phrases_by_spacy(pipeline: Any) -> Chunker:
    """A chunker over a spaCy pipeline of the user's, any language; it must have a parser that finds noun chunks.

    >>> phrases_by_spacy(None)
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: phrases_by_spacy needs a loaded spaCy pipeline, such as spacy.load("en_core_web_sm")
    """
    if not hasattr(pipeline, "pipe"):
        raise BadInput('phrases_by_spacy needs a loaded spaCy pipeline, such as spacy.load("en_core_web_sm")')

    def chunk(texts: Sequence[str]) -> list[list[str]]:
        return [
            _spacy_phrases(document) or _itself(text)
            for text, document in zip(texts, pipeline.pipe(texts), strict=True)
        ]

    return chunk


def _spacy_phrases(document: Any) -> list[str]:
    found = []
    for piece in document.noun_chunks:
        words = list(piece)
        while words and words[0].pos_ in ("DET", "PRON"):
            del words[0]
        if words:
            found.append("".join(word.text_with_ws for word in words).strip())
    return found


def _itself(text: str) -> list[str]:
    return [text.strip()] if text.strip() else []
