"""How a column writes missing values, dates and numbers: recognized by its values, as keys of a project file."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Mapping, Sequence

from keepsense.counts import Value
from keepsense.engines.protocol import NUMBER_FORMATS

MARKS = frozenset(
    (
        "?",
        "??",
        "-",
        "--",
        ".",
        "..",
        "n/a",
        "n.a.",
        "na",
        "nan",
        "nil",
        "null",
        "#n/a",
        "#na",
        "#null!",
        "<na>",
        "unk",
        "unknown",
        "unkown",
        "missing",
        "undefined",
        "unspecified",
        "(missing)",
        "(unknown)",
        "[unknown]",
        "(blank)",
        "99/99/9999",
        "00/00/0000",
        "0000-00-00",
        "9999-99-99",
        "9999-12-31",
        "99.99.9999",
        "not available",
        "not known",
        "not recorded",
        "not stated",
        "no data",
        "no answer",
        "not applicable",
    )
)
"""Texts that stand for a missing value, in lower case. `none` is not among them: it often is an answer."""

_SENTINELS = re.compile(r"-(9{1,6}|8{2,4}|1)(\.0+)?|9{2,6}(\.0+)?")
_DATE_LIKE = re.compile(
    r"\d{1,4}[./ -](\d{1,2}|[A-Za-z]{3,9})[./, -]+\d{1,4}([T ,].*)?|[A-Za-z]{3,9} \d{1,2},? \d{4}([T ,].*)?|\d{8}"
    r"|\d{1,2}[./-]\d{4}|\d{4}[./]\d{1,2}|[A-Za-z]{3,9}[ -]\d{4}"
)
DAYS = (
    *("%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d", "%d %b %Y", "%d-%b-%Y"),
    *("%d %B %Y", "%B %d, %Y", "%b %d, %Y", "%d.%m.%y", "%m/%d/%y", "%d/%m/%y", "%d-%b-%y", "%Y%m%d"),
)
_MONTHS = ("%m/%Y", "%m.%Y", "%m-%Y", "%Y/%m", "%Y.%m", "%b %Y", "%B %Y", "%b-%Y", "%B-%Y")
_TIMES = ("", " %H:%M:%S", " %H:%M", " %I:%M:%S %p", " %I:%M %p", "T%H:%M:%S")
_OTHER_ORDER = {"%d/%m": "%m/%d", "%m/%d": "%d/%m", "%d-%m": "%m-%d", "%m-%d": "%d-%m"}
_SIGNS = re.compile(r"^[%€$£¥]\s?|\s?[%€$£¥]$|(?<=[-+])[€$£¥]|^[A-Z]{3}\s?(?=[-\d])|(?<=\d)\s?[A-Z]{3}$")
_WRITTEN = {
    "1.234,56": re.compile(r"[-+]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?"),
    "1 234,56": re.compile(r"[-+]?(\d{1,3}([ \u00a0\u202f]\d{3})+|\d+)(,\d+)?"),
    "1'234.56": re.compile(r"[-+]?(\d{1,3}('\d{3})+|\d+)(\.\d+)?"),
    "1,234.56": re.compile(r"[-+]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?"),
}


def missing_marks(values: Mapping[Value, int]) -> tuple[str, ...]:
    """Cells of a column that stand for a missing value, as they are written: marks, and numbers far from all others.

    >>> missing_marks({"?": 3, "nurse": 5, "N/A": 1})
    ('?', 'N/A')
    >>> missing_marks({"31": 4, "40": 5, "-9": 3}), missing_marks({"-9": 3, "-4": 5, "7": 2})
    (('-9',), ())
    """
    words = [v for v in values if isinstance(v, str) and v.strip().casefold() in MARKS]
    others = [v for v in values if v not in words]
    if not others:
        return ()
    return tuple(words) + tuple(str(v) for v in _far_numbers({v: values[v] for v in others}))


def _far_numbers(values: Mapping[Value, int]) -> list[Value]:
    """Values such as -9 or 9999 that are out of the range of all others, in a column of whole numbers."""
    numbers: dict[Value, float] = {}
    for value in values:
        try:
            numbers[value] = float(str(value))
        except ValueError:
            return []
    marks = [v for v in numbers if _SENTINELS.fullmatch(str(v)) and values[v] > 1]
    rest = [number for value, number in numbers.items() if value not in marks]
    if len(rest) < 2:
        return []
    low, high = min(rest), max(rest)
    negative = [v for v in marks if numbers[v] < 0 <= low]
    large = [v for v in marks if numbers[v] > 0 and numbers[v] > 2 * high + 8 and len(str(v).split(".")[0]) > 2]
    # -1 alone may be a measured value next to 0; it is a mark only where nothing else is below 5
    return [v for v in (*negative, *large) if numbers[v] != -1 or low >= 1]


def date_format(texts: Sequence[str]) -> tuple[str, bool] | None:
    """The form in which all texts are dates, and whether another order of day and month fits as well.

    >>> date_format(["09/22/2008 11:24:00 PM", "01/02/2009 01:00:00 AM"])
    ('%m/%d/%Y %I:%M:%S %p', False)
    >>> date_format(["22.9.2008"]), date_format(["1/2/2008", "3/4/2009"])
    (('%d.%m.%Y', False), ('%m/%d/%Y', True))
    >>> date_format(["May 2010", "Jan 2011"]), date_format(["nurse"])
    (('%b %Y', False), None)
    """
    trimmed = [text.strip() for text in texts]
    if not trimmed or not all(_DATE_LIKE.fullmatch(text) for text in trimmed):
        return None
    forms = [*(day + time for time in _TIMES for day in DAYS), *_MONTHS]
    for text in (*trimmed[:20], *trimmed):
        forms = [form for form in forms if _reads(text, form)]
        if not forms:
            return None
    best = forms[0]
    swapped = next((best.replace(a, b) for a, b in _OTHER_ORDER.items() if best.startswith(a)), None)
    return best, swapped in forms


def _reads(text: str, form: str) -> bool:
    try:
        day = datetime.datetime.strptime(text, form)
    except ValueError:
        return False
    return 1800 <= day.year <= 2200


def number_format(texts: Iterable[str]) -> str | None:
    """The way in which all texts are numbers, where it is not the plain one.

    >>> number_format(["1.200,50", "-3,5"]), number_format(["1,200", "$3.50"]), number_format(["1.5", "2"])
    ('1.234,56', '1,234.56', None)
    >>> number_format(["12%", "7%"]), number_format(["1 200", "3,5"]), number_format(["nurse"])
    ('1,234.56', '1 234,56', None)
    """
    trimmed = [text.strip() for text in texts]
    bare = [_SIGNS.sub("", text) for text in trimmed]
    if all(map(_plain_number, bare)):
        # a currency or percent sign is all that keeps such numbers from being read
        return "1,234.56" if bare != trimmed else None
    for form, pattern in _WRITTEN.items():
        if all(map(pattern.fullmatch, bare)) and not _thousands_only(bare, form):
            return form
    return None


def spelled_plainly(text: str, form: str | None) -> str:
    """A number written in another way, as it is usually written.

    >>> spelled_plainly("-1.200,50", "1.234,56"), spelled_plainly("$4,000 ", "1,234.56"), spelled_plainly("7", None)
    ('-1200.50', '4000', '7')
    """
    if form is None or form not in NUMBER_FORMATS:
        return text
    group, mark = NUMBER_FORMATS[form]
    bare = re.sub(r"\s", "", _SIGNS.sub("", text.strip()))
    return bare.replace(group, "").replace(mark, ".")


def _plain_number(text: str) -> bool:
    return re.fullmatch(r"[-+]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", text, re.IGNORECASE) is not None


def _thousands_only(texts: Sequence[str], form: str) -> bool:
    """Whether every decimal mark of this form stands before three digits: then it more likely parts thousands."""
    mark = NUMBER_FORMATS[form][1]
    parted = [text for text in texts if mark in text]
    return mark == "," and bool(parted) and all(re.search(r",\d{3}$", text) for text in parted)
