"""Arrow arrays through their buffers are what Arrow itself makes, and come back as they were."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.engines import dictionary_encoding

texts = st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"])), max_size=20)
whole = st.lists(st.integers(-(2**63), 2**63 - 1), max_size=20)
mixed = st.lists(st.none() | st.booleans() | st.integers(-5, 5), max_size=6)
lists = st.lists(st.lists(st.text("ab", max_size=2), max_size=3), max_size=5)


@settings(deadline=None)
@given(cells=st.one_of(texts, whole, mixed, lists, st.lists(st.floats(allow_nan=False))))
def test_values_become_what_arrow_makes_of_them(cells: list[Any]) -> None:
    try:
        expected = pa.array(cells)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        with pytest.raises((pa.ArrowInvalid, pa.ArrowTypeError)):
            dictionary_encoding.array(cells)
        return
    made = dictionary_encoding.array(cells)
    made.validate(full=True)
    assert made.type == expected.type
    assert made.equals(expected)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.int64(), pa.int32(), pa.float64(), pa.date32()])
@settings(deadline=None)
@given(cells=st.one_of(texts, whole))
def test_a_type_that_is_asked_for_is_given_or_refused(kind: Any, cells: list[Any]) -> None:
    try:
        expected = pa.array(cells, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
        with pytest.raises(type(error)):
            dictionary_encoding.array(cells, kind)
        return
    made = dictionary_encoding.array(cells, kind)
    made.validate(full=True)
    assert made.type == kind
    assert made.equals(expected)


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "?", "U3", "M8[s]"])
def test_arrays_of_numpy(dtype: str) -> None:
    cells = np.arange(7).astype(dtype)[::2]
    made, expected = dictionary_encoding.array(cells), pa.array(cells)
    assert made.type == expected.type
    assert made.equals(expected)
    back = dictionary_encoding.numbers(made[1:])
    np.testing.assert_array_equal(back, expected[1:].to_numpy(zero_copy_only=False))
    assert back.dtype == expected.to_numpy(zero_copy_only=False).dtype


def test_half_of_a_pair_of_codes_is_refused_as_arrow_does() -> None:
    with pytest.raises(UnicodeEncodeError):
        dictionary_encoding.array(["\ud800"])
