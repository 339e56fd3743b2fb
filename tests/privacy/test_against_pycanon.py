"""Privacy of tables measured with pycanon, which is not ours.

Where the definitions agree, so must the numbers. They differ in two places: pycanon rounds entropy l-diversity down to
a whole number, and its recursive form takes the rarest value for the most frequent one, so (c,l) is not compared. Its
t-closeness uses ranks of the values that occur for numbers and equal distance for text: our `ordered` and `equal`.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycanon import anonymity

from keepsense.counts import Counts
from keepsense.privacy.k_anonymity import KAnonymity
from keepsense.privacy.l_diversity import DistinctDiversity, EntropyDiversity
from keepsense.privacy.t_closeness import TCloseness
from keepsense.verification.verifier import verify

records = st.lists(
    st.tuples(
        st.sampled_from("ab"),
        st.sampled_from("cd"),
        st.sampled_from(["flu", "cold", "ulcer"]),
        st.sampled_from([1, 5, 30]),
    ),
    min_size=2,
    max_size=40,
).filter(lambda data: len({r[3] for r in data}) > 1)
KEYS = ["x", "y"]


@given(records)
@settings(max_examples=20, deadline=None)
def test_k_l_and_t_agree(data):
    frame = pd.DataFrame(data, columns=["x", "y", "disease", "pay"])
    table = {name: frame[name].tolist() for name in frame}
    counts = Counts.of({n: table[n] for n in KEYS}, histograms={n: table[n] for n in ("disease", "pay")})
    k = anonymity.k_anonymity(frame, KEYS)
    assert k == counts.weights.min()
    l = anonymity.l_diversity(frame, KEYS, ["disease"])  # noqa: E741
    entropy = anonymity.entropy_l_diversity(frame, KEYS, ["disease"])
    t = anonymity.t_closeness(frame, KEYS, ["disease"])
    t_number = anonymity.t_closeness(frame, KEYS, ["pay"])
    by_value = TCloseness(1.0, "disease").distances(counts.weights, counts.histograms)
    by_rank = TCloseness(1.0, "pay", "ordered").distances(counts.weights, counts.histograms)
    assert t == pytest.approx(by_value.max(), abs=1e-12)
    assert t_number == pytest.approx(by_rank.max(), abs=1e-12)
    exactly = [KAnonymity(int(k)), DistinctDiversity(int(l), "disease"), EntropyDiversity(entropy, "disease")]
    exactly += [TCloseness(min(1.0, t), "disease"), TCloseness(min(1.0, t_number), "pay", "ordered")]
    assert verify(table, exactly, quasi_identifiers=KEYS).ok
    tighter = [
        KAnonymity(int(k) + 1),
        DistinctDiversity(int(l) + 1, "disease"),
        EntropyDiversity(entropy + 1.01, "disease"),
    ]
    tighter += [
        TCloseness(v - 1e-6, c, g) for v, c, g in [(t, "disease", "equal"), (t_number, "pay", "ordered")] if v > 1e-6
    ]
    found = verify(table, tighter, quasi_identifiers=KEYS)
    for promise, check in zip(tighter, found.checks, strict=True):
        assert not check.holds, promise
        assert not promise.holds(counts.weights, counts.histograms), promise


def test_pycanon_rounds_entropy_down():
    frame = pd.DataFrame({"x": ["a"] * 3, "y": ["c"] * 3, "disease": ["flu", "flu", "cold"]})
    counts = Counts.of({"x": ["a"] * 3}, histograms={"disease": ["flu", "flu", "cold"]})
    exact = math.exp(-(2 / 3 * math.log(2 / 3) + 1 / 3 * math.log(1 / 3)))
    assert anonymity.entropy_l_diversity(frame, KEYS, ["disease"]) == int(exact) == 1
    assert EntropyDiversity(exact, "disease").holds(counts.weights, counts.histograms)
    assert not EntropyDiversity(exact + 1e-6, "disease").holds(np.array([3]), counts.histograms)
