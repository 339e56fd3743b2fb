"""Promises stated as re-identification risk: highest risk of a record, average risk, and risk of linkage.

Highest and average risk follow from the sizes of classes. The risk of linkage is for methods that make no classes
(swapping, noise, microaggregation): every released record is linked to the person nearest in meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import ClassVar

from keepsense.counts import Histogram
from keepsense.privacy.privacy_model import (
    Chance,
    Count,
    Flags,
    Model,
    Weights,
    _OfMechanism,
    privacy_model,
    unless_empty,
)


@privacy_model(
    check="keepsense.verification.class_checks:maximum_risk",
    promises="no record is re-identified with a chance above the threshold",
    choose="a rule names the risk of a record, not a k",
    paper="El Emam 2013",
    rank=10,
    begin={"threshold": 0.09},
)
@dataclass(frozen=True)
class MaximumRisk(Model):
    """No record has a re-identification risk (one over the size of its class) above the threshold.

    The same promise as k-anonymity with k = 1 / threshold rounded up, in the words of risk.

    >>> import numpy as np
    >>> MaximumRisk(0.2).satisfied(np.array([5, 4]), {}).tolist(), MaximumRisk(0.2).least_size
    ([True, False], 5)
    """

    threshold: Chance
    name: ClassVar[str] = "maximum risk"
    stays_kept: ClassVar[bool] = True
    by_size: ClassVar[bool] = True

    @property
    def least_size(self) -> int:
        """Smallest class whose risk is at most the threshold."""
        return least_size(self.threshold)

    def satisfied(self, class_weights: Weights, histograms: Mapping[str, Histogram]) -> Flags:
        """Whether the risk in each class is at most the threshold."""
        return unless_empty(class_weights >= self.least_size, class_weights)

    def describe(self) -> str:
        """The promise in plain words."""
        return f"No record is re-identified with a chance above {self.threshold:g}."


@privacy_model(
    check="keepsense.verification.class_checks:average_risk",
    promises="on average a record is re-identified with a chance of at most the threshold",
    choose="a rule names the average risk; beside another promise, for small classes can hide in an average",
    paper="El Emam 2013",
    rank=12,
    begin={"threshold": 0.09},
)
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

    threshold: Chance
    name: ClassVar[str] = "average risk"
    protects_each: ClassVar[bool] = False
    per_class: ClassVar[bool] = False

    def satisfied(self, class_weights: Weights, histograms: Mapping[str, Histogram]) -> Flags:
        """Whether each class is large enough to keep the average by itself."""
        return unless_empty(class_weights >= least_size(self.threshold), class_weights)

    def holds(self, class_weights: Weights, histograms: Mapping[str, Histogram], kept: Flags | None = None) -> bool:
        """Whether the average over the records that are not suppressed is at most the threshold."""
        sizes = class_weights if kept is None else class_weights[kept]
        return int((sizes > 0).sum()) <= _exact(self.threshold) * int(sizes.sum())

    def describe(self) -> str:
        """The promise in plain words."""
        return f"On average a record is re-identified with a chance of at most {self.threshold:g}."


@privacy_model(
    check="keepsense.verification.class_checks:strict_average_risk",
    promises="on average a record is re-identified with a chance of at most the threshold, and none is among few",
    choose="a rule names the average risk, and nobody may be left to chance",
    paper="El Emam 2013",
    rank=11,
    begin={"threshold": 0.09},
)
@dataclass(frozen=True)
class StrictAverageRisk(AverageRisk):
    """The average risk is at most the threshold, and no class holds fewer than k records (El Emam 2013, ch. 16).

    An average hides small classes; k bounds the risk of each record. Usual is 3: nobody is recognized with a chance
    above a third, whatever the others are.

    >>> import numpy as np
    >>> sizes = np.array([30, 2])
    >>> AverageRisk(0.1).holds(sizes, {}), StrictAverageRisk(0.1).holds(sizes, {}), StrictAverageRisk(0.1, 2).k
    (True, False, 2)
    """

    k: Count = 3
    name: ClassVar[str] = "strict-average risk"
    protects_each: ClassVar[bool] = True

    @property
    def least_size(self) -> int:
        """Records that are enough for both in every class, for methods whose classes are all of one size."""
        return max(self.k, least_size(self.threshold))

    def satisfied(self, class_weights: Weights, histograms: Mapping[str, Histogram]) -> Flags:
        """Whether each class is large enough to keep both by itself."""
        return unless_empty(class_weights >= self.least_size, class_weights)

    def holds(self, class_weights: Weights, histograms: Mapping[str, Histogram], kept: Flags | None = None) -> bool:
        """Whether the average is low enough, and no class of records that are not suppressed too small."""
        sizes = class_weights if kept is None else class_weights[kept]
        large = bool(((sizes == 0) | (sizes >= self.k)).all())
        return large and super().holds(class_weights, histograms, kept)

    def describe(self) -> str:
        """The promise in plain words."""
        return (
            f"On average a record is re-identified with a chance of at most {self.threshold:g}, and every combination "
            f"of quasi-identifiers is shared by at least {self.k} records."
        )


def least_size(threshold: float) -> int:
    """Smallest class in which nobody is recognized with a chance above a threshold: exact, though binary is not.

    >>> least_size(0.2), least_size(0.09)
    (5, 12)
    """
    return ceil(1 / _exact(threshold))


def _exact(threshold: float) -> Fraction:
    """The number as it is written."""
    return Fraction(repr(float(threshold)))


@privacy_model(
    check="",
    promises="linking records to the people nearest in meaning is mostly wrong",
    choose="values are swapped or noisy, and somebody could compare what they mean",
    paper="Domingo-Ferrer and Torra 2001",
    rank=20,
    begin={"threshold": 0.2},
)
@dataclass(frozen=True)
class LinkageRisk(_OfMechanism):
    """Somebody who links every released record to the person nearest in meaning is right for so many at most.

    For methods that exchange or distort values: they make no classes of equal records, so what protects people is that
    the nearest original is mostly somebody else's (Domingo-Ferrer and Torra 2001). `run` measures it on the recoding.

    >>> LinkageRisk(0.1).promise()
    {'model': 'linkage risk', 'threshold': 0.1, 'about': 'mechanism'}
    """

    threshold: Chance
    name: ClassVar[str] = "linkage risk"

    @property
    def hides_among(self) -> int:
        """People among whom a right link is as likely as the threshold."""
        return least_size(self.threshold)

    def describe(self) -> str:
        """The promise in plain words."""
        return (
            "Somebody who links every released record to the person whose values are nearest in meaning is right for "
            f"at most {100 * self.threshold:.3g}% of them."
        )
