"""k^m-anonymity: the model against its definition, the verifier against the model, and how both fail."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.arrays import Rows
from keepsense.counts import Histogram
from keepsense.errors import BadInput, Infeasible
from keepsense.privacy import km_anonymity
from keepsense.privacy.km_anonymity import KmAnonymity, rare_itemsets
from keepsense.verification.verifier import verify_sets

SETS = st.lists(st.frozensets(st.integers(0, 5), max_size=5), min_size=1, max_size=9)


def histogram_of(sets: list[frozenset[int]]) -> Histogram:
    row = np.repeat(np.arange(len(sets)), [len(s) for s in sets])
    items = [i for s in sets for i in sorted(s)]
    return Histogram(tuple("abcdef"), Rows.from_pairs(row, items, len(sets)), np.ones(len(items), np.int64))


def supports(sets: list[frozenset[int]], weights: list[int], m: int) -> Counter[tuple[int, ...]]:
    found: Counter[tuple[int, ...]] = Counter()
    for one, weight in zip(sets, weights, strict=True):
        for size in range(1, m + 1):
            for items in combinations(sorted(one), size):
                found[items] += weight
    return found


@settings(max_examples=60, deadline=None)
@given(SETS, st.integers(1, 4), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_the_model_agrees_with_the_definition(sets: list[frozenset[int]], k: int, m: int, seed: int) -> None:
    weights = np.random.default_rng(seed).integers(0, 4, len(sets)).tolist()
    held = supports(sets, weights, m)
    model = KmAnonymity(k, m, "x")
    found = model.satisfied(np.array(weights), {"x": histogram_of(sets)})
    for one, weight, good in zip(sets, weights, found.tolist(), strict=True):
        inside = [c for size in range(1, m + 1) for c in combinations(sorted(one), size)]
        assert good == (weight == 0 or all(held[c] >= k for c in inside))
    assert model.holds(np.array(weights), {"x": histogram_of(sets)}) == all(n == 0 or n >= k for n in held.values())


@settings(max_examples=50, deadline=None)
@given(SETS, st.integers(1, 4), st.integers(1, 3))
def test_rare_combinations_are_the_smallest_rare_ones(sets: list[frozenset[int]], k: int, m: int) -> None:
    held = supports(sets, [1] * len(sets), m)
    rare = {c for c, n in held.items() if n < k}
    least = {c for c in rare if not any(set(o) < set(c) for o in rare)}
    found = rare_itemsets(histogram_of(sets).rows, np.ones(len(sets), np.int64), k, m)
    listed = [(tuple(c), n) for r in found for c, n in zip(r.itemsets.tolist(), r.support.tolist(), strict=True)]
    assert {c for c, _ in listed} == least
    assert all(held[c] == n for c, n in listed)


@settings(max_examples=50, deadline=None)
@given(SETS, st.integers(1, 4), st.integers(1, 3))
def test_the_verifier_agrees_with_the_model(sets: list[frozenset[int]], k: int, m: int) -> None:
    model = KmAnonymity(k, m, "x")
    holds = model.holds(np.ones(len(sets), np.int64), {"x": histogram_of(sets)})
    assert verify_sets([{f"i{i}" for i in s} for s in sets], [model]).ok == holds


def test_small_blocks_count_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    sets = [frozenset(rng.choice(6, 4, replace=False).tolist()) for _ in range(20)]
    weights = np.ones(20, np.int64)
    whole = [r.itemsets.tolist() for r in rare_itemsets(histogram_of(sets).rows, weights, 9, 3)]
    monkeypatch.setattr(km_anonymity, "_BLOCK", 7)
    assert [r.itemsets.tolist() for r in rare_itemsets(histogram_of(sets).rows, weights, 9, 3)] == whole


def test_many_items_do_not_overflow() -> None:
    rows = Rows.from_pairs([0] * 5 + [1] * 5, [0, 2_000_000_000, 7, 8, 9] * 2, 2)
    assert all(not len(r.itemsets) for r in rare_itemsets(rows, np.ones(2, np.int64), 2, 4))


def test_too_many_combinations_are_refused() -> None:
    rows = Rows.from_pairs([0] * 40_000 + [1] * 40_000, list(range(40_000)) * 2, 2)
    with pytest.raises(Infeasible, match="too many to count") as error:
        list(rare_itemsets(rows, np.ones(2, np.int64), 2, 2))
    assert "a smaller m" in error.value.relax


def test_suppressing_sets_is_judged_as_a_whole() -> None:
    sets = [frozenset({0, 1}), frozenset({0}), frozenset({0})]
    model = KmAnonymity(3, 1, "x")
    histograms = {"x": histogram_of(sets)}
    assert model.satisfied(np.ones(3, np.int64), histograms).tolist() == [False, True, True]
    # without the first set, the item of the others is rare as well
    assert not model.holds(np.ones(3, np.int64), histograms, np.array([False, True, True]))


def test_words_and_promise() -> None:
    model = KmAnonymity(5, 2, "basket")
    assert model.promise() == {"model": "k^m-anonymity", "k": 5, "m": 2, "column": "basket"}
    assert "at least 5 records" in model.describe()
    with pytest.raises(BadInput, match="m must be a whole number"):
        KmAnonymity(5, 0, "basket")


# ---- the verifier ----------------------------------------------------------------------------------------------------


def test_what_cannot_be_checked_does_not_hold() -> None:
    for promise in ({"model": "l-diversity", "l": 2}, {"model": "k-anonymity"}, {"model": "k^m-anonymity", "k": 2}, {}):
        found = verify_sets([["a"], ["a"]], [promise])
        assert not found.ok
        assert found.findings[0].code == "E204"
    with pytest.raises(BadInput, match="at least one promise"):
        verify_sets([["a"]], [])
    with pytest.raises(BadInput, match="a promise is"):
        verify_sets([["a"]], ["k"])
    assert not verify_sets([], [{"model": "k-anonymity", "k": 2}]).ok


def test_more_records_than_the_original_had() -> None:
    found = verify_sets([["a"], ["a"]], [{"model": "k-anonymity", "k": 2}], original_records=1)
    assert [f.code for f in found.findings] == ["E206"]


def test_the_mark_of_suppression_is_nothing_to_know() -> None:
    sets = [["*", "a"], ["a"], ["a"]]
    assert verify_sets(sets, [{"model": "k^m-anonymity", "k": 3, "m": 2}]).ok
    assert not verify_sets(sets, [{"model": "k-anonymity", "k": 2}]).ok
    assert verify_sets([["*"], ["*"]], [{"model": "k-anonymity", "k": 2}]).suppressed == 2


def test_files_are_read_back_by_a_reader_of_its_own(tmp_path: Path) -> None:
    two = [{"model": "k-anonymity", "k": 2}]
    lines = tmp_path / "sets.txt"
    lines.write_text('"a;b";c\nc;"a;b"\n\n\n', encoding="utf-8")
    found = verify_sets(lines, two, delimiter=";")
    assert (found.ok, found.records, found.classes) == (True, 4, 2)
    table = tmp_path / "t.csv"
    table.write_text("id,x\n1,a|b\n2,b|a\n", encoding="utf-8")
    assert verify_sets(table, two, column="x", delimiter="|").ok
    assert not verify_sets(table, two, column="x", key="id").ok
    pq.write_table(pa.table({"x": [["a"], ["a", "a"], None]}), tmp_path / "t.parquet")
    assert not verify_sets(tmp_path / "t.parquet", two, column="x").ok
    with pytest.raises(BadInput, match="lacks the column 'y'"):
        verify_sets(table, two, column="y")
    with pytest.raises(BadInput, match="holds texts"):
        verify_sets(table, two, column="x")
    with pytest.raises(BadInput, match="what stands between items"):
        verify_sets(lines, two)
    with pytest.raises(BadInput, match="no such file"):
        verify_sets(tmp_path / "none.txt", two, delimiter=";")
    lines.write_text('"a\nb"\n', encoding="utf-8")
    with pytest.raises(BadInput, match="quotes"):
        verify_sets(lines, two, delimiter=";")
    lines.write_bytes(b"caf\xe9\n")
    with pytest.raises(BadInput, match="not UTF-8"):
        verify_sets(lines, two, delimiter=";")
