"""When a method fits: points with reasons, objections, warnings, and settings to begin with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from keepsense.privacy.dp_promises import DifferentialPrivacy
from keepsense.privacy.k_anonymity import KAnonymity, ProbabilisticKAnonymity
from keepsense.privacy.km_anonymity import KmAnonymity
from keepsense.privacy.t_closeness import TCloseness

K_ANONYMITY, PROBABILISTIC = KAnonymity.name, ProbabilisticKAnonymity.name
T_CLOSENESS, DIFFERENTIAL_PRIVACY, KM_ANONYMITY = TCloseness.name, DifferentialPrivacy.name, KmAnonymity.name


class Situation(Protocol):
    """What a publisher tells about a table and its release, as far as methods ask about it."""

    @property
    def others(self) -> tuple[str, ...]:
        """What the columns hold that have one value a cell: kinds of columns, or `category`."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The same, and sets."""

    @property
    def sets(self) -> bool:
        """Whether some column holds sets."""

    @property
    def purpose(self) -> str:
        """What the release is for: general, classification, regression, single columns, correlations."""

    @property
    def promise(self) -> str:
        """What is to be promised."""

    @property
    def k(self) -> int:
        """How many people somebody is to be hidden among."""

    @property
    def rows(self) -> int | None:
        """Rows of the table, where they are known."""

    @property
    def columns(self) -> int:
        """Columns by which people could be recognized."""

    @property
    def same_taxonomy(self) -> bool:
        """Whether all columns of words share one taxonomy."""

    @property
    def even(self) -> bool:
        """Whether each column must have one level of detail."""

    @property
    def reuse(self) -> bool:
        """Whether the rule must fit later files."""

    @property
    def set_column(self) -> str:
        """Name of a column that holds sets."""


When = Callable[[Situation], bool]


def always(situation: Situation) -> bool:
    """A remark that is always due."""
    return True


def nothing(situation: Situation) -> dict[str, Any]:
    """No settings but what the method does by itself."""
    return {}


@dataclass(frozen=True, kw_only=True)
class Fit:
    """How well a method suits what a publisher tells.

    `points` and `reason` count for any purpose but those in `purposes`, which have their own; an empty reason is the
    method's intent. `better` adds points where something holds. The first of `unfit` that holds says why the method is
    left out. `start` gives parameters to begin with, `promised` what to promise in place of what was asked for. A text
    may show what was told: `{0.columns}`.

    >>> Fit(points=4.5, reason="proven", unfit=((lambda s: s.columns > 15, "too many columns"),)).points
    4.5
    """

    points: float = 1.0
    reason: str = ""
    purposes: Mapping[str, tuple[float, str]] = field(default_factory=dict)
    better: tuple[tuple[When, float, str], ...] = ()
    unfit: tuple[tuple[When, str], ...] = ()
    cautions: tuple[tuple[When, str], ...] = ()
    start: Callable[[Situation], dict[str, Any]] = nothing
    promised: Callable[[Situation], list[dict[str, Any]]] | None = None


def only(*kinds: str) -> When:
    """Columns hold something else than these.

    >>> from types import SimpleNamespace
    >>> only("numeric")(SimpleNamespace(others=("numeric", "nominal")))
    True
    """
    return lambda situation: not set(situation.others) <= set(kinds)


CELLS: tuple[tuple[When, str], ...] = (
    (lambda s: s.even, "equal values may come out at different levels"),
    (lambda s: s.reuse, "its classes fit later files in part: who is in none of them is grouped anew"),
)
"""Why a method that recodes single cells does not fit."""
NO_WORDS: tuple[When, str] = (lambda s: "nominal" not in s.others, "no column holds words whose meaning is known")
UNKNOWN_NEARNESS: tuple[When, str] = (
    lambda s: bool({"category", "code"} & set(s.others)),
    "nothing tells which values of some columns are near each other",
)
"""Why a method that needs distances does not fit."""
FOR_A_TARGET: tuple[When, str] = (
    always,
    'The column that is to be predicted must have the role "target" (--target names it).',
)
NOT_TO_PREDICT = "it needs a {} that the release is to predict"
RANGES: tuple[When, str] = (always, "Equal values may come out as different ranges; tell analysts.")
LATER_FILES: tuple[When, float, str] = (
    lambda s: s.reuse,
    1.0,
    "its levels can be applied to later files (run --reuse)",
)
MANY_SUBSETS: tuple[When, str] = (
    lambda s: s.columns > 10,
    "it looks at all subsets of the columns, and there are too many",
)
GOES_BEFORE: tuple[When, str] = (always, "it goes before another method, and is no protection by itself")
FOR_WORDS: tuple[When, str] = (
    lambda s: bool(s.others) and "nominal" not in s.others,
    "it is for words; noise on numbers does the same for numbers",
)
NO_SETS: tuple[When, str] = (lambda s: s.sets, "it has no mechanism for sets")
PROMISES_NOTHING: tuple[When, str] = (
    always,
    "It promises nothing by construction. What comes out is attacked before it is released.",
)
SHARED_BUDGET: tuple[When, str] = (
    lambda s: s.columns > 1,
    "Every column takes its part of the budget, and every release adds up.",
)
DEPENDENCE_SUFFERS: tuple[When, str] = (
    lambda s: s.purpose == "correlations",
    "How columns depend on each other suffers; swapping of tuples keeps more of it.",
)
ONLY_STRICT = "only its strict form keeps a promise"
NOT_SENSITIVE = "it does not look at sensitive values"
