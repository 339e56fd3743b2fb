"""Earth mover's distance between the sensitive values of each class and those of the whole table.

The distribution of a class is moved onto a reference with as little work as possible; work is mass times ground
distance, and ground distances lie between 0 and 1 (Rubner et al. 2000; Li et al. 2007). All functions take a histogram
with one row a class and the counts of the reference, and return one number a class (0 for a class without records).

Closed forms cost no more than the histogram's entries: equal distance (half the absolute differences), ordered
distance (cumulated differences) and trees (each link carries the difference of the masses below it). For any other
ground distance the work is first bounded from both sides; only classes between the bounds are solved exactly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Rows
from keepsense.counts import Histogram

NOISE = 1e-9
"""Rounding noise allowed when a distance is compared with a threshold."""


def _shares(histogram: Histogram, reference: NDArray[np.int64]) -> tuple[NDArray[np.int32], Floats, Floats]:
    """Class of each entry, its share of the class, and the reference's shares."""
    row = histogram.rows.row_of()
    size = np.bincount(row, histogram.counts, len(histogram.rows))
    total = max(1, int(reference.sum()))
    return row, histogram.counts / np.maximum(size, 1)[row], reference / total


def _filled(histogram: Histogram) -> NDArray[np.bool_]:
    return np.bincount(histogram.rows.row_of(), histogram.counts, len(histogram.rows)) > 0


def equal(histogram: Histogram, reference: NDArray[np.int64]) -> Floats:
    """Distance with every two values one apart: the total variation (Li et al. 2007, Sec. 4.2).

    >>> h = Histogram(("flu", "cold"), Rows.from_pairs([0, 1, 1], [0, 0, 1], 2), np.array([2, 1, 1]))
    >>> equal(h, np.array([1, 1])).tolist()
    [0.5, 0.0]
    """
    row, share, target = _shares(histogram, reference)
    hit = target[histogram.rows.indices]
    classes = len(histogram.rows)
    unseen = 1.0 - np.bincount(row, hit, classes)
    moved = 0.5 * (np.bincount(row, np.abs(share - hit), classes) + np.maximum(unseen, 0.0))
    return np.where(_filled(histogram), moved, 0.0)


def ordered(
    histogram: Histogram,
    reference: NDArray[np.int64],
    positions: NDArray[np.float64],
    length: float | None = None,
) -> Floats:
    """Distance of values on a line: |x - y| over the whole length (Li et al. 2007, Sec. 4.1, with x, y ranks).

    Between two values that a class holds, its cumulated share is constant and the reference's grows, so the area
    between the two curves comes from cumulated sums and one search each: the cost is that of the entries, not of
    classes times values. The length is that between the outermost positions unless a longer one is given.

    >>> h = Histogram((3, 4, 5), Rows.from_pairs([0], [0], 1), np.array([4]))
    >>> ordered(h, np.array([1, 1, 1]), np.arange(3.0)).tolist()
    [0.5]
    """
    order = np.argsort(positions, kind="stable")
    at = positions[order].astype(np.float64)
    length = length or (float(at[-1] - at[0]) if len(at) else 0.0)
    classes = len(histogram.rows)
    if length == 0:
        return np.zeros(classes)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    row, share, target = _shares(histogram, reference)
    below = np.cumsum(target[order])  # reference's share up to and including each position
    width = np.diff(at, append=at[-1]) / length
    wide = np.concatenate(([0.0], np.cumsum(width)))
    area = np.concatenate(([0.0], np.cumsum(width * below)))
    place = rank[histogram.rows.indices]
    sort = np.lexsort((place, row))
    row, place, share = row[sort], place[sort], share[sort]
    # One stretch before a class's first value (nothing cumulated yet) and one from each value to the next.
    first = np.flatnonzero(np.diff(row, prepend=-1))
    running = np.cumsum(share)
    ahead = running[first] - share[first]
    level = running - np.repeat(ahead, np.diff(first, append=len(row)))
    stop = np.append(place[1:], len(at))
    stop[first[1:] - 1] = len(at)
    tail = _stretch(place, stop, np.minimum(level, 1.0), below, wide, area)
    head = _stretch(np.zeros(len(first), np.int64), place[first], np.zeros(len(first)), below, wide, area)
    work = np.bincount(row, tail, classes) + np.bincount(row[first], head, classes)
    return np.where(_filled(histogram), np.maximum(work, 0.0), 0.0)


