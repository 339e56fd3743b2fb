"""l-diversity in its three forms: promises about sensitive values in a class (Machanavajjhala et al. 2007).

A missing sensitive value counts as a value of its own, like any other, unless the promise says `missing = "unknown"`:
then it may be any value, so that, to be safe, it counts as the most frequent of its class.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Histogram
from keepsense.errors import BadInput
from keepsense.privacy.privacy_model import (
    PRIVACY,
    Column,
    Count,
    Disclosure,
    Flags,
    Known,
    Model,
    Parameter,
    Positive,
    Promise,
    Weights,
    distinct_values,
    privacy_model,
    unless_empty,
)
from keepsense.privacy.reference_distributions import OfColumn

_NOISE = 1e-9
"""Rounding noise of a sum of logarithms: a class of l equally frequent values has entropy log l."""


Missing = Annotated[str, Parameter("string", options=("value", "unknown"))]
"""What an empty sensitive cell is: a value of its own, or one that nobody knows."""


class _Diversity(OfColumn):
    name: ClassVar[str] = "l-diversity"
    protects: ClassVar[tuple[Disclosure, ...]] = ("attribute",)
    decided_by: ClassVar[str] = "fewest"
    if TYPE_CHECKING:  # parameters keep the order in which each form declares them
        missing: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.missing not in ("value", "unknown"):
            raise BadInput(f"{self.name}: missing must be value or unknown, not {self.missing!r}")

    def promise(self) -> Promise:
        """The promise as plain data; what empty cells are only where they are no values."""
        return {key: told for key, told in super().promise().items() if key != "missing" or told != "value"}

    def _known(self, values: Histogram) -> Histogram:
        return values if self.missing == "value" else missing_as_commonest(values)


@dataclass(frozen=True)
class EntropyDiversity(_Diversity):
    """The entropy of the sensitive values in every class is at least log l (l may be fractional).

    Stronger than the distinct form: values must also be spread evenly. Not reachable where the whole table's entropy
    is below log l.

    >>> from keepsense.arrays import Rows
    >>> seen = Histogram(("flu", "cold"), Rows.from_pairs([0, 0, 1, 1], [0, 1, 0, 1], 2), np.array([9, 1, 2, 2]))
    >>> EntropyDiversity(2, "disease").satisfied(np.array([10, 4]), {"disease": seen}).tolist()
    [False, True]
    """

    l: Annotated[float, Parameter("number", least=1)]  # noqa: E741
    column: Column
    missing: Missing = "value"
    beside: Known = ()
    form: ClassVar[str] = "entropy"

    def judged(self, class_weights: Weights, values: Histogram) -> Flags:
        """Whether the entropy of each class reaches log l."""
        return unless_empty(class_entropy(self._known(values)) >= math.log(self.l) - _NOISE, class_weights)

    def describe(self) -> str:
        """The promise in plain words."""
        return f"In {self.every_class} the values of {self.column} are as mixed as {self.l} equally frequent ones."


@dataclass(frozen=True)
class RecursiveDiversity(_Diversity):
    """In every class the most frequent value is rarer than c times the l-th and all less frequent ones together.

    With counts sorted downwards r1, r2, ...: r1 < c (r_l + r_l+1 + ...). A larger c is a weaker promise.

    >>> from keepsense.arrays import Rows
    >>> seen = Histogram(("flu", "cold"), Rows.from_pairs([0, 0, 1, 1], [0, 1, 0, 1], 2), np.array([9, 1, 2, 2]))
    >>> RecursiveDiversity(3.0, 2, "disease").satisfied(np.array([10, 4]), {"disease": seen}).tolist()
    [False, True]
    """

    c: Positive
    l: Count  # noqa: E741
    column: Column
    missing: Missing = "value"
    beside: Known = ()
    form: ClassVar[str] = "recursive"

    def judged(self, class_weights: Weights, values: Histogram) -> Flags:
        """Whether the most frequent value of each class is outweighed."""
        first, tail = head_and_tail(self._known(values), self.l)
        return unless_empty(outweighed(first, tail, self.c), class_weights)

    def describe(self) -> str:
        """The promise in plain words."""
        return (
            f"In {self.every_class} the commonest value of {self.column} is rarer than {self.c} times "
            f"all values from the {self.l}th commonest on together."
        )


@privacy_model(
    EntropyDiversity,
    RecursiveDiversity,
    check="keepsense.verification.class_checks:l_diversity",
    promises="each group of people who look alike holds several sensitive values",
    choose="all who look alike could share one diagnosis, or nearly all of them",
    paper="Machanavajjhala et al. 2007",
    rank=2,
    begin={"l": 3, "c": 3.0},
)
@dataclass(frozen=True)
class DistinctDiversity(_Diversity):
    """Every class holds at least l different sensitive values.

    The weakest and cheapest form: a class may still be dominated by one value.

    >>> from keepsense.arrays import Rows
    >>> seen = Histogram(("flu", "cold"), Rows.from_pairs([0, 0, 1], [0, 1, 1], 2), np.array([3, 1, 2]))
    >>> DistinctDiversity(2, "disease").satisfied(np.array([4, 2]), {"disease": seen}).tolist()
    [True, False]
    """

    l: Count  # noqa: E741 - the name of the parameter in the field
    column: Column
    missing: Missing = "value"
    beside: Known = ()
    form: ClassVar[str] = "distinct"
    stays_kept: ClassVar[bool] = True

    @property
    def different(self) -> tuple[str, int] | None:
        """The column and l, where empty cells are values and no other column is known."""
        return (self.column, self.l) if self.missing == "value" and not self.beside else None

    def judged(self, class_weights: Weights, values: Histogram) -> Flags:
        """Whether each class holds at least l different values."""
        return unless_empty(distinct_values(self._known(values)) >= self.l, class_weights)

    def describe(self) -> str:
        """The promise in plain words."""
        whole = f"{self.every_class[0].upper()}{self.every_class[1:]}"
        return f"{whole} holds at least {self.l} different values of {self.column}."


@dataclass(frozen=True)
class LDiversity:
    """l-diversity in one of its forms, before it is said of which column: `on` makes the model.

    `form` is "distinct" (l different values), "entropy" (as mixed as l equally frequent values) or "recursive" (the
    commonest value is rarer than `c` times the l-th and all less frequent ones together). With `missing="unknown"` an
    empty cell is no value of its own: it counts as the commonest of its class. `beside` names other columns that are
    released and that somebody may know of a person: among those who share their values too, the promise still holds.

    >>> LDiversity(2).on("diagnosis")
    DistinctDiversity(l=2, column='diagnosis', missing='value', beside=())
    >>> LDiversity(3, form="recursive", c=2.0).on("diagnosis")
    RecursiveDiversity(c=2.0, l=3, column='diagnosis', missing='value', beside=())
    """

    l: float  # noqa: E741
    form: Literal["distinct", "entropy", "recursive"] = "distinct"
    c: float | None = None
    missing: Literal["value", "unknown"] = "value"
    beside: Sequence[str] = ()

    def __post_init__(self) -> None:
        self.on("a column")  # refuses parameters that do not fit the form

    def on(self, column: str) -> Model:
        """The promise about one sensitive column."""
        rarer = {} if self.c is None else {"c": self.c}
        asked: Promise = {"l": self.l, "column": column, "missing": self.missing, "beside": self.beside, **rarer}
        return PRIVACY[_Diversity.name].make(form=self.form, **asked)


def missing_as_commonest(histogram: Histogram) -> Histogram:
    """The same where every empty cell holds the commonest value of its class, which is the worst it can hide.

    >>> from keepsense.arrays import Rows
    >>> seen = Histogram(("flu", "cold", None), Rows.from_pairs([0, 0, 0, 1], [0, 1, 2, 2], 2), np.array([3, 1, 2, 4]))
    >>> missing_as_commonest(seen).counts.tolist()
    [5, 1, 0, 4]
    """
    blank = np.array([is_blank(value) for value in histogram.values], dtype=np.bool_)[histogram.rows.indices]
    if not blank.any():
        return histogram
    row, counts = histogram.rows.row_of(), histogram.counts.copy()
    lost = np.bincount(row[blank], counts[blank], len(histogram.rows)).astype(np.int64)
    order = np.lexsort((-counts, blank, row))  # in each class the commonest value first, empty cells last
    first = order[np.flatnonzero(np.diff(row[order], prepend=-1))]
    counts[blank] = 0
    counts[first] += lost[row[first]]
    return Histogram(histogram.values, histogram.rows, counts)


def is_blank(value: object) -> bool:
    """Whether a cell holds nothing.

    >>> is_blank(None), is_blank(" "), is_blank("flu")
    (True, True, False)
    """
    return value is None or (isinstance(value, str) and not value.strip())


def class_entropy(histogram: Histogram) -> NDArray[np.float64]:
    """Entropy (natural logarithm) of the values in each class; 0 for an empty one.

    >>> from keepsense.arrays import Rows
    >>> class_entropy(Histogram(("a", "b"), Rows.from_pairs([0, 0], [0, 1], 1), np.array([1, 1]))).round(4).tolist()
    [0.6931]
    """
    occurs = histogram.counts > 0
    row, counts = histogram.rows.row_of()[occurs], histogram.counts[occurs].astype(np.float64)
    classes = len(histogram.rows)
    size = np.bincount(row, counts, classes)
    inner = np.bincount(row, counts * np.log(counts), classes)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = np.log(size) - inner / size
    return np.where(size > 0, entropy, 0.0)


def head_and_tail(histogram: Histogram, l: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # noqa: E741
    """Count of each class's commonest value, and of its l-th commonest and all rarer values together.

    >>> from keepsense.arrays import Rows
    >>> h = Histogram(("a", "b", "c"), Rows.from_pairs([0] * 3, [0, 1, 2], 1), np.array([2, 5, 1]))
    >>> [x.tolist() for x in head_and_tail(h, 2)]
    [[5], [3]]
    """
    classes = len(histogram.rows)
    row, counts = histogram.rows.row_of(), histogram.counts
    order = np.lexsort((-counts, row))
    row, counts = row[order], counts[order]
    place = np.arange(len(row)) - histogram.rows.starts[:-1][row]
    first = np.zeros(classes, dtype=np.int64)
    first[row[place == 0]] = counts[place == 0]
    late = place >= l - 1
    return first, np.bincount(row[late], counts[late], classes).astype(np.int64)


def outweighed(first: NDArray[np.int64], tail: NDArray[np.int64], c: float) -> Flags:
    """Whether first < c * tail, with c as it is written: what floats cannot decide, fractions do.

    >>> outweighed(np.array([3, 2]), np.array([10, 10]), 0.3).tolist()
    [False, True]
    """
    times = Fraction(repr(float(c)))
    product = float(c) * tail
    verdict: Flags = first < product
    for i in np.flatnonzero(np.abs(first - product) <= _NOISE * first):
        verdict[i] = int(first[i]) < times * int(tail[i])
    return verdict
