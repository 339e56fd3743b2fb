"""What a privacy model is, its parameters, the registry of models, and the decision of several at once.

A model looks at equivalence classes: how many records each holds (`class_weights`) and, for the columns it names, how
often each value occurs in each class (`histograms`, rows aligned with the classes). It never sees a record.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Rows
from keepsense.counts import Counts, Histogram
from keepsense.errors import BadInput, Infeasible, did_you_mean
from keepsense.registry import Registry
from keepsense.risk.equivalence_classes import Missing, classes

if TYPE_CHECKING:
    pass


# Parameters: their types, checks and descriptions

_LARGEST = 1 << 53


@dataclass(frozen=True)
class Parameter:
    """A parameter that is a whole number, a number, a text or a list of texts, with its bounds.

    `above` leaves the least value out.

    A `column` names a column whose values the model looks at, and must be given in a project file.

    >>> Parameter("integer", least=1).check("k", 0, "k-anonymity")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: k-anonymity: k must be a whole number of at least 1, not 0
    >>> Parameter("number", least=0, most=1, above=True).schema()
    {'type': 'number', 'exclusiveMinimum': 0, 'maximum': 1}
    """

    kind: Literal["integer", "number", "string", "array"]
    least: int | None = None
    most: int | None = None
    above: bool = False
    column: bool = False
    options: tuple[str, ...] = ()

    def check(self, name: str, value: object, model: str) -> None:
        """Refuse a value that is not of the kind or not within the bounds."""
        if self.kind == "string":
            return  # columns are looked up in a table, options by the model itself
        if self.kind == "array":
            if not isinstance(value, tuple) or not all(isinstance(text, str) and text for text in value):
                raise BadInput(f"{model}: {name} must be {self}, not {value!r}")
            return
        kinds = (int, np.integer) if self.kind == "integer" else (int, float, np.integer, np.floating)
        if isinstance(value, bool) or not isinstance(value, kinds) or not self._within(_number(value)):
            raise BadInput(f"{model}: {name} must be {self}, not {value!r}")
        if self.kind == "integer" and value > _LARGEST:
            raise BadInput(f"{model}: {name} is larger than any table; give a smaller number")

    def _within(self, value: float) -> bool:
        low = self.least is None or (value > self.least if self.above else value >= self.least)
        return low and (self.most is None or value <= self.most) and bool(np.isfinite(value))

    def __str__(self) -> str:
        what = {"integer": "a whole number", "number": "a number", "string": "a text", "array": "a list of texts"}[
            self.kind
        ]
        if self.most is not None:
            return (
                f"{what} above {self.least} and up to {self.most}"
                if self.above
                else (f"{what} from {self.least} to {self.most}")
            )
        return what if self.least is None else f"{what} {'above' if self.above else 'of at least'} {self.least}"

    def schema(self) -> dict[str, object]:
        """The parameter in JSON schema."""
        if self.kind == "array":
            return {"type": "array", "items": {"type": "string"}}
        least = {"exclusiveMinimum" if self.above else "minimum": self.least} if self.least is not None else {}
        most = {"maximum": self.most} if self.most is not None else {}
        return {"type": self.kind, **least, **most, **({"enum": list(self.options)} if self.options else {})}


def _number(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")


Count = Annotated[int, Parameter("integer", least=1)]
Share = Annotated[float, Parameter("number", least=0, most=1)]
Chance = Annotated[float, Parameter("number", least=0, most=1, above=True)]
Positive = Annotated[float, Parameter("number", least=0, above=True)]
Column = Annotated[str, Parameter("string", column=True)]
Known = Annotated[tuple[str, ...], Parameter("array")]
"""Columns whose values others may know of a person, for which the promise holds nevertheless."""


@cache
def parameters_of(model: type) -> Mapping[str, Parameter]:
    """The parameters that a class declares, in order.

    >>> from keepsense.privacy.l_diversity import RecursiveDiversity
    >>> {name: str(parameter) for name, parameter in list(parameters_of(RecursiveDiversity).items())[:3]}
    {'c': 'a number above 0', 'l': 'a whole number of at least 1', 'column': 'a text'}
    """
    hints = get_type_hints(model, include_extras=True).items()
    declared = ((name, getattr(hint, "__metadata__", (None,))[0]) for name, hint in hints)
    return {name: parameter for name, parameter in declared if isinstance(parameter, Parameter)}


# Models, and how several are decided together

Weights = NDArray[np.int64]
Flags = NDArray[np.bool_]
Promise = dict[str, Any]
"""A promise as plain data: the name of its model under `model`, and its parameters."""
Disclosure = Literal["identity", "attribute", "membership"]


class Model(ABC):
    """A promise about every equivalence class of a released table, or about the mechanism that made it.

    What others need to know of a model they read here, so that nobody asks for its name. Parameters are declared by
    their types (`keepsense.privacy.privacy_model`); they are checked, described and written into the promise from
    there.

    >>> from keepsense.privacy.k_anonymity import KAnonymity
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

    >>> from keepsense.privacy.k_anonymity import KAnonymity
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

    >>> from keepsense.privacy.t_closeness import TCloseness
    >>> counts = Counts.of({"sex": ["f", "m"]}, histograms={"disease": ["flu", "cold"]})
    >>> bind([TCloseness(0.5, "disease")], counts)[0].reference
    (('flu', 1), ('cold', 1))
    """
    return [model.bound(counts.histograms) for model in models]


def monotonic(models: Iterable[Model]) -> bool:
    """Whether all models together are monotonic under generalization without suppression.

    >>> from keepsense.privacy.k_anonymity import KAnonymity
    >>> monotonic([KAnonymity(3)])
    True
    """
    return all(model.monotonic for model in models)


def needed_columns(models: Iterable[Model]) -> tuple[str, ...]:
    """Columns whose histograms some of the models need, each once, in order.

    >>> from keepsense.privacy.l_diversity import DistinctDiversity
    >>> from keepsense.privacy.t_closeness import TCloseness
    >>> needed_columns([DistinctDiversity(2, "disease"), TCloseness(0.2, "disease")])
    ('disease',)
    """
    return tuple(dict.fromkeys(column for model in models for column in model.columns))


def joined_columns(models: Iterable[Model]) -> dict[str, tuple[str, ...]]:
    """Those of the needed columns that are several of the table, by the name of their histogram.

    >>> from keepsense.privacy.l_diversity import DistinctDiversity
    >>> joined_columns([DistinctDiversity(2, "disease", beside=("drug",))])
    {'disease beside drug': ('disease', 'drug')}
    """
    return {name: parts for model in models for name, parts in model.together.items()}


def validate(models: Sequence[Model], quasi_identifiers: Sequence[str], counts: Counts | None = None) -> None:
    """Refuse what cannot work before anything is computed.

    No model, no quasi-identifier, a sensitive column that is also quasi-identifying: `BadInput`. A promise that even
    the table as one single class breaks (k above the number of rows, l above the number of sensitive values):
    `Infeasible`, with what to relax.

    >>> from keepsense.privacy.l_diversity import DistinctDiversity
    >>> from keepsense.privacy.k_anonymity import KAnonymity
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


