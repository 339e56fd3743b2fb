"""Which taxonomy of the library fits a column, and the reason why one or none does."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

from keepsense.counts import Value
from keepsense.draft import vocabulary
from keepsense.errors import UnknownConcept
from keepsense.taxonomy.code_systems import SYSTEM, SYSTEMS, CodeSystem, system_of, written
from keepsense.taxonomy.coverage import MOST_WORDS, Fit, fit_of
from keepsense.taxonomy.formats import taxonomy_library
from keepsense.taxonomy.lookup import lies_in, lookup, sense_name
from keepsense.taxonomy.place_disambiguation import beside, is_places
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.value_mapping import is_missing

if TYPE_CHECKING:
    from keepsense.engines.protocol import Engine, Table
    from keepsense.project.column_meaning import Meaning


# Is a column in English? Other languages are not looked up in English dictionaries

_SHARE = 0.15
"""Share of the values that must show another language: English words have accents, too, but few do."""

_ENDINGS_SHARE = 0.3
"""Share of the values that no dictionary knows and that end as words of other languages do."""

_FUNCTION_WORDS = """
    der das und oder für von mit ohne bei ein eine le les et ou avec sans pour une con sin por una il lo gli di delle
    della dos com sem het een van voor och og
"""
_FOREIGN = frozenset(_FUNCTION_WORDS.split())
"""Little words of German, French, Spanish, Italian, Portuguese, Dutch and Scandinavian that are none in English."""

_GERMAN = "rin ung schaft keit heit tz tzer tzt sch scher eur iker ierer ler mann frau arzt lehrer meister arbeiter ist"
_FRENCH = "eur euse ier iere iste icien icienne aire eau eux trice ienne ant ante logue isan onnier"
_SOUTHERN = "ero era eiro eira dor dora ista ico ica ado ada ario aria aio tore ogo oga iere nte ino ina jano sor sora"
_ENDINGS = re.compile(rf"\w*(?:{'|'.join(sorted({*_GERMAN.split(), *_FRENCH.split(), *_SOUTHERN.split()}))})")
"""How names of people's work end in these languages; nearly all English words that end so are in a dictionary."""

_CLUSTERS = re.compile(r"sch|tz|[aeiou]hr|chn|chs|rzt|ck[bfghn]|wirt|walt")
"""Letters that stand together in German words; nearly all English words with them are in a dictionary."""


def not_english(values: Iterable[Value], known: Callable[[str], bool] | None = None) -> bool:
    """Whether words are of another language, by their script, their accents or the little words between them.

    Where `known` tells which words an English dictionary has, the endings of those that it lacks count as well.

    >>> not_english(["médico", "enfermera", "albañil", "cocinero"]), not_english(["nurse", "café owner", "cook"] * 3)
    (True, False)
    >>> not_english(["врач", "учитель"]), not_english(["Lehrer für Musik", "Arzt", "Koch ohne Lehre"])
    (True, True)
    >>> plain = ["Lehrerin", "Schreiner", "Kaufmann", "Polizist", "Maurer"]
    >>> not_english(plain), not_english(plain, lambda word: False)
    (False, True)
    """
    texts = [str(value).casefold() for value in values]
    words = [text for text in dict.fromkeys(texts) if any(c.isalpha() for c in text)]
    if not words:
        return False
    if sum(map(_is_foreign, words)) > _SHARE * len(words):
        return True
    strange = [word for word in words if known is not None and not known(word)]
    return sum(_is_foreign(word) or _ends_foreign(word) for word in strange) > _ENDINGS_SHARE * len(words)


def _is_foreign(text: str) -> bool:
    letters = [c for c in text if c.isalpha()]
    other_script = sum(not unicodedata.name(c, "LATIN").startswith("LATIN") for c in letters)
    return 2 * other_script > len(letters) or _accented(text) or bool(_FOREIGN.intersection(text.split()))


def _ends_foreign(text: str) -> bool:
    return any(_ENDINGS.fullmatch(word) or _CLUSTERS.search(word) for word in text.split())


def _accented(text: str) -> bool:
    return any(c in "ßøæœłđ" or unicodedata.combining(c) for c in unicodedata.normalize("NFD", text)) and (
        "café" not in text and "fiancé" not in text
    )


# Taxonomies that fit

LEAST_VALUES = 0.5
"""Share of the different values that a taxonomy must name exactly to be used."""

LEAST_ROWS = 0.5
"""Share of the rows whose values it must name exactly."""

