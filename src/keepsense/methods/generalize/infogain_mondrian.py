"""InfoGain Mondrian: cut where most is learned about a class column (LeFevre et al. 2006, workload-aware)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from keepsense.arrays import Floats
from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.hierarchies import Hierarchy
from keepsense.methods.generalize.dimension import dimensions
from keepsense.methods.generalize.multidim import Cutting, divide
from keepsense.privacy import KAnonymity, Model
from keepsense.progress import Listener
from keepsense.recoding import Cells


def infogain_mondrian(
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    k: int | None = None,
    *,
    target: str,
    models: Sequence[Model] = (),
    numbers: Sequence[str] = (),
    listener: Listener | None = None,
) -> Cells:
    """Divide the table where the entropy of `target` falls most, as long as both parts keep the promise.

    `target` is a column counted as a histogram. A group is cut as long as that tells anything about the target, then by
    the median. Use it when the release is for classification. Cost: as median Mondrian, times the target's values.

    >>> from keepsense.counts import Counts
    >>> counts = Counts.of({"age": [31, 35, 40, 44]}, histograms={"buys": ["no", "no", "no", "yes"]})
    >>> infogain_mondrian(counts, k=1, target="buys").info["classes"]
    4
    """
    table = counts.histograms.get(target)
    if table is None:
        raise BadInput(f"the target column {target!r} is not counted; count it along as a histogram")
    classes = table.table().astype(np.float64)

    def gain(cutting: Cutting) -> Floats:
        """Information gain in bits, and below it, as a tie-break, how close to the median the cut lies."""
        left, whole = cutting.sums(classes)
        parts = _bits(left) + _bits(whole - left)
        balance = 1.0 - np.abs(2.0 * cutting.left / cutting.total - 1.0)
        found: Floats = np.maximum(0.0, (_bits(whole) - parts) / cutting.total) + 1e-9 * balance
        return found

    promised = [*([] if k is None else [KAnonymity(k)]), *models]
    space = dimensions(counts, hierarchies or {}, numbers)
    return divide(
        counts, space, promised, score=gain, order="best", branches=True, method="InfoGain Mondrian", listener=listener
    )


def _bits(counts: Floats) -> Floats:
    """Records times entropy of their classes."""
    total = counts.sum(axis=1)
    logs = np.log2(np.maximum(counts, 1e-300))
    found: Floats = total * np.log2(np.maximum(total, 1e-300)) - (counts * logs).sum(axis=1)
    return found
