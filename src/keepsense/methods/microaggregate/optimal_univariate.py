"""Optimal univariate microaggregation: one column at a time, with the least squared error (a shortest path)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.methods.method import Method, Shown, registered
from keepsense.methods.method_call import by_columns
from keepsense.methods.method_flowchart import Edge, Flowchart, Node
from keepsense.methods.microaggregate.individual_ranking import column_by_column
from keepsense.methods.suitability import UNKNOWN_NEARNESS, Fit, only
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener
from keepsense.recoding import Cells
from keepsense.semantics.attribute import Attribute, Ordered


def optimal_univariate_microaggregation(
    counts: Counts,
    columns: Sequence[Attribute],
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    listener: Listener | None = None,
) -> Cells:
    """Microaggregate each column of numbers by itself with the least squared error (Hansen and Mukherjee 2003).

    Groups of the best grouping are k to 2k - 1 neighbours of the sorted column, so it is the shortest path through
    the places where a group may end (their Theorem 1). Individual ranking cuts after every k-th record wherever that
    falls, even inside of a cluster; this one never loses more. Ordered categories are released as medians, and the
    grouping is the best of those into k to 2k - 1 neighbours. Like individual ranking it protects single columns only,
    and a warning says so. About n k steps for n records; many copies of a value count as 6 k at most.

    >>> counts = Counts.of({"age": [20, 21, 22, 60, 61, 62]})
    >>> cells = optimal_univariate_microaggregation(counts, [Ordered.of(counts, "age")], k=2)
    >>> [cells.values[0][code] for code in cells.codes[:, 0]]
    [21.0, 21.0, 21.0, 61.0, 61.0, 61.0]
    """
    words = [attribute.name for attribute in columns if not isinstance(attribute, Ordered)]
    if words:
        raise BadInput(
            f"column {words[0]!r} holds words, which lie on no line; use `individual_ranking` or "
            "`microaggregation_of_records` for it"
        )
    return column_by_column(counts, columns, models, k, best_ends, "optimal univariate microaggregation", listener)


def best_ends(attribute: Attribute, order: NDArray[np.int64], weights: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Where groups end in a column's sorted values, each as often as it weighs, so that the squared error is least.

    More than 6 k copies of a value hold k that are a group of their own in some best grouping; these are set aside
    while the path is searched.

    >>> ages = Ordered.of(Counts.of({"age": [1, 2, 3, 9]}), "age")
    >>> best_ends(ages, np.array([0, 1, 2, 3]), np.array([1, 1, 100, 2]), 2).tolist()[:2]
    [2, 4]
    """
    from keepsense.methods.microaggregate.microaggregation_kernels import shortest_path

    assert isinstance(attribute, Ordered)
    aside = np.maximum(0, (weights - (5 * k - 4)) // k)
    searched = weights - aside * k
    line: Floats = np.repeat(attribute.positions[order] / attribute.span, searched)
    begins = shortest_path(line, k, attribute.levels is not None)
    ends = [len(line)]
    while begins[ends[-1]] > 0:
        ends.append(int(begins[ends[-1]]))
    return _with_those_aside(np.array(ends[::-1], dtype=np.int64), searched, aside, k)


def _with_those_aside(
    ends: NDArray[np.int64], searched: NDArray[np.int64], aside: NDArray[np.int64], k: int
) -> NDArray[np.int64]:
    """The ends with the groups that were set aside put back, each at the first end among the copies of its value."""
    firsts = np.concatenate(([0], np.cumsum(searched)[:-1]))
    many = np.flatnonzero(aside)
    place = np.searchsorted(np.concatenate(([0], ends)), firsts[many])  # groups before, of those that were searched
    extra = np.repeat(place, aside[many])
    sizes = np.diff(ends, prepend=0)
    return np.cumsum(np.insert(sizes, extra, k)).astype(np.int64)


METHOD = registered(
    Method(
        name="optimal univariate microaggregation",
        title="Optimal univariate microaggregation",
        function=optimal_univariate_microaggregation,
        runner=by_columns,
        step=by_columns,
        family="microaggregation",
        place=5,
        aliases=("Hansen-Mukherjee",),
        short="one column of numbers at a time, with the least error there is",
        intent="Group neighbours in the order of one column so that their means lose least, each column by itself.",
        use=("one column of numbers is released, or exact numbers alone must be hidden",),
        avoid=("several columns are released together: combinations stay as rare as they were", "columns of words"),
        inputs=("columns of numbers or ordered categories", "k"),
        guarantee="k-anonymity of single columns without empty cells only, not of the record.",
        cost="About k steps for each record, a column at a time.",
        paper="Hansen and Mukherjee 2003.",
        example="Of the incomes 38, 39, 40, 90 and 91 thousand the first three become 39, the others 90.5.",
        truthful=False,
        gaps="filled",
        unweighed="it changes each column by itself",
        falls_short="it protects single columns only",
        steps=Flowchart(
            (
                Node("begin", "The columns of numbers and k", "start"),
                Node("sort", "Sort the records by one column"),
                Node("price", "Price every run of k to 2k - 1 neighbours by its squared error"),
                Node("path", "Find the cheapest chain of runs from the lowest record to the highest"),
                Node("replace", "Replace the column's values in each run by their mean"),
                Node("more", "Is there another column?", "question"),
                Node("end", "Values, at least k of each alike", "end"),
            ),
            (
                Edge("begin", "sort"),
                Edge("sort", "price"),
                Edge("price", "path"),
                Edge("path", "replace"),
                Edge("replace", "more"),
                Edge("more", "sort", "yes"),
                Edge("more", "end", "no"),
            ),
        ),
        fit=Fit(unfit=(UNKNOWN_NEARNESS, (only("numeric", "ordinal"), "it is for numbers"))),
        shown=Shown(kinds=("numeric", "ordinal")),
    )
)
