"""What every released class must keep, and how many records may be suppressed for it.

Compiled loops decide the parts of a requirement that they can; the models are asked for the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.privacy.alpha_k_anonymity import AlphaKAnonymity
from keepsense.privacy.k_anonymity import KAnonymity, ProbabilisticKAnonymity, XYAnonymity
from keepsense.privacy.l_diversity import DistinctDiversity
from keepsense.privacy.privacy_model import Model, bind

MOST_VALUES = 1024
"""Values of a sensitive column that compiled loops keep as bits; columns with more are left to the model itself."""


@dataclass(frozen=True, eq=False)
class Requirement:
    """A conjunction of privacy models and a limit on suppressed records.

    `bound` are the models with what they take from the whole table fixed. `k` and `distinct` (column and how many
    different values) are what every class needs at least; compiled loops decide them. `rest` are models that must be
    asked. `monotone` says that a node above one that holds holds too, and a node below one that fails fails too,
    suppression included. Of `k` and `distinct` alone that is always so: a record in a class too small for them is in
    such a class at every more specific node.
    """

    models: tuple[Model, ...]
    bound: tuple[Model, ...]
    limit: int
    k: int
    distinct: tuple[tuple[str, int], ...]
    rest: tuple[Model, ...]

    @property
    def broken_above(self) -> list[Model]:
        """Models that may hold for some levels and not for all above them."""
        # only a class that no merger can spoil keeps the number of suppressed records falling on the way up
        return [model for model in self.rest if not (model.unspoiled if self.limit else model.monotonic)]

    @property
    def monotone(self) -> bool:
        """Whether what holds for some levels holds for all above them."""
        return not self.broken_above

    def refuse_unless_monotone(self, algorithm: str) -> None:
        """Refuse what an algorithm that goes up until promises hold cannot decide."""
        if not self.monotone:
            names = ", ".join(model.name for model in self.broken_above)
            suppressed, remedy = ("with suppressed records ", ", or no suppression") if self.limit else ("", "")
            raise BadInput(
                f"{algorithm} relies on models for which more generalization never hurts; {suppressed}{names} is not "
                f"one. Use optimal(){remedy}"
            )

    @property
    def fast(self) -> bool:
        """Whether compiled loops decide everything."""
        return not self.rest


def requirement(models: Sequence[Model], suppression: float, counts: Counts) -> Requirement:
    """Sort models by who decides them; `suppression` is the share of records that may be suppressed."""
    if not models:
        raise BadInput("no privacy model is given; name at least one, for instance KAnonymity(5)")
    limit = suppression_limit(suppression, counts.total)
    k = 1
    distinct: dict[str, int] = {}
    rest: list[Model] = []
    bound = bind(models, counts)
    for model in bound:
        for column in model.columns:
            if column in counts.names:
                raise BadInput(
                    f"column {column!r} is a quasi-identifier and sensitive for {model.name}; choose one role"
                )
            if column not in counts.histograms:
                raise BadInput(f"{model.name} needs the values of column {column!r} in each class; count it along")
        if isinstance(model, KAnonymity | ProbabilisticKAnonymity):
            k = max(k, model.k)
        elif model.by_size and model.least_size is not None:
            k = max(k, model.least_size)
        elif isinstance(model, DistinctDiversity | XYAnonymity) and _few(counts, model):
            least = model.l if isinstance(model, DistinctDiversity) else model.k
            distinct[model.columns[0]] = max(distinct.get(model.columns[0], 1), least)
        else:
            rest.append(model)
            if isinstance(model, DistinctDiversity | XYAnonymity | AlphaKAnonymity):
                k = max(k, model.l if isinstance(model, DistinctDiversity) else model.k)
    k = max([k, *distinct.values()])
    wanted = tuple((column, least) for column, least in distinct.items() if least > 1)
    return Requirement(tuple(models), tuple(bound), limit, k, wanted, tuple(rest))


def _few(counts: Counts, model: Model) -> bool:
    """Whether a kernel can count the different values itself: few, and empty cells one of them."""
    few = len(counts.histograms[model.columns[0]].values) <= MOST_VALUES and not model.together
    return few and getattr(model, "missing", "value") == "value"


def suppression_limit(allowed: float, total: int) -> int:
    """Records that may be suppressed: the whole part of share times rows, free of rounding noise.

    >>> suppression_limit(0.02, 30_162), suppression_limit(0.29, 100)
    (603, 29)
    """
    if not 0 <= allowed <= 1:
        raise BadInput(f"the suppression limit is a share of the records, from 0 to 1, not {allowed}")
    return math.floor(Fraction(repr(float(allowed))) * total)
