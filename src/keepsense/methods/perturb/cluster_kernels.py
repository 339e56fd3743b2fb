"""Compiled: swapping inside clusters of near tuples, and building of groups. The tests have plain references."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from keepsense.numba_cache import njit

# Near tuples in many attributes: all tuples are measured
#
# For few attributes `reach` and `_gather` below measure only tuples with near values; both ways find the same tuples in
# the same order.

FEW = 64
"""Tuples near a reference up to which they are put in order one by one."""


@njit(cache=True, nogil=True)
def push(far: Any, size: Any, n: Any, d: Any, w: Any) -> None:
    """Put a distance and its records on a heap of n, the greatest distance first."""
    i = n
    far[i], size[i] = d, w
    while i > 0 and far[(i - 1) // 2] < far[i]:
        up = (i - 1) // 2
        far[i], far[up] = far[up], far[i]
        size[i], size[up] = size[up], size[i]
        i = up


@njit(cache=True, nogil=True)
def pop(far: Any, size: Any, n: Any) -> None:
    """Take the greatest distance off a heap of n."""
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
def _within(rows: Any, codes: Any, t: Any, limit: Any) -> Any:
    """Sum of a tuple's distances to the reference over the attributes, or infinity where it is above a limit."""
    d = 0.0
    for j in range(codes.shape[1]):
        d += rows[j, codes[t, j]]
        if d > limit:
            return np.inf
    return d


@njit(cache=True, nogil=True)
def reach_of_all(rows: Any, state: Any, weights: Any, own: Any, k: Any, tol: Any) -> Any:
    """Distance of the k-th nearest record, as `reach`; `away` tells how far tuples are that are no farther than it."""
    far, size, away = state.heap_far, state.heap_size, state.away
    n, held, limit = 0, 0, np.inf
    for t in range(len(away)):
        if weights[t] <= 0:
            away[t] = np.inf
            continue
        d = away[t] = _within(rows, state.codes, t, limit)
        w = weights[t] - (t == own)
        if w <= 0 or (held >= k and d >= far[0]):
            continue
        push(far, size, n, d, w)
        n += 1
        held += w
        while held - size[0] >= k:
            held -= size[0]
            pop(far, size, n)
            n -= 1
        if held >= k:
            limit = far[0] + tol
    return far[0] if n else 0.0


@njit(cache=True, nogil=True)
def measure_all(rows: Any, state: Any, weights: Any, limit: Any) -> None:
    """Say in `away` how far the tuples are that are within a limit; the others are infinitely far."""
    for t in range(len(state.away)):
        state.away[t] = _within(rows, state.codes, t, limit) if weights[t] > 0 else np.inf


@njit(cache=True, nogil=True)
def gather_few(rows: Any, orders: Any, state: Any, weights: Any, own: Any, radius: Any, tol: Any) -> Any:
    """What `gather` returns, and in the same order, from `away`; (-1, 0, 0, 0) where more than a few are near."""
    m = state.codes.shape[1]
    members, part = state.members, (radius + tol) / m
    near, lead, rank = np.empty(FEW, np.int64), np.empty(FEW, np.int64), np.empty(FEW, np.int64)
    few = 0
    for t in range(len(state.away)):
        if state.away[t] > radius + tol:
            continue
        first = 0
        while first < m and rows[first, state.codes[t, first]] > part:
            first += 1
        if first == m:
            continue
        if few == FEW:
            return -1, 0, 0, 0
        place = 0
        while orders[first, place] != state.codes[t, first]:
            place += 1
        i = few  # tuples come in their order, so that equal ones stay so
        while i > 0 and (lead[i - 1] > first or (lead[i - 1] == first and rank[i - 1] > place)):
            near[i], lead[i], rank[i] = near[i - 1], lead[i - 1], rank[i - 1]
            i -= 1
        near[i], lead[i], rank[i] = t, first, place
        few += 1
    inner, tied, inner_size, tied_size = 0, 0, 0, 0
    last = len(members) - 1
    for i in range(few):
        t = near[i]
        w = weights[t] - (t == own)
        if state.away[t] < radius - tol:
            members[inner] = t
            inner += 1
            inner_size += w
        else:
            members[last - tied] = t
            tied += 1
            tied_size += w
    return inner, tied, inner_size, tied_size


# Near tuples in few attributes, swaps and groups

MANY = 5
"""Attributes from which all tuples are looked at: in so many, few can be ruled out by one of them."""


