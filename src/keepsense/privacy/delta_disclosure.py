"""Delta-disclosure privacy: a class changes what is known about a sensitive value by little."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from keepsense.privacy.beta_likeness import OfConcepts, OfShares
from keepsense.privacy.privacy_model import Column, Flags, Known, Positive, privacy_model
from keepsense.privacy.reference_distributions import Concepts, Reference, Shifts


@dataclass(frozen=True)
class ConceptDisclosure(OfConcepts):
    """No class shifts mass towards a concept by a factor, or away from a subtree, or lies within one.

    Delta-disclosure (Brickell and Shmatikov 2008, Definition 4) over the subtrees of the sensitive taxonomy. With p
    the share of the records of the whole table whose value lies below a concept (or is it), and q that share in a
    class: q / p is below 2^delta for every value and concept; it is above 2^-delta for concepts that stand for several
    values; and q is below 1 where p is, so that nobody learns for sure that somebody has some kind of illness. A class
    need not hold every single value, as by the form over values, but every kind of them: it suits columns of many
    values, of which the other form asks too much.

    >>> from keepsense.counts import Counts
    >>> above = {"flu": ("lung",), "cold": ("lung",), "ulcer": ("gut",), "colic": ("gut",)}
    >>> ill = ["flu", "ulcer", "flu", "ulcer", "cold", "colic", "flu", "cold"]
    >>> table = Counts.of({"job": list("aabbccdd")}, histograms={"ill": ill})
    >>> ConceptDisclosure(2.5, "ill", Concepts(above)).satisfied(table.weights, table.histograms).tolist()
    [True, True, True, False]
    """

    delta: Positive
    column: Column = ""
    concepts: Concepts | None = None
    reference: Reference = None
    beside: Known = ()
    name: ClassVar[str] = "delta-disclosure"
    form: ClassVar[str] = "concepts"

    def kept_of(self, concepts: Shifts, subtree: NDArray[np.bool_]) -> Flags:
        """Whether no concept grows too much or is all that a class holds, and no subtree is missing or rare."""
        number = len(concepts.whole)
        below = concepts.within(np.full(number, 2.0**self.delta), strictly=True) & (concepts.count < concepts.size)
        above = ~concepts.within(np.full(number, 2.0**-self.delta)) | ~subtree[concepts.code]
        kinds = np.bincount(concepts.row[subtree[concepts.code]], minlength=concepts.classes)
        verdict: Flags = concepts.all_of(below & above) & (kinds == (subtree & (concepts.whole > 0)).sum())
        return verdict

    def describe(self) -> str:
        """The promise in plain words."""
        return (
            f"In {self.every_class} no value of {self.column}, and no concept above values, is {2**self.delta:.4g} "
            "times as frequent as in the whole table or all there is, and no concept of several values one over that."
        )


@privacy_model(
    ConceptDisclosure,
    check="keepsense.verification.class_checks:delta_disclosure",
    promises="among people who look alike every sensitive value is about as frequent as in the whole table",
    choose="neither that somebody probably has an illness nor that they do not have one may be told",
    paper="Brickell and Shmatikov 2008",
    rank=5,
    begin={"delta": 2.0},
)
@dataclass(frozen=True)
class DeltaDisclosure(OfShares):
    """Every value is as frequent in every class as in the table, up to a factor (Brickell and Shmatikov 2008, Def. 4).

    With p the share of a value in the whole table and q that in a class, |log2(q / p)| is below delta, for every value
    of the table: delta = 1 is less than twice, and more than half as frequent. It bounds what a class tells, in bits:
    the mean over the values of a class of log2(q / p) is the information that is gained by knowing the class. A class
    that lacks a value breaks it, whatever delta: choose it for columns of few values, and beta-likeness for others.

    >>> from keepsense.counts import Counts
    >>> ill = ["flu", "cold", "flu", "flu", "cold", "flu"]
    >>> table = Counts.of({"job": ["a", "a", "b", "b", "b", "b"]}, histograms={"ill": ill})
    >>> [DeltaDisclosure(d, "ill").satisfied(table.weights, table.histograms).tolist() for d in (0.5, 0.6)]
    [[False, True], [True, True]]
    """

    delta: Positive
    column: Column = ""
    reference: Reference = None
    beside: Known = ()
    name: ClassVar[str] = "delta-disclosure"
    form: ClassVar[str] = "values"

    def kept_by(self, shifts: Shifts) -> Flags:
        """Whether every value of the table is in each class, neither much rarer nor much more frequent."""
        values = len(shifts.whole)
        below = shifts.within(np.full(values, 2.0**self.delta), strictly=True)
        above = ~shifts.within(np.full(values, 2.0**-self.delta))
        verdict: Flags = shifts.all_of(below & above) & (shifts.present() == (shifts.whole > 0).sum())
        return verdict

    def describe(self) -> str:
        """The promise in plain words."""
        return (
            f"In {self.every_class} every value of {self.column} is less than {2**self.delta:.4g} times as frequent as "
            "in the whole table, and more than one over that."
        )
