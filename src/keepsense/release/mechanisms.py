"""Promises about how a release is made: nobody can see them in a file, so they are checked on the recoding."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from keepsense.counts import Histogram
from keepsense.errors import BadInput, did_you_mean
from keepsense.privacy import model, models
from keepsense.privacy.base import Flags, Model, Weights, share

DIFFERENTIAL_PRIVACY = "differential privacy"
LINKAGE_RISK = "linkage risk"


@dataclass(frozen=True)
class DifferentialPrivacy(Model):
    """What is released about a record changes by at most e^epsilon in probability if its values change (Dwork 2006).

    Classes of equal records have nothing to do with it: only a mechanism can keep it.

    >>> DifferentialPrivacy(1.0).promise()
    {'model': 'differential privacy', 'epsilon': 1.0, 'about': 'mechanism'}
    """

    epsilon: float
    name: ClassVar[str] = DIFFERENTIAL_PRIVACY

    def __post_init__(self) -> None:
        good = isinstance(self.epsilon, int | float) and not isinstance(self.epsilon, bool) and self.epsilon > 0
        if not good:
            raise BadInput(f"{self.name}: epsilon must be a number above 0")

    def satisfied(self, class_weights: Weights, histograms: Mapping[str, Histogram]) -> Flags:
        """No class keeps it: generalization is not random."""
        return np.zeros(len(class_weights), dtype=np.bool_)

    def promise(self) -> dict[str, Any]:
        """The promise as plain data."""
        return {"model": self.name, "epsilon": float(self.epsilon), "about": "mechanism"}

    def describe(self) -> str:
        """The promise in plain words."""
        return f"What is released about a record reveals it by a factor of at most e^{self.epsilon:g}."


@dataclass(frozen=True)
class LinkageRisk(Model):
    """Somebody who links every released record to the person nearest in meaning is right for so many at most.

    For methods that exchange or distort values: they make no classes of equal records, so what protects people is that
    the nearest original is mostly somebody else's (Domingo-Ferrer and Torra 2001). `run` measures it on the recoding.

    >>> LinkageRisk(0.1).promise()
    {'model': 'linkage risk', 'threshold': 0.1, 'about': 'mechanism'}
    """

    threshold: float
    name: ClassVar[str] = LINKAGE_RISK

    def __post_init__(self) -> None:
        share("the threshold", self.threshold, self.name, above_zero=True)

    def satisfied(self, class_weights: Weights, histograms: Mapping[str, Histogram]) -> Flags:
        """No class keeps it by itself: it is about what records became, not about how many are alike."""
        return np.zeros(len(class_weights), dtype=np.bool_)

    def promise(self) -> dict[str, Any]:
        """The promise as plain data."""
        return {"model": self.name, "threshold": float(self.threshold), "about": "mechanism"}

    def describe(self) -> str:
        """The promise in plain words."""
        return (
            "Somebody who links every released record to the person whose values are nearest in meaning is right for "
            f"at most {100 * self.threshold:.3g}% of them."
        )


ABOUT_MECHANISMS: dict[str, Callable[..., Model]] = {
    DIFFERENTIAL_PRIVACY: DifferentialPrivacy,
    LINKAGE_RISK: LinkageRisk,
}
"""Promises about how a release is made, by name."""


def promised(name: str, **options: Any) -> Model:
    """A promise by its name: one of the models of classes, or one about the mechanism.

    >>> promised("linkage risk", threshold=0.2)
    LinkageRisk(threshold=0.2)
    >>> promised("k-anonimity", k=2)
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: no privacy model is called 'k-anonimity'. Did you mean k-anonymity?
    """
    maker = ABOUT_MECHANISMS.get(name)
    if maker is None:
        if name not in models():
            raise BadInput(f"no privacy model is called {name!r}.{did_you_mean(name, [*models(), *ABOUT_MECHANISMS])}")
        return model(name, **options)
    takes = tuple(inspect.signature(maker).parameters)
    if set(options) != set(takes):
        raise BadInput(f"{name} takes the parameter {', '.join(takes)}, and no other")
    return maker(**options)
