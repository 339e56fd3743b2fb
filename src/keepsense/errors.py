"""Exceptions, and the codes of findings. The user can fix a `KeepsenseError`; an `InternalError` is a bug in Keepsense.

Every message names the file, column or concept, says what is wrong and what to do about it. Values of people never
appear in a message unless the caller asked for them.

>>> from keepsense.errors import KeepsenseError
>>> from keepsense.taxonomy.embedded_taxonomies import wordnet
>>> try:
...     wordnet().code("nurs")
... except KeepsenseError as error:
...     print(error)
WordNet 3.0: no concept has the id or name 'nurs'. Did you mean nurse or nurser or nursing?
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple


class KeepsenseError(Exception):
    """Base of everything a user can mend.

    >>> raise KeepsenseError("table.csv: the file is empty; give a file with a header line")
    Traceback (most recent call last):
    ...
    keepsense.errors.KeepsenseError: table.csv: the file is empty; give a file with a header line
    >>> error = BadInput("column 'job' has no taxonomy; give it one")
    >>> error.code, error.column, error.remedies
    ('bad-input', 'job', ('give it one',))
    """

    code = "error"
    """A short name of what went wrong, for programs."""
    relax: tuple[str, ...] = ()

    @property
    def column(self) -> str | None:
        """The column that the message names, if it names one."""
        named = _COLUMN.search(str(self))
        return named[1] or named[2] if named else None

    @property
    def remedies(self) -> tuple[str, ...]:
        """What to do: what could be relaxed, or what the message says after its last semicolon."""
        if self.relax:
            return self.relax
        _, semicolon, advice = str(self).replace(VALUES_LISTED, "").rpartition("; ")
        hint = re.search(r"Did you mean [^?]*\?", str(self))
        return (advice,) if semicolon else (hint[0],) if hint else ()


_COLUMN = re.compile(r"""\bcolumn (?:'([^']+)'|"([^"]+)")""")
VALUES_LISTED = " (the error's `values` lists them)"
"""What messages say to programs where people would have to ask for the values."""


class BadInput(KeepsenseError):
    """A file, column or parameter is not what it should be.

    >>> from keepsense.counts import Counts
    >>> Counts.of({"age": [31, 40], "job": ["nurse"]})
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: column 'job' has 1 rows, the first column 2
    """

    code = "bad-input"


class TooLarge(BadInput):
    """The work would take more memory than it may; nothing of it was begun.

    >>> raise TooLarge("counting takes about 18 GB, and memory is limited to 6.0 GB; allow more")
    Traceback (most recent call last):
    ...
    keepsense.errors.TooLarge: counting takes about 18 GB, and memory is limited to 6.0 GB; allow more
    """


class TooSlow(BadInput):
    """The work would take hours, and nobody said that it may; nothing of it was begun.

    >>> raise TooSlow("2,000,000 different records would take hours; let it take them with `patient = true`")
    Traceback (most recent call last):
    ...
    keepsense.errors.TooSlow: 2,000,000 different records would take hours; let it take them with `patient = true`
    """


class BadTaxonomy(BadInput):
    """A taxonomy cannot be built or read: a cycle, an unknown parent, a duplicate id, a damaged file.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> from_edges([("cat", "animal"), ("animal", "cat")])
    Traceback (most recent call last):
    ...
    keepsense.errors.BadTaxonomy: taxonomy: the is-a links form a cycle: 'cat' -> 'animal' -> 'cat'; drop one of them
    """

    code = "bad-taxonomy"


class UnknownConcept(BadInput):
    """A concept was asked for that the taxonomy does not hold.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> from_edges([("cat", "animal")]).code("kitten")
    Traceback (most recent call last):
    ...
    keepsense.errors.UnknownConcept: taxonomy: no concept has the id or name 'kitten'.
    """

    code = "unknown-concept"


