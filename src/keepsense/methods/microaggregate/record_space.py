"""Distances of records, centres of groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints
from keepsense.counts import Counts, Value
from keepsense.errors import BadInput
from keepsense.methods.microaggregate.mdav import Partition
from keepsense.methods.task import Importance, importances
from keepsense.recoding import Cells
from keepsense.semantics.attribute import Attribute, Nominal, Ordered, check_same_rows

Candidates = Literal["values", "subsumers"]
_TIE = 1e-9


def median_position(attribute: Ordered, codes: NDArray[Any], weights: NDArray[Any]) -> int:
    """Lower median of ordered values, as a code (Torra 2004); a median is one of the values, unlike a mean.

    >>> sizes = Ordered.of(Counts.of({"size": ["s", "m", "l"]}), "size", levels=["s", "m", "l"])
    >>> median_position(sizes, np.array([0, 1, 2]), np.array([1, 1, 2]))
    1
    """
    order = np.argsort(attribute.positions[codes], kind="stable")
    upto = np.cumsum(weights[order])
    return int(codes[order[np.searchsorted(2 * upto, upto[-1])]])


@dataclass(frozen=True, eq=False)
class Centre:
    """Centres of all groups in one column: their codes in a dictionary, and each centre's distances to the values.

    >>> Centre((30.5,), np.array([0, 0]), lambda code: np.zeros(2)).values
    (30.5,)
    """

    values: tuple[Value, ...]
    codes: NDArray[np.int64]
    row: Any


def centres(
    attribute: Attribute, codes: Ints | NDArray[np.int64], partition: Partition, candidates: Candidates = "values"
) -> Centre:
    """Centre of each group of records in one column; `codes` are the records' values.

    Numbers: the mean. Ordered categories: the lower median. Words: the candidate with the least sum of distances to the
    group (of equals the first): any value of the column, or with `subsumers` also any concept above one (Martínez et
    al. 2012), which needs a taxonomy and may release values that the column did not have.

    >>> ages = Ordered.of(Counts.of({"age": [20, 30, 60]}), "age")
    >>> parts = Partition(np.array([0, 0, 1]), np.array([0, 1, 2]), np.array([1, 3, 2]))
    >>> centres(ages, np.array([0, 1, 2]), parts).values
    (27.5, 60.0)
    """
    if candidates not in ("values", "subsumers"):
        raise BadInput(f"candidates for a centre are 'values' or 'subsumers', not {candidates!r}")
    if isinstance(attribute, Ordered):
        return _ordered(attribute, codes, partition)
    return _nominal(attribute, codes, partition, candidates)


def _ordered(attribute: Ordered, codes: NDArray[Any], partition: Partition) -> Centre:
    if attribute.levels is not None:
        chosen = [median_position(attribute, codes[records], copies) for records, copies in partition]
        return Centre(attribute.values, np.array(chosen, dtype=np.int64), attribute.row)
    sizes = partition.sizes
    held = attribute.positions[codes[partition.record]]
    means = np.bincount(partition.group, held * partition.copies, len(partition)) / np.maximum(sizes, 1)
    # Rounding noise of a mean over equal values would make a value of its own.
    means = np.array([float(f"{mean:.12g}") for mean in means.tolist()])
    distinct, where = np.unique(means, return_inverse=True)

    def row(code: int) -> Floats:
        away: Floats = np.abs(attribute.positions - distinct[code]) / attribute.span
        return away

    return Centre(tuple(distinct.tolist()), where.astype(np.int64), row)


def _nominal(attribute: Attribute, codes: NDArray[Any], partition: Partition, candidates: Candidates) -> Centre:
    """Sums of distances group by group: a row of the matrix for each distinct value of the group."""
    if candidates == "values":
        rows: dict[int, Floats] = {}
        chosen = _least(codes, partition, lambda value: rows.setdefault(value, attribute.row(value)))
        return Centre(attribute.values, chosen, attribute.row)
    if not isinstance(attribute, Nominal):
        raise BadInput(f"column {attribute.name!r}: candidates='subsumers' needs a taxonomy")
    distance, concepts = attribute.bound()
    taxonomy = distance.taxonomy
    above = taxonomy.closure(concepts, taxonomy.parents)
    # the column's own values first, so that they win ties
    options = np.concatenate([concepts, above[~np.isin(above, concepts)]]).astype(np.int32)
    table = distance.matrix(options, concepts)
    chosen = _least(codes, partition, lambda value: table[:, value])
    spelled = (*attribute.values, *attribute.spell(options[len(concepts) :]))
    return Centre(spelled, chosen, lambda code: table[code])


def _least(codes: NDArray[Any], partition: Partition, column: Any) -> NDArray[np.int64]:
    found = np.empty(len(partition), dtype=np.int64)
    for g, (records, copies) in enumerate(partition):
        values, where = np.unique(codes[records], return_inverse=True)
        weight = np.bincount(where, copies)
        total = sum(w * column(int(v)) for v, w in zip(values, weight, strict=True))
        found[g] = int(np.flatnonzero(total <= total.min() + _TIE * max(1.0, float(total.min())))[0])
    return found


def to_cells(
    counts: Counts, columns: Sequence[tuple[Attribute, Centre]], partition: Partition, info: dict[str, Any]
) -> Cells:
    """The recoding that replaces every record by its group's centres.

    >>> counts = Counts.of({"age": [20, 30]})
    >>> ages = Ordered.of(counts, "age")
    >>> parts = Partition(np.array([0, 0]), np.array([0, 1]), np.array([1, 1]))
    >>> to_cells(counts, [(ages, centres(ages, counts.column("age"), parts))], parts, {}).values
    ((25.0,),)
    """
    codes = np.stack([centre.codes[partition.group] for _, centre in columns], axis=1).astype(np.int32)
    cells = Cells(
        tuple(attribute.name for attribute, _ in columns),
        tuple(centre.values for _, centre in columns),
        partition.record,
        codes,
        partition.copies,
        info=info,
    )
    cells.check(counts)
    return cells


def squared_error(counts: Counts, columns: Sequence[tuple[Attribute, Centre]], partition: Partition) -> float:
    """Sum over records and columns of the squared distance to the group's centre (SSE).

    >>> counts = Counts.of({"age": [20, 30, 40]})
    >>> ages = Ordered.of(counts, "age")
    >>> parts = Partition(np.array([0, 0, 0]), np.array([0, 1, 2]), np.array([1, 1, 1]))
    >>> squared_error(counts, [(ages, centres(ages, counts.column("age"), parts))], parts)
    0.5
    """
    total = 0.0
    for attribute, centre in columns:
        codes = counts.column(attribute.name)[partition.record]
        target = centre.codes[partition.group]
        order = np.argsort(target, kind="stable")
        used, first = np.unique(target[order], return_index=True)
        for code, some in zip(used.tolist(), np.split(order, first[1:]), strict=True):
            total += float(partition.copies[some] @ centre.row(code)[codes[some]] ** 2)
    return total


# Records with one value a column: numbers, ordered categories and words

_UNIT = float(1 << 36)


class RecordSpace:
    """Distinct records of several columns; the distance of two is the mean over columns of the squared distances.

    For numbers that is the squared Euclidean distance of MDAV (Rodríguez-García 2017, Sec. 2.3.2.3) on columns scaled
    by their `span`; words add the square of their semantic distance, ordered categories that of their ranks; those of a
    column count by its `importance`. The centre
    is the mean of numbers, the median of ordered categories, and of words the value of the column least distant from
    all. A pass reads each record once, a column at a time.

    >>> counts = Counts.of({"age": [20, 30, 40]})
    >>> RecordSpace(counts, [Ordered.of(counts, "age")]).from_record(0).tolist()
    [0.0, 0.25, 1.0]
    """

    noise = 1e-12

    def __init__(self, counts: Counts, attributes: Sequence[Attribute], importance: Importance | None = None) -> None:
        if not attributes:
            raise BadInput("microaggregation needs at least one column")
        check_same_rows(counts, attributes)
        self.attributes = tuple(attributes)
        self._importance = importances([attribute.name for attribute in attributes], importance).tolist()
        sizes = [len(attribute.values) for attribute in attributes]
        self._offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        codes = np.stack([counts.column(attribute.name) for attribute in attributes], axis=1)
        self._codes = codes.astype(np.int64)
        self._layout()
        self._reach = np.zeros(int(self._offsets[-1]))
        self._counts: list[NDArray[np.int64]] = []
        self._totals: list[NDArray[np.int64] | None] = []

    def _layout(self) -> None:
        n, width = self._codes.shape
        self._items = np.ascontiguousarray(self._codes + self._offsets[:-1], dtype=np.int32).reshape(-1)
        self._starts = np.arange(0, (n + 1) * width, width, dtype=np.int32)
        self._out = np.empty(n)

    def __len__(self) -> int:
        return len(self._codes)

    def from_record(self, record: int) -> Floats:
        """Distances of all records to one; good until the next call."""
        return self._pass([a.row(int(c)) for a, c in zip(self.attributes, self._codes[record], strict=True)])

    def _pass(self, rows: Sequence[Floats]) -> Floats:
        from keepsense.sets.set_kernels import mean_pass

        for j, row in enumerate(rows):
            reach = self._reach[self._offsets[j] : self._offsets[j + 1]]
            np.square(row, out=reach)
            reach *= self._importance[j]
        mean_pass(self._starts, self._items, self._reach, self._out)
        return self._out

    # ---- the centre ----------------------------------------------------------------------------------------------

    def start(self, left: NDArray[np.int64]) -> None:
        """Count the values of the records that are left, and for words add up distances."""
        self._counts, self._totals = [], []
        for j, attribute in enumerate(self.attributes):
            count = np.bincount(self._codes[:, j], left, len(attribute.values)).astype(np.int64)
            self._counts.append(count)
            totals = None
            if not isinstance(attribute, Ordered):
                totals = np.zeros(len(count), dtype=np.int64)
                for value in np.flatnonzero(count).tolist():
                    totals += count[value] * np.rint(attribute.row(value) * _UNIT).astype(np.int64)
            self._totals.append(totals)

    def leave(self, record: int, copies: int, known: Floats | None = None) -> None:
        """Take some copies of a record out of the counts."""
        for j, attribute in enumerate(self.attributes):
            value = int(self._codes[record, j])
            self._counts[j][value] -= copies
            totals = self._totals[j]
            if totals is not None:
                totals -= copies * np.rint(attribute.row(value) * _UNIT).astype(np.int64)

    def from_centre(self, left: NDArray[np.int64]) -> Floats:
        """Distances of all records to the centre of what is left; good until the next call."""
        return self._pass([self._from_centre(j) for j in range(len(self.attributes))])

    def _from_centre(self, j: int) -> Floats:
        attribute, count, totals = self.attributes[j], self._counts[j], self._totals[j]
        if totals is not None or not isinstance(attribute, Ordered):
            assert totals is not None
            return attribute.row(int(np.argmin(totals)))
        if attribute.levels is not None:
            return attribute.row(median_position(attribute, np.arange(len(count)), count))
        mean = count @ attribute.positions / max(1, int(count.sum()))
        away: Floats = np.abs(attribute.positions - mean) / attribute.span
        return away

    def from_values(self, rows: Sequence[Floats]) -> Floats:
        """Distances of all records to a point that is known by its distances to each column's values."""
        return self._pass(rows)

    def keep(self, records: NDArray[np.int64]) -> None:
        """Go on with some of the records only, numbered anew in their order."""
        self._codes = self._codes[records]
        self._layout()
