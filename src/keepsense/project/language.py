"""Whether the words of a column are English: those of other languages are not looked up in English dictionaries."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from keepsense.counts import Value

_SHARE = 0.15
"""Share of the values that must show another language: English words have accents, too, but few do."""

_FUNCTION_WORDS = """
    der das und oder für von mit ohne bei ein eine le les et ou avec sans pour une con sin por una il lo gli di delle
    della dos com sem het een van voor och og
"""
_FOREIGN = frozenset(_FUNCTION_WORDS.split())
"""Little words of German, French, Spanish, Italian, Portuguese, Dutch and Scandinavian that are none in English."""


def not_english(values: Iterable[Value]) -> bool:
    """Whether words are of another language, by their script, their accents or the little words between them.

    >>> not_english(["médico", "enfermera", "albañil", "cocinero"]), not_english(["nurse", "café owner", "cook"] * 3)
    (True, False)
    >>> not_english(["врач", "учитель"]), not_english(["Lehrer für Musik", "Arzt", "Koch ohne Lehre"])
    (True, True)
    """
    texts = [str(value).casefold() for value in values]
    words = [text for text in dict.fromkeys(texts) if any(c.isalpha() for c in text)]
    return sum(map(_is_foreign, words)) > _SHARE * len(words) if words else False


def _is_foreign(text: str) -> bool:
    letters = [c for c in text if c.isalpha()]
    other_script = sum(not unicodedata.name(c, "LATIN").startswith("LATIN") for c in letters)
    return 2 * other_script > len(letters) or _accented(text) or bool(_FOREIGN.intersection(text.split()))


def _accented(text: str) -> bool:
    return any(c in "ßøæœłđ" or unicodedata.combining(c) for c in unicodedata.normalize("NFD", text)) and (
        "café" not in text and "fiancé" not in text
    )
