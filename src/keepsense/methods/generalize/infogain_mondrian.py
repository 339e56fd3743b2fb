"""InfoGain Mondrian: cut where most is learned about a class column (LeFevre et al. 2006, workload-aware)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from keepsense.arrays import Floats
from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.hierarchies import Hierarchy
from keepsense.methods.calling import by_hierarchies
from keepsense.methods.fit import CELLS, FOR_A_TARGET, RANGES, Fit
from keepsense.methods.flowchart import Filling
from keepsense.methods.generalize.mondrian import METHOD as MONDRIAN
from keepsense.methods.generalize.multidim import Cutting, divide
from keepsense.methods.generalize.parts.dimension import dimensions
from keepsense.methods.importance import Importance
from keepsense.methods.registry import Method, registered
from keepsense.methods.task import promised
from keepsense.privacy import Model
from keepsense.progress import Listener
from keepsense.recoding import Cells


def infogain_mondrian(  # noqa: PLR0913
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
    """Divide the table where the entropy of `target` falls most, as long as both parts keep the promise.

    `target` is a column counted as a histogram. A group is cut as long as that tells anything about the target, then by
    the median; what a column tells counts by its `importance`. `cuts` says at which columns the table and its parts are
    cut first, as in Median Mondrian. Use it when the release is for classification. Cost: as median Mondrian, times the
    target's values.

    >>> from keepsense.counts import Counts
    >>> counts = Counts.of({"age": [31, 35, 40, 44]}, histograms={"buys": ["no", "no", "no", "yes"]})
    >>> infogain_mondrian(counts, k=1, target="buys").info["classes"]
    3
    """
    table = counts.histograms.get(target)
    if table is None:
        raise BadInput(
            f"the target column {target!r} is not counted as categories; count it along as a histogram, in a project "
            'file with kind = "nominal"'
        )
    classes = table.table().astype(np.float64)

    def gain(cutting: Cutting) -> Floats:
        """Information gain in bits, and below it, as a tie-break, how close to the median the cut lies."""
        left, whole = cutting.sums(classes)
        parts = _bits(left) + _bits(whole - left)
        balance = 1.0 - np.abs(2.0 * cutting.left / cutting.total - 1.0)
        found: Floats = np.maximum(0.0, (_bits(whole) - parts) / cutting.total) + 1e-9 * balance
        return found

    space = dimensions(counts, hierarchies or {}, numbers, importance=importance)
    return divide(
        counts,
        space,
        promised(models, k),
        score=gain,
        order="best",
        branches=True,
        method="InfoGain Mondrian",
        scored="information gain in bits",
        cuts=cuts,
        listener=listener,
    )


def _bits(counts: Floats) -> Floats:
    """Records times entropy of their classes."""
    total = counts.sum(axis=1)
    logs = np.log2(np.maximum(counts, 1e-300))
    found: Floats = total * np.log2(np.maximum(total, 1e-300)) - (counts * logs).sum(axis=1)
    return found


METHOD = registered(
    Method(
        name="infogain mondrian",
        title="InfoGain Mondrian",
        function=infogain_mondrian,
        runner=by_hierarchies,
        family="multidimensional recoding",
        place=2,
        nine=True,
        short="cut where a class column is best told",
        intent="Cut where most is learned about a target column with few values, such as whether somebody is ill.",
        use=("the release is for classification",),
        avoid=("no single target column is known",),
        inputs=("columns and k", "hierarchies for columns of words", "the target column"),
        guarantee="k-anonymity, and further models if asked; nobody is suppressed.",
        cost="As Median Mondrian, times the values of the target.",
        paper="LeFevre, DeWitt and Ramakrishnan 2006 (workload-aware); category after Ben Fredj et al. 2015.",
        example="Below 50 nobody is ill, above nearly everybody: the first cut is at 50, wherever the median lies.",
        truthful=True,
        classes="all",
        to_the_top=True,
        needs=("target",),
        fillings={
            **MONDRIAN.fillings,
            "order": Filling("best", "the one with the best cut"),
            "score": Filling("gain", "where the target is told apart best (information gain)"),
            "branches": Filling(True, "; words only between whole branches"),
        },
        fit=Fit(
            purposes={
                "classification": (9.0, "made for classification: it cuts where most is learned about the target")
            },
            unfit=(
                (lambda s: s.purpose != "classification", "it needs a category that the release is to predict"),
                *CELLS,
            ),
            cautions=(FOR_A_TARGET, RANGES),
        ),
    )
)
