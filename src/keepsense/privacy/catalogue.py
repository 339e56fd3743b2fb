"""Privacy models by name, as project files, the command line and release descriptions spell them."""

from __future__ import annotations

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
    """
    maker = _MODELS.get(name)
    if maker is None:
        raise BadInput(
            f"no privacy model is called {name!r}; there are: {', '.join(_MODELS)}.{did_you_mean(name, _MODELS)}"
        )
    try:
        return maker(**options)
    except TypeError as error:
        raise BadInput(f"{name} does not take these parameters ({error})") from None
