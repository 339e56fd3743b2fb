"""Microaggregation with t-closeness: groups with the sensitive values of the whole table (Soria-Comas et al. 2015).

Three ways, from the simplest to the most careful; all end by merging whatever is not yet close, so the promise holds:

- `merge`: MDAV, then the group farthest from the whole table joins its nearest neighbour, until all are close.
- `swap`: while MDAV forms a group, records are exchanged for the next nearest ones that bring its sensitive values
  closer to the table's (k-anonymity first).
- `spread`: every group takes one record from each of equally large slices of the sensitive column, so it is close by
  construction (t-closeness first). For sensitive columns with an order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Rows
from keepsense.counts import Counts, Histogram
from keepsense.errors import BadInput
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.method import Method, Shown, registered
from keepsense.methods.method_call import by_columns
from keepsense.methods.method_flowchart import Filling
from keepsense.methods.microaggregate.mdav import Partition, check_size, mdav
from keepsense.methods.microaggregate.microaggregation import own_order, tell_centres
from keepsense.methods.microaggregate.record_space import Candidates, RecordSpace, centres, squared_error, to_cells
from keepsense.methods.suitability import K_ANONYMITY, PROBABILISTIC, T_CLOSENESS, UNKNOWN_NEARNESS, Fit
from keepsense.methods.task import Importance, Task, group_size
from keepsense.privacy.earth_movers_distance import NOISE, Ground, Ordered, ground
from keepsense.privacy.privacy_model import Model
from keepsense.privacy.t_closeness import TCloseness
from keepsense.progress import Listener, emit, wants_steps
from keepsense.recoding import Cells, Recoding
from keepsense.semantics.attribute import Attribute

How = Literal["merge", "swap", "spread"]


def t_close_microaggregation(  # noqa: PLR0913
    counts: Counts,
    columns: Sequence[Attribute],
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    t: float | None = None,
    sensitive: str | None = None,
    distance: Ground | Hierarchy | str | None = None,
    how: How = "swap",
    candidates: Candidates = "values",
    importance: Importance | None = None,
    listener: Listener | None = None,
) -> Cells:
    """Microaggregate so that every group holds k records whose sensitive values are spread as in the table, up to t.

    `counts` must count the sensitive column along with the others, as a column: which group a row joins depends on its
    sensitive value. `distance` is the ground distance of t-closeness (`keepsense.privacy.t_closeness.TCloseness`);
    where the models
    promise it, `t`, `sensitive` and `distance` are taken from there unless they are given. The sensitive column itself
    is not changed. `importance` says how much the distances in each column count. Groups grow as t shrinks; `info`
    tells how many were merged. Costs MDAV, and for `swap` one earth mover's distance for each pair of exchanged values
    that is tried.

    >>> from keepsense.semantics.attribute import Ordered as Numbers
    >>> counts = Counts.of({"age": [20, 21, 60, 61], "disease": ["flu", "flu", "cold", "cold"]})
    >>> age = Numbers.of(counts, "age")
    >>> cells = t_close_microaggregation(counts, [age], k=2, t=0.1, sensitive="disease", how="swap")
    >>> [cells.values[0][c] for c in cells.codes[:, 0]], cells.info["groups"]
    ([40.0, 40.0, 41.0, 41.0], 2)
    """
    k = check_size(group_size(models, k), counts.total)
    promise = next((model for model in models if isinstance(model, TCloseness)), None)
    if promise is not None and promise.beside:
        raise BadInput(
            f"this method groups people by the values of {promise.column!r} alone; leave `beside` out of the promise, "
            "or choose a method that generalizes, such as optimal or mondrian"
        )
    if promise is not None:
        t = promise.t if t is None else t
        sensitive = promise.column if sensitive is None else sensitive
        distance = promise.ground if distance is None else distance
    if t is None or sensitive is None:
        raise BadInput("this method needs t-closeness to be promised, or t and sensitive in [method.parameters]")
    t = TCloseness(t, sensitive).t
    if how not in ("merge", "swap", "spread"):
        raise BadInput(f"how: {how!r} is not one of 'merge', 'swap', 'spread'")
    if sensitive in [attribute.name for attribute in columns]:
        raise BadInput(f"column {sensitive!r} is sensitive and microaggregated; choose one role")
    space = RecordSpace(counts, columns, importance)
    order = own_order(counts, [*(attribute.name for attribute in columns), sensitive])
    space.keep(order)
    emit(listener, "records", tuples=order)
    spread = _Spread(counts, sensitive, ground("equal" if distance is None else distance), order)
    weights = counts.weights[order]
    if how == "spread":
        partition = _from_slices(space, weights, spread, k, t, listener)
    else:
        refine = spread.refine(t) if how == "swap" else None
        partition = mdav(space, weights, k, refine=refine, listener=listener)
    before = len(partition)
    named = Partition(partition.group, order[partition.record], partition.copies)
    everyone = RecordSpace(counts, columns, importance)
    named = _merged(counts, everyone, named, spread.back(order), t, listener)
    centred = [(a, centres(a, counts.column(a.name), named, candidates)) for a in columns]
    error = squared_error(counts, centred, named)
    tell_centres(listener, centred, named, error)
    info = {
        "method": f"t-close microaggregation ({how})",
        "k": k,
        "t": t,
        "groups": len(named),
        "merged": before - len(named),
        "squared error": error,
    }
    return to_cells(counts, centred, named, info)


class _Spread:
    """The sensitive value of each record, and how far groups of them are from the whole table."""

    def __init__(self, counts: Counts, column: str, kind: Ground, order: NDArray[np.int64]) -> None:
        self.values = counts.values_of(column)
        self.kind = kind
        self.code = counts.column(column)[order].astype(np.int64)
        self.reference = counts.marginal(column)

    def back(self, order: NDArray[np.int64]) -> _Spread:
        """The same for records under their own numbers again."""
        renamed = object.__new__(_Spread)
        renamed.values, renamed.kind, renamed.reference = self.values, self.kind, self.reference
        renamed.code = np.empty_like(self.code)
        renamed.code[order] = self.code
        return renamed

    def distances(self, held: NDArray[np.int64]) -> Floats:
        """Earth mover's distance to the table of groups given as counts of each sensitive value, a row each."""
        row, value = np.nonzero(held)
        rows = Rows.from_pairs(row.astype(np.int32), value.astype(np.int32), len(held))
        return self.kind.distances(Histogram(self.values, rows, held[row, value]), self.reference)

    def held(self, partition: Partition) -> NDArray[np.int64]:
        """Counts of each sensitive value in each group."""
        table = np.zeros((len(partition), len(self.values)), dtype=np.int64)
        np.add.at(table, (partition.group, self.code[partition.record]), partition.copies)
        return table

    def refine(self, t: float) -> Any:
        """Exchange records of a group for the next nearest ones, as long as that brings its values closer."""

        def exchange(
            taken: dict[int, int], distances: Floats, left: NDArray[np.int64], names: NDArray[np.int64]
        ) -> None:
            held = np.zeros(len(self.values), dtype=np.int64)
            for record, copies in taken.items():
                held[self.code[names[record]]] += copies
            away = float(self.distances(held[None])[0])
            tried: set[int] = set()
            if away <= t + NOISE:
                return
            for record in np.argsort(distances, kind="stable").tolist():
                while left[record] > 0 and away > t + NOISE:
                    fresh = int(self.code[names[record]])
                    if fresh in tried:
                        break  # no exchange for this value helped, and the group is still the same
                    inside = sorted(taken, key=lambda record: -distances[record])  # of equal ones the farthest goes
                    options = np.tile(held, (len(inside), 1))
                    options[np.arange(len(inside)), self.code[names[inside]]] -= 1
                    options[:, fresh] += 1
                    apart = self.distances(options)
                    best = int(np.argmin(apart))
                    if apart[best] >= away - NOISE:
                        tried.add(fresh)
                        break
                    gone = inside[best]
                    left[gone] += 1
                    left[record] -= 1
                    taken[gone] -= 1
                    if not taken[gone]:
                        del taken[gone]
                    taken[record] = taken.get(record, 0) + 1
                    held, away = options[best], float(apart[best])
                    tried.clear()
                if away <= t + NOISE:
                    return

        return exchange


