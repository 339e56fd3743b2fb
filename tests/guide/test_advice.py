"""Advice follows the answers, and says why and why not."""

from __future__ import annotations

import tomllib
from itertools import product
from typing import Any, get_args

import pytest

from keepsense.errors import BadInput, InputWarning
from keepsense.guide.advice import advise, recommend
from keepsense.guide.answers import DATA_KINDS, Answers, Purpose, from_project, promises
from keepsense.guide.catalogue import SATISFIES, entry, family_of
from keepsense.guide.regulation_presets import preset, presets
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.privacy.privacy_model import PRIVACY, model
from keepsense.privacy.risk_thresholds import MaximumRisk
from keepsense.project.project_file import check_project


def names(**given: Any) -> list[str]:
    return [advice.name for advice in recommend(Answers(**given))]


@pytest.mark.parametrize(
    ("given", "best"),
    [
        ({"purpose": "classification"}, "infogain mondrian"),
        ({"purpose": "classification", "reuse": True}, "top-down"),
        ({"purpose": "regression", "kinds": ("numeric",)}, "lsd mondrian"),
        ({"kinds": ("nominal",)}, "local recoding"),
        ({"kinds": ("nominal",), "even": True}, "optimal"),
        ({"kinds": ("nominal",), "reuse": True}, "optimal"),
        ({"kinds": ("nominal",), "even": True, "columns": 25}, "anytime"),
        (
            {"truthful": False, "promise": "probabilistic k-anonymity", "purpose": "single columns"},
            "strict rank swapping",
        ),
        (
            {"truthful": False, "promise": "none", "purpose": "single columns", "kinds": ("numeric",)},
            "strict rank swapping",
        ),
        ({"truthful": False, "promise": "none", "purpose": "correlations", "columns": 3}, "correlated noise"),
        ({"truthful": False, "promise": "none", "purpose": "correlations", "kinds": ("numeric",)}, "noise on numbers"),
        ({"truthful": False, "promise": "differential privacy"}, "semantic exponential mechanism"),
        ({"truthful": False, "promise": "t-closeness", "kinds": ("numeric",)}, "t-close microaggregation"),
        ({"promise": "beta-likeness"}, "local recoding"),
        ({"promise": "approximate differential privacy"}, "differentially private generalization"),
        ({"promise": "k^m-anonymity of pieces", "truthful": False, "kinds": ("set",)}, "disassociation"),
        ({"kinds": ("set",)}, "apriori sets"),
        ({"kinds": ("set",), "truthful": False}, "set microaggregation"),
    ],
)
def test_the_best_method(given: dict[str, Any], best: str) -> None:
    assert names(**given)[0] == best


def test_advice_never_breaks_what_was_asked(subtests: pytest.Subtests) -> None:
    for kind, purpose, promise, truthful in product(DATA_KINDS, get_args(Purpose), promises(), (True, False)):
        with subtests.test(kind=kind, purpose=purpose, promise=promise, truthful=truthful):
            found = advise(Answers(kinds=(kind,), purpose=purpose, promise=promise, truthful=truthful), limit=12)
            for one in found.advice:
                assert one.method.runs
                assert one.reasons
                assert one.method.truthful or not truthful
                technique = family_of(one.method)
                if promise != "none":
                    assert one.method.gives(promise)
                    assert technique in (*SATISFIES.get(promise, (technique,)), "set generalization")
                if not one.method.truthful:
                    assert any("not true" in text for text in one.warnings)
            assert set(found.excluded).isdisjoint(one.name for one in found.advice)
            assert all(found.excluded.values())
            assert [one.points for one in found.advice] == sorted((one.points for one in found.advice), reverse=True)
            of_sets = promise != "none" and PRIVACY[promise].model.of_sets
            possible = of_sets == (kind == "set") or (kind == "set" and promise in FOR_SETS)
            drawn = {"differential privacy", "k^m-anonymity of pieces"}
            assert bool(found.advice) == (possible and not (truthful and promise in drawn))


FOR_SETS = ("k-anonymity", "probabilistic k-anonymity", "none")
"""Promises about records that methods for sets keep, too."""


