"""The joint loss of all columns as the score of a cut: its tables for compiled loops, and division by that score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints
from keepsense.counts import Histogram
from keepsense.methods.generalize.dimension import Dimension
from keepsense.utility.generalization_losses import importance_of

if TYPE_CHECKING:
    from keepsense.methods.generalize.dimension import Cutting

Longs = NDArray[np.int64]
Tables = tuple[Floats, Longs, Ints, Floats, Longs]
"""What spans of all columns lose, as kernels take it: weights, levels, labels, losses, where each column begins."""

_FEW = 256
"""Ranks of a column up to which what every span of them loses is worked out beforehand."""
_AT_ONCE = 20_000_000
"""Tuples that are looked at before a listener hears how far it is: some seconds."""
_BITS = 63
"""Bits of a word in which ranks stand side by side."""
_DEEP = 128
"""Groups that can be waiting: one for each time that a table of any size can be halved, and some."""


def tables_of(space: Sequence[Dimension], importance: Sequence[float]) -> Tables:
    """The tables of some dimensions, whose losses count by their importance.

    >>> from keepsense.methods.generalize.dimension import numeric
    >>> [len(table) for table in tables_of([numeric("age", (30, 31, 40))], [1.0])]
    [1, 1, 6, 6, 1]
    """
    tables = [(d.levels, d.losses) for d in space if d.levels is not None and d.losses is not None]
    weight = np.array([importance_of(len(d.width), each) for d, each in zip(space, importance, strict=True)])
    levels = np.array([level.shape[1] for level, _ in tables], dtype=np.int64)
    losses = np.concatenate([loss.ravel() for _, loss in tables])
    # numbers have no labels, but places shall agree in both tables
    labels = [(level if level.shape[1] else np.zeros(loss.shape, np.int32)).ravel() for level, loss in tables]
    first = np.cumsum([0, *(loss.size for _, loss in tables)])[:-1]
    return weight, levels, np.concatenate(labels), losses, first


@dataclass(frozen=True, eq=False)
class WonBack:
    """How much less all columns lose after each cut; where that is equal, the more even cut is better.

    >>> from keepsense.methods.generalize.dimension import numeric
    >>> WonBack(tables_of([numeric("age", (30, 31, 40))], [1.0])).tables[1].tolist()
    [0]
    """

    tables: Tables

    def __call__(self, cutting: Cutting) -> Floats:
        """The score of each cut of a round, column by column."""
        from keepsense.methods.generalize.joint_loss_kernels import lost_beside

        left, right = lost_beside(cutting.tuples, cutting.start, cutting.ranks, self.tables)
        ends = np.append(cutting.start[1:], len(cutting.tuples)) - 1
        share = cutting.left / cutting.total
        balance = 1.0 - np.abs(2.0 * share - 1.0)
        won: Floats = left[ends][cutting.group] - share * left - (1.0 - share) * right + 1e-6 * balance
        return won


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of a division: the one of each tuple, the span of each in every column, and the rounds it took.

    >>> Groups(np.array([0, 0, 1]), np.array([[0], [2]]), np.array([[1], [2]]), 2).number
    2
    """

    final: Longs
    low: NDArray[Any]
    high: NDArray[Any]
    rounds: int

    @property
    def number(self) -> int:
        """How many groups there are."""
        return len(self.low)