def _merged(
    counts: Counts,
    space: RecordSpace,
    partition: Partition,
    spread: _Spread,
    t: float,
    listener: Listener | None,
) -> Partition:
    """Join the group farthest from the table with the group nearest to it, until every group is close."""
    held = spread.held(partition)
    away = spread.distances(held)
    if float(away.max()) <= t + NOISE:
        return partition
    group = partition.group.copy()
    alive = np.ones(len(held), dtype=np.bool_)
    while True:
        worst = int(np.argmax(np.where(alive, away, -1.0)))
        if away[worst] <= t + NOISE or alive.sum() == 1:
            break
        own = group == worst
        alone = Partition(np.zeros(int(own.sum()), np.int64), partition.record[own], partition.copies[own])
        rows = [_row(a, centres(a, counts.column(a.name), alone)) for a in space.attributes]
        weighted = space.from_values(rows)[partition.record] * partition.copies
        size = np.bincount(group, partition.copies, len(held))
        mean = np.bincount(group, weighted, len(held)) / np.maximum(size, 1)
        other = int(np.argmin(np.where(alive & (np.arange(len(held)) != worst), mean, np.inf)))
        group[own] = other
        alive[worst] = False
        held[other] += held[worst]
        away[other] = spread.distances(held[other : other + 1])[0]
        emit(listener, "merged", int((~alive).sum()), None, groups=int(alive.sum()), group=worst, into=other)
    number = np.cumsum(alive) - 1
    order = np.argsort(number[group], kind="stable")
    return Partition(number[group][order], partition.record[order], partition.copies[order])


def _row(attribute: Attribute, centre: Any) -> Floats:
    away: Floats = centre.row(int(centre.codes[0]))
    return away


