"""Every privacy model can be asked for; what is recommended then keeps it, with the parameters it begins with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from keepsense.errors import BadInput
from keepsense.guide.advice import Advice, advise, suited
from keepsense.guide.answers import Answers, asks_for_k, forms, from_project, promises
from keepsense.privacy.privacy_model import PRIVACY, model
from keepsense.project.project_file import Project, check_project
from keepsense.registry import plain
from keepsense.release.run import run

JOBS = {"nurse": "medic", "surgeon": "medic", "clerk": "office worker", "judge": "office worker"}
ILLNESSES = {"flu": "lung", "asthma": "lung", "ulcer": "gut", "colic": "gut"}
ROLES = {
    "id": {"role": "identifier"},
    "sex": {"role": "quasi-identifier"},
    "age": {"role": "quasi-identifier", "kind": "numeric"},
    "job": {"role": "quasi-identifier", "hierarchy": "jobs.csv"},
    "illness": {"role": "sensitive", "hierarchy": "illnesses.csv"},
}
FORMS = [(name, form) for name in promises() for form in (forms(name) or {"": ""})]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of 600 rows of 300 people, everybody they were drawn from, and baskets."""
    folder = tmp_path_factory.mktemp("promises")
    rng = np.random.default_rng(4)
    rows = [
        f"{i},{'fm'[rng.integers(2)]},{rng.integers(20, 60)},{list(JOBS)[rng.integers(4)]},"
        f"{list(ILLNESSES)[rng.integers(4)]}"
        for i in range(3000)
    ]
    (folder / "people.csv").write_text("\n".join(["id,sex,age,job,illness", *rows[:600], ""]), encoding="utf-8")
    (folder / "everybody.csv").write_text("\n".join(["id,sex,age,job,illness", *rows, ""]), encoding="utf-8")
    twice = [f"{i // 2}{row[row.index(',') :]}" for i, row in enumerate(rows[:600])]
    (folder / "visits.csv").write_text("\n".join(["id,sex,age,job,illness", *twice, ""]), encoding="utf-8")
    for name, above in (("jobs", JOBS), ("illnesses", ILLNESSES)):
        lines = [f"{value};{kind};*" for value, kind in above.items()]
        (folder / f"{name}.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    baskets = [";".join(rng.choice(["tea", "milk", "beer", "wine"], rng.integers(1, 4), False)) for _ in range(120)]
    (folder / "baskets.csv").write_text("\n".join(["bag", *baskets, ""]), encoding="utf-8")
    drinks = ["tea;soft;*", "milk;soft;*", "beer;strong;*", "wine;strong;*", ""]
    (folder / "drinks.csv").write_text("\n".join(drinks), encoding="utf-8")
    return folder


def project_for(name: str) -> dict[str, Any]:
    """A project about what a promise is about: sets, people with several rows, a population, or records."""
    entry = None if name == "none" else PRIVACY[name].model
    k = {"model": "k-anonymity", "k": 3}
    if entry is not None and entry.of_sets:
        bag = {"role": "quasi-identifier", "kind": "set", "delimiter": ";", "hierarchy": "drinks.csv"}
        return {"source": {"path": "baskets.csv"}, "columns": {"bag": bag}, "privacy": [k]}
    data: dict[str, Any] = {"source": {"path": "people.csv", "sampling_fraction": 0.2}, "columns": dict(ROLES)}
    if entry is not None and entry.counts_people:
        data["source"]["path"] = "visits.csv"
        data["columns"]["id"] = {"role": "person"}
    if entry is not None and entry.needs_population:
        data["population"] = {"path": "everybody.csv"}
    if entry is not None and entry.about == "mechanism" and "membership" in entry.protects:
        data["columns"]["illness"] = {"role": "identifier"}  # nothing may be released beside the mechanism
    return {**data, "privacy": [k]}


def with_advice(data: Mapping[str, Any], answers: Answers, advice: Advice) -> Project:
    parameters = dict(advice.parameters)
    if "levels" in parameters:
        parameters["levels"] = {"sex": 0, "age": 3, "job": 1}
    if advice.method.gives("differential privacy"):  # what only the publisher knows
        parameters |= {"bounds": {"age": [0, 120]}, "domains": {"sex": ["f", "m"], "job": list(JOBS)}}
    method = {"name": advice.name, "parameters": parameters}
    release: dict[str, Any] = {"suppression": answers.suppression if advice.method.truthful else 0}
    release["folder"] = f"{plain(answers.promise)} {answers.form} {answers.truthful}"
    return check_project({**data, "privacy": list(advice.promised), "method": method, "release": release})


@pytest.mark.parametrize("name", PRIVACY)
def test_every_model_can_be_asked_for(name: str) -> None:
    entry = PRIVACY[name]
    assert name in promises() or Answers(promise=name, truthful=False).promised()[0]["model"] == name
    assert entry.rank < 100, "it has a place among the questions"
    for form in forms(name) or {"": ""}:
        known = {*entry.begin, "column", "person", "fraction"}
        assert set(entry.needed(form)) <= known, "a section is complete but for what only the publisher knows"
    if name in promises():
        assert asks_for_k(name) == any("k" in section for section in Answers(promise=name, column="x").promised())


@pytest.mark.parametrize(("name", "form"), FORMS)
@pytest.mark.parametrize("truthful", [True, False])
def test_what_is_recommended_keeps_the_promise(name: str, form: str, truthful: bool, home: Path) -> None:
    """The first method that fits, with what it begins with, makes a release that the verifier accepts."""
    data = project_for(name)
    asked = from_project(check_project(data), rows=600)
    answers = replace(asked, promise=name, form=form, truthful=truthful, privacy=(), k=3)
    found = advise(answers)
    if truthful and name in ("differential privacy", "k^m-anonymity of pieces", "none"):
        assert all(one.promised[0]["model"] == "k-anonymity" for one in found.advice), "only what is not asked for"
        return
    if name == "approximate differential privacy":
        assert not found.advice, "so few rows are not enough for it"
        return
    best = found.advice[0]
    done = run(with_advice(data, answers, best), folder=home, rng=3)
    assert done.verification.ok
    promised = [dict(section) for section in done.description["promises"]]
    assert {section["model"] for section in best.promised} <= {section["model"] for section in promised}
    for section in answers.promised():
        options = {key: value for key, value in section.items() if key != "model"}
        assert model(str(section["model"]), **options), "its parameters are of their kinds"
    suppressed = done.description.get("suppressed records", 0)
    assert suppressed <= 0.05 * done.description["records"], "few are left without any value"


def test_what_nobody_said_is_asked_for() -> None:
    from keepsense.guide.answers import refuse_untold

    for name, remedy in (("estimated k-map", "--fraction"), ("(X,Y)-anonymity", "person"), ("l-diversity", "--sensi")):
        answers = Answers(promise=name)
        with pytest.raises(BadInput, match=remedy):
            refuse_untold(answers.promised())
    codes = {name: [w.code for w in advise(Answers(promise=name)).warnings] for name in ("estimated k-map", "k-map")}
    assert all("W510" in told for told in codes.values())
    known = advise(Answers(promise="estimated k-map", fraction=0.1))
    assert "W510" not in [warning.code for warning in known.warnings]
    assert {"model": "estimated k-map", "k": 5, "fraction": 0.1} in known.advice[0].promised


def test_concepts_are_recommended_where_they_are_known() -> None:
    for name in ("delta-disclosure", "beta-likeness"):
        told = advise(Answers(promise=name, column="illness", meaning=True)).warnings
        assert "W511" in [warning.code for warning in told]
        form = Answers(promise=name, column="illness", meaning=True, form="concepts")
        assert "W511" not in [warning.code for warning in advise(form).warnings]
        assert form.promised()[1]["form"] == "concepts"
    with pytest.raises(BadInput, match="no form of l-diversity is called"):
        Answers(promise="l-diversity", form="concepts")


def test_only_what_fits_is_offered() -> None:
    plain = suited({"kinds": ("nominal",), "sensitive": False, "truthful": True})
    assert {"k-anonymity", "estimated k-map", "population uniqueness", "average risk"} <= set(plain)
    assert not {"l-diversity", "k^m-anonymity", "differential privacy"} & set(plain)
    secret = suited({"kinds": ("nominal",), "sensitive": True, "truthful": True})
    assert {"l-diversity", "delta-disclosure", "(alpha,k)-anonymity"} <= set(secret)
    assert {"k^m-anonymity of pieces", "k^m-anonymity"} <= set(suited({"kinds": ("set",), "truthful": False}))
