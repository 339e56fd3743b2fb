from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.table_reference import counted, released, rows_of_tables

from keepsense.counts import Counts
from keepsense.errors import BadInput, Infeasible
from keepsense.hierarchies.intervals import parse_interval
from keepsense.methods.generalize.local_suppression import at_least, local_suppression
from keepsense.methods.generalize.sampling import sampling
from keepsense.methods.generalize.top_bottom_coding import top_and_bottom_coding

# ---- sampling --------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=40)
@given(rows_of_tables(), st.floats(0.05, 1), st.integers(0, 2**32 - 1))
def test_a_sample_is_part_of_the_table(rows: list[tuple[Any, ...]], share: float, seed: int) -> None:
    counts = counted(rows)
    size = max(1, round(share * len(rows)))
    cells = sampling(counts, size=size, rng=seed)
    cells.check(counts)
    assert cells.suppressed is not None
    shown = ~cells.suppressed
    assert int(cells.multiplicity[shown].sum()) == size
    for t, code in zip(cells.source[shown], cells.codes[shown], strict=True):
        assert code.tolist() == counts.codes[t].tolist(), "records of the sample are unchanged"
    hidden = {tuple(cells.values[j][c] for j, c in enumerate(row)) for row in cells.codes[~shown].tolist()}
    assert hidden <= {("*", "*", "*")}
    again = sampling(counts, size=size, rng=seed)
    assert (again.multiplicity == cells.multiplicity).all()
    assert "seed" not in str(cells.info)


def test_every_record_is_as_likely() -> None:
    counts = Counts.of({"job": ["nurse"] * 30 + ["clerk"] * 10})
    rng = np.random.default_rng(5)
    drawn = [sampling(counts, share=0.5, rng=rng) for _ in range(400)]
    nurses = [int(c.multiplicity[(c.source == 0) & ~c.suppressed].sum()) for c in drawn if c.suppressed is not None]
    # hypergeometric: mean 15, variance 20 * 3/4 * 1/4 * 20/39
    assert abs(np.mean(nurses) - 15) < 4 * np.sqrt(1.923 / 400)
    assert np.var(nurses) == pytest.approx(1.923, rel=0.35)


def test_sampling_refuses() -> None:
    counts = Counts.of({"job": ["nurse", "clerk"]})
    wrong: list[dict[str, Any]] = [{}, {"share": 0.5, "size": 1}, {"share": 0.0}, {"share": 1.5}, {"share": 0.1}]
    for options in (*wrong, {"size": 0}, {"size": 3}):
        with pytest.raises(BadInput, match="sampling"):
            sampling(counts, **options)


# ---- top and bottom coding -------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(0, 100), min_size=1, max_size=40), st.integers(0, 100), st.integers(0, 100))
def test_only_the_ends_change(numbers: list[int], a: int, b: int) -> None:
    bottom, top = min(a, b), max(a, b) + 1
    counts = Counts.of({"age": numbers})
    rule = top_and_bottom_coding(counts, column="age", top=top, bottom=bottom)
    for value, out in zip(rule.cuts[0].inputs, rule.cuts[0].outputs, strict=True):
        assert isinstance(value, int)
        assert out == (f"{top} or more" if value >= top else f"{bottom} or less" if value <= bottom else value)
    assert rule.info["coded"] == {
        "top": sum(n >= top for n in numbers),
        "bottom": sum(n <= bottom for n in numbers),
    }
    assert rule.apply(counts).total == len(numbers)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(0, 1000), min_size=10, max_size=60, unique=True), st.floats(0.01, 0.3))
def test_a_share_of_records_at_each_end(numbers: list[int], share: float) -> None:
    rule = top_and_bottom_coding(Counts.of({"age": numbers}), column="age", share=share)
    least = int(np.ceil(share * len(numbers) - 1e-9))
    assert rule.info["coded"] == {"top": least, "bottom": least}


def test_a_share_is_not_rounded_up() -> None:
    rule = top_and_bottom_coding(Counts.of({"age": list(range(100))}), column="age", share=0.07)
    assert rule.info["coded"] == {"top": 7, "bottom": 7}


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.integers(0, 10**7).map(lambda cents: cents / 100), min_size=10, max_size=60, unique=True),
    st.floats(0.01, 0.4),
)
def test_coded_labels_are_true_and_no_threshold_is_a_value(pays: list[float], share: float) -> None:
    rule = top_and_bottom_coding(Counts.of({"pay": pays}), column="pay", share=share)
    for value, out in zip(rule.cuts[0].inputs, rule.cuts[0].outputs, strict=True):
        low, high = parse_interval(out)
        assert low <= value <= high
    if any(value != round(value) for value in pays):
        near = sorted(pays)
        cents = min(b - a for a, b in pairwise(near))
        assert cents < 0.02 or not {rule.info["top"], rule.info["bottom"]} & set(pays)


