"""The budget of differential privacy: how much epsilon may be spent, and what was spent on what."""

from __future__ import annotations

import math

import numpy as np

from keepsense.errors import BadInput, BudgetExceeded

_SLACK = 1e-9
"""Share of epsilon set aside for rounding chances to whole numbers."""


class Budget:
    """How much privacy loss, epsilon, may be spent in all; releases enter what they take, or are refused.

    >>> budget = Budget(1.0)
    >>> budget.spend(0.6, "diagnosis"); budget.remaining
    0.4
    >>> budget.spend(0.5, "age")
    Traceback (most recent call last):
    ...
    keepsense.errors.BudgetExceeded: age needs epsilon = 0.5, and 0.4 of 1 is left; nothing was released
    """

    def __init__(self, epsilon: float) -> None:
        self.epsilon = check_epsilon(epsilon)
        self._ledger: list[tuple[str, float]] = []

    @property
    def ledger(self) -> tuple[tuple[str, float], ...]:
        """What was spent, on what."""
        return tuple(self._ledger)

    @property
    def spent(self) -> float:
        """Epsilon spent so far."""
        return math.fsum(epsilon for _, epsilon in self._ledger)

    @property
    def remaining(self) -> float:
        """Epsilon left."""
        return round(max(0.0, self.epsilon - self.spent), 12)

    def spend(self, epsilon: float, what: str) -> None:
        """Enter an expense before anything is drawn; too much raises `BudgetExceeded` and is not entered."""
        check_epsilon(epsilon)
        if math.fsum([self.spent, epsilon]) > self.epsilon * (1 + _SLACK):
            raise BudgetExceeded(
                f"{what} needs epsilon = {epsilon:g}, and {self.remaining:g} of {self.epsilon:g} is left; nothing was "
                "released"
            )
        self._ledger.append((what, float(epsilon)))


def check_epsilon(epsilon: float) -> float:
    """Refuse an epsilon that is no finite number above 0.

    >>> check_epsilon(0.5)
    0.5
    """
    if isinstance(epsilon, bool) or not isinstance(epsilon, int | float | np.number):
        raise BadInput(f"epsilon = {epsilon!r}: it must be a number above 0")
    if not math.isfinite(epsilon) or epsilon <= 0:
        raise BadInput(f"epsilon = {epsilon!r}: it must be a number above 0")
    return float(epsilon)