class BadHierarchy(BadInput):
    """A generalization hierarchy is not valid or does not cover a column.

    >>> from keepsense.hierarchies.hierarchy import Hierarchy
    >>> Hierarchy.of_rows([("nurse", "medic", "*"), ("clerk", "*")])
    Traceback (most recent call last):
    ...
    keepsense.errors.BadHierarchy: hierarchy: row 2 has 2 levels, the first row 3
    """

    code = "bad-hierarchy"


class InDoubt(BadInput):
    """A database was lost while it committed: nobody knows whether the release is out, and it counts as one that is.

    >>> raise InDoubt("the table 'people' may be released; run again when the server answers")
    Traceback (most recent call last):
    ...
    keepsense.errors.InDoubt: the table 'people' may be released; run again when the server answers
    """

    code = "in-doubt"


class MissingExtra(KeepsenseError):
    """An optional library is needed and not installed; the message says which extra brings it.

    >>> raise MissingExtra("people.xlsx: reading Excel needs openpyxl; install keepsense[excel]")
    Traceback (most recent call last):
    ...
    keepsense.errors.MissingExtra: people.xlsx: reading Excel needs openpyxl; install keepsense[excel]
    """

    code = "missing-extra"


class Infeasible(KeepsenseError):
    """The goal cannot be met; `best` carries the best attempt and `relax` what could be relaxed.

    >>> error = Infeasible("k = 5 cannot be met", best=None, relax=("allow 2% suppression",))
    >>> error.relax
    ('allow 2% suppression',)
    """

    code = "infeasible"

    def __init__(self, message: str, *, best: object = None, relax: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.best = best
        self.relax = tuple(relax)


class BudgetExceeded(KeepsenseError):
    """A differential privacy budget would be exceeded; nothing was released.

    >>> from keepsense.methods.perturb.privacy_budget import Budget
    >>> Budget(1.0).spend(2.0, "age")
    Traceback (most recent call last):
    ...
    keepsense.errors.BudgetExceeded: age needs epsilon = 2, and 1 of 1 is left; nothing was released
    """

    code = "budget-exceeded"


class InternalError(Exception):
    """An invariant of Keepsense itself does not hold: a bug, please report it.

    >>> try:
    ...     raise InternalError("two rows have the same number")
    ... except KeepsenseError:
    ...     print("something the user can mend")
    ... except InternalError:
    ...     print("something to report")
    something to report
    """


class PrivacyWarning(UserWarning):
    """Something legal but risky for the people in the data.

    >>> import warnings
    >>> with warnings.catch_warnings():  # who cannot read warnings can stop at them
    ...     warnings.simplefilter("error", PrivacyWarning)
    ...     warnings.warn("2 of 80 records are in classes below k = 4", PrivacyWarning)
    Traceback (most recent call last):
    ...
    keepsense.errors.PrivacyWarning: 2 of 80 records are in classes below k = 4
    """


class InputWarning(UserWarning):
    """Input could be read, but not without a guess that the user should know of.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as heard:
    ...     warnings.simplefilter("always", InputWarning)
    ...     warnings.warn("people.csv: the delimiter was taken to be ';'", InputWarning)
    >>> [str(warning.message) for warning in heard]
    ["people.csv: the delimiter was taken to be ';'"]
    """


class Meaning(NamedTuple):
    """What a code of a finding says, and what to do about it.

    >>> FINDINGS["E208"].remedy
    'look at the source, and at what was suppressed'
    """

    says: str
    remedy: str


FINDINGS: Mapping[str, Meaning] = {
    code: Meaning(says, remedy)
    for code, says, remedy in (
        # words and their concepts
        ("E101", "no value at all is in the taxonomy", "try another taxonomy"),
        ("W101", "some values were not found in the taxonomy", "take a suggestion, or give a mapping table"),
        ("W102", "cells are missing", "fill them, or leave them as they are: they have no concept"),
        ("W103", "the column looks numeric", "give it the kind numeric, or date"),
        ("W104", "words have several senses, and one was chosen for you", "look at the alternatives"),
        ("W111", "words have several senses, and none is likely enough", "say which is meant in a mapping file"),
        ("W105", "values were mapped by their head noun alone", "map them in a table where the rest matters"),
        (
            "W110",
            "values are known by their last noun alone, and stand for nothing until that is accepted",
            'accept them in a mapping file, or all of them with suggestions = "accept"',
        ),
        ("W106", "values are longer than 1,000 characters", "use a column of values, not of texts"),
        ("W107", "`lesk` was asked for, but the taxonomy has no definitions", "choose senses in another way"),
        ("W108", "values look like marks for missing cells", "make them missing, or map them in a table"),
        ("W109", "values hold characters that were lost in decoding", "read the file in its encoding"),
        # a release that is read back
        ("E201", "the release lacks a column", "release it, or give it another role"),
        ("E202", "an identifying column is in the release", "remove it"),
        ("E203", "classes, or combinations of items, break a promise", "run again with a method that keeps it"),
        ("E204", "a promise cannot be checked on the file, so it does not hold", "give the verifier what it lacks"),
        ("E205", "more records are suppressed than allowed", "allow more, or choose another method"),
        ("E206", "the release has more rows than the original", "compare it with the file that it was made from"),
        ("E207", "a column that was to stay as it is has changed", "release another format, or mend the file"),
        ("E208", "the release has no rows", "look at the source, and at what was suppressed"),
        ("E209", "the release has a column that the project file does not release", "remove it, or list it"),
        ("W212", "records that are missing everywhere fit everybody", "drop them, or let missing be a category"),
        # hierarchies
        ("E301", "the hierarchy is empty", "give it at least one leaf"),
        ("E302", "rows of different lengths", "give every row as many levels as the others"),
        ("E303", "a leaf value occurs more than once", "keep one row for each"),
        ("E304", "a label has several parents, so a level does not coarsen the one below", "keep one parent for each"),
        ("E305", "values of the column are missing from the hierarchy", "add them"),
        ("E306", "empty labels", "name them"),
        ("E307", "a label stands for several groups of one level", "give each group a name of its own"),
        ("W301", "several roots: even full generalization tells groups apart", "put them under one"),
        ("W302", "leaves that the column does not hold", "leave them, or drop them before you publish the hierarchy"),
        ("W303", "a level that changes nothing", "drop it"),
        ("W304", "a label that stands for different groups on different levels", "give each group a name of its own"),
        (
            "W315",
            "labels of a built hierarchy were not true of all their values",
            "report it as a mistake of Keepsense",
        ),
        # sets
        ("W305", "terms are in no taxonomy and kept as opaque", "map them, or accept that they are like nothing else"),
        ("W306", "groups are released as one of their records stood", "use a taxonomy with several terms a concept"),
        ("W307", "concepts are released by label, because few people use any term", "nothing; a smaller k shows more"),
        ("W308", "opaque terms that few people use are withheld", "map them onto a taxonomy"),
        ("W309", "records hold the most general item, which says nothing", "ask for less, or group the items better"),
        ("W311", "items occur again in their record, and count once", "nothing, unless how often matters"),
        ("W312", "blank items were left out", "look whether the delimiter is right"),
        ("W313", "missing cells were taken for empty sets", "leave those records out if they are not empty"),
        ("W314", "empty sets are alike, and 1 away from the rest", "leave them out if they say nothing"),
        # publishing
        ("E401", "a column that is released as it is points at people by itself", "band it, drop it, or protect it"),
        (
            "E402",
            "a column that is released as it is tells what was hidden in another",
            "band it, drop it, or protect it",
        ),
        ("W401", "earlier releases hold some of the same columns", "compare what they tell together"),
        ("W402", "earlier releases have used up some of the budget of differential privacy", "add it up"),
        ("W403", "people may have several rows, but the promises count rows", "promise (X,Y)-anonymity"),
        ("W404", "nothing is promised about a sensitive column", "promise l-diversity or t-closeness"),
        ("W405", "released sets are made up, while all other columns stay true", "say so to those who use them"),
        ("W421", "a column has another type than when its recoding was made", "check the file; values were matched"),
        ("W422", "values were not seen before, and the earlier rule covers them", "look at what became of them"),
        ("W423", "values are covered by no rule of the earlier release", "map them, or make a new recoding"),
        (
            "W424",
            "records fit no class of the earlier release, and form some of their own",
            "look how many they are",
        ),
        ("W408", "a promise was checked when the release was made, and is not shown again", "trust it, or run again"),
        (
            "W406",
            "suppressed records were to be kept, but break a promise, and were left out",
            "allow more suppression",
        ),
        ("W409", "a column that points at people by itself is accepted", "know who may know its values"),
        ("W410", "a column that tells what was hidden in another is accepted", "know who may read the release"),
        ("W411", "empty sensitive cells count as a value of their own", 'set missing = "unknown" for the promise'),
        ("W412", "several sensitive columns are protected one by one", "name the others in `beside`"),
        ("W413", "a column lost nearly all of its detail", "leave it out, or other columns that nobody needs"),
        (
            "W415",
            "cells that a spreadsheet would run as formulas were written with an apostrophe before them",
            "set spreadsheet_safe = false if nobody opens the release in a spreadsheet",
        ),
        (
            "W416",
            "values of a few people who lie far from all others can be read from what is released",
            "choose a method that generalizes, or round the ends of the column before",
        ),
        # advice
        ("W501", "what is promised hides who somebody is, not what they have", "add l-diversity"),
        ("W502", "k is small", "take 5 for known recipients, 11 or more for the public"),
        ("W503", "nothing is promised by construction", "look at the risk in the report, too"),
        ("W504", "there are few rows for so large a k", "expect coarse values"),
        ("W505", "many columns by which people could be recognized", "leave out those that nobody needs"),
        ("W506", "who is in several releases can be found by comparing them", "mind the ledger of releases"),
        ("W507", "sets are shared inside the groups that other columns form", "leave out columns that nobody needs"),
        (
            "W508",
            "beside other columns, sets can only be released as made-up ones",
            "release them in another file",
        ),
        (
            "W509",
            "differential privacy draws values anew, and true records are wanted",
            "promise approximate differential privacy, or do without true records",
        ),
        ("W510", "the promise compares with something that was not said", "say it in the project file"),
        ("W511", "it is known what sensitive values have in common", 'take the form "concepts" of the promise'),
    )
}
"""Every code of a finding: `E...` must be mended, `W...` should be looked at. A code means one thing only."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One coded remark of a check: `E...` must be mended, `W...` should be looked at; `FINDINGS` lists the codes.

    >>> print(Finding("W101", "occupation", "2 values are in no taxonomy"))
    W101 occupation: 2 values are in no taxonomy
    """

    code: str
    where: str
    message: str

    @property
    def meaning(self) -> Meaning:
        """What the code says in general, and what to do."""
        return FINDINGS[self.code]

    @property
    def is_error(self) -> bool:
        """Whether the finding forbids going on."""
        return self.code.startswith("E")

    def __str__(self) -> str:
        return f"{self.code} {self.where}: {self.message}"


def nearest(word: str, options: Iterable[str], limit: int = 3) -> list[str]:
    """Return the options spelled most like `word`, best first, for "did you mean".

    >>> nearest("occupatoin", ["occupation", "diagnosis"])
    ['occupation']
    """
    from rapidfuzz import process
    from rapidfuzz.distance import JaroWinkler

    found = process.extract(word, list(options), scorer=JaroWinkler.similarity, limit=limit, score_cutoff=0.8)
    return [text for text, _, _ in found]


def did_you_mean(word: str, options: Iterable[str]) -> str:
    """Return a hint that starts with a space, or an empty string where nothing is near.

    >>> did_you_mean("lin", ["wu-palmer", "path"])
    ''
    >>> did_you_mean("wu-palmr", ["wu-palmer", "path"])
    ' Did you mean wu-palmer?'
    """
    close = nearest(word, options)
    return f" Did you mean {' or '.join(close)}?" if close else ""
