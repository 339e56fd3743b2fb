"""What can go wrong, in two families: the user can mend a `KeepsenseError`; an `InternalError` is our bug.

Every message names the file, column or concept, says what is wrong and what to do about it. Values of people never
appear in a message unless the caller asked for them.

>>> from keepsense.errors import KeepsenseError, UnknownConcept
>>> issubclass(UnknownConcept, KeepsenseError)
True
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


class KeepsenseError(Exception):
    """Base of everything a user can mend.

    >>> raise KeepsenseError("table.csv: the file is empty; give a file with a header line")
    Traceback (most recent call last):
    ...
    keepsense.errors.KeepsenseError: table.csv: the file is empty; give a file with a header line
    """


class BadInput(KeepsenseError):
    """A file, column or parameter is not what it should be.

    >>> issubclass(BadInput, KeepsenseError)
    True
    """


class BadTaxonomy(BadInput):
    """A taxonomy cannot be built or read: a cycle, an unknown parent, a duplicate id, a damaged file.

    >>> issubclass(BadTaxonomy, BadInput)
    True
    """


class UnknownConcept(BadInput):
    """A concept was asked for that the taxonomy does not hold.

    >>> issubclass(UnknownConcept, BadInput)
    True
    """


class BadHierarchy(BadInput):
    """A generalization hierarchy is not valid or does not cover a column.

    >>> issubclass(BadHierarchy, BadInput)
    True
    """


class MissingExtra(KeepsenseError):
    """An optional library is needed and not installed; the message says which extra brings it.

    >>> issubclass(MissingExtra, KeepsenseError)
    True
    """


class Infeasible(KeepsenseError):
    """The goal cannot be met; `best` carries the best attempt and `relax` what could be relaxed.

    >>> error = Infeasible("k = 5 cannot be met", best=None, relax=("allow 2% suppression",))
    >>> error.relax
    ('allow 2% suppression',)
    """

    def __init__(self, message: str, *, best: object = None, relax: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.best = best
        self.relax = tuple(relax)


class BudgetExceeded(KeepsenseError):
    """A differential privacy budget would be exceeded; nothing was released.

    >>> issubclass(BudgetExceeded, KeepsenseError)
    True
    """


class InternalError(Exception):
    """An invariant of Keepsense itself does not hold: a bug, please report it.

    >>> issubclass(InternalError, KeepsenseError)
    False
    """


class PrivacyWarning(UserWarning):
    """Something legal but risky for the people in the data.

    >>> issubclass(PrivacyWarning, UserWarning)
    True
    """


class InputWarning(UserWarning):
    """Input could be read, but not without a guess that the user should know of.

    >>> issubclass(InputWarning, UserWarning)
    True
    """


@dataclass(frozen=True, slots=True)
class Finding:
    """One coded remark of a check: `E...` must be mended, `W...` should be looked at.

    >>> print(Finding("W101", "occupation", "2 values are in no taxonomy"))
    W101 occupation: 2 values are in no taxonomy
    """

    code: str
    where: str
    message: str

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
