"""Recognizers: what the values of a column look like, whatever its name; one entry each, in `SIGNS`.

A recognizer looks at distinct values only. Those about people must hold for most values of a column, never for one: a
diagnosis may be named after its discoverer, a company after its founder.
"""

from __future__ import annotations

import gzip
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files

from keepsense.counts import Value

_CODE = re.compile(r"[A-Z]{1,3}\d{1,6}([.-]\d{1,4})?[A-Z]{0,2}")


_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)


MOST = 0.5
"""Share of the values that must look like something for the column to be taken for it."""

_NAMES = 0.4
"""Less for names of people: no list has all of them."""

_STREET = (
    r"street|st|avenue|ave|av|road|rd|lane|ln|drive|dr|court|ct|boulevard|blvd|place|pl|square|sq|terrace|ter|way|"
    r"highway|hwy|parkway|pkwy|close|crescent|gardens|grove|circle|cir|trail|walk|row|mews|alley|unit|apt|suite|"
    r"rue|via|calle|avenida|rua|plaza|weg|platz|laan|gasse|gata|utca|ulica"
)
_ADDRESS = re.compile(
    rf"\d+\w{{0,3}},?\s+(\S+\s+)*?(\S+\s+)?({_STREET})\.?(\s.*|,.*)?"  # 315 Heathcote Well Unit 65; 047XX W GLADYS AVE
    rf"|(rue|via|calle|avenida|rua|plaza)\s.*\d+.*"  # calle Mayor 5
    r"|\S*(stra(ß|ss)e|str\.|weg|platz|gasse|allee|straat|laan|vägen|gatan)\s+\d+\s?\w?(,.*)?"  # Hauptstraße 5a
    r"|\d+\w?\s+(\S+\s+){1,4}\S+\s+(unit|apt|suite)\s*\S+"
    r"|p\.?\s?o\.?\s?box\s+\d+.*",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\d+\s+([A-Z][\w'-]*\s+){1,4}[A-Z][\w'-]*( (Unit|Apt|Suite) \d+)?")
_PAIR = re.compile(
    r"\(?\s*[-+]?\d{1,3}\.\d{3,}\s*[,; ]\s*[-+]?\d{1,3}\.\d{3,}\s*\)?|POINT ?\(.*\d\.\d+.*\)", re.IGNORECASE
)
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_TITLES = frozenset(
    (
        "mr",
        "mrs",
        "ms",
        "miss",
        "dr",
        "prof",
        "sir",
        "jr",
        "sr",
        "ii",
        "iii",
        "iv",
        "herr",
        "frau",
        "de",
        "da",
        "di",
        "del",
        "della",
        "van",
        "von",
        "der",
        "den",
        "la",
        "le",
    )
)


@dataclass(frozen=True)
class Sign:
    """Something that values can be: what it is called in reasons, and whether one value is such.

    `repeats` says that a value which occurs in many rows may stand for a person of whom there are several rows.

    >>> [sign.name for sign in SIGNS if sign.fits("555-12-3456")]
    ['social security numbers']
    """

    name: str
    fits: Callable[[str], bool]
    repeats: bool = False


def _matching(pattern: str, flags: int = re.IGNORECASE) -> Callable[[str], bool]:
    compiled = re.compile(pattern, flags)
    return lambda value: compiled.fullmatch(value) is not None


def _is_card(value: str) -> bool:
    digits = re.sub(r"[ -]", "", value)
    if not (digits.isascii() and digits.isdigit() and 13 <= len(digits) <= 19):
        return False
    doubled = [int(d) * (1 + i % 2) for i, d in enumerate(reversed(digits))]
    return sum(d - 9 if d > 9 else d for d in doubled) % 10 == 0 and len(set(digits)) > 3


SIGNS: tuple[Sign, ...] = (
    Sign("e-mail addresses", _matching(r"[^@\s]+@[^@\s]+\.[a-z]{2,}")),
    Sign("web addresses", _matching(r"(https?://|www\.)\S+")),
    Sign(
        "network addresses",
        _matching(r"\d{1,3}(\.\d{1,3}){3}|([0-9a-f]{2}[:-]){5}[0-9a-f]{2}|[0-9a-f]{0,4}(:[0-9a-f]{0,4}){4,7}"),
    ),
    Sign("bank accounts", _matching(r"[A-Z]{2}\d{2}( ?[A-Z0-9]{4}){2,7}( ?[A-Z0-9]{1,3})?", 0)),
    Sign("UUIDs", _matching(r"\{?[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}\}?"), repeats=True),
    Sign("long keys", _matching(r"(?=.*\d)(?=.*[a-f])[0-9a-f]{16,}"), repeats=True),
    Sign("social security numbers", _matching(r"\d{3}-\d{2}-\d{4}"), repeats=True),
    Sign("card numbers", _is_card, repeats=True),
    Sign(
        "telephone numbers",
        _matching(r"\+\d[\d ()./-]{6,}|\(\d{2,5}\) ?[\d -]{5,}|\d{3}[-. ]\d{3}[-. ]\d{4}|0\d{2,4}[ /-]\d[\d -]{4,}"),
    ),
    Sign("coordinates", lambda value: _PAIR.fullmatch(value) is not None),
    Sign(
        "street addresses",
        lambda value: _ADDRESS.fullmatch(value) is not None or _NUMBERED.fullmatch(value) is not None,
    ),
)


def sign_of(values: Sequence[str]) -> Sign | None:
    """What most values are, or None.

    >>> sign_of(["a.b@example.org", "c@example.com"]).name
    'e-mail addresses'
    >>> sign_of(["047XX W GLADYS AVE", "315 Heathcote Well Unit 65", "Hauptstraße 5a"]).name
    'street addresses'
    >>> sign_of(["nurse", "clerk"]) is None
    True
    """
    trimmed = [value.strip() for value in values]
    for sign in SIGNS:
        if trimmed and sum(map(sign.fits, trimmed)) > MOST * len(trimmed):
            return sign
    return None


def are_names_of_people(values: Sequence[str]) -> bool:
    """Whether most values are given names, surnames or both, each part a known name, a title or an initial.

    >>> are_names_of_people(["Anna Schmidt", "García, José", "Dr. Mary Baker", "Damien170"])
    True
    >>> are_names_of_people(["nurse", "Private", "HS-grad", "Some-college"])
    False
    """
    return bool(values) and sum(map(_is_name, values)) > _NAMES * len(values)


def are_full_names(values: Sequence[str]) -> bool:
    """Whether most values have two parts at least, as names of single people have.

    >>> are_full_names(["Anna Schmidt", "García, José"]), are_full_names(["Anna", "José"])
    (True, False)
    """
    return sum(len(_WORD.findall(value)) > 1 for value in values) > MOST * len(values)


def _is_name(value: str) -> bool:
    words = _WORD.findall(value)
    if not 1 <= len(words) <= 6 or not value[:1].isupper():
        return False
    parts = [_plain(word) for word in words]
    telling = [part for part in parts if len(part) > 1 and part not in _TITLES]
    known = sum(part in _names() for part in telling)
    # of two words one may be a name that no list has; a word alone must be known
    return known > 0 and 2 * known >= len(telling) and all(w[0].isupper() or _plain(w) in _TITLES for w in words)


def _plain(word: str) -> str:
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(c for c in decomposed if c.isalpha())


@cache
def _names() -> frozenset[str]:
    packed = files("keepsense.draft").joinpath("data/names.txt.gz").read_bytes()
    return frozenset(gzip.decompress(packed).decode("utf-8").split("\n"))


_ANSWER = re.compile(
    r"(?:.*\b)?(?:(?:dis)?agree|(?:dis|un|very |some)?satisfied|(?:dis)?approves?|opposed?|favou?r|(?:un)?likely|"
    r"(?:un)?important|never|rarely|seldom|sometimes|occasionally|often|usually|always|(?:un)?happy|neutral|undecided|"
    r"too (?:little|much)|about right|don'?t (?:know|care)|not at all|somewhat|a great deal|excellent|poor|trusts?|"
    r"liberal|conservative|moderate)(?:\b.*)?",
    re.IGNORECASE,
)


def are_answers(values: Sequence[str]) -> bool:
    """Whether most values are steps of a scale on which people say what they think, like or do.

    >>> are_answers(["Strongly agree", "Agree", "Neither", "Disagree"]), are_answers(["nurse", "clerk"])
    (True, False)
    """
    return len(values) > 1 and sum(_ANSWER.fullmatch(value.strip()) is not None for value in values) > MOST * len(
        values
    )


def are_document_numbers(values: Sequence[str], *, lettered: bool = False) -> bool:
    """Whether values are written after one pattern with many digits: numbers of documents, cases, accounts.

    With `lettered` only those count that have letters, too: digits alone may be a sum or a code.

    >>> are_document_numbers(["HP587530", "HP587531", "HR100042"]), are_document_numbers(["A40", "A41"])
    (True, False)
    >>> are_document_numbers(["62506", "104437"]), are_document_numbers(["62506", "104437"], lettered=True)
    (True, False)
    """
    shapes = Counter(re.sub(r"[A-Za-z]", "A", re.sub(r"\d", "9", value.strip())) for value in values)
    if not shapes:
        return False
    common = [
        (shape, times)
        for shape, times in shapes.most_common(3)
        if shape.count("9") >= 5 and " " not in shape and (not lettered or "A" in shape)
    ]
    return sum(times for _, times in common) >= 0.9 * len(values)


def are_tokens(values: Sequence[str]) -> bool:
    """Whether values are made up by a machine: long, of small and capital letters and digits without an order.

    >>> are_tokens(["R_037XK72IZBJyF69", "R_06RZP9pS7kONINr"]), are_tokens(["Level1Support", "iPhone14Pro"])
    (True, False)
    """
    mixed = [len(re.findall(r"[a-z](?=[A-Z0-9])|[A-Z](?=[0-9])|[0-9](?=[A-Za-z])", value)) >= 4 for value in values]
    long = all(len(value) >= 10 and " " not in value.strip() for value in values)
    return bool(mixed) and long and sum(mixed) >= 0.9 * len(mixed)


def are_row_numbers(values: Sequence[object], rows: int) -> bool:
    """Whether whole numbers, each in one row, fill most of their range: they number the rows.

    >>> are_row_numbers([str(n) for n in range(40)], 40), are_row_numbers(["12000", "15500", "91000"], 3)
    (True, False)
    """
    try:
        numbers = [int(str(value)) for value in values]
    except ValueError:
        return False
    return len(numbers) > 1 and len(set(numbers)) == len(numbers) and max(numbers) - min(numbers) < 2 * rows


def are_numbers(values: Sequence[Value]) -> bool:
    """Whether all values are numbers or read as such (a code with leading zeros does not).

    >>> are_numbers(["3", "-4.5"]), are_numbers(["01067", "20095"])
    (True, False)
    """
    return bool(values) and all(
        (isinstance(v, int | float | Decimal) and not isinstance(v, bool))
        or (isinstance(v, str) and _NUMBER.fullmatch(v.strip()) is not None and not re.match(r"\s*0\d", v))
        for v in values
    )


def are_codes(values: Sequence[Value]) -> bool:
    """Whether all values are codes: four or more digits of one length, some with a leading zero, or letters and digits.

    >>> are_codes(["01067", "20095"]), are_codes(["A40", "A49", "A410"]), are_codes(["LA4", "RM17"]), are_codes(["B12"])
    (True, True, True, False)
    """
    texts = [v for v in values if isinstance(v, str)]
    if len(texts) == len(values) > 1 and all(_CODE.fullmatch(text.strip()) for text in texts):
        return True
    return (
        len(texts) == len(values) > 1
        and {len(t) for t in texts} == {max(4, len(texts[0]))}
        and all(t.isdigit() for t in texts)
        and any(t.startswith("0") for t in texts)
    )


def delimiter_of(values: Mapping[Value, int]) -> str | None:
    """What separates the items of a column that holds sets: items recur, and many cells hold several.

    >>> delimiter_of({"tea;novel": 1, "novel;jazz": 1, "jazz;tea": 1, "tea": 2})
    ';'
    """
    texts = [v for v in values if isinstance(v, str)]
    if not texts or len(texts) != len(values):
        return None
    for mark in (";", "|", ","):
        several = [t for t in texts if mark in t]
        if len(several) < max(2, 0.3 * len(texts)):
            continue
        items = [item.strip() for t in texts for item in t.split(mark)]
        # a list of things uses few words again and again; an address or a sentence does not
        if len(set(items)) * 2 <= len(items) and sum(len(i.split()) for i in items) <= 4 * len(items):
            return mark
    return None


def is_free_text(values: Sequence[Value]) -> bool:
    """Whether values are sentences rather than words.

    >>> is_free_text(["complains of pain since Monday, worse at night"])
    True
    """
    texts = [v for v in values if isinstance(v, str)]
    return bool(texts) and sum(len(t.split()) for t in texts) > 5 * len(texts)