# The registry: project files, their schema, the guide and the documentation are derived from it
#
# An entry stands above its class and names the check by which the verifier computes the promise again, without code of
# the model.

M = TypeVar("M", bound=type[Model])
UNTOLD = "..."
"""What stands in a section for what somebody has to say."""


@dataclass(frozen=True)
class PrivacyModel:
    """A privacy model as others see it: its forms (mostly one), its check, and what to say about it.

    The guide asks for them by `rank`, and `begin`s with some parameters; others it is told, as the sensitive column.

    >>> entry = PRIVACY["k-anonymity"]
    >>> entry.promises, entry.choose, entry.paper  # doctest: +NORMALIZE_WHITESPACE
    ('nobody can be told from fewer than k - 1 others',
     'somebody could be found by what many know of them: age, place, job',
     'Samarati and Sweeney 1998')
    """

    name: str
    forms: tuple[type[Model], ...]
    check: str
    promises: str
    choose: str
    paper: str
    check_sets: str = ""
    rank: int = 100
    begin: Mapping[str, float] = field(default_factory=dict)

    @property
    def model(self) -> type[Model]:
        """The class, or that of the form to begin with."""
        return self.forms[0]

    def of_form(self, form: str = "") -> type[Model]:
        """The class of one form; that to begin with where it is not named.

        >>> PRIVACY["beta-likeness"].of_form("basic").__name__
        'BasicLikeness'
        """
        for model in self.forms:
            if form in ("", model.form):
                return model
        names = tuple(model.form for model in self.forms if model.form)
        listed = ", ".join(names) or "none"
        raise BadInput(f"{self.name} has no form {form!r}; there are: {listed}.{did_you_mean(form, names)}")

    def parameters(self, form: str = "") -> dict[str, Parameter]:
        """The parameters of one form; those of all of them where it is not named.

        >>> list(PRIVACY["l-diversity"].parameters("recursive"))
        ['form', 'c', 'l', 'column', 'missing', 'beside']
        """
        names = tuple(model.form for model in self.forms if model.form)
        shown = {"form": Parameter("string", options=names)} if names else {}
        chosen = [self.of_form(form)] if form else self.forms
        return shown | {name: p for model in reversed(chosen) for name, p in parameters_of(model).items()}

    def required(self, name: str) -> bool:
        """Whether a parameter must be given in a project file, whatever the form."""
        return all(_required(model, name) for model in self.forms)

    def make(self, **options: Any) -> Model:
        """The model with these parameters; what a promise only tells (`about`, `distance`) may stand beside them."""
        form = str(options.pop("form", self.model.form))
        takes = self.parameters(form)
        model = self.of_form(form)
        remarks = (*model.remarks, *(["about"] if model.about == "mechanism" else []))
        chosen = {name: value for name, value in options.items() if name not in remarks}
        for name in chosen:
            if name not in takes:
                hint = did_you_mean(name, takes)
                raise BadInput(f"{self.name} takes no parameter {name!r}; it takes {', '.join(takes)}.{hint}")
        lacking = [name for name in takes if _required(model, name) and name not in chosen]
        if lacking:
            raise BadInput(f"{self.name} needs the parameter {' and '.join(lacking)}")
        return model(**chosen)

    def needed(self, form: str = "") -> tuple[str, ...]:
        """The parameters that must be given in a project file, for one form.

        >>> PRIVACY["l-diversity"].needed("recursive")
        ('c', 'l', 'column')
        """
        model = self.of_form(form)
        return tuple(name for name in parameters_of(model) if _required(model, name))

    def section(self, form: str = "", /, **values: Any) -> dict[str, Any]:
        """A [[privacy]] section to begin with: what must be given, as far as it is not known already.

        >>> PRIVACY["l-diversity"].section(column="illness")
        {'model': 'l-diversity', 'l': 3, 'column': 'illness'}
        >>> PRIVACY["estimated k-map"].section(k=20)
        {'model': 'estimated k-map', 'k': 20, 'fraction': '...'}
        """
        named = {"form": form} if form and self.of_form(form) is not self.model else {}
        given = {name: values.get(name, self.begin.get(name, UNTOLD)) for name in self.needed(form)}
        return {"model": self.name, **named, **given}

    def schema(self) -> dict[str, object]:
        """A [[privacy]] section of a project file that promises it, as JSON schema.

        >>> PRIVACY["maximum risk"].schema()["properties"]["threshold"]
        {'type': 'number', 'exclusiveMinimum': 0, 'maximum': 1}
        """
        takes = self.parameters()
        return {
            "title": self.name,
            "description": self.promises,
            "type": "object",
            "properties": {"model": {"const": self.name}, **{name: p.schema() for name, p in takes.items()}},
            "required": ["model", *(name for name in takes if self.required(name))],
            "additionalProperties": False,
        }


