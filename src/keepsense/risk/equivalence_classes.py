"""Equivalence classes: records that an attacker cannot distinguish; a missing value is a category or a wildcard.

As a category, a missing value equals only another missing value, and the distinct tuples are the classes. As a
wildcard it fits anything, in the record as in what the attacker knows: the class of a record is then every record
that fits it, and such classes overlap. Work is done on distinct tuples, grouped by which columns are missing: two
groups are compared only on the columns both have, by sorting, so the cost grows with groups times tuples and not with
pairs of tuples. A table with many records that are missing everywhere gains little from k-anonymity with wildcards,
because such records fit every person: count them before relying on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Rows
from keepsense.counts import Counts, Histogram, Value, distinct_rows, histogram
from keepsense.errors import BadInput

Missing = Literal["category", "wildcard"]
Integers = NDArray[np.int64]


def class_sizes(counts: Counts, missing: Missing = "category") -> Integers:
    """Records in the class of each distinct tuple.

    >>> counts = Counts.of({"sex": ["f", "f", None], "job": ["nurse", "clerk", "nurse"]})
    >>> class_sizes(counts).tolist(), class_sizes(counts, "wildcard").tolist()
    ([1, 1, 1], [2, 1, 2])
    """
    if _check(missing) == "category" and _all_different(counts):
        return counts.weights.copy()
    return sizes_in(counts, counts, missing)


def _all_different(counts: Counts) -> bool:
    """Whether no two tuples hold the same values, as is so of what an engine counted."""
    one_each = all(len(set(values)) == len(values) for values in counts.values)
    return one_each and len(distinct_rows(counts.codes)[0]) == len(counts)


def sizes_in(counts: Counts, other: Counts, missing: Missing = "category") -> Integers:
    """Records of another table (a population, say) that fit each distinct tuple of this one.

    >>> people = Counts.of({"job": ["nurse", "nurse", "clerk", None]})
    >>> released = Counts.of({"job": ["nurse", "farmer"]})
    >>> sizes_in(released, people).tolist(), sizes_in(released, people, "wildcard").tolist()
    ([2, 0], [3, 1])
    """
    values, mine, theirs = align(counts, other)
    sizes = np.zeros(len(counts), dtype=np.int64)
    for left, right, left_key, right_key, keys in _pairs(mine, theirs, _gaps(values, mine, theirs, missing)):
        sizes[left] += np.bincount(right_key, other.weights[right], keys).astype(np.int64)[left_key]
    return sizes


def classes(counts: Counts, missing: Missing = "category") -> tuple[Integers, dict[str, Histogram]]:
    """Records, and histograms of every further column, in the class of each distinct tuple.

    >>> counts = Counts.of({"sex": ["f", None]}, histograms={"disease": ["flu", "cold"]})
    >>> sizes, histograms = classes(counts, "wildcard")
    >>> sizes.tolist(), histograms["disease"].table().tolist()
    ([2, 2], [[1, 1], [1, 1]])
    """
    if _check(missing) == "category":
        return counts.weights, dict(counts.histograms)
    gaps = _gaps(counts.values, counts.codes, counts.codes, missing)
    sizes = np.zeros(len(counts), dtype=np.int64)
    parts: dict[str, list[tuple[NDArray[np.intp], NDArray[np.int32], Integers]]] = {n: [] for n in counts.histograms}
    for left, right, left_key, right_key, keys in _pairs(counts.codes, counts.codes, gaps):
        sizes[left] += np.bincount(right_key, counts.weights[right], keys).astype(np.int64)[left_key]
        for name, h in counts.histograms.items():
            added = histogram(h.values, *_entries(h, right, right_key), keys)
            entry = Rows(added.rows.starts, np.arange(len(added.counts), dtype=np.int32)).gather(left_key)
            tuples = np.repeat(left, added.rows.sizes[left_key])
            parts[name].append((tuples, added.rows.indices[entry], added.counts[entry]))
    merged = {}
    for name, pieces in parts.items():
        row, code, number = (np.concatenate(column) for column in zip(*pieces, strict=True))
        merged[name] = histogram(counts.histograms[name].values, code, row, number, len(counts))
    return sizes, merged


def _check(missing: Missing) -> Missing:
    if missing not in ("category", "wildcard"):
        raise BadInput(f"missing values are a 'category' or a 'wildcard', not {missing!r}")
    return missing


def _gaps(
    values: Sequence[Sequence[object]], mine: NDArray[np.int32], theirs: NDArray[np.int32], missing: Missing
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which cells fit anything, in either table."""
    if _check(missing) == "category":
        return np.zeros(mine.shape, np.bool_), np.zeros(theirs.shape, np.bool_)
    codes = np.array([next((i for i, v in enumerate(column) if v is None), -1) for column in values], dtype=np.int64)
    return mine == codes, theirs == codes


def _pairs(
    mine: NDArray[np.int32], theirs: NDArray[np.int32], gaps: tuple[NDArray[np.bool_], NDArray[np.bool_]]
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.int32], NDArray[np.int32], int]]:
    """For each two patterns of missing columns: tuples of either side and their keys on the columns both have."""
    patterns, of_mine = distinct_rows(gaps[0].astype(np.int32))
    others, of_theirs = distinct_rows(gaps[1].astype(np.int32))
    for p, pattern in enumerate(patterns):
        left = np.flatnonzero(of_mine == p)
        for q, other in enumerate(others):
            right = np.flatnonzero(of_theirs == q)
            shared = np.flatnonzero((pattern == 0) & (other == 0))
            table = np.concatenate([mine[np.ix_(left, shared)], theirs[np.ix_(right, shared)]])
            distinct, key = distinct_rows(np.ascontiguousarray(table))
            yield left, right, key[: len(left)], key[len(left) :], max(1, len(distinct))


def _entries(
    h: Histogram, tuples: NDArray[np.intp], keys: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32], Integers]:
    """Codes, keys and counts of the histogram's entries under some tuples."""
    chosen = tuples.astype(np.int32)
    entry = replace(h.rows, indices=np.arange(len(h.counts), dtype=np.int32)).gather(chosen)
    return h.rows.indices[entry], np.repeat(keys, h.rows.sizes[chosen]), h.counts[entry]


def align(counts: Counts, other: Counts) -> tuple[tuple[tuple[Value, ...], ...], NDArray[np.int32], NDArray[np.int32]]:
    """Codes of two tables over the same columns in common dictionaries (the first table's, extended).

    >>> values, first, second = align(Counts.of({"a": ["x"]}), Counts.of({"a": ["y", "x"]}))
    >>> values, first.tolist(), second.tolist()
    ((('x', 'y'),), [[0]], [[1], [0]])
    """
    missing = [name for name in counts.names if name not in other.names]
    if missing:
        raise BadInput(f"the population lacks the column {missing[0]!r}; it needs all quasi-identifiers")
    dictionaries, columns = [], []
    for name, values in zip(counts.names, counts.values, strict=True):
        place = {value: i for i, value in enumerate(values)}
        lookup = np.array([place.setdefault(v, len(place)) for v in other.values_of(name)], dtype=np.int32)
        columns.append(lookup[other.column(name)])
        dictionaries.append(tuple(place))
    second = np.stack(columns, axis=1) if columns else np.empty((len(other), 0), np.int32)
    return tuple(dictionaries), counts.codes, second
