"""Classes with missing values as a category and as a wildcard, against comparing every two records."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.privacy.k_anonymity import KAnonymity
from keepsense.privacy.l_diversity import DistinctDiversity
from keepsense.privacy.privacy_model import judge
from keepsense.privacy.risk_thresholds import AverageRisk
from keepsense.privacy.t_closeness import TCloseness
from keepsense.risk.equivalence_classes import class_sizes, classes, sizes_in

cell = st.sampled_from(["a", "b", None])
records = st.lists(st.tuples(cell, cell, cell, st.sampled_from("xyz")), min_size=1, max_size=30)


def counted(data) -> Counts:
    return Counts.of({f"q{j}": [r[j] for r in data] for j in range(3)}, histograms={"s": [r[3] for r in data]})


def tuples_of(counts):
    return [tuple(values[c] for values, c in zip(counts.values, row, strict=True)) for row in counts.codes]


def fits(a, b):
    return all(x == y or x is None or y is None for x, y in zip(a[:3], b[:3], strict=True))


@given(records)
@settings(max_examples=50, deadline=None)
def test_wildcard_classes_equal_comparing_all_pairs(data):
    counts = counted(data)
    sizes, histograms = classes(counts, "wildcard")
    table = histograms["s"].table()
    for i, t in enumerate(tuples_of(counts)):
        members = [r for r in data if fits(t, r)]
        assert sizes[i] == len(members)
        seen = Counter(r[3] for r in members)
        assert [seen[v] for v in histograms["s"].values] == table[i].tolist()
    assert class_sizes(counts, "wildcard").tolist() == sizes.tolist()
    assert class_sizes(counts).tolist() == counts.weights.tolist()


@given(records, records)
@settings(max_examples=40, deadline=None)
def test_sizes_in_another_table(data, others):
    counts, people = counted(data), counted(others)
    plain, wild = sizes_in(counts, people), sizes_in(counts, people, "wildcard")
    for i, t in enumerate(tuples_of(counts)):
        assert plain[i] == sum(t == r[:3] for r in others)
        assert wild[i] == sum(fits(t, r) for r in others)


@given(records)
@settings(max_examples=40, deadline=None)
def test_judge_with_wildcards_uses_the_whole_table_as_reference(data):
    counts = counted(data)
    t = TCloseness(0.4, "s")
    found = judge([KAnonymity(2), DistinctDiversity(2, "s"), t], counts, missing="wildcard", limit=len(data))
    whole = Counter(r[3] for r in data)
    for i, key in enumerate(tuples_of(counts)):
        members = [r for r in data if fits(key, r)]
        here = Counter(r[3] for r in members)
        far = sum(abs(here[v] / len(members) - whole[v] / len(data)) for v in "xyz") / 2
        assert found.kept[i] == (len(members) >= 2 and len(here) >= 2 and far <= 0.4 + 1e-9)
    assert found.suppressed == counts.weights[~found.kept].sum()


def test_average_risk_is_refused_with_wildcards():
    with pytest.raises(BadInput, match="make them a category"):
        judge([AverageRisk(0.5)], Counts.of({"x": [1, None]}), missing="wildcard")
    with pytest.raises(BadInput, match="'category' or a 'wildcard'"):
        class_sizes(Counts.of({"x": [1]}), "ignore")  # type: ignore[arg-type]


def test_many_patterns_stay_fast_and_right():
    rng = np.random.default_rng(7)
    data = [tuple(None if rng.random() < 0.2 else int(v) for v in rng.integers(0, 4, 6)) for _ in range(600)]
    counts = Counts.of({f"q{j}": [r[j] for r in data] for j in range(6)})
    sizes = class_sizes(counts, "wildcard")
    keys = tuples_of(counts)
    for i in rng.choice(len(keys), 40):
        assert sizes[i] == sum(
            all(x is None or y is None or x == y for x, y in zip(keys[i], r, strict=True)) for r in data
        )