PRIVACY: Registry[PrivacyModel] = Registry(
    "privacy model",
    packages=("keepsense.privacy",),
    group="keepsense.privacy",
    first=("k-anonymity", "l-diversity", "t-closeness"),
)
"""Every privacy model by its name, also those that other packages add."""


def privacy_model(
    *forms: type[Model],
    check: str,
    promises: str,
    choose: str,
    paper: str,
    check_sets: str = "",
    rank: int = 100,
    begin: Mapping[str, float] | None = None,
) -> Callable[[M], M]:
    """Enter a class into the list of privacy models; `forms` are other classes that promise it in another form.

    `check` is where the verifier's own function for tables lives ("package.module:function"), `check_sets` that for
    sets; empty where no file shows the promise. `promises` says in one sentence what is promised, `choose` in which
    situation it fits: after "where ".

    >>> PRIVACY["k-map"].model(5).promise()
    {'model': 'k-map', 'k': 5}
    """

    def enter(model: M) -> M:
        entry = PrivacyModel(model.name, (model, *forms), check, promises, choose, paper, check_sets, rank, begin or {})
        PRIVACY.add(model.name, entry)
        return model

    return enter


def models() -> tuple[str, ...]:
    """Names of all privacy models.

    >>> models()[:3]
    ('k-anonymity', 'l-diversity', 't-closeness')
    """
    return tuple(PRIVACY)