def test_mixed_tables_get_advice_for_sets_apart() -> None:
    found = advise(Answers(kinds=("nominal", "set"), truthful=False))
    assert {one.part for one in found.advice} == {"records", "sets"}
    assert [one.name for one in found.advice if one.part == "sets"] == ["set microaggregation"]
    assert "[set_method]" in found.advice[-1].settings(found.answers)
    assert "W507" in [warning.code for warning in found.warnings]


def test_true_sets_beside_other_columns_cannot_be_had_and_it_is_said() -> None:
    found = advise(Answers(kinds=("nominal", "set")))
    assert {one.part for one in found.advice} == {"records"}
    assert "W508" in [warning.code for warning in found.warnings]
    assert "without other columns" in found.excluded["apriori sets"]


def test_swapping_takes_sets_along() -> None:
    asked = Answers(kinds=("nominal", "set"), truthful=False, promise="probabilistic k-anonymity")
    best = recommend(asked)[0]
    assert best.name == "strict rank swapping"
    assert any("sets" in reason for reason in best.reasons)


def test_every_method_promises_what_it_can_keep() -> None:
    masked = advise(Answers(promise="none", truthful=False), limit=20).advice
    promised = {one.name: [section["model"] for section in one.promised] for one in masked}
    assert promised["rank swapping"] == ["linkage risk"]
    assert promised["optimal"] == promised["microaggregation of records"] == ["k-anonymity"]
    sets = {one.name: one.promised[0] for one in advise(Answers(kinds=("set",), set_column="basket")).advice}
    assert sets["apriori sets"] == {"model": "k^m-anonymity", "k": 5, "m": 2, "column": "basket"}
    assert sets["top-down sets"]["model"] == "k-anonymity"


@pytest.mark.parametrize(
    ("kinds", "best"),
    [
        (("nominal",), "semantic exponential mechanism"),
        (("category",), "differential privacy"),
        (("nominal", "numeric"), "differential privacy"),
        (("numeric",), "noisy histogram"),
    ],
)
def test_differential_privacy_suits_the_columns(kinds: Any, best: str) -> None:
    assert names(kinds=kinds, promise="differential privacy", truthful=False)[0] == best


def test_only_k_is_warned_of() -> None:
    def codes(**given: Any) -> list[str]:
        return [w.code for w in advise(Answers(**given)).warnings]

    assert "W501" in codes(sensitive=True)
    assert "W501" in codes(sensitive=False)
    assert "W501" not in codes(promise="l-diversity")
    assert "W501" not in codes(promise="t-closeness")
    assert codes(k=3, promise="l-diversity") == ["W502"]
    assert "W503" in codes(promise="none", truthful=False)
    assert "W504" in codes(rows=50)
    assert "W504" not in codes(rows=100_000)
    assert "W505" in codes(columns=12)
    assert "W506" in codes(reuse=True)
    assert "W509" in codes(promise="differential privacy")
    assert "W509" not in codes(promise="approximate differential privacy")


def test_new_promises_come_with_what_they_need() -> None:
    likeness = Answers(promise="beta-likeness", column="illness")
    assert likeness.promised() == [
        {"model": "k-anonymity", "k": 5},
        {"model": "beta-likeness", "beta": 2.0, "column": "illness"},
    ]
    pieces = Answers(kinds=("set",), promise="k^m-anonymity of pieces", truthful=False, column="ill", set_column="bag")
    best = recommend(pieces)[0]
    assert tomllib.loads(best.settings(pieces))["privacy"] == [
        {"model": "k^m-anonymity of pieces", "k": 5, "m": 2, "column": "bag"}
    ]
    safe = Answers(promise="approximate differential privacy")
    best = recommend(safe)[0]
    assert tomllib.loads(best.settings(safe))["method"]["parameters"] == {"levels": {"...": 1}}
    assert any("before looking" in text for text in best.warnings)
    few = advise(Answers(promise="approximate differential privacy", rows=300))
    assert not few.advice
    assert "few rows" in few.excluded["differentially private generalization"]


def test_noise_gets_the_reference_of_table_6_1() -> None:
    def reference(**given: Any) -> Any:
        answers = Answers(truthful=False, promise="none", purpose="correlations", **given)
        return next(a for a in recommend(answers, 12) if a.name == "correlated noise").parameters["reference"]

    assert reference(columns=2, same_taxonomy=True) == "partner"
    assert reference(columns=2, same_taxonomy=False) == "root"
    assert reference(columns=5, same_taxonomy=True) == "root"


