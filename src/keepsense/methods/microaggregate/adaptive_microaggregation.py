"""Semantic adaptive microaggregation: groups as large as the data asks for (Martínez, Sánchez and Valls 2012)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts
from keepsense.methods.method import Method, registered
from keepsense.methods.method_call import by_columns
from keepsense.methods.method_flowchart import Filling
from keepsense.methods.microaggregate.mdav import Partition
from keepsense.methods.microaggregate.microaggregation import grouped
from keepsense.methods.microaggregate.record_space import Candidates, RecordSpace
from keepsense.methods.suitability import NOT_SENSITIVE, PROBABILISTIC, UNKNOWN_NEARNESS, Fit
from keepsense.methods.task import Importance, group_size
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener, emit, wants_steps
from keepsense.recoding import Cells
from keepsense.semantics.attribute import Attribute


def adaptive_microaggregation(
    counts: Counts,
    columns: Sequence[Attribute],
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    candidates: Candidates = "values",
    importance: Importance | None = None,
    listener: Listener | None = None,
) -> Cells:
    """MDAV on distinct records that are never torn apart: equal records always share a group, which may exceed k.

    Columns of words repeat a lot. MDAV with groups of exactly k tears ten equal records into several groups and fills
    them up with strangers; here a group takes all copies of its first record and then, nearest first, all copies of
    others until it holds at least k: a record shared by k people that begins a group is released as it is. What is left
    over at the end, if it is less than k, joins the groups whose first record is nearest. The idea is the paper's
    (semantic distance and centroid, group sizes that adapt to how often values occur); the order of steps is MDAV's.
    `importance` says how much the distances in each column count. Loses less than MDAV where most records are shared by
    k people or more, and more where most are a little rarer.

    >>> from keepsense.semantics.attribute import Ordered
    >>> counts = Counts.of({"age": [20, 20, 20, 60, 61]})
    >>> cells = adaptive_microaggregation(counts, [Ordered.of(counts, "age")], k=2)
    >>> cells.apply(counts).weights.tolist(), cells.values
    ([2, 3], ((20.0, 60.5),))
    """

    def method(space: RecordSpace, weights: NDArray[np.int64], k: int) -> Partition:
        return _whole_records(space, weights, k, listener)

    name = "semantic adaptive microaggregation"
    space = RecordSpace(counts, columns, importance)
    return grouped(counts, space, group_size(models, k), method, candidates, name, listener)


def _whole_records(space: RecordSpace, weights: NDArray[np.int64], k: int, listener: Listener | None) -> Partition:
    from keepsense.methods.microaggregate.microaggregation_kernels import farthest, nearest

    left = np.array(weights, dtype=np.int64)
    total = everything = int(left.sum())
    groups: list[list[int]] = []
    seeds: list[int] = []

    def around(seed: int, far_from: str) -> int:
        distances = space.from_record(seed).copy()
        group = [seed]
        size = int(left[seed])
        left[seed] = 0
        if size < k:
            for record in nearest(distances, left, k - size, space.noise).tolist():
                group.append(record)
                size += int(left[record])
                left[record] = 0
                if size >= k:
                    break
        for record in group:
            space.leave(record, int(weights[record]))
        groups.append(group)
        seeds.append(seed)
        if wants_steps(listener):
            emit(listener, "group", seed=seed, far_from=far_from, records=group, copies=weights[group].tolist(),
                 distance=float(distances[group].max()))  # fmt: skip
        return int(farthest(distances, left, space.noise))

    space.start(left)
    while total >= 2 * k:
        other = around(int(farthest(space.from_centre(left), left, space.noise)), "the centre")
        total = int(left.sum())
        if total >= 2 * k:
            around(other, "the last one")
            total = int(left.sum())
        emit(listener, "groups", everything - total, everything, groups=len(groups))
    rest = np.flatnonzero(left).tolist()
    if total >= k or not groups:
        groups.append(rest)
        emit(listener, "group", seed=None, far_from="", records=rest, copies=weights[rest].tolist(), distance=None)
    else:
        for record in rest:
            near = space.from_record(record)[seeds]
            groups[int(np.argmin(near))].append(record)
            emit(listener, "leftover", record=record, group=int(np.argmin(near)), distance=float(near.min()))
    return Partition.of([(group, weights[group].tolist()) for group in groups if group])


METHOD = registered(
    Method(
        name="adaptive microaggregation",
        title="Semantic adaptive microaggregation",
        function=adaptive_microaggregation,
        runner=by_columns,
        family="microaggregation",
        place=2,
        short="words that repeat a lot",
        intent="Group similar records and never tear equal ones apart, so that common values stay as they are.",
        use=("columns of words that repeat a lot",),
        avoid=("every record must be true", "columns of numbers: hardly any value repeats"),
        inputs=("the columns to protect", "a taxonomy for columns of words", "k"),
        guarantee="k-anonymity by construction.",
        cost="As microaggregation, on distinct records.",
        paper="Martínez, Sánchez and Valls 2012.",
        example="Twenty nurses stay nurses; the only bishop joins the vicars.",
        truthful=False,
        blocks="every column",
        classes="sizes",
        promises=(PROBABILISTIC,),
        falls_short=NOT_SENSITIVE,
        fillings={
            "distance": Filling("semantic", "words by their meaning, equal records always together"),
            "representative": Filling("centre", "the most typical of its values"),
        },
        fit=Fit(
            points=4.5,
            reason="k-anonymity, and common words are released as they are",
            unfit=((lambda s: "numeric" in s.others, "it is for values that repeat a lot"), UNKNOWN_NEARNESS),
        ),
    )
)
