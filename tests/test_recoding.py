"""Recodings as data: what they refuse to do to the rows they are for."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.recoding import Cells, Cut, Cuts, among

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


FAR = st.sampled_from([0, 1, 2, 2**31 - 1])


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(FAR, FAR, FAR), max_size=20), st.lists(st.tuples(FAR, FAR, FAR), max_size=6))
def test_rows_are_found_among_others_as_in_plain_python(
    rows: list[tuple[int, ...]], some: list[tuple[int, ...]]
) -> None:
    table, others = (np.array(part, dtype=np.int32).reshape(-1, 3) for part in (rows, some))
    assert among(table, others).tolist() == [row in some for row in rows]


LABELS = st.sampled_from(["medic", "office", "*", None])


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), min_size=1, max_size=20),
    st.tuples(*[LABELS] * 6),
    st.frozensets(st.tuples(LABELS, LABELS), max_size=4),
)
def test_a_rule_spelled_out_is_that_of_plain_python(
    rows: list[tuple[str, str]], labels: tuple[str | None, ...], suppress: frozenset[tuple[str | None, ...]]
) -> None:
    rule = Cuts((Cut("a", ("a", "b", "c"), labels[:3]), Cut("b", ("x", "y", "z"), labels[3:])), suppress)
    counts = Counts.of({"a": [row[0] for row in rows], "b": [row[1] for row in rows]})
    spelled = rule.cells(counts)
    assert rule.cells(counts) is spelled, "once for one table"
    for i, (a, b) in enumerate(dict.fromkeys(rows)):
        became = labels["abc".index(a)], labels[3 + "xyz".index(b)]
        assert spelled.suppressed is not None
        assert bool(spelled.suppressed[i]) == (became in suppress)
        shown = tuple(spelled.values[j][spelled.codes[i, j]] for j in range(2))
        assert shown == (("*", "*") if became in suppress else became)
    other = Counts.of({"a": ["c"], "b": ["z"]})
    assert len(rule.cells(other).source) == 1, "and anew for another"


def test_what_a_caller_changes_later_does_not_change_a_recoding() -> None:
    source = np.array([0, 1])
    recoding = Cells(("job",), (("medic",),), source, np.zeros((2, 1), np.int32), np.array([3, 1]))
    source[0] = 7
    assert recoding.source.tolist() == [0, 1]


def test_a_recoding_that_is_bound_holds_weights_once_only() -> None:
    counts = Counts.of({"job": ["nurse", "nurse", "clerk"]})
    whole = Cells(("job",), (("*",),), np.arange(2), np.zeros((2, 1), np.int32), np.array([2, 1])).bound(counts)
    assert whole.multiplicity is counts.weights
    parted = Cells(("job",), (("*",),), np.array([0, 0, 1]), np.zeros((3, 1), np.int32), np.ones(3, int)).bound(counts)
    assert parted.multiplicity.tolist() == [1, 1, 1]
