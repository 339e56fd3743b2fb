"""Microaggregation of records by MDAV: numbers, ordered categories and words together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts
from keepsense.methods.method import Method, registered
from keepsense.methods.method_call import by_columns
from keepsense.methods.method_flowchart import Filling
from keepsense.methods.microaggregate.mdav import Partition, check_size, mdav
from keepsense.methods.microaggregate.record_space import (
    Candidates,
    Centre,
    RecordSpace,
    centres,
    squared_error,
    to_cells,
)
from keepsense.methods.suitability import NOT_SENSITIVE, PROBABILISTIC, UNKNOWN_NEARNESS, Fit
from keepsense.methods.task import Importance, group_size
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener, emit, wants_steps
from keepsense.recoding import Cells
from keepsense.semantics.attribute import Attribute

Grouping = Callable[[RecordSpace, NDArray[np.int64], int], Partition]


def microaggregation_of_records(
    counts: Counts,
    columns: Sequence[Attribute],
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    candidates: Candidates = "values",
    importance: Importance | None = None,
    listener: Listener | None = None,
) -> Cells:
    """Group similar records by k with MDAV and replace each by its group's centre (Rodríguez-García 2017, 2.3.2.3).

    Every column takes part: numbers by squared difference over their span and replaced by the mean, ordered categories
    by rank and replaced by the median (Torra 2004), words by semantic distance and replaced by the value least distant
    from the group, or with `candidates="subsumers"` also by something more general (Martínez et al. 2012). The released
    columns are k-anonymous together. Give columns an `importance` to weigh them against each other: it
    multiplies their squared distances.
    Use it where close but untrue values are better than coarse true ones. About n / k rounds of four passes over the n
    distinct records. `info` tells the number of groups and the sum of squared errors.

    >>> from keepsense.semantics.attribute import Ordered
    >>> counts = Counts.of({"age": [20, 21, 60, 61]})
    >>> cells = microaggregation_of_records(counts, [Ordered.of(counts, "age")], k=2)
    >>> cells.apply(counts).values, cells.info["groups"]
    (((20.5, 60.5),), 2)
    """

    def method(space: RecordSpace, weights: NDArray[np.int64], k: int) -> Partition:
        return mdav(space, weights, k, listener=listener)

    space = RecordSpace(counts, columns, importance)
    return grouped(counts, space, group_size(models, k), method, candidates, "MDAV microaggregation", listener)


def grouped(
    counts: Counts,
    space: RecordSpace,
    k: int,
    method: Grouping,
    candidates: Candidates,
    name: str,
    listener: Listener | None = None,
) -> Cells:
    """Group the records, in an order that does not depend on that of the rows, and replace each by its group's centre.

    A listener that wants every step hears first which tuple each of the `records` is that groups are told of.

    >>> from keepsense.semantics.attribute import Ordered
    >>> counts = Counts.of({"age": [20, 60]})
    >>> one = lambda space, weights, k: Partition(np.zeros(2, np.int64), np.arange(2), weights)
    >>> grouped(counts, RecordSpace(counts, [Ordered.of(counts, "age")]), 2, one, "values", "one group").values
    ((40.0,),)
    """
    k = check_size(k, counts.total)
    attributes = space.attributes
    order = own_order(counts, [attribute.name for attribute in attributes])
    space.keep(order)
    emit(listener, "records", tuples=order)
    found = method(space, counts.weights[order], k)
    partition = Partition(found.group, order[found.record], found.copies)
    columns = [(a, centres(a, counts.column(a.name), partition, candidates)) for a in attributes]
    error = squared_error(counts, columns, partition)
    tell_centres(listener, columns, partition, error)
    return to_cells(
        counts, columns, partition, {"method": name, "k": k, "groups": len(partition), "squared error": error}
    )


def tell_centres(
    listener: Listener | None, columns: Sequence[tuple[Attribute, Centre]], partition: Partition, error: float
) -> None:
    """Tell a listener that wants every step what each group is released as.

    >>> tell_centres(None, [], Partition(np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1, np.int64)), 0.0)
    """
    if wants_steps(listener):
        released = {a.name: [centre.values[int(code)] for code in centre.codes] for a, centre in columns}
        emit(listener, "centred", groups=len(partition), released=released, error=error)


def own_order(counts: Counts, names: Sequence[str]) -> NDArray[np.int64]:
    """Distinct records sorted by their values: an order that does not depend on that of the rows.

    >>> own_order(Counts.of({"age": [30, 20]}), ["age"]).tolist()
    [1, 0]
    """
    ranks = []
    for name in names:
        values = counts.values_of(name)
        numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
        keys: list[Any] = list(values) if numbers else [(str(value), repr(value)) for value in values]
        rank = np.empty(len(values), dtype=np.int64)
        rank[sorted(range(len(values)), key=keys.__getitem__)] = np.arange(len(values))
        ranks.append(rank[counts.column(name)])
    return np.lexsort(ranks[::-1]).astype(np.int64)


METHOD = registered(
    Method(
        name="microaggregation of records",
        title="Microaggregation of records (MDAV)",
        function=microaggregation_of_records,
        runner=by_columns,
        step=by_columns,
        family="microaggregation",
        place=1,
        aliases=("MDAV",),
        short="numbers, words and both",
        intent="Group at least k similar records over all columns, and release the centre of each group.",
        use=("tables of numbers, or of numbers and words",),
        avoid=("every record must be true",),
        inputs=("the columns to protect", "a taxonomy for columns of words", "k"),
        guarantee="k-anonymity by construction.",
        cost="About rows squared / k comparisons of distinct records.",
        paper="Domingo-Ferrer and Mateo-Sanz 2002; Domingo-Ferrer and Torra 2005; Rodríguez-García 2017, Sec. 2.3.2.3.",
        example="The nurse of 31, the midwife of 33 and the nurse of 32 become three nurses of 32.",
        truthful=False,
        blocks="every column",
        classes="sizes",
        promises=(PROBABILISTIC,),
        falls_short=NOT_SENSITIVE,
        fillings={
            "distance": Filling("mixed", "numbers by their scale, words by their meaning, added up"),
            "representative": Filling("centre", "the mean of its numbers and the most typical of its words"),
        },
        fit=Fit(
            points=5.5, reason="k-anonymity without coarse ranges; means come out right", unfit=(UNKNOWN_NEARNESS,)
        ),
    )
)
