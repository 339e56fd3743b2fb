"""The compiled exchange of records against one that tries every tuple in every group of its block."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.methods.generalize.division_kernels import exchanges
from keepsense.methods.generalize.joint_loss_kernels import span_loss


def loss_of(tables, tuples, ranks):
    """What each column of a group of tuples loses."""
    weight, level, above, loss, first = tables
    return [
        span_loss(ranks[tuples, j].min(), ranks[tuples, j].max(), weight[j], level[j], above, loss, first[j])
        for j in range(ranks.shape[1])
    ]


def won_by_moving(tables, ranks, weights, mine, theirs, t):
    """What all win if a tuple goes from its group to another; None where that is told by no plain sum."""
    before = [sum(loss_of(tables, group, ranks)) * weights[group].sum() for group in (mine, theirs)]
    rest, more = [u for u in mine if u != t], [*theirs, t]
    return sum(before) - sum(sum(loss_of(tables, group, ranks)) * weights[group].sum() for group in (rest, more))


def won_by_changing(tables, ranks, weights, mine, theirs, t, u):
    before = [sum(loss_of(tables, group, ranks)) * weights[group].sum() for group in (mine, theirs)]
    here, there = [v for v in mine if v != t] + [u], [v for v in theirs if v != u] + [t]
    return sum(before) - sum(sum(loss_of(tables, group, ranks)) * weights[group].sum() for group in (here, there))


def outside(ranks, group, t):
    return sum(not ranks[group, j].min() <= ranks[t, j] <= ranks[group, j].max() for j in range(ranks.shape[1]))


def best_of(tables, ranks, weights, groups, busy, here, g, t, least, refused):  # noqa: PLR0913
    """All that a tuple may do, with what is won by each."""
    mine = groups[g]
    rest = [u for u in mine if u != t]
    stretches = sum(loss_of(tables, mine, ranks)) - sum(loss_of(tables, rest, ranks)) > 1e-12
    free = weights[rest].sum() >= least
    for h in here:
        if h == g or busy[h]:
            continue
        if free:
            yield won_by_moving(tables, ranks, weights, mine, groups[h], t), h, -1
        if stretches and outside(ranks, groups[h], t) <= 2:
            for u in groups[h]:
                if weights[u] == weights[t] and not refused[u]:
                    yield won_by_changing(tables, ranks, weights, mine, groups[h], t, u), h, u


@st.composite
def divided(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, columns = draw(st.integers(4, 30)), draw(st.integers(1, 4))
    ranks = rng.integers(0, 8, (n, columns))
    weights = rng.integers(1, draw(st.integers(2, 4)), n)
    final = np.unique(rng.integers(0, max(2, n // 3), n), return_inverse=True)[1]
    level, above, loss, first, place = [], [], [], [], 0
    for _ in range(columns):
        words = bool(rng.integers(2))
        first.append(place)
        if words:  # eight values, in pairs, in fours, and all
            level.append(4)
            above.append(np.array([[r, r // 2, r // 4, 0] for r in range(8)]).ravel())
            shares = rng.random(3) if draw(st.booleans()) else np.sort(rng.random(3))
            loss.append(np.tile([0.0, *shares], 8))
        else:
            level.append(0)
            ends = np.sort(rng.random(16))
            above.append(np.zeros(16, int))
            loss.append(ends)
        place += len(loss[-1])
    tables = (
        rng.random(columns) + 0.5,
        np.array(level, np.int64),
        np.concatenate(above).astype(np.int32),
        np.concatenate(loss),
        np.array(first, np.int64),
    )
    return ranks, weights, final, rng.random(n) < 0.1, tables, int(rng.integers(2, 5))


@given(divided(), st.sampled_from([2, 3, 512]))
@settings(max_examples=150, deadline=None)
def test_every_exchange_is_the_best_that_there_is(case, block):
    """Where no label loses less than one below it; otherwise some that would be better are not looked at."""
    ranks, weights, final, refused, tables, least = case
    before, order = final.copy(), np.arange(final.max() + 1)
    level, loss = tables[1], tables[3]
    steps = [loss[f : f + 8 * n].reshape(8, n) for f, n in zip(tables[4], level, strict=True) if n]
    grows = all((np.diff(table, axis=1) >= 0).all() for table in steps)
    moves = exchanges(ranks, weights, final, order, block, least, refused, tables).tolist()
    groups = {g: np.flatnonzero(before == g).tolist() for g in order.tolist()}
    busy = dict.fromkeys(groups, False)
    expected = before.copy()
    for first in range(0, len(order), block):
        here = order[first : first + block].tolist()
        for g in here:
            for t in groups[g] if len(groups[g]) > 1 else ():
                if busy[g] or refused[t]:
                    continue
                tried = [*best_of(tables, ranks, weights, groups, busy, here, g, t, least, refused)]
                won = max((gain for gain, _, _ in tried), default=0.0)
                if moves and moves[0][0] == t:
                    _, other, left, entered = moves.pop(0)
                    gain = next(gain for gain, h, u in tried if (h, u) == (entered, other))
                    assert left == g
                    assert gain > 0
                    assert not grows or gain == pytest.approx(won)
                    busy[g] = busy[entered] = True
                    expected[t] = entered
                    expected[other if other >= 0 else t] = g if other >= 0 else entered
                else:
                    assert not grows or won < 1e-8
    assert not moves
    assert (final == expected).all()
