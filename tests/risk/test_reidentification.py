"""Disclosure risk and record linkage against their definitions, record by record."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.recoding import Cells, Cut, Cuts, suppressed_tuples
from keepsense.risk.record_linkage import record_linkage
from keepsense.risk.reidentification import risk

cell = st.sampled_from(["a", "b", "c", None])
records = st.lists(st.tuples(cell, cell), min_size=1, max_size=30)


def counted(data):
    return Counts.of({"x": [r[0] for r in data], "y": [r[1] for r in data]})


def fits(a, b, missing):
    if missing == "category":
        return a == b
    return all(x == y or x is None or y is None for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("missing", ["category", "wildcard"])
@given(data=records, extra=records, hidden=st.integers(0, 5))
@settings(max_examples=40, deadline=None)
def test_risk_follows_the_definitions(missing, data, extra, hidden):
    released = counted(data + [("*", "*")] * hidden)
    people = data + extra
    found = risk(released, population=counted(people), threshold=0.3, missing=missing)
    own = [1 / sum(fits(r, s, missing) for s in data) for r in data]
    outside = [1 / sum(fits(r, s, missing) for s in people) for r in data]
    n = len(data)
    assert (found.records, found.suppressed) == (n, hidden)
    assert found.prosecutor_maximum == pytest.approx(max(own))
    assert found.prosecutor_average == pytest.approx(sum(own) / n)
    assert found.prosecutor_at_risk == pytest.approx(sum(x > 0.3 for x in own) / n)
    assert found.journalist_maximum == pytest.approx(max(outside))
    assert found.journalist_at_risk == pytest.approx(sum(x > 0.3 for x in outside) / n)
    assert found.marketer == pytest.approx(sum(outside) / n)
    assert found.sample_uniques == pytest.approx(sum(x == 1 for x in own) / n)
    assert found.population_uniques == pytest.approx(sum(x == 1 for x in outside) / n)
    alone = risk(released, threshold=0.3, missing=missing)
    assert alone.marketer == pytest.approx(alone.prosecutor_average)
    assert alone.journalist_maximum is None
    if missing == "category":
        assert alone.prosecutor_average == pytest.approx(alone.classes / n)
        assert found.journalist_average == pytest.approx(
            found.classes / sum(sum(p == c for p in people) for c in set(data))
        )


def test_risk_refuses_what_makes_no_sense():
    released = Counts.of({"x": ["a"]})
    with pytest.raises(BadInput, match="fit nobody"):
        risk(released, population=Counts.of({"x": ["b"]}))
    with pytest.raises(BadInput, match="above 0"):
        risk(released, threshold=0)
    with pytest.raises(BadInput, match="no record"):
        risk(Counts.of({"x": []}))
    assert risk(Counts.of({"x": ["*", "*"]})).prosecutor_maximum == 0.5


@st.composite
def linkages(draw):
    data = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=15))
    seed = draw(st.integers(0, 10_000))
    return data, seed


@given(linkages())
@settings(max_examples=50, deadline=None)
def test_record_linkage_follows_the_definition(case):
    data, seed = case
    rng = np.random.default_rng(seed)
    counts = counted(data)
    values = (tuple(range(5)), tuple(range(5)))
    far = {
        name: np.round(rng.random((5, len(counts.values_of(name)))), 1) for name in ("x", "y")
    }  # one digit, so that ties occur
    source, out, times = [], [], []
    for i, weight in enumerate(counts.weights.tolist()):
        first = int(rng.integers(0, weight + 1))
        for part in (first, weight - first):
            if part:
                source.append(i)
                out.append(rng.integers(0, 5, 2))
                times.append(part)
    cells = Cells(("x", "y"), values, np.array(source), np.array(out), np.array(times))
    cells.check(counts)
    originals = [row for row, w in zip(counts.codes, counts.weights, strict=True) for _ in range(w)]
    risks = []
    for s, o, t in zip(source, out, times, strict=True):
        gap = [round(far["x"][o[0], r[0]] + far["y"][o[1], r[1]], 6) for r in originals]
        near = min(gap)
        true = round(far["x"][o[0], counts.codes[s][0]] + far["y"][o[1], counts.codes[s][1]], 6)
        risks += [(1 / gap.count(near) if true == near else 0.0)] * t
    assert record_linkage(counts, cells, far).risk == pytest.approx(np.mean(risks))


def test_linkage_of_an_unchanged_table_is_one_over_the_class_size():
    counts = Counts.of({"job": ["nurse", "nurse", "clerk"]})
    same = Cuts((Cut("job", ("nurse", "clerk"), ("nurse", "clerk")),))
    found = record_linkage(counts, same, {"job": 1 - np.eye(2)})
    assert found.risk == pytest.approx((0.5 * 2 + 1) / 3)
    assert found.linked == pytest.approx(1.0)
    with pytest.raises(BadInput, match="2 x 2 matrix of distances for column 'job'"):
        record_linkage(counts, same, {})
    with pytest.raises(BadInput, match="negative"):
        record_linkage(counts, same, {"job": -np.eye(2)})


def test_suppressed_lists_carry_no_risk() -> None:
    sets = [("milk", "tea")] * 3 + [("*",)]
    alone = risk(Counts.of({"likes": sets}))
    assert (alone.suppressed, alone.prosecutor_maximum) == (1, pytest.approx(1 / 3))
    beside = Counts.of({"job": ["nurse"] * 3 + ["*"], "likes": sets})
    assert risk(beside).suppressed == 1
    assert suppressed_tuples(beside, columns=["job"]).tolist() == suppressed_tuples(beside).tolist()
    half = Counts.of({"job": ["*", "nurse"], "likes": [("milk",), ("*",)]})
    assert not suppressed_tuples(half).any()
