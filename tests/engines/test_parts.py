"""Rows counted part by part, again and again, at any codes: the same tuples as counted all at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.counts import Counts
from keepsense.counts_out_of_core import LargeCounts, first_alike, joined
from keepsense.engines import dictionary_encoding, partitioned_count
from keepsense.engines.dictionary_encoding import Coded, counted, encoded
from keepsense.engines.partitioned_count import CodedRows, counted_in_parts, division, in_turn
from keepsense.recoding import Cut, Cuts

ROWS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4), st.integers(0, 2), st.integers(0, 3)), min_size=1)


def columns_of(rows: list[tuple[int, ...]]) -> tuple[dict[str, Coded], dict[str, Coded]]:
    every = [encoded(pa.array([f"{i:02}" for i in column])) for column in zip(*rows, strict=True)]
    return dict(zip("abc", every[:3], strict=True)), {"ill": every[3]}


def plainly(counts: Counts) -> list[Any]:
    held = [counts.codes.tolist(), counts.weights.tolist(), counts.values, counts.names]
    for h in counts.histograms.values():
        held += [h.values, h.rows.starts.tolist(), h.rows.indices.tolist(), h.counts.tolist()]
    return held


@settings(deadline=None, max_examples=60)
@given(ROWS, st.integers(1, 8), st.integers(1, 2))
def test_parts_together_are_the_whole(rows: list[tuple[int, ...]], most: int, threads: int) -> None:
    columns, further = columns_of(rows)
    assert plainly(counted_in_parts(columns, further, most, threads)) == plainly(counted(columns, further, {}))


@settings(deadline=None, max_examples=60)
@given(ROWS, st.integers(1, 8))
def test_coarser_tuples_are_those_of_coarser_rows(rows: list[tuple[int, ...]], most: int) -> None:
    columns, further = columns_of(rows)
    large = LargeCounts(CodedRows(columns, further, 0, most), further)
    through = [np.zeros(len(columns["a"]), np.int64), None, first_alike(np.arange(len(columns["c"])) // 2)]
    lookups = zip(columns.values(), through, strict=True)
    coarse = {n: c.recoded(c.codes if t is None else t[c.codes]) for n, (c, t) in zip(columns, lookups, strict=True)}
    every = list(large.coarser(through, ("ill",)))
    tuples = [tuple(row) for part in every for row in part.codes.tolist()]
    assert len(set(tuples)) == len(tuples), "a tuple is in one part"
    assert plainly(joined(every)) == plainly(counted(coarse, further, {}))


@settings(deadline=None, max_examples=60)
@given(ROWS, st.integers(1, 8), st.data())
def test_figures_are_those_of_all_tuples(rows: list[tuple[int, ...]], most: int, data: Any) -> None:
    columns, further = columns_of(rows)
    counts = counted(columns, further, {})
    large = LargeCounts(CodedRows(columns, further, 0, most), further)
    assert (len(large), large.total) == (len(counts), counts.total)
    number = np.bincount(counts.weights)
    assert dict(zip(large.sizes.rows.tolist(), large.sizes.number.tolist(), strict=True)) == {
        size: times for size, times in enumerate(number.tolist()) if times
    }
    assert [large.marginal(n).tolist() for n in columns] == [counts.marginal(n).tolist() for n in columns]
    assert large.histograms["ill"].total().tolist() == counts.histograms["ill"].total().tolist()
    at = np.array(sorted(data.draw(st.sets(st.integers(0, len(counts) - 1), min_size=1))))
    drawn = large.drawn(at)
    assert drawn.codes.tolist() == counts.codes[at].tolist()
    assert drawn.weights.tolist() == counts.weights[at].tolist()
    assert drawn.histograms["ill"].table().tolist() == counts.histograms["ill"].table()[at].tolist()
    joint = np.asarray(counts.joint("a", "c").todense())
    np.testing.assert_array_equal(large.table.pair(0, 2, [None] * 3), joint)


@settings(deadline=None, max_examples=60)
@given(ROWS, st.integers(1, 8), st.data())
def test_what_a_recoding_hides_is_counted_by_value(rows: list[tuple[int, ...]], most: int, data: Any) -> None:
    columns, further = columns_of(rows)
    counts = counted(columns, further, {})
    large = LargeCounts(CodedRows(columns, further, 0, most), further)
    cuts = tuple(
        Cut(name, values, tuple(f"{name}{int(v) // 2}" for v in values))
        for name, values in zip(counts.names, counts.values, strict=True)
    )
    classes = list(Cuts(cuts).apply(counts).codes.tolist())
    labels = Cuts(cuts).cells(counts).values
    some = data.draw(st.lists(st.sampled_from(classes), unique_by=tuple))
    rule = Cuts(cuts, frozenset(tuple(labels[j][code] for j, code in enumerate(row)) for row in some))
    cells = rule.cells(counts)
    assert cells.suppressed is not None
    for name, became in large.became(rule).items():
        hidden = np.bincount(
            counts.column(name)[cells.suppressed], counts.weights[cells.suppressed], len(counts.values_of(name))
        )
        assert became.hidden.tolist() == hidden.tolist()
        assert became.labels == cells.values[cells.names.index(name)]
    sizes, suppressed = large.released(rule)
    assert suppressed == counts.weights[cells.suppressed].sum()
    shown = Counts(cells.names, cells.values, cells.codes[~cells.suppressed], counts.weights[~cells.suppressed])
    assert sorted(sizes.tolist()) == sorted(shown.project(shown.names).weights.tolist())


def test_few_possible_tuples_get_a_place_each(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    columns, further = columns_of([tuple(row) for row in rng.integers(0, (5, 4, 3, 4), (4000, 4)).tolist()])
    few = plainly(counted(columns, further, {}))
    monkeypatch.setattr(dictionary_encoding, "_PLACES", 0)
    assert plainly(counted(columns, further, {})) == few


def test_parts_are_about_equally_large_and_estimates_near(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    table = rng.zipf(1.5, (60_000, 3)) % 50
    columns = {
        name: encoded(pa.array([f"{i:02}" for i in column])) for name, column in zip("abc", table.T, strict=True)
    }
    divided = division([c.codes for c in columns.values()], [len(c) for c in columns.values()], 5000)
    assert sum(divided.sizes) == 60_000
    assert max(divided.sizes) < 25_000, "a value of many rows may be a part by itself"
    rows = CodedRows(columns, {}, 0, 5000)
    exact = len(counted(columns, {}, {}))
    assert rows.about([None] * 3) == exact
    monkeypatch.setattr(partitioned_count, "_HASHED", 6000)
    assert 0.8 * exact < rows.about([None] * 3) < 1.25 * exact


def test_work_goes_on_in_order_and_failures_are_told() -> None:
    assert list(in_turn(lambda i: i * i, range(20), 3)) == [i * i for i in range(20)]

    def fail(i: int) -> int:
        if i == 3:
            raise ValueError("three")
        return i

    with pytest.raises(ValueError, match="three"):
        list(in_turn(fail, range(9), 2))
