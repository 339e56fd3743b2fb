"""Look up a text: the concepts that it may mean.

The first rule that finds a name decides:

1. *given*: the text is a concept's id, or a name with its sense number (`coach#1`); where ids are codes of a system
   that `keepsense.taxonomy.code_systems` reads, another spelling of a code is *normalised*, and what lies above a code
   that is not listed is found like a *head*;
2. *exact*: it is a name of a concept, letter for letter;
3. *normalised*: it is one but for case, hyphens, underscores, spaces, punctuation, an English plural or, last, accents;
4. *head*: words are dropped on the left until a name is left (Batet et al. 2014, Sec. 3.1.1: `a new iPhone`,
   `new iPhone`, `iPhone`), because the noun on the right carries what a noun phrase means.

That paper cuts text into noun phrases first. Here a value stands for one concept, that of its first noun phrase: what
follows a comma, slash, preposition or conjunction is left out of rule 4, and so is what stands in brackets. So `teacher
of English` is a teacher and not a language. Numbers, dates and marks for missing values are never taken for words.

Plurals and the head noun are those of English: where a taxonomy says it is in another language, only spelling counts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import filterfalse
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Ints, Rows
from keepsense.taxonomy.code_systems import SPELLINGS, SYSTEM, Codes
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.word_forms import (
    CLOSED,
    LONGEST,
    MISSING_MARKS,
    all_normalised,
    all_without_accents,
    base_forms,
    head_words,
    looks_numeric,
    normalise,
    without_accents,
)

QUALIFIED = re.compile(r"[,;()]|\s{2,}")
"""What parts the name of a place from the area it lies in: `Springfield, IL`, or several blanks, as exports write."""


class Found(NamedTuple):
    """What a text may mean: by which rule it was found, under which name, and the concepts, the likeliest first.

    >>> Found("exact", "coach", (7, 9)).concepts
    (7, 9)
    """

    how: str
    name: str
    concepts: tuple[int, ...]


class Lookup:
    """The names of one taxonomy, ready to be found. Get it with `lookup`, which makes it once a taxonomy.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> lookup(from_edges([("house cat", "pet")])).find("House-Cats").name
    'house cat'
    """

    def __init__(self, taxonomy: Taxonomy) -> None:
        # The index is kept as long as its taxonomy, so it must not hold on to it: only to parts of it.
        self._terms = taxonomy.terms
        self._senses = taxonomy._senses
        self._sense_counts = taxonomy.sense_counts
        self._by_id = taxonomy._by_id
        self._by_term = taxonomy._by_term
        self._whole = taxonomy.whole
        self._system = taxonomy.info.get(SYSTEM, "")
        self._above = taxonomy.parents if taxonomy.info.get("kind") == "places" else None
        self._english = taxonomy.info.get("language", "en").startswith("en")
        self._own = "exception forms" in taxonomy.tables
        self._exceptions = _exceptions(taxonomy) if self._own else None

    @cached_property
    def _codes(self) -> Codes | None:
        return Codes(SPELLINGS[self._system], self._by_id) if self._system in SPELLINGS else None

    @cached_property
    def keys(self) -> dict[str, tuple[int, ...]]:
        """Positions of the terms behind each normalised name."""
        found: dict[str, tuple[int, ...]] = {}
        for position, key in enumerate(all_normalised(list(self._terms))):
            found[key] = (*found[key], position) if key in found else (position,)
        found.pop("", None)
        return found

    @cached_property
    def _joined(self) -> dict[str, tuple[int, ...]]:
        """The same without any spaces: `postdoc`, `post doc`."""
        return _under(self.keys, _without_spaces(list(self.keys)))

    @cached_property
    def _unaccented(self) -> dict[str, tuple[int, ...]]:
        accented = {key: self.keys[key] for key in filterfalse(str.isascii, self.keys)}
        return _under(accented, all_without_accents(list(accented)))

    @cached_property
    def _singular(self) -> dict[str, tuple[int, ...]]:
        """Names that are plurals, under their base forms. WordNet's own names are singular wherever they can be."""
        if self._own or not self._english:
            return {}
        return _regrouped(self.keys, (self._inflected(key, first=False) for key in self.keys))

    @cached_property
    def _irregular(self) -> Mapping[str, Sequence[str]]:
        """The taxonomy's own list of irregular plurals, or else WordNet's."""
        if self._exceptions is None:
            from keepsense.taxonomy.embedded_taxonomies import wordnet

            self._exceptions = _exceptions(wordnet())
        return self._exceptions

    def _bases(self, word: str) -> list[str]:
        return base_forms(word, self._irregular) if self._english else []

    @cached_property
    def _most_words(self) -> int:
        return max((key.count(" ") + 1 for key in self.keys), default=1)

    def find(self, text: str, inside: NDArray[np.bool_] | None = None) -> Found | None:
        """What a text may mean, or None; `inside` marks the concepts that may be found, where not all may.

        >>> from keepsense.taxonomy.taxonomy_builder import from_edges
        >>> pets = from_edges([("house cat", "pet"), ("mouse", "pet")])
        >>> look = lookup(pets)
        >>> [(f.how, f.name) for f in map(look.find, ("pet", "House-Cats", "mice", "a small pet"))]
        [('exact', 'pet'), ('normalised', 'house cat'), ('normalised', 'mouse'), ('head', 'pet')]
        """
        if len(text) > LONGEST or text.strip() in MISSING_MARKS:
            return None
        code = self._by_id.get(text)
        position = self._by_term.get(text)
        numeric = looks_numeric(text)
        if position is not None and not (numeric and code is None):
            found = self._exact(position, inside)
            if found and (code is None or code in self._senses[position]):
                return found
        if code is not None:
            return Found("given", text, (code,)) if inside is None or inside[code] else None
        if self._codes is not None and (spelled := self._codes.find(text)) is not None:
            code = self._by_id[spelled.id]
            how = "normalised" if spelled.exact else "head"
            return Found(how, spelled.id, (code,)) if inside is None or inside[code] else None
        if numeric:
            return None
        name, mark, number = text.rpartition("#") if "#" in text else ("", "", "")
        plain = "#" not in name or name in self._by_term
        if mark and plain and number.isascii() and number.isdigit() and len(number) < 6:
            there = None if self._whole is None else lookup(self._whole).find(text)
            if self._whole is not None and (there is None or there.how == "given"):
                return None if there is None else self._part(there, self._whole, inside)
            named = self.find(name)
            if named and named.how in ("exact", "normalised"):
                own = self._by_term.get(name)
                numbered = named.concepts if own is None else tuple(self._senses[own].tolist())
                nth = numbered[int(number) - 1 : int(number)] if int(number) else ()
                return Found("given", named.name, nth) if nth and (inside is None or inside[nth[0]]) else None
        key = normalise(text)
        found = self._by_key("normalised", key, inside) if len(key) > 1 and key not in CLOSED else None
        found = found or (self._qualified(text, inside) if self._above is not None else None)
        return found or (self._head(text, inside) if self._english else None)

    def _part(self, there: Found, whole: Taxonomy, inside: NDArray[np.bool_] | None) -> Found | None:
        """A numbered sense: numbers count the senses of the whole that this taxonomy is a part of."""
        own = tuple(code for c in there.concepts if (code := self._by_id.get(whole.ids[c])) is not None)
        return Found("given", there.name, own) if own and (inside is None or inside[own[0]]) else None

    def _exact(self, position: int, inside: NDArray[np.bool_] | None) -> Found | None:
        """Concepts of a name, then of those that differ in initials: a capital at the start of a cell says nothing."""
        name = self._terms[position]
        alike = [p for p in self.keys.get(normalise(name), ()) if p != position]
        others = [p for p in alike if _uncapitalised(self._terms[p]) == _uncapitalised(name)]
        concepts = dict.fromkeys(c for p in (position, *others) for c in self._senses[p].tolist())
        allowed = tuple(c for c in concepts if inside is None or inside[c])
        return Found("exact", name, allowed) if allowed else None

    def met(self, name: str, concepts: Sequence[int]) -> list[int]:
        """How often the source met each concept under a name, in whatever case; 0 where it does not tell.

        >>> from keepsense.taxonomy.embedded_taxonomies import wordnet
        >>> look = lookup(wordnet())
        >>> look.met("coach", look.find("coach").concepts)
        [20, 0, 0, 0, 0]
        """
        counts: dict[int, int] = {}
        if self._sense_counts is None:
            return [0] * len(concepts)
        for position in self.keys.get(normalise(name), ()):
            entries = slice(self._senses.starts[position], self._senses.starts[position + 1])
            for concept, times in zip(self._senses.indices[entries], self._sense_counts[entries], strict=True):
                counts[int(concept)] = counts.get(int(concept), 0) + int(times)
        return [counts.get(concept, 0) for concept in concepts]

    def _qualified(self, text: str, inside: NDArray[np.bool_] | None) -> Found | None:
        """A place with what it lies in: `Springfield, IL` or `Paris (France)`."""
        parts = [part for part in QUALIFIED.split(text) if part.strip()]
        named = self.find(parts[0], inside) if len(parts) > 1 else None
        if named is None or self._above is None:
            return None
        concepts = named.concepts
        for area in map(self.find, parts[1:]):
            areas = area.concepts if area else ()
            concepts = tuple(place for place in concepts if lies_in(self._above, place, areas))
        return Found("normalised", named.name, concepts) if concepts else None

    def _head(self, text: str, inside: NDArray[np.bool_] | None) -> Found | None:
        """Words dropped on the left: first with all that follows the head noun, then without."""
        words, end = head_words(text)
        for stop in dict.fromkeys((len(words), end)):
            for start in range(max(0, stop - self._most_words), end):
                found = self._by_key("head", " ".join(words[start:stop]), inside)
                if found:
                    return found
        return None

    def _by_key(self, how: str, key: str, inside: NDArray[np.bool_] | None) -> Found | None:
        for positions in self._matches(key):
            found = self._found(how, positions, inside)
            if found:
                return found
        return None

    def _matches(self, key: str) -> Iterator[tuple[int, ...]]:
        """Terms a normalised name may stand for, the safest guess first."""
        keys = self.keys
        if key in keys:
            yield keys[key]
        forms = self._inflected(key)
        hits = tuple(position for form in forms for position in keys.get(form, ()))
        if hits:
            yield hits
        if key in self._singular:
            yield self._singular[key]
        words = key.split()
        joined = "".join(words)
        # Never across a function word: "the rapist" is no therapist.
        if len(joined) >= 5 and not CLOSED.intersection(words):
            for form in (joined, *self._bases(joined)):
                if form in self._joined:
                    yield self._joined[form]
        plain = without_accents(key) if not key.isascii() else key
        for form in (plain, *forms) if plain == key else (plain, *self._inflected(plain)):
            if form in self._unaccented:
                yield self._unaccented[form]
            if plain != key and form in keys:
                yield keys[form]

    def _inflected(self, key: str, *, first: bool = True) -> list[str]:
        """The phrase with its last word, or else its first (`attorneys general`), in the singular."""
        if not self._english:
            return []
        before, space, last = key.rpartition(" ")
        forms = list(self._irregular.get(key, ())) if space else []
        forms += [before + space + base for base in self._bases(last)]
        if space and first:
            start, _, rest = key.partition(" ")
            forms += [f"{base} {rest}" for base in self._bases(start)]
        return forms

    def _found(self, how: str, positions: tuple[int, ...], inside: NDArray[np.bool_] | None) -> Found | None:
        """Concepts of the terms, sense by sense; of spellings of one name, the one with most senses leads."""
        rows = [(self._terms[p], self._senses[p].tolist()) for p in dict.fromkeys(positions)]
        if len(rows) == 1 and inside is None:
            return Found(how, rows[0][0], tuple(rows[0][1]))
        rows.sort(key=lambda row: -len(row[1]))
        longest = max(len(row) for _, row in rows)
        ranked = dict.fromkeys(row[i] for i in range(longest) for _, row in rows if i < len(row))
        allowed = tuple(c for c in ranked if inside is None or inside[c])
        return Found(how, rows[0][0], allowed) if allowed else None

    def suggest(self, texts: Sequence[str], limit: int = 3) -> list[list[str]]:
        """Names that each text may have meant: those inside it, then those spelled most like it.

        Costs about two milliseconds a text against WordNet's 119,000 names.

        >>> from keepsense.taxonomy.taxonomy_builder import from_edges
        >>> look = lookup(from_edges([("veterinarian", "person"), ("charger", "person")]))
        >>> look.suggest(["veternarian", "qwertyzz with charger"])
        [['veterinarian'], ['charger']]
        """
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        names = list(self.keys)
        wanted = [normalise(text[:LONGEST])[:100] for text in texts]
        result: list[list[str]] = []
        for start in range(0, len(wanted), 64):
            part = wanted[start : start + 64]
            scores = process.cdist(part, names, scorer=OSA.normalized_similarity, score_cutoff=0.7, dtype=np.float32)
            for key, row in zip(part, scores, strict=True):
                close = np.flatnonzero(row)
                close = close[np.lexsort((close, -row[close]))][:limit]
                spelled = [self._terms[self.keys[names[i]][0]] for i in close]
                result.append(list(dict.fromkeys([*self._contained(key), *spelled]))[:limit])
        return result

    def _contained(self, key: str) -> list[str]:
        """Names within a phrase, the longest first."""
        words = key.split()[:50]
        for size in range(min(len(words), self._most_words), 0, -1):
            spans = [words[i : i + size] for i in range(len(words) - size + 1)]
            hits = [" ".join(span) for span in spans if size > 1 or (span[0] not in CLOSED and _is_name(span[0]))]
            found = [self._terms[self.keys[hit][0]] for hit in hits if hit in self.keys]
            if found:
                return found
        return []


