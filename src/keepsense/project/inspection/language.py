"""Whether the words of a column are English: those of other languages are not looked up in English dictionaries."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable

from keepsense.counts import Value

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
