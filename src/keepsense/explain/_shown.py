"""How methods are shown, until their registry tells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

NUMBERS = ("numeric", "ordinal", "date")
WORDS = ("nominal",)


@dataclass(frozen=True)
class Shown:
    """Kinds of column a method is shown on, its settings in a lesson, those of the made-up people, or why not."""

    kinds: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    example: Mapping[str, Any] = field(default_factory=dict)


SHOWN: dict[str, Shown] = {
    "datafly": Shown(settings={"suppression": None}),
    "semantic datafly": Shown(settings={"suppression": None}),
    "anytime": Shown(settings={"time_limit": 300.0}),
    "lsd mondrian": Shown(example={"target": "days"}),
    "rank swapping of numbers": Shown(NUMBERS),
    "noise": Shown(WORDS, {"alpha": 0.3, "reference": "mean"}),
    "correlated noise": Shown(WORDS, {"alpha": 0.3, "reference": "root"}),
    "noise on numbers": Shown(NUMBERS, {"alpha": 0.3, "correlated": False}),
    "post-randomization": Shown(settings={"keep": 0.8, "near": 0.2}),
    "randomized response": Shown(settings={"epsilon": 2.0}),
    "semantic exponential mechanism": Shown(WORDS, settings={"epsilon": 4.0}),
    "noisy numbers": Shown(NUMBERS, {"epsilon": 4.0}, {"bounds": {"age": [18, 68]}}),
    "differential privacy": Shown((), {"epsilon": 8.0}, {"bounds": {"age": [18, 68]}}),
    "t-close microaggregation": Shown(settings={"t": 0.3}),
    "apriori sets": Shown(settings={"m": 2}),
}
NO_LESSON = Shown()