def divided_together(
    ranks: Sequence[NDArray[Any]],
    weights: Longs,
    dimensions: Sequence[Dimension],
    tables: Tables,
    least: int,
    values: Sequence[tuple[Histogram, int]],
    told: Callable[[int, int], None],
) -> Groups:
    """Groups that nothing is won back by cutting, or that would be too small or too much alike after it.

    `ranks` are those of each tuple, column by column. Each group holds at least `least` records, and of each histogram
    of `values` so many different ones. `told` hears how many records are in finished groups, and how many these are.
    The groups and their numbers are those of the general form
    (`keepsense.methods.generalize.multidimensional_template`).

    >>> from keepsense.methods.generalize.dimension import numeric
    >>> ages = numeric("age", (30, 31, 40, 41))
    >>> found = divided_together([ages.rank], np.ones(4, np.int64), [ages], tables_of([ages], [1.0]), 2, [], print)
    4 2
    >>> found.final.tolist(), found.rounds
    ([0, 0, 1, 1], 2)
    """
    from keepsense.methods.generalize import joint_loss_kernels as kernel

    n, columns = len(weights), len(ranks)
    known, numbers, free, spans = _known(tables, dimensions)
    words = np.zeros((n, free.shape[1]), dtype=np.int64)
    orders = np.empty((columns, n), dtype=np.int32)
    for j, rank in enumerate(ranks):
        narrow = rank.astype(np.uint16) if len(dimensions[j].width) <= np.iinfo(np.uint16).max else rank
        orders[j] = np.argsort(narrow, kind="stable")
        words[:, known[kernel.WORD, j]] |= rank.astype(np.int64) << known[kernel.SHIFT, j]
    total = int(weights.sum())
    waiting = np.zeros((_DEEP, 4), dtype=np.int64)
    waiting[0] = 0, n, 1, total
    closed = np.empty((min(n, total // max(1, least)) + 1, 3), dtype=np.int64)
    given = known, numbers, free, tables[2], tables[3], spans
    promise = _promise(values, n)
    still, done, settled = 1, 0, 0
    while still:
        still, done, more = kernel.divide_together(
            words, weights, orders, *given, least, promise, waiting, still, closed, done, _AT_ONCE
        )
        settled += int(more)
        told(settled, done)
    closed = closed[:done]
    # numbered as rounds close them, and from left to right in each
    closed = closed[np.lexsort((closed[:, 0], closed[:, 2]))]
    sizes = closed[:, 1] - closed[:, 0]
    final = np.empty(n, dtype=np.int64)
    by_place = np.argsort(closed[:, 0])
    final[orders[0]] = np.repeat(by_place, sizes[by_place])
    ends = [(orders[j, closed[:, 0]], orders[j, closed[:, 1] - 1]) for j in range(columns)]
    low, high = (np.stack([ranks[j][side[at]] for j, side in enumerate(ends)], axis=1) for at in (0, 1))
    return Groups(final, low, high, int(closed[:, 2].max(initial=0)))


def _known(tables: Tables, dimensions: Sequence[Dimension]) -> tuple[Longs, Floats, Longs, Floats]:
    """What is given of each column and each word, as the kernel takes it, and what spans of few ranks lose.

    Ranks stand in words of 63 bits, with a free bit above each.
    """
    from keepsense.methods.generalize import joint_loss_kernels as kernel

    known = np.zeros((kernel.TRIED + 1, len(dimensions)), dtype=np.int64)
    numbers = np.zeros((kernel.GAIN + 1, len(dimensions)))
    ranks = np.array([len(d.width) for d in dimensions], dtype=np.int64)
    bits_free, used = [0], 0
    for j, bits in enumerate(max(1, (size - 1).bit_length()) for size in ranks.tolist()):
        if used + bits + 1 > _BITS:
            bits_free.append(0)
            used = 0
        known[kernel.WORD, j], known[kernel.SHIFT, j] = len(bits_free) - 1, used
        known[kernel.MASK, j] = ((1 << bits) - 1) << used
        bits_free[-1] |= 1 << (used + bits)
        used += bits + 1
    free = np.zeros((kernel.FARS + 1, len(bits_free)), dtype=np.int64)
    free[kernel.FREE] = bits_free
    sizes = np.where(ranks <= _FEW, ranks * ranks, 0)
    begin = np.where(ranks <= _FEW, np.cumsum(sizes) - sizes, -1)
    spans = np.zeros(int(sizes.sum()))
    kernel.all_spans(tables, ranks, begin, spans)
    known[kernel.LEVEL], known[kernel.FIRST] = tables[1], tables[4]
    known[kernel.FIRST_SPAN], known[kernel.RANKS] = begin, ranks
    numbers[kernel.WEIGHT], numbers[kernel.IMPORTANCE] = tables[0], [d.importance for d in dimensions]
    return known, numbers, free, spans


def _promise(values: Sequence[tuple[Histogram, int]], tuples: int) -> tuple[Any, ...]:
    """Histograms as the kernel takes them: starts, values, counts, where each begins, how many are needed, marks."""
    if len(values) == 1:  # the usual case, without copies
        table = values[0][0]
        first, starts, codes, counts = [0], table.rows.starts[None, :], table.rows.indices, table.counts
    else:
        parts = [table for table, _ in values]
        first = np.cumsum([0, *(len(table.counts) for table in parts)])[:-1].tolist()
        starts = np.array([table.rows.starts for table in parts], dtype=np.int32).reshape(len(parts), tuples + 1)
        codes = np.concatenate([np.empty(0, np.int32), *(table.rows.indices for table in parts)])
        counts = np.concatenate([np.empty(0, np.int64), *(table.counts for table in parts)])
    most = max((len(table.values) for table, _ in values), default=0)
    needed_each = np.array([needed for _, needed in values], dtype=np.int64)
    return starts, codes, counts, np.array(first, dtype=np.int64), needed_each, np.zeros(most + 1, dtype=np.int64)