def test_coding_reads_text_keeps_gaps_and_refuses() -> None:
    rule = top_and_bottom_coding(Counts.of({"age": ["20", None, "95.5"]}), column="age", top=90.5)
    assert rule.cuts[0].outputs == ("20", None, "90.5 or more")
    counts = Counts.of({"age": [20, 30], "job": ["nurse", "clerk"]})
    with pytest.raises(BadInput, match="'job' holds values that are not numbers"):
        top_and_bottom_coding(counts, column="job", top=3)
    with pytest.raises(BadInput, match="below the top"):
        top_and_bottom_coding(counts, column="age", top=20, bottom=25)
    with pytest.raises(BadInput, match="give a top"):
        top_and_bottom_coding(counts, column="age")
    with pytest.raises(BadInput, match="share"):
        top_and_bottom_coding(counts, column="age", share=0.7)
    with pytest.raises(BadInput, match="no column"):
        top_and_bottom_coding(counts, column="ages", top=3)
    with pytest.raises(BadInput, match="no number"):
        top_and_bottom_coding(Counts.of({"age": [None]}), column="age", share=0.1)


# ---- local suppression -----------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=40)
@given(rows_of_tables(), st.integers(2, 4))
def test_cells_are_kept_or_blank_and_the_promise_holds(rows: list[tuple[Any, ...]], k: int) -> None:
    counts = counted(rows)
    cells = local_suppression(counts, k=k)
    assert cells.apply(counts).weights.min() >= k
    out = released(cells, counts)
    blank = 0
    for row, new, weight in zip(counts.codes.tolist(), out, counts.weights.tolist(), strict=True):
        for j, value in enumerate(new):
            assert value in (counts.values[j][row[j]], "*")
            blank += weight * (value == "*")
    assert cells.info["suppressed_cells"] == blank


def test_few_cells_are_lost() -> None:
    rows = [("nurse", 30, "f")] * 4 + [("nurse", 31, "f")] * 4 + [("clerk", 40, "m")] * 4 + [("clerk", 41, "m")]
    cells = local_suppression(counted(rows), k=2)
    # the last record needs company: the four clerks aged 40 lose their age with it, five cells in all
    assert cells.info["suppressed_cells"] == 5
    assert cells.info["suppressed"] == 0


def test_important_columns_are_kept() -> None:
    counts = Counts.of({"sex": ["f", "f", "m", "m"], "job": ["nurse", "clerk", "nurse", "clerk"]})
    by_sex = local_suppression(counts, k=2, importance={"sex": 5})
    assert set(released(by_sex, counts)) == {("f", "*"), ("m", "*")}
    by_job = local_suppression(counts, k=2, importance={"job": 5})
    assert set(released(by_job, counts)) == {("*", "nurse"), ("*", "clerk")}


SMALL = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.sampled_from("uv")), min_size=2, max_size=7
)


def partitions(rows: list[int], k: int) -> Iterator[list[list[int]]]:
    """Every way to divide rows into groups of at least k."""
    if not rows:
        yield []
        return
    first, *rest = rows
    for mask in range(1 << len(rest)):
        group = [first, *(row for i, row in enumerate(rest) if mask >> i & 1)]
        if len(group) >= k:
            for others in partitions([row for row in rest if row not in group], k):
                yield [group, *others]


def cells_lost(table: list[tuple[Any, ...]], groups: list[list[int]], price: tuple[float, ...]) -> float:
    return sum(
        len(group) * sum(cost for j, cost in enumerate(price) if len({table[row][j] for row in group}) > 1)
        for group in groups
    )


@given(table=SMALL, k=st.integers(1, 3), heavy=st.sampled_from([1.0, 3.0]))
@settings(max_examples=60, deadline=None)
def test_the_fewest_cells_lie_between_the_bound_and_what_is_found(
    table: list[tuple[Any, ...]], k: int, heavy: float
) -> None:
    """Against the definition: every partition of the rows into groups of at least k."""
    if len(table) < k:
        return
    counts = counted(table)
    importance = {counts.names[0]: heavy}
    best = min(cells_lost(table, groups, (heavy, 1.0, 1.0)) for groups in partitions(list(range(len(table))), k))
    assert at_least(counts, k, importance) <= best <= local_suppression(counts, k=k, importance=importance).info["cost"]


def test_the_gap_by_hand() -> None:
    rows = [("nurse", 30, "f")] * 4 + [("clerk", 40, "m")] * 3 + [("clerk", 41, "m")]
    # one of the three clerks of 40 could lose the age together with the one of 41: two cells; all four do
    info = local_suppression(counted(rows), k=2).info
    assert (info["cost"], info["cost at least"], info["gap"]) == (4.0, 1.0, 0.75)


def test_the_bound_by_hand() -> None:
    counts = Counts.of({"sex": ["f", "f", "m", "m"], "job": ["nurse", "clerk", "nurse", "cook"]})
    # every record has one like it without its job, and the nurses also without their sex: one cell each
    assert at_least(counts, 2) == 4.0
    # three alike are there only without both columns
    assert at_least(counts, 3) == 8.0
    assert at_least(counts, 2, {"job": 5.0, "sex": 2.0}) == 2.0 + 5.0 + 2.0 + 5.0


def test_local_suppression_refuses() -> None:
    counts = Counts.of({"sex": ["f", "m"]})
    with pytest.raises(BadInput, match=r"'sec' to give importance. Did you mean sex"):
        local_suppression(counts, k=2, importance={"sec": 1})
    with pytest.raises(BadInput, match="above 0"):
        local_suppression(counts, k=2, importance={"sex": 0})
    with pytest.raises(BadInput, match="already"):
        local_suppression(Counts.of({"sex": ["f", "*"]}), k=2)
    with pytest.raises(Infeasible):
        local_suppression(counts, k=3)
