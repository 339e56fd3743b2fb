"""Rules that are checked on a released file, one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from keepsense.errors import BadInput
from keepsense.guide.regulation_checks import IDENTIFIERS, Criterion, check_rules
from keepsense.project.project_file import Project

CLEAN: dict[str, list[Any]] = {
    "age": ["20 to 29", "90 or more"] * 12,
    "zip": ["816**", "010**"] * 12,
    "born": ["1990", "1980"] * 12,
    "diagnosis": ["flu", "flu", "cold", "cold"] * 6,
}


def _checked(rules: str, folder: Path, **columns: list[Any]) -> dict[str, Criterion]:
    table = {**CLEAN, **columns}
    lines = [",".join(table), *(",".join(f'"{cell}"' for cell in row) for row in zip(*table.values(), strict=True))]
    file = folder / "released.csv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    roles = dict.fromkeys(table, "insensitive") | {"age": "quasi-identifier", "zip": "quasi-identifier"}
    roles["diagnosis"] = "sensitive"
    project = Project.model_validate(
        {
            "source": {"path": "released.csv"},
            "columns": {name: {"role": role} for name, role in roles.items()},
            "privacy": [{"model": "k-anonymity", "k": 5}],
        }
    )
    return {criterion.rule: criterion for criterion in check_rules(rules, project, file, folder=folder)}


def test_there_are_eighteen_identifiers_and_a_clean_release_has_none(tmp_path: Path) -> None:
    found = _checked("hipaa", tmp_path)
    assert tuple(found) == IDENTIFIERS
    assert len(found) == 18
    assert {rule for rule, criterion in found.items() if criterion.met is not True} == {"place smaller than a state"}
    assert found["place smaller than a state"].verdict == "look"  # three digits, but of how many people?


@pytest.mark.parametrize(
    ("column", "cells", "rule", "verdict"),
    [
        ("who", ["Anna Schmidt", "Mary Baker", "José García"] * 8, "name", "not met"),
        ("reach", ["a.b@example.org", "c@example.com"] * 12, "e-mail address", "not met"),
        ("reach", ["+41 79 555 11 22", "+41 79 555 33 44"] * 12, "telephone number", "not met"),
        ("tax", ["555-12-3456", "555-12-3457"] * 12, "social security number", "not met"),
        ("host", ["10.1.2.3", "10.1.2.4"] * 12, "IP address", "not met"),
        ("home", ["315 Heathcote Well Unit 65", "Hauptstraße 5a"] * 12, "place smaller than a state", "not met"),
        ("place", ["Florence", "Paris", "Sidney"] * 8, "place smaller than a state", "look"),
        ("fax", ["1", "2"] * 12, "fax number", "look"),
        ("mrn", ["1", "2"] * 12, "medical record number", "look"),
        ("photo", ["x.png", "y.png"] * 12, "photograph", "look"),
        ("number", list(range(24)), "any other unique number or code", "not met"),
        ("zip", ["81667", "01069"] * 12, "place smaller than a state", "not met"),
        ("born", ["1990-03", "1980-11"] * 12, "date, or age above 89", "not met"),
        ("admission date", ["2020-03-01", "2020-11-11"] * 12, "date, or age above 89", "not met"),
        ("age", ["93", "20 to 29"] * 12, "date, or age above 89", "not met"),
        ("age", ["90 to 99", "20 to 29"] * 12, "date, or age above 89", "not met"),
    ],
)
def test_each_identifier_is_seen(tmp_path: Path, column: str, cells: list[Any], rule: str, verdict: str) -> None:
    found = _checked("hipaa", tmp_path, **{column: cells})
    assert found[rule].verdict == verdict
    assert column in found[rule].columns
    assert rule == "name" or found["name"].verdict == "met"


def test_three_criteria_with_their_figures(tmp_path: Path) -> None:
    found = _checked("gdpr", tmp_path)
    assert list(found) == ["singling out", "linkability", "inference"]
    assert found["singling out"].figures == {"smallest class": 12, "records alone in their class": 0.0}
    assert found["linkability"].figures["highest risk of a right link"] == pytest.approx(1 / 12, abs=1e-6)
    assert found["inference"].figures["fewest values of diagnosis in a class"] == 2
    assert [criterion.verdict for criterion in found.values()] == ["met", "met", "met"]


def test_what_fails_a_criterion(tmp_path: Path) -> None:
    alone = _checked("gdpr", tmp_path, age=["20 to 29"] * 23 + ["95"], zip=["816**"] * 24)
    assert [alone[rule].verdict for rule in ("singling out", "linkability")] == ["not met", "not met"]
    told = _checked("gdpr", tmp_path, diagnosis=["flu", "cold"] * 12)
    assert told["inference"].verdict == "not met"
    assert told["inference"].figures["records whose diagnosis is told"] == 1.0
    unique = _checked("gdpr", tmp_path, pay=[1000 + 7 * i for i in range(24)])
    assert unique["singling out"].verdict == "look"
    assert unique["singling out"].columns == ("pay",)
    small = _checked("gdpr", tmp_path, zip=["816**", "010**"] * 9 + ["012**"] * 6)
    assert small["linkability"].verdict == "not met"


def test_the_risk_of_regulators(tmp_path: Path) -> None:
    assert _checked("risk-0.09", tmp_path)["risk of at most 0.09"].met
    few = _checked("risk-0.09", tmp_path, age=["20 to 29"] * 13 + ["30 to 39"] * 11, zip=["816**"] * 24)
    assert few["risk of at most 0.09"].met is False  # 1/11 is above 0.09


def test_unknown_rules_have_a_hint(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="Did you mean hipaa"):
        _checked("hippa", tmp_path)


def test_the_command_line_checks_them(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    from keepsense.cli import main
    from keepsense.commands.command_registry import output_schema

    _checked("gdpr", tmp_path, reach=["a.b@example.org", "c@example.com"] * 12)
    names = [*CLEAN, "reach"]
    toml = [f'columns.{name}.role = "{"quasi-identifier" if name == "age" else "insensitive"}"' for name in names]
    promise = 'privacy = [{ model = "k-anonymity", k = 5 }]'
    (tmp_path / "keepsense.toml").write_text("\n".join(['source.path = "released.csv"', *toml, promise]))
    monkeypatch.chdir(tmp_path)
    for rules, code in (("gdpr", 0), ("hipaa", 1)):
        with pytest.raises(SystemExit) as end:
            main(["verify", "released.csv", "--alone", "--preset", rules, "--json"])
        told = json.loads(capsys.readouterr().out)
        assert end.value.code == code
        jsonschema.validate(told, output_schema("verify"))
        assert {entry["preset"] for entry in told["presets"]} == {rules}