def _stretch(
    start: NDArray[np.int64], stop: NDArray[np.int64], level: Floats, below: Floats, wide: Floats, area: Floats
) -> Floats:
    """Area between a constant level and the reference's cumulated share from position `start` up to `stop`."""
    turn = np.clip(np.searchsorted(below, level), start, stop)
    under = level * (wide[turn] - wide[start]) - (area[turn] - area[start])
    over = (area[stop] - area[turn]) - level * (wide[stop] - wide[turn])
    return under + over


def tree(histogram: Histogram, reference: NDArray[np.int64], above: Rows, lengths: NDArray[np.float64]) -> Floats:
    """Distance along the links of a tree: each link carries the difference of the masses below it.

    `above[v]` lists, for value v, the nodes on its way up without the root; `lengths[n]` is the length of the link
    from node n to its parent. The cost is that of the entries times the height.

    >>> h = Histogram(("a", "b"), Rows.from_pairs([0], [0], 1), np.array([1]))
    >>> tree(h, np.array([1, 1]), Rows.from_pairs([0, 1], [0, 1], 2), np.array([0.5, 0.5])).tolist()
    [0.5]
    """
    row, share, target = _shares(histogram, reference)
    nodes = len(lengths)
    mass = np.bincount(above.indices, target[above.row_of()], nodes)
    entry = np.repeat(np.arange(len(row)), above.sizes[histogram.rows.indices])
    node = above.gather(histogram.rows.indices)
    key, where = np.unique(row[entry].astype(np.int64) * nodes + node, return_inverse=True)
    held = np.bincount(where, share[entry], len(key))
    on, of = key % max(1, nodes), key // max(1, nodes)
    moved = np.bincount(of, lengths[on] * (np.abs(held - mass[on]) - mass[on]), len(histogram.rows))
    return np.where(_filled(histogram), np.maximum(moved + float(lengths @ mass), 0.0), 0.0)


def hierarchical(histogram: Histogram, reference: NDArray[np.int64], codes: NDArray[np.int32]) -> Floats:
    """Distance of values in a hierarchy: level of their lowest common ancestor over the height (Li et al. 2007, 4.2).

    `codes[v, l]` is the ancestor of value v at level l. Links of length 1 / (2 height) give that distance, so the
    closed form of trees applies; it equals the mean over levels below the top of the equal distance at each level.

    >>> h = Histogram(("flu", "cold", "ulcer"), Rows.from_pairs([0], [0], 1), np.array([1]))
    >>> hierarchical(h, np.array([0, 1, 0]), np.array([[0, 0, 0], [1, 0, 0], [2, 1, 0]])).tolist()
    [0.5]
    """
    values, levels = codes.shape
    height = levels - 1
    if height == 0:
        return np.zeros(len(histogram.rows))
    spread = np.concatenate(([0], np.cumsum(codes[:, :height].max(axis=0) + 1)))
    nodes = codes[:, :height] + spread[:height]
    above = Rows.from_pairs(np.repeat(np.arange(values), height), nodes.ravel(), values)
    return tree(histogram, reference, above, np.full(int(spread[-1]), 0.5 / height))


