"""Promises about how a release is made: nobody can see them in a file, so they are checked on the recoding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from keepsense.counts import Histogram
from keepsense.errors import BadInput
from keepsense.privacy.base import Flags, Model, Weights

DIFFERENTIAL_PRIVACY = "differential privacy"


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
