"""The MR template: divide the space of tuples until no group can be divided and still keep the promise.

One round looks at all groups at once. In every dimension the groups' tuples are sorted, every place where a group could
be cut is scored, and the best is taken if both parts keep the promise (LeFevre et al. 2006; Ben Fredj et al. 2015 call
the category MR). What is parameterized: how cuts are scored, which dimension goes first, and strict or relaxed cuts.
The first cuts may be given (`keepsense.methods.generalize.user_cuts`): below them it goes on as usual.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts, Histogram, Value, histogram
from keepsense.errors import BadInput, Infeasible
from keepsense.methods.generalize.dimension import Cutting, Dimension, Flags, Floats, Longs, Score, Settle, median
from keepsense.methods.generalize.joint_loss_gain import WonBack, divided_together
from keepsense.methods.generalize.user_cuts import GivenCuts
from keepsense.privacy.k_anonymity import KAnonymity, ProbabilisticKAnonymity
from keepsense.privacy.privacy_model import Model, bind
from keepsense.progress import Listener, emit, wants_steps
from keepsense.recoding import Cells

# Spans of groups in every dimension, and their released values

Spans = tuple[NDArray[Any], NDArray[Any]]


def spans_of(ranks: NDArray[Any], group: NDArray[Any], number: int) -> Spans:
    """Lowest and highest rank of each group in every dimension.

    >>> low, high = spans_of(np.array([[0], [3], [1]]), np.array([0, 1, 0]), 2)
    >>> low.ravel().tolist(), high.ravel().tolist()
    ([0, 3], [1, 3])
    """
    order = np.argsort(group, kind="stable")
    start = np.searchsorted(group[order], np.arange(number))
    sorted_ranks = ranks[order]
    return np.minimum.reduceat(sorted_ranks, start), np.maximum.reduceat(sorted_ranks, start)


def released(
    dimensions: Sequence[Dimension], lows: NDArray[Any], highs: NDArray[Any], group: NDArray[Any]
) -> tuple[NDArray[np.int32], tuple[tuple[Value, ...], ...]]:
    """The code of each tuple in every dimension, where its group is released as its span, and the dictionaries.

    >>> from keepsense.methods.generalize.dimension import numeric
    >>> ages = numeric("age", (31, 35, 40, 44))
    >>> released([ages], np.array([[0], [2]]), np.array([[1], [2]]), np.array([0, 0, 1, 1]))[1]
    (('under 40', '40 or more'),)
    """
    codes = np.empty((len(group), len(dimensions)), dtype=np.int32)
    dictionaries: list[tuple[Value, ...]] = []
    for j, dimension in enumerate(dimensions):
        low, high = lows[:, j].astype(np.int64), highs[:, j].astype(np.int64)
        spans, back = np.unique(low * len(dimension.width) + high, return_inverse=True)
        names = dimension.name_of(spans // len(dimension.width), spans % len(dimension.width))
        place: dict[Value, int] = {}
        code = np.array([place.setdefault(name, len(place)) for name in names], dtype=np.int32)
        codes[:, j] = code[back][group]
        dictionaries.append(tuple(place))
    return codes, tuple(dictionaries)


# Division

Order = Literal["widest", "given", "best"]
"""Which dimension a group is cut in: its widest, the first that can be cut, or that of the best score."""

_MANY = 20_000
"""Tuples from which on sorted orders are kept from round to round."""


def divide(  # noqa: PLR0913
    counts: Counts,
    dimensions: Sequence[Dimension],
    models: Sequence[Model],
    *,
    score: Score = median,
    order: Order = "widest",
    branches: bool = False,
    relaxed: bool = False,
    gain: bool = False,
    cuts: Mapping[str, str] | None = None,
    settle: Settle | None = None,
    method: str = "division",
    scored: str = "score",
    listener: Listener | None = None,
) -> Cells:
    """Divide the tuples of some counts and release each group as the span it covers.

    `branches` cuts nominal columns only below their group's least common ancestor, so that whole branches part.
    `relaxed` cuts at exactly half of the records, dealing records of one value to both sides. With `gain`, a cut whose
    score is not above 0 is not made. `cuts` says at which columns the whole table and its parts are cut first; tuples
    that such a cut parts stay apart. `settle` betters the groups in the end. A listener that wants every step hears of
    each `cut` with the two parts, what each is released as, and the score of each column, which `scored` names. Cost:
    rounds (about log2 of the number of groups) x dimensions x one sort.

    >>> from keepsense.methods.generalize.dimension import numeric
    >>> from keepsense.privacy.k_anonymity import KAnonymity
    >>> counts = Counts.of({"age": [31, 35, 40, 44]})
    >>> cells = divide(counts, [numeric("age", counts.values[0])], [KAnonymity(2)])
    >>> [cells.values[0][c] for c in cells.codes[:, 0]]
    ['under 40', 'under 40', '40 or more', '40 or more']
    """
    work = _Division(counts, dimensions, models, relaxed, scored, cuts)
    rounds = work.run(score, order, branches, gain, listener)
    work.settle(settle, listener)
    return work.cells(method, rounds)


def groups(
    counts: Counts,
    dimensions: Sequence[Dimension],
    models: Sequence[Model],
    *,
    score: Score = median,
    order: Order = "best",
    settle: Settle | None = None,
) -> Longs:
    """The group of each tuple after a division: for methods that go on from there.

    >>> from keepsense.methods.generalize.dimension import numeric
    >>> from keepsense.privacy.k_anonymity import KAnonymity
    >>> counts = Counts.of({"age": [31, 35, 40, 44]})
    >>> groups(counts, [numeric("age", counts.values[0])], [KAnonymity(2)]).tolist()
    [0, 0, 1, 1]
    """
    work = _Division(counts, dimensions, models, relaxed=False)
    work.run(score, order, branches=False, gain=False, listener=None)
    work.settle(settle)
    return work.final


class _Division:
    """Tuples (parts of split ones included), the group each is in, and which groups are closed."""

    def __init__(
        self,
        counts: Counts,
        dimensions: Sequence[Dimension],
        models: Sequence[Model],
        relaxed: bool,
        scored: str = "score",
        cuts: Mapping[str, str] | None = None,
    ) -> None:
        self.counts = counts
        self.scored = scored
        self.dimensions = dimensions
        self.models = bind(models, counts)
        self.relaxed = relaxed
        self.columns = sorted({name for model in self.models for name in model.columns})
        plain = KAnonymity | ProbabilisticKAnonymity
        self.least = max([1, *(m.k for m in self.models if isinstance(m, plain))])
        self.rest = [m for m in self.models if not isinstance(m, plain)]
        self.source = np.arange(len(counts), dtype=np.int64)
        self.weights = np.array(counts.weights)
        self.spans: tuple[NDArray[Any], NDArray[Any]] | None = None
        self.final = np.full(len(counts), -1, dtype=np.int64)
        self.closed = 0
        self.active = np.arange(len(counts), dtype=np.int64)
        self.group = np.zeros(len(counts), dtype=np.int64)
        self.refused = np.zeros((1, len(dimensions)), dtype=np.bool_)
        self.given = GivenCuts(cuts, [d.name for d in dimensions], len(counts))
        self._orders: list[Longs | None] = [None] * len(dimensions)
        self._label = np.zeros(len(counts), dtype=np.int64)

    @cached_property
    def ranks(self) -> Longs:
        """The place of each tuple in every dimension."""
        ranks = [d.rank[self.counts.column(d.name)].astype(np.int64) for d in self.dimensions]
        return np.stack(ranks, axis=1) if ranks else np.empty((len(self.counts), 0), np.int64)

    def run(self, score: Score, order: Order, branches: bool, gain: bool, listener: Listener | None) -> int:
        """Cut until nothing can be cut; returns the number of rounds."""
        self.check()
        self.order = order
        told = wants_steps(listener) and not self.relaxed  # a relaxed cut may deal a tuple to both parts
        if told:
            emit(listener, "whole", 0, self.counts.total, part=self._part(self.active))
        compiled = None if told else self._compiled(score, order, branches or gain, listener)
        rounds = 0
        while len(self.active):
            if compiled is not None and not self.given.waiting:
                return rounds + max(compiled(tuples) for tuples in self._groups())
            self.given.insist(self.refused)
            views = [self.view(j) for j in range(len(self.dimensions))]
            dimension, place, scores = self.choose(views, score, order, branches, gain)
            self._refuse_uncut(views, dimension)
            was = self.active, self.group
            side, made = self.cut(views, dimension, place)
            if told and listener is not None:
                self._tell(listener, was, side, dimension, made, scores)
            cuts = int(made.sum())
            rounds += 1
            emit(listener, "round", self.settled, self.counts.total, round=rounds, cuts=cuts, groups=self.closed)
        return rounds

    def settle(self, better: Settle | None, listener: Listener | None = None) -> None:
        """Better the groups in place; relaxed cuts, which part tuples, are left as they are."""
        if better is None or self.relaxed:
            return
        before = self.final.copy()
        for tuples in self._regions():
            there, final = np.unique(self.final[tuples], return_inverse=True)
            good = partial(self.satisfied, tuples, size=len(there))
            better(self.ranks[tuples], self.weights[tuples], final, self.least, good)
            self.final[tuples] = there[final]
        moved = before != self.final
        self.spans = None if moved.any() else self.spans
        if moved.any() and wants_steps(listener):
            changed = np.unique(np.concatenate((before[moved], self.final[moved]))).tolist()
            parts = [self._part(np.flatnonzero(self.final == group)) for group in changed]
            emit(listener, "improve", self.counts.total, self.counts.total, changed=int(moved.sum()), parts=parts)

    def _compiled(
        self, score: Score, order: Order, otherwise: bool, listener: Listener | None
    ) -> Callable[[Longs], int] | None:
        """What divides a group in one compiled loop, into the same groups far sooner; None where no loop fits."""
        if otherwise or self.relaxed:
            return None
        if score is median and order != "best" and not self.rest:
            return lambda tuples: self._halved(tuples, order == "widest", listener)
        needed = [model.different for model in self.rest]
        if isinstance(score, WonBack) and order == "best" and None not in needed:
            return lambda tuples: self._won_back(tuples, score, [each for each in needed if each is not None], listener)
        return None

    def _groups(self) -> Iterator[Longs]:
        """The tuples of each group that is not closed; none of them is active any more."""
        tuples, sizes = self.active, np.bincount(self.group)
        self.active = self.active[:0]
        if len(sizes) > 1:
            tuples = tuples[np.argsort(self.group, kind="stable")]
        yield from np.split(tuples, np.cumsum(sizes)[:-1])

    def _places(self, tuples: Longs) -> Any:
        """What picks the tuples out of arrays, without a copy where it is all of them."""
        return slice(None) if len(tuples) == len(self.counts) else tuples

    def _regions(self) -> Iterator[Longs]:
        """The tuples that no given cut has parted."""
        region = self.given.region
        if not len(region):
            yield np.arange(len(self.final), dtype=np.int64)
        for number in range(int(region.max(initial=-1)) + 1):
            yield np.flatnonzero(region == number)

    def _halved(self, tuples: Longs, widest: bool, listener: Listener | None) -> int:
        """The plainest case: strict medians and k alone."""
        from keepsense.methods.generalize.division_kernels import halve

        width = np.zeros((len(self.dimensions), max(len(d.width) for d in self.dimensions)))
        for j, dimension in enumerate(self.dimensions):
            width[j, : len(dimension.width)] = dimension.width * dimension.importance
        places = self._places(tuples)
        ranks = np.ascontiguousarray(self.ranks[places], dtype=np.int32)
        final = np.empty(len(tuples), dtype=np.int64)
        groups, rounds = halve(ranks, self.weights[places], width, self.least, widest, final)
        self.final[places] = self.closed + final
        self.closed += int(groups)
        emit(listener, "round", self.settled, self.counts.total, round=rounds, groups=self.closed)
        return int(rounds)

    def _won_back(
        self, tuples: Longs, score: WonBack, needed: Sequence[tuple[str, int]], listener: Listener | None
    ) -> int:
        """What all columns win back, under k and different values alone."""
        places, whole = self._places(tuples), len(tuples) == len(self.counts)
        ranks = [d.rank[self.counts.column(d.name)[places]] for d in self.dimensions]
        alone = np.arange(0 if whole else len(tuples))
        values = [
            (self.counts.histograms[name] if whole else self._histogram(name, tuples, alone, len(alone)), least)
            for name, least in needed
        ]
        earlier, closed = self.settled, self.closed

        def told(settled: int, groups: int) -> None:
            emit(listener, "round", earlier + settled, self.counts.total, groups=closed + groups)

        weights = self.weights[places]
        found = divided_together(ranks, weights, self.dimensions, score.tables, self.least, values, told)
        self.final[places] = closed + found.final if closed else found.final
        self.closed += found.number
        if closed == 0:
            self.spans = found.low, found.high
        elif self.spans is not None:  # those of groups that were closed otherwise are not known
            self.spans = np.concatenate((self.spans[0], found.low)), np.concatenate((self.spans[1], found.high))
        return found.rounds

    @property
    def settled(self) -> int:
        """Records in closed groups."""
        return int(self.weights[self.final >= 0].sum())

    def check(self) -> None:
        """Refuse what cannot be divided, by name."""
        if not len(self.counts):
            raise BadInput("the table has no rows; there is nothing to anonymize")
        if not self.models:
            raise BadInput("no privacy model is given; name at least one, for instance KAnonymity(5)")
        for name in self.columns:
            if name in self.counts.names:
                raise BadInput(f"column {name!r} is a quasi-identifier and sensitive; choose one role")
            if name not in self.counts.histograms:
                raise BadInput(f"a model needs the values of column {name!r} in each class; count it along")
        if self.relaxed and self.columns:
            raise BadInput("relaxed cuts deal equal records at random; they keep promises about k alone")
        if not self.satisfied(self.active, self.group, 1)[0]:
            raise Infeasible(
                "even the whole table as one class does not keep the promise",
                relax=("ask for a smaller k", "relax the promise about sensitive values"),
            )

    def satisfied(self, tuples: Longs, group: Longs, size: int) -> Flags:
        """Whether each of `size` groups keeps every promise."""
        weights = np.bincount(group, self.weights[tuples], size).astype(np.int64)
        good = weights >= self.least
        tables = {name: self._histogram(name, tuples, group, size) for name in self.columns}
        for model in self.rest:
            good = good & model.satisfied(weights, tables)
        return good

    def _histogram(self, name: str, tuples: Longs, group: Longs, size: int) -> Histogram:
        table = self.counts.histograms[name]
        source = self.source[tuples]
        sizes = table.rows.sizes[source].astype(np.int64)
        first = np.repeat(table.rows.starts[:-1][source] - np.concatenate(([0], np.cumsum(sizes)[:-1])), sizes)
        where = first + np.arange(int(sizes.sum()))
        return histogram(table.values, table.rows.indices[where], np.repeat(group, sizes), table.counts[where], size)

    # ---- one round -----------------------------------------------------------------------------------------------

    def view(self, j: int) -> Cutting:
        """The active tuples sorted by group and by rank in one dimension."""
        tuples, group = self._sorted(j)
        rank = self.ranks[tuples, j]
        start = np.concatenate(([0], np.cumsum(np.bincount(group, minlength=len(self.refused)))[:-1]))
        run = np.cumsum(self.weights[tuples])
        ends = np.append(start[1:], len(tuples)) - 1
        base = np.where(start > 0, run[start - 1], 0)
        total = run[ends] - base
        return Cutting(
            self.dimensions[j],
            tuples,
            group,
            start,
            rank,
            run - base[group],
            total[group],
            rank[start],
            rank[ends],
            self.ranks,
        )

    def _sorted(self, j: int) -> tuple[Longs, Longs]:
        """The active tuples by group and by rank in one dimension, and their groups."""
        if self.relaxed or len(self.counts) < _MANY:
            order = np.lexsort((self.ranks[self.active, j], self.group))
            return self.active[order], self.group[order]
        if self._orders[j] is None:
            self._orders[j] = self.active[np.lexsort((self.ranks[self.active, j], self.group))]
        tuples = self._orders[j]
        assert tuples is not None
        return tuples, self._label[tuples]

    def _regroup(self) -> None:
        """Bring what is sorted already into the order of the new groups, in one pass a dimension instead of a sort."""
        from keepsense.methods.generalize.division_kernels import regroup

        self._label[:] = -1
        self._label[self.active] = self.group
        sizes = np.bincount(self.group, minlength=len(self.refused))
        start = np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.int64)
        for j, tuples in enumerate(self._orders):
            if tuples is not None:
                self._orders[j] = regroup(tuples, self._label, start, len(self.active))

    def choose(
        self, views: Sequence[Cutting], score: Score, order: Order, branches: bool, gain: bool
    ) -> tuple[Longs, Longs, Floats]:
        """For each active group the dimension it is cut in (-1: none), the place of the cut there, and all scores."""
        groups = len(self.refused)
        best = np.full(groups, -np.inf)
        dimension, place = np.full(groups, -1, dtype=np.int64), np.zeros(groups, dtype=np.int64)
        scores = np.full((groups, len(views)), -np.inf)
        for j, view in enumerate(views):
            quality = np.where(self._allowed(view, j, branches), score(view), -np.inf)
            if gain:
                quality[quality <= 1e-12] = -np.inf
            top = np.maximum.reduceat(quality, view.start)
            first = np.flatnonzero(quality == top[view.group])
            once = np.searchsorted(first, view.start)  # the first place of each group; views are sorted by group
            if order == "best":
                value = top * view.dimension.importance
            elif order == "widest":
                value = view.dimension.width[view.high] - view.dimension.width[view.low]
                value = value * view.dimension.importance
            else:
                value = np.full(groups, -float(j))
            scores[:, j] = np.where(np.isfinite(top), value, -np.inf)
            better = np.isfinite(top) & (value > best)
            best[better], dimension[better], place[better] = value[better], j, first[once][better]
        return dimension, place, scores

    def _allowed(self, view: Cutting, j: int, branches: bool) -> Flags:
        """Cuts between different values that leave enough records on both sides."""
        free = ~self.refused[view.group, j]
        if self.relaxed:
            whole: Flags = (view.total >= 2 * self.least) & (view.low < view.high)[view.group] & free
            return whole
        between = np.zeros(len(view.rank), dtype=np.bool_)
        between[:-1] = (view.group[1:] == view.group[:-1]) & (view.rank[1:] != view.rank[:-1])
        allowed: Flags = between & free & (view.left >= self.least) & (view.total - view.left >= self.least)
        if branches and len(view.dimension.joint) and view.dimension.joint.any():
            at = np.flatnonzero(allowed)
            height = view.dimension.height_of(view.low, view.high)
            here = view.dimension.height_of(view.rank[at], view.rank[at + 1])
            allowed[at[here < height[view.group[at]]]] = False
        return allowed

    def _refuse_uncut(self, views: Sequence[Cutting], dimension: Longs) -> None:
        """Refuse given cuts for which there is no place."""
        for group, j in self.given.asked(dimension < 0):
            alike = views[j].low[group] == views[j].high[group]
            few = f"one of its parts would have fewer than {self.least:,} records"
            self.given.refuse(group, "nothing tells its records apart there" if alike else few)

    def _refuse_broken(self, wrong: Flags, side: Longs) -> None:
        """Refuse given cuts whose parts break a promise, and name the promise."""
        for group, _ in self.given.asked(wrong):
            mine = self.group == group
            tables = {name: self._histogram(name, self.active[mine], side[mine], 2) for name in self.columns}
            weights = np.bincount(side[mine], self.weights[self.active[mine]], 2).astype(np.int64)
            broken = next(model for model in self.rest if not model.satisfied(weights, tables).all())
            self.given.refuse(group, f"one of its parts would break the promise that {_within(broken.describe())}")

    def cut(self, views: Sequence[Cutting], dimension: Longs, place: Longs) -> tuple[Longs, Flags]:
        """Part the groups; close those that cannot be cut, and refuse cuts whose parts break a promise.

        Returns on which side of its group's cut each active tuple was, and which groups were cut.
        """
        side = self._sides(views, dimension, place)
        groups = len(dimension)
        good = dimension >= 0
        if self.rest and good.any():
            parts = self.satisfied(self.active, 2 * self.group + side, 2 * groups)
            wrong = good & ~(parts[0::2] & parts[1::2])
            self._refuse_broken(wrong, side)
            self.refused[wrong, dimension[wrong]] = True
            side[wrong[self.group]] = 0
        else:
            wrong = np.zeros(groups, dtype=np.bool_)
        beyond = {g: self.active[(self.group == g) & (side == 1)] for g, _ in self.given.asked(good & ~wrong)}
        closing = ~good
        number = np.cumsum(closing) - 1 + self.closed
        done = closing[self.group]
        self.final[self.active[done]] = number[self.group[done]]
        self.closed += int(closing.sum())
        kept = 2 * self.group[~done] + side[~done]
        self.active = self.active[~done]
        there = np.bincount(kept, minlength=2 * groups) > 0
        used, self.group = np.flatnonzero(there), (np.cumsum(there) - 1)[kept]
        fresh = np.zeros((len(used), len(self.dimensions)), dtype=np.bool_)
        again = wrong[used // 2]
        fresh[again] = self.refused[used[again] // 2]
        self.refused = fresh
        if self.given.columns:
            self.given.made(used, good & ~wrong, {} if self.relaxed else beyond)
        if not self.relaxed and len(self.counts) >= _MANY:
            self._regroup()
        return side, good & ~wrong

    def _tell(
        self, listener: Listener, was: tuple[Longs, Longs], side: Longs, dimension: Longs, made: Flags, scores: Floats
    ) -> None:
        """Tell of each group that was cut: in which column, into which parts, and what each column scored."""
        tuples, group = was
        names = [d.name for d in self.dimensions]
        for g in np.flatnonzero(made).tolist():
            mine = group == g
            parts = [self._part(tuples[mine & (side == part)]) for part in (0, 1)]
            offered = {name: s for name, s in zip(names, scores[g].tolist(), strict=True) if np.isfinite(s)}
            chosen = int(dimension[g])
            emit(listener, "cut", self.settled, self.counts.total, column=names[chosen], parts=parts,
                 score=float(scores[g, chosen]), scores=offered, scored=self.scored, order=self.order)  # fmt: skip

    def _part(self, tuples: Longs) -> tuple[Longs, tuple[Value, ...]]:
        """Some tuples, and what they are released as where they are a group."""
        ranks = self.ranks[tuples]
        spans = zip(self.dimensions, ranks.min(axis=0), ranks.max(axis=0), strict=True)
        return tuples, tuple(d.name_of(np.array([low]), np.array([high]))[0] for d, low, high in spans)

    def _sides(self, views: Sequence[Cutting], dimension: Longs, place: Longs) -> Longs:
        """0 for tuples left of their group's cut, 1 for those right of it."""
        if self.relaxed:
            return self._halves(views, dimension)
        chosen = dimension[self.group]
        rank = np.zeros(len(dimension), dtype=np.int64)
        for j, view in enumerate(views):
            mine = dimension == j
            rank[mine] = view.rank[place[mine]]
        mine = np.take_along_axis(self.ranks[self.active], np.maximum(chosen, 0)[:, None], axis=1)[:, 0]
        return ((chosen >= 0) & (mine > rank[self.group])).astype(np.int64)

    def _halves(self, views: Sequence[Cutting], dimension: Longs) -> Longs:
        """Exactly half of each group's records on each side; the tuple in the middle is divided."""
        side = np.zeros(len(self.source), dtype=np.int64)
        added: list[tuple[int, int, int]] = []
        for j, view in enumerate(views):
            here = dimension[view.group] == j
            half = view.total // 2
            before = view.left - self.weights[view.tuples]
            side[view.tuples[here & (before >= half)]] = 1
            for i in np.flatnonzero(here & (before < half) & (view.left > half)).tolist():
                t, keep = int(view.tuples[i]), int(half[i] - before[i])
                added.append((t, int(self.weights[t]) - keep, int(view.group[i])))
                self.weights[t] = keep
        if added:
            origin, weight, group = (np.array(column, dtype=np.int64) for column in zip(*added, strict=True))
            new = np.arange(len(self.source), len(self.source) + len(added))
            self.source = np.concatenate((self.source, self.source[origin]))
            self.weights = np.concatenate((self.weights, weight))
            self.ranks = np.concatenate((self.ranks, self.ranks[origin]))
            self.final = np.concatenate((self.final, np.full(len(added), -1)))
            self.active = np.concatenate((self.active, new))
            self.group = np.concatenate((self.group, group))
            side = np.concatenate((side, np.ones(len(added), dtype=np.int64)))
        return side[self.active]

    def cells(self, method: str, rounds: int) -> Cells:
        """Every group released as what it spans."""
        spans = spans_of(self.ranks, self.final, self.closed) if self.spans is None else self.spans
        codes, dictionaries = released(self.dimensions, *spans, self.final)
        info: Mapping[str, Any] = {"method": method, "classes": self.closed, "rounds": rounds}
        names = tuple(d.name for d in self.dimensions)
        return Cells(names, dictionaries, self.source, codes, self.weights, None, info).bound(self.counts)


def _within(promise: str) -> str:
    """A promise inside a sentence.

    >>> _within("Every class has 2 different values.")
    'every class has 2 different values'
    """
    return f"{promise[:1].lower()}{promise[1:].removesuffix('.')}"
