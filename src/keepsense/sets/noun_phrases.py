"""Noun phrases in short texts, each of which names one concept (Batet et al. 2014, Sec. 3.1.1).

"AC charger for an iPhone" names two, `AC charger` and `iPhone`. The chunker here needs no model: it knows which words
are function words, and from WordNet which are verbs, adjectives and adverbs and how often each is a noun. A phrase is a
run of nouns with what qualifies them on the left; the noun on the right carries its meaning. An unknown word is
taken for a noun, as names and brands are. It is made for English; where something better is at hand give
`phrases_by_hanta`, or any function that turns texts into
lists of phrases.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from keepsense.errors import MissingExtra
from keepsense.taxonomy.lookup import Lookup, lookup
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.word_forms import CLOSED, LONGEST, base_forms, normalise

Chunker = Callable[[Sequence[str]], list[list[str]]]
"""Anything that turns texts into their noun phrases, in order."""

_DETERMINERS = """a an the this that these those my your his her its our their some any each every no another both
    either neither few many several what which whose all other such"""
_BEFORE_VERBS = """i you he she it we they who to can could will would shall should may might must do does did not dont
    doesnt didnt cant wont lets please how"""
_MORE_CLOSED = """am could would shall should might must dont doesnt didnt cant wont isnt arent wasnt lets please him
    himself herself itself myself yourself themselves ourselves someone somebody anyone anybody everyone nobody
    something anything everything nothing here there then now also just only ever never always again why whom than vs
    versus etc ie eg www http https im ive youre whats thats hers theirs mine yours ours"""
DETERMINERS = frozenset(_DETERMINERS.split())
BEFORE_VERBS = frozenset(_BEFORE_VERBS.split())
FUNCTION_WORDS = CLOSED | DETERMINERS | BEFORE_VERBS | frozenset(_MORE_CLOSED.split())
_TOKEN = re.compile(r"[^\s,;:!?()\[\]{}<>\"“”„«»/|\\]+|[,;:!?()\[\]{}<>\"“”„«»/|\\]")
_STOP = re.compile(r"[,;:!?()\[\]{}<>\"“”„«»/|\\]")

# what a word can be in a phrase: a noun, an adjective, a participle, a verb, or what ends a phrase
_NOUN, _ADJECTIVE, _PARTICIPLE, _VERB, _END = "noun", "adjective", "participle", "verb", "end"


@dataclass(frozen=True, slots=True)
class _Word:
    """One word of a text: as written, as compared, what it likeliest is, and whether it can be a noun."""

    text: str
    key: str
    kind: str
    nominal: bool


def noun_phrases(texts: Sequence[str], taxonomy: Taxonomy | None = None) -> list[list[str]]:
    """Noun phrases of each text, in order, without articles; the embedded chunker.

    Names of the `taxonomy` that have a function word inside (`bill of rights`) are kept in one piece, and a text that
    is a name as a whole is one phrase. A text in which no phrase is found is its own only phrase: nothing is dropped.
    Takes some ten microseconds a text.

    >>> noun_phrases(["AC charger for an iPhone", "how to fix a broken washing machine", "cheap hotels in Paris"])
    [['AC charger', 'iPhone'], ['broken washing machine'], ['cheap hotels', 'Paris']]
    """
    names = None if taxonomy is None else _Names(lookup(taxonomy))
    known: dict[str, list[str]] = {}
    for text in texts:
        if text not in known:
            known[text] = _phrases(text, names)
    return [list(known[text]) for text in texts]


class _Names:
    """Names of a taxonomy that a chunker must not take apart."""

    def __init__(self, look: Lookup) -> None:
        self.keys = look.keys
        self.longest: dict[str, int] = {}
        for key in look.keys:
            words = key.split()
            if len(words) > 1:
                self.longest[words[0]] = max(self.longest.get(words[0], 0), len(words))

    def at(self, words: Sequence[_Word], start: int) -> int:
        """Number of words of the longest name that begins here; 0 where there is none of several words."""
        most = self.longest.get(words[start].key.partition(" ")[0], 0)
        for size in range(min(most, len(words) - start), 1, -1):
            if " ".join(word.key for word in words[start : start + size]) in self.keys:
                return size
        return 0


def _phrases(text: str, names: _Names | None) -> list[str]:
    whole = text.strip()
    if len(whole) > LONGEST:
        whole = whole[:LONGEST]
    elif names is not None and normalise(whole) in names.keys:
        return [whole]
    found = [phrase for part in _parts(whole) for phrase in _chunks(part, names)]
    return found or ([text.strip()] if text.strip() else [])


def _parts(text: str) -> Iterator[list[_Word]]:
    """Words between punctuation marks."""
    words: list[_Word] = []
    for token in _TOKEN.findall(text):
        if _STOP.match(token):
            yield words
            words = []
            continue
        bare = token.strip("'’`´.…*~_=+-") if not token.isalnum() else token
        ends = token.endswith((".", "…")) and "." not in bare and len(bare) > 2
        if bare:
            words.append(_word(bare))
        if ends or not bare:
            yield words
            words = []
    yield words


@cache
def _kinds() -> Mapping[str, str]:
    """Kinds of every word that is not a noun only: `watch` is `vn`, a verb rather than a noun."""
    packed = resources.files("keepsense.sets").joinpath("data/words.z").read_bytes()
    lines = zlib.decompress(packed).decode("ascii").split("\n")
    return dict(line.split(" ") for line in lines)


_WORDS: dict[str, _Word] = {}


def _word(text: str) -> _Word:
    found = _WORDS.get(text)
    if found is None:
        key = normalise(text)
        kind, nominal = _kind(key if key else text.lower())
        found = _Word(text, key, kind, nominal)
        if len(_WORDS) < 1 << 18:
            _WORDS[text] = found
    return found


def _kind(key: str) -> tuple[str, bool]:
    """What a word likeliest is in a short text, and whether it can be a noun at all."""
    if key in FUNCTION_WORDS:
        return _END, False
    kinds = _kinds()
    listed = kinds.get(key) or kinds.get(key.replace(" ", "-"))
    if listed:
        first = {"n": _NOUN, "v": _VERB, "a": _ADJECTIVE, "r": _END}[listed[0]]
        if first is _ADJECTIVE and key.endswith(("ing", "ed")):
            first = _PARTICIPLE
        return first, "n" in listed
    for base in base_forms(key, {}):
        if base in kinds and "n" not in kinds[base] and kinds[base][0] == "v":
            return _VERB, False
    for ending, repairs in (("ing", ("", "e")), ("ed", ("", "e")), ("ied", ("y",))):
        stem = key.removesuffix(ending)
        if stem == key or len(stem) < 2:
            continue
        bases = [stem + repair for repair in repairs] + ([stem[:-1]] if stem[-1:] == stem[-2:-1] else [])
        if any("v" in kinds.get(base, "") for base in bases):
            return _PARTICIPLE, ending == "ing"
    return _NOUN, True


def _chunks(words: Sequence[_Word], names: _Names | None) -> Iterator[str]:
    """Runs of nouns, each with what qualifies it on the left."""
    run: list[_Word] = []
    nouns = 0  # words of the run up to and including its last noun
    before = opened = ""  # the word before, and the one before the run
    at = 0
    while at < len(words):
        size = names.at(words, at) if names is not None and words[at].kind is not _END else 0
        if size:
            opened = opened if run else before
            run += words[at : at + size]
            nouns = len(run)
            before = words[at + size - 1].key
            at += size
            continue
        word = words[at]
        kind = _in_place(word, words[at + 1] if at + 1 < len(words) else None, before, bool(run))
        if kind is _END or kind is _VERB:
            yield from _finished(run, nouns, opened)
            run, nouns = [], 0
        else:
            if kind is not _NOUN and nouns:
                yield from _finished(run, nouns, opened)
                run, nouns = [], 0
            opened = opened if run else before
            run.append(word)
            if kind is _NOUN:
                nouns = len(run)
        before = word.key
        at += 1
    yield from _finished(run, nouns, opened)


def _in_place(word: _Word, after: _Word | None, before: str, inside: bool) -> str:
    """What a word is where it stands: the same word is a verb in `watch movies` and a noun in `a watch`."""
    if word.kind is not _VERB or not word.nominal:
        return word.kind
    if before in BEFORE_VERBS:
        return _VERB
    if inside or before in DETERMINERS:
        return _NOUN
    if after is not None and (after.kind is not _END or after.key in DETERMINERS):
        return _VERB
    return _NOUN


def _finished(run: Sequence[_Word], nouns: int, opened: str) -> Iterator[str]:
    """The run up to its last noun; without one, after a determiner, to a last word that can be one (`the rich`)."""
    end = nouns
    if not end and run and run[-1].nominal and opened in DETERMINERS:
        end = len(run)
    if any(c.isalpha() for word in run[:end] for c in word.text):
        yield " ".join(word.text for word in run[:end])


# A part-of-speech tagger: HanTa (the `nlp` extra)

_TOKENS = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*|[^\w\s]")
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
        return [_tagged_phrases(tagger.tag_sent(_TOKENS.findall(text))) or _itself(text) for text in texts]

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


def _itself(text: str) -> list[str]:
    return [text.strip()] if text.strip() else []