LEAST_EVIDENCE = 15.0
"""Bits beyond chance that the words must lie together."""

NONE_FITS = "no taxonomy fits"
"""What notes on columns without a taxonomy begin with."""

NOT_ENGLISH = (
    f"{NONE_FITS}: these words are not English; import one in their language with `keepsense taxonomy import`, and "
    "say which language it is with `language`"
)
"""What is said where words are of another language."""

NONE_IN_LANGUAGE = (
    NONE_FITS
    + ": there is none in the language {!r} that knows these words; import one with `keepsense taxonomy import`"
)
"""What is said where no taxonomy in the language of a table knows its words."""

_BETTER = 0.02
"""Share of values and rows by which a taxonomy must know more than one listed before it."""

_CODE = re.compile(r"[A-Za-z]{0,3}[-.]?\d[\dA-Za-z]{0,3}([-./]?[\dA-Za-z]{1,4})?")
_PLACES = ("location", "artifact", "body of water", "geological formation", "organization", "tract", "forest")
_NAMES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("occupation job profession jobtitle trade", ("person",)),
    ("country nation nationality birthplace city town county state region province residence", ("location",)),
    ("place location workplace venue site", _PLACES),
    ("hobby hobbies sport sports activity activities pastime", ("activity",)),
    ("disease illness disorder diagnosis condition symptom", ("state#2", "psychological feature", "event")),
    ("animal pet breed", ("animal",)),
    ("plant crop tree", ("plant#2", "natural object")),
    ("food dish meal fruit vegetable", ("food", "food#2", "natural object")),
    ("school university college team club company employer firm bank brand", ("organization",)),
    ("name surname firstname lastname forename nickname", ()),
)
HINTS: Mapping[str, tuple[str, ...]] = {word: concepts for words, concepts in _NAMES for word in words.split()}
"""Concepts of a dictionary that words in a column's name speak of; none where a dictionary cannot know its values."""


@dataclass(frozen=True)
class KnownWords:
    """How well a taxonomy fits a column: shares of the distinct values looked at and of their rows, named exactly.

    >>> KnownWords("wordnet", "person", 0.9, 0.99, 140).rows
    0.99
    """

    taxonomy: str
    domain: str | None
    values: float
    rows: float
    looked_up: int
    suggested: int = 0
    suggested_rows: int = 0
    outside: int = 0
    evidence: float = 0.0
    domains: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    language: str | None = None

    @property
    def reason(self) -> str:
        """Why the taxonomy is used, in figures; no value is named.

        >>> KnownWords("wordnet", "person", 0.9, 0.99, 140, suggested=3, suggested_rows=20, evidence=120).reason
        'names 90% of the values exactly (99% of the rows), all below person (120 bits beyond chance); 3 values \
(20 rows) known by the last noun alone: asked, not used'
        """
        named = (self.domain,) if self.domain is not None else self.domains
        below = f", all below {' or '.join(named)}" if named else ""
        beyond = f" ({self.evidence:.0f} bits beyond chance)" if self.evidence else ""
        parts = [f"names {self.values:.0%} of the values exactly ({self.rows:.0%} of the rows){below}{beyond}"]
        if self.suggested:
            parts.append(
                f"{_n(self.suggested, 'value')} ({_n(self.suggested_rows, 'row')}) known by the last noun alone: "
                "asked, not used"
            )
        if self.outside:
            parts.append(f"{_n(self.outside, 'value')} of another meaning there: asked, not used")
        if self.within:
            parts.append(f"where a place lies is told by {', '.join(self.within)}")
        return "; ".join(parts)


@dataclass(frozen=True)
class Matched:
    """What came of matching a column against the library: the taxonomy that fits, or why none does.

    >>> Matched(None, "no taxonomy names more than half of its values").known is None
    True
    """

    known: KnownWords | None
    why_not: str = ""


class Areas(NamedTuple):
    """What other columns say about where the places of one lie.

    Their names, and for each combination of cells its value, what these columns hold beside it, and its rows.

    >>> Areas(("state",), ["Springfield"], [("IL",)], [3]).columns
    ('state',)
    """

    columns: tuple[str, ...]
    values: Sequence[Value]
    cells: Sequence[tuple[Value, ...]]
    rows: Sequence[int]


