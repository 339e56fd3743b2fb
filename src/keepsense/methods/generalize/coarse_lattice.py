"""Lattice search over more tuples than fit in memory: nodes are judged on coarser codes first.

Rows are counted at some level of each column, as fine as memory allows. A node above these levels is judged exactly.
Any other node is judged by the node where both meet from above: records that have to be suppressed there have to be
suppressed at the finer node, too, so that it fails if that one fails. Only where that leaves it open, rows are counted
again, at levels that the node lies above. The search takes the same way and finds the same node, with the same loss to
the last bit, as if all tuples were in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts, Histogram
from keepsense.counts_out_of_core import LargeCounts, first_alike, joined
from keepsense.errors import TooLarge
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize import lattice_loops
from keepsense.methods.generalize.lattice_space import Node, Store
from keepsense.methods.generalize.lattice_template import LatticeSearch, new_store
from keepsense.methods.generalize.objective import Metric
from keepsense.methods.task import Importance
from keepsense.privacy.privacy_model import Model

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_TABLES = 3
"""Class tables as large as the counted one that must fit: itself, one that is merged, and what it becomes."""
_BUFFERS = 41
"""Bytes that merging takes beside, for each tuple."""
_A_PAIR = 24
"""Bytes of a sensitive value under a tuple, while histograms are put together."""
_CAREFUL = 0.8
"""Part of what fits that estimates may fill."""
_TRIED = 4
"""Levels for which it is estimated how many tuples there are, before some are counted."""


@dataclass(frozen=True, eq=False)
class Base:
    """Tuples counted at one level of each column: from them every node above is made.

    `suppressed` keeps what nodes above suppress that were asked for others.
    """

    levels: Ints
    store: Store
    histograms: Mapping[str, Histogram]
    suppressed: dict[Node, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return int(self.store.length[0])

    def below(self, node: Ints) -> bool:
        """Whether a node lies above these levels, so that it is judged exactly."""
        return bool((self.levels <= node).all())


class CoarseSearch(LatticeSearch):
    """A search whose tuples are counted at coarser codes, and again where that leaves a node open.

    >>> from keepsense.engines.protocol import engine
    >>> from keepsense.hierarchies.hierarchy import Hierarchy
    >>> from keepsense.privacy.k_anonymity import KAnonymity
    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")])
    >>> with engine("duckdb") as duck:
    ...     counts = duck.recounted(duck.read({"job": ["nurse", "nurse", "surgeon", "clerk"]}), ["job"])
    ...     CoarseSearch(counts, {"job": jobs}, [KAnonymity(2)], suppression=0.25).check((1,))
    Verdict(node=(1,), holds=True, suppressed=1, classes=1, value=0.625)
    """

    held = False

    def __init__(
        self,
        counts: LargeCounts,
        hierarchies: Mapping[str, Hierarchy],
        models: Sequence[Model],
        *,
        suppression: float = 0.0,
        metric: Metric = "loss",
        importance: Importance | None = None,
    ) -> None:
        super().__init__(counts, hierarchies, models, suppression=suppression, metric=metric, importance=importance)
        self.large = counts
        self.scans = 0
        self._bases: list[Base] = []
        self._merged, self._careful = 0, _CAREFUL
        self._keys: NDArray[np.uint64] | None = None
        self._sizes: Ints | None = None
        if self.objective.losses.leafwise:
            raise TooLarge(f"{self.objective.name!r} depends on the values that were; {counts.refused()}")

    # ---- what the search is built on -------------------------------------------------------------------------------

    @property
    def plain(self) -> bool:
        """Whether the tuples that are held are so few that nothing need be compiled for them."""
        return lattice_loops.suits(max(map(len, self._bases), default=0), self.space.size)

    @property
    def store(self) -> Any:
        """Arena of the class tables that were made of the tuples looked at last."""
        if not self._bases:
            raise self.large.refused()
        return self._bases[-1].store

    @property
    def counted(self) -> Mapping[str, Histogram]:
        """Histograms of those tuples."""
        return self._bases[-1].histograms if self._bases else {}

    @property
    def merged(self) -> int:
        """Classes that were looked at to make others of them."""
        return self._merged + sum(int(base.store.fill[2]) for base in self._bases)

    def begin(self, low: Ints) -> None:
        """Nothing is counted before a node is asked about."""

    def rule_out_pairs(self, start: Ints, fine: NDArray[np.bool_]) -> None:
        """Say in `fine` which two levels of two columns can go together, from pairs of the rows themselves."""
        space = self.space
        tables = [space.table(j) for j in range(len(space.names))]
        within = [min(int(level), height) for level, height in zip(start.tolist(), space.heights, strict=True)]
        through = [table[:, level].astype(np.int64) for table, level in zip(tables, within, strict=True)]

        def pair(a: int, b: int) -> Floats:
            return self.large.table.pair(a, b, through).astype(np.float64)

        lattice_loops.judge_pairs(pair, tables, space.levels, start, self.required.k, self.required.limit, fine)

    # ---- one node --------------------------------------------------------------------------------------------------

    def figures(self, node: Ints) -> tuple[Floats, Ints]:
        """What suppression adds to the loss of each column at a node, and what was counted of its classes.

        Of a node that fails by a coarser one, only what that one suppresses is told.
        """
        self._keys = self._sizes = None
        if self._exact(node):
            return super().figures(node)
        least = self._least_suppressed(node)
        if self._may_hold(least):
            self._count_for(node)
            if self._exact(node):
                return super().figures(node)
            least = self._least_suppressed(node)
        if self._may_hold(least):
            return self._in_parts(node)
        self.checks += 1
        return np.zeros(len(node)), np.array([least, 0, 0, 0, 0, 0])

    def _may_hold(self, suppressed: int) -> bool:
        return bool(suppressed <= self.goal.limit and suppressed < self.goal.total)

    def _exact(self, node: Ints) -> bool:
        """Whether tuples are held from which a node is judged exactly; the fewest are taken."""
        fitting = [base for base in self._bases if base.below(node)]
        if fitting:
            self._take(min(fitting, key=len))
        return bool(fitting)

    def _take(self, base: Base) -> None:
        """Look at these tuples from now on; those that nobody looked at for longest are given up first."""
        self._bases.remove(base)
        self._bases.append(base)

    def _least_suppressed(self, node: Ints) -> int:
        """Records that must be suppressed at a node, as far as the tuples that are held tell."""
        most = 0
        for base in self._bases:
            levels = np.maximum(node, base.levels)
            above = tuple(levels.tolist())
            if above not in base.suppressed:
                place = self.loops.table_of(self.space.levels, base.store, levels, False)
                base.suppressed[above] = int(self.loops.mark_bad(base.store, self.goal, place))
            most = max(most, base.suppressed[above])
            if not self._may_hold(most):
                break
        return most

    # ---- counting --------------------------------------------------------------------------------------------------

    @property
    def _row(self) -> int:
        """Bytes of a class in a table."""
        return 8 * (int(self.space.keys.shape[1]) + 1 + int(self.goal.need_at[-1]))

    @property
    def _each(self) -> int:
        """Bytes that a tuple takes where it is held, with the tables that are made of it."""
        further = _A_PAIR * len(self.large.histograms) * 2 if self.required.rest else 0
        return _TABLES * self._row + _BUFFERS + further

    @property
    def most(self) -> int:
        """Tuples that may be held at once."""
        return max(1, self.large.table.room // self._each)

    @property
    def _room(self) -> float:
        """Tuples that an estimate may promise."""
        return self._careful * self.most

    def _count_for(self, node: Ints) -> None:
        """Count the tuples at levels below a node, or above it where nothing is held yet and those do not fit."""
        tuples = self._about(node)
        levels: Ints | None = None
        if tuples <= self._room:
            levels, tuples = self._lower(node, tuples)
        elif not self._bases:
            levels, tuples = self._higher(node)
        if levels is None or not self._make_room(levels, tuples):
            return
        base = self._held(levels.copy(), self.most - sum(map(len, self._bases)))
        if base is None:
            self._careful /= 2
        else:
            self._bases.append(base)

    def _make_room(self, levels: Ints, tuples: int) -> bool:
        """Give up tuples that nobody looked at for longest, unless they serve more open nodes than new ones would."""
        kept = list(self._bases)
        while kept and sum(map(len, kept)) + tuples / self._careful > self.most:
            # the node is judged in parts then, which models that are asked about all classes do not allow
            if not self.required.rest and self._waiting(kept[0].levels) > self._waiting(levels):
                return False
            kept.pop(0)
        for base in self._bases[: len(self._bases) - len(kept)]:
            self._merged += int(base.store.fill[2])
        self._bases = kept
        return True

    def _waiting(self, levels: Ints) -> int:
        """Open nodes that lie above some levels."""
        if "nodes" not in vars(self):
            return 0
        is_open = (self.nodes.bound < self.nodes.best[0]).reshape(self.space.levels.heights + 1)
        return int(np.count_nonzero(is_open[tuple(slice(level, None) for level in levels.tolist())]))

    def _about(self, levels: Ints) -> int:
        return self.large.table.about(self._through(levels))

    def _through(self, levels: Ints) -> list[NDArray[Any] | None]:
        """For each value of each column the first one of the same group at a level."""
        found: list[NDArray[Any] | None] = []
        for raw, level in zip(self.space.raw, levels.tolist(), strict=True):
            found.append(None if level == 0 else first_alike(raw[:, level]))
        return found

    def _lower(self, node: Ints, tuples: int) -> tuple[Ints, int]:
        """The lowest levels below a node that fit, and how many tuples there are: most open nodes lie above them."""
        if "nodes" not in vars(self):  # nobody searches: it is asked about this node alone
            return node, tuples
        entropy = self.space.levels.entropy
        is_open = (self.nodes.bound < self.nodes.best[0]).reshape(self.space.levels.heights + 1)
        levels, room = node, np.log2(self._room)
        for _ in range(_TRIED):
            lower = _lowered(levels, is_open, entropy, room - np.log2(max(1, tuples)))
            if (lower == levels).all():
                break
            about = self._about(lower)
            if about > self._room:  # as much too fine as the estimate is too large: take that back
                room -= np.log2(about) - np.log2(self._room)
            else:
                levels, tuples = lower, about
        return levels, tuples

    def _higher(self, node: Ints) -> tuple[Ints | None, int]:
        """Levels above a node that fit, and how many tuples there are; None where not even the top ones do."""
        entropy, heights = self.space.levels.entropy, self.space.levels.heights
        levels = node.copy()
        while (levels < heights).any():
            up = [j for j in range(len(levels)) if levels[j] < heights[j]]
            # the finest columns first: they part most, and are coarse in the end anyway
            column = max(up, key=lambda j: float(entropy[j, levels[j]]))
            levels[column] += 1
            if self._bits(levels) <= np.log2(self.most) + 4 and (tuples := self._about(levels)) <= self._room:
                return levels, tuples
        return None, 0

    def _bits(self, levels: Ints) -> float:
        return float(sum(self.space.levels.entropy[j, level] for j, level in enumerate(levels.tolist())))

    def _packed(self, part: Counts, levels: Ints, keys: NDArray[np.uint64]) -> None:
        """Pack the tuples of a part at some levels."""
        packed = self.space.levels
        keys[:] = 0
        for j, level in enumerate(levels.tolist()):
            codes = self.space.table(j)[:, level].astype(np.uint64)[part.codes[:, j]]
            keys[:, packed.word[j]] |= (codes & packed.mask[j]) << packed.shift[j]

    def _held(self, levels: Ints, most: int) -> Base | None:
        """The tuples at some levels, counted and packed; None where there are more than may be."""
        self.scans += 1
        rows = _TABLES * most + 2  # what is not written to takes no memory
        keys = np.empty((rows, self.space.keys.shape[1]), np.uint64)
        weights = np.empty(rows, np.int64)
        seen = np.empty((rows, int(self.goal.need_at[-1])), np.uint64)
        kept, n = list[Counts](), 0
        for part in self.large.coarser(self._through(levels), self._along):
            end = n + len(part)
            if end > most:
                return None
            self._packed(part, levels, keys[n:end])
            weights[n:end] = part.weights
            self.mark_seen(part, seen[n:end])
            n = end
            if self.required.rest:
                kept.append(part)
        whole = joined(kept).histograms if kept else {}
        rows = _TABLES * n + 2
        return Base(levels, new_store(keys[:rows], weights[:rows], seen[:rows], n, levels), whole)

    @property
    def _along(self) -> tuple[str, ...]:
        """Columns whose values are counted under each tuple."""
        if self.required.rest:
            return tuple(self.large.histograms)
        return tuple(column for column, _ in self.required.distinct)

    def _in_parts(self, node: Ints) -> tuple[Floats, Ints]:
        """The figures of a node whose classes are too many to be held: part by part, until it fails."""
        if self.required.rest:
            raise TooLarge(f"{self.required.rest[0].name} is about all classes together; {self.large.refused()}")
        self.checks += 1
        self.scans += 1
        self.place = -1
        top = bool((node == self.space.levels.heights).all())  # of which all is told where nothing holds
        found, bad, sizes = np.zeros(6, np.int64), list[tuple[NDArray[np.uint64], Ints]](), list[Ints]()
        for part in self.large.coarser(self._through(node), self._along):
            store = self._store_of(part, node)
            self.loops.mark_bad(store, self.goal, 0)
            counted = self._figures_of(store, node)[1]
            found += counted
            bad.append((store.keys[store.bad], store.weights[store.bad]))
            if top:
                sizes.append(part.weights)
            if found[0] > self.goal.limit and not top:
                return np.zeros(len(node)), found
        # what is lost is the same to the last bit where all classes that are suppressed are added up together
        self._keys, weights = (np.concatenate(arrays) for arrays in zip(*bad, strict=True))
        self._sizes = np.concatenate(sizes) if top else None
        n = len(weights)
        store = new_store(self._keys, weights, np.empty((n, int(self.goal.need_at[-1])), np.uint64), n, node)
        store.bad[:] = True
        return self._figures_of(store, node)[0], found

    def _store_of(self, part: Counts, levels: Ints) -> Store:
        n = len(part)
        keys, weights = np.empty((n, self.space.keys.shape[1]), np.uint64), part.weights.copy()
        seen = np.empty((n, int(self.goal.need_at[-1])), np.uint64)
        self._packed(part, levels, keys)
        self.mark_seen(part, seen)
        return new_store(keys, weights, seen, n, levels)

    def _figures_of(self, store: Store, node: Ints) -> tuple[Floats, Ints]:
        penalty, found = np.zeros(len(node)), np.zeros(6, np.int64)
        self.loops.evaluate(self.space.levels, store, self.objective.losses, self.goal, 0, node, penalty, found)
        return penalty, found

    def suppressed_keys(self) -> NDArray[np.uint64]:
        """Keys of the classes that the node which was judged last suppresses."""
        return super().suppressed_keys() if self._keys is None else self._keys

    def class_sizes(self) -> Ints:
        """Records of each class of the node that was judged last."""
        return super().class_sizes() if self._sizes is None else self._sizes


def _lowered(levels: Ints, is_open: NDArray[np.bool_], entropy: Floats, bits: float) -> Ints:
    """Lower levels, a step at a time, as long as tuples become no more than so many bits more: what most wait for."""
    levels = levels.copy()
    while True:
        choices = []
        for j in np.flatnonzero(levels > 0).tolist():
            cost = float(entropy[j, levels[j] - 1] - entropy[j, levels[j]])
            if cost > bits:
                continue
            box = tuple(slice(int(low), None) if i != j else int(low) - 1 for i, low in enumerate(levels.tolist()))
            gained = int(np.count_nonzero(is_open[box]))
            if gained:
                choices.append((gained / max(cost, 1e-9), -j, cost))
        if not choices:
            return levels
        _, column, cost = max(choices)
        levels[-column] -= 1
        bits -= cost


def lattice_search(
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy],
    models: Sequence[Model],
    *,
    suppression: float = 0.0,
    metric: Metric = "loss",
    importance: Importance | None = None,
) -> LatticeSearch:
    """A search on the tuples at hand, or on coarser codes where there are more than memory may hold.

    >>> from keepsense.privacy.k_anonymity import KAnonymity
    >>> jobs = Hierarchy.of_rows([("nurse", "medic"), ("surgeon", "medic")])
    >>> type(lattice_search(Counts.of({"job": ["nurse"]}), {"job": jobs}, [KAnonymity(1)])).__name__
    'LatticeSearch'
    """
    if isinstance(counts, LargeCounts):
        return CoarseSearch(counts, hierarchies, models, suppression=suppression, metric=metric, importance=importance)
    return LatticeSearch(counts, hierarchies, models, suppression=suppression, metric=metric, importance=importance)