def lies_in(parents: Rows, place: int, areas: Collection[int]) -> bool:
    """Whether a place is one of the areas or lies in one of them; of several parents the first counts.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> france = from_edges([("Paris", "France"), ("Lyon", "France")])
    >>> lies_in(france.parents, 0, (1,)), lies_in(france.parents, 0, (2,))
    (True, False)
    """
    while place not in areas:
        above = parents[place]
        if not len(above):
            return False
        place = int(above[0])
    return True


_LOOKUPS: WeakKeyDictionary[Taxonomy, Lookup] = WeakKeyDictionary()


def lookup(taxonomy: Taxonomy) -> Lookup:
    """The taxonomy's names made ready for look-ups, once; the index lives as long as the taxonomy.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "pet")])
    >>> lookup(pets) is lookup(pets)
    True
    """
    found = _LOOKUPS.get(taxonomy)
    if found is None:
        found = _LOOKUPS[taxonomy] = Lookup(taxonomy)
    return found


def sense_name(taxonomy: Taxonomy, concept: int, word: str = "") -> str:
    """How a person names one sense: the name and, where it has several senses, its number; else the concept's id.

    The name is the one most like `word`. `Taxonomy.code` reads it back.

    >>> from keepsense.taxonomy.embedded_taxonomies import wordnet
    >>> nouns = wordnet()
    >>> sense_name(nouns, nouns.code("coach#2"), "Coach"), sense_name(nouns, nouns.code("pianist"))
    ('coach#2', 'pianist')
    """
    names = taxonomy.synonyms(concept)
    key = normalise(word[:LONGEST])
    spelled = {n: None for n in (word, key) if n and concept in taxonomy.senses_of(n)}
    for name in dict.fromkeys([*spelled, *(n for n in names if normalise(n) == key), *names]):
        senses: Ints = taxonomy.senses_of(name)
        number = taxonomy.numbered_senses(name).index(concept) + 1 if concept in senses else 0
        for shown in (name,) if len(senses) == 1 else (f"{name}#{number}",):
            if taxonomy.get(shown) == concept:
                return shown
    return taxonomy.id(concept)