class WalkState(NamedTuple):
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
    away: Any
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
def reach(rows: Any, orders: Any, state: Any, weights: Any, own: Any, k: Any, tol: Any) -> Any:
    """Distance (summed over attributes) of the k-th nearest record; one record of the tuple `own` does not count.

    Values are taken nearest first, over all attributes at once. A tuple not met until distance x differs by at least x
    in each of the m attributes, so the search ends when m * x exceeds what the k nearest so far reach.
    """
    m = state.codes.shape[1]
    far, size, at = state.heap_far, state.heap_size, state.at
    at[:] = 0
    n, held = 0, 0
    while True:
        lead, x = -1, np.inf
        for j in range(m):
            if at[j] < state.offset[j + 1] - state.offset[j] and rows[j, orders[j, at[j]]] < x:
                lead, x = j, rows[j, orders[j, at[j]]]
        if lead < 0 or (held >= k and m * x > far[0] + tol):
            break
        v = orders[lead, at[lead]]
        at[lead] += 1
        begin = state.offset[lead] + lead + v
        for i in range(state.first[begin], state.first[begin + 1]):
            t = state.listed[lead, i]
            w = weights[t] - (t == own)
            if w <= 0:
                continue
            met = False
            d = 0.0
            for j in range(m):
                y = rows[j, state.codes[t, j]]
                d += y
                met = met or y < x or (y == x and j < lead)
            if met or (held >= k and d >= far[0]):
                continue
            push(far, size, n, d, w)
            n += 1
            held += w
            while held - size[0] >= k:
                held -= size[0]
                pop(far, size, n)
                n -= 1
    return far[0] if n else 0.0


@njit(cache=True, nogil=True)
def _gather(rows: Any, orders: Any, state: Any, weights: Any, own: Any, radius: Any, tol: Any) -> Any:
    """List the tuples nearer than the radius at the front of `members` and those just at it from its end.

    Returns how many there are of each, and how many records (the reference itself aside). A tuple within the radius
    differs by no more than its m-th part in at least one attribute: each is met by the first such.
    """
    m = state.codes.shape[1]
    members = state.members
    inner, tied, inner_size, tied_size = 0, 0, 0, 0
    last = len(members) - 1
    part = (radius + tol) / m
    for lead in range(m):
        for v in orders[lead, : state.offset[lead + 1] - state.offset[lead]]:
            if rows[lead, v] > part:
                break
            begin = state.offset[lead] + lead + v
            for i in range(state.first[begin], state.first[begin + 1]):
                t = state.listed[lead, i]
                if weights[t] <= 0:
                    continue
                met = False
                d = 0.0
                for j in range(m):
                    y = rows[j, state.codes[t, j]]
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
def _near(rows: Any, orders: Any, state: Any, weights: Any, own: Any, k: Any, radius: Any, tol: Any) -> Any:
    """The reach of a cluster, unless it is known already (negative where not), and what `_gather` says of it."""
    if state.codes.shape[1] < MANY:
        if radius < 0:
            radius = reach(rows, orders, state, weights, own, k, tol)
        return radius, _gather(rows, orders, state, weights, own, radius, tol)
    if radius < 0:
        radius = reach_of_all(rows, state, weights, own, k, tol)
    else:
        measure_all(rows, state, weights, radius + tol)
    few = gather_few(rows, orders, state, weights, own, radius, tol)
    return radius, few if few[0] >= 0 else _gather(rows, orders, state, weights, own, radius, tol)


@njit(cache=True, nogil=True)
def _join(members: Any, inner: Any, tied: Any) -> Any:
    """Move the tied tuples from the end of the list up to the inner ones."""
    behind = len(members) - tied
    for i in range(tied):
        members[inner + i] = members[behind + i]
    return inner + tied


@njit(cache=True, nogil=True)
def _sample_tied(rng: Any, state: Any, row: Any, weights: Any, tied: Any, wanted: Any, ref: Any) -> None:
    """Draw that many different records, not `ref`, of the tied tuples into `sampled`."""
    members, total, stamp = state.members, state.total, state.stamp
    last = len(members) - 1
    mark = state.tally[1]
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
        r = state.perm[row, state.start[members[last - low]] + x - total[low]]
        if stamp[r] != mark:
            stamp[r] = mark
            state.sampled[drawn] = r
            drawn += 1


@njit(cache=True, nogil=True)
def _remove(state: Any, j: Any, r: Any) -> None:
    """Take a record out of the front part of its tuple's block in row j."""
    t = state.owner[r]
    at = state.where[j, r]
    end = state.start[t] + state.left[j, t] - 1
    other = state.perm[j, end]
    state.perm[j, at], state.perm[j, end] = other, r
    state.where[j, other], state.where[j, r] = at, end
    state.left[j, t] -= 1


