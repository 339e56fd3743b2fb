"""What the name and the shape of a column tell about it: the words and patterns that inspections go by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from keepsense.counts import Value


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


IDENTIFIERS = _words(
    "id ids identifier key name names surname firstname lastname forename fullname email mail phone telephone mobile "
    "fax ssn passport iban account license licence plate mrn nhs nif dni vat insurance username login url ip mac uuid "
    "guid token signature photo fingerprint serial"
)
SENSITIVE = _words(
    "diagnosis diagnoses disease illness condition symptom disorder medication drug treatment therapy surgery "
    "procedure hiv disability allergy income salary wage earnings debt credit loan balance religion faith politics "
    "political party vote orientation sexuality union crime offence offense conviction charge sentence grade score "
    "result outcome biopsy"
)
KNOWN_BY_OTHERS = _words(
    "sex gender age birth birthday birthdate dob born death zip zipcode postcode postal plz city town village place "
    "region county state province country nationality citizenship birthplace street address job occupation profession "
    "employer company workplace work industry sector education school degree marital married civil status children "
    "household ethnicity ethnic race language admission discharge visit date height hair eye hobby hobbies car "
    "vehicle housing tenure rank"
)
WEIGHTS = _words("fnlwgt pweight sampweight hhweight wgt")
POSTCODES = _words("zip zipcode postcode postal plz cap")
SCALES = (
    ("none", "low", "medium", "high"),
    ("low", "medium", "high"),
    ("low", "moderate", "high"),
    ("very low", "low", "medium", "high", "very high"),
    ("small", "medium", "large"),
    ("mild", "moderate", "severe"),
    ("none", "mild", "moderate", "severe"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("poor", "fair", "good", "very good", "excellent"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
)
_PATTERNS = (
    ("e-mail addresses", re.compile(r"[^@\s]+@[^@\s]+\.[a-z]{2,}", re.IGNORECASE)),
    ("web addresses", re.compile(r"(https?://|www\.)\S+", re.IGNORECASE)),
    ("network addresses", re.compile(r"\d{1,3}(\.\d{1,3}){3}")),
    ("bank accounts", re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{10,30}")),
    ("UUIDs", re.compile(r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)),
    ("telephone numbers", re.compile(r"\+\d[\d ()/-]{6,}|\(\d{2,5}\) ?[\d -]{5,}")),
)
_OTHER_DATE = re.compile(r"\d{1,2}[./-]\d{1,2}[./-](\d{2}|\d{4})")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)


def words_of(name: str) -> list[str]:
    """Words of a column's name, however they are joined.

    >>> words_of("dateOfBirth"), words_of("patient_ID")
    (['date', 'of', 'birth'], ['patient', 'id'])
    """
    parted = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    return re.findall(r"[a-z]+", parted.lower())


def named_like(name: str, vocabulary: Iterable[str]) -> str | None:
    """The first word of a column's name that is in a vocabulary.

    >>> named_like("home_zip", POSTCODES)
    'zip'
    """
    known = set(vocabulary)
    return next((word for word in words_of(name) if word in known), None)


def pattern_of(values: Sequence[str]) -> str | None:
    """What kind of identifying text most values are, or None.

    >>> pattern_of(["a.b@example.org", "c@example.com"])
    'e-mail addresses'
    """
    for what, pattern in _PATTERNS:
        if values and sum(1 for v in values if pattern.fullmatch(v.strip())) > len(values) / 2:
            return what
    return None


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
    """Whether all values are strings of four or more digits of one length, some with a leading zero.

    >>> are_codes(["01067", "20095"])
    True
    """
    texts = [v for v in values if isinstance(v, str)]
    return (
        len(texts) == len(values) > 1
        and {len(t) for t in texts} == {max(4, len(texts[0]))}
        and all(t.isdigit() for t in texts)
        and any(t.startswith("0") for t in texts)
    )


def are_other_dates(values: Sequence[Value]) -> bool:
    """Whether values look like dates, but not in the ISO form.

    >>> are_other_dates(["31/12/1999", "1.2.2003"])
    True
    """
    return bool(values) and all(isinstance(v, str) and _OTHER_DATE.fullmatch(v.strip()) for v in values)


def scale_of(values: Iterable[Value]) -> list[str] | None:
    """The values in order where they are those of a common scale, lowest first.

    >>> scale_of(["High", "Low", "Medium"])
    ['Low', 'Medium', 'High']
    """
    spelled = {str(v).strip().casefold(): str(v) for v in values}
    for scale in SCALES:
        if len(spelled) > 2 and set(spelled) <= set(scale):
            return [spelled[word] for word in scale if word in spelled]
    return None


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
