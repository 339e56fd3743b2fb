"""InfoGain Mondrian: cut where most is learned about a class column (LeFevre et al. 2006, workload-aware)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Rows
from keepsense.counts import Counts, Histogram
from keepsense.errors import BadInput
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.dimension import Cutting, dimensions
from keepsense.methods.generalize.mondrian import METHOD as MONDRIAN
from keepsense.methods.generalize.multidimensional_template import divide
from keepsense.methods.method import Method, registered
from keepsense.methods.method_call import by_hierarchies
from keepsense.methods.method_flowchart import Filling
from keepsense.methods.suitability import CELLS, FOR_A_TARGET, RANGES, Fit
from keepsense.methods.task import Importance, promised
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener
from keepsense.recoding import Cells

_FEW_CELLS = 1 << 22
"""Tuples times classes up to which there is a place for each of them."""


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
    few = len(counts) * len(table.values) <= _FEW_CELLS
    classes = table.table().astype(np.float64) if few else None

    def gain(cutting: Cutting) -> Floats:
        """Information gain in bits, and below it, as a tie-break, how close to the median the cut lies."""
        if classes is None:
            gained = _gained(cutting, table)
        else:
            left, whole = cutting.sums(classes)
            gained = _bits(whole) - _bits(left) - _bits(whole - left)
        balance = 1.0 - np.abs(2.0 * cutting.left / cutting.total - 1.0)
        found: Floats = np.maximum(0.0, gained / cutting.total) + 1e-9 * balance
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


def _gained(cutting: Cutting, table: Histogram) -> Floats:
    """What every cut gains in bits times records, without a place for every tuple and class.

    Right of a tuple the records of its own classes are more on the left and fewer on the right, and no others change:
    the sums of n log n over classes are carried on from cut to cut.
    """
    sizes = table.rows.sizes[cutting.tuples]
    place = np.repeat(np.arange(len(cutting.tuples)), sizes)
    entries = Rows(table.rows.starts, np.arange(len(table.counts), dtype=np.int32)).gather(
        cutting.tuples.astype(np.int32)
    )
    key = cutting.group[place] * len(table.values) + table.rows.indices[entries]
    order = np.argsort(key, kind="stable")
    key, added = key[order], table.counts[entries][order]
    first = np.flatnonzero(np.concatenate((key[:1] == key[:1], key[1:] != key[:-1])))
    run = np.cumsum(added)
    number = np.diff(first, append=len(key))
    after = run - np.repeat(run[first] - added[first], number)  # records of the class up to here, in its group
    total = np.repeat(np.add.reduceat(added, first), number)
    changes = np.empty((2, len(order)))
    changes[0, order] = _times_log(after) - _times_log(after - added)
    changes[1, order] = _times_log(total - after) - _times_log(total - after + added)
    left, right = (_carried(cutting, np.bincount(place, change, len(cutting.tuples))) for change in changes)
    whole = np.bincount(key[first] // len(table.values), _times_log(total[first]), len(cutting.start))[cutting.group]
    mine, theirs, every = (_times_log(n) for n in (cutting.left, cutting.total - cutting.left, cutting.total))
    found: Floats = (every - whole) - (mine - left) - (theirs - (whole + right))
    return found


def _times_log(numbers: NDArray[Any]) -> Floats:
    """Numbers times their logarithms."""
    found: Floats = numbers * np.log2(np.maximum(numbers, 1))
    return found


def _carried(cutting: Cutting, changes: NDArray[Any]) -> Floats:
    """Sums of changes from the first place of each group on; exact enough for small groups behind many others."""
    run = np.cumsum(changes, dtype=np.longdouble)
    before = np.concatenate((np.zeros(1, np.longdouble), run))[cutting.start]
    return (run - before[cutting.group]).astype(np.float64)


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
