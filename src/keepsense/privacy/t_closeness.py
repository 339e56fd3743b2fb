"""t-closeness: no class reveals more about sensitive values than the whole table does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from keepsense.arrays import Floats
from keepsense.counts import Histogram
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.privacy.earth_movers_distance import BY_NAME, Ground, ground
from keepsense.privacy.privacy_model import (
    Column,
    Disclosure,
    Flags,
    Known,
    Parameter,
    Promise,
    Share,
    Weights,
    privacy_model,
    unless_empty,
)
from keepsense.privacy.reference_distributions import AgainstWhole, Reference


@privacy_model(
    check="keepsense.verification.closeness_check:t_closeness",
    promises="each group of people who look alike is like the whole table in sensitive values",
    choose="the diagnoses of a group could differ much from those of everybody",
    paper="Li et al. 2007",
    rank=3,
    begin={"t": 0.2},
)
@dataclass(frozen=True, eq=False)
class TCloseness(AgainstWhole):
    """The sensitive values of every class are spread like those of the whole table, up to t (Li et al. 2007).

    The difference is the earth mover's distance with a ground distance: `equal`, `ordered` (ranks), `numeric`, a
    hierarchy, or meaning (`Semantic.of(distance, values)`). `TCloseness(0.2).on("disease")` names the column later.

    The whole table is the original one, suppressed records included (`AgainstWhole` says why).

    >>> from keepsense.arrays import Rows
    >>> seen = Histogram(("flu", "cold"), Rows.from_pairs([0, 1, 1], [0, 0, 1], 2), np.array([2, 1, 1]))
    >>> TCloseness(0.3, "disease").satisfied(np.array([2, 2]), {"disease": seen}).tolist()
    [True, True]
    >>> TCloseness(0.2, "disease").satisfied(np.array([2, 2]), {"disease": seen}).tolist()
    [False, False]
    """

    t: Share
    column: Column = ""
    ground: Annotated[Ground | Hierarchy | str, Parameter("string", options=tuple(BY_NAME))] = "equal"
    reference: Reference = None
    beside: Known = ()
    name: ClassVar[str] = "t-closeness"
    remarks: ClassVar[tuple[str, ...]] = ("distance",)
    protects: ClassVar[tuple[Disclosure, ...]] = ("attribute",)
    decided_by: ClassVar[str] = "greatest"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "ground", ground(self.ground))

    @property
    def _ground(self) -> Ground:
        assert isinstance(self.ground, Ground)
        return self.ground

    def judged(self, class_weights: Weights, values: Histogram) -> Flags:
        """Whether each class is at most t away from the whole table."""
        wide, whole = self._whole(values)
        return unless_empty(self._ground.within(wide, whole, self.t), class_weights)

    def distances(self, class_weights: Weights, histograms: Mapping[str, Histogram]) -> Floats:
        """How far each class is from the whole table; where columns stand beside, the farthest group in it."""
        _, values, owner = self.groups(class_weights, histograms)
        wide, whole = self._whole(values)
        farthest = np.zeros(len(class_weights))
        np.maximum.at(farthest, owner, self._ground.distances(wide, whole))
        return farthest

    def promise(self) -> Promise:
        """The promise as plain data; the distance of meaning by its name."""
        return {**super().promise(), **self._ground.promise()}

    def evidence(self) -> dict[str, Mapping[str, object]]:
        """What the ground distance is computed from."""
        data = self._ground.evidence()
        return {self.column: data} if data else {}

    def describe(self) -> str:
        """The promise in plain words."""
        return (
            f"In {self.every_class} the values of {self.column} are spread as in the whole table, up to {self.t:g} "
            f"({self._ground.name} distance)."
        )
