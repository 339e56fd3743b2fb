"""Beta-likeness: no sensitive value is much more frequent in a class than in the whole table.

Where t-closeness adds up all differences, these promises look at every value separately, in proportion: a rare illness
may not be ten times as frequent in a class as elsewhere, though that moves little mass.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Histogram
from keepsense.errors import BadInput
from keepsense.privacy.privacy_model import (
    Column,
    Disclosure,
    Flags,
    Known,
    Positive,
    Weights,
    privacy_model,
    unless_empty,
)
from keepsense.privacy.reference_distributions import AgainstWhole, Concepts, Reference, Shifts, shifts_of, written


class OfShares(AgainstWhole):
    """A promise about how the share of every sensitive value in a class compares with its share in the table.

    >>> from keepsense.privacy.beta_likeness import BasicLikeness
    >>> BasicLikeness(2.0, "ill").decided_by
    'largest factor'
    """

    protects: ClassVar[tuple[Disclosure, ...]] = ("attribute",)
    decided_by: ClassVar[str] = "largest factor"

    def judged(self, class_weights: Weights, values: Histogram) -> Flags:
        """Whether the share of every value in each class is near enough to that in the whole table."""
        wide, whole = self._whole(values)
        return unless_empty(self.kept_by(shifts_of(wide, whole)), class_weights)

    @abstractmethod
    def kept_by(self, shifts: Shifts) -> Flags:
        """Whether each class keeps the promise, from the shares of its values."""

    def factors(self, class_weights: Weights, histograms: Mapping[str, Histogram]) -> Floats:
        """By how much the most enriched value of each class is more frequent there than in the whole table.

        >>> from keepsense.counts import Counts
        >>> from keepsense.privacy.beta_likeness import BasicLikeness
        >>> table = Counts.of({"job": ["a", "a", "b", "b"]}, histograms={"ill": ["flu", "cold", "flu", "flu"]})
        >>> BasicLikeness(2.0, "ill").factors(table.weights, table.histograms).round(2).tolist()
        [2.0, 1.33]
        """
        _, values, owner = self.groups(class_weights, histograms)
        shifts = shifts_of(*self._whole(values))
        largest = np.zeros(len(class_weights))
        np.maximum.at(largest, owner[shifts.row], shifts.ratio)
        return largest


class OfConcepts(OfShares):
    """The same about every concept above the values of the column: the sum of what lies below it.

    >>> from keepsense.privacy.beta_likeness import ConceptLikeness
    >>> ConceptLikeness(2.0, "ill").needs_concepts
    True
    """

    needs_concepts: ClassVar[bool] = True
    if TYPE_CHECKING:  # parameters keep the order in which each class declares them
        concepts: Concepts | None

    def meant(self, concepts: Concepts) -> Self:
        """The same promise with what values have in common."""
        known: Any = {"concepts": concepts}
        changed: Self = replace(self, **known)  # type: ignore[type-var]
        return changed

    def judged(self, class_weights: Weights, values: Histogram) -> Flags:
        """Whether the share of every value and concept in each class is near enough to that in the whole table."""
        if self.concepts is None:
            raise BadInput(
                f"{self.name} over concepts needs to know what the values of {self.column!r} have in common; give the "
                "column a taxonomy or a hierarchy, or `Concepts` in Python"
            )
        wide, whole = self._whole(values)
        counted = self.concepts.counted(wide, whole)
        shifts = replace(shifts_of(counted.histogram, counted.whole, class_weights), total=int(whole.sum()))
        return unless_empty(self.kept_of(shifts, counted.subtree), class_weights)

    def kept_by(self, shifts: Shifts) -> Flags:
        """As of concepts that stand for one value each."""
        return self.kept_of(shifts, np.zeros(len(shifts.whole), np.bool_))

    @abstractmethod
    def kept_of(self, concepts: Shifts, subtree: NDArray[np.bool_]) -> Flags:
        """Whether each class keeps the promise; `subtree` marks concepts that stand for several values."""

    def evidence(self) -> dict[str, Mapping[str, object]]:
        """The concepts above each value."""
        return {} if self.concepts is None else {self.column: self.concepts.evidence()}


@dataclass(frozen=True)
class BasicLikeness(OfShares):
    """No value's share grows by more than beta times its share in the table (Cao and Karras 2012, Definition 2).

    With p the share of a value in the whole table and q that in a class, (q - p) / p is at most beta wherever q is
    above p. Values may be rarer than in the table, or missing: that tells less than that somebody probably has one.

    >>> from keepsense.counts import Counts
    >>> table = Counts.of({"job": ["a", "a", "b", "b"]}, histograms={"ill": ["flu", "cold", "flu", "flu"]})
    >>> [BasicLikeness(b, "ill").satisfied(table.weights, table.histograms).tolist() for b in (0.9, 1.0)]
    [[False, True], [True, True]]
    """

    beta: Positive
    column: Column = ""
    reference: Reference = None
    beside: Known = ()
    name: ClassVar[str] = "beta-likeness"
    form: ClassVar[str] = "basic"

    def kept_by(self, shifts: Shifts) -> Flags:
        """Whether no value of a class is more than 1 + beta times as frequent as in the table."""
        return shifts.all_of(shifts.within(np.full(len(shifts.whole), times_more(self.beta))))

    def describe(self) -> str:
        """The promise in plain words."""
        return (
            f"In {self.every_class} no value of {self.column} is more than {times_more(self.beta):g} times as "
            "frequent as in the whole table."
        )


@dataclass(frozen=True)
class ConceptLikeness(OfConcepts):
    """No class shifts mass towards a concept: the enhanced form, held for every subtree of the sensitive taxonomy.

    With p the share of the records of the whole table whose value lies below a concept (or is it), and q that share
    in a class, (q - p) / p is at most min(beta, -ln p). The bounds of Cao and Karras (2012, Definition 3) for single
    values let each cancer be three times as frequent in a class, and with it cancer; a concept is more frequent than
    the values below it, so that its own bound -ln p is tighter. It implies the enhanced form.

    >>> from keepsense.counts import Counts
    >>> above = {"flu": ("lung",), "cold": ("lung",), "ulcer": ("gut",), "colic": ("gut",)}
    >>> ill = ["flu", "cold", "flu", "cold", "ulcer", "colic", "ulcer", "colic"]
    >>> table = Counts.of({"job": list("aaaabbbb")}, histograms={"ill": ill})
    >>> EnhancedLikeness(1.0, "ill").satisfied(table.weights, table.histograms).tolist()
    [True, True]
    >>> meant = ConceptLikeness(1.0, "ill", Concepts(above))
    >>> meant.satisfied(table.weights, table.histograms).tolist()
    [False, False]
    """

    beta: Positive
    column: Column = ""
    concepts: Concepts | None = None
    reference: Reference = None
    beside: Known = ()
    name: ClassVar[str] = "beta-likeness"
    form: ClassVar[str] = "concepts"

    def kept_of(self, concepts: Shifts, subtree: NDArray[np.bool_]) -> Flags:
        """Whether no concept of a class is more frequent than its share in the table allows."""
        return concepts.all_of(concepts.within(enhanced_limits(self.beta, concepts.whole, concepts.total)))

    def describe(self) -> str:
        """The promise in plain words."""
        return (
            f"In {self.every_class} no value of {self.column}, and no concept above values, is more than "
            f"{times_more(self.beta):g} times as frequent as in the whole table, and frequent ones by less."
        )


@privacy_model(
    BasicLikeness,
    ConceptLikeness,
    check="keepsense.verification.class_checks:beta_likeness",
    promises="no sensitive value is much more frequent among people who look alike than in the whole table",
    choose="a rare diagnosis could be many times as frequent in a group as elsewhere, which t-closeness allows",
    paper="Cao and Karras 2012",
    rank=4,
    begin={"beta": 2.0},
)
@dataclass(frozen=True)
class EnhancedLikeness(OfShares):
    """No value's share grows by more than beta, or minus its logarithm, times itself (Cao and Karras 2012, Def. 3).

    With p the share of a value in the whole table and q that in a class, (q - p) / p is at most min(beta, -ln p)
    wherever q is above p. The second bound counts for frequent values: a class may never hold one value only, which
    the basic form allows for every value with a share of at least 1 / (1 + beta).

    >>> from keepsense.counts import Counts
    >>> table = Counts.of({"job": ["a", "a", "b", "b"]}, histograms={"ill": ["flu", "cold", "flu", "flu"]})
    >>> EnhancedLikeness(2.0, "ill").satisfied(table.weights, table.histograms).tolist()
    [True, False]
    """

    beta: Positive
    column: Column = ""
    reference: Reference = None
    beside: Known = ()
    name: ClassVar[str] = "beta-likeness"
    form: ClassVar[str] = "enhanced"

    def kept_by(self, shifts: Shifts) -> Flags:
        """Whether no value of a class is more frequent than its share in the table allows."""
        return shifts.all_of(shifts.within(enhanced_limits(self.beta, shifts.whole, shifts.total)))

    def describe(self) -> str:
        """The promise in plain words."""
        return (
            f"In {self.every_class} no value of {self.column} is more than {times_more(self.beta):g} times as "
            "frequent as in the whole table, and frequent ones by less: none is all that a class holds."
        )


def times_more(beta: float) -> float:
    """The factor that a growth by beta is, free of rounding noise.

    >>> times_more(0.1), 1 + 0.1 + 0.1 + 0.1
    (1.1, 1.3000000000000003)
    """
    return float(1 + written(beta))


def enhanced_limits(beta: float, whole: NDArray[np.int64], total: int) -> Floats:
    """The factor by which each value may be more frequent in a class: 1 + min(beta, -ln of its share).

    >>> enhanced_limits(2.0, np.array([5, 95]), 100).round(3).tolist()
    [3.0, 1.051]
    """
    share = np.maximum(whole, 1) / max(1, total)
    limits: Floats = np.minimum(times_more(beta), 1 - np.log(share))
    return limits