class Library:
    """Taxonomies to match columns against, each loaded when the first column of words turns up.

    With a `language` (a code such as `de`) only those in it are tried, those of all languages, and systems of codes.

    >>> cells = {"nurse": 4, "surgeon": 2, "baker": 1, "dentist": 2}
    >>> Library({"wordnet": taxonomy_library.find("wordnet")}).match(cells, "job").known.domain
    'person'
    """

    def __init__(self, taxonomies: Mapping[str, Taxonomy] | None = None, language: str | None = None) -> None:
        self._given = taxonomies
        self._language = language
        self._find = cache(
            taxonomy_library.find
        )  # an import may replace a taxonomy while a process lives: no longer than this

    def all(self) -> Mapping[str, Callable[[], Taxonomy]]:
        """Taxonomies by name, to be loaded."""
        if self._given is not None:
            return {name: partial(self._given.__getitem__, name) for name in self._given}
        return {name: partial(self._find, name) for name in taxonomy_library.names()}

    def match(self, values: Mapping[Value, int], column: str, areas: Areas | None = None) -> Matched:
        """The taxonomy that fits a column best, by the values with their rows and its name; or why none fits.

        `areas` are what other columns say about where its places lie: then only taxonomies of places are tried.
        """
        word = vocabulary.named_like(column, HINTS)
        coded = _are_codes(values)
        system = system_of(list(values)[:MOST_WORDS], vocabulary.words_of(column)) if coded else None
        fits = {}
        for name, load in self.all().items():
            taxonomy = load()
            if (areas is not None and not is_places(taxonomy)) or not self._speaks(taxonomy):
                continue
            within = None if areas is None else beside(areas.values, areas.cells, taxonomy)
            fits[name] = (taxonomy, fit_of(values, taxonomy, hint=_hint(word, taxonomy), codes=coded, within=within))
        if not fits and system is None:
            return Matched(None, "" if self._language is None else NONE_IN_LANGUAGE.format(self._language))
        names_of_people = word is not None and not HINTS[word]
        says_diagnoses = vocabulary.named_like(column, vocabulary.CODED) and not vocabulary.counts_things(
            column, values
        )

        def suits(taxonomy: Taxonomy, fit: Fit) -> bool:
            if (names_of_people or coded) and _is_dictionary(taxonomy):
                return False
            said = _says(taxonomy, system, says_diagnoses)
            return _coded(fit, values, said=said) if coded else _fits(fit, placed=areas is not None)

        def alike(name: str, other: str) -> bool:
            """Whether two taxonomies are dictionaries, or neither: one of a field tells more than a dictionary."""
            return _is_dictionary(fits[name][0]) == _is_dictionary(fits[other][0])

        good = {name: fit for name, (taxonomy, fit) in fits.items() if suits(taxonomy, fit)}
        best: str | None = None
        for name, fit in good.items():
            if best is None or _known(fit) > _known(good[best]) + (_BETTER if alike(name, best) else -_BETTER):
                best = name
        if best is None and system is not None and self._given is None:
            return Matched(_by_codes(system, values))
        if best is None:
            return Matched(None, self._why_none(fits, values, word, coded=coded))
        taxonomy, fit = fits[best]
        domains = _domains(taxonomy, fit)
        return Matched(
            KnownWords(
                best,
                domains[0] if len(domains) == 1 else None,
                fit.values,
                fit.rows,
                fit.looked_up,
                fit.suggested,
                fit.suggested_rows,
                fit.outside,
                fit.evidence,
                domains if len(domains) > 1 else (),
                () if areas is None else areas.columns,
                self._language if taxonomy.info.get("language", "en") == self._language else None,
            )
        )

    def _why_none(
        self, fits: Mapping[str, tuple[Taxonomy, Fit]], values: Mapping[Value, int], word: str | None, *, coded: bool
    ) -> str:
        """Why none of the taxonomies is used, as far as words of another language are not why."""
        nearest = max(fits, key=lambda name: _known(fits[name][1]))
        if not coded and self._language is not None and not self._language.startswith("en"):
            return NONE_IN_LANGUAGE.format(self._language)
        english = [taxonomy for taxonomy, _ in fits.values() if _is_dictionary(taxonomy)]
        if not coded and self._language is None and not_english([*values][:MOST_WORDS], partial(_named, english)):
            return NOT_ENGLISH
        return _why_not(nearest, fits[nearest][1], word, coded=coded)

    def _speaks(self, taxonomy: Taxonomy) -> bool:
        """Whether a taxonomy may name words of the language, if one was said; codes are of none."""
        own = taxonomy.info.get("language", "en")
        if self._language is None or own == "mul" or SYSTEM in taxonomy.info:
            return True
        return own.partition("-")[0] == self._language.partition("-")[0]


