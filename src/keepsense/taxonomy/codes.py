"""Codes in every spelling: with or without dots, zeros in front, capitals, placeholders.

A taxonomy whose ids are codes names its system in `info["codes"]`; look-ups then read a value as a code first. A code
that the taxonomy does not list, though it lists a shorter one or a range around it, is found there, as a suggestion: it
is true of whoever has the code, and less exact.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

SYSTEM = "codes"
"""The entry of a taxonomy's `info` that names the system of its ids."""

_ICD9 = re.compile(r"([VE]?)(\d+)(?:\.(\d*))?")
_ICD10 = re.compile(r"((?:[A-Z]\d|QA)[0-9A-Z])\.?([0-9A-Z]{0,4})")


def icd9(text: str) -> str | None:
    """A diagnosis of ICD-9-CM as its id, or None: three digits (V and two, E and three), a dot, up to two digits.

    >>> [icd9(text) for text in ("250.8", "2508", "38", "038", "V45", "v4581", "E812.1", "250.xx", "12 mg")]
    ['250.8', '250.8', '038', '038', 'V45', 'V45.81', 'E812.1', '250', None]
    """
    match = _ICD9.fullmatch(text.strip().upper().rstrip("X-"))
    if match is None:
        return None
    letter, whole, part = match.groups()
    size = 2 if letter == "V" else 3
    if part is None:
        whole, part = whole[:size], whole[size:]
    if len(whole) > size or len(part) > 2:
        return None
    return letter + whole.zfill(size) + (f".{part}" if part else "")


def icd10(text: str) -> str | None:
    """A diagnosis of ICD-10 or ICD-10-CM as its id, or None; without the seventh character.

    >>> [icd10(text) for text in ("E11.9", "e119", "I10", "S02.0XXA", "T360X1A", "G01*", "E11.-", "42")]
    ['E11.9', 'E11.9', 'I10', 'S02.0XX', 'T36.0X1', 'G01', 'E11', None]
    """
    match = _ICD10.fullmatch(text.strip().upper().rstrip("†*+!-. "))
    if match is None:
        return None
    return match[1] + (f".{match[2][:3]}" if match[2] else "")


class Spelled(NamedTuple):
    """The id that a text spells, and whether it is the very code or only what lies above it.

    >>> Spelled("250.8", True).id
    '250.8'
    """

    id: str
    exact: bool


class Codes:
    """The ids of one taxonomy of codes, ready to be found in any spelling.

    >>> codes = Codes(icd9, {"001-009": 0, "001": 1, "001.0": 2})
    >>> codes.find("1.0"), codes.find("001.7"), codes.find("005"), codes.find("250")
    (Spelled(id='001.0', exact=True), Spelled(id='001', exact=False), Spelled(id='001-009', exact=False), None)
    """

    def __init__(self, spell: Callable[[str], str | None], ids: Mapping[str, int]) -> None:
        self._spell = spell
        self._ids = ids
        self._plain = {key.replace(".", ""): key for key in ids}
        spans = (key.partition("-") for key in ids if key.count("-") == 1)
        self._ranges = sorted((first, last) for first, _, last in spans if len(first) == len(last) <= 4)

    def find(self, text: str) -> Spelled | None:
        """The code that a text spells, or what lies above it, or None."""
        key = self._spell(text)
        if key is None:
            return None
        for form in (key, key.rstrip("X").rstrip(".")):  # X holds a place and is the end of some codes
            if form in self._ids:
                return Spelled(form, True)
        if key in self._plain:  # files write some codes with dots that the system does without
            return Spelled(self._plain[key], True)
        above = next((part for part in _shorter(key) if part in self._ids), None) or self._around(key.partition(".")[0])
        return Spelled(above, False) if above else None

    def _around(self, category: str) -> str | None:
        """The narrowest range that holds a category: of those that begin before it, the one that begins last."""
        until = bisect_right(self._ranges, (category, "~"))
        holding = [
            (first, last)
            for first, last in self._ranges[:until]
            if len(first) == len(category) and first <= category <= last
        ]
        best = max(holding, key=lambda span: (span[0], [-ord(c) for c in span[1]]), default=None)
        return f"{best[0]}-{best[1]}" if best else None


def _shorter(key: str) -> Iterator[str]:
    """A code without its last character, and so on."""
    return (key[:size].rstrip(".") for size in range(len(key) - 1, 0, -1))


def written(value: object) -> str:
    """A cell as the code it shows: a whole number that a spreadsheet made a fraction is whole again.

    >>> written(250.0), written(250.8), written("250.0")
    ('250', '250.8', '250.0')
    """
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
