"""Microaggregation along one score of all columns: their first principal component, or the sum of their z-scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.methods.method import Method, Shown, registered
from keepsense.methods.method_flowchart import Edge, Flowchart, Node
from keepsense.methods.microaggregate.individual_ranking import between, every
from keepsense.methods.microaggregate.mdav import Partition, check_size
from keepsense.methods.microaggregate.microaggregation import own_order
from keepsense.methods.microaggregate.record_space import centres, squared_error, to_cells
from keepsense.methods.suitability import NOT_SENSITIVE, PROBABILISTIC, UNKNOWN_NEARNESS, Fit, only
from keepsense.methods.task import group_size
from keepsense.privacy.privacy_model import Model
from keepsense.recoding import Cells
from keepsense.semantics.attribute import Attribute, Ordered, check_same_rows


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


def runs(order: NDArray[np.int64], weights: NDArray[np.int64], k: int) -> Partition:
    """Groups of k neighbours in an order, the last of k to 2k - 1; copies of a record may fall into two groups.

    >>> parts = runs(np.array([2, 0, 1]), np.array([1, 2, 2]), 2)
    >>> [(r.tolist(), c.tolist()) for r, c in parts]
    [([2], [2]), ([0, 1], [1, 2])]
    """
    return between(order, weights, every(int(weights.sum()), k))


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