def _hint(word: str | None, taxonomy: Taxonomy) -> list[int]:
    """Concepts of a dictionary that the name of a column speaks of; those that it lacks are left out."""
    if word is None or not _is_dictionary(taxonomy):
        return []
    codes = []
    for concept in HINTS[word]:
        try:
            codes.append(taxonomy.code(concept))
        except UnknownConcept:
            continue
    return codes


def _is_dictionary(taxonomy: Taxonomy) -> bool:
    """Whether a taxonomy is of the words of a language, so that hints and doubts about words are about it."""
    return "exception forms" in taxonomy.tables


def _fits(fit: Fit, *, placed: bool) -> bool:
    """Whether a taxonomy names enough, and not by chance: places lie where another column says, or words together."""
    return fit.values >= LEAST_VALUES and fit.rows >= LEAST_ROWS and (placed or fit.evidence >= LEAST_EVIDENCE)


def _are_codes(values: Mapping[Value, int]) -> bool:
    """Whether most values are codes, which nearly any system of codes knows, rather than words."""
    texts = [str(value) for value in list(values)[:MOST_WORDS]]
    return 2 * sum(_CODE.fullmatch(text.strip()) is not None for text in texts) > len(texts) > 0


def _coded(fit: Fit, values: Mapping[Value, int], *, said: bool) -> bool:
    """Whether codes are those of a system: the column says so, or many of them, and long ones, are all there."""
    if said:
        return fit.values >= LEAST_VALUES and fit.rows >= LEAST_ROWS
    long = sum(len(str(value).strip()) > 4 for value in list(values)[:MOST_WORDS])
    return fit.values >= 0.9 and fit.looked_up >= 20 and long >= 0.3 * fit.looked_up


def _named(dictionaries: Sequence[Taxonomy], word: str) -> bool:
    """Whether a dictionary has a word, whatever it means there."""
    matches = (lookup(taxonomy).find(word) for taxonomy in dictionaries)
    return any(match is not None and match.how != "head" for match in matches)


def _says(taxonomy: Taxonomy, system: CodeSystem | None, says_diagnoses: object) -> bool:
    """Whether the column says that its codes are those of a taxonomy."""
    own = taxonomy.info.get(SYSTEM, "")
    return bool(says_diagnoses) if system is None or own not in SYSTEMS else own == system.name


def _by_codes(system: CodeSystem, values: Mapping[Value, int]) -> KnownWords:
    """How well a classification that is told by its codes fits a column."""
    cells = {value: rows for value, rows in list(values.items())[:MOST_WORDS] if not is_missing(value)}
    spelled = {value: rows for value, rows in cells.items() if system.spell(written(value)) is not None}
    share = sum(spelled.values()) / max(1, sum(cells.values()))
    return KnownWords(system.name, None, len(spelled) / max(1, len(cells)), share, len(cells))


def _known(fit: Fit) -> float:
    return (fit.values + fit.rows) / 2


def _domains(taxonomy: Taxonomy, fit: Fit) -> tuple[str, ...]:
    """Names of the concepts below which the words lie, as a project file spells them; the top is none."""
    domains = []
    for concept in fit.domains:
        label = taxonomy.label(concept)
        domains.append(label if taxonomy.get(label) == concept else sense_name(taxonomy, concept))
    return () if taxonomy.root in fit.domains else tuple(domains)


def _why_not(name: str, fit: Fit, word: str | None, *, coded: bool) -> str:
    """Why the taxonomy that knows most of a column is not used; no value is named."""
    if not fit.values and not fit.suggested:
        return ""  # it never was about words that a taxonomy could know
    share = f"{name} names {fit.values:.0%} of its values exactly ({fit.rows:.0%} of the rows)"
    if fit.values < LEAST_VALUES or fit.rows < LEAST_ROWS:
        more = f", {_n(fit.suggested, 'more value')} by the last noun alone" if fit.suggested else ""
        return f"{NONE_FITS}: {share}{more}"
    if word is not None and not HINTS[word]:
        return f"{NONE_FITS}: {share}, but these are names ({word})"
    if coded:
        return f"{NONE_FITS}: {share}, but nothing says that its codes are those of it"
    return f"{NONE_FITS}: {share}, but they do not mean things of one kind there"


