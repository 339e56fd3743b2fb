"""What every privacy model has in common, and how several of them are decided together.

A model looks at equivalence classes: how many records each holds (`class_weights`) and, for the columns it names, how
often each value occurs in each class (`histograms`, rows aligned with the classes). It never sees a record.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Rows
from keepsense.counts import Counts, Histogram
from keepsense.errors import BadInput, Infeasible
from keepsense.privacy.parameters import parameters_of

Weights = NDArray[np.int64]
Flags = NDArray[np.bool_]
Promise = dict[str, Any]
"""A promise as plain data: the name of its model under `model`, and its parameters."""
Disclosure = Literal["identity", "attribute", "membership"]


class Model(ABC):
    """A promise about every equivalence class of a released table, or about the mechanism that made it.

    What others need to know of a model they read here, so that nobody asks for its name. Parameters are declared by
    their types (`keepsense.privacy.parameters`); they are checked, described and written into the promise from there.

    >>> from keepsense.privacy import KAnonymity
    >>> model = KAnonymity(5)
    >>> model.promise(), model.least_size, model.protects, model.columns
    ({'model': 'k-anonymity', 'k': 5}, 5, ('identity',), ())
    """

    name: ClassVar[str]
    form: ClassVar[str] = ""
    """Which of several forms of one promise a class is."""
    remarks: ClassVar[tuple[str, ...]] = ()
    """What its promise tells besides the parameters, and does not take."""
    about: ClassVar[Literal["file", "mechanism"]] = "file"
    """Where the promise can be seen: in a file, or only in how it was made."""
    protects: ClassVar[tuple[Disclosure, ...]] = ("identity",)
    """What somebody who reads the release does not learn: who a record is, what a person has, whether they are in."""
    monotonic: ClassVar[bool] = True
    """Merging classes (more generalization, no suppression) never breaks the promise."""
    stays_kept: ClassVar[bool] = False
    """A class that keeps the promise by what it holds keeps it whatever is merged into it."""
    per_class: ClassVar[bool] = True
    """`satisfied` is exact; if not it is a safe, stricter stand-in, and `holds` decides for the table as a whole."""
    by_size: ClassVar[bool] = False
    """Only the sizes of classes matter, so that classes may be divided while they stay large enough."""
    kept_by_classes: ClassVar[bool] = True
    """Classes of equal records can keep the promise, so that methods which only generalize may make it."""
    counts_people: ClassVar[bool] = False
    """People are counted, who may have several rows."""
    needs_population: ClassVar[bool] = False
    """The table is compared with the population that it was drawn from."""
    needs_concepts: ClassVar[bool] = False
    """What the values of its column have in common must be known: a taxonomy or hierarchy of them."""
    decided_by: ClassVar[str] = ""
    """What a report calls the value that decides whether the promise holds; empty where it shows none."""
    protects_each: ClassVar[bool] = True
    """Every single person is protected; if not, another promise must stand beside it."""
    of_sets: ClassVar[bool] = False
    """The promise is about the items of a set-valued column."""

    def __post_init__(self) -> None:
        for name, parameter in parameters_of(type(self)).items():
            parameter.check(name, getattr(self, name), self.name)

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns whose histograms the model needs."""
        return tuple(getattr(self, name) for name, p in parameters_of(type(self)).items() if p.column)

    @property
    def together(self) -> Mapping[str, tuple[str, ...]]:
        """Those of the columns that are several of the table: the histogram of their tuples, by its name."""
        return {}

    @property
    def unspoiled(self) -> bool:
        """Whether a class that keeps the promise keeps it whatever is merged into it.

        Not where others know some of a person's values besides: what is merged in brings groups of its own.
        """
        return self.stays_kept and not self.together

    @property
    def weaker(self) -> tuple[str, ...]:
        """What to promise where this much cannot be kept."""
        return (f"a weaker {self.name}",)

    @property
    def least_size(self) -> int | None:
        """The smallest class that the promise allows, where it says: the k of models that have one."""
        k: int | None = getattr(self, "k", None)
        return k

    @property
    def different(self) -> tuple[str, int] | None:
        """The column of which every class must hold so many different values, where the promise is just that."""
        return None

    @property
    def hides_among(self) -> int | None:
        """Among how many people somebody is hidden, where the promise says."""
        return self.least_size

    @property
    def covers_every_column(self) -> bool:
        """Whether it bounds what the release tells of sensitive values, whichever column holds them."""
        return "attribute" in self.protects and not self.columns

    @abstractmethod
    def satisfied(self, class_weights: Weights, histograms: Mapping[str, Histogram]) -> Flags:
        """Whether each equivalence class keeps the promise; one without records breaks none."""

    def holds(self, class_weights: Weights, histograms: Mapping[str, Histogram], kept: Flags | None = None) -> bool:
        """Whether the table keeps the promise; `kept` marks the classes that are not suppressed."""
        satisfied = self.satisfied(class_weights, histograms)
        return bool(satisfied.all() if kept is None else satisfied[kept].all())

    def bound(self, histograms: Mapping[str, Histogram]) -> Model:
        """The same model with everything it takes from the whole original table fixed; most take nothing."""
        return self

    def possible(self, class_weights: Weights, histograms: Mapping[str, Histogram]) -> bool:
        """Whether the table as one single class would keep the promise: if not, no generalization can."""
        merged = {name: _as_one_class(histograms[name]) for name in self.columns if name in histograms}
        total = np.array([class_weights.sum()], dtype=np.int64)
        return self.bound(histograms).holds(total, {**histograms, **merged})

    def promise(self) -> Promise:
        """The promise as plain data: what goes into a release's description and what the verifier reads."""
        form = {"form": self.form} if self.form else {}
        about = {"about": self.about} if self.about == "mechanism" else {}
        values = {name: _plain(getattr(self, name)) for name in parameters_of(type(self))}
        return {"model": self.name, **form, **values, **about}

    def evidence(self) -> dict[str, Mapping[str, object]]:
        """Public data by column that the verifier needs besides (a hierarchy, a matrix of distances); mostly none."""
        return {}

    @abstractmethod
    def describe(self) -> str:
        """The promise in plain words."""


