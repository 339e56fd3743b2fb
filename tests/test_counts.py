"""Counting columns in memory: what methods see of a table."""

from __future__ import annotations

import pickle
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.counts import Counts, added_up, distinct_rows, encode, histogram, keys_among, row_keys
from keepsense.errors import BadInput

CELLS = st.sampled_from(["nurse", "cook", "", None, 0, 7, 2.5])


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(CELLS, CELLS, st.sampled_from("xy"), st.integers(0, 5)), max_size=30))
def test_counts_are_those_of_the_rows(rows: list[tuple[Any, Any, str, int]]) -> None:
    first, second, label, amount = ([row[i] for row in rows] for i in range(4))
    counts = Counts.of({"a": first, "b": second}, histograms={"c": label}, sums={"d": amount})
    found = {
        tuple(counts.values[j][code] for j, code in enumerate(codes)): i
        for i, codes in enumerate(counts.codes.tolist())
    }
    expected = Counter((a, b) for a, b, _, _ in rows)
    assert {key: int(counts.weights[i]) for key, i in found.items()} == expected
    assert list(found) == list(expected), "in order of first appearance"
    table = counts.histograms["c"].table()
    by_label = Counter(rows_of(rows))
    for key, i in found.items():
        assert {v: n for v, n in zip(counts.histograms["c"].values, table[i].tolist(), strict=True) if n} == {
            v: n for (k, v), n in by_label.items() if k == key
        }
        assert counts.sums["d"][i] == sum(d for a, b, _, d in rows if (a, b) == key)
    smaller = counts.project(["b"])
    assert smaller.total == counts.total == len(rows)
    assert smaller.histograms["c"].total().tolist() == counts.histograms["c"].total().tolist()


def rows_of(rows: list[tuple[Any, Any, str, int]]) -> list[tuple[tuple[Any, Any], str]]:
    return [((a, b), label) for a, b, label, _ in rows]


def test_not_a_number_is_one_missing_value() -> None:
    for column in ([1.0, float("nan"), float("nan"), None], np.array([1.0, np.nan, np.nan, np.nan])):
        values, codes = encode(column)
        assert values == (1.0, None)
        assert codes.tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize(
    ("further", "message"),
    [
        ({"histograms": {"c": ["x"]}}, "'c' has 1 rows"),
        ({"histograms": {"c": ["x", "y", "z"]}}, "'c' has 3 rows"),
        ({"sums": {"d": [1.0]}}, "'d' has 1 rows"),
        ({"weights": [1]}, "weights: give a whole number"),
        ({"weights": [1, -1]}, "weights: give a whole number"),
        ({"weights": [1.5, 1]}, "weights: give a whole number"),
    ],
)
def test_columns_of_another_length_are_refused(further: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        Counts.of({"a": ["nurse", "cook"]}, **further)


def test_cells_that_hold_several_values_are_refused() -> None:
    with pytest.raises(BadInput, match="'a' holds cells that are no single values"):
        Counts.of({"a": [["nurse", "cook"]]})


def test_counts_travel_to_a_worker() -> None:
    counts = Counts.of({"a": ["nurse", "cook", "nurse"]}, histograms={"c": ["x", "y", "x"]})
    again = pickle.loads(pickle.dumps(counts))
    assert again.weights.tolist() == [2, 1]
    assert again.histograms["c"].table().tolist() == [[2, 0], [0, 1]]


FARTHEST = st.sampled_from([-(2**31), -(2**31) + 1, -1, 0, 1, 2**31 - 2, 2**31 - 1])


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(*[FARTHEST] * 5), max_size=25))
def test_distinct_rows_are_those_of_plain_python_however_far_their_codes_lie_apart(rows: list[tuple[int, ...]]) -> None:
    table = np.array(rows, dtype=np.int32).reshape(-1, 5)
    distinct, group = distinct_rows(table)
    assert [tuple(row) for row in distinct.tolist()] == list(dict.fromkeys(rows))
    assert [tuple(distinct[place].tolist()) for place in group] == rows


def test_rows_that_differ_in_the_first_column_only_are_not_taken_for_one() -> None:
    """One number for a row of columns of 2^32 codes each would have to be larger than 64 bits hold."""
    low, high = -(2**31), 2**31 - 1
    table = np.array([[low, low, low], [high, high, high], [0, low, low], [1, low, low]], dtype=np.int32)
    assert distinct_rows(table)[1].tolist() == [0, 1, 2, 3]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), max_size=40), st.booleans())
