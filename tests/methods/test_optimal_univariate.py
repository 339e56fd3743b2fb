"""Optimal univariate microaggregation against every grouping there is."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.counts import Counts
from keepsense.errors import BadInput, Infeasible, PrivacyWarning
from keepsense.methods.microaggregate.individual_ranking import individual_ranking
from keepsense.methods.microaggregate.optimal_univariate import best_ends, optimal_univariate_microaggregation
from keepsense.semantics.attribute import Nominal, Ordered
from keepsense.semantics.distance import distance
from keepsense.taxonomy.taxonomy_builder import from_edges


def groupings(values: tuple[float, ...], k: int) -> Iterator[list[list[float]]]:
    """Every way to put values into groups of at least k, neighbours or not."""

    def place(rest: Sequence[float], groups: list[list[float]]) -> Iterator[list[list[float]]]:
        if not rest:
            if all(len(group) >= k for group in groups):
                yield groups
            return
        for i in range(len(groups)):
            yield from place(rest[1:], [*groups[:i], [*groups[i], rest[0]], *groups[i + 1 :]])
        yield from place(rest[1:], [*groups, [rest[0]]])

    yield from place(values, [])


def squares(group: Sequence[float]) -> float:
    mean = sum(group) / len(group)
    return sum((value - mean) ** 2 for value in group)


def runs_cost(line: Sequence[float], k: int, by_median: bool) -> float:
    """Least cost of cutting a line into runs of k to 2k - 1, by trying every first run."""

    @cache
    def least(begin: int) -> float:
        if begin == len(line):
            return 0.0
        options = [np.inf]
        for end in range(begin + k, min(begin + 2 * k - 1, len(line)) + 1):
            run = line[begin:end]
            centre = run[(len(run) - 1) // 2] if by_median else sum(run) / len(run)
            options.append(sum((value - centre) ** 2 for value in run) + least(end))
        return float(min(options))

    return least(0)


def error_of(values: Sequence[float], k: int) -> float:
    """The squared error in the values' own unit."""
    counts = Counts.of({"age": list(values)})
    column = Ordered.of(counts, "age")
    cells = optimal_univariate_microaggregation(counts, [column], k=k)
    return float(cells.info["squared error"]) * column.span**2


@settings(deadline=None)  # the kernel is compiled on the way
@given(st.lists(st.integers(0, 30), min_size=2, max_size=8), st.integers(2, 3))
def test_no_grouping_at_all_loses_less(values: list[int], k: int) -> None:
    if len(values) < k:
        return
    best = min(sum(map(squares, groups)) for groups in groupings(tuple(values), k))
    assert error_of(values, k) == pytest.approx(best, abs=1e-9)


@settings(deadline=None)  # the kernel is compiled on the way
@given(st.lists(st.integers(0, 12), min_size=5, max_size=60), st.integers(2, 5))
def test_long_columns_agree_with_the_plain_reference_and_never_lose_more_than_ranking(
    values: list[int], k: int
) -> None:
    counts = Counts.of({"age": values})
    column = Ordered.of(counts, "age")
    error = error_of(values, k)
    assert error == pytest.approx(runs_cost(sorted(values), k, by_median=False), abs=1e-9)
    ranked = individual_ranking(counts, [column], k=k).info["squared error"] * column.span**2
    assert error <= ranked + 1e-9


@settings(deadline=None)  # the kernel is compiled on the way
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(1, 60)), min_size=1, max_size=6, unique_by=lambda pair: pair[0]),
    st.integers(2, 4),
)
def test_many_copies_are_set_aside_without_a_loss(pairs: list[tuple[int, int]], k: int) -> None:
    values = [value for value, copies in pairs for _ in range(copies)]
    if len(values) < k:
        return
    assert error_of(values, k) == pytest.approx(runs_cost(sorted(values), k, by_median=False), abs=1e-9)
    column = Ordered.of(Counts.of({"age": values}), "age")
    line = np.argsort(column.positions, kind="stable")
    sizes = np.diff(best_ends(column, line, column.weights[line], k), prepend=0)
    assert sizes.sum() == len(values)
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1


@settings(deadline=None)  # the kernel is compiled on the way
@given(st.lists(st.sampled_from("smlx"), min_size=4, max_size=40), st.integers(2, 4))
def test_ordered_categories_have_the_best_runs_around_medians(sizes: list[str], k: int) -> None:
    counts = Counts.of({"size": sizes})
    column = Ordered.of(counts, "size", levels=list("smlx"))
    cells = optimal_univariate_microaggregation(counts, [column], k=k)
    line = sorted("smlx".index(size) for size in sizes)
    assert cells.info["squared error"] * 9 == pytest.approx(runs_cost(line, k, by_median=True), abs=1e-9)


def test_by_hand() -> None:
    """k = 2 over 1, 2, 3, 10, 11: ranking cuts 1 2 | 3 10 11 (0.5 + 38), the best is 1 2 3 | 10 11 (2 + 0.5)."""
    counts = Counts.of({"age": [11, 1, 3, 10, 2]})
    column = Ordered.of(counts, "age")
    cells = optimal_univariate_microaggregation(counts, [column], k=2)
    released = [cells.values[0][code] for code in cells.codes[:, 0]]
    assert Counter(np.repeat(released, cells.multiplicity).tolist()) == {2.0: 3, 10.5: 2}
    assert cells.info["squared error"] * column.span**2 == pytest.approx(2.5)
    ranked = individual_ranking(counts, [column], k=2)
    assert ranked.info["squared error"] * column.span**2 == pytest.approx(38.5)


def test_columns_are_grouped_each_by_itself_and_a_warning_says_so() -> None:
    counts = Counts.of({"age": [1, 2, 3, 10, 11], "stay": [10, 1, 2, 3, 11]})
    columns = [Ordered.of(counts, "age"), Ordered.of(counts, "stay")]
    with pytest.warns(PrivacyWarning, match="optimal univariate microaggregation protects each column by itself"):
        both = optimal_univariate_microaggregation(counts, columns, k=2)
    for j, column in enumerate(columns):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            alone = optimal_univariate_microaggregation(counts, [column], k=2)
        expected = Counter(np.repeat([alone.values[0][c] for c in alone.codes[:, 0]], alone.multiplicity).tolist())
        assert Counter(np.repeat([both.values[j][c] for c in both.codes[:, j]], both.multiplicity).tolist()) == expected


def test_what_it_refuses() -> None:
    counts = Counts.of({"job": ["nurse", "clerk"], "age": [30, 40]})
    jobs = from_edges([("nurse", "medic"), ("clerk", "office"), ("medic", "work"), ("office", "work")])
    words = Nominal.of(counts, "job", distance("path", jobs))
    with pytest.raises(BadInput, match="'job' holds words, which lie on no line"):
        optimal_univariate_microaggregation(counts, [words], k=2)
    with pytest.raises(Infeasible, match="cannot form a group"):
        optimal_univariate_microaggregation(counts, [Ordered.of(counts, "age")], k=3)
