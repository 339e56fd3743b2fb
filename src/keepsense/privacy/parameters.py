"""What the parameters of privacy models may be: said once beside the class, checked and described from there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, get_type_hints

import numpy as np

from keepsense.errors import BadInput

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

    >>> from keepsense.privacy import RecursiveDiversity
    >>> {name: str(parameter) for name, parameter in list(parameters_of(RecursiveDiversity).items())[:3]}
    {'c': 'a number above 0', 'l': 'a whole number of at least 1', 'column': 'a text'}
    """
    hints = get_type_hints(model, include_extras=True).items()
    declared = ((name, getattr(hint, "__metadata__", (None,))[0]) for name, hint in hints)
    return {name: parameter for name, parameter in declared if isinstance(parameter, Parameter)}
