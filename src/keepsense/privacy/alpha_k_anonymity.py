"""(alpha, k)-anonymity: at least k records in every class, and few of them share one sensitive value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from keepsense.counts import Histogram, Value
from keepsense.errors import BadInput
from keepsense.privacy.privacy_model import (
    Chance,
    Column,
    Count,
    Disclosure,
    Flags,
    Known,
    Parameter,
    Promise,
    Weights,
    privacy_model,
    unless_empty,
)
from keepsense.privacy.reference_distributions import OfColumn, shifts_of


@privacy_model(
    check="keepsense.verification.class_checks:alpha_k",
    promises="nobody can be told from fewer than k - 1 others, and few of these share a sensitive value",
    choose="a few diagnoses are the secret, and others need not be hidden",
    paper="Wong et al. 2006",
    rank=6,
    begin={"alpha": 0.5, "k": 5},
)
@dataclass(frozen=True)
class AlphaKAnonymity(OfColumn):
    """At least k records in every class, at most a share alpha of them with one sensitive value (Wong et al. 2006).

    `values` are the sensitive values that are bounded (Definition 2 names one); without them all are, which the paper
    calls the general model. Where only some diagnoses are secret the others may fill a class, so that less is lost
    than by l-diversity. Where columns stand `beside`, alpha holds among those who share them, and k in the class.

    >>> from keepsense.counts import Counts
    >>> table = Counts.of({"job": ["a", "a", "b", "b"]}, histograms={"ill": ["flu", "hiv", "flu", "flu"]})
    >>> AlphaKAnonymity(0.5, 2, "ill").satisfied(table.weights, table.histograms).tolist()
    [True, False]
    >>> AlphaKAnonymity(0.5, 2, "ill", values=("hiv",)).satisfied(table.weights, table.histograms).tolist()
    [True, True]
    """

    alpha: Chance
    k: Count
    column: Column = ""
    values: Annotated[tuple[str, ...], Parameter("array")] = ()
    beside: Known = ()
    name: ClassVar[str] = "(alpha,k)-anonymity"
    protects: ClassVar[tuple[Disclosure, ...]] = ("identity", "attribute")
    decided_by: ClassVar[str] = "largest share"

    def __post_init__(self) -> None:
        if isinstance(self.values, list):
            object.__setattr__(self, "values", tuple(self.values))
        super().__post_init__()

    def satisfied(self, class_weights: Weights, histograms: Mapping[str, Histogram]) -> Flags:
        """Whether each class is large enough, and no sensitive value too frequent in it."""
        large = unless_empty(class_weights >= self.k, class_weights)
        verdict: Flags = super().satisfied(class_weights, histograms) & large
        return verdict

    def judged(self, class_weights: Weights, values: Histogram) -> Flags:
        """Whether no sensitive value has more than a share alpha of each class."""
        bounded = np.array([not self.values or spelled(value) in self.values for value in values.values], np.bool_)
        # shares of a table in which every value is had by all are shares of the class
        shares = shifts_of(values, np.ones(len(values.values), np.int64), class_weights)
        return unless_empty(shares.all_of(shares.within(np.where(bounded, self.alpha, 1.0))), class_weights)

    def possible(self, class_weights: Weights, histograms: Mapping[str, Histogram]) -> bool:
        """As of every model; refused where it names values that nobody has, for a misspelt one protects nobody."""
        there = {spelled(value) for value in histograms[self.column].values} if self.column in histograms else set()
        strange = [value for value in self.values if value not in there]
        if strange:
            raise BadInput(
                f"{self.name}: column {self.column!r} has no value {strange[0]!r}; correct `values`, or leave it out "
                "to bound all of them"
            )
        return super().possible(class_weights, histograms)

    def promise(self) -> Promise:
        """The promise as plain data; the values that are bounded only where they are named."""
        return {key: value for key, value in super().promise().items() if key != "values" or value}

    def describe(self) -> str:
        """The promise in plain words."""
        which = f"each of {len(self.values)} sensitive values" if self.values else "each value"
        return (
            f"Every combination of quasi-identifiers is shared by at least {self.k} records, and in {self.every_class} "
            f"{which} of {self.column} is had by at most {100 * self.alpha:.4g}% of them."
        )


def spelled(value: Value) -> str | None:
    """A value as a project file and a released file spell it; an empty cell is no text.

    >>> spelled(3), spelled(None)
    ('3', None)
    """
    return None if value is None else str(value)
