"""Individual ranking: microaggregation of one column at a time, sorted, grouped and averaged."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts
from keepsense.errors import BadInput, PrivacyWarning
from keepsense.methods.method import Method, registered
from keepsense.methods.method_call import by_columns
from keepsense.methods.method_flowchart import Edge, Flowchart, Node
from keepsense.methods.microaggregate.mdav import Partition, check_size
from keepsense.methods.microaggregate.microaggregation import own_order
from keepsense.methods.microaggregate.record_space import centres, squared_error
from keepsense.methods.suitability import UNKNOWN_NEARNESS, Fit
from keepsense.methods.task import group_size
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener, emit, wants_steps
from keepsense.recoding import Cells
from keepsense.semantics.attribute import Attribute, Ordered, check_same_rows
from keepsense.semantics.semantic_operators import most_distant_value


def every(total: int, k: int) -> NDArray[np.int64]:
    """Where groups of k end among so many records, the last of k to 2k - 1.

    >>> every(7, 3).tolist()
    [3, 7]
    """
    ends = np.arange(1, max(1, total // k) + 1, dtype=np.int64) * k
    ends[-1] = total
    return ends


def between(order: NDArray[np.int64], weights: NDArray[np.int64], ends: NDArray[np.int64]) -> Partition:
    """Groups of neighbours in an order that end where it is said, copies counted.

    >>> parts = between(np.array([1, 0]), np.array([3, 2]), np.array([3, 5]))
    >>> [(r.tolist(), c.tolist()) for r, c in parts]
    [([1, 0], [2, 1]), ([0], [2])]
    """
    upto = np.cumsum(weights[order])
    cuts = np.unique(np.concatenate([upto, ends]))
    first = np.concatenate(([0], cuts[:-1]))
    record = order[np.searchsorted(upto, first, side="right")]
    return Partition(np.searchsorted(ends, first, side="right"), record, cuts - first)


def individual_ranking(
    counts: Counts,
    columns: Sequence[Attribute],
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    listener: Listener | None = None,
) -> Cells:
    """Microaggregate each column by itself: sort, group k neighbours, replace by their centre (Defays and Anwar 1998).

    Words are sorted by closeness to the column's most distant value, the semantic preorder of Rodríguez-García 2017
    (Eq. 4.26). Little is lost, and little protected: a record keeps its place in every column, so combinations of
    columns stay as rare as they were (Domingo-Ferrer et al. 2002); a warning says so. Sorting is all it costs.

    >>> import warnings
    >>> counts = Counts.of({"age": [20, 21, 60, 61], "stay": [9, 1, 8, 2]})
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     cells = individual_ranking(counts, [Ordered.of(counts, "age"), Ordered.of(counts, "stay")], k=2)
    >>> [[v[c] for v, c in zip(cells.values, row)] for row in cells.codes.tolist()]
    [[20.5, 8.5], [20.5, 1.5], [60.5, 8.5], [60.5, 1.5]]
    """

    def ends(attribute: Attribute, order: NDArray[np.int64], weights: NDArray[np.int64], k: int) -> NDArray[np.int64]:
        return every(int(weights.sum()), k)

    return column_by_column(counts, columns, models, k, ends, "individual ranking", listener)


Ends = Callable[[Attribute, NDArray[np.int64], NDArray[np.int64], int], NDArray[np.int64]]
"""From a column, its values in order, how often each stands there, and k: where groups end, copies counted."""


def column_by_column(
    counts: Counts,
    columns: Sequence[Attribute],
    models: Sequence[Model],
    k: int | None,
    ends: Ends,
    name: str,
    listener: Listener | None = None,
) -> Cells:
    """Sort each column by itself, group neighbours up to the ends that are chosen, replace them by their centre.

    >>> counts = Counts.of({"age": [20, 21, 60]})
    >>> whole = lambda attribute, order, weights, k: np.array([3])
    >>> column_by_column(counts, [Ordered.of(counts, "age")], (), 2, whole, "one group").info["method"]
    'one group'
    """
    k = check_size(group_size(models, k), counts.total)
    if not columns:
        raise BadInput("microaggregation needs at least one column")
    check_same_rows(counts, columns)
    if len(columns) > 1:
        warnings.warn(
            f"{name} protects each column by itself; several together may still single people out",
            PrivacyWarning,
            stacklevel=3,
        )
    tuples = own_order(counts, [attribute.name for attribute in columns])
    begins = np.concatenate(([0], np.cumsum(counts.weights)))  # all rows in one line, those of a tuple side by side
    pieces: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    values, error = [], 0.0
    for attribute in columns:
        line = _sorted_values(attribute)
        rank = np.empty(len(attribute.values), dtype=np.int64)
        rank[line] = np.arange(len(rank))
        order = tuples[np.argsort(rank[counts.column(attribute.name)[tuples]], kind="stable")]
        copies = np.bincount(counts.column(attribute.name), counts.weights, len(rank)).astype(np.int64)
        parts = between(order, counts.weights, ends(attribute, line, copies[line], k))
        centre = centres(attribute, counts.column(attribute.name), parts)
        error += squared_error(counts, [(attribute, centre)], parts)
        by_tuple = np.lexsort((parts.group, parts.record))
        if wants_steps(listener):
            held = parts.copies[by_tuple]
            emit(listener, "neighbours", len(pieces) + 1, len(columns), column=attribute.name, k=k,
                 source=np.repeat(parts.record[by_tuple], held), group=np.repeat(parts.group[by_tuple], held),
                 released=[centre.values[int(code)] for code in centre.codes])  # fmt: skip
        begin = np.concatenate(([0], np.cumsum(parts.copies[by_tuple])[:-1]))
        pieces.append((begin, centre.codes[parts.group[by_tuple]]))
        values.append(centre.values)
    cuts = np.unique(np.concatenate([begin for begin, _ in pieces]))
    codes = np.stack([code[np.searchsorted(begin, cuts, side="right") - 1] for begin, code in pieces], axis=1)
    cells = Cells(
        tuple(attribute.name for attribute in columns),
        tuple(values),
        np.searchsorted(begins, cuts, side="right") - 1,
        codes.astype(np.int32),
        np.diff(cuts, append=counts.total),
        info={"method": name, "k": k, "squared error": error},
    )
    cells.check(counts)
    return cells


def _sorted_values(attribute: Attribute) -> NDArray[np.int64]:
    if isinstance(attribute, Ordered):
        return np.argsort(attribute.positions, kind="stable").astype(np.int64)
    return attribute.order(most_distant_value(attribute)[0]).astype(np.int64)


METHOD = registered(
    Method(
        name="individual ranking",
        title="Individual ranking",
        function=individual_ranking,
        runner=by_columns,
        step=by_columns,
        family="microaggregation",
        place=4,
        short="one column at a time: little lost, little protected",
        intent="Group neighbours in the order of one column, and replace them by their mean, each column by itself.",
        use=("one column is released, or exact values alone must be hidden",),
        avoid=("several columns are released together: combinations stay as rare as they were",),
        inputs=("the columns to protect", "k"),
        guarantee="k-anonymity of single columns only, not of the record.",
        cost="One sort a column.",
        paper="Defays and Anwar 1998; Rodríguez-García 2017, Sec. 2.3.2.3.",
        example="Incomes of 38, 40 and 42 thousand become 40, whatever the other columns hold.",
        truthful=False,
        unweighed="it changes each column by itself",
        falls_short="it protects single columns only",
        steps=Flowchart(
            (
                Node("begin", "The columns and k", "start"),
                Node("sort", "Sort the records by one column"),
                Node("group", "Group k neighbours, and so on down the order"),
                Node("replace", "Replace the column's values in each group by their mean"),
                Node("more", "Is there another column?", "question"),
                Node("end", "Values, at least k of each alike", "end"),
            ),
            (
                Edge("begin", "sort"),
                Edge("sort", "group"),
                Edge("group", "replace"),
                Edge("replace", "more"),
                Edge("more", "sort", "yes"),
                Edge("more", "end", "no"),
            ),
        ),
        fit=Fit(unfit=(UNKNOWN_NEARNESS,)),
    )
)
