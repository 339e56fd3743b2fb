"""Differential privacy, exact and approximate, as promises about how a release is made.

The file of a release does not show whether they hold, so they are checked on the recoding. The mechanisms are in
`keepsense.methods.perturb.differential_privacy` and `keepsense.methods.generalize.dp_generalization`; the epsilon that
a release may spend is counted in `keepsense.methods.perturb.privacy_budget`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from keepsense.privacy.privacy_model import Chance, Disclosure, Model, Positive, _OfMechanism, privacy_model


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