def _without_spaces(keys: list[str]) -> list[str]:
    """Keys without their spaces, as one long text; no key holds a line break."""
    return "\n".join(keys).replace(" ", "").split("\n") if keys else []


def _under(keys: Mapping[str, tuple[int, ...]], forms: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Positions under one other form of each key."""
    found: dict[str, tuple[int, ...]] = {}
    for form, positions in zip(forms, keys.values(), strict=True):
        found[form] = found[form] + positions if form in found else positions
    return found


def _regrouped(keys: Mapping[str, tuple[int, ...]], forms: Iterable[Sequence[str]]) -> dict[str, tuple[int, ...]]:
    """Positions under other forms of their keys, of which `forms` has some for each key."""
    found: dict[str, tuple[int, ...]] = {}
    for positions, others in zip(keys.values(), forms, strict=True):
        for form in others:
            found[form] = found.get(form, ()) + positions
    return found


def _uncapitalised(name: str) -> str:
    """With small initials; other capitals stay, so that `AIDS` is not `aids`."""
    return " ".join(word[:1].lower() + word[1:] for word in name.split(" "))


def _is_name(word: str) -> bool:
    return sum(c.isalpha() for c in word) > 2


def _exceptions(taxonomy: Taxonomy) -> dict[str, tuple[str, ...]]:
    from keepsense.taxonomy.embedded_taxonomies import exceptions

    known = exceptions(taxonomy)
    keys = all_normalised(list(known))
    return {key: tuple(map(normalise, bases)) for key, bases in zip(keys, known.values(), strict=True)}
