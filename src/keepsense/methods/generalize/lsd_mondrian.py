"""LSD Mondrian: cut where a numeric target varies least inside the parts (LeFevre et al. 2006, workload-aware)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from keepsense.arrays import Floats
from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.dimension import Cutting, dimensions
from keepsense.methods.generalize.infogain_mondrian import METHOD as INFOGAIN
from keepsense.methods.generalize.multidimensional_template import divide
from keepsense.methods.method import Method, Shown, registered
from keepsense.methods.method_call import by_hierarchies
from keepsense.methods.method_flowchart import Filling
from keepsense.methods.suitability import CELLS, FOR_A_TARGET, RANGES, Fit
from keepsense.methods.task import Importance, promised
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener
from keepsense.recoding import Cells

_TIE = 1e-9
"""Share of the target's variance below which two cuts are equally good."""


def lsd_mondrian(  # noqa: PLR0913
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    target: str,
    numbers: Sequence[str] = (),
    importance: Importance | None = None,
    cuts: Mapping[str, str] | None = None,
    listener: Listener | None = None,
) -> Cells:
    """Divide the table where the squared deviations of `target` from its mean in each part fall most.

    `target` is a number summed under each tuple (`sums`). The sum of squares of the whole is the same for every cut, so
    the best cut has the largest sum of (part's sum)² / part's size; what a column wins counts by its `importance`. The
    target is centred and scaled first, so that its unit and its zero decide nothing; of cuts that are equally good, the
    most even one is made. `cuts` says at which columns the table and its parts are cut first, as in Median Mondrian.
    Use it when the release is for regression.

    >>> from keepsense.counts import Counts
    >>> counts = Counts.of({"age": [31, 35, 40, 44]}, sums={"salary": [10, 10, 90, 90]})
    >>> cells = lsd_mondrian(counts, k=2, target="salary")
    >>> sorted(set(cells.values[0]))
    ['40 or more', 'under 40']
    """
    if target not in counts.sums:
        raise BadInput(f"the target {target!r} is not summed; count it along as a sum")
    numbers_of = _standard(counts, target)

    def fall(cutting: Cutting) -> Floats:
        left, whole = cutting.sums(numbers_of)
        right_size = np.maximum(cutting.total - cutting.left, 1)
        parts = left**2 / np.maximum(cutting.left, 1) + (whole - left) ** 2 / right_size
        balance = 1.0 - np.abs(2.0 * cutting.left / cutting.total - 1.0)
        share = np.maximum(0.0, parts - whole**2 / cutting.total) / cutting.total
        found: Floats = np.round(share / _TIE) * _TIE + 0.5 * _TIE * balance
        return found

    space = dimensions(counts, hierarchies or {}, numbers, importance=importance)
    return divide(
        counts,
        space,
        promised(models, k),
        score=fall,
        order="best",
        branches=True,
        method="LSD Mondrian",
        scored="fall of the squared deviations",
        cuts=cuts,
        listener=listener,
    )


def _standard(counts: Counts, target: str) -> Floats:
    """The target's sums with mean 0, in units of how much the tuples' means deviate."""
    sums, weights = counts.sums[target].astype(np.float64), counts.weights
    centred: Floats = sums - weights * (sums.sum() / weights.sum())
    deviation = float(np.sqrt((centred**2 / weights).sum() / weights.sum()))
    return centred / deviation if deviation > 0 else centred


METHOD = registered(
    Method(
        name="lsd mondrian",
        title="LSD Mondrian",
        function=lsd_mondrian,
        runner=by_hierarchies,
        family="multidimensional recoding",
        place=3,
        nine=True,
        short="cut where a numeric target varies least",
        intent="Cut so that a numeric target, such as income or days in hospital, varies as little as possible inside.",
        use=("the release is for regression: predicting a number",),
        avoid=("no numeric target column is known",),
        inputs=("columns and k", "hierarchies for columns of words", "the numeric target column"),
        guarantee="k-anonymity, and further models if asked; nobody is suppressed.",
        cost="As Median Mondrian.",
        paper="LeFevre, DeWitt and Ramakrishnan 2006 (workload-aware, least squared deviance); Ben Fredj et al. 2015.",
        example="Stays are short up to 60 and long from 61 on: the first cut is at 60.",
        truthful=True,
        classes="all",
        to_the_top=True,
        needs=("target",),
        fillings={
            **INFOGAIN.fillings,
            "score": Filling("fall", "where the target's squared deviations fall most"),
        },
        fit=Fit(
            purposes={"regression": (9.0, "made for regression: groups in which the numeric target varies little")},
            unfit=(
                (lambda s: s.purpose != "regression", "it needs a number that the release is to predict"),
                *CELLS,
            ),
            cautions=(FOR_A_TARGET, RANGES),
        ),
        shown=Shown(example={"target": "days"}),
    )
)
