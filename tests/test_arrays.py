"""Small helpers on arrays of whole numbers give what NumPy's slower ones do."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.arrays import Rows, once, used_codes


@settings(deadline=None)
@given(st.lists(st.integers(-5, 50) | st.integers(-(2**40), 2**40)))
def test_numbers_once_are_those_of_numpy(numbers: list[int]) -> None:
    keys = np.array(numbers, dtype=np.int64)
    np.testing.assert_array_equal(once(keys), np.unique(keys))
    assert once(keys).dtype == keys.dtype


@settings(deadline=None)
@given(st.lists(st.integers(-1, 60) | st.integers(0, 2**30)), st.sampled_from([np.int32, np.int64]))
def test_used_codes_are_those_of_numpy(numbers: list[int], dtype: type) -> None:
    codes = np.array(numbers, dtype=dtype)
    for ours, theirs in zip(used_codes(codes), np.unique(codes, return_inverse=True), strict=True):
        np.testing.assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 2**31 - 1), max_size=4), max_size=8), st.data())
def test_entries_of_some_rows_are_those_of_plain_lists(lists: list[list[int]], data: st.DataObject) -> None:
    starts = np.cumsum([0, *map(len, lists)]).astype(np.int32)
    rows = Rows(starts, np.array([entry for each in lists for entry in each], dtype=np.int32))
    chosen = data.draw(st.lists(st.integers(0, max(0, len(lists) - 1)), max_size=6 if lists else 0))
    entries = [entry for row in chosen for entry in lists[row]]
    assert rows.gather(np.array(chosen, dtype=np.int32)).tolist() == entries
    taken = rows.taken(np.array(chosen, dtype=np.int64))
    assert [taken[i].tolist() for i in range(len(taken))] == [lists[row] for row in chosen]
