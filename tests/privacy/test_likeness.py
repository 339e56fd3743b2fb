"""Promises about the share of single values: figures worked out by hand, exact bounds, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from keepsense.counts import Counts
from keepsense.errors import BadInput, Infeasible
from keepsense.privacy import (
    AlphaKAnonymity,
    BasicLikeness,
    DeltaDisclosure,
    EnhancedLikeness,
    TCloseness,
    bind,
    model,
    validate,
    verify,
)


def table(*classes: str) -> Counts:
    """One class for each text; its letters are the values."""
    cells = [(str(number), value) for number, values in enumerate(classes) for value in values]
    return Counts.of({"x": [x for x, _ in cells]}, histograms={"d": [d for _, d in cells]})


def kept(promise, counts: Counts) -> list[bool]:
    return promise.satisfied(counts.weights, counts.histograms).tolist()


def released(counts_of: tuple[str, ...]) -> dict[str, list[str]]:
    cells = [(str(number), value) for number, values in enumerate(counts_of) for value in values]
    return {"x": [x for x, _ in cells], "d": [d for _, d in cells]}


def test_growth_by_hand():
    """h is 2 of 20 in the table and 2 of 5 in the first class: four times as frequent, a growth by 3."""
    counts = table("hhfff", "f" * 15)
    assert BasicLikeness(1.0, "d").factors(counts.weights, counts.histograms) == pytest.approx([4.0, 20 / 18])
    assert kept(BasicLikeness(3.0, "d"), counts) == [True, True]
    assert kept(BasicLikeness(2.99, "d"), counts) == [False, True]
    # -ln(2 / 20) is 2.302..., less than the growth by 3; -ln(18 / 20) = 0.1054 is less than 2 / 18 = 0.111
    assert kept(EnhancedLikeness(3.0, "d"), counts) == [False, False]
    assert kept(EnhancedLikeness(3.0, "d"), table("hfffffffff", "hfffffffff")) == [True, True]
    # t-closeness sees little: 3 in 10 records of a quarter of the table
    assert TCloseness(0.3, "d").distances(counts.weights, counts.histograms)[0] == pytest.approx(0.3)


def test_no_class_holds_one_frequent_value_only():
    """By the basic form a value with a share of 1 / (1 + beta) may fill a class; by the enhanced one none may."""
    counts = table("aa", "bb")
    assert kept(BasicLikeness(1.0, "d"), counts) == [True, True]
    for beta in (1.0, 100.0):
        assert kept(EnhancedLikeness(beta, "d"), counts) == [False, False]


def test_disclosure_by_hand():
    """a is half of the table; in the classes it is 3/4 and 1/4: log2 1.5 = 0.585, log2 0.5 = -1."""
    counts = table("aaab", "abbb")
    assert kept(DeltaDisclosure(1.0, "d"), counts) == [False, False], "half as frequent is not more than half"
    assert kept(DeltaDisclosure(1.001, "d"), counts) == [True, True]
    assert kept(DeltaDisclosure(50.0, "d"), table("aaab", "aaaa")) == [True, False], "a value is missing"


@pytest.mark.parametrize(("beta", "holds"), [(0.1, True), (0.0999999, False), (0.1000001, True)])
def test_growth_is_compared_exactly(beta, holds):
    """11 of 20 where the table has 20 of 40: a growth by exactly a tenth, which binary fractions do not know."""
    classes = ("a" * 11 + "b" * 9, "a" * 9 + "b" * 11)
    assert kept(BasicLikeness(beta, "d"), table(*classes)) == [holds, holds]
    promise = {"model": "beta-likeness", "form": "basic", "beta": beta, "column": "d"}
    assert verify(released(classes), [promise], quasi_identifiers=["x"]).ok is holds


def test_shares_of_sensitive_values():
    counts = table("hff", "fff", "hf")
    assert kept(AlphaKAnonymity(0.5, 2, "d"), counts) == [False, False, True]
    assert kept(AlphaKAnonymity(0.5, 2, "d", values=("h",)), counts) == [True, True, True]
    assert kept(AlphaKAnonymity(0.4, 2, "d", values=("h",)), counts) == [True, True, False]
    assert kept(AlphaKAnonymity(0.5, 3, "d", values=("h",)), counts) == [True, True, False]
    # exactly a third, which 0.3333 is not
    assert kept(AlphaKAnonymity(0.3333, 1, "d", values=("h",)), counts)[0] is False
    promise = AlphaKAnonymity(0.5, 2, "d", values=("h",)).promise()
    assert promise == {"model": "(alpha,k)-anonymity", "alpha": 0.5, "k": 2, "column": "d", "values": ["h"]}
    assert model("(alpha,k)-anonymity", alpha=0.5, k=2, column="d", values=["h"]).promise() == promise


def test_a_value_that_nobody_has_is_refused():
    counts = table("hff", "fff")
    with pytest.raises(BadInput, match="has no value 'hiv'"):
        validate([AlphaKAnonymity(0.5, 2, "d", values=("hiv",))], ["x"], counts)
    with pytest.raises(Infeasible):
        validate([AlphaKAnonymity(0.5, 2, "d")], ["x"], counts)
    with pytest.raises(BadInput, match="beta must be a number above 0"):
        BasicLikeness(0.0, "d")


@pytest.mark.parametrize("promise", [BasicLikeness(1.0), EnhancedLikeness(1.0), DeltaDisclosure(1.0)])
def test_the_whole_table_is_the_original(promise):
    """A part of the table is compared with all of it, and values that it lacks are known nevertheless."""
    promise = promise.on("d")
    counts = table("ab", "cd")
    part = table("ab")
    assert promise.holds(part.weights, part.histograms)
    (fixed,) = bind([promise], counts)
    assert fixed.holds(part.weights, part.histograms) is not isinstance(promise, DeltaDisclosure)
    assert fixed.bound(part.histograms) is fixed


def test_billions_of_records():
    """Counts whose products do not fit into 64 bits are compared as exactly as small ones."""
    times = 4_000_000_000
    small = table("a" * 11 + "b" * 9, "a" * 9 + "b" * 11)
    h = small.histograms["d"]
    big = type(h)(h.values, h.rows, h.counts * times)
    for beta, holds in ((0.1, True), (0.0999999, False)):
        assert BasicLikeness(beta, "d").holds(small.weights * times, {"d": big}) is holds
    assert (small.weights * times).dtype == np.int64
