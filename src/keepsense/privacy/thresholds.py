"""Promises stated as re-identification risk: the largest risk of a record, and the average over records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from keepsense.counts import Histogram
from keepsense.privacy.base import Flags, Model, Weights, share, unless_empty


@dataclass(frozen=True)
class MaximumRisk(Model):
    """No record has a re-identification risk (one over the size of its class) above the threshold.

    The same promise as k-anonymity with k = 1 / threshold rounded up, in the words of risk.

    >>> import numpy as np
    >>> MaximumRisk(0.2).satisfied(np.array([5, 4]), {}).tolist()
    [True, False]
    """

    threshold: float
    name: ClassVar[str] = "maximum risk"

    def __post_init__(self) -> None:
        share("the threshold", self.threshold, self.name, above_zero=True)

    def satisfied(self, class_weights: Weights, histograms: Mapping[str, Histogram]) -> Flags:
        """Whether the risk in each class is at most the threshold."""
        return unless_empty(class_weights >= _least_size(self.threshold), class_weights)

    def promise(self) -> dict[str, Any]:
        """The promise as plain data."""
        return {"model": self.name, "threshold": self.threshold}

    def describe(self) -> str:
        """The promise in plain words."""
        return f"No record is re-identified with a chance above {self.threshold:g}."


@dataclass(frozen=True)
class AverageRisk(Model):
    """The mean re-identification risk over released records is at most the threshold.

    The mean of one over the class size is the number of classes over the number of records. It is a promise about the
    table as a whole: `holds` decides it; `satisfied` marks the classes that keep it by themselves, which is stricter.
    A few very small classes may hide in a low average, so combine it with k-anonymity.

    >>> import numpy as np
    >>> model = AverageRisk(0.25)
    >>> model.satisfied(np.array([9, 1]), {}).tolist(), model.holds(np.array([9, 1]), {})
    ([True, False], True)
    """

    threshold: float
    name: ClassVar[str] = "average risk"
    per_class: ClassVar[bool] = False

    def __post_init__(self) -> None:
        share("the threshold", self.threshold, self.name, above_zero=True)

    def satisfied(self, class_weights: Weights, histograms: Mapping[str, Histogram]) -> Flags:
        """Whether each class is large enough to keep the average by itself."""
        return unless_empty(class_weights >= _least_size(self.threshold), class_weights)

    def holds(self, class_weights: Weights, histograms: Mapping[str, Histogram], kept: Flags | None = None) -> bool:
        """Whether the average over the records that are not suppressed is at most the threshold."""
        sizes = class_weights if kept is None else class_weights[kept]
        return int((sizes > 0).sum()) <= Fraction(repr(float(self.threshold))) * int(sizes.sum())

    def promise(self) -> dict[str, Any]:
        """The promise as plain data."""
        return {"model": self.name, "threshold": self.threshold}

    def describe(self) -> str:
        """The promise in plain words."""
        return f"On average a record is re-identified with a chance of at most {self.threshold:g}."


def _least_size(threshold: float) -> int:
    """Smallest class size whose risk is at most the threshold (0.2 means 5, though 1 / 0.2 is not exact in binary)."""
    exact = 1 / Fraction(repr(float(threshold)))
    return -(-exact.numerator // exact.denominator)
