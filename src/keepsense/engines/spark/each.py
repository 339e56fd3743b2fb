"""Work that is not about rows, spread over a cluster: one task a part, results in the order of the parts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from keepsense.engines.base import Part, Result
from keepsense.engines.spark.session import quiet
from keepsense.errors import InputWarning, KeepsenseError


def each(session: Any, function: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
    """What a function makes of each part; a task that is tried again gets the same part, so it makes the same of it.

    Executors need Keepsense for that, unlike for rows. Where it is not installed there, the driver does the work.
    """
    if len(parts) < 2:
        return [function(part) for part in parts]

    try:
        with quiet():
            spread = session.sparkContext.parallelize(list(enumerate(parts)), len(parts))
            answers = dict(spread.map(_Tried(function)).collect())
    except Exception as error:  # of Python there, wrapped by Java
        if "ModuleNotFoundError" not in str(error):
            raise
        warnings.warn(
            "Keepsense is not installed where the executors run, so blocks of records are changed on the driver, one "
            "after another; install it there to spread them",
            InputWarning,
            stacklevel=3,
        )
        return [function(part) for part in parts]
    results = []
    for place in range(len(parts)):
        result, refusal = answers[place]
        if refusal is not None:
            raise refusal
        results.append(result)
    return results


class _Tried:
    """A function whose refusals come back as values: Spark would try such a part again and tell its own story."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function

    def __call__(self, part: tuple[int, Any]) -> tuple[int, tuple[Any, KeepsenseError | None]]:
        place, what = part
        try:
            return place, (self._function(what), None)
        except KeepsenseError as error:
            return place, (None, error)
