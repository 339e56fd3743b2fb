"""Compiled inner loops of swapping inside clusters and of building groups. Plain references are in the tests."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit


class Board(NamedTuple):
    """Where a swap stands. Records are numbered so that those of one distinct tuple follow each other, and tuples so
    that those with one value in the first attribute do.

    `codes[t, j]`, `weights[t]`: the tuples. Row j of `listed` sorts them by their value in attribute j; those with
    value v begin at `first[offset[j] + j + v]`. `start[t]`: first record of a tuple, `owner[r]`: tuple of a record.
    Row j of `perm` lists the records tuple by tuple, those still unswapped in attribute j in front (`left[j, t]` of
    them), and `where` is its inverse; the row after the last attribute does so for records not yet swapped in every
    attribute: the live ones. `live` lists those of all tuples, the first `tally[0]` of it; `live_at` is its inverse;
    `live_values` counts them by value of each attribute (from `offset[j]` on). `near[v]` counts the tuples with value v
    in the first attribute that have live records; they stand in front of that value's stretch of `standing`, their
    other codes in the same place of `beside`, and `standing_at` is the inverse. `pending[r]` counts the attributes in
    which a record is unswapped. `out[r, j]` is the code a record gets. `radius[t]` remembers the reach of a tuple's
    cluster, negative while unknown. The rest is scratch. `tally[1]` numbers the steps, `tally[2 + j]` counts records
    left in place in attribute j (in `group_step`, `tally[2]` counts the groups).
    """

    codes: Any
    weights: Any
    listed: Any
    first: Any
    start: Any
    owner: Any
    perm: Any
    where: Any
    left: Any
    live: Any
    live_at: Any
    live_values: Any
    offset: Any
    near: Any
    standing: Any
    standing_at: Any
    beside: Any
    pending: Any
    out: Any
    radius: Any
    members: Any
    total: Any
    stamp: Any
    sampled: Any
    heap_far: Any
    heap_size: Any
    most: Any
    at: Any
    tally: Any


@njit(cache=True, nogil=True)
def _far(rows: Any, codes: Any, t: Any) -> Any:
    """Sum of a tuple's distances to the reference over the attributes."""
    d = 0.0
    for j in range(codes.shape[1]):
        d += rows[j, codes[t, j]]
    return d