def _plain(value: Any) -> str | float | list[str]:
    if isinstance(value, tuple):
        return list(value)
    plain: str | float = value.item() if isinstance(value, np.generic) else value
    return plain


def _as_one_class(histogram: Histogram) -> Histogram:
    total = histogram.total()
    present = np.flatnonzero(total).astype(np.int32)
    return Histogram(histogram.values, Rows.from_pairs(np.zeros_like(present), present, 1), total[present])


def unless_empty(satisfied: Flags, class_weights: Weights) -> Flags:
    """The verdicts, with every class that holds no record acquitted.

    >>> unless_empty(np.array([False, False]), np.array([0, 1])).tolist()
    [True, False]
    """
    verdict: Flags = np.logical_or(satisfied, class_weights == 0)
    return verdict


def histogram_of(histograms: Mapping[str, Histogram], column: str, classes: int, model: str) -> Histogram:
    """The histogram a model asks for, or an error that names what is missing.

    >>> histogram_of({}, "disease", 3, "t-closeness")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: t-closeness needs the values of column 'disease' in each class; count it along
    """
    if not column:
        raise BadInput(f"{model} is about a sensitive column; say which, for instance with .on('disease')")
    values = histograms.get(column)
    if values is None:
        raise BadInput(f"{model} needs the values of column {column!r} in each class; count it along")
    if len(values.rows) != classes:
        raise BadInput(f"{model}: the histogram of {column!r} has {len(values.rows)} classes, the table {classes}")
    return values


def distinct_values(histogram: Histogram) -> NDArray[np.int64]:
    """Number of different values in each class.

    >>> from keepsense.arrays import Rows
    >>> distinct_values(Histogram(("a", "b"), Rows.from_pairs([0, 0], [0, 1], 2), np.array([3, 0]))).tolist()
    [1, 0]
    """
    occurs = histogram.counts > 0
    return np.bincount(histogram.rows.row_of()[occurs], minlength=len(histogram.rows)).astype(np.int64)


def suppression_limit(allowed: float, total: int) -> int:
    """Records that may be suppressed: the whole part of share times rows, free of rounding noise.

    >>> suppression_limit(0.02, 30_162), suppression_limit(0.29, 100)
    (603, 29)
    """
    if not 0 <= allowed <= 1:
        raise BadInput(f"the suppression limit is a share of the records, from 0 to 1, not {allowed}")
    return math.floor(Fraction(repr(float(allowed))) * total)


@dataclass(frozen=True, eq=False)
class Decision:
    """Whether a recoded table may be released: the classes kept and the records suppressed for it.

    >>> Decision(True, np.array([True, False]), 3).suppressed
    3
    """

    holds: bool
    kept: Flags
    suppressed: int


