"""Forms of words: spellings, plurals, stems, and the head of a phrase, for look-ups.

Plurals and function words are those of English. A phrase in another language is found by its spelling alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import compress
from operator import not_

EXCEPTION_FORMS = "exception forms"


EXCEPTION_BASES = "exception bases"


LONGEST = 1_000
"""Characters a value may have; what is longer is a text, not a value, and stays unmapped."""

MISSING_MARKS = frozenset(
    {"?", "-", "--", ".", "*", "N/A", "n/a", "NA", "NaN", "NaT", "NULL", "null", "None", "#N/A", "<NA>"}
)
"""What exports write into empty cells. Never looked up: `NA` is not sodium. A mapping table can still map it."""

_DETACHMENTS = (
    ("s", ""),
    ("ses", "s"),
    ("xes", "x"),
    ("zes", "z"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("men", "man"),
    ("ies", "y"),
)
_CLOSED_WORDS = """
    a about above after against all along am among an and another any are around as at be because been before behind
    being below beneath beside between beyond both but by can despite did do does down during each either every few
    for from had has have he her his how i if in inside into is it its like many may me more most my near neither no nor
    not of off on onto or other our out outside over per she since so some such than that the their them these they this
    those through till to too toward towards under until up upon us very via was we were what when where which while who
    whose will with within without you your"""
CLOSED = frozenset(_CLOSED_WORDS.split())
"""English function words: they end a noun phrase and are never its head."""
_BRACKETED = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}")
_DIGIT = re.compile(r"\d")
_BOUNDARY = re.compile(r"[,;:/|\\()\[\]{}]")
_DROPPED = frozenset("'\"`.’‘“”´ʼ")
_KEPT = frozenset("+#&@$%=")


class _Characters(dict[int, str | None]):
    """What normalising makes of each character, worked out when it is first met."""

    def __missing__(self, point: int) -> str | None:
        char = chr(point)
        kind = unicodedata.category(char)
        result: str | None
        if char in _DROPPED or kind == "Cf":
            result = None
        elif char in _KEPT or kind[0] in "LNM" or kind in ("So", "Sc"):
            result = char
        else:
            result = " "
        self[point] = result
        return result


_CHARACTERS = _Characters()


def normalise(text: str) -> str:
    """Text without what spelling varies in: case, hyphens, underscores, spaces and punctuation. Accents stay.

    >>> normalise("  Water-Skiing "), normalise("boat_racing"), normalise("U.S.A."), normalise("C++")
    ('water skiing', 'boat racing', 'usa', 'c++')
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return " ".join(text.casefold().translate(_CHARACTERS).split())


class _Ends(_Characters):
    """The same, but what parts texts of a long one stays."""

    def __init__(self) -> None:
        super().__init__({ord(_END): _END})


class _Letters(dict[int, str | None]):
    """What is left of each character of a decomposed text when accents go, worked out when it is first met."""

    def __missing__(self, point: int) -> str | None:
        self[point] = None if unicodedata.combining(chr(point)) else chr(point)
        return self[point]


_END = "\0"
_MANY_CHARACTERS, _LETTERS = _Ends(), _Letters()


def all_normalised(texts: Sequence[str]) -> list[str]:
    """Many texts normalised, each as `normalise` does it: as one long text, which is many times as fast.

    >>> all_normalised(["Water-Skiing", "crème  BRÛLÉE", ""])
    ['water skiing', 'crème brûlée', '']
    """
    found = list(texts)
    ascii_only = list(map(str.isascii, found))
    for plain in (True, False):  # characters beyond ASCII slow all of a text down, so those that have some go apart
        mine = list(compress(range(len(found)), ascii_only if plain else map(not_, ascii_only)))
        whole = _END.join([texts[i] for i in mine])
        if not plain:
            whole = unicodedata.normalize("NFKC", whole)
        whole = whole.casefold().translate(_MANY_CHARACTERS)  # plain spaces are the only blanks that are left
        while "  " in whole:
            whole = whole.replace("  ", " ")
        parts = whole.replace(f" {_END}", _END).replace(f"{_END} ", _END).strip().split(_END)
        if len(parts) != max(1, len(mine)):  # a text holds what parts texts
            return [normalise(text) for text in texts]
        for i, part in zip(mine, parts, strict=False):
            found[i] = part
    return found


def without_accents(text: str) -> str:
    """Text with every accent taken off its letter.

    >>> without_accents("crème brûlée")
    'creme brulee'
    """
    return unicodedata.normalize("NFKD", text).translate(_LETTERS)


def all_without_accents(texts: Sequence[str]) -> list[str]:
    """Many texts without accents, each as `without_accents` has it.

    >>> all_without_accents(["crème", "brûlée"])
    ['creme', 'brulee']
    """
    parts = without_accents(_END.join(texts)).split(_END)
    return parts if len(parts) == len(texts) else [without_accents(text) for text in texts]


def base_forms(word: str, irregular: Mapping[str, Sequence[str]]) -> list[str]:
    """Forms an English plural may come from: those listed as irregular, then by WordNet's detachment rules for nouns.

    They are guesses to be looked up, not words. `boxesful` goes back to `boxful`, as WordNet has it.

    >>> base_forms("mice", {"mice": ("mouse",)}), base_forms("churches", {}), base_forms("boxesful", {})
    (['mouse'], ['churche', 'church'], ['boxeful', 'boxful'])
    """
    listed = list(irregular.get(word, ()))
    if word.endswith("ful") and len(word) > 3:
        return listed + [base + "ful" for base in base_forms(word[:-3], irregular)]
    if len(word) <= 2 or word[-1] not in "sn" or word.endswith("ss"):
        return listed
    return listed + [word[: -len(end)] + new for end, new in _DETACHMENTS if word.endswith(end)]