@njit(cache=True, nogil=True)
def _push(far: Any, size: Any, n: Any, d: Any, w: Any) -> None:
    i = n
    far[i], size[i] = d, w
    while i > 0 and far[(i - 1) // 2] < far[i]:
        up = (i - 1) // 2
        far[i], far[up] = far[up], far[i]
        size[i], size[up] = size[up], size[i]
        i = up


@njit(cache=True, nogil=True)
def _pop(far: Any, size: Any, n: Any) -> None:
    far[0], size[0] = far[n - 1], size[n - 1]
    i = 0
    while True:
        big = i
        for c in (2 * i + 1, 2 * i + 2):
            if c < n - 1 and far[c] > far[big]:
                big = c
        if big == i:
            return
        far[i], far[big] = far[big], far[i]
        size[i], size[big] = size[big], size[i]
        i = big


@njit(cache=True, nogil=True)
def reach(rows: Any, orders: Any, board: Any, weights: Any, own: Any, k: Any, tol: Any) -> Any:
    """Distance (summed over attributes) of the k-th nearest record; one record of the tuple `own` does not count.

    Values are taken nearest first, over all attributes at once. A tuple not met until distance x differs by at least x
    in each of the m attributes, so the search ends when m * x exceeds what the k nearest so far reach.
    """
    m = board.codes.shape[1]
    far, size, at = board.heap_far, board.heap_size, board.at
    at[:] = 0
    n, held = 0, 0
    while True:
        lead, x = -1, np.inf
        for j in range(m):
            if at[j] < board.offset[j + 1] - board.offset[j] and rows[j, orders[j, at[j]]] < x:
                lead, x = j, rows[j, orders[j, at[j]]]
        if lead < 0 or (held >= k and m * x > far[0] + tol):
            break
        v = orders[lead, at[lead]]
        at[lead] += 1
        begin = board.offset[lead] + lead + v
        for i in range(board.first[begin], board.first[begin + 1]):
            t = board.listed[lead, i]
            w = weights[t] - (t == own)
            if w <= 0:
                continue
            met = False
            d = 0.0
            for j in range(m):
                y = rows[j, board.codes[t, j]]
                d += y
                met = met or y < x or (y == x and j < lead)
            if met or (held >= k and d >= far[0]):
                continue
            _push(far, size, n, d, w)
            n += 1
            held += w
            while held - size[0] >= k:
                held -= size[0]
                _pop(far, size, n)
                n -= 1
    return far[0] if n else 0.0


@njit(cache=True, nogil=True)
def _gather(rows: Any, orders: Any, board: Any, weights: Any, own: Any, radius: Any, tol: Any) -> Any:
    """List the tuples nearer than the radius at the front of `members` and those just at it from its end.

    Returns how many there are of each, and how many records (the reference itself aside). A tuple within the radius
    differs by no more than its m-th part in at least one attribute: each is met by the first such.
    """
    m = board.codes.shape[1]
    members = board.members
    inner, tied, inner_size, tied_size = 0, 0, 0, 0
    last = len(members) - 1
    part = (radius + tol) / m
    for lead in range(m):
        for v in orders[lead, : board.offset[lead + 1] - board.offset[lead]]:
            if rows[lead, v] > part:
                break
            begin = board.offset[lead] + lead + v
            for i in range(board.first[begin], board.first[begin + 1]):
                t = board.listed[lead, i]
                if weights[t] <= 0:
                    continue
                met = False
                d = 0.0
                for j in range(m):
                    y = rows[j, board.codes[t, j]]
                    d += y
                    met = met or (j < lead and y <= part)
                if met or d > radius + tol:
                    continue
                w = weights[t] - (t == own)
                if d < radius - tol:
                    members[inner] = t
                    inner += 1
                    inner_size += w
                else:
                    members[last - tied] = t
                    tied += 1
                    tied_size += w
    return inner, tied, inner_size, tied_size


@njit(cache=True, nogil=True)
def _join(members: Any, inner: Any, tied: Any) -> Any:
    """Move the tied tuples from the end of the list up to the inner ones."""
    behind = len(members) - tied
    for i in range(tied):
        members[inner + i] = members[behind + i]
    return inner + tied


@njit(cache=True, nogil=True)
def _sample_tied(rng: Any, board: Any, row: Any, weights: Any, tied: Any, wanted: Any, ref: Any) -> None:
    """Draw that many different records, not `ref`, of the tied tuples into `sampled`."""
    members, total, stamp = board.members, board.total, board.stamp
    last = len(members) - 1
    mark = board.tally[1]
    stamp[ref] = mark
    total[0] = 0
    for i in range(tied):
        total[i + 1] = total[i] + weights[members[last - i]]
    drawn = 0
    while drawn < wanted:
        x = int(rng.random() * total[tied])
        low, high = 0, tied - 1
        while low < high:
            middle = (low + high) // 2
            if total[middle + 1] > x:
                high = middle
            else:
                low = middle + 1
        r = board.perm[row, board.start[members[last - low]] + x - total[low]]
        if stamp[r] != mark:
            stamp[r] = mark
            board.sampled[drawn] = r
            drawn += 1


@njit(cache=True, nogil=True)
def _remove(board: Any, j: Any, r: Any) -> None:
    """Take a record out of the front part of its tuple's block in row j."""
    t = board.owner[r]
    at = board.where[j, r]
    end = board.start[t] + board.left[j, t] - 1
    other = board.perm[j, end]
    board.perm[j, at], board.perm[j, end] = other, r
    board.where[j, other], board.where[j, r] = at, end
    board.left[j, t] -= 1


@njit(cache=True, nogil=True)
def _retire(board: Any, r: Any) -> None:
    """A record is done with: it can no longer be a reference."""
    m = board.codes.shape[1]
    _remove(board, m, r)
    end = board.tally[0] - 1
    at, other = board.live_at[r], board.live[end]
    board.live[at], board.live[end] = other, r
    board.live_at[other], board.live_at[r] = at, end
    board.tally[0] = end
    t = board.owner[r]
    for j in range(m):
        board.live_values[board.offset[j] + board.codes[t, j]] -= 1
    if board.left[m, t] == 0:
        v = board.codes[t, 0]
        board.near[v] -= 1
        at, end = board.standing_at[t], board.first[v] + board.near[v]
        u = board.standing[end]
        board.standing[at], board.standing[end] = u, t
        board.standing_at[u], board.standing_at[t] = at, end
        for j in range(m - 1):
            board.beside[j, at], board.beside[j, end] = board.codes[u, j + 1], board.codes[t, j + 1]


@njit(cache=True, nogil=True, fastmath=True)
def _most_beside(rows: Any, beside: Any, low: Any, high: Any) -> Any:
    """Greatest distance, over the attributes after the first, among the tuples standing in a stretch."""
    most = 0.0
    if len(beside) == 1:
        row, codes = rows[1], beside[0]
        for i in range(low, high):
            most = max(most, row[codes[i]])
    else:
        for i in range(low, high):
            d = 0.0
            for j in range(len(beside)):
                d += rows[j + 1, beside[j, i]]
            most = max(most, d)
    return most


@njit(cache=True, nogil=True)
def farthest(rng: Any, rows: Any, orders: Any, board: Any, tol: Any) -> Any:
    """A live record farthest from the reference, any of them with the same chance where several are; -1 without any."""
    n = board.tally[0]
    if n == 0:
        return -1
    m = board.codes.shape[1]
    rest = 0.0
    for j in range(1, m):
        top = 0.0
        for v in range(board.offset[j + 1] - board.offset[j]):
            if rows[j, v] > top and board.live_values[board.offset[j] + v] > 0:
                top = rows[j, v]
        rest += top
    order = orders[0, : board.offset[1]]
    i = len(order) - 1
    while board.near[order[i]] == 0:
        i -= 1
    bound = rows[0, order[i]] + rest
    # Whatever reaches the bound is farthest; drawing live records until one does is fair among those that do.
    for _ in range(32):
        r = board.live[int(rng.random() * n)]
        if _far(rows, board.codes, board.owner[r]) >= bound - tol:
            return r
    best = -1.0
    low = i
    while low >= 0 and rows[0, order[low]] + rest >= best - tol:
        v = order[low]
        if board.near[v] > 0:
            begin = board.first[v]
            board.most[v] = rows[0, v] + _most_beside(rows, board.beside, begin, begin + board.near[v])
            best = max(best, board.most[v])
        low -= 1
    seen, chosen = 0, -1
    while i > low:
        v = order[i]
        i -= 1
        if board.near[v] == 0 or board.most[v] < best - tol:
            continue
        for at in range(board.first[v], board.first[v] + board.near[v]):
            t = board.standing[at]
            if _far(rows, board.codes, t) >= best - tol:
                seen += board.left[m, t]
                if rng.random() * seen < board.left[m, t]:
                    chosen = t
    return board.perm[m, board.start[chosen] + int(rng.random() * board.left[m, chosen])]


@njit(cache=True, nogil=True)
def swap_step(rng: Any, ref: Any, k: Any, tol: Any, rows: Any, orders: Any, board: Any) -> Any:
    """Swap one reference record inside its cluster, attribute by attribute, and return the next reference or -1."""
    m = board.codes.shape[1]
    t = board.owner[ref]
    board.tally[1] += 1
    if board.radius[t] < 0:
        board.radius[t] = reach(rows, orders, board, board.weights, t, k, tol)
    inner, tied, inner_size, tied_size = _gather(rows, orders, board, board.weights, t, board.radius[t], tol)
    wanted = k - inner_size
    if wanted >= tied_size:
        inner = _join(board.members, inner, tied)
        wanted = 0
    elif wanted > 0:
        _sample_tied(rng, board, 0, board.weights, tied, wanted, ref)
    for j in range(m):
        if board.where[j, ref] - board.start[t] >= board.left[j, t]:
            continue  # already swapped, as another record's partner; swapping again would lose a value
        _remove(board, j, ref)
        free = 0
        for i in range(inner):
            free += board.left[j, board.members[i]]
        sampled_free = 0
        for i in range(wanted):
            r = board.sampled[i]
            sampled_free += board.where[j, r] - board.start[board.owner[r]] < board.left[j, board.owner[r]]
        if free + sampled_free == 0:
            board.tally[2 + j] += 1
            continue
        x = int(rng.random() * (free + sampled_free))
        partner = -1
        if x < free:
            for i in range(inner):
                u = board.members[i]
                if x < board.left[j, u]:
                    partner = board.perm[j, board.start[u] + x]
                    break
                x -= board.left[j, u]
        else:
            x -= free
            for i in range(wanted):
                r = board.sampled[i]
                if board.where[j, r] - board.start[board.owner[r]] < board.left[j, board.owner[r]]:
                    if x == 0:
                        partner = r
                        break
                    x -= 1
        board.out[ref, j] = board.codes[board.owner[partner], j]
        board.out[partner, j] = board.codes[t, j]
        _remove(board, j, partner)
        board.pending[partner] -= 1
        if board.pending[partner] == 0:
            _retire(board, partner)
    board.pending[ref] = 0
    if board.live_at[ref] < board.tally[0]:
        _retire(board, ref)
    return farthest(rng, rows, orders, board, tol)


@njit(cache=True, nogil=True)
def group_step(rng: Any, ref: Any, size: Any, tol: Any, rows: Any, orders: Any, board: Any, group: Any) -> Any:
    """Put the reference and the nearest live records, `size` in all, into one new group; return the next reference."""
    m = board.codes.shape[1]
    mark = board.tally[2]
    board.tally[2] += 1
    board.tally[1] += 1
    group[ref] = mark
    _retire(board, ref)
    alive = board.left[m]
    if size > 1:
        radius = reach(rows, orders, board, alive, -1, size - 1, tol)
        inner, tied, inner_size, tied_size = _gather(rows, orders, board, alive, -1, radius, tol)
        wanted = size - 1 - inner_size
        if wanted < tied_size:
            _sample_tied(rng, board, m, alive, tied, wanted, ref)
        else:
            inner = _join(board.members, inner, tied)
            wanted = 0
        for i in range(wanted):
            group[board.sampled[i]] = mark
            _retire(board, board.sampled[i])
        for i in range(inner):
            u = board.members[i]
            while alive[u] > 0:
                r = board.perm[m, board.start[u]]
                group[r] = mark
                _retire(board, r)
    return farthest(rng, rows, orders, board, tol)