def is_metric(matrix: NDArray[np.float64]) -> bool:
    """Whether a matrix of distances is symmetric, zero on its diagonal and keeps the triangle inequality.

    Large matrices (over 400 values) are not examined and count as no metric, which is always safe.

    >>> is_metric(np.array([[0.0, 1.0], [1.0, 0.0]]))
    True
    """
    n = len(matrix)
    if n > 400 or (np.diag(matrix) != 0).any() or not np.allclose(matrix, matrix.T, atol=NOISE):
        return False
    return all(bool((matrix[i][:, None] + matrix[i] >= matrix - NOISE).all()) for i in range(n))


def exact(
    histogram: Histogram, reference: NDArray[np.int64], matrix: NDArray[np.float64], metric: bool | None = None
) -> Floats:
    """Distance with any matrix of ground distances, by exact transport on the values that occur.

    Where the distances are a metric the mass both sides share stays where it is, which shrinks the problem.

    >>> h = Histogram(("a", "b"), Rows.from_pairs([0], [0], 1), np.array([1]))
    >>> exact(h, np.array([1, 1]), np.array([[0.0, 0.4], [0.4, 0.0]])).tolist()
    [0.2]
    """
    from keepsense.privacy.kernels.transport import transport_classes

    return transport_classes(*_compiled(histogram, reference, matrix, metric))


def bounds(
    histogram: Histogram, reference: NDArray[np.int64], matrix: NDArray[np.float64], metric: bool | None = None
) -> tuple[Floats, Floats]:
    """Bounds below and above the exact distance, far cheaper than transport.

    Below: each value ships to its nearest takers as if it were alone. Above: one after the other does, and takers fill
    up. Both are tried from either side, and the better bound is taken.

    >>> h = Histogram(("a", "b"), Rows.from_pairs([0], [0], 1), np.array([1]))
    >>> [x.tolist() for x in bounds(h, np.array([1, 1]), np.array([[0.0, 0.4], [0.4, 0.0]]))]
    [[0.2], [0.2]]
    """
    from keepsense.privacy.kernels.transport import bound_classes

    return bound_classes(*_compiled(histogram, reference, matrix, metric))


def _compiled(
    histogram: Histogram, reference: NDArray[np.int64], matrix: NDArray[np.float64], metric: bool | None
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], Floats, bool]:
    """What the compiled loops take."""
    stay = is_metric(matrix) if metric is None else metric
    plain = reference.astype(np.int64), np.ascontiguousarray(matrix)
    return histogram.rows.starts, histogram.rows.indices, histogram.counts, *plain, stay


def within(
    histogram: Histogram,
    reference: NDArray[np.int64],
    matrix: NDArray[np.float64],
    threshold: float,
    metric: bool | None = None,
) -> NDArray[np.bool_]:
    """Whether each class's exact distance is at most the threshold; most classes are decided by bounds alone.

    >>> h = Histogram(("a", "b"), Rows.from_pairs([0], [0], 1), np.array([1]))
    >>> within(h, np.array([1, 1]), np.array([[0.0, 0.4], [0.4, 0.0]]), 0.2).tolist()
    [True]
    """
    stay = is_metric(matrix) if metric is None else metric
    limit = threshold + NOISE
    # Total variation times the longest distance: the crudest bound above, and free.
    verdict = equal(histogram, reference) * float(matrix.max(initial=0.0)) <= limit
    open_ = np.flatnonzero(~verdict)
    if len(open_):
        low, high = bounds(_part(histogram, open_), reference, matrix, stay)
        verdict[open_] = high <= limit
        open_ = open_[(low <= limit) & (high > limit)]
    if len(open_):
        verdict[open_] = exact(_part(histogram, open_), reference, matrix, stay) <= limit
    return verdict


def _part(histogram: Histogram, classes: NDArray[np.intp]) -> Histogram:
    chosen = classes.astype(np.int32)
    sizes = histogram.rows.sizes[chosen]
    rows = Rows(histogram.rows.starts, np.arange(len(histogram.rows.indices), dtype=np.int32))
    entries = rows.gather(chosen)
    starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int32)
    return Histogram(histogram.values, Rows(starts, histogram.rows.indices[entries]), histogram.counts[entries])