@njit(cache=True, nogil=True)
def _retire(state: Any, r: Any) -> None:
    """A record is done with: it can no longer be a reference."""
    m = state.codes.shape[1]
    _remove(state, m, r)
    end = state.tally[0] - 1
    at, other = state.live_at[r], state.live[end]
    state.live[at], state.live[end] = other, r
    state.live_at[other], state.live_at[r] = at, end
    state.tally[0] = end
    t = state.owner[r]
    for j in range(m):
        state.live_values[state.offset[j] + state.codes[t, j]] -= 1
    if state.left[m, t] == 0:
        v = state.codes[t, 0]
        state.near[v] -= 1
        at, end = state.standing_at[t], state.first[v] + state.near[v]
        u = state.standing[end]
        state.standing[at], state.standing[end] = u, t
        state.standing_at[u], state.standing_at[t] = at, end
        for j in range(m - 1):
            state.beside[j, at], state.beside[j, end] = state.codes[u, j + 1], state.codes[t, j + 1]


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
def farthest(rng: Any, rows: Any, orders: Any, state: Any, tol: Any) -> Any:
    """A live record farthest from the reference, any of them with the same chance where several are; -1 without any."""
    n = state.tally[0]
    if n == 0:
        return -1
    m = state.codes.shape[1]
    rest = 0.0
    for j in range(1, m):
        top = 0.0
        for v in range(state.offset[j + 1] - state.offset[j]):
            if rows[j, v] > top and state.live_values[state.offset[j] + v] > 0:
                top = rows[j, v]
        rest += top
    order = orders[0, : state.offset[1]]
    i = len(order) - 1
    while state.near[order[i]] == 0:
        i -= 1
    bound = rows[0, order[i]] + rest
    # Whatever reaches the bound is farthest; drawing live records until one does is fair among those that do.
    for _ in range(32):
        r = state.live[int(rng.random() * n)]
        if _far(rows, state.codes, state.owner[r]) >= bound - tol:
            return r
    best = -1.0
    low = i
    while low >= 0 and rows[0, order[low]] + rest >= best - tol:
        v = order[low]
        if state.near[v] > 0:
            begin = state.first[v]
            state.most[v] = rows[0, v] + _most_beside(rows, state.beside, begin, begin + state.near[v])
            best = max(best, state.most[v])
        low -= 1
    seen, chosen = 0, -1
    while i > low:
        v = order[i]
        i -= 1
        if state.near[v] == 0 or state.most[v] < best - tol:
            continue
        for at in range(state.first[v], state.first[v] + state.near[v]):
            t = state.standing[at]
            if _far(rows, state.codes, t) >= best - tol:
                seen += state.left[m, t]
                if rng.random() * seen < state.left[m, t]:
                    chosen = t
    return state.perm[m, state.start[chosen] + int(rng.random() * state.left[m, chosen])]


@njit(cache=True, nogil=True)
def _drawn_partner(rng: Any, state: Any, j: int, inner: int, sampled: int) -> int:
    """One of the records still unswapped in an attribute, of the cluster's inner tuples or of the sampled; -1: none."""
    free = 0
    for i in range(inner):
        free += state.left[j, state.members[i]]
    sampled_free = 0
    for i in range(sampled):
        sampled_free += _is_free(state, j, state.sampled[i])
    if free + sampled_free == 0:
        return -1
    x = int(rng.random() * (free + sampled_free))
    if x < free:
        for i in range(inner):
            u = state.members[i]
            if x < state.left[j, u]:
                return int(state.perm[j, state.start[u] + x])
            x -= state.left[j, u]
    x -= free
    for i in range(sampled):
        r = state.sampled[i]
        if _is_free(state, j, r):
            if x == 0:
                return int(r)
            x -= 1
    return -1


@njit(cache=True, nogil=True)
def _is_free(state: Any, j: int, r: int) -> bool:
    """Whether a record is still unswapped in an attribute."""
    return bool(state.where[j, r] - state.start[state.owner[r]] < state.left[j, state.owner[r]])


