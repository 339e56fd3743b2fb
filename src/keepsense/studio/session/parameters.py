"""Parameters of methods and promises as fields: their kinds and bounds."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from keepsense.methods.method import Method
from keepsense.privacy.privacy_model import PRIVACY
from keepsense.studio.session.parameter_words import METHODS, PROMISES, Told

_NOT_ASKED = {
    *("counts", "hierarchies", "columns", "models", "listener", "rng", "numbers", "distances", "importance"),
    *("suppression", "target", "domains", "bounds", "memory", "taxonomies", "sensitive", "delimiter", "start"),
}
_MOST = {**dict.fromkeys(("alpha", "keep", "near", "t", "c", "boundary"), 1.0), "percent": 100.0}


@dataclass(frozen=True)
class Field:
    """A parameter as a field: its kind, the value that stands where none is given, bounds or options.

    >>> Field("k", "whole", 5, least=2).options
    ()
    """

    name: str
    kind: Literal["whole", "number", "switch", "choice"]
    usual: Any
    least: float | None = None
    most: float | None = None
    options: tuple[str, ...] = ()
    optional: bool = False
    about: str = ""
    """What it does, in a sentence."""
    label: str = ""
    """What people call it."""


def of_method(method: Method) -> list[Field]:
    """What can be set of a method in a form: numbers, switches and choices.

    >>> from keepsense.methods.method import method
    >>> [(field.name, field.kind) for field in of_method(method("mondrian"))]
    [('order', 'choice'), ('relaxed', 'switch')]
    """
    try:
        hints = get_type_hints(method.function)
    except (NameError, TypeError):  # types that are known to checkers only
        hints = {}
    fields = []
    for name, parameter in inspect.signature(method.function).parameters.items():
        if parameter.kind is not parameter.KEYWORD_ONLY or name in _NOT_ASKED:
            continue
        if name == "k" and method.truthful:  # the promise says it
            continue
        usual = None if parameter.default is parameter.empty else parameter.default
        made = _field(name, hints.get(name), usual)
        if made is not None:
            known = METHODS.get(name) or Told(_spaced(name), _about(inspect.getdoc(method.function) or "", name))
            fields.append(replace(made, about=known.about, label=known.label))
    return fields


def _about(docstring: str, name: str) -> str:
    """The sentence of a docstring that tells of a parameter: for methods of other packages, which nobody told of here.

    >>> _about("Cut it (Fung et al. 2005). With `fast` it is cut once. More of it.", "fast")
    'With fast it is cut once.'
    """
    told = re.sub(r"\s+", " ", docstring.partition(">>>")[0])
    sentences = re.split(r"(?<=[.!?])(?<!Eq\.)(?<!al\.)(?<!Sec\.)\s", told)
    return next((said for said in sentences if f"`{name}`" in said), "").replace("`", "")


def _spaced(name: str) -> str:
    """A name as people write it.

    >>> _spaced("most_nodes")
    'Most nodes'
    """
    return name.replace("_", " ").capitalize()


def _field(name: str, hint: Any, usual: Any) -> Field | None:
    parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    optional = NoneType in parts
    kinds = [part for part in parts if part is not NoneType]
    options = [str(value) for part in kinds if get_origin(part) is Literal for value in get_args(part)]
    if options and len(options) == sum(len(get_args(part)) for part in kinds):
        return Field(name, "choice", usual, options=tuple(options), optional=optional)
    if bool in kinds:
        return Field(name, "switch", bool(usual), optional=optional)
    if int in kinds and float not in kinds:
        return Field(name, "whole", usual, 2 if name == "k" else 1, optional=optional)
    if float in kinds:
        return Field(name, "number", usual, 0.0, _MOST.get(name), optional=optional)
    return None


def of_promise(promise: Mapping[str, Any]) -> list[Field]:
    """What can be set of a promise in a form.

    >>> [(field.name, field.least) for field in of_promise({"model": "l-diversity", "l": 2, "column": "illness"})]
    [('l', 1)]
    """
    entry = PRIVACY[str(promise["model"])]
    fields: list[Field] = []
    for name, parameter in entry.parameters(str(promise.get("form", entry.model.form))).items():
        if name not in promise or parameter.column or parameter.kind in ("string", "array"):
            continue
        kind: Literal["whole", "number"] = "whole" if parameter.kind == "integer" else "number"
        about = f"{entry.promises[:1].upper()}{entry.promises[1:]}; {name} is {parameter}."
        label = PROMISES.get(name, _spaced(name))
        fields.append(Field(name, kind, promise[name], parameter.least, parameter.most, about=about, label=label))
    return fields