def _from_slices(
    space: RecordSpace,
    weights: NDArray[np.int64],
    spread: _Spread,
    k: int,
    t: float,
    listener: Listener | None,
) -> Partition:
    """Groups of one record from each slice of the sensitive column (t-closeness first)."""
    from keepsense.methods.microaggregate.microaggregation_kernels import farthest, nearest_in_parts

    if not isinstance(spread.kind, Ordered):
        raise BadInput("how='spread' needs a sensitive column with an order; give distance='ordered' or 'numeric'")
    total = int(weights.sum())
    size = max(k, math.ceil(total / (2 * (total - 1) * t + 1))) if total > 1 else k
    size = min(size, total)
    size += (total % size) // (total // size)
    groups = total // size
    record = np.repeat(np.arange(len(weights), dtype=np.int64), weights)
    position = spread.kind._positions(spread.values)
    ranked = np.lexsort((record, position[spread.code[record]]))
    # What does not divide evenly goes to the middle slices, where an extra record moves the spread least.
    width = np.full(size, groups)
    middle = np.argsort(np.abs(np.arange(size) - (size - 1) / 2), kind="stable")
    for extra in range(total - groups * size):
        width[middle[extra % size]] += 1
    part = np.empty(total, dtype=np.int64)
    part[ranked] = np.repeat(np.arange(size), width)
    alive = np.ones(total, dtype=np.bool_)
    left = weights.astype(np.int64).copy()
    formed: list[tuple[list[int], list[int]]] = []

    def around(seed: int, far_from: str) -> int:
        distances = space.from_record(seed).copy()
        taken: dict[int, int] = {}

        def take(row: int) -> None:
            alive[row] = False
            width[part[row]] -= 1
            here = int(record[row])
            left[here] -= 1
            taken[here] = taken.get(here, 0) + 1

        own = int(np.flatnonzero(alive & (record == seed))[0])
        take(own)
        for row in nearest_in_parts(distances, record, part, alive, size, space.noise).tolist():
            if row >= 0 and part[row] != part[own]:
                take(row)
        for slice_ in np.flatnonzero(width > groups - len(formed) - 1).tolist():
            row = int(nearest_in_parts(distances, record, part, alive, size, space.noise)[slice_])
            take(row)
        for here, copies in taken.items():
            space.leave(here, copies)
        formed.append((list(taken), list(taken.values())))
        if wants_steps(listener):
            emit(listener, "group", seed=seed, far_from=far_from, records=list(taken), copies=list(taken.values()),
                 distance=max(float(distances[here]) for here in taken))  # fmt: skip
        emit(listener, "groups", len(formed), groups)
        return int(farthest(distances, left, space.noise))

    space.start(left)
    while len(formed) < groups:
        other = around(int(farthest(space.from_centre(left), left, space.noise)), "the centre")
        if len(formed) < groups:
            around(other, "the last one")
    return Partition.of(formed)


def _beside_the_sensitive_column(
    method: Method, task: Task, parameters: Mapping[str, Any], listener: Listener | None
) -> list[Recoding]:
    """Count the sensitive column along: which group a record joins depends on it."""
    promise = next((model.column for model in task.models if isinstance(model, TCloseness)), None)
    sensitive = parameters.get("sensitive", promise)
    if sensitive is not None and sensitive not in task.released:
        raise BadInput(f"the table has no column {sensitive!r}, which [method.parameters] calls sensitive")
    return by_columns(method, task, parameters, listener, beside=() if sensitive is None else (str(sensitive),))


METHOD = registered(
    Method(
        name="t-close microaggregation",
        title="Microaggregation with t-closeness",
        function=t_close_microaggregation,
        runner=_beside_the_sensitive_column,
        family="microaggregation",
        place=3,
        short="groups that mirror the whole table",
        intent="Group similar records so that sensitive values in every group are spread as in the whole table.",
        use=("what people have must be hidden as well as who they are, and coarse ranges are not wanted",),
        avoid=("every record must be true",),
        inputs=("the columns to protect", "the sensitive column", "k and t"),
        guarantee="k-anonymity and t-closeness.",
        cost="As microaggregation, and exchanges between groups.",
        paper="Soria-Comas, Domingo-Ferrer, Sánchez and Martínez 2015.",
        example="A group of five nurses holds as large a share of flu as the table does.",
        truthful=False,
        promises=(K_ANONYMITY, T_CLOSENESS, PROBABILISTIC),
        reach=50_000,
        fillings={
            "distance": Filling("mixed", "by their columns, and by what their sensitive values add to the group"),
            "representative": Filling("centre", "the mean of its numbers and the most typical of its words"),
        },
        fit=Fit(
            points=6.5,
            reason="k-anonymity and t-closeness without coarse ranges",
            unfit=((lambda s: s.promise != T_CLOSENESS, "it is for the promise of t-closeness"), UNKNOWN_NEARNESS),
        ),
        shown=Shown(settings={"t": 0.3}),
    )
)
