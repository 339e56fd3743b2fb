from __future__ import annotations

import warnings
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.table_reference import (
    HIERARCHIES,
    JOBS,
    assert_true_ancestors,
    counted,
    kept,
    released,
    rows_of_tables,
)

from keepsense.counts import Counts
from keepsense.errors import BadInput, Infeasible, PrivacyWarning
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.mu_argus import mu_argus
from keepsense.privacy.l_diversity import DistinctDiversity
from keepsense.progress import Event
from keepsense.recoding import Cells


def quietly(counts: Any, hierarchies: Any, k: int, **options: Any) -> Cells:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        return mu_argus(counts, hierarchies, k=k, **options)


@settings(deadline=None, max_examples=50)
@given(rows_of_tables(), st.integers(2, 4), st.floats(0, 0.6))
def test_no_value_and_no_pair_that_is_shown_is_rare(rows: list[tuple[Any, ...]], k: int, share: float) -> None:
    counts = counted(rows)
    cells = quietly(counts, HIERARCHIES, k, sizes=(2,), suppression=share)
    cells.check(counts)
    assert_true_ancestors(cells, counts)
    out = released(cells, counts)
    top = {name: HIERARCHIES[name].height == level for name, level in cells.info["levels"].items()}
    for pair in [*combinations(range(3), 1), *combinations(range(3), 2)]:
        held: Counter[tuple[Any, ...]] = Counter()
        for row, weight in zip(out, counts.weights.tolist(), strict=True):
            held[tuple(row[j] for j in pair)] += weight
        for values, number in held.items():
            if all(x != "*" or top[counts.names[j]] for x, j in zip(values, pair, strict=True)):
                assert number >= k or set(values) == {"*"}
    touched = sum(
        int(w)
        for row, w in zip(out, counts.weights, strict=True)
        if any(x == "*" and not top[name] for x, name in zip(row, counts.names, strict=True))
    )
    assert touched <= share * len(rows)


@settings(deadline=None, max_examples=40)
@given(rows_of_tables(), st.integers(2, 4), st.floats(0, 0.6))
def test_strictly_it_is_k_anonymous(rows: list[tuple[Any, ...]], k: int, share: float) -> None:
    counts = counted(rows)
    cells = mu_argus(counts, HIERARCHIES, k=k, suppression=share, strict=True)  # a warning would fail the test
    assert min(kept(cells, counts)) >= k
    assert cells.info["k_anonymous"]
    assert cells.info["checked"] == "all"
    assert cells.info["suppressed"] <= share * len(rows)


class Lesson(list[Event]):
    """Hears every step, for which cells are suppressed in every step and not only where few enough may be."""

    every_step = True

    def __call__(self, event: Event) -> None:
        self.append(event)


@settings(deadline=None, max_examples=80)
@given(rows_of_tables(), st.integers(2, 4), st.floats(0, 0.6), st.booleans())
def test_passing_over_hopeless_steps_changes_nothing(
    rows: list[tuple[Any, ...]], k: int, share: float, strict: bool
) -> None:
    ragged = Hierarchy.of_rows(
        [(*row[:1], "*", "*", "*") if row[0] in ("optician", "clerk") else row for row in JOBS.rows()], name="job"
    )
    counts, hierarchies = counted(rows), HIERARCHIES | {"job": ragged}
    options: dict[str, Any] = {"suppression": share, "strict": strict}
    lesson, brief = Lesson(), list[Event]()
    slowly = quietly(counts, hierarchies, k, listener=lesson, **options)
    cells = quietly(counts, hierarchies, k, listener=brief.append, **options)
    assert cells.info == slowly.info
    assert released(cells, counts) == released(slowly, counts)
    for event, full in zip(brief, lesson, strict=True):
        if event.name == "step":
            assert share * len(rows) < event.details["rare"] <= full.details["rare"]


