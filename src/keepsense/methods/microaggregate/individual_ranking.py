"""Individual ranking: one column at a time is sorted, grouped and averaged; and all columns along one score."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Counts
from keepsense.errors import BadInput, PrivacyWarning
from keepsense.methods.method import Method, Shown, registered
from keepsense.methods.method_call import by_columns
from keepsense.methods.method_flowchart import Edge, Flowchart, Node
from keepsense.methods.microaggregate.mdav import Partition, check_size
from keepsense.methods.microaggregate.microaggregation import own_order
from keepsense.methods.microaggregate.record_space import centres, squared_error, to_cells
from keepsense.methods.suitability import NOT_SENSITIVE, PROBABILISTIC, UNKNOWN_NEARNESS, Fit, only
from keepsense.methods.task import group_size
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener, emit, wants_steps
from keepsense.recoding import Cells
from keepsense.semantics.attribute import Attribute, Ordered, check_same_rows
from keepsense.semantics.semantic_operators import most_distant_value


def runs(order: NDArray[np.int64], weights: NDArray[np.int64], k: int) -> Partition:
    """Groups of k neighbours in an order, the last of k to 2k - 1; copies of a record may fall into two groups.

    >>> parts = runs(np.array([2, 0, 1]), np.array([1, 2, 2]), 2)
    >>> [(r.tolist(), c.tolist()) for r, c in parts]
    [([2], [2]), ([0, 1], [1, 2])]
    """
    return between(order, weights, every(int(weights.sum()), k))


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


def microaggregation_along_a_score(
    counts: Counts,
    columns: Sequence[Attribute],
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    score: Literal["principal component", "z-scores"] = "principal component",
) -> Cells:
    """Microaggregate all columns along one score: sort by it, group k neighbours, replace each column by its centre.

    The score is the first principal component of the standardized columns, or the sum of their z-scores (Defays and
    Anwar 1998; Rodríguez-García 2017, Sec. 2.3.2.3). For numbers and ordered categories only: words have no scores.
    Fast (it only sorts) and k-anonymous over all columns, but coarse where one direction says little about the rest;
    `microaggregation_of_records` loses less.

    >>> counts = Counts.of({"age": [20, 21, 60, 61], "stay": [1, 2, 8, 9]})
    >>> columns = [Ordered.of(counts, "age"), Ordered.of(counts, "stay")]
    >>> cells = microaggregation_along_a_score(counts, columns, k=2, score="z-scores")
    >>> cells.values
    ((20.5, 60.5), (1.5, 8.5))
    """
    k = check_size(group_size(models, k), counts.total)
    if score not in ("principal component", "z-scores"):
        raise BadInput(f"the score is 'principal component' or 'z-scores', not {score!r}")
    if not columns:
        raise BadInput("microaggregation needs at least one column")
    check_same_rows(counts, columns)
    words = [attribute.name for attribute in columns if not isinstance(attribute, Ordered)]
    if words:
        raise BadInput(
            f"column {words[0]!r} holds words, which have no {score}; use `microaggregation_of_records` for it"
        )
    ordered = [attribute for attribute in columns if isinstance(attribute, Ordered)]
    table = np.stack([a.positions[counts.column(a.name)] for a in ordered], axis=1)
    rank = own_order(counts, [attribute.name for attribute in columns])
    order = rank[np.argsort(scores(table, counts.weights, score)[rank], kind="stable")]
    parts = runs(order, counts.weights, k)
    centred = [(a, centres(a, counts.column(a.name), parts)) for a in columns]
    info = {
        "method": f"microaggregation along {score}",
        "k": k,
        "groups": len(parts),
        "squared error": squared_error(counts, centred, parts),
    }
    return to_cells(counts, centred, parts, info)


def scores(table: Floats, weights: NDArray[np.int64], score: str) -> Floats:
    """One number a record: the first principal component or the sum of z-scores of weighted, standardized columns.

    The component's sign is that in which its largest loading is positive. A column that never varies adds nothing.

    >>> scores(np.array([[1.0], [3.0]]), np.array([1, 1]), "z-scores").tolist()
    [-1.0, 1.0]
    """
    share = weights / weights.sum()
    centred = table - share @ table
    spread = np.sqrt(share @ centred**2)
    standard: Floats = np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 0)
    if score == "z-scores":
        summed: Floats = standard.sum(axis=1)
        return summed
    _, vectors = np.linalg.eigh((standard * share[:, None]).T @ standard)
    first = vectors[:, -1]
    first = first * np.sign(first[np.argmax(np.abs(first))])
    # Rounding noise must not order records that score the same.
    along: Floats = np.round(standard @ first, 9)
    return along


RANKING = registered(
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


METHOD = registered(
    Method(
        name="microaggregation along a score",
        title="Microaggregation along a score",
        function=microaggregation_along_a_score,
        family="microaggregation",
        place=6,
        short="all columns of numbers along one line: quick, coarse",
        intent="Put the records in one line by a score of all columns, and group k neighbours of that line.",
        use=("very many rows of numbers that rise and fall together",),
        avoid=("columns say little about each other: far records stand side by side", "columns of words"),
        inputs=("columns of numbers or ordered categories", "k", "the score: first principal component, or z-scores"),
        guarantee="k-anonymity by construction.",
        cost="One sort.",
        paper="Defays and Anwar 1998; Rodríguez-García 2017, Sec. 2.3.2.3.",
        example="Firms sorted by size in all respects; three neighbours become one typical firm.",
        truthful=False,
        unweighed="records are put in one order, along a score of their own",
        classes="sizes",
        promises=(PROBABILISTIC,),
        falls_short=NOT_SENSITIVE,
        steps=Flowchart(
            (
                Node("begin", "The columns of numbers and k", "start"),
                Node("score", "Give every record one score out of all its columns"),
                Node("sort", "Sort the records by it"),
                Node("group", "Group k neighbours, and so on down the order"),
                Node("replace", "Release for every member of a group its mean"),
                Node("end", "Records, at least k of each alike", "end"),
            ),
            (
                Edge("begin", "score"),
                Edge("score", "sort"),
                Edge("sort", "group"),
                Edge("group", "replace"),
                Edge("replace", "end"),
            ),
        ),
        fit=Fit(unfit=(UNKNOWN_NEARNESS, (only("numeric", "ordinal"), "it is for numbers"))),
        shown=Shown(why_not="it groups neighbours of one line, as individual ranking does in each column"),
    )
)
