"""MDAV: groups of k around the records that lie farthest out, for sets and for ordinary records.

The template only asks a *space* how far records are from its centre or from one another, so it knows nothing of words
or numbers. Records are distinct and weighted: of a record that occurs ten times, some copies may go into one group and
some into the next, just as ten equal rows would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, frozen
from keepsense.errors import BadInput, Infeasible
from keepsense.progress import Listener, emit, wants_steps

_STEP = 256


class Space(Protocol):
    """What MDAV must know of the records: distances to their centre and between them.

    `left[i]` is the number of copies of record i that are ungrouped. Distances of records with none left do not count,
    and an array that is handed out may be overwritten by the next call.

    >>> from keepsense.arrays import Rows
    >>> from keepsense.sets.item_distances import ItemDistances
    >>> from keepsense.sets.set_distance import SetSpace
    >>> space: Space = SetSpace("average", ItemDistances(None, opaque=3), Rows.from_pairs([0, 1, 1], [0, 0, 1], 2))
    >>> space.start(np.array([2, 1]))
    >>> space.from_centre(np.array([2, 1])).round(3).tolist()
    [0.0, 0.5]
    """

    noise: float
    """Distances that differ by less are equal; of equal records the first is taken."""

    def start(self, left: NDArray[np.int64]) -> None:
        """Get ready for the records that are left."""

    def from_centre(self, left: NDArray[np.int64]) -> Floats:
        """Distances of the records to the centroid of what is left."""

    def from_record(self, record: int) -> Floats:
        """Distances of the records to one of them."""

    def leave(self, record: int, copies: int, known: Floats | None = None) -> None:
        """Some copies of a record were grouped; `known` are its distances where they are at hand."""

    def keep(self, records: NDArray[np.int64]) -> None:
        """Go on with these records only, numbered anew in their order."""


@dataclass(frozen=True, eq=False)
class Partition:
    """Groups of records: `copies[j]` copies of `record[j]` are in `group[j]`; groups are numbered from 0.

    >>> parts = Partition(np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([2, 1, 3]))
    >>> len(parts), parts.sizes.tolist(), [r.tolist() for r, _ in parts]
    (2, [3, 3], [[0, 1], [1]])
    """

    group: NDArray[np.int64]
    record: NDArray[np.int64]
    copies: NDArray[np.int64]

    def __post_init__(self) -> None:
        for array in (self.group, self.record, self.copies):
            frozen(array)

    def __len__(self) -> int:
        return int(self.group[-1]) + 1 if len(self.group) else 0

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Records, copies counted, in each group."""
        return np.bincount(self.group, self.copies, len(self)).astype(np.int64)

    def __iter__(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Records and copies of each group."""
        bounds = np.flatnonzero(np.diff(self.group, prepend=-1, append=len(self)))
        for start, stop in pairwise(bounds.tolist()):
            yield self.record[start:stop], self.copies[start:stop]

    @classmethod
    def of(cls, groups: list[tuple[list[int], list[int]]]) -> Partition:
        """From a list of groups, each the records and the copies."""
        sizes = [len(records) for records, _ in groups]
        return cls(
            np.repeat(np.arange(len(groups), dtype=np.int64), sizes),
            np.array([r for records, _ in groups for r in records], dtype=np.int64),
            np.array([c for _, copies in groups for c in copies], dtype=np.int64),
        )


def check_size(k: object, total: int, what: str = "microaggregation") -> int:
    """The least size of a group, checked against the number of records.

    >>> check_size(5, 3)
    Traceback (most recent call last):
    ...
    keepsense.errors.Infeasible: microaggregation: 3 records cannot form a group of k = 5
    """
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 2:
        raise BadInput(f"{what}: k must be a whole number of at least 2, not {k!r}")
    if total < k:
        raise Infeasible(
            f"{what}: {total:,} record{'' if total == 1 else 's'} cannot form a group of k = {k}",
            relax=("a smaller k", "more records"),
        )
    return int(k)


Refine = Callable[[dict[int, int], Floats, NDArray[np.int64], NDArray[np.int64]], None]
"""Changes a group before it is final: its records and copies, distances from its first record, what is left, names."""


def mdav(
    space: Space,
    weights: NDArray[np.int64],
    k: int,
    *,
    refine: Refine | None = None,
    listener: Listener | None = None,
) -> Partition:
    """Partition records into groups of k, the last of k to 2k - 1 (Domingo-Ferrer and Mateo-Sanz 2002).

    As Batet et al. 2014 (Sec. 3) tell it. Each round: find the centroid of the ungrouped records and the record r
    farthest from it; group r with its k - 1 nearest; then group the record farthest from r with its k - 1 nearest.
    After every group, if fewer than 2k records are left, they are the last group. Of equally far records the first
    counts, so the same distinct records in the same order give the same groups. Use it as the default: groups are tight
    and all but the last have exactly k records. The cost is about n / k rounds of four passes over what is left.
    `refine` may exchange records of each group for others, one for one, before it is final.

    >>> from keepsense.arrays import Rows
    >>> from keepsense.sets.item_distances import ItemDistances
    >>> from keepsense.sets.set_distance import SetSpace
    >>> baskets = Rows.from_pairs([0, 0, 1, 2, 3], [0, 1, 0, 2, 2], 4)
    >>> parts = mdav(SetSpace("average", ItemDistances(None, opaque=3), baskets), np.ones(4, np.int64), 2)
    >>> [records.tolist() for records, _ in parts]
    [[0, 1], [2, 3]]
    """
    from keepsense.methods.microaggregate.microaggregation_kernels import farthest

    left = np.array(weights, dtype=np.int64)
    total = check_total = int(left.sum())
    k = check_size(k, total)
    grouping = _Grouping(space, left, refine, listener)
    if total >= 2 * k:
        space.start(grouping.left)
    while total >= 2 * k:
        first = farthest(space.from_centre(grouping.left), grouping.left, space.noise)
        second = grouping.around(first, k, "the centre")
        total -= k
        if total >= 2 * k:
            grouping.around(second, k, "the last one")
            total -= k
        grouping.tidy()
        if len(grouping.groups) % _STEP < 2:
            emit(listener, "groups", check_total - total, check_total, groups=len(grouping.groups))
    grouping.rest()
    emit(listener, "groups", check_total, check_total, groups=len(grouping.groups))
    return Partition.of(grouping.groups)


class _Grouping:
    """Groups so far, and the records that are left under the numbers the space now knows them by."""

    def __init__(self, space: Space, left: NDArray[np.int64], refine: Refine | None, listener: Listener | None) -> None:
        self.space = space
        self.listener = listener
        self.refine = refine
        self.left = left
        self.names = np.arange(len(left), dtype=np.int64)
        self.groups: list[tuple[list[int], list[int]]] = []
        self.gone = 0

    def around(self, seed: int, k: int, far_from: str) -> int:
        """Group a record with its k - 1 nearest; returns the record that is now farthest from it, or -1."""
        from keepsense.methods.microaggregate.microaggregation_kernels import farthest, nearest

        left, space = self.left, self.space
        distances = space.from_record(seed)
        left[seed] -= 1
        taken = {seed: 1}
        need = k - 1
        for record in nearest(distances, left, need, space.noise).tolist():
            copies = min(need, int(left[record]))
            left[record] -= copies
            taken[record] = taken.get(record, 0) + copies
            need -= copies
            if not need:
                break
        if self.refine is not None:
            self.refine(taken, distances, left, self.names)
        other = int(farthest(distances, left, space.noise))
        if wants_steps(self.listener):
            emit(self.listener, "group", seed=int(self.names[seed]), far_from=far_from,
                 records=self.names[list(taken)], copies=list(taken.values()),
                 distance=max(float(distances[record]) for record in taken))  # fmt: skip
        self.gone += sum(not left[record] for record in taken)
        # Handing the seed's distances on only saves a pass; they are good until another record is asked for.
        for record, copies in sorted(taken.items(), key=lambda pair: pair[0] != seed):
            space.leave(record, copies, distances if record == seed else None)
        self.groups.append((self.names[list(taken)].tolist(), list(taken.values())))
        return other

    def tidy(self) -> None:
        """Let go of records that are all grouped, once they are an eighth of what is looked at."""
        if 8 * self.gone < len(self.left):
            return
        self.gone = 0
        alive = np.flatnonzero(self.left)
        if len(alive) < len(self.left):
            self.space.keep(alive)
            self.left = self.left[alive]
            self.names = self.names[alive]

    def rest(self) -> None:
        """Everything left is the last group."""
        alive = np.flatnonzero(self.left)
        if len(alive):
            self.groups.append((self.names[alive].tolist(), self.left[alive].tolist()))
            emit(self.listener, "group", seed=None, far_from="", records=self.names[alive],
                 copies=self.groups[-1][1], distance=None)  # fmt: skip
