"""Privacy models by name, as project files, the command line and release descriptions spell them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from keepsense.errors import BadInput, did_you_mean
from keepsense.privacy.base import Model
from keepsense.privacy.closeness import TCloseness
from keepsense.privacy.diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from keepsense.privacy.k_anonymity import KAnonymity, ProbabilisticKAnonymity, XYAnonymity
from keepsense.privacy.km import KmAnonymity
from keepsense.privacy.presence import DeltaPresence, KMap
from keepsense.privacy.thresholds import AverageRisk, MaximumRisk

_FORMS: dict[str, Callable[..., Model]] = {
    "distinct": DistinctDiversity,
    "entropy": EntropyDiversity,
    "recursive": RecursiveDiversity,
}


def _diversity(form: str = "distinct", **options: Any) -> Model:
    if form not in _FORMS:
        raise BadInput(f"l-diversity has no form {form!r}; there are: {', '.join(_FORMS)}.{did_you_mean(form, _FORMS)}")
    return _FORMS[form](**options)


def _probabilistic(k: int, about: str = "mechanism") -> Model:
    return ProbabilisticKAnonymity(k)


def _closeness(
    t: float, column: str, ground: Any = "equal", distance: str | None = None, reference: Any = None
) -> Model:
    return TCloseness(t, column, ground, reference)


_MODELS: dict[str, Callable[..., Model]] = {
    "k-anonymity": KAnonymity,
    "probabilistic k-anonymity": _probabilistic,
    "(X,Y)-anonymity": XYAnonymity,
    "k-map": KMap,
    "k^m-anonymity": KmAnonymity,
    "l-diversity": _diversity,
    "t-closeness": _closeness,
    "delta-presence": DeltaPresence,
    "maximum risk": MaximumRisk,
    "average risk": AverageRisk,
}


def models() -> tuple[str, ...]:
    """Names of all privacy models.

    >>> "k-anonymity" in models()
    True
    """
    return tuple(_MODELS)


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
    maker = _MODELS.get(name)
    if maker is None:
        raise BadInput(
            f"no privacy model is called {name!r}; there are: {', '.join(_MODELS)}.{did_you_mean(name, _MODELS)}"
        )
    known = parameters(name, str(options.get("form", "distinct")))
    for given in options:
        if given not in known:
            raise BadInput(
                f"{name} takes no parameter {given!r}; it takes {', '.join(known)}.{did_you_mean(given, known)}"
            )
    lacking = [needed for needed, must in known.items() if must and needed not in options]
    if lacking:
        raise BadInput(f"{name} needs the parameter {' and '.join(lacking)}")
    return maker(**options)


def parameters(name: str, form: str = "distinct") -> dict[str, bool]:
    """Parameters of a model, and whether each must be given; `form` is that of l-diversity.

    >>> parameters("l-diversity", "recursive")
    {'form': False, 'c': True, 'l': True, 'column': True}
    """
    if name == "l-diversity":
        return {"form": False, **_taken(_FORMS.get(form, DistinctDiversity))}
    return _taken(_MODELS[name])


def _taken(maker: Callable[..., Model]) -> dict[str, bool]:
    found = inspect.signature(maker).parameters.values()
    return {one.name: one.default is inspect.Parameter.empty for one in found}
