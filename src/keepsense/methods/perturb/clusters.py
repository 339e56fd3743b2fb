"""Clusters of values near in meaning: how they are found for a swap, swapped, and returned as cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints
from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.methods.method_flowchart import Filling
from keepsense.methods.records import cells_of
from keepsense.methods.task import Importance, importances
from keepsense.progress import Listener, emit, wants_steps
from keepsense.recoding import Cells
from keepsense.semantics.attribute import MATRIX_CELLS, Attribute, check_same_rows

if TYPE_CHECKING:
    from keepsense.methods.perturb.cluster_kernels import Views


_TIE = 1e-9
_NEWS = 2_000
Step = Callable[[int, Floats, Ints, float], int]
"""Deals with one reference, given what is seen from it, and returns the next, or -1."""
Steps = Callable[[int, int, "Views"], int]
"""Deals with references until one sees from a new value or so many steps are full, and returns the next, or -1."""


def check_swap(counts: Counts, attributes: Sequence[Attribute], k: int, *, least: int = 2) -> None:
    """Refuse what no swap can be made of: too small or too large a k, a column with one value, a foreign column."""
    if not attributes:
        raise BadInput("no column was given to swap; name at least one")
    names = [a.name for a in attributes]
    if len(set(names)) != len(names):
        raise BadInput(f"a column is given twice among {', '.join(names)}")
    check_same_rows(counts, attributes)
    n = counts.total
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < least:
        raise BadInput(f"k = {k!r}: k must be a whole number of at least {least}")
    if k >= n:
        raise BadInput(f"k = {k}: k must be smaller than the number of rows, {n}")
    for attribute in attributes:
        if int((attribute.weights > 0).sum()) < 2:
            raise BadInput(f"column {attribute.name!r} holds one value only; there is nothing to swap")


@dataclass(frozen=True)
class Exchange:
    """One step of a swap: a reference, the records near it, who it changed places with in each column, how far.

    A column in which nobody near was left has no partner; one in which the reference had been swapped is not named.
    """

    reference: int
    near: Ints
    partners: Mapping[str, int | None]
    distance: float | None


class ClusterWalk:
    """Distinct tuples with their records, and the walk from reference to reference at opposite ends."""

    def __init__(
        self,
        attributes: Sequence[Attribute],
        codes: NDArray[np.int32],
        weights: NDArray[np.int64],
        importance: Importance | None = None,
    ) -> None:
        from keepsense.methods.perturb.cluster_kernels import WalkState

        m = len(attributes)
        # The attribute with most values leads: the search for the farthest tuple goes through its values.
        self.lead = sorted(range(m), key=lambda j: -len(attributes[j].values))
        self.attributes = [attributes[j] for j in self.lead]
        self.importance = importances([a.name for a in self.attributes], importance).tolist()
        codes = codes[:, self.lead]
        used = np.flatnonzero(weights)
        self.sorting = used[np.argsort(codes[used, 0], kind="stable")]
        codes, weights = np.ascontiguousarray(codes[self.sorting]), weights[self.sorting]
        sizes = [len(a.values) for a in self.attributes]
        n, tuples = int(weights.sum()), len(weights)
        start = np.concatenate(([0], np.cumsum(weights))).astype(np.int64)
        owner = np.repeat(np.arange(tuples, dtype=np.int32), weights)
        records = np.arange(n, dtype=np.int32)
        offset = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        values = np.concatenate([np.bincount(codes[:, j], weights, sizes[j]) for j in range(m)]).astype(np.int64)
        listed = np.stack([np.argsort(codes[:, j], kind="stable") for j in range(m)]).astype(np.int32)
        ranges = [np.searchsorted(codes[listed[j], j], np.arange(sizes[j] + 1)) for j in range(m)]
        first = np.concatenate(ranges).astype(np.int64)
        self.weights = weights
        self.steps: list[Exchange] = []
        self.state = WalkState(
            codes=codes,
            weights=weights,
            listed=listed,
            first=first,
            start=start,
            owner=owner,
            perm=np.tile(records, (m + 1, 1)),
            where=np.tile(records, (m + 1, 1)),
            left=np.tile(weights, (m + 1, 1)),
            live=records.copy(),
            live_at=records.copy(),
            live_values=values,
            offset=offset,
            near=np.diff(first[: sizes[0] + 1]),
            standing=np.arange(tuples, dtype=np.int32),
            standing_at=np.arange(tuples, dtype=np.int32),
            beside=np.ascontiguousarray(codes[:, 1:].T),
            pending=np.full(n, m, dtype=np.int32),
            out=codes[owner],
            radius=np.full(tuples, -1.0),
            members=np.empty(tuples, dtype=np.int32),
            total=np.empty(tuples + 1, dtype=np.int64),
            stamp=np.zeros(n, dtype=np.int64),
            sampled=np.empty(n, dtype=np.int32),
            heap_far=np.empty(tuples + 2),
            heap_size=np.empty(tuples + 2, dtype=np.int64),
            away=np.empty(tuples),
            most=np.empty(sizes[0]),
            at=np.empty(m, dtype=np.int64),
            tally=np.array([n, 0] + [0] * max(1, m), dtype=np.int64),
        )
        self._views = self._empty_views(sizes)

    @staticmethod
    def _empty_views(sizes: Sequence[int]) -> Views:
        """Tables of what is seen from each value, where they fit; nobody has looked yet."""
        from keepsense.methods.perturb.cluster_kernels import Views

        cells = [size**2 for size in sizes]
        held = sum(cells) if max(cells) <= MATRIX_CELLS else 0
        return Views(
            far=np.empty(held),
            near=np.full(held, -1, dtype=np.int32),
            begin=np.concatenate(([0], np.cumsum(cells[:-1]))).astype(np.int64),
            sizes=np.array(sizes, dtype=np.int64),
            rows=np.zeros((len(sizes), max(sizes))),
            orders=np.zeros((len(sizes), max(sizes)), dtype=np.int32),
            tie=_TIE,
        )

    def see(self, record: int) -> tuple[Floats, Ints, float]:
        """Distances from a record's values to all values, each attribute's values nearest first, and what ties."""
        views, codes = self._views, self.state.codes[self.state.owner[record]]
        for j, attribute in enumerate(self.attributes):
            value, size = int(codes[j]), len(attribute.values)
            if not len(views.near):
                views.rows[j, :size] = attribute.row(value) * self.importance[j]
                views.orders[j, :size] = attribute.order(value)
                continue
            at = int(views.begin[j]) + value * size
            if views.near[at] < 0:
                views.far[at : at + size] = attribute.row(value) * self.importance[j]
                views.near[at : at + size] = attribute.order(value)
            views.rows[j, :size] = views.far[at : at + size]
            views.orders[j, :size] = views.near[at : at + size]
        return views.rows, views.orders, _TIE * max(1.0, float(views.rows.max()))

    def outermost(self, rng: np.random.Generator) -> int:
        """A record of the tuple farthest from all rows (Eq. 5.1, 5.6), drawn where several tie."""
        total = np.zeros(len(self.weights))
        for j, attribute in enumerate(self.attributes):
            total += self.importance[j] * attribute.totals()[self.state.codes[:, j]]
        ties = np.flatnonzero(total >= total.max() - _TIE * max(1.0, float(total.max())))
        share = self.weights[ties] / self.weights[ties].sum()
        chosen = int(rng.choice(ties, p=share))
        return int(self.state.start[chosen] + rng.integers(self.weights[chosen]))

    def go(self, rng: np.random.Generator, step: Step, steps: Steps, listener: Listener | None) -> None:
        """Take references at opposite ends until every record is dealt with.

        `steps` makes many at once where what is seen from each value can be held, and `step` one, for listeners that
        want every step and where it cannot.
        """
        n, one_by_one = len(self.state.owner), wants_steps(listener) or not len(self._views.near)
        ref = self.outermost(rng)
        while ref >= 0:
            seen = self.see(ref)
            if one_by_one:
                at, was = ref, self.free() if wants_steps(listener) else None
                ref = step(ref, *seen)
                if was is not None:
                    self.steps.append(self._exchange(at, was))
            else:
                ref = steps(ref, _NEWS, self._views)
            if self.state.tally[1] % _NEWS == 0:
                emit(listener, "swap", n - int(self.state.tally[0]), n)
        emit(listener, "swap", n, n)

    def _exchange(self, record: int, was: NDArray[np.bool_]) -> Exchange:
        """What happened in the step just made, from who was unswapped before it."""
        changed = was & ~self.free()
        partners: dict[str, int | None] = {}
        moved = []
        for j, lead in enumerate(np.argsort(self.lead).tolist()):
            attribute = self.attributes[lead]
            others = np.flatnonzero(changed[:, j])
            others = others[others != record]
            if changed[record, j]:
                partners[attribute.name] = int(others[0]) if len(others) else None
            if changed[record, j] and len(others):
                a, b = self.state.codes[self.state.owner[[record, others[0]]], lead].tolist()
                moved.append(float(attribute.row(a)[b]))
        return Exchange(record, self.cluster(record), partners, float(np.mean(moved)) if moved else None)

    def tell(self, listener: Listener | None, source: Ints, dealt: NDArray[np.int64]) -> None:
        """Tell a listener that wants every step what happened in each; `dealt` gives the record of `source` each is."""
        names = [self.attributes[lead].name for lead in np.argsort(self.lead).tolist()]
        for number, found in enumerate(self.steps):
            partners = {name: None if at is None else int(dealt[at]) for name, at in found.partners.items()}
            emit(listener, "exchange", number + 1, len(self.steps), columns=names, source=source, first=number == 0,
                 reference=int(dealt[found.reference]), near=dealt[found.near].tolist(), partners=partners,
                 distance=found.distance)  # fmt: skip

    def free(self) -> NDArray[np.bool_]:
        """Which records are still unswapped, by attribute as given; the last column: still to be dealt with at all."""
        state = self.state
        standing: NDArray[np.bool_] = (state.where - state.start[state.owner] < state.left[:, state.owner]).T
        return standing[:, [*np.argsort(self.lead), len(self.lead)]]

    def cluster(self, record: int) -> Ints:
        """Records that were near enough to change places with a reference in the step just made."""
        state = self.state
        rows, _, tol = self.see(record)
        far = sum(rows[j, state.codes[state.owner, j]] for j in range(len(self.lead)))
        radius = state.radius[state.owner[record]]
        drawn = state.stamp == state.tally[1]
        tied = np.abs(far - radius) <= tol
        near = (far < radius - tol) | (tied & drawn if drawn.any() else tied)
        near[record] = False
        return np.flatnonzero(near).astype(np.int32)

    def released(self) -> NDArray[np.int32]:
        """Codes each record gets, attributes in the order they were given."""
        out: NDArray[np.int32] = self.state.out[:, np.argsort(self.lead)]
        return out

    def source(self) -> Ints:
        """Distinct tuple of each record, numbered as they were given."""
        found: Ints = self.sorting[self.state.owner].astype(np.int32)
        return found

    @property
    def in_place(self) -> NDArray[np.int64]:
        """Records left in place because their whole cluster was swapped already, by attribute as given."""
        found: NDArray[np.int64] = self.state.tally[2 : 2 + len(self.lead)][np.argsort(self.lead)]
        return found


def to_cells(
    counts: Counts,
    attributes: Sequence[Attribute],
    source: Ints,
    out: NDArray[np.int32],
    info: dict[str, Any],
    groups: NDArray[np.int32] | None = None,
) -> Cells:
    """Allocations from what each record gets; rows whose value stays as it was are counted in `info["unchanged"]`."""
    names = tuple(a.name for a in attributes)
    before = np.stack([counts.column(name)[source] for name in names], axis=1)
    same = before == out
    facts = {
        "unchanged": {name: int(same[:, j].sum()) for j, name in enumerate(names)},
        "unchanged_rows": int(same.all(axis=1).sum()),
        **info,
    }
    return cells_of(names, tuple(a.values for a in attributes), source, out, facts, groups)


# Words that several methods share in their descriptions

EXTREME = Filling("extremes", "the record farthest from the one before, beginning at the edge")
ONE = Filling("one draw", "Let it change places with one of them that is not yet swapped, drawn at random")
SWAP_INPUTS = (
    "the columns to protect",
    "a taxonomy for columns of words",
    "k, how many near records may change places",
)
NOT_PROMISED = "None beforehand; risk is measured afterwards. For a promise use strict rank swapping."


def run_clusters(walk: ClusterWalk, k: int, rng: np.random.Generator, listener: Listener | None) -> ClusterWalk:
    """Swap a walk's records inside clusters of k around references at opposite ends, all attributes of each."""
    from keepsense.methods.perturb.cluster_kernels import swap_step, swap_steps

    def step(ref: int, rows: Floats, orders: Ints, tol: float) -> int:
        return int(swap_step(rng, ref, k, tol, rows, orders, walk.state))

    def steps(ref: int, most: int, views: Views) -> int:
        return int(swap_steps(rng, ref, k, most, walk.state, views))

    walk.go(rng, step, steps, listener)
    return walk