def looks_numeric(text: str) -> bool:
    """Whether a text is a number, a date, a range of numbers or the like rather than words.

    >>> [looks_numeric(t) for t in ("42", "1e5", "2001-05-03", "18-25", "3-D", "forty")]
    [True, True, True, True, False, False]
    """
    text = text[: LONGEST + 1]
    if not _DIGIT.search(text):
        return False
    if not any(c.isalpha() for c in text):
        return True
    try:
        float(text)
    except ValueError:
        return False
    return True


def head_words(text: str) -> tuple[list[str], int]:
    """Normalised words of a text's first noun phrase and what modifies it, and how many of them are the phrase itself.

    Brackets, and what follows a comma, semicolon, colon or slash, are left out. The phrase ends before a function word
    and before numbers and single letters.

    >>> head_words("the new teacher of English (part-time), retired"), head_words("iPhone 3")
    ((['new', 'teacher', 'of', 'english'], 2), (['iphone', '3'], 1))
    """
    bare = _BRACKETED.sub(" ", text)
    bare = bare if normalise(bare) else text
    words = next((key for part in _BOUNDARY.split(bare) if (key := normalise(part))), "").split()
    while words and words[0] in CLOSED:
        del words[0]
    end = next((i for i, word in enumerate(words) if word in CLOSED), len(words))
    while end and sum(c.isalpha() for c in words[end - 1]) < 2:
        end -= 1
    return words, end


# Stems of content words, by which glosses are compared
#
# The stemmer only undoes English inflection (plurals, -ing, -ed, -ly, common irregular forms). The embedded WordNet's
# gloss words were made with it: a change here changes that file, and a test says so.

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_VOWEL = re.compile(r"[aeiouy]")

_FUNCTION_WORDS = """
a about above across after again against all along also although am among an and another any anyone anything are
around as at away back be because been before being below between both but by can cannot could did do does doing
done down during each either else esp especially etc even ever every everyone everything few for from further had
has have having he her here hers herself him himself his how however i if in into is it its itself just least less
let like made make makes making many may me might more most much must my myself near neither no nor not nothing now
of off often on once one only onto or other others our ours out over own per rather same several shall she should so
some somebody someone something sometimes such than that the their theirs them themselves then there thereby
therefore these they this those though through thus to together too toward towards under until up upon us use used
uses using usually very via was we well were what when whenever where whereby which while who whom whose why will
with within without would yet you your yours
"""
_STOP = frozenset(_FUNCTION_WORDS.split())

_IRREGULAR_FORMS = """
begin: began begun; bring: brought; build: built; buy: bought; child: children; come: came; draw: drew drawn; fall:
fell fallen; fight: fought; find: found; foot: feet; fly: flew flown; give: gave given; go: goes gone went; grow:
grew grown; hold: held; keep: kept; know: knew known; lead: led; leaf: leaves; life: lives; lose: lost; man: men;
mouse: mice; person: persons people; say: said; sell: sold; send: sent; show: shown; speak: spoke spoken; stand:
stood; take: took taken; teach: taught; tell: told; think: thought; tooth: teeth; wear: wore worn; wife: wives; win:
won; wolf: wolves; woman: women; write: wrote written
"""
_IRREGULAR = {
    form: base.strip()
    for base, _, forms in (entry.partition(":") for entry in _IRREGULAR_FORMS.split(";"))
    for form in forms.split()
}


_NOT_INFLECTED = "anomaly assembly butterfly evening family italy july monopoly morning reply supply"
_WHOLE = frozenset(_NOT_INFLECTED.split())


@lru_cache(maxsize=1 << 17)
def stem(word: str) -> str:
    """Undo English inflection, so that forms of one word become one string (which need not be a word).

    >>> [stem(w) for w in ("teachers", "running", "runs", "carried", "carries", "children", "glass")]
    ['teacher', 'run', 'run', 'carri', 'carri', 'child', 'glas']
    """
    word = word.lower().removesuffix("'s")
    word = _IRREGULAR.get(word, word)
    if len(word) > 3:
        if word.endswith(("sses", "shes", "ches", "xes", "zes", "ies")):
            word = word[:-2]
        elif word.endswith("s") and word[-2] not in "sui":
            word = word[:-1]
    for suffix in () if word in _WHOLE else ("ing", "ed", "ly"):
        rest = word.removesuffix(suffix)
        if rest != word and len(rest) >= 3 and _VOWEL.search(rest) and not (suffix == "ed" and rest[-1] == "e"):
            word = rest
            break
    if len(word) > 3 and word[-1] == "e":
        word = word[:-1]
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiou":
        word = word[:-1]
    if len(word) > 2 and word[-1] == "y" and word[-2] not in "aeiou":
        word = word[:-1] + "i"
    return word


def content_words(text: str) -> list[str]:
    """Stems of the words that carry meaning, in order: no function words, numbers or single letters.

    >>> content_words("(sports) someone in charge of training an athlete or a team")
    ['sport', 'charg', 'train', 'athlet', 'team']
    """
    return [stem(w) for w in _WORD.findall(text.lower()) if len(w) > 1 and w not in _STOP]


def plain_words(text: str) -> list[str]:
    """Words of a text as they are, in lower case: for languages the stemmer does not know.

    >>> plain_words("Persona que enseña, 2 años")
    ['persona', 'que', 'enseña', 'años']
    """
    return [w for w in _WORD.findall(text.lower()) if len(w) > 1]