def decide(
    models: Sequence[Model],
    class_weights: Weights,
    histograms: Mapping[str, Histogram],
    limit: int = 0,
    hidden: NDArray[np.bool_] | None = None,
) -> Decision:
    """Suppress the classes that break a promise; say whether the limit and every promise then hold.

    Models whose `satisfied` is exact choose the classes; the others are asked about what is left. Histograms must be
    those of the whole table, so that a model which compares with it (t-closeness) sees it before suppression. Classes
    that are `hidden` are suppressed in any case.

    >>> from keepsense.privacy import KAnonymity
    >>> decision = decide([KAnonymity(2)], np.array([5, 1, 4]), {}, limit=1)
    >>> decision.holds, decision.kept.tolist(), decision.suppressed
    (True, [True, False, True], 1)
    """
    kept = np.ones(len(class_weights), dtype=np.bool_) if hidden is None else ~hidden
    for model in models:
        if model.per_class:
            kept &= model.satisfied(class_weights, histograms)
    suppressed = int(class_weights[~kept].sum())
    possible = suppressed <= limit and bool(class_weights[kept].sum() > 0)
    holds = possible and all(model.holds(class_weights, histograms, kept) for model in models)
    return Decision(holds, kept, suppressed)


def bind(models: Iterable[Model], counts: Counts) -> list[Model]:
    """Models with everything they take from the original table fixed, so that parts of it can be judged alone.

    >>> from keepsense.privacy import TCloseness
    >>> counts = Counts.of({"sex": ["f", "m"]}, histograms={"disease": ["flu", "cold"]})
    >>> bind([TCloseness(0.5, "disease")], counts)[0].reference
    (('flu', 1), ('cold', 1))
    """
    return [model.bound(counts.histograms) for model in models]


def monotonic(models: Iterable[Model]) -> bool:
    """Whether all models together are monotonic under generalization without suppression.

    >>> from keepsense.privacy import KAnonymity
    >>> monotonic([KAnonymity(3)])
    True
    """
    return all(model.monotonic for model in models)


def needed_columns(models: Iterable[Model]) -> tuple[str, ...]:
    """Columns whose histograms some of the models need, each once, in order.

    >>> from keepsense.privacy import DistinctDiversity, TCloseness
    >>> needed_columns([DistinctDiversity(2, "disease"), TCloseness(0.2, "disease")])
    ('disease',)
    """
    return tuple(dict.fromkeys(column for model in models for column in model.columns))


def joined_columns(models: Iterable[Model]) -> dict[str, tuple[str, ...]]:
    """Those of the needed columns that are several of the table, by the name of their histogram.

    >>> from keepsense.privacy import DistinctDiversity
    >>> joined_columns([DistinctDiversity(2, "disease", beside=("drug",))])
    {'disease beside drug': ('disease', 'drug')}
    """
    return {name: parts for model in models for name, parts in model.together.items()}


def validate(models: Sequence[Model], quasi_identifiers: Sequence[str], counts: Counts | None = None) -> None:
    """Refuse what cannot work before anything is computed.

    No model, no quasi-identifier, a sensitive column that is also quasi-identifying: `BadInput`. A promise that even
    the table as one single class breaks (k above the number of rows, l above the number of sensitive values):
    `Infeasible`, with what to relax.

    >>> from keepsense.privacy import DistinctDiversity, KAnonymity
    >>> validate([KAnonymity(2), DistinctDiversity(2, "disease")], ["sex", "disease"])
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: column 'disease' is a quasi-identifier and sensitive for l-diversity; choose one role
    """
    if not models:
        raise BadInput("no privacy model is given; name at least one, for instance k-anonymity with k = 5")
    if not quasi_identifiers:
        raise BadInput("no quasi-identifier is given; name the columns by which people could be recognized")
    for model in models:
        both = [column for column in model.columns if column in quasi_identifiers]
        if both:
            raise BadInput(f"column {both[0]!r} is a quasi-identifier and sensitive for {model.name}; choose one role")
    if counts is None:
        return
    for model in models:
        if not model.possible(counts.weights, counts.histograms):
            raise Infeasible(
                f"{model.describe().rstrip('.')}: even the whole table of {counts.total:,} rows as one class breaks it",
                relax=model.weaker,
            )