def test_distinct_rows_of_few_codes_and_of_sorted_rows_are_those_of_plain_python(
    rows: list[tuple[int, ...]], in_order: bool
) -> None:
    rows = sorted(rows) if in_order else rows
    distinct, group = distinct_rows(np.array(rows, dtype=np.int32).reshape(-1, 3))
    assert [tuple(row) for row in distinct.tolist()] == list(dict.fromkeys(rows))
    assert [tuple(distinct[place].tolist()) for place in group] == rows


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 9)), max_size=30),
    st.sampled_from([4, 70_000]),
    st.booleans(),
)
def test_a_histogram_adds_up_like_plain_python(entries: list[tuple[int, int, int]], width: int, in_order: bool) -> None:
    entries = sorted(dict.fromkeys(entries)) if in_order else entries
    group, code, weight = (np.array([entry[i] for entry in entries], dtype=np.int64) for i in range(3))
    made = histogram(tuple(range(width)), code * (width // 4), group, weight, 5)
    expected: Counter[tuple[int, int]] = Counter()
    for g, c, w in entries:
        expected[g, c * (width // 4)] += w
    rows, codes, numbers = made.rows.row_of().tolist(), made.rows.indices.tolist(), made.counts.tolist()
    assert list(zip(rows, codes, strict=True)) == sorted(expected)
    assert dict(zip(zip(rows, codes, strict=True), numbers, strict=True)) == dict(expected)


@settings(deadline=None, max_examples=80)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 7)), max_size=30),
    st.sampled_from([1, 10_000, 1 << 50]),
    st.sampled_from([1, 1 << 30]),
)
def test_numbers_are_added_up_by_key_however_large_both_are(
    entries: list[tuple[int, int]], apart: int, large: int
) -> None:
    keys, numbers = (np.array([entry[i] for entry in entries], dtype=np.int64) for i in range(2))
    expected: Counter[int] = Counter()
    for key, number in entries:
        expected[key * apart] += number * large
    distinct, sums = added_up(keys * apart, 10 * apart, numbers * large)
    assert dict(zip(distinct.tolist(), sums.tolist(), strict=True)) == dict(expected)
    assert distinct.tolist() == sorted(expected)


@settings(deadline=None, max_examples=80)
@given(
    st.lists(st.integers(0, 40), max_size=40),
    st.lists(st.integers(0, 40), max_size=10),
    st.sampled_from([1, 1 << 20, 1 << 56]),
)
def test_keys_are_found_among_others_however_far_they_lie_apart(mine: list[int], others: list[int], apart: int) -> None:
    keys, some = (np.array(part, dtype=np.int64) * apart for part in (mine, others))
    assert keys_among(keys, some, 41 * apart).tolist() == [key in others for key in mine]


def test_keys_of_several_blocks_are_found_among_others() -> None:
    keys = np.random.default_rng(1).integers(0, 1 << 50, 600_000)
    some = keys[::7].copy()
    assert (keys_among(keys, some, 1 << 50) == np.isin(keys, some)).all()


def test_keys_of_rows_in_several_blocks_are_in_the_order_of_the_rows() -> None:
    table = np.random.default_rng(2).integers(-3, 4, (70_001, 3)).astype(np.int32)
    keys, space = row_keys(table)
    assert keys.min() >= 0
    assert keys.max() < space
    assert np.array_equal(np.argsort(keys, kind="stable"), np.lexsort(table.T[::-1]))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 4), st.integers(0, 5)), max_size=30))
def test_joint_counts_are_those_of_the_rows_whatever_other_columns_there_are(rows: list[tuple[str, int, int]]) -> None:
    counts = Counts.of({name: [row[i] for row in rows] for i, name in enumerate(("job", "age", "sex"))})
    table = counts.joint("job", "sex")
    spelled = {
        (counts.values_of("job")[i], counts.values_of("sex")[j]): int(number)
        for (i, j), number in np.ndenumerate(table.toarray())
        if number
    }
    assert spelled == dict(Counter((row[0], row[2]) for row in rows))
    assert table.has_canonical_format
