"""Privacy models by name: the one list from which project files, their schema, the guide and the docs are derived.

An entry stands above its class, and names the check by which the verifier computes the promise again. The two share
no code: the check is found by where it lives, and reads the released file with SQL of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from keepsense.errors import BadInput, did_you_mean
from keepsense.privacy.base import Model
from keepsense.privacy.parameters import Parameter, parameters_of
from keepsense.registry import Registry

if TYPE_CHECKING:
    from keepsense.privacy.checks.outcome import Check

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

    def checker(self, *, of_sets: bool = False) -> Callable[..., Check] | None:
        """The verifier's own reading of the promise, on a table or on sets; None where a file does not show it."""
        module, _, function = (self.check_sets if of_sets else self.check).partition(":")
        return getattr(import_module(module), function) if module else None


PRIVACY: Registry[PrivacyModel] = Registry(
    "privacy model",
    packages=("keepsense.privacy.promises",),
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
