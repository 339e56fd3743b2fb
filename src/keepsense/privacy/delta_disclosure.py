"""The promise that a class changes what is known about a sensitive value by little: delta-disclosure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from keepsense.privacy.base import Flags
from keepsense.privacy.likeness import OfShares
from keepsense.privacy.parameters import Column, Known, Positive
from keepsense.privacy.registry import privacy_model
from keepsense.privacy.shift import Shifts
from keepsense.privacy.whole import Reference


@privacy_model(
    check="keepsense.privacy.checks.shares:delta_disclosure",
    promises="among people who look alike every sensitive value is about as frequent as in the whole table",
    choose="neither that somebody probably has an illness nor that they do not have one may be told",
    paper="Brickell and Shmatikov 2008",
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

    def on(self, column: str) -> DeltaDisclosure:
        """The same promise about one sensitive column."""
        return replace(self, column=column)

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
