"""Metrics of sets before and after a method: what was lost, and what risk is left.

Sets are ragged rows of item numbers, one row a record, the same numbers before and after. Nothing here knows how the
sets were changed, so a synthetic release and a generalized one are measured in the same way. A generalized item may
stand for any of several items: say for which (`stands`), and for linkage what each item can be seen as (`seen_as`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints, Rows
from keepsense.errors import BadInput, Infeasible

Between = Callable[[NDArray[Any], NDArray[Any]], Floats]
"""Distances between items: of each of the first to its partner among the second."""

_PAIRS = 1 << 22
_MOST_PAIRS = 1 << 28


@dataclass(frozen=True)
class SetLoss:
    """Loss of meaning: `total` is the sum of squares, `floor` what the original itself would score, over `records`.

    >>> SetLoss(total=60.0, floor=20.0, records=100).above_floor
    40.0
    """

    total: float
    floor: float
    records: int

    @property
    def above_floor(self) -> float:
        """What was lost beyond the floor."""
        return self.total - self.floor

    @property
    def mean(self) -> float:
        """Loss of one record on average, between 0 and 1."""
        return self.total / max(1, self.records)


def average_distances(before: Rows, after: Rows, between: Between) -> Floats:
    """Mean distance over all pairs of items, of each record before to itself after (Batet et al. 2014, Eq. 4).

    Rows must not be empty. Costs the pairs of items within records.

    >>> apart = lambda a, b: (a != b).astype(float)
    >>> average_distances(Rows.from_pairs([0, 0], [0, 1], 1), Rows.from_pairs([0], [1], 1), apart).tolist()
    [0.5]
    """
    _same_records(before, after)
    sizes, others = before.sizes.astype(np.int64), after.sizes.astype(np.int64)
    if not (sizes > 0).all() or not (others > 0).all():
        raise BadInput("the distance of an empty set is not defined; give it an item that stands for nothing")
    total = np.zeros(len(before))
    for first, row in _pieces(sizes * others):
        # Pair number p of a record is its item p // width with the other's item p % width.
        mine = before.starts[row] + first // others[row]
        theirs = after.starts[row] + first % others[row]
        total += np.bincount(row, between(before.indices[mine], after.indices[theirs]), len(before))
    return total / (sizes * others)


def _pieces(pairs: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """All pairs of all records, some millions at a time: number within the record, and the record."""
    ends = np.cumsum(pairs)
    whole = int(ends[-1]) if len(ends) else 0
    for start in range(0, whole, _PAIRS):
        number = np.arange(start, min(start + _PAIRS, whole), dtype=np.int64)
        row = np.searchsorted(ends, number, side="right")
        yield number - (ends[row] - pairs[row]), row


def set_loss(before: Rows, after: Rows, between: Between) -> SetLoss:
    """Sum over records of the squared average distance between a set before and after (L, Batet et al. 2014, Eq. 8).

    The equation is printed with the square outside the sum; the values in the paper's Table 1 (639 to 895 for 1,000
    records) can only come from squares inside it, as a sum of squared errors has them. The average distance of a set to
    itself is not 0, so even the original has a loss: `floor`.

    >>> apart = lambda a, b: (a != b).astype(float)
    >>> sets = Rows.from_pairs([0, 0, 1], [0, 1, 2], 2)
    >>> loss = set_loss(sets, sets, apart)
    >>> loss.total, loss.floor
    (0.25, 0.25)
    """
    away = average_distances(before, after, between)
    own = average_distances(before, before, between)
    return SetLoss(float(away @ away), float(own @ own), len(before))


@dataclass(frozen=True)
class FrequencyError:
    """How far frequencies moved: mean difference of the share of records, mean relative error, and total variation.

    The first two are means over what occurs in the original; the last compares the two distributions (0 same, 1 apart).

    >>> FrequencyError(0.01, 0.2, 0.05).relative
    0.2
    """

    absolute: float
    relative: float
    variation: float


def item_error(before: Rows, after: Rows, size: int, stands: Rows | None = None) -> FrequencyError:
    """Error of item frequencies; `stands[j]` lists the items that j, in a set after, may stand for (else itself).

    A generalized item counts as an equal fraction of each of them.

    >>> sets = Rows.from_pairs([0, 0, 1], [0, 1, 1], 2)
    >>> item_error(sets, Rows.from_pairs([0, 1], [1, 1], 2), 2).relative
    0.5
    """
    _same_records(before, after)
    was = np.bincount(before.indices, minlength=size).astype(np.float64)
    if stands is None:
        return _errors(was, np.bincount(after.indices, minlength=size).astype(np.float64), len(before))
    held = np.bincount(after.indices, minlength=len(stands))
    now = np.bincount(stands.indices, (held / np.maximum(stands.sizes, 1))[stands.row_of()], size)
    return _errors(was, now.astype(np.float64), len(before))


def pair_error(
    before: Rows, after: Rows, size: int, stands: Rows | None = None, *, top: int | None = None
) -> FrequencyError:
    """Error of how often two items occur together; with `top`, over the original's most frequent pairs only.

    With `stands` (see `item_error`) the original's pairs are compared with what is expected of the generalized ones. A
    table of pairs is held for what occurs together; refused where the sets are so large that it would be too big.

    >>> sets = Rows.from_pairs([0, 0, 1, 1], [0, 1, 0, 1], 2)
    >>> pair_error(sets, Rows.from_pairs([0, 0, 1], [0, 1, 0], 2), 2).relative
    0.5
    """
    _same_records(before, after)
    keys, old = _together(before, size)
    if stands is None:
        other, count = _together(after, size)
        keys, old, new = _aligned(keys, old, other, count)
    if top is not None and len(keys) > top:
        chosen = np.lexsort((keys, -old))[:top]
        keys, old = keys[chosen], old[chosen]
        new = new[chosen] if stands is None else old
    if stands is not None:
        new = _expected(after, stands, size, keys)
    return _errors(old, new, len(before))


def _aligned(
    first: NDArray[np.int64], old: Floats, second: NDArray[np.int64], new: Floats
) -> tuple[NDArray[np.int64], Floats, Floats]:
    keys = np.union1d(first, second)
    was, now = np.zeros(len(keys)), np.zeros(len(keys))
    was[np.searchsorted(keys, first)] = old
    now[np.searchsorted(keys, second)] = new
    return keys, was, now


def _products(rows: Rows, size: int) -> Any:
    """How many records hold each two items, as a sparse matrix."""
    from scipy.sparse import csr_array

    pairs = int((rows.sizes.astype(np.int64) ** 2).sum())
    if pairs > _MOST_PAIRS:
        raise Infeasible(
            f"pairs of items: the sets hold {pairs:,} pairs, too many to count",
            relax=("leave out the largest sets", "take a sample of the records"),
        )
    shape = (len(rows), size)
    table = csr_array((np.ones(len(rows.indices)), rows.indices.copy(), rows.starts.copy()), shape=shape)
    return table.T @ table


def _together(rows: Rows, size: int) -> tuple[NDArray[np.int64], Floats]:
    """Pairs of different items (lower first) as one number each, sorted, and the records that hold both."""
    from scipy.sparse import triu

    products = triu(_products(rows, size), k=1).tocoo()
    key = products.row.astype(np.int64) * size + products.col
    order = np.argsort(key)
    return key[order], products.data[order].astype(np.float64)


def _expected(rows: Rows, stands: Rows, size: int, keys: NDArray[np.int64]) -> Floats:
    """Records expected to hold each pair, if a generalized item is as likely each of those it stands for."""
    from scipy.sparse import csr_array

    share = np.repeat(1.0 / np.maximum(stands.sizes, 1), stands.sizes)
    spread = csr_array((share, stands.indices.copy(), stands.starts.copy()), shape=(len(stands), size))
    reached = (spread.T @ _products(rows, len(stands))).tocsr()
    items = spread.T.tocsr()
    expected = np.empty(len(keys))
    for start in range(0, len(keys), 1 << 14):
        some = keys[start : start + (1 << 14)]
        both = reached[some // size].multiply(items[some % size])
        expected[start : start + len(some)] = np.asarray(both.sum(axis=1)).reshape(-1)
    return expected


def _errors(was: Floats, now: Floats, records: int) -> FrequencyError:
    there = was > 0
    if not there.any():
        return FrequencyError(0.0, 0.0, 0.0 if not now.any() else 1.0)
    off = np.abs(now - was)[there]
    moved = np.abs(now / max(now.sum(), 1e-300) - was / was.sum()).sum() / 2
    return FrequencyError(float(off.mean() / max(1, records)), float((off / was[there]).mean()), float(moved))


@dataclass(frozen=True, eq=False)
class SetFigures:
    """A set-valued column compared with the original: errors, and the risk by number of known items.

    `risk` gives for m known items the chance to find the record before and after. `tried` of the `records` were
    compared.

    >>> SetFigures("likes", 10, 10).risk
    ()
    """

    column: str
    records: int
    tried: int
    loss: float | None = None
    item_error: float | None = None
    pair_error: float | None = None
    risk: tuple[tuple[int, float, float], ...] = ()


@dataclass(frozen=True)
class KnownItems:
    """What an attacker gains who knows `m` items of a person and links them to the released sets that fit best.

    `risk` is the mean chance to link to the right record, `linked` the share of people whose record is among the best
    fitting ones at all, `group` how many those are on average, over `people` tried.

    >>> KnownItems(2, 0.1, 0.8, 12.0, 500).risk
    0.1
    """

    m: int
    risk: float
    linked: float
    group: float
    people: int


def known_items_risk(
    before: Rows,
    after: Rows,
    m: int,
    *,
    seen_as: Rows | None = None,
    people: int = 2_000,
    rng: np.random.Generator | int | None = None,
) -> KnownItems:
    """Risk of linkage by m known items (the attacker of Terrovitis et al. 2008 and He and Naughton 2009).

    For each person drawn, m of their original items are drawn at random (all, where they have fewer). The released sets
    that hold most of them fit best; the right one among them is hit by chance. Nobody fits where no set holds any, and
    then everybody is as likely. `seen_as[i]` lists what item i can be released as (itself unless given). People with
    no item at all are not tried: there is nothing to know of them.

    >>> sets = Rows.from_pairs([0, 0, 1, 1], [0, 1, 0, 2], 2)
    >>> known_items_risk(sets, sets, 2, rng=1).risk
    1.0
    """
    _same_records(before, after)
    if m < 1:
        raise BadInput(f"linkage: m, the number of known items, must be at least 1, not {m}")
    rng = np.random.default_rng(rng)
    distinct, which, weight = _distinct(after)
    size = 1 + max(int(before.indices.max(initial=-1)), int(after.indices.max(initial=-1)))
    holders = distinct.reversed(size)
    tried = np.flatnonzero(before.sizes > 0)
    if not len(tried):
        return KnownItems(m, 0.0, 0.0, 0.0, 0)
    if len(tried) > people:
        tried = np.sort(rng.choice(tried, people, replace=False))
    chance = hits = fitting = 0.0
    for record in tried.tolist():
        own = before[record]
        known = own if len(own) <= m else rng.choice(own, m, replace=False)
        score = np.zeros(len(distinct), dtype=np.int64)
        for item in known.tolist():
            seen = np.array([item]) if seen_as is None else seen_as[item]
            score[np.unique(holders.gather(np.asarray(seen, dtype=np.int32)))] += 1
        best = score == score.max()
        size_of_group = int(weight[best].sum())
        hit = bool(best[which[record]])
        hits += hit
        fitting += size_of_group
        chance += hit / size_of_group
    return KnownItems(m, chance / len(tried), hits / len(tried), fitting / len(tried), len(tried))


def _distinct(rows: Rows) -> tuple[Rows, NDArray[np.int64], NDArray[np.int64]]:
    """Distinct rows, which of them each row is, and how many rows each stands for."""
    place: dict[bytes, int] = {}
    which = np.empty(len(rows), dtype=np.int64)
    chosen: list[int] = []
    for i in range(len(rows)):
        key = np.sort(rows[i]).tobytes()
        if key not in place:
            place[key] = len(chosen)
            chosen.append(i)
        which[i] = place[key]
    at = np.array(chosen, dtype=np.int32)
    starts = np.zeros(len(at) + 1, dtype=np.int32)
    np.cumsum(rows.sizes[at], out=starts[1:])
    return Rows(starts, rows.gather(at)), which, np.bincount(which, minlength=len(at))


def profile_accuracy(before: Rows, after: Rows, category: Ints, *, top: int = 3) -> float:
    """Share of each record's top categories that are still its top categories afterwards, averaged over records.

    `category[i]` is the category of item i, -1 for none. A record's profile is its `top` most frequent categories (of
    equally frequent ones those with the lowest number), fewer where it has fewer. Records without any are left out.

    >>> sets = Rows.from_pairs([0, 0, 0], [0, 1, 2], 1)
    >>> profile_accuracy(sets, Rows.from_pairs([0, 0], [0, 3], 1), np.array([0, 0, 1, 2]), top=2)
    0.5
    """
    _same_records(before, after)
    if top < 1:
        raise BadInput(f"profiles: the number of top categories must be at least 1, not {top}")
    was, now = _profiles(before, category, top), _profiles(after, category, top)
    shares = [len(old & new) / len(old) for old, new in zip(was, now, strict=True) if old]
    return float(np.mean(shares)) if shares else 1.0


def _profiles(rows: Rows, category: Ints, top: int) -> list[set[int]]:
    kind = category[rows.indices].astype(np.int64)
    row = rows.row_of().astype(np.int64)[kind >= 0]
    width = max(1, int(category.max(initial=-1)) + 1)
    key, times = np.unique(row * width + kind[kind >= 0], return_counts=True)
    profiles: list[set[int]] = [set() for _ in range(len(rows))]
    for at in np.lexsort((key % width, -times, key // width)).tolist():
        held = profiles[int(key[at] // width)]
        if len(held) < top:
            held.add(int(key[at] % width))
    return profiles


def _same_records(before: Rows, after: Rows) -> None:
    if len(before) != len(after):
        raise BadInput(f"{len(before):,} sets before and {len(after):,} after cannot be compared record by record")
