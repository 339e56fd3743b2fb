"""Promises about how a release is made: no file shows them, so they are checked on the recoding and the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from keepsense.counts import Histogram
from keepsense.privacy.base import Disclosure, Flags, Model, Weights
from keepsense.privacy.parameters import Chance, Positive
from keepsense.privacy.promises.thresholds import least_size
from keepsense.privacy.registry import privacy_model


class _OfMechanism(Model):
    about: ClassVar[Literal["file", "mechanism"]] = "mechanism"
    kept_by_classes: ClassVar[bool] = False

    def satisfied(self, class_weights: Weights, histograms: Mapping[str, Histogram]) -> Flags:
        """No class keeps it by itself: it is about how records were changed, not about how many are alike."""
        return np.zeros(len(class_weights), dtype=np.bool_)


@privacy_model(
    check="",
    promises="it hardly matters whether any one person is in the data",
    choose="nobody can say what others know already, or will know",
    paper="Dwork 2006",
    rank=8,
    begin={"epsilon": 1.0},
)
@dataclass(frozen=True)
class DifferentialPrivacy(_OfMechanism):
    """What is released about a record changes by at most e^epsilon in probability if its values change (Dwork 2006).

    Classes of equal records have nothing to do with it: only a mechanism can keep it.

    >>> DifferentialPrivacy(1.0).promise()
    {'model': 'differential privacy', 'epsilon': 1.0, 'about': 'mechanism'}
    """

    epsilon: Positive
    name: ClassVar[str] = "differential privacy"
    protects: ClassVar[tuple[Disclosure, ...]] = ("identity", "attribute", "membership")

    def describe(self) -> str:
        """The promise in plain words."""
        return f"What is released about a record reveals it by a factor of at most e^{self.epsilon:g}."


@privacy_model(
    check="",
    promises="it hardly matters whether any one person is in the data, but for a very small chance",
    choose="nobody can say what others know already, and released records must be true",
    paper="Dwork et al. 2006; Bild, Kuhn and Prasser 2018",
    rank=9,
    begin={"epsilon": 1.0, "delta": 1e-6},
)
@dataclass(frozen=True)
class ApproximatePrivacy(DifferentialPrivacy):
    """Any release is at most e^epsilon times as likely with a person as without, but for a chance of delta (SafePub).

    (epsilon, delta)-differential privacy (Dwork et al. 2006) of tables that differ in one record which only one of them
    has. Delta should lie far below one over the number of rows. Only a mechanism can keep it.

    >>> ApproximatePrivacy(1.0, 1e-6).promise()["delta"]
    1e-06
    """

    delta: Chance
    name: ClassVar[str] = "approximate differential privacy"

    def describe(self) -> str:
        """The promise in plain words."""
        return (
            f"Whether a record is in the table changes what is released by a factor of at most e^{self.epsilon:g}, but "
            f"for a chance of {self.delta:g}."
        )


def differentially_private(models: Iterable[Model]) -> bool:
    """Whether differential privacy is among some promises.

    >>> differentially_private([DifferentialPrivacy(1.0)]), differentially_private([])
    (True, False)
    """
    return any(isinstance(model, DifferentialPrivacy) for model in models)


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
