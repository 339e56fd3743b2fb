"""How much the loss of each column counts, said once: methods take `importance`, and this is what they make of it.

A project file says it by a column's `weight`; only how weights compare counts, so they are offered to methods with a
mean of 1. Searches and greedy methods multiply a column's losses by it, divisions their scores or widths,
microaggregation and swapping its squared distances or distances. A method to which it means nothing says so in its
registry entry (`Method.unweighed`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from keepsense.arrays import Floats
from keepsense.errors import BadInput, did_you_mean
from keepsense.methods.task import Task

Importance = Mapping[str, float]
"""How much each column's loss counts; 1 for columns that are left out."""


def importances(names: Sequence[str], importance: Importance | None) -> Floats:
    """The importance of each column, in their order.

    >>> importances(["age", "job"], {"job": 10.0}).tolist()
    [1.0, 10.0]
    >>> importances(["age", "job"], {"jop": 10.0})
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: no quasi-identifier 'jop' to give importance. Did you mean job?
    """
    for name, weight in (importance or {}).items():
        if name not in names:
            raise BadInput(f"no quasi-identifier {name!r} to give importance.{did_you_mean(name, names)}")
        if not np.isfinite(weight) or weight <= 0:
            raise BadInput(f"the importance of column {name!r} must be a number above 0")
    return np.array([float((importance or {}).get(name, 1.0)) for name in names])


def weights_of(task: Task) -> dict[str, float]:
    """The weights of a task's quasi-identifiers, with a mean of 1: equal ones are all 1, whatever they are.

    >>> from keepsense.release.example import example_job
    >>> weights_of(example_job())
    {'age': 1.0, 'job': 1.0}
    """
    weights = {name: task.column(name).weight for name in task.quasi_identifiers}
    mean = sum(weights.values()) / max(1, len(weights))
    return {name: weight / mean for name, weight in weights.items()}