@pytest.mark.parametrize("promise", ["k-anonymity", "l-diversity", "t-closeness"])
def test_settings_are_a_valid_project_file(promise: Any) -> None:
    answers = Answers(promise=promise, column="illness")
    for advice in recommend(answers, 12):
        text = advice.settings(answers)
        if not text:
            continue
        data = tomllib.loads(text)
        data["source"] = {"path": "people.csv"}
        data["columns"] = {"job": {"role": "quasi-identifier"}, "illness": {"role": "sensitive"}}
        project = check_project(data)
        for section in project.privacy:
            options = dict(section)
            assert model(options.pop("model"), **options)
        assert project.method.name == advice.method.name


def test_answers_are_read_off_a_project_file() -> None:
    data: dict[str, Any] = {
        "source": {"path": "people.csv"},
        "columns": {
            "job": {"role": "quasi-identifier", "taxonomy": "wordnet"},
            "zip": {"role": "quasi-identifier", "kind": "code"},
            "tags": {"role": "quasi-identifier", "kind": "set"},
            "illness": {"role": "sensitive"},
            "days": {"role": "target", "kind": "numeric"},
        },
        "privacy": [
            {"model": "maximum risk", "threshold": 0.09},
            {"model": "t-closeness", "t": 0.2, "column": "illness"},
        ],
        "method": {"name": "noise"},
    }
    found = from_project(check_project(data), rows=1000)
    assert found.kinds == ("nominal", "code", "set")
    assert (found.purpose, found.promise, found.k, found.truthful) == ("regression", "t-closeness", 12, False)
    assert (found.sensitive, found.columns, found.column, found.rows) == (True, 3, "illness", 1000)
    data["columns"] = {"illness": {"role": "sensitive"}}
    with pytest.raises(BadInput, match="quasi-identifier"):
        from_project(check_project(data))


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ({"kinds": ("nomnial",)}, "Did you mean nominal"),
        ({"purpose": "regresion"}, "Did you mean regression"),
        ({"promise": "k-anonymty"}, "Did you mean k-anonymity"),
        ({"kinds": ()}, "say what the columns hold"),
        ({"k": 1}, "at least 2"),
    ],
)
def test_wrong_answers_are_refused(given: dict[str, Any], hint: str) -> None:
    with pytest.raises(BadInput, match=hint):
        Answers(**given)


# ---- presets ---------------------------------------------------------------------------------------------------------


def test_the_risk_preset_means_groups_of_12() -> None:
    found = preset("risk-0.09")
    assert found.k == 12 == MaximumRisk(0.09).least_size
    options = dict(found.privacy[0])
    promised = model(options.pop("model"), **options)
    import numpy as np

    assert promised.satisfied(np.array([11, 12]), {}).tolist() == [False, True]


@pytest.mark.parametrize(
    ("column", "told"),
    [
        ("patient_name", "name"),
        ("Surname", "name"),
        ("SSN", "social security number"),
        ("email", "e-mail address"),
        ("phoneNumber", "telephone number"),
        ("IP address", "IP address"),
        ("id", "unique number"),
        ("street", "smaller than a state"),
        ("age", "90 or more"),
        ("date_of_birth", "years"),
        ("admission date", "years"),
        ("zip_code", "three digits"),
        ("city", "state"),
    ],
)
def test_hipaa_columns_are_found_by_name(column: str, told: str) -> None:
    assert told in preset("hipaa").found([column])[column]


@pytest.mark.parametrize("column", ["diagnosis", "ship", "wage", "language", "percentage", "occupation", "sex"])
def test_hipaa_leaves_other_columns_alone(column: str) -> None:
    assert preset("hipaa").found([column]) == {}


def test_presets_have_a_hint() -> None:
    assert set(presets()) == {"hipaa", "risk-0.09", "ema", "hipaa-expert"}
    with pytest.raises(BadInput, match="Did you mean hipaa"):
        preset("hippa")


def test_technique_of_an_entry() -> None:
    assert family_of(entry("mondrian")) == "generalization"


def test_the_guide_speaks_of_kinds_as_all_others_do() -> None:
    assert [*KINDS, "category"] == list(DATA_KINDS)
    with pytest.warns(InputWarning, match="the kind of data 'numbers' is called 'numeric' now"):
        assert Answers(kinds=("numbers",)).kinds == ("numeric",)
