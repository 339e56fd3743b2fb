"""The fewest suppressed cells: against every partition of small tables, and the bound below any of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keepsense.methods.generalize.optimal_suppression import optimal_local_suppression
from keepsense.methods.generalize.parts.fewest_cells import fewest_cells
from tests.methods.table_reference import counted

from keepsense.counts import Counts
from keepsense.errors import BadInput, Infeasible
from keepsense.methods.generalize.local_suppression import at_least, local_suppression
from keepsense.privacy.l_diversity import DistinctDiversity

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
def test_no_partition_suppresses_fewer_cells(table: list[tuple[Any, ...]], k: int, heavy: float) -> None:
    """Against the definition: every partition of the rows into groups of at least k."""
    if len(table) < k:
        return
    counts = counted(table)
    importance = {counts.names[0]: heavy}
    best = min(cells_lost(table, groups, (heavy, 1.0, 1.0)) for groups in partitions(list(range(len(table))), k))
    fewest = fewest_cells(counts, k, importance)
    assert fewest is not None
    assert fewest.cost == best
    assert at_least(counts, k, importance) <= best
    cells = optimal_local_suppression(counts, k=k, importance=importance)
    cells.check(counts)
    assert cells.info["cost"] == best
    assert cells.apply(counts).weights.min() >= k
    assert local_suppression(counts, k=k, importance=importance).info["cost"] >= best


def test_a_hand_computed_table() -> None:
    rows = [("nurse", 30, "f")] * 4 + [("clerk", 40, "m")] * 3 + [("clerk", 41, "m")]
    # one of the three clerks of 40 loses the age together with the one of 41: two cells; the heuristic takes all four
    assert optimal_local_suppression(counted(rows), k=2).info["suppressed_cells"] == 2
    heuristic = local_suppression(counted(rows), k=2)
    assert (heuristic.info["cost"], heuristic.info["cost at least"], heuristic.info["gap"]) == (4.0, 1.0, 0.75)


def test_many_rows_of_a_tuple_are_no_obstacle() -> None:
    """Rows beyond what company could be needed for stay among themselves."""
    counts = Counts.of({"job": ["nurse"] * 500 + ["clerk"], "sex": ["f"] * 501})
    cells = optimal_local_suppression(counts, k=3)
    assert cells.info["cost"] == 3.0
    assert cells.apply(counts).rows_of("job") == {"nurse": 498, "clerk": 0, "*": 3}


def test_large_tables_tell_the_gap() -> None:
    rng = np.random.default_rng(3)
    rows = [tuple(int(cell) for cell in rng.integers(0, 9, 3)) for _ in range(150)]
    cells = optimal_local_suppression(counted(rows), k=3)
    assert fewest_cells(counted(rows), 3) is None
    assert 0 < cells.info["cost at least"] <= cells.info["cost"] == cells.info["suppressed_cells"]
    assert cells.info["gap"] == pytest.approx(1 - cells.info["cost at least"] / cells.info["cost"])


def test_the_bound_by_hand() -> None:
    counts = Counts.of({"sex": ["f", "f", "m", "m"], "job": ["nurse", "clerk", "nurse", "cook"]})
    # every record has one like it without its job, and the nurses also without their sex: one cell each
    assert at_least(counts, 2) == 4.0
    # three alike are there only without both columns
    assert at_least(counts, 3) == 8.0
    assert at_least(counts, 2, {"job": 5.0, "sex": 2.0}) == 2.0 + 5.0 + 2.0 + 5.0


def test_other_promises_get_what_local_suppression_finds() -> None:
    counts = Counts.of({"sex": ["f", "f", "m", "m"]}, histograms={"ill": ["flu", "cold", "flu", "flu"]})
    cells = optimal_local_suppression(counts, models=[DistinctDiversity(2, "ill")])
    assert cells.info["algorithm"] == "local suppression"
    assert cells.apply(counts).rows_of("sex")["*"] == 4


def test_it_refuses() -> None:
    with pytest.raises(BadInput, match="already"):
        optimal_local_suppression(Counts.of({"sex": ["f", "*"]}), k=2)
    with pytest.raises(BadInput, match="Did you mean sex"):
        optimal_local_suppression(Counts.of({"sex": ["f", "m"]}), k=2, importance={"sec": 1})
    with pytest.raises(Infeasible):
        optimal_local_suppression(Counts.of({"sex": ["f", "m"]}), k=3)