def model(name: str, **options: Any) -> Model:
    """Make a model from its name and parameters; `model(**promise)` with `name` for `model` rebuilds a promise.

    >>> model("k-anonymity", k=5)
    KAnonymity(k=5)
    >>> model("l-diversity", form="entropy", l=2, column="disease").describe()
    'In every class the values of disease are as mixed as 2 equally frequent ones.'
    >>> model("k-anonymity", kk=5)
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: k-anonymity takes no parameter 'kk'; it takes k. Did you mean k?
    """
    return PRIVACY[name].make(**options)


def _required(model: type[Model], name: str) -> bool:
    parameter = parameters_of(model).get(name)
    return parameter is not None and (parameter.column or not hasattr(model, name))


def judge(models: Sequence[Model], counts: Counts, *, missing: Missing = "category", limit: int = 0) -> Decision:
    """Which distinct tuples of a recoded table keep all promises, and whether the rest may be suppressed.

    Like `decide`, with either convention for missing values. `counts` is the whole table after recoding, with the
    histograms the models need.

    >>> from keepsense.privacy.k_anonymity import KAnonymity
    >>> judge([KAnonymity(2)], Counts.of({"sex": ["f", None]}), missing="wildcard").holds
    True
    """
    sizes, histograms = classes(counts, missing)
    kept = np.ones(len(counts), dtype=np.bool_)
    bound = [model.bound(counts.histograms) for model in models]
    for model in bound:
        if model.per_class:
            kept &= model.satisfied(sizes, histograms)
        elif missing == "wildcard":
            raise BadInput(f"{model.name} is not defined where missing values match anything; make them a category")
    suppressed = int(counts.weights[~kept].sum())
    good = suppressed <= limit and bool(counts.weights[kept].sum() > 0)
    return Decision(good and all(model.holds(sizes, histograms, kept) for model in bound), kept, suppressed)


class _OfMechanism(Model):
    about: ClassVar[Literal["file", "mechanism"]] = "mechanism"
    kept_by_classes: ClassVar[bool] = False

    def satisfied(self, class_weights: Weights, histograms: Mapping[str, Histogram]) -> Flags:
        """No class keeps it by itself: it is about how records were changed, not about how many are alike."""
        return np.zeros(len(class_weights), dtype=np.bool_)
