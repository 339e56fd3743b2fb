"""Metrics of class sizes: average class size and discernibility of the released table.

Records that are suppressed as a whole form one class of their own for the average class size, and cost a whole table
each for the discernibility (LeFevre et al. 2006; Bayardo and Agrawal 2005).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts, added_up, row_keys
from keepsense.counts_out_of_core import LargeCounts
from keepsense.errors import BadInput
from keepsense.metrics import metric
from keepsense.recoding import SUPPRESSED, Cuts, suppressed_tuples
from keepsense.utility.recoded_table import Generalized, Recoded


@dataclass(frozen=True, eq=False)
class Classes:
    """Sizes of the classes that are released with values, and the number of suppressed records.

    >>> Classes(np.array([3, 2]), 1).total
    6
    """

    sizes: NDArray[np.int64]
    suppressed: int

    @property
    def total(self) -> int:
        """All records, suppressed ones included."""
        return int(self.sizes.sum()) + self.suppressed


def released_classes(counts: Counts, recoding: Generalized) -> Classes:
    """Equivalence classes of a recoded table.

    >>> from keepsense.recoding import Cut, Cuts
    >>> rule = Cuts((Cut("job", ("nurse", "clerk"), ("medic", "clerk")),), suppress=frozenset({("clerk",)}))
    >>> found = released_classes(Counts.of({"job": ["nurse", "nurse", "clerk"]}), rule)
    >>> found.sizes.tolist(), found.suppressed
    ([2], 1)
    """
    if isinstance(counts, LargeCounts) and isinstance(recoding, Cuts):
        return Classes(*counts.released(recoding))
    cells = recoding.cells(counts)
    shown = np.ones(len(cells.source), np.bool_) if cells.suppressed is None else ~cells.suppressed
    keys, space = row_keys(cells.codes)
    _, sizes = added_up(keys[shown], space, cells.multiplicity[shown])
    return Classes(sizes, int(cells.multiplicity[~shown].sum()))


def average_class_size(counts: Counts, recoding: Generalized, *, k: int | None = None) -> float:
    """Records over classes; with `k`, divided by it (CAVG of LeFevre et al. 2006: 1 is the best k-anonymity can do).

    >>> from keepsense.recoding import Cut, Cuts
    >>> rule = Cuts((Cut("job", ("nurse", "clerk"), ("medic", "office")),))
    >>> average_class_size(Counts.of({"job": ["nurse", "nurse", "clerk"]}), rule)
    1.5
    """
    return class_size_of(released_classes(counts, recoding), k)


def class_size_of(classes: Classes, k: int | None = None) -> float:
    """Average class size of given classes, the suppressed records counted as one.

    >>> class_size_of(Classes(np.array([4, 2]), 3))
    3.0
    """
    number = len(classes.sizes) + (classes.suppressed > 0)
    if number == 0:
        raise BadInput("the table has no records, so there is no average class size")
    if k is not None and k < 1:
        raise BadInput(f"k must be a whole number of at least 1, not {k}")
    return classes.total / number / (k or 1)


def discernibility(counts: Counts, recoding: Generalized) -> int:
    """Sum of the squared class sizes, plus the number of all records for each suppressed one.

    >>> from keepsense.recoding import Cut, Cuts
    >>> rule = Cuts((Cut("job", ("nurse", "clerk"), ("medic", "office")),))
    >>> discernibility(Counts.of({"job": ["nurse", "nurse", "clerk"]}), rule)
    5
    """
    return discernibility_of(released_classes(counts, recoding))


def discernibility_of(classes: Classes) -> int:
    """Discernibility of given classes.

    >>> discernibility_of(Classes(np.array([4, 2]), 3))
    47
    """
    return int((classes.sizes.astype(object) ** 2).sum()) + classes.suppressed * classes.total


def _classes(recoded: Recoded) -> Classes:
    """Classes of the release; where sets are among its columns, they part classes too."""
    counts, rule = recoded.generalized
    after = recoded.released
    if after is None or not (recoded.set_rules or _tells_all(rule, after)):
        return released_classes(counts, rule)
    hidden = suppressed_tuples(after)
    left_out = max(0, recoded.counts.total - after.total)
    return Classes(after.weights[~hidden], int(after.weights[hidden].sum()) + left_out)


def _tells_all(rule: Generalized, after: Counts) -> bool:
    """Whether counts of the release hold its classes, and records that read as suppressed are so: none else do."""
    return (
        isinstance(rule, Cuts)
        and len(after) > 1
        and set(after.names) == set(rule.names)
        and any(SUPPRESSED not in cut.outputs for cut in rule.cuts)
        and all(isinstance(label, str) for cut in rule.cuts for label in cut.outputs)
    )


@metric("average class size", "average class", span=(1.0, None), unit="records", every_run=True, rank=4)
def _average_class_size(recoded: Recoded) -> float:
    """Records that share one combination of released values, on average.

    Computed: records / classes, the suppressed ones being one class (LeFevre et al. 2006).
    """
    return class_size_of(recoded.once(_classes))


@metric("discernibility", "discernibility", span=(0.0, None), unit="pairs", every_run=True, rank=5)
def _discernibility(recoded: Recoded) -> float:
    """Pairs of records that cannot be told apart.

    Computed: sum of squared class sizes, plus all records for each suppressed one (Bayardo and Agrawal 2005).
    """
    return float(discernibility_of(recoded.once(_classes)))