@njit(cache=True, nogil=True)
def swap_step(rng: Any, ref: Any, k: Any, tol: Any, rows: Any, orders: Any, state: Any) -> Any:
    """Swap one reference record inside its cluster, attribute by attribute, and return the next reference or -1."""
    m = state.codes.shape[1]
    t = state.owner[ref]
    state.tally[1] += 1
    radius, cluster = _near(rows, orders, state, state.weights, t, k, state.radius[t], tol)
    state.radius[t] = radius
    inner, tied, inner_size, tied_size = cluster
    wanted = k - inner_size
    if wanted >= tied_size:
        inner = _join(state.members, inner, tied)
        wanted = 0
    elif wanted > 0:
        _sample_tied(rng, state, 0, state.weights, tied, wanted, ref)
    for j in range(m):
        if state.where[j, ref] - state.start[t] >= state.left[j, t]:
            continue  # already swapped, as another record's partner; swapping again would lose a value
        _remove(state, j, ref)
        partner = _drawn_partner(rng, state, j, inner, wanted)
        if partner < 0:
            state.tally[2 + j] += 1
            continue
        state.out[ref, j] = state.codes[state.owner[partner], j]
        state.out[partner, j] = state.codes[t, j]
        _remove(state, j, partner)
        state.pending[partner] -= 1
        if state.pending[partner] == 0:
            _retire(state, partner)
    state.pending[ref] = 0
    if state.live_at[ref] < state.tally[0]:
        _retire(state, ref)
    return farthest(rng, rows, orders, state, tol)


@njit(cache=True, nogil=True)
def group_step(rng: Any, ref: Any, size: Any, tol: Any, rows: Any, orders: Any, state: Any, group: Any) -> Any:
    """Put the reference and the nearest live records, `size` in all, into one new group; return the next reference."""
    m = state.codes.shape[1]
    mark = state.tally[2]
    state.tally[2] += 1
    state.tally[1] += 1
    group[ref] = mark
    _retire(state, ref)
    alive = state.left[m]
    if size > 1:
        _, cluster = _near(rows, orders, state, alive, -1, size - 1, -1.0, tol)
        inner, tied, inner_size, tied_size = cluster
        wanted = size - 1 - inner_size
        if wanted < tied_size:
            _sample_tied(rng, state, m, alive, tied, wanted, ref)
        else:
            inner = _join(state.members, inner, tied)
            wanted = 0
        for i in range(wanted):
            group[state.sampled[i]] = mark
            _retire(state, state.sampled[i])
        for i in range(inner):
            u = state.members[i]
            while alive[u] > 0:
                r = state.perm[m, state.start[u]]
                group[r] = mark
                _retire(state, r)
    return farthest(rng, rows, orders, state, tol)


# Many steps in one call, with tables of what is near each value; the same steps as one by one


class Views(NamedTuple):
    """What is seen from values: the distances to all values of the attribute, and these values nearest first.

    What value v of attribute j sees begins at `begin[j] + v * sizes[j]` of both tables; the order begins with -1 while
    nobody has looked from there. `rows` and `orders` hold the view of the present reference, one row an attribute, and
    `tie` is the share of the greatest distance by which two may differ and still be equal.
    """

    far: Any
    near: Any
    begin: Any
    sizes: Any
    rows: Any
    orders: Any
    tie: float


@njit(cache=True, nogil=True)
def _look(ref: Any, state: Any, views: Any) -> Any:
    """Copy what is seen from a record's values, and return what counts as equal; -1 where one was never looked from."""
    t = state.owner[ref]
    m = len(views.sizes)
    for j in range(m):
        if views.near[views.begin[j] + state.codes[t, j] * views.sizes[j]] < 0:
            return -1.0
    for j in range(m):
        size = views.sizes[j]
        at = views.begin[j] + state.codes[t, j] * size
        views.rows[j, :size] = views.far[at : at + size]
        views.orders[j, :size] = views.near[at : at + size]
    greatest = np.max(views.rows)
    return views.tie * greatest if greatest > 1.0 else views.tie


@njit(cache=True, nogil=True)
def swap_steps(rng: Any, ref: Any, k: Any, most: Any, state: Any, views: Any) -> Any:
    """Swap from reference to reference, until one sees from a new value, or the number of steps can be told."""
    while ref >= 0:
        tol = _look(ref, state, views)
        if tol < 0:
            break
        ref = swap_step(rng, ref, k, tol, views.rows, views.orders, state)
        if state.tally[1] % most == 0:
            break
    return ref


@njit(cache=True, nogil=True)
def group_steps(rng: Any, ref: Any, k: Any, most: Any, state: Any, views: Any, group: Any) -> Any:
    """Build groups of k, the last of up to 2k - 1, until one sees from a new value, or steps can be told."""
    while ref >= 0:
        tol = _look(ref, state, views)
        if tol < 0:
            break
        size = k if state.tally[0] >= 2 * k else state.tally[0]
        ref = group_step(rng, ref, size, tol, views.rows, views.orders, state, group)
        if state.tally[1] % most == 0:
            break
    return ref