def _n(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


# Columns that give the area of the places in another one: the state and the country of a city

PLACES = vocabulary.words("city cities town municipality village hometown place birthplace residence location")
"""Words in the name of a column that say that it holds places which other columns may place."""

AREAS = vocabulary.words("state region province county country nation territory prefecture canton department land")
"""Words in the name of a column that say that it names the areas of other places."""

LEAST_KNOWN = 0.5
"""Share of the rows whose areas must be known."""

LEAST_AGREED = 0.5
"""Share of the rows of known places and areas on which one lies in the other; villages share names with towns."""

_BESIDE_THE_POINT = vocabulary.words("of name names code iso id abbreviation the")
_OWN = vocabulary.words("home current present address patient person client customer employee living")
"""Words in the name of a column that say no more than that a place is where somebody lives."""


def named_areas(column: str, names: Sequence[str]) -> tuple[str, ...]:
    """Columns that are called like areas of a column's places; `birth_country` is that of `birth_city`, not of `city`.

    >>> named_areas("city", ["city", "state", "birth_country"]), named_areas("birthCity", ["country", "birth_country"])
    (('state',), ('birth_country',))
    >>> named_areas("job", ["state"]), named_areas("birthplace", ["state"]), named_areas("home_town", ["state"])
    ((), (), ('state',))
    """
    said = set(vocabulary.words_of(column))
    if not said & PLACES:
        return ()
    whose = (said - PLACES - _BESIDE_THE_POINT) | ({"birth"} if "birthplace" in said else set())
    others = {name: set(vocabulary.words_of(name)) for name in names if name != column}
    areas = {name: words - AREAS - _BESIDE_THE_POINT for name, words in others.items() if words & AREAS}
    same = tuple(name for name, theirs in areas.items() if theirs == whose)
    return same or tuple(name for name, theirs in areas.items() if not theirs and whose <= _OWN)


def areas_beside(engine: Engine, table: Table, column: str, names: Sequence[str]) -> Areas | None:
    """What other columns say about where the places of one lie; None where none does, or the rows contradict it.

    >>> from keepsense.engines.protocol import engine
    >>> cells = {"town": ["London", "Windsor"], "land": ["Canada", "Canada"], "country": ["x", "y"]}
    >>> with engine() as running:
    ...     areas_beside(running, running.read(cells), "town", list(cells)).columns
    ('land',)
    """
    telling = [name for name in named_areas(column, names) if _agree(areas_in(engine, table, column, (name,)))]
    return areas_in(engine, table, column, tuple(telling)) if telling else None


def taxonomy_fit(meaning: Meaning, name: str, rows: Mapping[Value, int]) -> Matched:
    """How well the taxonomy that a project names for a column fits its words, all of it looked at; or why it does not.

    >>> from keepsense.project.column_meaning import Meaning
    >>> from keepsense.project.project_file import Column
    >>> words = Meaning({"job": Column(taxonomy="wordnet", domain="person")})
    >>> taxonomy_fit(words, "job", {"nurse": 2, "surgeon": 1, "baker": 2, "dentist": 1}).known.rows
    1.0
    """
    key = str(meaning.column(name).taxonomy)
    whole = meaning.given.taxonomies.get(name) or meaning.taxonomy_named(key, name)
    return Library({key: whole}).match({value: n for value, n in rows.items() if value is not None}, name)


def areas_in(engine: Engine, table: Table, column: str, others: tuple[str, ...]) -> Areas:
    """What the given columns say about where the places of one lie, whatever they are called.

    >>> from keepsense.engines.protocol import engine
    >>> with engine() as running:
    ...     areas_in(running, running.read({"seen": ["London"] * 2, "where": ["Canada"] * 2}), "seen", ("where",)).cells
    [('Canada',)]
    """
    counts = engine.count(table, [column, *others])
    values, *cells = ([counts.values_of(c)[i] for i in counts.column(c)] for c in (column, *others))
    return Areas(others, values, list(zip(*cells, strict=True)), counts.weights.tolist())


def _agree(areas: Areas) -> bool:
    """Whether most rows name a known area, and where the place is known, it lies there."""
    taxonomy = taxonomy_library.find("places")
    look = lookup(taxonomy)
    filled = known = placed = inside = 0
    for value, cell, weight in zip(areas.values, areas.cells, areas.rows, strict=True):
        if value is None or cell[0] is None:
            continue
        filled += weight
        (named,) = beside([value], [cell], taxonomy).values()
        match = look.find(str(value))
        known += weight if named else 0
        if named and match is not None and match.how != "head":
            placed += weight
            inside += weight * any(lies_in(taxonomy.parents, place, named[0]) for place in match.concepts)
    return filled > 0 and known >= LEAST_KNOWN * filled and placed > 0 and inside >= LEAST_AGREED * placed
