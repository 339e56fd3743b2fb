"""Promises about the share of single values: figures worked out by hand, exact bounds, and what they refuse."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from keepsense.counts import Counts
from keepsense.errors import BadInput, Infeasible
from keepsense.privacy.alpha_k_anonymity import AlphaKAnonymity
from keepsense.privacy.beta_likeness import BasicLikeness, ConceptLikeness, EnhancedLikeness
from keepsense.privacy.delta_disclosure import ConceptDisclosure, DeltaDisclosure
from keepsense.privacy.population_uniqueness import EstimatedKMap
from keepsense.privacy.privacy_model import bind, model, validate
from keepsense.privacy.reference_distributions import Concepts
from keepsense.privacy.risk_thresholds import StrictAverageRisk
from keepsense.privacy.t_closeness import TCloseness
from keepsense.project.project_file import Project
from keepsense.release.run import run
from keepsense.verification.verifier import verify


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


LUNG = Concepts({"f": ("lung",), "c": ("lung",), "u": ("gut",), "k": ("gut",)})


def test_a_kind_of_illness_is_told_though_no_illness_is():
    """Each illness is 1 of 4 in the table and 1 of 2 in a class; all of the first class are ill in the lung."""
    counts = table("fc", "uk")
    assert kept(EnhancedLikeness(1.0, "d"), counts) == [True, True]
    assert kept(ConceptLikeness(1.0, "d", LUNG), counts) == [False, False]
    # lung: half of the table, 2 of 3 in a class, a growth by a third, below -ln 0.5 = 0.69
    mixed = table("fcu", "ukfck", "uckf")
    assert kept(ConceptLikeness(1.0, "d", LUNG), mixed) == [True, True, True]


def test_that_a_value_is_known_tells_nothing():
    """One cell of ten is empty; who has a value is nothing to learn, though all concepts together are 9 of 10."""
    rows = {"x": list("aaaaabbbbb"), "d": [None, "f", "c", "u", "k", "f", "c", "u", "k", "f"]}
    counts = Counts.of({"x": rows["x"]}, histograms={"d": rows["d"]})
    all_ill = Concepts({value: (*names, "ill") for value, names in LUNG.above.items()})
    for promise in (ConceptLikeness(3.0, "d", all_ill), ConceptDisclosure(1.5, "d", all_ill)):
        assert kept(promise, counts) == [True, True]
        assert verify(rows, [promise], quasi_identifiers=["x"]).ok


def test_a_class_needs_every_kind_but_not_every_value():
    counts = table("fu", "ck", "fc", "uk")
    assert kept(DeltaDisclosure(9.0, "d"), counts) == [False] * 4
    assert kept(ConceptDisclosure(1.1, "d", LUNG), counts) == [True, True, False, False]
    assert kept(ConceptDisclosure(1.0, "d", LUNG), counts) == [False] * 4, "each value is twice as frequent"


def test_it_says_what_it_needs_to_know():
    with pytest.raises(BadInput, match="give the column a taxonomy or a hierarchy"):
        kept(ConceptLikeness(1.0, "d"), table("fc"))
    promise = {"model": "beta-likeness", "form": "concepts", "beta": 1.0, "column": "d"}
    unseen = verify(released(("fu", "ck")), [promise], quasi_identifiers=["x"])
    assert [finding.code for finding in unseen.findings] == ["E204"]
    assert verify(released(("fu", "ck")), [ConceptLikeness(1.0, "d", LUNG)], quasi_identifiers=["x"]).ok
    assert not verify(released(("fc", "uk")), [ConceptLikeness(1.0, "d", LUNG)], quasi_identifiers=["x"]).ok


@pytest.mark.parametrize("form", ["hierarchy", "taxonomy"])
def test_a_project_file_tells_what_values_mean(tmp_path, form):
    """Half of the jobs have both illnesses of the lung, the others those of the gut: no kind may be told of a job."""
    ill, jobs = [["flu", "cold"], ["ulcer", "colic"]], ["ab", "cd"]
    rows = [f"{20 + i},{jobs[i % 2][i // 4 % 2]},{ill[i % 2][i // 2 % 2]}" for i in range(24)]
    (tmp_path / "people.csv").write_text("\n".join(["age,job,illness", *rows, ""]), encoding="utf-8")
    (tmp_path / "jobs.csv").write_text("a;ab;*\nb;ab;*\nc;cd;*\nd;cd;*\n", encoding="utf-8")
    tree = {"flu": "lung", "cold": "lung", "ulcer": "gut", "colic": "gut"}
    (tmp_path / "ill.csv").write_text("".join(f"{a};{b};*\n" for a, b in tree.items()), encoding="utf-8")
    edges = [*tree.items(), ("lung", "disorder"), ("gut", "disorder")]
    names = dict.fromkeys(name for edge in edges for name in edge)
    above = {name: "".join(f"is_a: {b}\n" for a, b in edges if a == name) for name in names}
    terms = [f"[Term]\nid: {name}\nname: {name}\n{parents}\n" for name, parents in above.items()]
    (tmp_path / "ill.obo").write_text("format-version: 1.2\n\n" + "".join(terms), encoding="utf-8")
    meaning = {"hierarchy": "ill.csv"} if form == "hierarchy" else {"taxonomy": "ill.obo"}
    project = {
        "source": {"path": "people.csv"},
        "columns": {
            "age": {"role": "identifier"},
            "job": {"role": "quasi-identifier", "hierarchy": "jobs.csv"},
            "illness": {"role": "sensitive", **meaning},
        },
        "privacy": [
            {"model": "k-anonymity", "k": 2},
            {"model": "beta-likeness", "form": "basic", "beta": 1.5, "column": "illness"},
        ],
        "method": {"name": "optimal"},
    }
    outcome = run(Project.model_validate(project), folder=tmp_path, rng=1)
    assert set(read(outcome.file)) == {"a", "b", "c", "d"}
    project["privacy"][1]["form"] = "concepts"
    (tmp_path / "again").mkdir()
    project["release"] = {"folder": "again"}
    outcome = run(Project.model_validate(project), folder=tmp_path, rng=1)
    assert set(read(outcome.file)) == {"*"}


def read(file):
    with file.open(encoding="utf-8", newline="") as lines:
        return [row["job"] for row in csv.DictReader(lines)]


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


@pytest.mark.parametrize(
    ("promise", "words"),
    [
        (BasicLikeness(0.5, "d"), "worst 2, promised 1.5"),
        (DeltaDisclosure(0.5, "d"), "worst 2, promised 1.41421"),
        (AlphaKAnonymity(0.4, 2, "d"), "worst 0.5, promised 0.4"),
        (AlphaKAnonymity(0.9, 3, "d"), "worst 2, promised 3"),
        (StrictAverageRisk(0.2, 2), "worst 0.5, promised 0.2"),
        (EstimatedKMap(20, 0.1), "worst 2, promised 6"),
    ],
)
def test_findings_say_what_was_compared(promise, words):
    found = verify(released(("fc", "uk")), [promise], quasi_identifiers=["x"]).findings
    assert [finding.code for finding in found] == ["E203"]
    assert words in found[0].message
