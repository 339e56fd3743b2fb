"""What classes tell about a further column: whoever finds the class of a person learns which values it has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Histogram, Value


@dataclass(frozen=True)
class Sensitive:
    """What classes tell about one sensitive column: fewest different values, l by entropy, and greatest distance t.

    >>> Sensitive("disease", 2, 1.8, 0.4).distinct
    2
    """

    column: str
    distinct: int
    entropy: float
    t: float
    t_hierarchical: float | None = None
    """t by the distances of a hierarchy, where there is one for the column."""
    fitting: tuple[int, float, float] | None = None
    """The first three where hidden cells of quasi-identifiers fit any value; None where no cell is hidden."""


@dataclass(frozen=True, eq=False)
class Within:
    """What each class tells about a further column: how many different values, the largest share of one, l and t.

    `entropy` is l by entropy: as mixed as so many equally frequent values. `t` is the distance from the whole column
    (with equal distances: half the sum of the differences of shares). Arrays have one entry for each class.

    >>> import numpy as np
    >>> Within(np.array([2]), np.array([0.5]), np.array([2.0]), np.array([0.0])).classes
    1
    """

    distinct: NDArray[np.int64]
    largest: NDArray[np.float64]
    entropy: NDArray[np.float64]
    t: NDArray[np.float64]

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.distinct)


def within_classes(histogram: Histogram, shown: NDArray[np.bool_], reference: Mapping[Value, int]) -> Within:
    """Figures of the classes that are kept; `reference` counts the values of the whole column.

    The cost is that of the values that occur in each class.

    >>> from keepsense.counts import Counts
    >>> counts = Counts.of({"job": ["a", "a", "b", "b"]}, histograms={"ill": ["flu", "cold", "flu", "flu"]})
    >>> found = within_classes(counts.histograms["ill"], np.ones(2, np.bool_), {"flu": 3, "cold": 1})
    >>> found.distinct.tolist(), found.t.tolist()
    ([2, 1], [0.25, 0.25])
    """
    size = len(histogram.rows)
    row, code = histogram.rows.row_of(), histogram.rows.indices
    share = histogram.counts / np.maximum(np.bincount(row, histogram.counts, size), 1)[row]
    total = sum(reference.values()) or 1
    whole = np.array([reference.get(value, 0) / total for value in histogram.values])
    largest = np.zeros(size)
    np.maximum.at(largest, row, share)
    logs = np.log(share, out=np.zeros_like(share), where=share > 0)
    return Within(
        np.bincount(row, histogram.counts > 0, size).astype(np.int64)[shown],
        largest[shown],
        np.exp(np.bincount(row, -share * logs, size))[shown],
        # both shares sum to 1, so the parts above the whole add up to half of all differences
        np.bincount(row, np.maximum(share - whole[code], 0.0), size).astype(np.float64)[shown],
    )


def disclosed(column: str, histogram: Histogram, shown: NDArray[np.bool_], reference: Mapping[Value, int]) -> Sensitive:
    """The worst of these figures over the classes that are kept: l, l by entropy, and t by equal distances.

    >>> from keepsense.counts import Counts
    >>> counts = Counts.of({"job": ["a", "a", "b", "b"]}, histograms={"ill": ["flu", "cold", "flu", "flu"]})
    >>> worst = disclosed("ill", counts.histograms["ill"], np.ones(2, np.bool_), {"flu": 3, "cold": 1})
    >>> worst.distinct, worst.entropy, worst.t
    (1, 1.0, 0.25)
    """
    classes = within_classes(histogram, shown, reference)
    return Sensitive(
        column,
        int(classes.distinct.min(initial=len(histogram.values))),
        float(classes.entropy.min()) if classes.classes else 0.0,
        float(classes.t.max(initial=0.0)),
    )
