"""Recodings as data: what they refuse to do to the rows they are for."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.recoding import Cells

COUNTS = Counts.of({"job": ["nurse", "nurse", "nurse", "clerk"]})


def cells(source: list[int], times: list[int]) -> Cells:
    codes = np.array([[i % 2] for i in range(len(source))], dtype=np.int32)
    return Cells(("job",), (("medic", "worker"),), np.array(source), codes, np.array(times))


@pytest.mark.parametrize(
    ("source", "times"),
    [
        pytest.param([0, 1], [2, 1], id="loses a row"),
        pytest.param([0], [3], id="loses a tuple"),
        pytest.param([0, 1], [3, 2], id="repeats a row"),
        pytest.param([0, 0, 1], [3, 3, 1], id="repeats a tuple"),
        pytest.param([0, 1], [2, 2], id="gives one tuple the row of another"),
        pytest.param([0, 0, 1], [4, -1, 1], id="takes back a row that it gave too much"),
        pytest.param([0, 0, 1], [3, 0, 1], id="lists an output that nobody gets"),
        pytest.param([0, 1, 2], [3, 1, 1], id="invents a tuple"),
    ],
)
def test_a_recoding_that_loses_invents_or_repeats_rows_is_refused(source: list[int], times: list[int]) -> None:
    recoding = cells(source, times)
    with pytest.raises(BadInput, match="do not add up"):
        recoding.check(COUNTS)
    with pytest.raises(BadInput, match="do not add up"):
        recoding.bound(COUNTS)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=20))
def test_a_recoding_made_of_rows_is_accepted_and_keeps_their_number(rows: list[tuple[int, int]]) -> None:
    counts = Counts.of({"job": [f"job {job}" for job, _ in rows]})
    place = {value: i for i, value in enumerate(counts.values_of("job"))}
    of_code = {int(code): i for i, code in enumerate(counts.column("job"))}
    dealt = Counter((of_code[place[f"job {job}"]], label) for job, label in rows)
    recoding = Cells(
        ("job",),
        (tuple(f"label {i}" for i in range(4)),),
        np.array([source for source, _ in dealt]),
        np.array([[label] for _, label in dealt]),
        np.array(list(dealt.values())),
    ).bound(counts)
    released = recoding.apply(counts).rows_of("job")
    assert +Counter(released) == Counter(f"label {label}" for _, label in rows)