def test_it_says_what_it_did_not_check() -> None:
    columns = {"a": [0, 0, 1, 1] * 2, "b": [0, 1, 0, 1] * 2, "c": [0, 1, 1, 0] * 2, "d": [0] * 4 + [1] * 4}
    flat = {name: Hierarchy.of_rows([(0, "*"), (1, "*")], name=name) for name in columns}
    counts = Counts.of(columns)
    with pytest.warns(PrivacyWarning, match="2 columns only: 8 of 8 records"):
        cells = mu_argus(counts, flat, k=2, sizes=(2,))
    assert cells.info["below_k"] == 8
    assert not cells.info["k_anonymous"]
    assert cells.info["levels"] == dict.fromkeys("abcd", 0)
    strict = mu_argus(counts, flat, k=2, sizes=(2,), strict=True)
    assert strict.info["below_k"] == 0
    assert strict.apply(counts).weights.min() >= 2


def test_single_cells_are_suppressed_where_few_records_are_rare() -> None:
    rows = [("nurse", 30, "f")] * 10 + [("clerk", 30, "m")] * 9 + [("clerk", 30, "f")]
    cells = quietly(counted(rows), HIERARCHIES, 2, sizes=(2,), suppression=0.1)
    # (clerk, f) is the only rare pair; of 10 clerks and 11 women clerk is the rarer value
    assert released(cells, counted(rows))[2] == ("*", 30, "f")
    rows = [("nurse", 30, "f")] * 10 + [("clerk", 30, "m")] * 12 + [("nurse", 30, "m")]
    cells = quietly(counted(rows), HIERARCHIES, 2, sizes=(2,), suppression=0.1)
    assert ("*", 30, "m") in released(cells, counted(rows))
    rows = [("nurse", 30, "f")] * 12 + [("clerk", 30, "m")] * 9 + [("nurse", 30, "m")]
    cells = quietly(counted(rows), HIERARCHIES, 2, sizes=(2,), suppression=0.1)
    assert ("nurse", 30, "*") in released(cells, counted(rows))


def test_a_value_that_is_rare_alone_is_never_left() -> None:
    rows = [("nurse", 30, "f")] * 10 + [("surgeon", 30, "f")]
    cells = quietly(counted(rows), HIERARCHIES, 2, sizes=(3,), suppression=0.1)
    assert ("*", 30, "f") in released(cells, counted(rows))
    assert cells.info["checked"] == (1, 3)
    assert cells.info["suppressed_cells"] == 1
    assert cells.info["suppressed"] == 0
    assert cells.info["steps"] == 0


def test_a_step_raises_the_column_in_most_rare_combinations() -> None:
    rows = [("nurse", age, "f") for age in range(20, 30)] + [("clerk", age, "m") for age in range(30, 40)]
    seen: list[Event] = []
    cells = mu_argus(counted(rows), HIERARCHIES, k=5, suppression=0, listener=seen.append)
    assert [event.details["column"] for event in seen if event.name == "step"] == ["age"]
    assert set(released(cells, counted(rows))) == {("nurse", "20s", "f"), ("clerk", "30s", "m")}


@settings(deadline=None, max_examples=20)
@given(rows_of_tables(), st.integers(2, 4))
def test_the_order_of_rows_does_not_matter(rows: list[tuple[Any, ...]], k: int) -> None:
    again = [rows[i] for i in np.random.default_rng(k).permutation(len(rows))]
    both = [quietly(counted(r), HIERARCHIES, k) for r in (rows, again)]
    tables = [
        Counter(dict.fromkeys(released(c, counted(r)), 0)) | Counter(released(c, counted(r)))
        for c, r in zip(both, (rows, again), strict=True)
    ]
    assert tables[0] == tables[1]


def test_refusals() -> None:
    counts = counted([("nurse", 30, "f"), ("clerk", 31, "m")], ["flu", "cold"])
    with pytest.raises(BadInput, match="counts records only"):
        mu_argus(counts, HIERARCHIES, k=2, models=[DistinctDiversity(2, "illness")])
    with pytest.raises(BadInput, match="sizes"):
        mu_argus(counts, HIERARCHIES, k=2, sizes=())
    with pytest.raises(BadInput, match="sizes"):
        mu_argus(counts, HIERARCHIES, k=2, sizes=(0,))
    with pytest.raises(Infeasible, match="k of at most 2") as error:
        mu_argus(counts, HIERARCHIES, k=3, suppression=0)
    assert error.value.best is not None
