"""Top and bottom coding: values beyond a threshold become one (Rodríguez-García 2017, Sec. 2.3.1)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from keepsense.counts import Counts, Value
from keepsense.errors import BadInput
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.intervals import spelled
from keepsense.hierarchies.round_bands import round_between
from keepsense.methods.method import Method, Relation, Shown, registered
from keepsense.methods.method_call import call
from keepsense.methods.method_flowchart import Flowchart
from keepsense.methods.suitability import GOES_BEFORE, Fit
from keepsense.methods.task import Task
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener
from keepsense.recoding import Cut, Cuts, Recoding


def top_and_bottom_coding(
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    models: Sequence[Model] = (),
    *,
    column: str,
    top: float | None = None,
    bottom: float | None = None,
    share: float | None = None,
) -> Cuts:
    """Release numbers from `top` upwards as `top or more`, up to `bottom` as `bottom or less`; the rest as it is.

    With `share` the missing thresholds are chosen so that at least that share of the records is coded at each end, and
    no more than it takes; they are round numbers between two values, so that no threshold is a person's value. Use
    it where the extremes of a number give people away (the very old, the very rich). It protects the ends of one column
    and promises no model by itself; hierarchies and models are not looked at. Missing values stay missing. Cost: one
    pass over the column's values.

    >>> rule = top_and_bottom_coding(Counts.of({"age": [20, 30, 95, 101]}), column="age", top=90)
    >>> rule.cuts[0].outputs
    (20, 30, '90 or more', '90 or more')
    """
    values, weights = counts.values_of(column), counts.marginal(column)
    numbers = np.array([_number(column, value) for value in values], dtype=np.float64)
    known = np.isfinite(numbers)
    if share is not None:
        if isinstance(share, bool) or not 0 < share <= 0.5:
            raise BadInput("top and bottom coding: the share at each end must be above 0 and at most 0.5")
        if not known.any():
            raise BadInput(f"column {column!r} holds no number; there is nothing to code")
        low, high = _ends(numbers[known], weights[known], share)
        top, bottom = high if top is None else top, low if bottom is None else bottom
    if top is None and bottom is None:
        raise BadInput("top and bottom coding: give a top, a bottom or the share of records at each end")
    if top is not None and bottom is not None and bottom >= top:
        raise BadInput(f"column {column!r}: the bottom must lie below the top; no value would be left as it is")
    above = known & (numbers >= (np.inf if top is None else top))
    below = known & (numbers <= (-np.inf if bottom is None else bottom))
    outputs: list[Value] = list(values)
    for i in np.flatnonzero(above):
        outputs[i] = f"{spelled(top or 0.0)} or more"
    for i in np.flatnonzero(below):
        outputs[i] = f"{spelled(bottom or 0.0)} or less"
    info = {
        "algorithm": "top and bottom coding",
        "top": top,
        "bottom": bottom,
        "coded": {"top": int(weights[above].sum()), "bottom": int(weights[below].sum())},
    }
    return Cuts((Cut(column, values, tuple(outputs)),), info=info)


def _number(column: str, value: Any) -> float:
    if value is None or value == "":
        return np.nan
    try:
        return float(value)
    except (TypeError, ValueError):
        raise BadInput(f"column {column!r} holds values that are not numbers; only numbers can be coded") from None


def _ends(numbers: Any, weights: Any, share: float) -> tuple[float, float]:
    """Round thresholds that leave at least a share of the records at each end, and no value more than that takes."""
    distinct, place = np.unique(numbers, return_inverse=True)
    rows = np.bincount(place, weights)
    # a share is what is written: 0.07 of 100 records are 7, where floating point makes it a little more
    need = math.ceil(Fraction(repr(float(share))) * int(rows.sum()))
    whole = bool((distinct == np.round(distinct)).all())
    low = int(np.searchsorted(np.cumsum(rows), need))
    high = len(rows) - 1 - int(np.searchsorted(np.cumsum(rows[::-1]), need))
    # the last that is coded and the first that is not lie on either side; a bottom belongs to what it codes
    bottom = -round_between(-distinct[low + 1], -distinct[low], whole=whole) if low + 1 < len(rows) else distinct[low]
    top = round_between(distinct[high - 1], distinct[high], whole=whole) if high else distinct[high]
    if bottom >= top:  # one gap takes both
        bottom = -round_between(-top, -distinct[low], whole=whole)
    return float(bottom), float(top)


def _columns_of(method: Method, task: Task, parameters: Mapping[str, Any], listener: Listener | None) -> list[Recoding]:
    """The columns of a step one by one, each by the same thresholds or the same share."""
    if not task.quasi_identifiers:
        raise BadInput("top and bottom coding: name the columns to code in `columns` of the step")
    return [
        call(top_and_bottom_coding, parameters, task.count([name]), {}, (), column=name)
        for name in task.quasi_identifiers
    ]


METHOD = registered(
    Method(
        name="top and bottom coding",
        title="Top and bottom coding",
        function=top_and_bottom_coding,
        step=_columns_of,
        whole_values=True,
        place=9,
        short="put rare extremes together",
        intent="Put the rare values at both ends together, since the oldest and the richest are known to everybody.",
        use=("numbers or ordered values have rare extremes", "a rule asks for it, such as ages of 90 and more"),
        avoid=("extremes are what the data is wanted for",),
        inputs=("a column of numbers or ordered values", "the bounds, or how many records each end must hold"),
        guarantee="None by itself; ends hold at least as many records as you ask for.",
        cost="One pass over the values.",
        paper="Willenborg and de Waal 2001; Rodríguez-García 2017, Sec. 2.3.1.",
        example="All ages above 89 become 90 or more.",
        truthful=True,
        unweighed="it changes one column",
        steps=Flowchart.line(
            "A column that can be ordered",
            "Find the bounds beyond which values are rare",
            "Replace all values beyond a bound by the bound and more, or and less",
            end="The column without rare extremes",
        ),
        combines=(Relation("generalization", "fewer levels are needed afterwards"),),
        fit=Fit(unfit=(GOES_BEFORE,)),
        shown=Shown(why_not="it has one step: values beyond the ends become one"),
    )
)
