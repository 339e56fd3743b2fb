"""Small helpers on arrays of whole numbers give what NumPy's slower ones do."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.arrays import once, used_codes


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
